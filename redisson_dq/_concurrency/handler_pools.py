"""What differs between threads and asyncio where the user's functions run. Written by hand, side by side.

A pair here has the same methods with the same meaning, as in :mod:`redisson_dq._concurrency`.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import queue
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar, Union, cast

from redisson_dq.items import SettleOutcome

__all__ = [
    "AsyncHandlerPool",
    "AsyncRunning",
    "AsyncSettled",
    "AsyncSide",
    "AsyncStarter",
    "AsyncStarts",
    "HandlerPool",
    "Running",
    "Settled",
    "Side",
    "Starter",
    "Starts",
]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")

#: The result of a call on an event.
AsyncSettled = Awaitable[SettleOutcome]
Settled = SettleOutcome


class Running:
    """A handling that runs in a thread."""

    def cancel(self) -> None:
        """Does nothing: a thread cannot be cancelled. Its event tells the handler."""


class HandlerPool:
    """Threads for handlers: one for each running handler. A handler that never returns occupies only its own thread."""

    def __init__(self, name: str) -> None:
        self._name = name
        # Each handling sees the context variables of the worker's starter. What it sets itself, only it sees.
        self._context = contextvars.copy_context()
        self._works: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._mutex = threading.Lock()
        self._idle = 0
        self._threads = 0

    def start(self, work: Callable[[], object]) -> Running:
        """Runs ``work`` in a thread. It may take as long as it likes."""
        with self._mutex:
            self._works.put(work)
            if self._idle:
                self._idle -= 1
                return Running()
            self._threads += 1
        threading.Thread(target=self._serve, name=f"redisson_dq-{self._name}", daemon=True).start()
        return Running()

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
            try:
                self._context.copy().run(work)
            except BaseException:
                # Only a defect gets here. Errors of handlers are dealt with before.
                logger.exception("worker: a handling ended unexpectedly")
            work = None
            with self._mutex:
                self._idle += 1


class Side:
    """The thread that a handler calls from. All threads are alike."""

    def call(self, function: Callable[[], T]) -> T:
        return function()

    def soon(self, function: Callable[[], object]) -> None:
        """Calls what is for the loop alone."""
        function()


class AsyncSide:
    """Where a handler calls from: a task of the loop, or a thread. A thread waits until the loop has done the call."""

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
        """Calls what is for the loop alone."""
        # On a closed loop, nobody waits for the call.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)


class AsyncRunning:
    """A handling that runs as a task."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self._task = task

    def cancel(self) -> None:
        """Cancels the task at its next await."""
        if self._task is not asyncio.current_task():
            self._task.cancel()


class AsyncHandlerPool:
    """A task for each handling, and threads for handlers that are no coroutines."""

    def __init__(self, name: str) -> None:
        self._threads = HandlerPool(name)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._name = name

    def start(self, work: Callable[[], Coroutine[Any, Any, object]]) -> AsyncRunning:
        """Runs ``work`` as a task of its own."""
        return self._running(asyncio.get_running_loop().create_task(work(), name=f"redisson_dq-{self._name}"))

    def adopt(self) -> AsyncRunning:
        """The calling task, which is going to run a handling and nothing else."""
        task = asyncio.current_task()
        assert task is not None
        task.set_name(f"redisson_dq-{self._name}")
        return self._running(task)

    def _running(self, task: asyncio.Task[Any]) -> AsyncRunning:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return AsyncRunning(task)

    async def in_thread(self, function: Callable[[], Any]) -> Any:
        """Calls a function that would block the loop, and returns its result. The caller's cancellation does not end
        the function.
        """
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()

        def run() -> None:
            try:
                result, error = context.run(function), None
            except BaseException as failure:
                result, error = None, failure
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


class Starter:
    """Starts the handlings of what a thread has received."""

    def __init__(self, pool: HandlerPool) -> None:
        self._pool = pool

    def start(self, work: Callable[[], object]) -> Running:
        """Runs ``work`` in a thread of the pool."""
        return self._pool.start(work)

    def run_first(self, successor: Callable[[], object]) -> bool:
        """Leaves all to the pool."""
        return False


class AsyncStarter:
    """Starts the handlings of what a task has received.

    The first one runs in that task. As a task of its own it would begin one round of the loop later, after all that
    came meanwhile.
    """

    def __init__(self, pool: AsyncHandlerPool) -> None:
        self._pool = pool
        self._first: Callable[[], Coroutine[Any, Any, object]] | None = None

    def start(self, work: Callable[[], Coroutine[Any, Any, object]]) -> AsyncRunning:
        """Keeps the first ``work`` for :meth:`run_first`, and runs the others as tasks of their own."""
        if self._first is not None:
            return self._pool.start(work)
        self._first = work
        return self._pool.adopt()

    async def run_first(self, successor: Callable[[], object]) -> bool:
        """Runs what was kept, after a call of ``successor``, which lets another task receive. False: nothing was kept.

        Nothing may be awaited between the start and this call, as the handling may be cancelled from its start on.
        """
        if self._first is None:
            return False
        successor()
        await self._first()
        return True


#: What begins a handling.
AsyncStarts = Union[AsyncStarter, AsyncHandlerPool]
Starts = Union[Starter, HandlerPool]


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
