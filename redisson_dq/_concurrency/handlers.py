"""What differs between threads and asyncio in a worker: where the user's functions run. Written by hand, side by side.

A pair here has the same methods with the same meaning, as in :mod:`redisson_dq._concurrency`.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import logging
import queue
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from typing import Any, TypeVar, cast

import attrs

from redisson_dq.errors import ArgumentError
from redisson_dq.items import SettleOutcome
from redisson_dq.working.handlers import Shape, is_async

__all__ = [
    "AsyncHandlerPool",
    "AsyncResources",
    "AsyncRunning",
    "AsyncSettled",
    "AsyncSide",
    "AsyncStarter",
    "HandlerPool",
    "Layer",
    "Resources",
    "Running",
    "Settled",
    "Side",
    "Starter",
    "async_perform",
    "async_signals",
    "check_callable",
    "check_no_yield",
    "perform",
    "signals",
]
__all__ += ["async_check_callable"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")

#: The result of a call on an event.
AsyncSettled = Awaitable[SettleOutcome]
Settled = SettleOutcome

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@attrs.frozen
class Layer:
    """A function around each handling: a dependency that is known by its name, or a middleware without a name."""

    function: Callable[..., Any]
    name: str
    shape: Shape

    @property
    def is_async(self) -> bool:
        return inspect.isasyncgenfunction(self.function) or is_async(self.function)

    def arguments(self, event: Any, given: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments that the function is called with."""
        named = {name: given[name] for name in self.shape.needs}
        if self.name:
            return (), {**named, "event": event} if self.shape.takes_event else named
        return ((event,) if self.shape.takes_event else ()), named


def _entered(stack: ExitStack | AsyncExitStack, layer: Layer, event: Any, given: Mapping[str, Any]) -> Any:
    placed, named = layer.arguments(event, given)
    if inspect.isgeneratorfunction(layer.function):
        return stack.enter_context(contextmanager(layer.function)(*placed, **named))
    return layer.function(*placed, **named)


async def _async_entered(stack: AsyncExitStack, layer: Layer, event: Any, given: Mapping[str, Any]) -> Any:
    placed, named = layer.arguments(event, given)
    if inspect.isasyncgenfunction(layer.function):
        return await stack.enter_async_context(asynccontextmanager(layer.function)(*placed, **named))
    result = _entered(stack, layer, event, given)
    return await result if inspect.isawaitable(result) else result


# -- where handlers run ----------------------------------------------------------------------------------------------


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


# -- a handling with what is around it -------------------------------------------------------------------------------


def perform(
    pool: HandlerPool | None,
    function: Callable[..., Any],
    placed: Sequence[Any],
    event: Any,
    needs: Sequence[str],
    layers: Sequence[Layer],
    given: Mapping[str, Any],
    end: Callable[[Any], Any] | None = None,
) -> Any:
    """Calls a handler inside its layers, the first of which is outermost. ``end`` makes the result of what it gave."""
    end = end or _run
    if not layers:
        return end(function(*placed, **{name: given[name] for name in needs}))
    with ExitStack() as stack:
        known = dict(given)
        for layer in layers:
            found = _entered(stack, layer, event, known)
            if layer.name:
                known[layer.name] = found
        return end(function(*placed, **{name: known[name] for name in needs}))
    # A layer swallowed what the handler raised.
    return None


async def async_perform(
    pool: AsyncHandlerPool,
    function: Callable[..., Any],
    placed: Sequence[Any],
    event: Any,
    needs: Sequence[str],
    layers: Sequence[Layer],
    given: Mapping[str, Any],
) -> Any:
    """Awaits a handler inside its layers. A handler that is no coroutine function runs in a thread. So do the layers
    after the last one that is a coroutine function. What it returns is awaited in the loop where that is possible, as
    with a plain decorator around a coroutine function.
    """
    awaits = is_async(function)
    if awaits and not layers:
        return _run(await function(*placed, **{name: given[name] for name in needs}))
    outer = len(layers)
    while not awaits and outer and not layers[outer - 1].is_async:
        outer -= 1
    async with AsyncExitStack() as stack:
        known = dict(given)
        for layer in layers[:outer]:
            found = await _async_entered(stack, layer, event, known)
            if layer.name:
                known[layer.name] = found
        if awaits:
            return _run(await function(*placed, **{name: known[name] for name in needs}))
        if outer < len(layers):
            async with _AwaitedByThread() as awaited:
                inner = layers[outer:]
                return await pool.in_thread(
                    lambda: perform(None, function, placed, event, needs, inner, known, awaited.end)
                )
        result = await pool.in_thread(lambda: function(*placed, **{name: known[name] for name in needs}))
        return _run(await result if inspect.isawaitable(result) else result)
    return None


