"""Everything that is not the same in the asyncio and the threaded flavour, written by hand side by side.

``_async/`` is written by hand and ``_sync/`` is generated from it by renaming: ``AsyncThing`` becomes ``Thing``,
``await`` goes. A pair here has the same methods with the same meaning, so the code above it reads the same.
"""

from __future__ import annotations

import _thread
import asyncio
import collections
import contextlib
import inspect
import math
import os
import queue
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from redisson_dq._clock import now_us
from redisson_dq.errors import ArgumentError

__all__ = [
    "AsyncBackgroundTask",
    "AsyncCallback",
    "AsyncCancelled",
    "AsyncHome",
    "AsyncInbox",
    "AsyncMutex",
    "AsyncSemaphore",
    "AsyncSendLock",
    "AsyncPromise",
    "AsyncSwitch",
    "AsyncWork",
    "async_call",
    "async_finish",
    "async_finish_or_undo",
    "async_give_way",
    "async_sleep",
    "async_sleep_until",
]
__all__ += ["BackgroundTask", "Callback", "Cancelled", "Home", "Inbox", "Mutex", "Semaphore", "SendLock", "Promise"]
__all__ += ["Switch", "Work"]
__all__ += ["call", "finish", "finish_or_undo", "give_way", "sleep", "sleep_until"]

T = TypeVar("T")

# How long the end of a loop waits for a background task that was asked to end.
_LAST_STEPS = 5.0
# Between two looks whether a thread has begun, which takes less than that as a rule.
_START_PAUSE = 0.001

#: What a background task does.
AsyncWork = Callable[[], Coroutine[Any, Any, None]]
Work = Callable[[], None]

#: Guards fields for a few lines that neither block nor await. One event loop needs no guard. A signal handler that
#: closes the client may find its own thread inside.
AsyncMutex = contextlib.nullcontext
Mutex = threading.RLock

#: Lets so many callers in at once. The others wait until one leaves.
AsyncSemaphore = asyncio.Semaphore


class Semaphore:
    """So many may be inside at a time.

    Going in and going out is one call of C code each, so a signal handler that raises leaves no lock held and no permit
    lost. ``threading.Semaphore`` is Python code, and may be left locked for ever.
    """

    def __init__(self, count: int) -> None:
        self._permits: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(count):
            self._permits.put(None)

    @property
    def __enter__(self) -> Callable[[], None]:
        return self._permits.get

    def __exit__(self, *_: object) -> None:
        self._permits.put(None)


async_sleep = asyncio.sleep
sleep = time.sleep


async def async_give_way() -> None:
    """Lets the other tasks of the loop go on first."""
    await asyncio.sleep(0)


def give_way() -> None:
    """Other threads go on by themselves."""


# A selector rounds up to whole milliseconds, and a thread that sleeps wakes up 0.1 ms late. So a busy
# wait ends a sleep.
_SELECTOR_US = 1_300
_BUSY_US = 300


async def async_sleep_until(moment_us: int, *, busy: bool) -> None:
    """Returns at a moment of the monotonic clock. With ``busy`` it does not sleep at the end, and is exact to 0.02 ms.

    The loop goes on meanwhile.
    """
    while (left_us := moment_us - now_us()) > 0:
        if not busy:
            await asyncio.sleep(left_us / 1_000_000)
        else:
            await asyncio.sleep(max(0, left_us - _SELECTOR_US) / 1_000_000)


def sleep_until(moment_us: int, *, busy: bool) -> None:
    """Returns at a moment of the monotonic clock. With ``busy`` it does not sleep for the last 0.3 ms."""
    while (left_us := moment_us - now_us()) > 0:
        if not busy:
            time.sleep(left_us / 1_000_000)
        elif left_us > _BUSY_US:
            time.sleep((left_us - _BUSY_US) / 1_000_000)


#: Awaits work that goes on to its end even when the caller is cancelled.
async_finish = asyncio.shield


def finish(result: T) -> T:
    """Nothing cancels a thread."""
    return result


