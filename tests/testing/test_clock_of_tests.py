"""The clock of a test: time that goes on when the test says so, on a real server."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq import SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError, DuplicateItemError
from redisson_dq.observing import Moved
from redisson_dq.scripts.script import load
from redisson_dq.testing import NoRestError, NotForTestsError, TestClock
from redisson_dq.worker import GivenUp, Retry, TimedOut, exponential
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.testing.conftest import START
from tests.workers.handlers import Log

DAYS_30 = timedelta(days=30)
MS = timedelta(milliseconds=1)


# -- what falls due --------------------------------------------------------------------------------------------------


def test_an_item_of_30_days(clock: TestClock, queue: Any, delayed: Any) -> None:
    item = delayed.offer("a", DAYS_30)
    assert item.due == START + DAYS_30
    clock.advance(DAYS_30 - MS)
    assert (queue.size(), delayed.size()) == (0, 1)
    clock.advance(MS)
    assert (queue.read_all(), delayed.size(), clock.now) == (["a"], 0, START + DAYS_30)


def test_items_are_moved_in_the_order_of_their_times_and_then_of_their_offers(
    clock: TestClock, queue: Any, delayed: Any
) -> None:
    for value, days in (("z", 3), ("c", 1), ("b", 2), ("a", 1), ("y", 3)):
        delayed.offer(value, timedelta(days=days))
    delayed.offer_all([("x", timedelta(days=3)), ("d", timedelta(days=2))])
    clock.advance(days=30)
    assert queue.read_all() == ["c", "a", "b", "d", "z", "y", "x"]


def test_a_step_leads_to_what_a_test_can_see(clock: TestClock, queue: Any, delayed: Any) -> None:
    """A client looks after itself once a day, at moments that differ from run to run."""
    delayed.offer("a", timedelta(minutes=14))
    clock.advance(hours=1)
    delayed.offer("b", timedelta(days=4))
    assert clock.step()
    assert (clock.now, queue.read_all()) == (START + timedelta(days=4, hours=1), ["a", "b"])
    assert not clock.step()
    assert clock.now == START + timedelta(days=4, hours=1)


def test_a_lease_ends_at_its_deadline(clock: TestClock, queue: Any, delayed: Any) -> None:
    queue.add("a")
    delivery = queue.receive(visibility_timeout=3600)
    clock.advance(hours=1, milliseconds=-1)
    assert (queue.size(), delivery.lost) == (0, False)
    clock.advance(MS)
    assert (queue.size(), delivery.lost) == (1, True)
    assert delivery.ack() is SettleOutcome.LOST
    assert queue.receive().attempt == 2


def test_a_worker_retries_in_the_order_of_the_times(
    flavour: Flavour, clock: TestClock, client: Any, queue: Any, delayed: Any
) -> None:
    worker, handled = flavour.worker(client), []

    @worker.handler("orders", retry=Retry(limit=4, backoff=exponential(60, 3600)))
    def handle(value: str, event: Any) -> None:
        handled.append((value, event.attempt, clock.now - START))
        if value == "bad" and event.attempt < 3:
            raise ValueError(value)

    with worker:
        delayed.offer("good", DAYS_30)
        delayed.offer("bad", timedelta(hours=2))
        # Sundays at three, in two time zones' summers: the clocks go forward on the second one.
        delayed.offer_recurring("tick", "weekly", cron="0 3 * * sun", timezone="Europe/Berlin")
        clock.advance(DAYS_30)
    hour = timedelta(hours=1)
    assert handled == [
        ("bad", 1, 2 * hour),
        ("bad", 2, 2 * hour + timedelta(minutes=1)),
        ("bad", 3, 2 * hour + timedelta(minutes=3)),
        ("tick", 1, timedelta(days=2) + 2 * hour),
        ("tick", 1, timedelta(days=9) + 1 * hour),
        ("tick", 1, timedelta(days=16) + 1 * hour),
        ("tick", 1, timedelta(days=23) + 1 * hour),
        ("good", 1, DAYS_30),
    ]


def test_a_deduplication_window_ends(clock: TestClock, delayed: Any) -> None:
    delayed.offer("a", 1, deduplicate_for=3600)
    clock.advance(hours=1, milliseconds=-1)
    with pytest.raises(DuplicateItemError):
        delayed.offer("a", 1, deduplicate_for=3600)
    clock.advance(MS)
    delayed.offer("a", 1, deduplicate_for=3600)


def test_an_item_that_is_too_late_is_dropped(clock: TestClock, client: Any, queue: Any) -> None:
    producer = client.delayed_queue("orders", transfer=False)
    producer.offer("late", 60, expires=30)
    clock.advance(minutes=2)
    producer.offer("in time", 60, expires=30)
    moving = client.delayed_queue("orders")
    moving.offer("now", 0)
    clock.advance(minutes=1)
    assert queue.read_all() == ["now", "in time"]
    assert moving.expired_count() == 1


def test_a_key_with_a_time_to_live_is_gone_at_its_time(clock: TestClock, queue: Any, admin: Any) -> None:
    queue.add("a")
    queue.expire(timedelta(days=10))
    assert queue.remain_time_to_live() == timedelta(days=10)
    clock.advance(days=10, milliseconds=-1)
    assert (queue.size(), queue.remain_time_to_live()) == (1, MS)
    clock.advance(MS)
    assert queue.size() == 0
    # A new key has no end of the old one.
    queue.add("b")
    clock.advance(days=100)
    assert queue.read_all() == ["b"]


# -- waits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["poll", "poll_from_any", "receive"])
def test_a_wait_ends_when_the_clock_has_come_to_its_end(queue: Any, clock: TestClock, call: str) -> None:
    # A thread of the test that let time pass step by step would be late to look at the clock.
    with clock.auto():
        names = ("others",) if call == "poll_from_any" else ()
        assert getattr(queue, call)(*names, timeout=3600) is None
        ended = clock.now
    assert timedelta(hours=1) <= ended - START < timedelta(hours=1, seconds=1)


def test_auto_jumps_to_the_item(clock: TestClock, queue: Any, delayed: Any) -> None:
    delayed.offer("a", DAYS_30)
    with clock.auto():
        assert queue.take() == "a"
    assert clock.now == START + DAYS_30


def test_a_wait_for_which_nobody_lets_time_pass_raises(flavour: Flavour, url: str) -> None:
    with TestClock(url, patience=0.2), redisson_dq.connect(url) as client:
        with pytest.raises(NoRestError, match="nobody has let time pass"):
            client.blocking_queue("orders").poll(timeout=60)


def test_auto_ends_a_wait_for_which_nothing_comes(clock: TestClock, queue: Any) -> None:
    with pytest.raises(NoRestError, match="nothing more is coming"), clock.auto(limit=timedelta(days=3)):
        queue.take()


def test_a_handler_is_late_by_the_clock(flavour: Flavour, clock: TestClock, client: Any, queue: Any) -> None:
    worker = flavour.worker(client)
    log = Log(worker)

    @worker.handler("orders", timeout=3600)
    def handle(value: str, event: Any) -> None:
        if event.attempt == 1:
            clock.sleep(7200)

    queue.add("a")
    with worker:
        clock.advance(hours=1, milliseconds=-1)
        assert log.of(TimedOut) == []
        clock.advance(seconds=1)
        assert [late.timeout for late in log.of(TimedOut)] == [timedelta(hours=1)]
        clock.advance(hours=1)


# -- what does not rest ----------------------------------------------------------------------------------------------


def test_a_handler_that_goes_on_is_named(flavour: Flavour, url: str) -> None:
    gate = threading.Event()

    def stuck(value: Any) -> None:
        gate.wait(PATIENCE)

    with TestClock(url, start=START, patience=0.3) as clock, flavour.connect(url, codec=StringCodec()) as client:
        worker = flavour.worker(client)
        worker.handler("orders")(stuck)
        client.blocking_queue("orders").add("a")
        with worker:
            with pytest.raises(NoRestError, match="'redisson_dq-handler' runs"):
                clock.advance(1)
            gate.set()


def test_the_end_of_auto_breaks_no_other_wait_off(
    flavour: Flavour, clock: TestClock, client: Any, queue: Any, threads: ThreadPoolExecutor
) -> None:
    begun, gate = threading.Event(), threading.Event()
    worker = flavour.worker(client)

    @worker.handler("orders")
    def handle(value: str) -> None:
        begun.set()
        gate.wait(PATIENCE)

    queue.add("a")
    with worker:
        assert begun.wait(PATIENCE)
        settling = threads.submit(clock.settle)
        for _ in range(20):
            with clock.auto():
                pass
        assert not settling.done()
        gate.set()
        settling.result(PATIENCE)


def test_one_auto_ends_inside_of_another(clock: TestClock, queue: Any, delayed: Any) -> None:
    delayed.offer_all([("a", DAYS_30), ("b", 2 * DAYS_30)])
    with clock.auto():
        with clock.auto():
            assert queue.take() == "a"
        assert queue.take() == "b"


def test_a_move_that_did_not_come_to_rest_allows_no_transfer_to_run_ahead(flavour: Flavour, url: str) -> None:
    gate = threading.Event()

    def slow(happening: object) -> None:
        if isinstance(happening, Moved):
            gate.wait(PATIENCE)

    with (
        TestClock(url, start=START, patience=0.3) as clock,
        flavour.connect(url, codec=StringCodec(), observer=slow) as client,
    ):
        delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
        delayed.offer("a", 60)
        with pytest.raises(NoRestError):
            clock.advance(days=30)
        gate.set()
        clock.settle()
        delayed.offer_all([("b", 0), ("c", 60)])
        clock.settle()
        assert queue.read_all() == ["a", "b"]


# -- what it refuses -------------------------------------------------------------------------------------------------


def test_a_server_that_holds_anything_else_is_refused(url: str, admin: Any) -> None:
    admin.set("theirs", 1)
    with pytest.raises(NotForTestsError, match=r"database 0 holds keys that no test made, such as 'theirs'"):
        TestClock(url).__enter__()
    assert admin.keys() == [b"theirs"]
    with pytest.raises(NotForTestsError, match="database 0"):
        TestClock(url.replace("/0", "/3")).__enter__()


def test_two_clocks_in_one_database_are_refused(url: str) -> None:
    with TestClock(url), pytest.raises(NotForTestsError, match="another test's clock runs in that database"):
        TestClock(url).__enter__()
    with TestClock(url), TestClock(url.replace("/0", "/1")):
        pass


def test_what_a_killed_test_left_is_removed(url: str, admin: Any) -> None:
    program = f"""if True:
        import os, signal
        from redisson_dq.testing import TestClock
        TestClock({url!r}).__enter__()
        os.kill(os.getpid(), signal.SIGKILL)
    """
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL
    assert admin.exists("redisson_dq:test")
    admin.set("left", 1)
    with TestClock(url):
        assert not admin.exists("left")
    # The mark of the killed test ends by itself.
    assert admin.keys() == [b"redisson_dq:test"]
    assert admin.ttl("redisson_dq:test") > 0


def test_time_goes_forward_alone(clock: TestClock) -> None:
    with pytest.raises(ArgumentError, match="has passed"):
        clock.advance(-1)
    with pytest.raises(ArgumentError, match="time zone"):
        clock.advance_to(datetime(2030, 1, 1))
    clock.advance_to(datetime(2030, 1, 1, tzinfo=timezone.utc))
    assert clock.now == datetime(2030, 1, 1, tzinfo=timezone.utc)


def test_production_sends_no_other_script(url: str, admin: redis.Redis) -> None:
    """A client that is made outside sends what it always did, also after a test's clock has ended."""
    with TestClock(url):
        pass
    admin.script_flush()
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer("a", 60)
        assert not isinstance(client.runtime.clock, TestClock)
    assert admin.script_exists(load("offer").sha) == [True]


