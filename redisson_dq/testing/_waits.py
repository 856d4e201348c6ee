"""The waits of a test clock: alarms in the order of their times, and the locks and queues whose waits end by them."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import heapq
import itertools
import queue
import threading
import weakref
from collections.abc import Callable
from typing import Any

import attrs

from redisson_dq.errors import RedissonDQError

__all__ = ["TimedAlarm", "Alarms", "ClockOfAlarms", "TimedEvents", "TimedLock", "TimedTimer", "NoRestError", "Wait"]

# A wait shorter than this, in seconds, also ends by real time. So a client can be closed while the time stands still.
_LOOK = 0.25
# The names of timers whose moments change nothing that a test can see.
_HOUSEKEEPING = ("probe", "tidy ")


class NoRestError(RedissonDQError):
    """A test would wait for ever: some activity does not end, or nobody advances the time. The message says which."""


class Alarms:
    """The time of a test in us, the waits that end by it, and the threads that wait."""

    def __init__(self, now_us: int, patience: float) -> None:
        self.now_us = now_us
        #: How many seconds of real time a user's thread waits while no time passes.
        self.patience = patience
        #: Held for every change of this object.
        self.mutex = threading.RLock()
        #: Notified when a thread begins to wait, and at every command and reply.
        self.changed = threading.Condition(self.mutex)
        #: Held while the test advances the time.
        self.moving = threading.Lock()
        #: Counts all activity so far.
        self.moves = 0
        #: The waits of threads, by thread.
        self.waiting: dict[int, Wait] = {}
        #: The error that the waits of the user's own threads raise, as they would never end.
        self.failure: BaseException | None = None
        #: The event loops of the clients.
        self.loops: weakref.WeakSet[asyncio.AbstractEventLoop] = weakref.WeakSet()
        self._heap: list[TimedAlarm] = []
        self._numbers = itertools.count()

    def happened(self) -> None:
        """Records an activity that may have ended. Waits for idleness check again."""
        with self.mutex:
            self.moves += 1
            self.changed.notify_all()

    def began(self) -> None:
        """Records that an activity has begun. This ends no wait for idleness, so nobody is woken."""
        with self.mutex:
            self.moves += 1

    def alarm(self, seconds: float, ring: Callable[[], None], about: str = "") -> TimedAlarm:
        """An alarm that rings when the time has been advanced by this many seconds; at once if that is 0.

        Due times and moments are whole milliseconds: a client that would be ready slightly earlier is ready at the
        moment.
        """
        with self.mutex:
            at_us = -(-(self.now_us + max(0, round(seconds * 1_000_000))) // 1000) * 1000
            alarm = TimedAlarm(self, at_us, next(self._numbers), ring, about)
            if seconds > 0:
                heapq.heappush(self._heap, alarm)
            self.began()
        if seconds <= 0:
            alarm.ring()
        elif seconds < _LOOK:
            self.look_in(seconds, alarm)
        return alarm

    def look_in(self, seconds: float, alarm: TimedAlarm) -> None:
        """Lets a wait end by real time."""
        look = threading.Timer(seconds, alarm.look, (seconds,))
        look.daemon = True
        look.start()

    def next_us(self, *, visible: bool = False) -> int | None:
        """When the next wait ends. With ``visible`` no wait for housekeeping counts."""
        with self.mutex:
            if not visible:
                return self._heap[0].at_us if self._heap else None
            return min((each.at_us for each in self._heap if not each.about.startswith(_HOUSEKEEPING)), default=None)

    def due(self) -> list[TimedAlarm]:
        """Removes and returns the alarms whose time has come."""
        found = []
        with self.mutex:
            while self._heap and self._heap[0].at_us <= self.now_us:
                found.append(heapq.heappop(self._heap))
        return found

    def fail(self, error: BaseException) -> None:
        """Ends the waits of the user's own threads."""
        self.failure = error
        for wait in list(self.waiting.values()):
            wait.wake()

    def drop(self, alarm: TimedAlarm) -> None:
        with self.mutex, contextlib.suppress(ValueError):
            self._heap.remove(alarm)
            heapq.heapify(self._heap)

    def waits(self) -> list[tuple[int, str]]:
        """When each wait ends, and the thread or task that waits."""
        with self.mutex:
            return [(alarm.at_us, alarm.about) for alarm in sorted(self._heap)]