async def async_finish_or_undo(work: Coroutine[Any, Any, T], undo: Callable[[T], Coroutine[Any, Any, None]]) -> T:
    """Awaits work that goes on to its end even when the caller is cancelled. The work is undone then.

    The cancelled caller does not wait for the undoing; the end of the loop does.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()
    is_kept: asyncio.Future[bool] = loop.create_future()

    async def finish() -> None:
        try:
            result = await work
        except BaseException as error:
            # What failed leaves nothing to undo.
            if not outcome.done():
                outcome.set_exception(error)
            return
        if not outcome.done():
            outcome.set_result(result)
        # The caller may be cancelled in the same turn of the loop. The end of the loop would not know of a background
        # task that the caller made then for the undoing.
        if not await is_kept:
            await undo(result)

    AsyncBackgroundTask(finish, "redisson_dq-take", shielded=True, on_end=_nothing_to_ask)
    try:
        result = await outcome
    except BaseException:
        is_kept.set_result(False)
        raise
    is_kept.set_result(True)
    return result


def _nothing_to_ask() -> None:
    """``on_end`` of a background task that ends soon by itself."""


def finish_or_undo(result: T, undo: Callable[[T], None]) -> T:
    """Nothing cancels a thread."""
    return result


#: The exception that ends an await from outside. Nothing cancels a thread.
AsyncCancelled = asyncio.CancelledError


class Cancelled(BaseException):
    """Is never raised."""


#: What the user gives to be called with a value; with asyncio it may be a coroutine function.
AsyncCallback = Callable[[T], object]
Callback = Callable[[T], object]


async def async_call(callback: Callable[[T], object], value: T) -> None:
    """Calls the callback, and awaits its result if that can be awaited."""
    result = callback(value)
    if not inspect.isawaitable(result):
        return
    try:
        await result
    except asyncio.CancelledError as error:
        # What the callback awaited was cancelled, and not this task. That is a failure like any other. (Python 3.10
        # cannot tell.)
        if getattr(asyncio.current_task(), "cancelling", lambda: 1)():
            raise
        raise RuntimeError("what it awaited was cancelled") from error


def call(callback: Callable[[T], object], value: T) -> None:
    """Calls the callback."""
    callback(value)


#: Held while bytes are written to a connection that several callers share.
AsyncSendLock = asyncio.Lock
SendLock = threading.Lock


class AsyncHome:
    """The event loop that a client belongs to: the one that is running when it is first used."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def check(self, what: str) -> None:
        """Raises ArgumentError outside a running loop, and in another loop than the client's."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise ArgumentError(
                f"{what}: an asyncio queue that moves its items is opened inside a running event loop: open it "
                "in a coroutine, or with transfer=False"
            ) from None
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise ArgumentError(
                f"{what}: the client belongs to another event loop, where its connections are: make one client for "
                "each loop, inside it"
            )


class Home:
    """A client whose calls may come from any thread."""

    def check(self, what: str) -> None:
        """Nothing to check."""


def _wake(woken: asyncio.Future[None]) -> None:
    """Ends the wait for a future that may have ended already."""
    if not woken.done():
        woken.set_result(None)


class AsyncInbox(Generic[T]):
    """A queue of events with one reader. ``put`` may be called from any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._events: collections.deque[T] = collections.deque()
        self._reader: asyncio.Future[None] | None = None

    @property
    def is_empty(self) -> bool:
        return not self._events

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
            # asyncio.wait makes no task of a future. So only the reader itself can be cancelled here.
            await asyncio.wait((self._reader,), timeout=timeout)
        return self._events.popleft() if self._events else None

    def poll(self) -> T | None:
        """The next event, or None when there is none."""
        return self._events.popleft() if self._events else None


