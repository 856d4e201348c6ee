"""Where the user's functions run, with threads and with asyncio. Both are written by hand, side by side.

A pair here has the same methods with the same meaning, as in :mod:`redisson_dq._concurrency`.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar, cast

from redisson_dq._clock import SYSTEM, Clock
from redisson_dq._log import Log
from redisson_dq.items import SettleOutcome

__all__ = [
    "AsyncHandlerPool",
    "AsyncRunning",
    "AsyncSettled",
    "AsyncBridge",
    "HandlerPool",
    "Running",
    "Settled",
    "Bridge",
]

logger = Log()

T = TypeVar("T")

#: The result of a call on an event.
AsyncSettled = Awaitable[SettleOutcome]
Settled = SettleOutcome


class Running:
    """A handling that runs in a thread, or that ``waits`` for one."""

    def __init__(self, *, waits: bool = False) -> None:
        self.waits = waits

    def cancel(self) -> None:
        """Does nothing: a thread cannot be cancelled. Its event tells the handler."""


# All handlings in threads are alike.
_RUNNING, _WAITING = Running(), Running(waits=True)


class HandlerPool:
    """Threads for handlers: one for each running handler. A handler that never returns occupies only its own thread.

    Where the system gives no more threads, a handling waits until a thread of the pool is free.
    """

    def __init__(self, name: str, clock: Clock = SYSTEM) -> None:
        self._name = name
        #: As in the pool of an event loop.
        self.bridge = Bridge()
        #: As in the pool of an event loop. A handling is in its own thread.
        self.inside: dict[object, int] = {}
        # Each handling sees the context variables of the worker's starter. A variable that it sets is seen by it alone.
        self._context = contextvars.copy_context()
        self._works = clock.events()
        self._process = os.getpid()
        self._mutex = threading.Lock()
        # Threads that wait for work; below zero, works that wait for a thread.
        self._idle = 0
        self._threads = 0

    def start(self, work: Callable[[], object]) -> Running:
        """Runs ``work`` in a thread. It may take as long as it likes.

        Raises RuntimeError when the system gives not even the first thread.
        """
        with self._mutex:
            if self._idle > 0 or not self._has_one_more():
                self._idle -= 1
            self._works.put(work)
            return _WAITING if self._idle < 0 else _RUNNING

    def _has_one_more(self) -> bool:
        """Adds a thread. False: there is none to be had, and others do its work."""
        thread = threading.Thread(target=self._serve, name=f"redisson_dq-{self._name}", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            if not self._threads:
                raise
            logger.warning("worker: a handling waits for one of %d threads: %s", self._threads, error)
            return False
        self._threads += 1
        return True

    def adopt(self) -> Running:
        """The calling thread, which is going to :meth:`run` a handling."""
        return _RUNNING

    def run(self, work: Callable[[], object]) -> None:
        """Runs ``work`` in the calling thread. Never raises."""
        try:
            self._context.copy().run(work)
        except BaseException:
            # Only a defect gets here. Errors of handlers are dealt with before.
            logger.exception("worker: a handling ended unexpectedly")

    def close(self, timeout: float) -> None:
        """Ends each thread when its handler has returned."""
        with self._mutex:
            for _ in range(self._threads):
                self._works.put(None)

    def _serve(self) -> None:
        while True:
            work = self._works.get()
            if work is None:
                return
            self.run(work)
            work = None
            if os.getpid() != self._process:
                # The handler has forked, and returned in the child too. The works are for threads of the parent.
                return
            with self._mutex:
                self._idle += 1


class Bridge:
    """The way from a handler's thread to the worker. All threads are alike."""

    def call(self, function: Callable[[], T]) -> T:
        return function()

    def soon(self, function: Callable[[], object]) -> None:
        """Calls a function that is for the loop alone."""
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
        """Calls a function that is for the loop alone."""
        # On a closed loop, nobody waits for the call.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)


class AsyncRunning:
    """A handling that runs as a task."""

    waits = False

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self._task = task

    def cancel(self) -> None:
        """Cancels the task at its next await."""
        if self._task is not asyncio.current_task():
            self._task.cancel()


class AsyncHandlerPool:
    """A task for each handling, and threads for handlers that are no coroutines."""

    def __init__(self, name: str, clock: Clock = SYSTEM) -> None:
        self._threads = HandlerPool(name, clock)
        self._tasks: set[asyncio.Task[Any]] = set()
        #: The threads in which functions run, by the tasks that wait for them.
        self.inside: dict[object, int] = {}
        self._name = f"redisson_dq-{name}"
        #: The way back to the loop for handlers in threads.
        self.bridge = AsyncBridge()
        # As with threads: not the context variables of a handler that adds another one, nor of an earlier receiver.
        self._context = contextvars.copy_context()

    def start(self, work: Callable[[], Coroutine[Any, Any, object]]) -> AsyncRunning:
        """Runs ``work`` as a task of its own."""
        loop = asyncio.get_running_loop()
        task = self._context.copy().run(loop.create_task, work(), name=self._name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return AsyncRunning(task)

    def adopt(self) -> AsyncRunning:
        """The calling task, which is going to :meth:`run` a handling, and nothing after that."""
        task = asyncio.current_task()
        assert task is not None
        return AsyncRunning(task)

    async def run(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Runs ``work`` in the calling task."""
        await work()

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
