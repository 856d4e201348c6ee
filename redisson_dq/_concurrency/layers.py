"""A handler's call inside its layers, with threads and with asyncio. Both are written by hand, side by side.

A pair here has the same methods with the same meaning, as in :mod:`redisson_dq._concurrency`.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import queue
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any, TypeVar

import attrs

from redisson_dq._common.texts import shown
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool, HandlerPool
from redisson_dq.errors import ArgumentError
from redisson_dq.working.handlers import Shape, is_async

__all__ = [
    "AsyncResources",
    "Layer",
    "Resources",
    "async_called",
    "async_check_callable",
    "async_perform",
    "called",
    "check_callable",
    "check_no_yield",
    "check_yield",
    "checked_result",
    "perform",
]

T = TypeVar("T")


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


class Resources:
    """Resources that live as long as the worker runs: the values of functions with ``yield``, by their names.

    ``given`` has those that are there already.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._stack = ExitStack()
        self.given: dict[str, Any] = dict(given)

    def enter(self, layer: Layer) -> None:
        self.given[layer.name] = _entered(self._stack, layer, None, self.given)

    def close(self) -> None:
        self._stack.close()


class AsyncResources:
    """Resources that live as long as the worker runs: the values of functions with ``yield``, by their names.

    ``given`` has those that are there already.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._stack = AsyncExitStack()
        self.given: dict[str, Any] = dict(given)

    async def enter(self, layer: Layer) -> None:
        self.given[layer.name] = await _async_entered(self._stack, layer, None, self.given)

    async def aclose(self) -> None:
        await self._stack.aclose()


# -- the call --------------------------------------------------------------------------------------------------------


def _leave_if_forked(process: int, error: BaseException | None = None) -> None:
    """Ends the process at once, unless it is the one with this id, in which a handler was called. A process that the
    handler has forked has the connections and the event loop of its parent.

    ``error`` has ended the handler. Its process ends with the status of a SystemExit, with 1 for any other error, else
    with 0. Nothing of the parent's is closed or sent: neither ``finally`` blocks nor atexit functions run.
    """
    if os.getpid() == process:
        return
    status = 0
    with suppress(Exception):
        if isinstance(error, SystemExit):
            status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
            if isinstance(error.code, str):
                print(error.code, file=sys.stderr)
        elif error is not None:
            status = 1
            traceback.print_exception(type(error), error, error.__traceback__)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    os._exit(status & 0xFF)


def called(function: Callable[..., Any], placed: Sequence[Any], known: Mapping[str, Any], needs: Sequence[str]) -> Any:
    """Calls a handler. A process that it has forked off ends with the handler."""
    process = os.getpid()
    try:
        result = function(*placed, **_chosen(known, needs)) if needs else function(*placed)
    except BaseException as error:
        _leave_if_forked(process, error)
        raise
    if os.getpid() != process:
        _leave_if_forked(process)
    return result


async def async_called(
    function: Callable[..., Any], placed: Sequence[Any], known: Mapping[str, Any], needs: Sequence[str]
) -> Any:
    """Awaits a handler. A process that it has forked off ends with the handler."""
    process = os.getpid()
    try:
        result = await (function(*placed, **_chosen(known, needs)) if needs else function(*placed))
    except BaseException as error:
        _leave_if_forked(process, error)
        raise
    if os.getpid() != process:
        _leave_if_forked(process)
    return result


def perform(
    pool: HandlerPool | None,
    function: Callable[..., Any],
    awaits: bool,
    placed: Sequence[Any],
    event: Any,
    needs: Sequence[str],
    layers: Sequence[Layer],
    given: Mapping[str, Any],
    end: Callable[[Any], Any] | None = None,
) -> Any:
    """Calls a handler inside its layers, the first of which is outermost. ``end`` converts its result."""
    end = end or checked_result
    if not layers:
        return end(called(function, placed, given, needs))
    with ExitStack() as stack:
        known = dict(given)
        for layer in layers:
            found = _entered(stack, layer, event, known)
            if layer.name:
                known[layer.name] = found
        return end(called(function, placed, known, needs))
    # A layer swallowed the handler's error.
    return None


async def async_perform(
    pool: AsyncHandlerPool,
    function: Callable[..., Any],
    awaits: bool,
    placed: Sequence[Any],
    event: Any,
    needs: Sequence[str],
    layers: Sequence[Layer],
    given: Mapping[str, Any],
) -> Any:
    """Awaits a handler inside its layers. A handler that is no coroutine function runs in a thread. So do the layers
    after the last one that is a coroutine function. A coroutine that it returns is awaited in the loop where that is
    possible, as with a plain decorator around a coroutine function. ``awaits``: it is a coroutine function.
    """
    if awaits and not layers:
        return checked_result(await async_called(function, placed, given, needs))
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
            return checked_result(await async_called(function, placed, known, needs))
        if outer < len(layers):
            async with _AwaitedByThread() as awaited:
                inner = layers[outer:]
                return await pool.in_thread(
                    lambda: perform(None, function, False, placed, event, needs, inner, known, awaited.end)
                )
        result = await pool.in_thread(lambda: called(function, placed, known, needs))
        return checked_result(
            await async_called(lambda: result, (), known, ()) if inspect.isawaitable(result) else result
        )
    return None


def _chosen(known: Mapping[str, Any], needs: Sequence[str]) -> dict[str, Any]:
    return {name: known[name] for name in needs}


class _AwaitedByThread:
    """Awaits in the loop the coroutine of a handler that ran in a thread, which keeps the handler's layers open."""

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
        """Waits in the thread until the loop has ended the coroutine, also where that was cancelled."""
        if not inspect.isawaitable(result):
            return checked_result(result)
        ended: queue.SimpleQueue[asyncio.Task[Any]] = queue.SimpleQueue()

        def start() -> None:
            self._task = self._loop.create_task(_until_end(result), name="redisson_dq-layer")
            self._task.add_done_callback(ended.put)
            if self._is_left:
                self._task.cancel()

        # The loop calls it in the context of this thread, and so in that of the layers.
        self._loop.call_soon_threadsafe(start)
        return checked_result(ended.get().result())