class Inbox(Generic[T]):
    """A queue of events. ``put`` may be called from any thread, and is one step that no signal handler can split."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[T] = queue.SimpleQueue()
        # The C function itself. A weak reference may call it without running bytecode.
        self.put: Callable[[T], None] = self._queue.put

    @property
    def is_empty(self) -> bool:
        return self._queue.empty()

    def get(self) -> T:
        return self._queue.get()

    def next(self, timeout: float | None) -> T | None:
        """The next event, or None when ``timeout`` seconds have passed; at once with 0."""
        try:
            return self._queue.get(timeout=timeout) if timeout != 0 else self._queue.get_nowait()
        except queue.Empty:
            return None

    def poll(self) -> T | None:
        """The next event, or None when there is none."""
        return self.next(0)


class AsyncPromise(Generic[T]):
    """Holds one value that one task waits for. Filled once; ``filled`` says whether it was."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._woken: asyncio.Future[None] | None = None
        self._filled = False
        self._value: T

    @property
    def filled(self) -> bool:
        return self._filled

    @property
    def value(self) -> T:
        return self._value

    def fill(self, value: T) -> None:
        self._value = value
        self._filled = True
        if self._woken is not None:
            _wake(self._woken)

    async def wait(self, timeout: float | None) -> bool:
        if not self._filled:
            # A future for this wait alone, as a cancelled task cancels what it awaits. asyncio.wait would wake the task
            # one round of the loop later.
            woken = self._woken = self._loop.create_future()
            timer = None if timeout is None else self._loop.call_later(timeout, _wake, woken)
            try:
                await woken
            finally:
                self._woken = None
                if timer is not None:
                    timer.cancel()
        return self._filled


class Promise(Generic[T]):
    """Holds one value that somebody waits for. Filled once; ``filled`` says whether it was."""

    def __init__(self) -> None:
        # A bare lock, as a signal handler may fill the promise that its own thread is about to wait for.
        self._gate = threading.Lock()
        self._gate.acquire()
        self._filled = False
        self._value: T

    @property
    def filled(self) -> bool:
        return self._filled

    @property
    def value(self) -> T:
        return self._value

    def fill(self, value: T) -> None:
        self._value = value
        self._filled = True
        self._gate.release()

    def wait(self, timeout: float | None) -> bool:
        self._gate.acquire(timeout=-1 if timeout is None else min(timeout, threading.TIMEOUT_MAX))
        return self._filled


class AsyncSwitch:
    """On or off. A task can wait until it is on. Turned from the loop's thread."""

    def __init__(self) -> None:
        self._is_on = False
        self._waiting: list[asyncio.Future[None]] = []

    def on(self) -> None:
        self._is_on = True
        for future in self._waiting:
            _wake(future)

    def off(self) -> None:
        self._is_on = False

    async def wait(self, timeout: float | None) -> bool:
        if not self._is_on:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            try:
                await asyncio.wait((future,), timeout=timeout)
            finally:
                self._waiting.remove(future)
        return self._is_on


class Switch:
    """On or off. A thread can wait until it is on.

    Each waiting thread has a bare lock. A ``threading.Condition`` is Python code. A signal handler that raises in there
    may leave the lock held that every other thread needs.
    """

    def __init__(self) -> None:
        self._is_on = False
        self._waiting: list[threading.Lock] = []

    def on(self) -> None:
        self._is_on = True
        for gate in list(self._waiting):
            # Somebody else may have opened it.
            with contextlib.suppress(RuntimeError):
                gate.release()

    def off(self) -> None:
        self._is_on = False

    def wait(self, timeout: float | None) -> bool:
        gate = threading.Lock()
        gate.acquire()
        # First into the list, then the look: whoever turns it on finds it there, or is seen here.
        self._waiting.append(gate)
        try:
            if not self._is_on:
                gate.acquire(timeout=-1 if timeout is None else min(max(0.0, timeout), threading.TIMEOUT_MAX))
        finally:
            self._waiting.remove(gate)
        return self._is_on


