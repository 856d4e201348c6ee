"""Clients whose clock is stopped until a test moves it, with a real Redis. No test here waits for time to pass."""

from __future__ import annotations

import queue as queues
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from redisson_dq import SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.scheduling.clock import using
from redisson_dq.worker import Retry, TimedOut, fixed
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.hand_clock import HandClock
from tests.integration.conftest import KEYS
from tests.workers.handlers import Gate, Ledger, Log, at_rest, running

MINUTE, HOUR = 60.0, 3600.0
DAY = 86_400.0
#: Redis's clock runs on while the client's stands still. A timer is armed that much later at most.
RUN_ON = PATIENCE
#: A timer that was armed before the last advance is due sooner.
SOME = 5 * MINUTE
#: Seconds after a transfer until a client drops records whose time is over.
TIDY = 30.0
#: Deadlines are whole milliseconds, rounded up.
MORE = 0.001


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def client(flavour: Flavour, url: str, clock: HandClock) -> Iterator[Any]:
    with using(clock):
        made = flavour.connect(url, codec=StringCodec(), probe_interval=DAY)
    with made:
        yield made


def expect_timer(clock: HandClock, seconds: float) -> None:
    """Returns when the timer is armed for a transfer in some ``seconds``. Moves the time by a few minutes."""
    # The timer waits for its first alarm alone. After a transfer that is the tidying.
    while clock.expect_wait(seconds, TIDY, within=SOME) == TIDY:
        clock.advance(MINUTE)


def make_due(admin: Any) -> None:
    """Makes the only waiting item due in Redis, without notifying the clients."""
    (entry,) = admin.zrange(KEYS.timeout, 0, -1)
    admin.zadd(KEYS.timeout, {entry: 1})


# -- moving ----------------------------------------------------------------------------------------------------------


def test_an_item_is_moved_when_the_clock_has_come_to_its_time(
    admin: Any, queue: Any, producer: Any, client: Any, clock: HandClock, threads: ThreadPoolExecutor
) -> None:
    producer.offer("a", HOUR)
    expect_timer(clock, HOUR)
    make_due(admin)
    taken, before = threads.submit(queue.take), client.transfers.sent
    clock.advance(HOUR / 2)
    # The timer still waits, so no transfer was sent.
    clock.expect_wait(HOUR / 2, within=SOME)
    assert client.transfers.sent == before
    clock.advance(HOUR)
    assert taken.result(PATIENCE) == "a"


def test_a_transfer_before_its_time_on_the_servers_clock_moves_nothing_and_arms_the_timer_anew(
    admin: Any, queue: Any, producer: Any, client: Any, clock: HandClock
) -> None:
    producer.offer("a", HOUR)
    expect_timer(clock, HOUR)
    before = client.transfers.sent
    clock.advance(HOUR + RUN_ON)
    eventually(lambda: client.transfers.sent == before + 1)
    expect_timer(clock, HOUR)
    assert (admin.zcard(KEYS.timeout), queue.size()) == (1, 0)


def test_a_probe_finds_an_item_that_nobody_announced(
    admin: Any, queue: Any, producer: Any, client: Any, clock: HandClock, threads: ThreadPoolExecutor
) -> None:
    producer.offer("a", 30 * DAY)
    expect_timer(clock, DAY)
    make_due(admin)
    taken = threads.submit(queue.take)
    clock.advance(DAY)
    assert taken.result(PATIENCE) == "a"


# -- items and leases ------------------------------------------------------------------------------------------------


def test_an_item_has_less_time_left_as_the_clock_goes_on(producer: Any, clock: HandClock) -> None:
    item = producer.offer("a", HOUR)
    before = item.remaining
    clock.advance(100)
    assert before - item.remaining == timedelta(seconds=100)


def test_a_lease_is_renewed_when_a_third_of_its_time_has_passed(queue: Any, clock: HandClock) -> None:
    queue.add("a")
    delivery = queue.receive(visibility_timeout=HOUR, renew=True)
    first, left = delivery.deadline, delivery.remaining
    clock.expect_wait(HOUR / 3)
    clock.advance(HOUR / 3 + MORE)
    eventually(lambda: delivery.remaining > left - timedelta(minutes=1))
    # The next look comes a twelfth of the time after a renewal, and finds nothing to do.
    clock.expect_wait(HOUR / 12)
    clock.advance(HOUR / 12)
    clock.expect_wait(HOUR / 4)
    assert delivery.remaining < left - timedelta(minutes=4)
    clock.advance(HOUR / 4 + MORE)
    eventually(lambda: delivery.remaining > left - timedelta(minutes=1))
    assert delivery.deadline > first
    assert not delivery.lost
    assert delivery.ack() is SettleOutcome.ACKED


