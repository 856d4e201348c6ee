"""The ways for one thread or task to wait for another one, an inbox, a promise, a switch, or to let it go on first."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from redisson_dq.scheduling.clock import Clock, Events, Gate

__all__ = [
    "AsyncInbox",
    "AsyncPromise",
    "AsyncSwitch",
    "Inbox",
    "Promise",
    "Switch",
    "async_give_way",
    "async_stand_back",
    "give_way",
    "stand_back",
]

T = TypeVar("T")

# For this many seconds :func:`stand_back` sleeps. An item that falls due meanwhile is moved that much later.
_STAND_BACK = 0.0003


def _wake(woken: asyncio.Future[None]) -> None:
    """Ends the wait for a future that may have ended already."""
    if not woken.done():
        woken.set_result(None)


async def _until_woken(clock: Clock, woken: asyncio.Future[None], timeout: float | None) -> None:
    """Waits for a future that only this wait has, as a cancelled task cancels the future that it awaits.

    asyncio.wait would wake the task one round of the loop later.
    """
    timer = None if timeout is None else clock.call_later(woken.get_loop(), timeout, _wake, woken)
    try:
        await woken
    finally:
        if timer is not None:
            timer.cancel()


class AsyncInbox(Generic[T]):
    """A queue of events with one reader. ``put`` may be called from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._loop: asyncio.AbstractEventLoop | None = None
        self._events: collections.deque[T] = collections.deque()
        #: How many events nobody has read yet. It is a function of C, as in the other flavour.
        self.qsize: Callable[[], int] = self._events.__len__
        self._reader: asyncio.Future[None] | None = None

    @property
    def count(self) -> int:
        """How many events nobody has read yet."""
        return len(self._events)

    def put(self, event: T) -> None:
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if self._loop is None:
            self._loop = here
        if here is self._loop:
            self._put(event)
        elif self._loop is not None:
            # A loop that is closed has no reader any more.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._put, event)

    def _put(self, event: T) -> None:
        self._events.append(event)
        if self._reader is not None:
            _wake(self._reader)

    async def get(self) -> T:
        while True:
            event = await self.next(None)
            if event is not None:
                return event

    async def next(self, timeout: float | None) -> T | None:
        """The next event, or None when ``timeout`` seconds have passed; at once with 0."""
        if not self._events and timeout != 0:
            self._loop = asyncio.get_running_loop()
            self._reader = self._loop.create_future()
            await _until_woken(self._clock, self._reader, timeout)
        return self._events.popleft() if self._events else None

    def poll(self) -> T | None:
        """The next event, or None when there is none."""
        return self._events.popleft() if self._events else None


class Inbox(Generic[T]):
    """A queue of events. ``put`` may be called from any thread, and is one step that no signal handler can split."""

    def __init__(self, clock: Clock) -> None:
        self._queue: Events = clock.events()
        # The C function itself. A weak reference may call it without running bytecode.
        self.put: Callable[[T], None] = self._queue.put
        #: How many events nobody has read yet.
        self.qsize: Callable[[], int] = self._queue.qsize

    @property
    def count(self) -> int:
        """How many events nobody has read yet."""
        return self._queue.qsize()

    def get(self) -> T:
        event: T = self._queue.get()
        return event

    def next(self, timeout: float | None) -> T | None:
        """The next event, or None when ``timeout`` seconds have passed; at once with 0."""
        # Before Python 3.13 a wait may go on for ever, when the machine holds the thread up right at its beginning. The
        # queue works out the rest of the time, and takes a negative rest for no limit. After a look that found
        # nothing, the queue takes the time as it is.
        try:
            event: T = self._queue.get_nowait()
        except queue.Empty:
            if timeout == 0:
                return None
            try:
                event = self._queue.get(timeout=timeout)
            except queue.Empty:
                return None
        return event

    def poll(self) -> T | None:
        """The next event, or None when there is none."""
        try:
            event: T = self._queue.get_nowait()
        except queue.Empty:
            return None
        return event


class _Held(Generic[T]):
    """The fields of both kinds of promise."""

    filled = False
    value: T


class AsyncPromise(_Held[T]):
    """Holds one value that one task waits for. Filled once; ``filled`` says whether it was."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._woken: asyncio.Future[None] | None = None

    def fill(self, value: T) -> None:
        self.value = value
        self.filled = True
        if self._woken is not None:
            _wake(self._woken)

    async def wait(self, timeout: float | None) -> bool:
        if not self.filled:
            self._woken = self._loop.create_future()
            try:
                await _until_woken(self._clock, self._woken, timeout)
            finally:
                self._woken = None
        return self.filled


class Promise(_Held[T]):
    """Holds one value that somebody waits for. Filled once; ``filled`` says whether it was."""

    def __init__(self, clock: Clock) -> None:
        # A bare lock, as a signal handler may fill the promise that its own thread is about to wait for.
        self._gate = clock.lock()
        self._gate.acquire()

    def fill(self, value: T) -> None:
        self.value = value
        self.filled = True
        self._gate.release()

    def wait(self, timeout: float | None) -> bool:
        self._gate.acquire(timeout=-1 if timeout is None else min(timeout, threading.TIMEOUT_MAX))
        return self.filled


class AsyncSwitch:
    """On or off. A task can wait until it is on. Turned from the loop's thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._is_on = False
        self._waiting: list[asyncio.Future[None]] = []

    def on(self) -> None:
        self._is_on = True
        for future in self._waiting:
            _wake(future)

    def off(self) -> None:
        self._is_on = False

    @property
    def is_on(self) -> bool:
        return self._is_on

    async def wait(self, timeout: float | None) -> bool:
        if not self._is_on:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            try:
                await _until_woken(self._clock, future, timeout)
            finally:
                self._waiting.remove(future)
        return self._is_on


class Switch:
    """On or off. A thread can wait until it is on.

    Each waiting thread has a bare lock. A ``threading.Condition`` is Python code. A signal handler that raises in there
    may leave the lock held that every other thread needs.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._is_on = False
        self._waiting: list[Gate] = []

    def on(self) -> None:
        self._is_on = True
        for gate in list(self._waiting):
            # Somebody else may have opened it.
            with contextlib.suppress(RuntimeError):
                gate.release()

    def off(self) -> None:
        self._is_on = False

    @property
    def is_on(self) -> bool:
        return self._is_on

    def wait(self, timeout: float | None) -> bool:
        gate = self._clock.lock()
        gate.acquire()
        # First into the list, then the look. So a thread that turns the switch on finds it there, or is seen here.
        self._waiting.append(gate)
        try:
            if not self._is_on:
                gate.acquire(timeout=-1 if timeout is None else min(max(0.0, timeout), threading.TIMEOUT_MAX))
        finally:
            self._waiting.remove(gate)
        return self._is_on


async def async_give_way() -> None:
    """Lets the other tasks of the loop go on first. What they leave is then found in the same round of the loop."""
    await asyncio.sleep(0)


def give_way() -> None:
    """A thread that has been woken goes on when this one waits, which is soon. To sleep for no time takes 60 us."""


async def async_stand_back() -> None:
    """A loop reads one reply after the other, in any order of tasks."""


def stand_back() -> None:
    """Leaves the interpreter's lock to threads that are about to be woken.

    Otherwise they would wait until this one has read its own reply, and has worked on it.
    """
    time.sleep(_STAND_BACK)
