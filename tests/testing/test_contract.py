"""One contract, played in the time of a test and in real time, on each kind of server."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from redisson_dq import SettleOutcome
from redisson_dq.errors import DuplicateItemError
from redisson_dq.items import Outcome
from redisson_dq.worker import GivenUp, Rate, Retry, exponential
from tests.flavours import Flavour
from tests.testing.times import Time, in_time
from tests.workers.handlers import Log


@pytest.fixture(params=["test", "real"])
def time(request: pytest.FixtureRequest, url: str) -> Iterator[Time]:
    with in_time(request.param, url) as made:
        yield made


@pytest.fixture
def clock(time: Time) -> Time:
    return time


# -- offers ----------------------------------------------------------------------------------------------------------


def test_items_come_in_due_order_and_never_early(time: Time, queue: Any, delayed: Any) -> None:
    items = {name: delayed.offer(name, ticks * time.tick) for name, ticks in (("c", 6), ("a", 2), ("b", 4))}
    with time.going():
        for name in "abc":
            assert queue.take() == name
            time.has_come(items[name].due)
        assert queue.poll(timeout=time.tick) is None


def test_a_history_has_the_times(time: Time, queue: Any, delayed: Any) -> None:
    delayed.set_history(10)
    item = delayed.offer("a", 2 * time.tick, id="order-71")
    with time.going():
        delivery = queue.receive(timeout=10 * time.tick, visibility_timeout=50 * time.tick)
        assert delivery is not None
        delivery.ack()
    events = delayed.history("order-71")
    assert [event.what for event in events] == ["offered", "moved", "delivered", "done"]
    assert events[1].time >= item.due >= events[0].time + time.tick
    assert delayed.history("order-71", until=events[0].time) == events[:1]


def test_a_batch_of_equal_times_keeps_its_order(time: Time, queue: Any, delayed: Any) -> None:
    delayed.offer_all([(str(number), time.tick) for number in range(20)])
    time.pass_by(1)
    time.is_so(lambda: queue.read_all() == [str(number) for number in range(20)])


def test_an_item_is_rescheduled_and_another_is_cancelled(time: Time, queue: Any, delayed: Any) -> None:
    first, second = delayed.offer("first", 60 * time.tick), delayed.offer("second", 60 * time.tick, id="second")
    assert first.reschedule(delay=2 * time.tick) is Outcome.RESCHEDULED
    assert delayed.cancel("second") is Outcome.CANCELLED
    assert not second.cancel()
    with time.going():
        assert queue.take() == "first"
        time.has_come(first.due)
    assert delayed.size() == 0


def test_an_item_that_is_moved_too_late_is_dropped(time: Time, client: Any, queue: Any) -> None:
    waiting = client.delayed_queue("orders", transfer=False)
    waiting.offer("late", time.tick, expires=time.tick / 2)
    waiting.offer("never too late", time.tick)
    time.pass_by(2)
    client.delayed_queue("orders").start_moving()
    with time.going():
        assert queue.take() == "never too late"
    time.is_so(lambda: waiting.expired_count() == 1)


def test_equal_values_are_duplicates_for_their_window(time: Time, delayed: Any) -> None:
    window, began = 4 * time.tick, time.now
    delayed.offer("a", time.tick, deduplicate_for=window)
    try:
        with pytest.raises(DuplicateItemError):
            delayed.offer("a", time.tick, deduplicate_for=window)
    except pytest.fail.Exception:
        # A busy machine may have let the whole window pass.
        time.has_come(began + window)
    time.pass_by(4)
    delayed.offer("a", time.tick, deduplicate_for=window)


# -- recurring offers ------------------------------------------------------------------------------------------------


def test_a_recurring_offer_keeps_its_grid(time: Time, queue: Any, delayed: Any) -> None:
    now = time.now
    # Redis keeps milliseconds.
    start = now - timedelta(microseconds=now.microsecond % 1000) + 2 * time.tick
    delayed.offer_recurring("tick", "often", every=time.tick, start=start)
    with time.going():
        for number in range(4):
            assert queue.take() == "tick"
            # Occurrences that nobody could offer in time are left out. No value comes early, and none twice.
            assert time.now >= start + number * time.tick
            (offer,) = delayed.recurring()
            assert (offer.next_due - start) % time.tick == timedelta(0)
            assert offer.next_due >= start + number * time.tick
    assert delayed.cancel_recurring("often")


def test_a_nightly_offer_follows_the_clocks_of_its_zone(time: Time, queue: Any, delayed: Any) -> None:
    """The test's clock goes over the night in which Berlin's clocks go forward."""
    zone = ZoneInfo("Europe/Berlin")
    delayed.offer_recurring("report", "nightly", cron="30 2 * * *", timezone=zone.key)
    nights = []
    for _ in range(time.days):
        (offer,) = delayed.recurring()
        with time.going():
            assert queue.take() == "report"
        time.has_come(offer.next_due)
        time.is_so(lambda: delayed.recurring() != [offer])  # noqa: B023
        nights.append(offer.next_due.astimezone(zone).date())
    assert all(after - before == timedelta(days=1) for before, after in itertools.pairwise(nights))
    (offer,) = delayed.recurring()
    at = offer.next_due.astimezone(zone)
    # Half past two, or in the night without it the first moment behind the gap.
    assert at - datetime(at.year, at.month, at.day, tzinfo=zone) == timedelta(hours=2, minutes=30)


# -- leases ----------------------------------------------------------------------------------------------------------


def test_a_lease_that_is_over_comes_again(time: Time, queue: Any, delayed: Any) -> None:
    queue.add("a")
    first = queue.receive(visibility_timeout=2 * time.tick)
    with time.going():
        second = queue.receive(timeout=60 * time.tick)
    assert (second.value, second.attempt) == ("a", 2)
    time.has_come(first.deadline)
    assert first.ack() is SettleOutcome.LOST
    assert second.ack() is SettleOutcome.ACKED
    assert queue.stats().in_flight == 0


def test_a_lease_is_renewed_as_long_as_it_is_held(time: Time, queue: Any) -> None:
    queue.add("a")
    with queue.receive(visibility_timeout=10 * time.tick, renew=True) as held:
        time.pass_by(25)
        assert not held.lost
        assert queue.size() == 0
    assert queue.stats().in_flight == 0


def test_a_value_that_is_given_back_waits_for_its_delay(time: Time, queue: Any, delayed: Any) -> None:
    queue.add("a")
    delivery = queue.receive()
    began = time.now
    delivery.nack(delay=3 * time.tick, reason="not yet")
    assert queue.size() == 0
    with time.going():
        again = queue.receive()
    assert again.attempt == 2
    assert time.now >= began + 3 * time.tick
    again.reject("no")
    assert [letter.reason for letter in queue.dead_letters()] == ["no"]


def test_a_key_is_gone_at_its_time(time: Time, queue: Any) -> None:
    queue.add("a")
    queue.expire(2 * time.tick)
    time.pass_by(2)
    time.is_so(lambda: queue.size() == 0)


# -- workers ---------------------------------------------------------------------------------------------------------


def test_a_worker_backs_off(flavour: Flavour, time: Time, client: Any, queue: Any, delayed: Any) -> None:
    worker, times = flavour.worker(client), []
    log = Log(worker)
    first = time.tick.total_seconds()

    @worker.handler("orders", retry=Retry(limit=4, backoff=exponential(first, 8 * first, jitter=False)))
    def handle(value: str, event: Any) -> None:
        times.append(time.now)
        raise ValueError(value)

    delayed.offer("a", time.tick)
    with worker:
        time.pass_by(10)
        time.is_so(lambda: log.of(GivenUp))
    waits = [(after - before) // time.tick for before, after in itertools.pairwise(times)]
    assert len(waits) == 3
    assert all(wait >= least for wait, least in zip(waits, (1, 2, 4), strict=True))
    assert [letter.attempts for letter in queue.dead_letters()] == [4]


def test_a_rate_spreads_the_handlings(flavour: Flavour, time: Time, client: Any, queue: Any) -> None:
    worker, times = flavour.worker(client), []

    @worker.handler("orders", rate=Rate(1, per=2 * time.tick.total_seconds(), burst=1))
    def handle(value: str) -> None:
        times.append(time.now)

    queue.add_all(["a", "b", "c"])
    with worker:
        time.pass_by(7)
        time.is_so(lambda: len(times) == 3)
    # A token may come while the handling before it begins.
    assert times[2] - times[0] >= 3 * time.tick
