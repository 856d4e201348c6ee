"""Everything that is not the same in the asyncio and the threaded flavour, written by hand side by side.

``_async/`` is written by hand and ``_sync/`` is generated from it by renaming: ``AsyncThing`` becomes ``Thing``,
``await`` goes. A pair here has the same methods with the same meaning, so the code above it reads the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import queue
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

__all__ = [
    "AsyncCallback",
    "AsyncInbox",
    "AsyncMutex",
    "AsyncSemaphore",
    "AsyncSendLock",
    "AsyncSlot",
    "AsyncSwitch",
    "AsyncWorker",
    "async_call",
    "async_finish",
    "async_finish_or_undo",
    "async_sleep",
]
__all__ += ["Callback", "Inbox", "Mutex", "Semaphore", "SendLock", "Slot", "Switch", "Worker"]
__all__ += ["call", "finish", "finish_or_undo", "sleep"]

T = TypeVar("T")

#: Guards fields for a few lines that neither block nor await. One event loop needs no guard. A signal handler that
#: closes the client may find its own thread inside.
AsyncMutex = contextlib.nullcontext
Mutex = threading.RLock

#: Lets so many callers in at once; the others wait for their turn.
AsyncSemaphore = asyncio.Semaphore
Semaphore = threading.Semaphore

async_sleep = asyncio.sleep
sleep = time.sleep

#: Awaits something that goes on to its end when the caller is cancelled meanwhile.
async_finish = asyncio.shield


def finish(result: T) -> T:
    """Nothing cancels a thread."""
    return result


async def async_finish_or_undo(work: Coroutine[Any, Any, T], undo: Callable[[T], Coroutine[Any, Any, None]]) -> T:
    """Awaits something that goes on to its end when the caller is cancelled meanwhile, and is undone then."""
    task = asyncio.ensure_future(work)

    async def undone() -> None:
        # What failed leaves nothing to undo.
        with contextlib.suppress(Exception):
            await undo(await task)

    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.shield(undone())
        raise


def finish_or_undo(result: T, undo: Callable[[T], None]) -> T:
    """Nothing cancels a thread."""
    return result


#: What the user gives to be called with a value; with asyncio it may be a coroutine function.
AsyncCallback = Callable[[T], object]
Callback = Callable[[T], object]


async def async_call(callback: Callable[[T], object], value: T) -> None:
    """Calls it, and awaits what it gives if that can be awaited."""
    result = callback(value)
    if not inspect.isawaitable(result):
        return
    try:
        await result
    except asyncio.CancelledError as error:
        # Something it awaited was cancelled, and not this task: a failure like any other. (3.10 cannot tell.)
        if getattr(asyncio.current_task(), "cancelling", lambda: 1)():
            raise
        raise RuntimeError("what it awaited was cancelled") from error


def call(callback: Callable[[T], object], value: T) -> None:
    """Calls it."""
    callback(value)


#: Held while bytes are written to a connection that several callers write to.
AsyncSendLock = asyncio.Lock
SendLock = threading.Lock


class AsyncInbox(Generic[T]):
    """A queue of events with one reader. ``put`` may be called from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[T] = asyncio.Queue()

    def put(self, event: T) -> None:
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            self._queue.put_nowait(event)
        else:
            # A loop that is closed already has no reader any more.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._queue.put_nowait, event)

    async def get(self) -> T:
        return await self._queue.get()


class Inbox(Generic[T]):
    """A queue of events with one reader. ``put`` may be called from any thread."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[T] = queue.SimpleQueue()

    def put(self, event: T) -> None:
        self._queue.put(event)

    def get(self) -> T:
        return self._queue.get()


class AsyncSlot(Generic[T]):
    """Holds one value that somebody waits for. Filled once; ``filled`` says whether it was."""

    def __init__(self) -> None:
        self._future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    @property
    def filled(self) -> bool:
        return self._future.done()

    @property
    def value(self) -> T:
        return self._future.result()

    def fill(self, value: T) -> None:
        self._future.set_result(value)

    async def wait(self, timeout: float | None) -> bool:
        # asyncio.wait neither cancels the future nor raises at the end of the time.
        await asyncio.wait((self._future,), timeout=timeout)
        return self._future.done()


class Slot(Generic[T]):
    """Holds one value that somebody waits for. Filled once; ``filled`` says whether it was."""

    def __init__(self) -> None:
        # A bare lock, as a signal handler may fill the slot that its own thread is about to wait for.
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
    """On or off; can be waited for until it is on. Turned from the loop's thread."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def on(self) -> None:
        self._event.set()

    def off(self) -> None:
        self._event.clear()

    async def wait(self, timeout: float | None) -> bool:
        if timeout is None:
            return await self._event.wait()
        try:
            return await asyncio.wait_for(self._event.wait(), timeout)
        except asyncio.TimeoutError:
            return False


class Switch:
    """On or off; can be waited for until it is on."""

    def __init__(self) -> None:
        # Unlike an Event's, its lock may be taken again by a signal handler of the thread that holds it.
        self._changed = threading.Condition(threading.RLock())
        self._is_on = False

    def on(self) -> None:
        with self._changed:
            self._is_on = True
            self._changed.notify_all()

    def off(self) -> None:
        with self._changed:
            self._is_on = False

    def wait(self, timeout: float | None) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._is_on, timeout)


class AsyncWorker:
    """Runs ``work`` beside its owner until it returns."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        self._task = asyncio.get_running_loop().create_task(work(), name=name)

    async def join(self, timeout: float | None = None) -> bool:
        """Waits for the end; false when it has not come within ``timeout`` seconds."""
        if self._task is asyncio.current_task():
            return True
        done, _ = await asyncio.wait((self._task,), timeout=timeout)
        return bool(done)

    async def stop(self, timeout: float) -> None:
        """Waits for the end that was asked for; after ``timeout`` seconds the task is cancelled."""
        if not await self.join(timeout):
            self._task.cancel()
            await self.join()


class Worker:
    """Runs ``work`` beside its owner until it returns."""

    def __init__(self, work: Callable[[], None], name: str) -> None:
        self._thread = threading.Thread(target=work, name=name, daemon=True)
        self._thread.start()

    def join(self, timeout: float | None = None) -> bool:
        """Waits for the end; false when it has not come within ``timeout`` seconds."""
        if self._thread is threading.current_thread():
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def stop(self, timeout: float) -> None:
        """Waits for the end that was asked for; after ``timeout`` seconds the thread is left to end on its own.

        It may wait for something that only the caller can give: a lock, when the caller is a signal handler.
        """
        self.join(timeout)
