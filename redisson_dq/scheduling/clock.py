"""The clock of a client: its time, and every wait that ends by time. Setting the machine's time does not change it.

Each client has one clock, and each decision by time asks it: ``runtime.clock``, ``connections.clock``,
``options.clock``. So a test can replace the time of a client, and decide when its waits are over (:func:`using`).
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

__all__ = [
    "SYSTEM",
    "Clock",
    "Events",
    "Gate",
    "ClientParts",
    "PendingCall",
    "SystemClock",
    "current",
    "client_parts",
    "using",
]


_T = TypeVar("_T")


class Gate(Protocol):
    """A ``threading.Lock`` whose waits end by this clock."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...

    def release(self) -> None: ...


class Events(Protocol):
    """A ``queue.SimpleQueue`` whose waits end by this clock."""

    def put(self, item: Any) -> None: ...

    def get(self, block: bool = True, timeout: float | None = None) -> Any: ...

    def get_nowait(self) -> Any: ...

    def qsize(self) -> int: ...


class PendingCall(Protocol):
    """A call that has not been made yet."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """Time, counted from an arbitrary moment, and the waits that end by it. Threads and asyncio have one clock."""

    @property
    def drifts(self) -> bool:
        """Whether the server's clock runs at a slightly different rate."""
        ...

    def monotonic(self) -> float:
        """The time in seconds."""
        ...

    def now_us(self) -> int:
        """The time in whole microseconds."""
        ...

    def calendar_us(self) -> int:
        """The time of the calendar, in epoch us. It decides nothing."""
        ...

    # -- for threads -------------------------------------------------------------------------------------------------

    def lock(self) -> Gate:
        """A new lock, open."""
        ...

    def events(self) -> Events:
        """A new queue, empty."""
        ...

    def sleep(self, seconds: float, /) -> None:
        """Returns after this many seconds."""
        ...

    def sleep_until(self, moment_us: int, *, busy: bool) -> None:
        """Returns at a moment of this clock. With ``busy`` it may keep a processor busy at the end, to be exact."""
        ...

    # -- for asyncio -------------------------------------------------------------------------------------------------

    def call_later(
        self, loop: asyncio.AbstractEventLoop, seconds: float, call: Callable[..., object], *args: Any
    ) -> PendingCall:
        """Calls in this many seconds, in the loop. Called from the loop's thread."""
        ...

    async def async_sleep(self, seconds: float, /) -> None:
        """Returns after this many seconds. The loop goes on meanwhile."""
        ...

    async def async_sleep_until(self, moment_us: int, *, busy: bool) -> None:
        """Returns at a moment of this clock. The loop goes on meanwhile, also with ``busy``."""
        ...


# A selector rounds up to whole milliseconds, and a thread that sleeps wakes up 0.1 ms late. So a busy
# wait ends a sleep.
_SELECTOR_US = 1_300
_BUSY_US = 300


class SystemClock:
    """The monotonic clock of this machine."""

    drifts = True
    # The functions themselves, so that reading the time is one call. A test that freezes time does not replace them.
    monotonic = staticmethod(time.monotonic)
    _monotonic_ns = staticmethod(time.monotonic_ns)
    lock = staticmethod(threading.Lock)
    events: staticmethod[[], Events] = staticmethod(queue.SimpleQueue)
    sleep = staticmethod(time.sleep)
    async_sleep = staticmethod(asyncio.sleep)

    def now_us(self) -> int:
        return self._monotonic_ns() // 1000

    @staticmethod
    def calendar_us() -> int:
        return time.time_ns() // 1000

    @staticmethod
    def call_later(
        loop: asyncio.AbstractEventLoop, seconds: float, call: Callable[..., object], *args: Any
    ) -> asyncio.TimerHandle:
        return loop.call_later(seconds, call, *args)

    def sleep_until(self, moment_us: int, *, busy: bool) -> None:
        """With ``busy`` it does not sleep for the last 0.3 ms."""
        while (left_us := moment_us - self.now_us()) > 0:
            if not busy:
                time.sleep(left_us / 1_000_000)
            elif left_us > _BUSY_US:
                time.sleep((left_us - _BUSY_US) / 1_000_000)

    async def async_sleep_until(self, moment_us: int, *, busy: bool) -> None:
        """With ``busy`` it does not sleep at the end, and is exact to 0.02 ms."""
        while (left_us := moment_us - self.now_us()) > 0:
            if not busy:
                await asyncio.sleep(left_us / 1_000_000)
            else:
                await asyncio.sleep(max(0, left_us - _SELECTOR_US) / 1_000_000)


SYSTEM: Clock = SystemClock()


class ClientParts:
    """The parts of a client that a test kit may replace, in addition to its clock. These are the usual ones."""

    def connection_class(self, usual: type[Any]) -> type[Any]:
        """The class of its connections."""
        return usual

    def timer(self, usual: Callable[[Clock], _T], clock: Clock) -> _T:
        """Its timer."""
        return usual(clock)

    def housekeeping(self, seconds: float) -> float:
        """The period of checks that no value depends on, for a requested period of ``seconds``."""
        return seconds


_USUAL = ClientParts()
_current: Clock = SYSTEM
_parts: weakref.WeakKeyDictionary[Clock, ClientParts] = weakref.WeakKeyDictionary()


def current() -> Clock:
    """The clock that a client gets which is made now."""
    return _current


def client_parts(clock: Clock) -> ClientParts:
    """The parts of the clients that have this clock."""
    return _parts.get(clock, _USUAL)


@contextlib.contextmanager
def using(clock: Clock, parts: ClientParts = _USUAL) -> Iterator[None]:
    """Gives this clock, and these parts, to every client that is made inside, in any thread. For tests."""
    global _current
    _parts[clock] = parts
    before, _current = _current, clock
    try:
        yield
    finally:
        _current = before
