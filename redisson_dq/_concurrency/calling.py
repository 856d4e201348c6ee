"""The caller's side: the loop that a client lives in, and the user's callbacks."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import TypeVar

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError

__all__ = ["AsyncCallback", "AsyncHome", "Callback", "Home", "async_call", "async_check_callback", "call"]
__all__ += ["check_callback"]

T = TypeVar("T")


class AsyncHome:
    """The event loop that a client belongs to: the one that is running when it is first used."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def is_here(self) -> bool:
        """Whether the client is known to belong to the loop that is running."""
        return self._loop is not None and asyncio._get_running_loop() is self._loop

    def check(self, what: str) -> None:
        """Raises ArgumentError outside a running loop, and in another loop than the client's."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise ArgumentError(
                f"{what}: an asyncio client is used inside a running event loop: call it in a coroutine"
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

    is_here = True

    def check(self, what: str) -> None:
        """Nothing to check."""


#: A user's function that is called with a value; with asyncio it may be a coroutine function.
AsyncCallback = Callable[[T], object]
Callback = Callable[[T], object]


async def async_call(callback: Callable[[T], object], value: T) -> None:
    """Calls the callback, and awaits its result if that can be awaited."""
    result = callback(value)
    if result is None or not inspect.isawaitable(result):
        return
    try:
        await result
    except asyncio.CancelledError as error:
        # The callback awaited something that was cancelled. This task was not. So treat it as any other failure.
        # (Python 3.10 cannot distinguish the two.)
        if getattr(asyncio.current_task(), "cancelling", lambda: 1)():
            raise
        raise RuntimeError("what it awaited was cancelled") from error


def call(callback: Callable[[T], object], value: T) -> None:
    """Calls the callback."""
    try:
        callback(value)
    except SystemExit as error:
        # It would silently end this thread, and not the program. Treat it as any other failure.
        raise RuntimeError("it wanted to end the program, which only the main thread can do") from error


def async_check_callback(callback: object, what: str) -> None:
    """Raises ArgumentError for a function with ``yield``: no call of it would run anything."""
    if inspect.isgeneratorfunction(callback) or inspect.isasyncgenfunction(callback):
        raise ArgumentError(f"{what}: {shown(callback)} contains a yield, so none of its code would run")


def check_callback(callback: object, what: str) -> None:
    """Also for a coroutine function, which nobody awaits here."""
    async_check_callback(callback, what)
    call_of = getattr(callback, "__call__", None)  # noqa: B004 - asked for its kind, not whether it is there
    if inspect.iscoroutinefunction(callback) or inspect.iscoroutinefunction(call_of):
        raise ArgumentError(f"{what}: {shown(callback)} is a coroutine function, which only redisson_dq.aio awaits")
