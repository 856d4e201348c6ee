"""Background tasks: daemon threads and asyncio tasks, and work that is finished even when its caller is cancelled."""

from __future__ import annotations

import _thread
import asyncio
import math
import os
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from redisson_dq.errors import NoThreadError

__all__ = [
    "AsyncBackgroundTask",
    "AsyncCancelled",
    "AsyncFailure",
    "AsyncWork",
    "BackgroundTask",
    "Cancelled",
    "Failure",
    "Work",
    "async_finish",
    "async_finish_or_undo",
    "async_here",
    "finish",
    "finish_or_undo",
    "here",
]

T = TypeVar("T")

# How long the end of a loop waits for a background task that was asked to end.
_LAST_STEPS = 5.0
# Between two looks whether a thread has begun, which takes less than that as a rule.
_START_PAUSE = 0.001

#: The function that a background task runs.
AsyncWork = Callable[[], Coroutine[Any, Any, None]]
Work = Callable[[], None]

#: The exception that ends an await from outside. Nothing cancels a thread.
AsyncCancelled = asyncio.CancelledError


class Cancelled(BaseException):
    """A class that is never raised."""


#: The errors that the library's own loops survive. A signal handler of the user's may end the program in the thread of
#: the event loop, and in no thread of ours.
AsyncFailure = Exception
Failure = BaseException


class AsyncBackgroundTask:
    """Runs ``work`` concurrently with its owner until it returns.

    A ``shielded`` one holds values that exist nowhere else. The end of the loop cancels all tasks, but does not find
    this one. So it is not interrupted in the middle of a reply. Instead ``on_end`` is called when the loop ends, and
    the loop waits for the background task, for ``_LAST_STEPS`` seconds at most.
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
    held, and the thread never runs. Handlers run only in the main thread, so yet another thread calls it.
    """

    def __init__(self, work: Work, name: str) -> None:
        super().__init__(target=work, name=name, daemon=True)
        # The process in which it has yet to begin, or begins as another thread. After a fork it never begins in the
        # other one.
        self._begins_in: int | None = os.getpid()
        # The thread that was to start it, where that does the work itself.
        self._begins_as: int | None = None
        try:
            _thread.start_new_thread(self._begin, ())
        except RuntimeError as error:
            raise _no_thread(error) from error

    def _begin(self) -> None:
        try:
            self.start()
        except RuntimeError:
            # The system gives no second thread, so this one does the work.
            self._begins_as = threading.get_ident()
            self.run()
        finally:
            self._begins_in = None

    @property
    def is_current(self) -> bool:
        """Whether it is the thread that asks."""
        return self is threading.current_thread() or self._begins_as == threading.get_ident()

    def is_alive(self) -> bool:
        return self._begins_in == os.getpid() or super().is_alive()

    def join(self, timeout: float | None = None) -> None:
        ends = math.inf if timeout is None else time.monotonic() + timeout
        while self._begins_in == os.getpid() and time.monotonic() < ends:
            time.sleep(_START_PAUSE)
        if self._begins_in is None and self.ident is not None:
            super().join(None if timeout is None else max(0.0, ends - time.monotonic()))


def _no_thread(error: RuntimeError) -> NoThreadError:
    # Python 3.12 and newer.
    if "interpreter shutdown" in str(error):
        return NoThreadError(
            "the interpreter is shutting down and starts no threads: call earlier, not in an atexit function"
        )
    return NoThreadError(
        f"the system cannot start a thread, and nothing has begun: {error}; raise the limit, or call again"
    )


class BackgroundTask:
    """Runs ``work`` concurrently with its owner until it returns. Nothing cancels a thread."""

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
        return self._thread.is_current

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
    is_returned: asyncio.Future[bool] = loop.create_future()

    async def finish() -> None:
        try:
            result = await work
        except BaseException as error:
            # A failed start leaves nothing to undo.
            if not outcome.done():
                outcome.set_exception(error)
            return
        if not outcome.done():
            outcome.set_result(result)
        # The caller may be cancelled in the same turn of the loop. The end of the loop would not know of a background
        # task that the caller made then for the undoing.
        if not await is_returned:
            await undo(result)

    AsyncBackgroundTask(finish, "redisson_dq-take", shielded=True, on_end=_nothing_to_ask)
    try:
        result = await outcome
    except BaseException:
        is_returned.set_result(False)
        raise
    is_returned.set_result(True)
    return result


def _nothing_to_ask() -> None:
    """``on_end`` of a background task that ends soon by itself."""


def finish_or_undo(result: T, undo: Callable[[T], None]) -> T:
    """Nothing cancels a thread."""
    return result


#: The task or the thread that calls. Workers ask for each value.
async_here = asyncio.current_task
here = threading.current_thread