class _AwaitedByThread:
    """Awaits in the loop what a handler has returned in a thread, while the thread keeps the handler's layers open."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._is_left = False

    async def __aenter__(self) -> _AwaitedByThread:
        return self

    async def __aexit__(self, *_: object) -> None:
        # All is over, or the handling was cancelled.
        self._is_left = True
        if self._task is not None:
            self._task.cancel()

    def end(self, result: Any) -> Any:
        """Called in the thread. Returns when what it awaits has ended, also where that was cancelled."""
        if not inspect.isawaitable(result):
            return _run(result)
        ended: queue.SimpleQueue[asyncio.Task[Any]] = queue.SimpleQueue()

        def start() -> None:
            self._task = self._loop.create_task(_until_end(result))
            self._task.add_done_callback(ended.put)
            if self._is_left:
                self._task.cancel()

        # The loop calls it in the context of this thread, and so in that of the layers.
        self._loop.call_soon_threadsafe(start)
        return _run(ended.get().result())


async def _until_end(result: Awaitable[T]) -> T:
    return await result


def _run(result: Any) -> Any:
    """The handler's result. Raises ArgumentError for a result that still has to be run: its value would be acked
    unhandled.
    """
    if inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result):
        if inspect.iscoroutine(result):
            result.close()
        raise ArgumentError(
            f"the call returned {result!r}, which nobody runs; make it an async def of a worker of "
            "redisson_dq.aio.worker, or let it run that to its end"
        )
    return result


def check_callable(function: Callable[..., Any], what: str) -> None:
    """Raises ArgumentError for a function that only an event loop can run."""
    if is_async(function) or inspect.isasyncgenfunction(function):
        raise ArgumentError(f"{what} is a coroutine function: a worker of redisson_dq.aio.worker runs it")


def async_check_callable(function: Callable[..., Any], what: str) -> None:
    """Accepts every function: an event loop can run both kinds."""


def check_no_yield(function: Callable[..., Any], what: str) -> None:
    """Raises ArgumentError for a function with ``yield``. Calling it would run none of its code."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ArgumentError(f"{what} has a yield, so nothing of it would run; return instead")


class Resources:
    """What lives as long as the worker runs: the values of functions with ``yield``, by their names."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self.given: dict[str, Any] = {}

    def enter(self, layer: Layer) -> None:
        self.given[layer.name] = _entered(self._stack, layer, None, self.given)

    def close(self) -> None:
        self._stack.close()


class AsyncResources:
    """What lives as long as the worker runs: the values of functions with ``yield``, by their names."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self.given: dict[str, Any] = {}

    async def enter(self, layer: Layer) -> None:
        self.given[layer.name] = await _async_entered(self._stack, layer, None, self.given)

    async def aclose(self) -> None:
        await self._stack.aclose()


# -- signals ---------------------------------------------------------------------------------------------------------


@contextmanager
def signals(told: Callable[[], None]) -> Iterator[None]:
    """Calls ``told`` for each SIGTERM and SIGINT. Only the main thread can; elsewhere it does nothing.

    The interpreter runs a signal's handler in the main thread when that runs next. A main thread that waits for a lock
    is not woken when the system gave the signal to another thread. So a thread reads what the interpreter writes at
    once, and tells.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reads, writes = socket.socketpair()
    writes.setblocking(False)
    listener = threading.Thread(target=_listen, args=(reads, told), name="redisson_dq-signals", daemon=True)
    before = {number: signal.signal(number, lambda *_: None) for number in _STOP_SIGNALS}
    descriptor = signal.set_wakeup_fd(writes.fileno(), warn_on_full_buffer=False)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(descriptor)
        for number, handler in before.items():
            signal.signal(number, handler)
        writes.close()
        listener.join()
        reads.close()


def _listen(reads: socket.socket, told: Callable[[], None]) -> None:
    while numbers := reads.recv(64):
        for number in numbers:
            if number in _STOP_SIGNALS:
                told()


@contextmanager
def async_signals(told: Callable[[], None]) -> Iterator[None]:
    """Calls ``told`` in the loop for each SIGTERM and SIGINT. Only the loop of the main thread can."""
    loop = asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _STOP_SIGNALS}
    for number in _STOP_SIGNALS:
        loop.add_signal_handler(number, told)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
