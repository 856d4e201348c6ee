"""Detects whether an event loop has nothing left to call, and what its tasks await."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from types import CoroutineType, FrameType
from typing import Any

__all__ = ["handlers_elsewhere", "idle", "is_ours", "waiting_users"]

_LIBRARY, _NAMED = "redisson_dq.", "redisson_dq"
# The interval of checks of a handler that awaits something outside the library, in seconds of real time.
_LOOK = 0.001
# Our functions that call handlers and their dependencies.
_CALLERS = ("async_called", "async_perform")
# The attributes of coroutines, generators and asynchronous generators for the frame and the awaited object.
_KINDS = ("cr", "gi", "ag")
_AWAITED = ("cr_await", "gi_yieldfrom", "ag_await")


def is_ours(name: str) -> bool:
    """Whether the library has started the thread or the task of this name."""
    return name.startswith(_NAMED)


def idle(loop: asyncio.AbstractEventLoop, over: threading.Event) -> None:
    """Sets ``over`` when the loop has nothing to call before time goes on, or before it hears from outside.

    A loop that is closed or not running has nothing to call.
    """

    def look() -> None:
        if over.is_set():
            return
        if getattr(loop, "_ready", ()) or any(_goes_on(task) for task in _tasks(loop)):
            loop.call_soon(look)
        elif handlers_elsewhere(loop):
            loop.call_later(_LOOK, look)
        else:
            over.set()

    try:
        if loop.is_running():
            loop.call_soon_threadsafe(look)
            return
    except RuntimeError:
        # It was closed.
        pass
    over.set()


def handlers_elsewhere(loop: asyncio.AbstractEventLoop) -> list[str]:
    """The handlers of workers that await something outside the library."""
    found = []
    for task in _tasks(loop):
        frames = _frames(task)
        is_handled = any(frame.f_code.co_name in _CALLERS for frame in frames)
        if is_handled and not _module(frames[-1]).startswith(_LIBRARY):
            frame = frames[-1]
            found.append(
                f"a handler awaits {frame.f_code.co_name} ({frame.f_code.co_filename}:{frame.f_lineno}), "
                "which the clock does not end"
            )
    return found


def waiting_users(loop: asyncio.AbstractEventLoop) -> list[asyncio.Task[Any]]:
    """The user's tasks that wait in the library."""
    found = []
    for task in _tasks(loop):
        # By its name: the outermost frame of a task of asyncio.gather or create_task may be a call of the library.
        frames = [] if is_ours(task.get_name()) else _frames(task)
        if frames and _module(frames[-1]).startswith(_LIBRARY):
            found.append(task)
    return found


def _goes_on(task: asyncio.Task[Any]) -> bool:
    """Whether a task is about to run. Some loops, such as uvloop, do not expose their scheduled calls."""
    awaited = getattr(task, "_fut_waiter", None)
    return awaited is None or awaited.done()


def _tasks(loop: asyncio.AbstractEventLoop) -> list[asyncio.Task[Any]]:
    with contextlib.suppress(RuntimeError):
        return [task for task in asyncio.all_tasks(loop) if not task.done()]
    return []


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _frames(task: asyncio.Task[Any]) -> list[Any]:
    """The frames of the coroutines that a task awaits, the outermost first."""
    found: list[Any] = []
    inner: Any = task.get_coro()
    while inner is not None:
        if type(inner) is CoroutineType:
            # Nearly all tasks are of these types, and each check for idleness reads the frames of all tasks.
            if inner.cr_frame is not None:
                found.append(inner.cr_frame)
            inner = inner.cr_await
            continue
        found += filter(None, (getattr(inner, f"{kind}_frame", None) for kind in _KINDS))
        inner = next(filter(None, (getattr(inner, name, None) for name in _AWAITED)), None)
    return found
