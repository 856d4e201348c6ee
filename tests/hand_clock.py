"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import heapq
import itertools
import queue
import threading
from collections.abc import Callable
from typing import Any

from redisson_dq._clock import SystemClock
from tests.conftest import PATIENCE

__all__ = ["HandClock"]

# An arbitrary moment, far from zero as that of a machine.
_BEGINNING = 1_000_000.0
# A shorter wait ends by real time too.
_LOOK = 0.1
# What is due a nanosecond later falls due too: sums of floats differ by less.
_NOISE = 1e-9


class HandClock:
    """The clock of the clients that are made inside ``with using(clock):``.

    It is good for what a client decides by its own time: when to send a transfer, to renew a lease, to end a
    ``take(timeout=)``, to try again. ``advance`` ends such waits in the order of their times, without a sleep in the
    test. What the woken threads and tasks do then takes its time, so a test waits for the event as always.

    It does not move Redis's clock. A due time and a deadline stand on that clock, and the client maps them to its own
    by the answers that it gets. After ``advance(3600)`` the client sends its transfer. Redis answers that nothing is
    due for another hour, and the client arms its timer anew, as after any change of a clock. A test that wants the
    item moves its score in Redis as well. Waits for a reply, or for the end of a thread or a task, go by real time.

    A wait of less than a tenth of a second is a look at something that ends by itself, such as a connection that is
    closed. It also ends by real time, so a client can be closed while the time stands still.

    A thread may read the time, and begin to wait after the time was moved. So a test expects each wait
    (``expect_wait``) before it moves the time on. Between two advances each call seems to take no time at all.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._now = _BEGINNING
        self._alarms: list[_Alarm] = []
        self._numbers = itertools.count()

    # -- for tests ---------------------------------------------------------------------------------------------------

    def advance(self, seconds: float) -> None:
        """Moves the time, and ends the waits that are over by then in the order of their times.

        A wait that begins meanwhile counts too.
        """
        with self._changed:
            until = self._now + seconds
        while (alarm := self._next(until)) is not None:
            alarm.ring()

    def expect_wait(self, *seconds: float, within: float = 1.0) -> float:
        """Returns as soon as a wait is under way that ends in so many seconds, or ``within`` sooner or later.

        Of several it gives the first that was found.
        """

        def waited() -> float | None:
            left = [each.at - self._now for each in self._alarms]
            return next((each for each in seconds if any(abs(one - each) <= within for one in left)), None)

        with self._changed:
            self._changed.wait_for(lambda: waited() is not None, PATIENCE)
            found = waited()
            waits = sorted(each.at - self._now for each in self._alarms)
        assert found is not None, f"nobody waits for {seconds} s; waits end in {waits} s"
        return found

    def _next(self, until: float) -> _Alarm | None:
        with self._changed:
            if not self._alarms or self._alarms[0].at > until + _NOISE:
                self._now = max(self._now, until)
                return None
            alarm = heapq.heappop(self._alarms)
            self._now = max(self._now, alarm.at)
            return alarm

    # -- the clock ---------------------------------------------------------------------------------------------------

    def monotonic(self) -> float:
        return self._now

    def now_us(self) -> int:
        return round(self._now * 1_000_000)

    calendar_us = staticmethod(SystemClock.calendar_us)
    every = staticmethod(SystemClock.every)
    drifts = SystemClock.drifts
    over = staticmethod(SystemClock.over)

    def lock(self) -> _Lock:
        return _Lock(self)

    def events(self) -> _Events:
        return _Events(self)

    def timer(self, usual: Callable[[Any], Any]) -> Any:
        return usual(self)

    def sleep(self, seconds: float) -> None:
        lock = self.lock()
        lock.acquire()
        lock.acquire(timeout=seconds)

    def sleep_until(self, moment_us: int, *, busy: bool) -> None:
        while (left := moment_us / 1_000_000 - self._now) > _NOISE:
            self.sleep(left)

    def call_later(
        self, loop: asyncio.AbstractEventLoop, seconds: float, call: Callable[..., object], *args: Any
    ) -> _Alarm:
        def ring() -> None:
            # A loop that is closed has nobody who waits.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(run)

        def run() -> None:
            if not alarm.is_cancelled:
                call(*args)

        alarm = self.alarm(seconds, ring)
        return alarm

    async def async_sleep(self, seconds: float) -> None:
        over = asyncio.get_running_loop().create_future()

        def end() -> None:
            # It may have rung twice, by real time and by hand.
            if not over.done():
                over.set_result(None)

        alarm = self.call_later(over.get_loop(), seconds, end)
        try:
            await over
        finally:
            alarm.cancel()

    async def async_sleep_until(self, moment_us: int, *, busy: bool) -> None:
        while (left := moment_us / 1_000_000 - self._now) > _NOISE:
            await self.async_sleep(left)

    # -- inside ------------------------------------------------------------------------------------------------------

    def alarm(self, seconds: float, ring: Callable[[], None]) -> _Alarm:
        """Rings when the time has been moved by so many seconds; at once where that is none."""
        with self._changed:
            alarm = _Alarm(self, self._now + seconds, next(self._numbers), ring)
            if seconds > 0:
                heapq.heappush(self._alarms, alarm)
                self._changed.notify_all()
        if seconds <= 0:
            ring()
        elif seconds < _LOOK:
            look = threading.Timer(seconds, alarm.ring)
            look.daemon = True
            look.start()
        return alarm

    def drop(self, alarm: _Alarm) -> None:
        with self._changed, contextlib.suppress(ValueError):
            self._alarms.remove(alarm)
            heapq.heapify(self._alarms)


class _Alarm:
    def __init__(self, clock: HandClock, at: float, number: int, ring: Callable[[], None]) -> None:
        self._clock = clock
        self.at = at
        self._number = number
        self._ring = ring
        self._has_rung = False
        self.is_cancelled = False

    @property
    def is_over(self) -> bool:
        return self._has_rung or self._clock.monotonic() >= self.at

    def ring(self) -> None:
        self._has_rung = True
        self._clock.drop(self)
        if not self.is_cancelled:
            self._ring()

    def cancel(self) -> None:
        self.is_cancelled = True
        self._clock.drop(self)

    def __lt__(self, other: _Alarm) -> bool:
        return (self.at, self._number) < (other.at, other._number)


class _Waited:
    """What threads wait for until something changes, or until the time is over."""

    def __init__(self, clock: HandClock) -> None:
        self._clock = clock
        # May be entered twice by one thread: a weak reference may call in the middle of anything.
        self._changed = threading.Condition(threading.RLock())

    def _until(self, is_there: Callable[[], bool], timeout: float | None) -> bool:
        """Called with ``_changed`` held."""
        if timeout is None:
            return self._changed.wait_for(is_there)
        alarm = self._clock.alarm(timeout, self._look)
        try:
            self._changed.wait_for(lambda: is_there() or alarm.is_over)
            return is_there()
        finally:
            alarm.cancel()

    def _look(self) -> None:
        with self._changed:
            self._changed.notify_all()


class _Lock(_Waited):
    """``threading.Lock`` on this clock."""

    _is_held = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        with self._changed:
            within = 0.0 if not blocking else None if timeout < 0 else timeout
            if not self._until(lambda: not self._is_held, within):
                return False
            self._is_held = True
            return True

    def release(self) -> None:
        with self._changed:
            if not self._is_held:
                raise RuntimeError("release unlocked lock")
            self._is_held = False
            self._changed.notify_all()


class _Events(_Waited):
    """``queue.SimpleQueue`` on this clock."""

    def __init__(self, clock: HandClock) -> None:
        super().__init__(clock)
        self._items: collections.deque[Any] = collections.deque()

    def put(self, item: Any) -> None:
        with self._changed:
            self._items.append(item)
            self._changed.notify_all()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        with self._changed:
            if not self._until(lambda: bool(self._items), timeout if block else 0.0):
                raise queue.Empty
            return self._items.popleft()

    def get_nowait(self) -> Any:
        return self.get(block=False)

    def qsize(self) -> int:
        return len(self._items)
