"""The timer: alarms fire once, replaced ones never, and no clock but the monotonic one counts."""

from __future__ import annotations

import functools
import queue
import threading
import time
import tracemalloc
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest
import time_machine

from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.scheduling.timer import Timer
from tests.conftest import PATIENCE


@pytest.fixture
def timer() -> Iterator[Timer]:
    made = Timer(SYSTEM)
    yield made
    made.close()


def test_an_alarm_is_never_early(timer: Timer) -> None:
    fired: queue.Queue[float] = queue.Queue()
    for delay_us in (0, 1, 500, 20_000, 50_000):
        start = time.monotonic()
        timer.arm("a", delay_us, lambda: fired.put(time.monotonic()))
        assert fired.get(timeout=PATIENCE) >= start + delay_us / 1_000_000


def test_an_alarm_fires_once(timer: Timer) -> None:
    fired: queue.Queue[str] = queue.Queue()
    timer.arm("a", 10_000, lambda: fired.put("a"))
    timer.arm("b", 60_000, lambda: fired.put("b"))
    assert [fired.get(timeout=PATIENCE) for _ in range(2)] == ["a", "b"]
    assert fired.empty()


def test_arming_again_replaces(timer: Timer) -> None:
    fired: queue.Queue[str] = queue.Queue()
    timer.arm("a", 5_000_000, lambda: fired.put("late"))
    timer.arm("a", 20_000, lambda: fired.put("soon"))
    assert fired.get(timeout=PATIENCE) == "soon"
    timer.arm("a", 20_000, lambda: fired.put("never"))
    timer.arm("a", 40_000, lambda: fired.put("later"))
    assert fired.get(timeout=PATIENCE) == "later"


def test_disarming(timer: Timer) -> None:
    fired: queue.Queue[str] = queue.Queue()
    timer.disarm("unknown")
    timer.arm("a", 20_000, lambda: fired.put("never"))
    timer.disarm("a")
    timer.arm("b", 60_000, lambda: fired.put("b"))
    assert fired.get(timeout=PATIENCE) == "b"
    timer.disarm("b")


def test_every_wake_up_of_an_alarm_that_re_arms_itself_arrives(timer: Timer) -> None:
    wakeups = threading.Semaphore(0)
    for _ in range(300):
        timer.arm("a", 100, wakeups.release)
        assert wakeups.acquire(timeout=PATIENCE)


def test_an_alarm_that_is_late_is_not_dropped(timer: Timer) -> None:
    fired: queue.Queue[str] = queue.Queue()
    timer.arm("blocker", 0, lambda: time.sleep(1.3))
    timer.arm("late", 1000, lambda: fired.put("late"))
    assert fired.get(timeout=PATIENCE) == "late"


@pytest.mark.parametrize("step", [timedelta(hours=-1), timedelta(hours=1)])
def test_setting_the_clock_neither_delays_nor_hastens(timer: Timer, step: timedelta) -> None:
    fired: queue.Queue[str] = queue.Queue()
    start = time.monotonic()
    timer.arm("a", 2_000_000, lambda: fired.put("a"))
    with time_machine.travel(datetime.now(timezone.utc) + step):
        timer.arm("b", 100_000, lambda: fired.put("b"))
        assert [fired.get(timeout=PATIENCE) for _ in range(2)] == ["b", "a"]
    # The tool that sets the clock here also replaces the microseconds of every datetime, hence the margin.
    assert time.monotonic() > start + 1


def test_the_longest_wait_can_be_armed(timer: Timer) -> None:
    timer.arm("a", 86_400_000_000, lambda: None)


def test_a_closed_timer_fires_nothing_and_leaves_no_thread() -> None:
    fired: queue.Queue[str] = queue.Queue()
    before = threading.active_count()
    timer = Timer(SYSTEM)
    assert threading.active_count() == before, "the thread starts with the first alarm"
    timer.arm("a", 20_000, lambda: fired.put("never"))
    assert threading.active_count() == before + 1
    timer.close()
    assert threading.active_count() == before
    timer.arm("b", 0, lambda: fired.put("never"))
    timer.disarm("b")
    timer.close()
    time.sleep(0.05)
    assert fired.empty()


def test_an_alarm_that_fails_ends_no_other_one(timer: Timer, caplog: pytest.LogCaptureFixture) -> None:
    fired: queue.Queue[str] = queue.Queue()
    timer.arm("bad", 0, lambda: [][0])
    timer.arm("good", 1000, lambda: fired.put("good"))
    assert fired.get(timeout=PATIENCE) == "good"
    assert [record.getMessage() for record in caplog.records] == ["unexpected error in an alarm"]


def test_an_alarm_may_arm_and_disarm_others(timer: Timer) -> None:
    fired: queue.Queue[str] = queue.Queue()

    def first() -> None:
        timer.disarm("never")
        timer.arm("second", 0, lambda: fired.put("second"))

    timer.arm("never", 50_000, lambda: fired.put("never"))
    timer.arm("first", 1000, first)
    assert fired.get(timeout=PATIENCE) == "second"
    timer.arm("last", 60_000, lambda: fired.put("last"))
    assert fired.get(timeout=PATIENCE) == "last"


def test_alarms_that_wait_together_fire_in_the_order_in_which_they_were_armed(timer: Timer) -> None:
    fired: queue.Queue[int] = queue.Queue()
    blocked = threading.Event()
    timer.arm("blocker", 0, lambda: blocked.wait(PATIENCE))  # type: ignore[arg-type]
    for number in range(20):
        timer.arm(f"{number}", 0, functools.partial(fired.put, number))
    blocked.set()
    assert [fired.get(timeout=PATIENCE) for _ in range(20)] == list(range(20))


def test_alarms_that_were_replaced_take_no_memory(timer: Timer) -> None:
    def replaced(times: int) -> int:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(times):
            timer.arm("a", 86_400_000_000, nothing)
            timer.arm("b", 86_400_000_000, nothing)
        return tracemalloc.get_traced_memory()[0] - before

    def nothing() -> None: ...

    tracemalloc.start()
    try:
        replaced(100)
        # Each alarm that stayed would take more than a hundred bytes.
        assert replaced(5_000) < 100_000
        timer.disarm("a")
    finally:
        tracemalloc.stop()


def test_an_alarm_may_close_the_timer() -> None:
    timer = Timer(SYSTEM)
    closed: queue.Queue[str] = queue.Queue()

    def close() -> None:
        timer.close()
        closed.put("closed")

    timer.arm("a", 0, close)
    assert closed.get(timeout=PATIENCE) == "closed"