async def _until_end(result: Awaitable[T]) -> T:
    return await result


def checked_result(result: Any) -> Any:
    """The handler's result. Raises ArgumentError for a result that still has to be run: its value would be acked
    unhandled.
    """
    if result is None:
        # By far the most frequent one.
        return None
    if inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result):
        if inspect.iscoroutine(result):
            result.close()
        raise ArgumentError(
            f"the call returned {shown(result)}, which nobody runs; make it an async def of a worker of "
            "redisson_dq.aio.worker, or let it run that to its end"
        )
    return result


# -- callables -------------------------------------------------------------------------------------------------------


def check_callable(function: Callable[..., Any], what: str) -> None:
    """Raises ArgumentError for a function that only an event loop can run, and for anything but a function."""
    async_check_callable(function, what)
    if is_async(function) or inspect.isasyncgenfunction(function):
        raise ArgumentError(f"{what} is a coroutine function: a worker of redisson_dq.aio.worker runs it")


def async_check_callable(function: Callable[..., Any], what: str) -> None:
    """Accepts every function, as an event loop can run both kinds. Raises ArgumentError for anything else."""
    if not callable(function):
        raise ArgumentError(f"{what} is not a function: {shown(function)}")


def check_yield(function: Callable[..., Any], what: str) -> None:
    """Raises ArgumentError for a function that has no ``yield``, where the handling would go on."""
    call = getattr(function, "__call__", None)  # noqa: B004 - asked for its kind, not whether it is there
    if not any(inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each) for each in (function, call)):
        raise ArgumentError(f"{what} has no yield, at which the handler runs: it is called with the event alone")


def check_no_yield(function: Callable[..., Any], what: str) -> None:
    """Raises ArgumentError for a function with ``yield``. Calling it would run none of its code."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ArgumentError(f"{what} contains a yield, so none of its code would run; return instead")
