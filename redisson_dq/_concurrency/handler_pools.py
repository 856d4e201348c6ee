"""Where the user's functions run, with threads and with asyncio. Both are written by hand, side by side.

A pair here has the same methods with the same meaning, as in :mod:`redisson_dq._concurrency`.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import contextvars
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar, cast

from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.clock import SYSTEM, Clock

__all__ = [
    "AsyncHandlerPool",
    "AsyncPoolWork",
    "AsyncSettled",
    "AsyncBridge",
    "HandlerPool",
    "PoolWork",
    "Settled",
    "Bridge",
]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")

#: A work of a pool. It returns None, or the work that the same thread or task does next.
AsyncPoolWork = Callable[[], Coroutine[Any, Any, Any]]
PoolWork = Callable[[], Any]

#: The result of a call on an event.
AsyncSettled = Awaitable[SettleOutcome]
Settled = SettleOutcome


class HandlerPool:
    """Threads for handlers: one for each running handler. A handler that never returns occupies only its own thread.

    A thread that has ended one work takes the next one. One idle thread is woken at a time, and wakes the next one
    where more works are left. So quick works wake nobody.

    Where the system gives no more threads, a work waits until a thread of the pool is free.
    """

    def __init__(self, name: str, clock: Clock = SYSTEM, context: contextvars.Context | None = None) -> None:
        """Each work sees the variables of the ``context``, else of the caller's. A variable that it sets is visible
        only to itself.
        """
        self._name = name
        #: As in the pool of an event loop.
        self.bridge = Bridge()
        #: As in the pool of an event loop. A handling is in its own thread.
        self.inside: dict[object, int] = {}
        self._context = contextvars.copy_context() if context is None else context
        self._process = os.getpid()
        # Guards the fields below.
        self._mutex = threading.Lock()
        self._works: collections.deque[PoolWork] = collections.deque()
        # Wakes one idle thread each time.
        self._bell = clock.events()
        # Threads that wait for the bell, and threads that are about to look for a work.
        self._idle = self._coming = 0
        self._threads = 0
        self._is_closed = False

    def start(self, work: PoolWork) -> bool:
        """Runs ``work`` in a thread. It may take any time. Returns whether it waits for a thread.

        Raises RuntimeError when the system gives not even the first thread.
        """
        with self._mutex:
            self._works.append(work)
            return self._waits()

    def start_all(self, works: Iterable[PoolWork]) -> bool:
        """Runs works, each in a thread. Returns whether one of them waits for a thread."""
        with self._mutex:
            self._works.extend(works)
            return self._waits()

    def _waits(self) -> bool:
        """Makes sure that each work finds a thread. Returns whether no thread is available."""
        while len(self._works) > self._idle + self._coming:
            if not self._has_one_more():
                return True
        if self._works and not self._coming:
            self._wake()
        return False

    def _wake(self) -> None:
        self._idle -= 1
        self._coming += 1
        self._bell.put(None)

    def _has_one_more(self) -> bool:
        """Adds a thread. False: none is available, and other threads do the work."""
        thread = threading.Thread(target=self._serve, name=f"redisson_dq-{self._name}", daemon=True)
        # It looks for work as soon as the caller leaves the mutex.
        self._coming += 1
        try:
            thread.start()
        except RuntimeError as error:
            self._coming -= 1
            if not self._threads:
                self._works.pop()
                raise
            logger.warning("worker: a handling waits for one of %d threads: %s", self._threads, error)
            return False
        self._threads += 1
        return True

    @staticmethod
    def cancel(where: object) -> None:
        """Does nothing: a thread cannot be cancelled. Its event notifies the handler."""

    def close(self, timeout: float) -> None:
        """Ends each thread when its handler has returned."""
        with self._mutex:
            self._is_closed = True
            while self._idle:
                self._wake()

    def _serve(self) -> None:
        with self._mutex:
            self._coming -= 1
        work: PoolWork | None = None
        while True:
            if work is None:
                with self._mutex:
                    if self._works:
                        work = self._works.popleft()
                        if self._works and self._idle and not self._coming:
                            self._wake()
                    elif self._is_closed:
                        self._threads -= 1
                        return
                    else:
                        self._idle += 1
            if work is None:
                self._bell.get()
                with self._mutex:
                    self._coming -= 1
                continue
            try:
                work = self._context.copy().run(work)
            except BaseException:
                # Only a defect gets here. Errors of handlers are dealt with before.
                logger.exception("worker: a handling ended unexpectedly")
                work = None
            if os.getpid() != self._process:
                # The handler has forked, and returned in the child too. The works are for threads of the parent.
                return


class Bridge:
    """The way from a handler's thread to the worker. All threads are alike."""

    def call(self, function: Callable[[], T]) -> T:
        return function()

    def soon(self, function: Callable[[], object]) -> None:
        """Calls a function that is only for the loop."""
        function()


