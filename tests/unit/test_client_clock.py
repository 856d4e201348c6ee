"""The clock of a client: the machine's, and one that a test moves by hand."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from redisson_dq._concurrency import AsyncInbox, AsyncPromise, AsyncSwitch, Inbox, Promise, Switch
from redisson_dq._redis.options import Options
from redisson_dq.codecs import StringCodec
from redisson_dq.scheduling.clock import SYSTEM, Clock, current, using
from redisson_dq.scheduling.timer import Timer
from tests.conftest import PATIENCE
from tests.hand_clock import HandClock

#: Longer than any test takes.
HOUR = 3600.0


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def beside(wait: Callable[[], Any]) -> queue.SimpleQueue[Any]:
    """Lets a thread wait. The result comes into the queue."""
    results: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=lambda: results.put(wait()), daemon=True).start()
    return results


def options() -> Options:
    return Options(
        codec=StringCodec(),
        envelope="current",
        name_mapper=None,
        undecodable="raise",
        remember=600.0,
        wakeups="channel",
        durable=None,
        observer=None,
    )


# -- the machine's ---------------------------------------------------------------------------------------------------


def test_the_machine_has_one_time_in_two_units() -> None:
    before = time.monotonic_ns() // 1000
    seconds, us = SYSTEM.monotonic(), SYSTEM.now_us()
    assert before <= round(seconds * 1_000_000) <= us + 1
    assert us <= time.monotonic_ns() // 1000


@pytest.mark.parametrize("busy", [False, True])
def test_a_sleep_until_a_moment_is_never_early(busy: bool) -> None:
    until_us = SYSTEM.now_us() + 3000
    SYSTEM.sleep_until(until_us, busy=busy)
    assert SYSTEM.now_us() >= until_us
    asyncio.run(SYSTEM.async_sleep_until(until_us + 6000, busy=busy))
    assert SYSTEM.now_us() >= until_us + 6000


def test_a_client_has_the_clock_that_was_current_when_it_was_made(clock: HandClock) -> None:
    with using(clock):
        inside = options()
        found: list[Clock] = [beside(current).get(timeout=PATIENCE)]
        with using(SYSTEM):
            assert options().clock is SYSTEM
        assert current() is clock
    assert inside.clock is clock
    assert found == [clock]
    assert options().clock is SYSTEM


def test_an_error_inside_gives_the_clock_back(clock: HandClock) -> None:
    with pytest.raises(ZeroDivisionError), using(clock):
        raise ZeroDivisionError
    assert current() is SYSTEM


# -- moved by hand: threads ------------------------------------------------------------------------------------------


def test_time_passes_by_hand_alone(clock: HandClock) -> None:
    seconds, us = clock.monotonic(), clock.now_us()
    clock.advance(HOUR)
    assert clock.monotonic() == seconds + HOUR
    assert clock.now_us() == us + 3_600_000_000


def test_a_thread_sleeps_until_the_time_was_moved(clock: HandClock) -> None:
    moment_us = clock.now_us() + 3_600_000_000
    sleeps = [beside(lambda: clock.sleep(HOUR)), beside(lambda: clock.sleep_until(moment_us, busy=True))]
    for _ in sleeps:
        clock.expect_wait(HOUR)
    clock.advance(HOUR - 0.001)
    assert all(each.empty() for each in sleeps)
    clock.advance(0.001)
    assert [each.get(timeout=PATIENCE) for each in sleeps] == [None, None]


def test_a_short_look_ends_though_the_time_stands_still(clock: HandClock) -> None:
    before = clock.monotonic()
    clock.sleep(0.001)
    assert Promise[str](clock).wait(0.001) is False
    assert Inbox[str](clock).next(0.001) is None
    asyncio.run(clock.async_sleep(0.001))
    assert clock.monotonic() == before


def test_a_promise_is_waited_for_until_it_is_filled_or_the_time_is_over(clock: HandClock) -> None:
    promise: Promise[str] = Promise(clock)
    first = beside(lambda: promise.wait(HOUR))
    clock.expect_wait(HOUR)
    clock.advance(HOUR)
    assert first.get(timeout=PATIENCE) is False
    second = beside(lambda: promise.wait(HOUR))
    clock.expect_wait(HOUR)
    promise.fill("a")
    assert second.get(timeout=PATIENCE) is True
    assert promise.value == "a"


def test_a_switch_is_waited_for_until_it_is_on_or_the_time_is_over(clock: HandClock) -> None:
    switch = Switch(clock)
    assert switch.wait(0) is False
    waits = [beside(lambda: switch.wait(HOUR)), beside(lambda: switch.wait(2 * HOUR))]
    clock.expect_wait(HOUR)
    clock.expect_wait(2 * HOUR)
    clock.advance(HOUR)
    assert waits[0].get(timeout=PATIENCE) is False
    switch.on()
    assert waits[1].get(timeout=PATIENCE) is True


def test_an_inbox_is_waited_for_until_an_event_comes_or_the_time_is_over(clock: HandClock) -> None:
    inbox: Inbox[str] = Inbox(clock)
    first = beside(lambda: inbox.next(HOUR))
    clock.expect_wait(HOUR)
    clock.advance(HOUR)
    assert first.get(timeout=PATIENCE) is None
    second = beside(inbox.get)
    inbox.put("a")
    assert second.get(timeout=PATIENCE) == "a"
    inbox.put("b")
    assert (inbox.count, inbox.next(HOUR), inbox.poll()) == (1, "b", None)


def test_alarms_ring_in_the_order_of_their_times(clock: HandClock) -> None:
    timer = Timer(clock)
    fired: queue.SimpleQueue[tuple[str, float]] = queue.SimpleQueue()
    began = clock.monotonic()

    def signal(name: str) -> Callable[[], None]:
        return lambda: fired.put((name, clock.monotonic() - began))

    for name, seconds in (("c", 3), ("a", 1), ("b", 2)):
        timer.arm(name, seconds * 1_000_000, signal(name))
    for expected in (("a", 1.0), ("b", 2.0), ("c", 3.0)):
        clock.expect_wait(1)
        assert fired.empty()
        clock.advance(1)
        assert fired.get(timeout=PATIENCE) == expected
    timer.close()


# -- moved by hand: asyncio ------------------------------------------------------------------------------------------


async def advanced(clock: HandClock, wait: asyncio.Task[Any], seconds: float) -> Any:
    """The result of a task after a wait of this many seconds."""
    await asyncio.to_thread(clock.expect_wait, seconds)
    assert not wait.done()
    clock.advance(seconds)
    return await asyncio.wait_for(wait, PATIENCE)


def test_a_task_sleeps_until_the_time_was_moved(clock: HandClock) -> None:
    async def main() -> None:
        await advanced(clock, asyncio.create_task(clock.async_sleep(HOUR)), HOUR)
        moment_us = clock.now_us() + 5_000_000
        await advanced(clock, asyncio.create_task(clock.async_sleep_until(moment_us, busy=True)), 5)
        await clock.async_sleep(0)
        await clock.async_sleep_until(moment_us, busy=False)

    asyncio.run(main())


def test_a_task_waits_until_the_time_was_moved(clock: HandClock) -> None:
    async def main() -> None:
        promise: AsyncPromise[str] = AsyncPromise(clock)
        switch, inbox = AsyncSwitch(clock), AsyncInbox[str](clock)
        assert await advanced(clock, asyncio.create_task(promise.wait(HOUR)), HOUR) is False
        assert await advanced(clock, asyncio.create_task(switch.wait(HOUR)), HOUR) is False
        assert await advanced(clock, asyncio.create_task(inbox.next(HOUR)), HOUR) is None
        waits = [asyncio.create_task(each) for each in (promise.wait(HOUR), switch.wait(HOUR), inbox.next(HOUR))]
        await asyncio.to_thread(clock.expect_wait, HOUR)
        promise.fill("a")
        switch.on()
        inbox.put("b")
        assert await asyncio.wait_for(asyncio.gather(*waits), PATIENCE) == [True, True, "b"]

    asyncio.run(main())


def test_a_cancelled_wait_leaves_no_alarm(clock: HandClock) -> None:
    async def main() -> None:
        called: list[str] = []
        alarm = clock.call_later(asyncio.get_running_loop(), 1, called.append, "a")
        clock.call_later(asyncio.get_running_loop(), 2, called.append, "b")
        alarm.cancel()
        clock.advance(1)
        rung = clock.call_later(asyncio.get_running_loop(), 1, called.append, "c")
        clock.advance(1)
        # It has rung, and the loop has not called yet.
        rung.cancel()
        await asyncio.sleep(0)
        assert called == ["b"]

    asyncio.run(main())
