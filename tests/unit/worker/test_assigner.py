"""The assigner gives values to handlers, gathers batches, and gives back what finds no slot. No server is asked."""

from __future__ import annotations

import gc
import queue
import threading
import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import redis

from redisson_dq import Client
from redisson_dq._concurrency import Switch
from redisson_dq._concurrency.handler_pools import HandlerPool
from redisson_dq._sync.leases.delivery import Delivery, lease_of
from redisson_dq._sync.worker.event import Event
from redisson_dq._sync.worker.intake import Intake
from redisson_dq._sync.worker.performing import RunningHandling
from redisson_dq._sync.worker.repeating import Deadlines
from redisson_dq.calls.delivery import DeliveryFacts
from redisson_dq.calls.endings import Ack, Nack
from redisson_dq.calls.lease import Lease
from redisson_dq.calls.settling import Settling
from redisson_dq.codecs import StringCodec
from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.wire.leases import Leased
from redisson_dq.working.assigning import Assigner
from redisson_dq.working.handlers import Handler, declared
from redisson_dq.working.handling import Setting
from redisson_dq.working.hooks import Hooks
from redisson_dq.working.settings import WorkerOptions
from tests.conftest import PATIENCE, eventually


class Endings:
    """Takes the ends of leases, in the place of the settler, and says at once that Redis noted them."""

    is_torn_away = False

    def __init__(self) -> None:
        self._came: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()

    def put(self, delivery: DeliveryFacts[Any], how: Any, tell: Any, acked: Any = None) -> None:
        lease_of(delivery).settled(how.done)
        self._came.put((delivery.value, how))
        tell(how.done)

    def send(self, settlement: Any) -> None:
        settlement.lease.settled(settlement.how.done)
        self._came.put((settlement.lease.leased.data.decode(), settlement.how))
        settlement.tell(settlement.how.done)

    def next(self) -> tuple[str, Any]:
        return self._came.get(timeout=PATIENCE)


class Place:
    """An assigner with one queue, whose handlers hold their values until they are let go."""

    def __init__(self, total: int | None = None) -> None:
        self.client = Client(redis.Redis(), codec=StringCodec())
        self.endings = Endings()
        self.asked: queue.SimpleQueue[tuple[str, bool]] = queue.SimpleQueue()
        self.calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.goes_on: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self.pool = HandlerPool("test")
        setting = partial(
            Setting,
            pool=self.pool,
            settler=self.endings,  # type: ignore[arg-type]
            layers=lambda handler: (),
            given={},
            hooks=Hooks(),
            chance=None,  # type: ignore[arg-type]
            clock=SYSTEM,
            event_of=partial(Event, bridge=self.pool.bridge),
        )
        self.ended, changed = Switch(SYSTEM), Switch(SYSTEM)
        self.assigner = Assigner(total, setting, RunningHandling, changed.on, self.ended.on)
        self.deadlines = Deadlines(changed, self.assigner.look)
        self.intake = self.intake_of("orders")
        self._count = 0

    def intake_of(self, name: str) -> Intake:
        settings = WorkerOptions(transfer=False).of_queues()
        asked = self.assigner.is_passed, lambda name, data: None, lambda source, ms: None
        made = Intake(self.client.runtime, name, settings, *asked, b"")
        made.fetcher = self
        return made

    # -- the fetcher -------------------------------------------------------------------------------------------------

    def freed(self, queue: str) -> None:
        self.asked.put((queue, False))

    def recount(self) -> None:
        self.asked.put(("", True))

    # -- the crew and the handlers -----------------------------------------------------------------------------------

    def employ(self, *handlers: Handler) -> None:
        self.intake.employ(handlers)
        self.assigner.employ(self.intake, handlers)

    def handle(self, value: Any) -> None:
        self.calls.put(value)
        error = self.goes_on.get(timeout=PATIENCE)
        if error is not None:
            raise error

    def called(self) -> Any:
        return self.calls.get(timeout=PATIENCE)

    def deliveries(self, *values: str) -> list[Delivery[Any]]:
        ((side, source),) = self.intake.reception.sources.values()
        made: list[Delivery[Any]] = []
        for value in values:
            self._count += 1
            now_us = SYSTEM.now_us()
            leased = Leased(
                data=value.encode(),
                key=source.key,
                id=self._count.to_bytes(10, "big"),
                deadline_ms=now_us // 1000 + 600_000,
                now_us=now_us,
                read_us=now_us,
                text=b"",
            )
            lease = Lease(Settling(source, side.name), leased, self.client.runtime.options.observers)
            made.append(Delivery(self.client.runtime.connections, lease, value))
        return made

    def accept(self, *values: str) -> list[Delivery[Any]]:
        made = self.deliveries(*values)
        self.assigner.accept(self.intake, made, self.pool.start)
        return made


@pytest.fixture
def place() -> Iterator[Place]:
    made = Place()
    yield made
    made.assigner.stop()
    for _ in range(20):
        made.goes_on.put(None)
    made.deadlines.close()
    made.pool.close(0)