@attrs.frozen(eq=False)
class Wait:
    """The wait of one thread: whether it is over, and the condition that wakes the thread."""

    is_over: Callable[[], bool]
    wake: Callable[[], None]


@attrs.define(eq=False)
class TimedAlarm:
    """One wait that ends by the time of a test."""

    _alarms: Alarms
    at_us: int
    _number: int
    _ring: Callable[[], None]
    about: str
    _has_rung: bool = False
    is_cancelled: bool = False

    @property
    def is_over(self) -> bool:
        return self._has_rung or self._alarms.now_us >= self.at_us

    def ring(self) -> None:
        self._has_rung = True
        self._alarms.drop(self)
        if not self.is_cancelled:
            self._ring()
        self._alarms.began()

    def look(self, seconds: float) -> None:
        """Rings by real time, unless its time is over. While the test advances the time, only that ends waits."""
        if self._has_rung or self.is_cancelled:
            return
        if not self._alarms.moving.acquire(blocking=False):
            self._alarms.look_in(seconds, self)
            return
        try:
            self.ring()
        finally:
            self._alarms.moving.release()

    def cancel(self) -> None:
        self.is_cancelled = True
        self._alarms.drop(self)

    def __lt__(self, other: TimedAlarm) -> bool:
        return (self.at_us, self._number) < (other.at_us, other._number)


class _Waited:
    """An object that threads wait for until it changes, or until a timeout."""

    def __init__(self, alarms: Alarms) -> None:
        self._alarms = alarms
        # Reentrant: the callback of a weak reference may run at any point.
        self._changed = threading.Condition(threading.RLock())

    def _until(self, is_there: Callable[[], bool], timeout: float | None) -> bool:
        """The caller holds ``_changed``."""
        if is_there():
            return True
        if timeout is not None and timeout <= 0:
            return False
        if timeout is None:
            self._wait(is_there)
            return True
        alarm = self._alarms.alarm(timeout, self._look, threading.current_thread().name)
        try:
            self._wait(lambda: is_there() or alarm.is_over)
            return is_there()
        finally:
            alarm.cancel()

    def _wait(self, is_over: Callable[[], bool]) -> None:
        alarms, thread = self._alarms, threading.current_thread()
        is_users = not thread.name.startswith("redisson_dq")
        # The callback of a weak reference may wait in the middle of another wait.
        outer = alarms.waiting.get(thread.ident or 0)
        alarms.waiting[thread.ident or 0] = Wait(is_over, self._look)
        alarms.happened()
        try:
            if is_users:
                self._wait_as_user(is_over)
            else:
                self._changed.wait_for(is_over)
        finally:
            if outer is None:
                alarms.waiting.pop(thread.ident or 0, None)
            else:
                alarms.waiting[thread.ident or 0] = outer
            alarms.began()

    def _wait_as_user(self, is_over: Callable[[], bool]) -> None:
        alarms = self._alarms
        moved = None
        while not self._changed.wait_for(lambda: is_over() or alarms.failure is not None, alarms.patience):
            # One step may take that long. If it takes longer, nobody advances the time.
            if moved == alarms.now_us and not alarms.moving.locked():
                raise NoRestError(
                    f"nobody has let time pass for {alarms.patience:g} s while a thread waits for it; "
                    "call clock.advance() in another thread, or wait inside `with clock.auto():`"
                )
            moved = alarms.now_us
        if alarms.failure is not None and not is_over():
            raise alarms.failure

    def _look(self) -> None:
        with self._changed:
            self._changed.notify_all()