def test_a_span_that_is_none_is_named(clock: TestClock) -> None:
    with pytest.raises(ArgumentError, match="either a span or its parts"):
        clock.advance()
    with pytest.raises(ArgumentError, match="either a span or its parts"):
        clock.advance(1, days=1)
    wrong: Any
    for wrong in ({"months": 1}, {"days": "1"}, {"days": 1e300}, {"seconds": float("nan")}):
        with pytest.raises(ArgumentError, match="its parts such as days=30"):
            clock.advance(**wrong)
    for wrong in (True, "30", float("inf")):
        with pytest.raises(ArgumentError, match="its parts such as days=30"):
            clock.advance(wrong)
    for wrong in (-1, "10", float("nan")):
        with pytest.raises(ArgumentError, match=r"^patience= must be"):
            TestClock("redis://localhost", patience=wrong)
    with pytest.raises(ArgumentError, match="after the year 9999"):
        clock.advance(days=9_000_000)
    assert clock.now == START


@pytest.mark.parametrize("year", [1, 1968, 9999])
def test_a_moment_that_nobody_can_tell_is_named(clock: TestClock, url: str, year: int) -> None:
    # In UTC the last one is of the year 10000.
    moment = datetime(year, 12, 31, 23, tzinfo=timezone(timedelta(hours=-2)))
    with pytest.raises(ArgumentError, match=r"start= a moment of the years 1970 to 9999"):
        TestClock(url, start=moment)
    with pytest.raises(ArgumentError, match=r"advance_to\(\): a moment of the years 1970 to 9999"):
        clock.advance_to(moment)