def handler(place: Place, concurrency: int = 1, batch: int | None = None, **options: Any) -> Handler:
    return declared(place.handle, "orders", None, batch, 600, concurrency=concurrency, **options)


class Held(Delivery[Any]):
    """A delivery that holds up the thread which begins its handling, while that has the assigner's mutex."""

    def __init__(self, place: Place) -> None:
        (plain,) = place.deliveries("held")
        # A value without a record is looked at no further.
        lease_of(plain).leased.text = b"a record"
        super().__init__(place.client.runtime.connections, lease_of(plain), plain.value)
        self.asked: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.goes_on: queue.SimpleQueue[None] = queue.SimpleQueue()

    @property
    def lost(self) -> bool:
        self.asked.put(None)
        self.goes_on.get(timeout=PATIENCE)
        return super().lost


def test_nobody_is_told_whether_a_handler_is_passed_while_others_change_the_roster(place: Place) -> None:
    """The call creates the post of a new handler, while another thread may be iterating over all posts."""
    place.employ(handler(place))
    held, new = Held(place), handler(place)
    answers: queue.SimpleQueue[bool] = queue.SimpleQueue()
    accepting = threading.Thread(target=lambda: place.assigner.accept(place.intake, [held], place.pool.start))
    asking = threading.Thread(target=lambda: answers.put(place.assigner.is_passed(new)))
    accepting.start()
    held.asked.get(timeout=PATIENCE)
    asking.start()
    asking.join(0.1)
    was_told = not answers.empty()
    # Its handling asks again at its end.
    for _ in range(2):
        held.goes_on.put(None)
    assert (was_told, answers.get(timeout=PATIENCE)) == (False, False)
    accepting.join()
    assert place.called() == "held"


def test_a_value_that_finds_no_slot_goes_back_to_the_head(place: Place) -> None:
    place.employ(handler(place))
    place.accept("a", "b")
    assert place.endings.next() == ("b", Nack(0, counted=False))
    assert place.called() == "a"


def test_values_that_go_back_to_the_head_are_put_last_one_first(place: Place) -> None:
    place.employ(handler(place, when=lambda value: value in "ac"), handler(place, when=lambda value: value in "bd"))
    place.accept(*"abcdcd")
    # The first two begin.
    assert [place.endings.next()[0] for _ in range(4)] == ["d", "c", "d", "c"]
    assert sorted([place.called(), place.called()]) == ["a", "b"]


def test_a_batch_begins_when_it_is_full_without_values_that_were_lost(place: Place) -> None:
    place.employ(handler(place, batch=3))
    (lost,) = place.accept("a")
    lease_of(lost).settled(SettleOutcome.LOST)
    place.accept("b")
    assert place.assigner.wanted(place.intake) == 1
    place.accept("c")
    assert place.called() == ["b", "c"]
    place.goes_on.put(None)
    assert [place.endings.next() for _ in "bc"] == [("b", Ack()), ("c", Ack())]


def test_a_queue_that_is_left_gives_its_batch_back(place: Place) -> None:
    place.employ(handler(place, batch=3))
    place.accept("a", "b")
    place.assigner.close_queue(place.intake)
    assert [place.endings.next() for _ in "ab"] == [("b", Nack(0, counted=False)), ("a", Nack(0, counted=False))]


def test_a_queue_that_is_left_is_forgotten_when_its_handlings_have_ended(place: Place) -> None:
    """A slot of it that is freed later is told of all the same."""
    other = place.intake_of("others")
    place.employ(handler(place))
    place.assigner.employ(other, [])
    place.accept("a")
    assert place.called() == "a"
    left = weakref.ref(place.intake)
    place.assigner.close_queue(place.intake)
    place.goes_on.put(None)
    assert place.endings.next() == ("a", Ack())
    assert place.asked.get(timeout=PATIENCE) == ("orders", False)
    place.intake = other
    place.assigner.close_queue(other)
    eventually(lambda: gc.collect() >= 0 and left() is None)


def test_a_stop_hands_back_values_in_hand_and_values_that_still_come(place: Place) -> None:
    place.employ(handler(place, 2))
    place.accept("a")
    assert place.called() == "a"
    place.assigner.stop()
    place.accept("b")
    assert place.endings.next() == ("b", Nack(0, counted=False))
    (handling,) = place.assigner.handlings
    handling.hand_back()
    assert place.endings.next() == ("a", Nack(0, counted=False))
    assert place.assigner.running == 0


def test_a_handler_whose_lease_is_lost_frees_its_slot_and_settles_nothing(place: Place) -> None:
    place.employ(handler(place))
    (delivery,) = place.accept("a")
    assert place.called() == "a"
    place.assigner.lose(delivery)
    assert place.asked.get(timeout=PATIENCE) == ("orders", False)
    place.goes_on.put(None)
    place.accept("b")
    assert place.called() == "b"
    place.goes_on.put(None)
    assert place.endings.next() == ("b", Ack())