class AsyncBridge:
    """The way from a handler to the loop, from a task or a thread. A thread waits until the loop has done the call."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def call(self, function: Callable[[], Coroutine[Any, Any, T]]) -> Awaitable[T]:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            # The handler is no coroutine function, so it gets the result itself.
            return cast("Awaitable[T]", asyncio.run_coroutine_threadsafe(function(), self._loop).result())
        return function()

    def soon(self, function: Callable[[], object]) -> None:
        """Calls a function that is only for the loop."""
        # On a closed loop, nobody waits for the call.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)


class AsyncHandlerPool:
    """Tasks for handlers, which take one work after the other, and threads for handlers that are no coroutines.

    As with threads, one idle task is woken at a time.
    """

    def __init__(self, name: str, clock: Clock = SYSTEM, context: contextvars.Context | None = None) -> None:
        """``context`` is as with threads. A task ends when its work has left another task running."""
        self._context = contextvars.copy_context() if context is None else context
        self._threads = HandlerPool(name, clock, self._context)
        self._tasks: set[asyncio.Task[Any]] = set()
        #: The threads in which functions run, by the tasks that wait for them.
        self.inside: dict[object, int] = {}
        self._name = f"redisson_dq-{name}"
        #: The way back to the loop for handlers in threads.
        self.bridge = AsyncBridge()
        self._works: collections.deque[AsyncPoolWork] = collections.deque()
        # The bells of idle tasks, and how many tasks are about to look for a work.
        self._idle: list[asyncio.Future[None]] = []
        self._coming = 0
        self._is_closed = False

    def start(self, work: AsyncPoolWork) -> bool:
        """Runs ``work`` in a task. Returns False: no work has to wait for a task."""
        self._works.append(work)
        return self._waits()

    def start_all(self, works: Iterable[AsyncPoolWork]) -> bool:
        """Runs works, each in a task. Returns False: no work has to wait for a task."""
        self._works.extend(works)
        return self._waits()

    def _waits(self) -> bool:
        while len(self._works) > len(self._idle) + self._coming:
            task = self._context.copy().run(asyncio.get_running_loop().create_task, self._serve(), name=self._name)
            self._coming += 1
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if self._works and not self._coming:
            self._wake()
        return False

    def _wake(self) -> None:
        self._coming += 1
        self._idle.pop().set_result(None)

    @staticmethod
    def cancel(where: object) -> None:
        """Cancels the task at its next await."""
        if isinstance(where, asyncio.Task) and where is not asyncio.current_task():
            where.cancel()

    async def _serve(self) -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        cancelling = getattr(task, "cancelling", None)
        self._coming -= 1
        work: AsyncPoolWork | None = None
        while True:
            if work is None and self._works:
                work = self._works.popleft()
                if self._works and self._idle and not self._coming:
                    self._wake()
            if work is None:
                if self._is_closed:
                    return
                bell = loop.create_future()
                self._idle.append(bell)
                try:
                    await bell
                finally:
                    # Cancelled at the end of the loop.
                    if bell in self._idle:
                        self._idle.remove(bell)
                self._coming -= 1
                continue
            try:
                work = await work()
            except Exception:
                logger.exception("worker: a handling ended unexpectedly")
                work = None
            # Somebody may have cancelled a work that has gone on all the same. Before Python 3.11 a task does not
            # report more.
            is_cancelled = getattr(task, "_must_cancel", False) if cancelling is None else cancelling()
            try:
                is_clean = contextvars.copy_context() == self._context
            except Exception:
                # Values of the user's that cannot be compared.
                is_clean = False
            if is_cancelled or not is_clean:
                # The next work is to find neither.
                if work is not None:
                    self._works.appendleft(work)
                    self._waits()
                return

    async def in_thread(self, function: Callable[[], Any]) -> Any:
        """Calls a function that would block the loop, and returns its result. The caller's cancellation does not end
        the function.
        """
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Any] = loop.create_future()
        context, task = contextvars.copy_context(), asyncio.current_task()

        def run() -> None:
            if outcome.done():
                # Cancelled while it waited for a thread.
                return
            self.inside[task] = threading.get_ident()
            try:
                result, error = context.run(function), None
            except BaseException as failure:
                result, error = None, failure
            self.inside.pop(task, None)
            # A closed loop waits for nothing.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_fill, outcome, result, error)

        self._threads.start(run)
        return await outcome

    async def aclose(self, timeout: float) -> None:
        """Waits for the cancelled tasks. Ends each thread when its handler has returned."""
        self._threads.close(timeout)
        self._is_closed = True
        while self._idle:
            self._wake()
        others = self._tasks - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=timeout)


def _fill(outcome: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if outcome.done():
        return
    if error is None:
        outcome.set_result(result)
    elif isinstance(error, (StopIteration, GeneratorExit)):
        # A future takes no StopIteration, and a coroutine ends at a GeneratorExit.
        outcome.set_exception(RuntimeError(f"the handler raised {error!r}"))
    else:
        outcome.set_exception(error)
