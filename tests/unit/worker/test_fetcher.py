"""The fetcher receives in rounds: one command at a time, acks along, and an end at any moment. No server is asked."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from redisson_dq._concurrency.handler_pools import HandlerPool
from redisson_dq._sync.worker.fetching import Fetcher
from redisson_dq.errors import ClosedError
from redisson_dq.scheduling.clock import SYSTEM, Clock
from redisson_dq.scheduling.tries import Tries
from redisson_dq.wire.leases import Leased
from redisson_dq.working.incoming import page
from redisson_dq.working.order import Order
from tests.conftest import PATIENCE
from tests.hand_clock import HandClock

# The longest first pause after a defect or a refusal.
_PAUSE = 1.0


class Peers:
    """What the fetcher works with: slots, a receiver whose waits the test answers, and a settler."""

    def __init__(self) -> None:
        self.slots = 0
        self.waits: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.answer: Any = None
        self.sent: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.refusals: list[str] = []
        self.left: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.lifeline: Any = None
        # Called when it is asked for a receiver.
        self.then: Callable[[], object] = lambda: None

    # -- the assigner ------------------------------------------------------------------------------------------------

    is_limited = False

    def wanted(self, intake: Any) -> int:
        return self.slots

    def accept(self, intake: Any, deliveries: Any, start: Any) -> None:
        start(lambda: self.sent.put("handled"))
        raise RuntimeError("a defect")

    # -- the receivers, and the only one -----------------------------------------------------------------------------

    def of(self, waitable: Any) -> Any:
        self.then()
        return self

    def enter(self, limit: int, lifeline: Any, answer: Any) -> None:
        self.lifeline, self.answer = lifeline, answer
        lifeline.waiter = SimpleNamespace(leave=lambda: self.left.put(lifeline), answer=answer)
        self.waits.put(limit)

    def withdraw(self, lifeline: Any) -> None:
        lifeline.is_withdrawn = True
        self.answer.fill(ClosedError("withdrawn"))

    def quiet(self, receivers: Any) -> None: ...

    # -- settler and connections -------------------------------------------------------------------------------------

    def send(self, settlement: Any) -> None:
        self.sent.put(settlement)

    def take_over(self, settlements: Any) -> None:
        for each in settlements:
            self.sent.put(each)

    def began(self, place: object, key: str, what: str, error: object, is_well: object) -> bool:
        self.refusals.append(key)
        return True

    def ended(self, place: object) -> None: ...


class Opened(SimpleNamespace):
    """A queue that the fetcher receives from."""

    __hash__ = object.__hash__  # type: ignore[assignment]


@pytest.fixture
def peers() -> Peers:
    return Peers()


@pytest.fixture
def clock() -> Clock:
    return SYSTEM


@pytest.fixture
def pool() -> Iterator[HandlerPool]:
    made = HandlerPool("test")
    yield made
    made.close(0)


@pytest.fixture
def fetcher(peers: Peers, clock: Clock, pool: HandlerPool) -> Iterator[Fetcher]:
    connections = SimpleNamespace(refusals=peers, tries=Tries(clock))
    runtime: Any = SimpleNamespace(clock=clock, connections=connections, receivers=peers, renewal=peers)
    made = Fetcher(runtime, peers, Order(), pool, peers, is_alone=True)  # type: ignore[arg-type]
    yield made
    made.end()
    made.has_ended()


def opened(name: str) -> Any:
    return Opened(
        name=name,
        reception=Opened(sources={name: (None, None)}, waitable=None, sees_first=False, sorts=False, acks_along=True),
        leased=lambda values, wanted: values,
        opened=lambda leased: [([], None)] if leased else [],
        note_limits=lambda: None,
    )


def intake(fetcher: Fetcher) -> Any:
    made = opened("orders")
    fetcher.set_intakes([made])
    return made


def test_a_change_begins_the_wait_anew(peers: Peers, fetcher: Fetcher) -> None:
    peers.slots = 5
    intake(fetcher)
    fetcher.start()
    assert peers.waits.get(timeout=PATIENCE) == 5
    peers.slots = 2
    fetcher.recount()
    assert peers.waits.get(timeout=PATIENCE) == 2
    assert peers.refusals == []


def test_a_change_that_comes_late_ends_the_next_wait_and_that_counts_as_no_refusal(
    peers: Peers, fetcher: Fetcher
) -> None:
    """The thread that reported it to the plan was suspended until the next round waited."""
    peers.slots = 1
    intake(fetcher)
    fetcher.start()
    assert peers.waits.get(timeout=PATIENCE) == 1
    peers.withdraw(peers.lifeline)
    # The next one begins at once.
    assert peers.waits.get(timeout=PATIENCE) == 1
    assert fetcher.is_well
    assert peers.refusals == []


def test_a_wait_takes_as_many_values_as_its_place_gives_to_handlers(peers: Peers, fetcher: Fetcher) -> None:
    """A handler with a limit, for which more are looked at, comes between the two."""
    peers.slots = 2
    orders = intake(fetcher)
    seeing = Opened(**{**vars(orders.reception), "sees_first": True})
    peers.then = lambda: setattr(orders, "reception", seeing)
    fetcher.start()
    assert peers.waits.get(timeout=PATIENCE) == 2
    peers.answer.fill([])
    assert peers.waits.get(timeout=PATIENCE) == page(2)


def test_values_that_cannot_be_leased_are_let_go(peers: Peers, fetcher: Fetcher) -> None:
    peers.slots = 1
    orders = intake(fetcher)
    fetcher.start()
    peers.waits.get(timeout=PATIENCE)
    orders.leased = lambda values, wanted: 1 / 0
    peers.answer.fill([SimpleNamespace(key="orders", data=b"a")])
    assert peers.left.get(timeout=PATIENCE)
    assert peers.waits.get(timeout=PATIENCE) == 1
    assert peers.refusals == ["orders"]


def test_the_end_comes_while_it_waits_and_acks_are_sent_after_it(peers: Peers, fetcher: Fetcher) -> None:
    peers.slots = 1
    orders = intake(fetcher)
    fetcher.start()
    peers.waits.get(timeout=PATIENCE)
    fetcher.end()
    fetcher.has_ended()
    assert not fetcher.is_well
    orders.acked("an ack")
    assert peers.sent.get(timeout=PATIENCE) == "an ack"


@pytest.mark.parametrize("clock", [HandClock()])
def test_a_handling_in_hand_does_not_wait_until_a_pause_is_over(peers: Peers, fetcher: Fetcher) -> None:
    """What follows it has failed. In a task, a pause might be cancelled together with the handling."""
    peers.slots = 1
    intake(fetcher)
    fetcher.start()
    peers.waits.get(timeout=PATIENCE)
    leased = Leased(data=b"a", key="orders", id=bytes(10), deadline_ms=0, now_us=0, read_us=0, text=b"")
    peers.answer.fill([leased])
    assert peers.sent.get(timeout=PATIENCE) == "handled"
    assert peers.refusals == ["orders"]


def test_the_end_comes_while_waiters_find_the_client_closed(peers: Peers, pool: HandlerPool) -> None:
    """One is answered before the end, one behind it."""
    fetcher: Fetcher
    asked: list[Any] = []

    def of(waitable: Any) -> Any:
        asked.append(waitable)
        if len(asked) == 2:
            fetcher.end()
        raise ClosedError("closed")

    receivers = SimpleNamespace(of=of, quiet=lambda receivers: True)
    connections = SimpleNamespace(refusals=peers, tries=Tries(SYSTEM))
    runtime: Any = SimpleNamespace(clock=SYSTEM, connections=connections, receivers=receivers, renewal=None)
    assigner: Any = SimpleNamespace(is_limited=False, free=None, wanted=lambda intake: 1)
    fetcher = Fetcher(runtime, assigner, Order(), pool, peers, is_alone=False)  # type: ignore[arg-type]
    fetcher.set_intakes([opened("orders"), opened("invoices")])
    fetcher.start()
    ended: queue.SimpleQueue[bool] = queue.SimpleQueue()
    threading.Thread(target=lambda: ended.put(fetcher.has_ended()), daemon=True).start()
    assert ended.get(timeout=PATIENCE)


class Line:
    """A place to wait. The test answers its waiters."""

    def __init__(self) -> None:
        self.waiters: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def enter(self, limit: int, lifeline: Any, answer: Any) -> None:
        self.last = answer
        self.waiters.put(answer)

    def withdraw(self, lifeline: Any) -> None:
        self.last.fill(ClosedError("withdrawn"))


def test_a_handling_that_cannot_begin_keeps_no_other_queue_waiting(peers: Peers, pool: HandlerPool) -> None:
    """Time stands still. The leases of the others' values run already, and would end in a pause."""
    lines = {name: Line() for name in ("first", "second")}
    accepted: queue.SimpleQueue[str] = queue.SimpleQueue()

    def accept(intake: Any, deliveries: Any, starter: Any) -> None:
        accepted.put(intake.name)
        if intake.name == "first":
            raise RuntimeError("a defect")

    clock = HandClock()
    connections = SimpleNamespace(refusals=peers, tries=Tries(clock))
    receivers = SimpleNamespace(of=lambda waitable: lines[waitable], quiet=lambda receivers: True)
    runtime: Any = SimpleNamespace(clock=clock, connections=connections, receivers=receivers, renewal=None)
    assigner: Any = SimpleNamespace(is_limited=False, free=None, wanted=lambda intake: 1, accept=accept)
    fetcher = Fetcher(runtime, assigner, Order(), pool, peers, is_alone=False)  # type: ignore[arg-type]
    queues = {name: opened(name) for name in lines}
    for name, each in queues.items():
        each.reception.waitable = name
    fetcher.set_intakes(list(queues.values()))
    fetcher.start()
    try:
        for name, line in lines.items():
            leased = Leased(data=b"a", key=name, id=bytes(10), deadline_ms=0, now_us=0, read_us=0, text=b"")
            line.waiters.get(timeout=PATIENCE).fill([leased])
            assert accepted.get(timeout=PATIENCE) == name
        # The queue with the defect is asked again after a pause, the other one at once.
        assert lines["second"].waiters.get(timeout=PATIENCE)
        assert lines["first"].waiters.empty()
        assert peers.refusals == ["first"]
        clock.expect_wait(_PAUSE)
        clock.advance(_PAUSE)
        assert lines["first"].waiters.get(timeout=PATIENCE)
    finally:
        fetcher.end()
        clock.advance(_PAUSE)
        fetcher.has_ended()