class AsyncBackgroundTask:
    """Runs ``work`` beside its owner until it returns.

    A ``shielded`` one holds values that exist nowhere else. The end of the loop cancels all tasks, but does not find
    this one. So it is not torn away in the middle of a reply. Instead ``on_end`` is called when the loop ends, and the
    loop waits for the background task, for ``_LAST_STEPS`` seconds at most.
    """

    def __init__(
        self,
        work: AsyncWork,
        name: str,
        *,
        shielded: bool = False,
        on_end: Callable[[], None] | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(work(), name=name)
        self._guard: asyncio.Task[None] | None = None
        if shielded:
            asyncio._unregister_task(self._task)
        if on_end is not None:
            self._guard = _Guard(self._task, on_end, f"{name}-guard")

    @property
    def is_current(self) -> bool:
        """Whether it is the caller itself."""
        return self._task is asyncio.current_task()

    async def join(self, timeout: float | None = None) -> bool:
        """Waits for the end; false when it has not come within ``timeout`` seconds."""
        if self.is_current:
            return True
        done, _ = await asyncio.wait((self._task,), timeout=timeout)
        return bool(done)

    async def stop(self, timeout: float) -> None:
        """Waits for the end that was asked for; after ``timeout`` seconds the task is cancelled."""
        if not await self.join(timeout):
            self._task.cancel()
            await self.join()


class _Guard(asyncio.Task[None]):
    """Ends when a background task ends. The end of the loop cancels the guard, and waits for it.

    The guard then asks the background task to end, and gives it time. Its coroutine cannot do that: one that is
    cancelled before its first step catches nothing.
    """

    def __init__(self, task: asyncio.Task[None], on_end: Callable[[], None], name: str) -> None:
        super().__init__(_end_of(task), loop=asyncio.get_running_loop(), name=name)
        self._guarded = task
        self._on_end = on_end
        self._is_asked = False

    def cancel(self, msg: Any = None) -> bool:
        if self.done():
            return False
        if not self._is_asked:
            self._is_asked = True
            self.get_loop().call_later(_LAST_STEPS, self._guarded.cancel)
            self._on_end()
        return True


async def _end_of(task: asyncio.Task[None]) -> None:
    await asyncio.wait((task,))


class _Thread(threading.Thread):
    """A daemon thread that is started in one step, which no signal handler can split.

    ``start()`` is Python code with a lock that the new thread needs. A handler that raises in there may leave the lock
    held, and the thread never runs. Handlers run in the main thread alone, so yet another thread calls it.
    """

    def __init__(self, work: Work, name: str) -> None:
        super().__init__(target=work, name=name, daemon=True)
        # The process in which it has yet to begin. After a fork it never begins in the other one.
        self._begins_in: int | None = os.getpid()
        _thread.start_new_thread(self._begin, ())

    def _begin(self) -> None:
        try:
            self.start()
        finally:
            self._begins_in = None

    def is_alive(self) -> bool:
        return self._begins_in == os.getpid() or super().is_alive()

    def join(self, timeout: float | None = None) -> None:
        ends = math.inf if timeout is None else time.monotonic() + timeout
        while self._begins_in == os.getpid() and time.monotonic() < ends:
            time.sleep(_START_PAUSE)
        if self._begins_in is None:
            super().join(None if timeout is None else max(0.0, ends - time.monotonic()))


class BackgroundTask:
    """Runs ``work`` beside its owner until it returns. Nothing cancels a thread."""

    def __init__(
        self,
        work: Work,
        name: str,
        *,
        shielded: bool = False,
        on_end: Callable[[], None] | None = None,
    ) -> None:
        self._thread = _Thread(work, name)

    @property
    def is_current(self) -> bool:
        """Whether it is the caller itself."""
        return self._thread is threading.current_thread()

    def join(self, timeout: float | None = None) -> bool:
        """Waits for the end; false when it has not come within ``timeout`` seconds."""
        if self.is_current:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def stop(self, timeout: float) -> None:
        """Waits for the end that was asked for; after ``timeout`` seconds the thread is left to end on its own.

        The thread may wait for something that only the caller can give, such as a lock when the caller is a signal
        handler.
        """
        self.join(timeout)