def test_time_ends_with_the_year_9999(flavour: Flavour, url: str) -> None:
    last = datetime(9999, 12, 31, tzinfo=timezone.utc)
    with TestClock(url, start=last) as clock, flavour.connect(url, codec=StringCodec()) as client:
        delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
        delayed.offer_all([("a", timedelta(hours=23)), ("never", timedelta(hours=25))])
        with clock.auto():
            assert queue.take() == "a"
        with pytest.raises(NoRestError, match="nothing more is coming"), clock.auto():
            queue.take()
        assert clock.now == last + timedelta(hours=23)


def test_a_clock_that_does_not_run_is_named(url: str) -> None:
    clock = TestClock(url, start=START)

    def check() -> None:
        for call in (lambda: clock.advance(1), clock.step, clock.settle, clock.auto):
            with pytest.raises(ArgumentError, match="runs only inside `with TestClock"):
                call()

    check()
    with clock:
        clock.advance(1)
    check()
    assert clock.now == START + timedelta(seconds=1)


def test_a_handler_does_not_let_time_pass(flavour: Flavour, clock: TestClock, client: Any, queue: Any) -> None:
    worker = flavour.worker(client)
    log = Log(worker)

    def handle(value: str) -> None:
        clock.advance(1)

    async def handle_on_the_loop(value: str) -> None:
        await clock.aio.advance(1)

    worker.handler("orders", retry=None)(handle)
    if flavour.name == "asyncio":
        worker.handler("others", retry=None)(handle_on_the_loop)
        client.blocking_queue("others").add("a")
    queue.add("a")
    with worker:
        clock.settle()
    errors = [given_up.error for given_up in log.of(GivenUp)]
    assert len(errors) == (1 if flavour.name == "sync" else 2)
    for error in errors:
        assert isinstance(error, ArgumentError)
        assert "clock.sleep(...) is for handlers that take long" in str(error)


def test_time_goes_on_when_the_last_handle_is_gone(clock: TestClock, delayed: Any, admin: redis.Redis) -> None:
    delayed.offer("a", DAYS_30)
    delayed.destroy()
    # Nobody hears the queue's channel any more, and the connection stays.
    eventually(lambda: admin.pubsub_numsub(delayed.keys.channel)[0][1] == 0)
    clock.advance(DAYS_30)
    assert admin.zcard(delayed.keys.timeout) == 1


def test_a_sleep_of_no_time_is_over_at_once(clock: TestClock) -> None:
    for seconds in (0, -1):
        clock.sleep(seconds)
    assert clock.now == START