def test_a_lease_that_is_gone_is_lost_at_its_next_renewal(admin: Any, queue: Any, clock: HandClock) -> None:
    lost: queues.SimpleQueue[Any] = queues.SimpleQueue()
    queue.add("a")
    delivery = queue.receive(visibility_timeout=HOUR, renew=True, on_lost=lost.put)
    clock.expect_wait(HOUR / 3)
    admin.delete(KEYS.leases)
    assert not delivery.lost
    clock.advance(HOUR / 3 + MORE)
    assert lost.get(timeout=PATIENCE).value == "a"
    assert delivery.lost


def test_a_lease_that_is_not_renewed_is_lost_when_its_time_is_over(queue: Any, clock: HandClock) -> None:
    queue.add("a")
    delivery = queue.receive(visibility_timeout=HOUR)
    clock.advance(HOUR - 1)
    assert not delivery.lost
    clock.advance(1 + MORE)
    assert delivery.lost


# -- waits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["poll", "poll_from_any", "receive"])
def test_a_wait_for_a_value_ends_when_its_time_is_over(
    queue: Any, client: Any, clock: HandClock, threads: ThreadPoolExecutor, call: str
) -> None:
    calls: dict[str, Callable[[], Any]] = {
        "poll": lambda: queue.poll(timeout=HOUR),
        "poll_from_any": lambda: queue.poll_from_any("others", timeout=HOUR),
        "receive": lambda: queue.receive(visibility_timeout=60, timeout=HOUR),
    }
    wait = threads.submit(calls[call])
    clock.expect_wait(HOUR)
    clock.advance(HOUR - 1)
    clock.expect_wait(1)
    assert not wait.done()
    clock.advance(1)
    assert wait.result(PATIENCE) is None
    queue.add("a")
    assert queue.poll() == "a"


def test_an_offer_waits_for_room_until_its_time_is_over(
    client: Any, clock: HandClock, threads: ThreadPoolExecutor
) -> None:
    bounded = client.bounded_blocking_queue("orders")
    bounded.try_set_capacity(1)
    bounded.offer("a")
    offered = threads.submit(bounded.offer, "b", HOUR)
    clock.expect_wait(HOUR)
    clock.advance(HOUR)
    assert offered.result(PATIENCE) is False


# -- a worker --------------------------------------------------------------------------------------------------------


def test_a_handler_is_late_when_its_time_is_over(flavour: Flavour, client: Any, queue: Any, clock: HandClock) -> None:
    # A renewal that takes longer than the clock is moved would lose a shorter lease.
    worker, gate = flavour.worker(client, visibility_timeout=DAY), Gate()
    log = Log(worker)
    worker.handler("orders", timeout=HOUR)(lambda value: gate.wait())
    queue.add("a")
    with running(worker, gate):
        eventually(lambda: gate.inside)
        clock.expect_wait(HOUR)
        clock.advance(HOUR - 1)
        clock.expect_wait(1)
        assert log.of(TimedOut) == []

        def is_late() -> list[TimedOut]:
            # The watch may have read the time, and begin to wait after it was moved.
            clock.advance(1)
            return log.of(TimedOut)

        (late,) = eventually(is_late)
    assert late.timeout == timedelta(seconds=HOUR)


def test_a_value_is_handled_again_when_the_clock_has_come_to_its_next_attempt(
    flavour: Flavour, client: Any, queue: Any, admin: Any, clock: HandClock
) -> None:
    # A transfer also comes at the deadline of a lease.
    worker, ledger = flavour.worker(client, visibility_timeout=2 * HOUR), Ledger()

    def handle(value: Any, event: Any) -> None:
        ledger.note(value, event)
        if event.attempt == 1:
            raise ValueError(value)

    worker.handler("orders", retry=Retry(limit=2, backoff=fixed(HOUR)))(handle)
    queue.add("a")
    with running(worker):
        assert ledger.next() == "a"
        eventually(lambda: admin.zcard(KEYS.timeout))
        expect_timer(clock, HOUR)
        make_due(admin)
        clock.advance(HOUR + RUN_ON)
        assert ledger.next() == "a"
        at_rest(admin)
    assert [each.attempt for each in ledger.events] == [1, 2]