class TimedLock(_Waited):
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


class TimedTimer:
    """The timer of one client on this clock. Its alarms ring in the thread that lets time pass."""

    def __init__(self, alarms: Alarms) -> None:
        self._alarms = alarms
        self._armed: dict[str, TimedAlarm] = {}
        self._is_closed = False

    def arm(self, name: str, delay_us: int, signal: Callable[[], None]) -> None:
        self.disarm(name)
        if not self._is_closed:
            self._armed[name] = self._alarms.alarm(delay_us / 1_000_000, signal, name)

    def is_short(self) -> bool:
        """It needs no thread."""
        return False

    def disarm(self, name: str) -> None:
        alarm = self._armed.pop(name, None)
        if alarm is not None:
            alarm.cancel()

    def close(self) -> None:
        self._is_closed = True
        for name in list(self._armed):
            self.disarm(name)


class TimedEvents(_Waited):
    """``queue.SimpleQueue`` on this clock."""

    def __init__(self, alarms: Alarms) -> None:
        super().__init__(alarms)
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


class ClockOfAlarms:
    """The waits of a clock whose time is kept in its alarms. A subclass defines the time."""

    def __init__(self, alarms: Alarms) -> None:
        self._alarms = alarms
        self._sleeping: set[TimedLock] = set()
        self._is_over = False

    def now_us(self) -> int:
        """The time in microseconds, from an arbitrary moment on."""
        raise NotImplementedError

    def end_sleeps(self) -> None:
        """Ends all sleeps: time stops, and a sleeping handler would keep its thread for ever."""
        self._is_over = True
        for lock in list(self._sleeping):
            lock.release()

    def lock(self) -> TimedLock:
        """For clients: a lock. Its waits end by this clock."""
        return TimedLock(self._alarms)

    def events(self) -> TimedEvents:
        """For clients: a queue. Its waits end by this clock."""
        return TimedEvents(self._alarms)

    def sleep(self, seconds: float, /) -> None:
        """Returns when so much time has passed by this clock. For handlers that take long."""
        lock = self.lock()
        lock.acquire()
        self._sleeping.add(lock)
        try:
            if not self._is_over:
                lock.acquire(timeout=max(0.0, seconds))
        finally:
            self._sleeping.discard(lock)

    def sleep_until(self, moment_us: int, *, busy: bool) -> None:
        """For clients: returns at this moment of the clock."""
        while (left_us := moment_us - self.now_us()) > 0:
            self.sleep(left_us / 1_000_000)

    def call_later(
        self, loop: asyncio.AbstractEventLoop, seconds: float, call: Callable[..., object], *args: Any
    ) -> TimedAlarm:
        """For clients: calls ``call`` in the loop after a time by this clock."""
        self._alarms.loops.add(loop)

        def ring() -> None:
            # A closed loop has no waits.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(run)

        def run() -> None:
            if not alarm.is_cancelled:
                call(*args)

        task = asyncio.current_task(loop)
        alarm = self._alarms.alarm(seconds, ring, "a task" if task is None else task.get_name())
        return alarm

    async def async_sleep(self, seconds: float, /) -> None:
        """Sleeps by this clock. The loop keeps running meanwhile."""
        over = asyncio.get_running_loop().create_future()

        def end() -> None:
            # It may have rung twice: by real time and by the test.
            if not over.done():
                over.set_result(None)

        alarm = self.call_later(over.get_loop(), seconds, end)
        try:
            await over
        finally:
            alarm.cancel()

    async def async_sleep_until(self, moment_us: int, *, busy: bool) -> None:
        """For clients: sleeps until this moment of the clock. The loop keeps running meanwhile."""
        while (left_us := moment_us - self.now_us()) > 0:
            await self.async_sleep(left_us / 1_000_000)
