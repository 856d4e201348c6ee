"""The stacks of running handlers and of a blocked event loop. Both flavours are written by hand, side by side."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["AsyncPulse", "Pulse", "async_stack_of", "stack_of"]

# How many frames of a deep stack are shown. The first ones name the handler, and the innermost ones its wait.
_FRAMES, _OUTER = 12, 4
_OURS = "redisson_dq"


def stack_of(where: object, inside: object = None) -> str:
    """The stack of a thread, the innermost frame last. Empty where it has ended. ``inside`` is for tasks."""
    ident = getattr(where, "ident", None)
    frame = None if ident is None else sys._current_frames().get(ident)
    return "" if frame is None else _of_frame(frame)


def async_stack_of(where: object, inside: object = None) -> str:
    """The stack of a task, the innermost frame last, and that of the thread that it waits for, if any.

    ``inside`` is the thread's identifier.
    """
    if isinstance(inside, int):
        frame = sys._current_frames().get(inside)
        if frame is not None:
            return _of_frame(frame)
    if not isinstance(where, asyncio.Task) or where.done():
        return ""
    frames: list[FrameType] = []
    awaited: Any = where.get_coro()
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is None:
            break
        frames.append(frame)
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
    return _shown([(frame, frame.f_lineno) for frame in frames])


def _of_frame(frame: FrameType) -> str:
    return _shown(list(traceback.walk_stack(frame))[::-1])


def _shown(frames: list[tuple[FrameType, int]]) -> str:
    """The frames of the user's program, and those that it has called. The library's frames around them are left out:
    they do not help the user.
    """
    is_ours = [str(frame.f_globals.get("__name__", "")).partition(".")[0] == _OURS for frame, _ in frames]
    around = is_ours.index(True) if True in is_ours else 0
    first = is_ours.index(False, around) if False in is_ours[around:] else 0
    chosen = frames[first:]
    if len(chosen) > _FRAMES:
        chosen = [*chosen[:_OUTER], *chosen[_OUTER - _FRAMES :]]
    return "".join(traceback.StackSummary.extract(iter(chosen)).format()).rstrip()


class Pulse:
    """Threads need none: each runs by itself."""

    def __init__(self, seconds: float, stopped: Callable[[float, str, object], object], *, starts: bool = True) -> None:
        pass

    def beat(self) -> None:
        pass

    def close(self) -> None:
        pass


class AsyncPulse:
    """Notices in a thread that the event loop is blocked: that :meth:`beat` has not been called for ``seconds``.

    ``stopped`` is called in that thread, again and again while it lasts, with the seconds, the stack and the task.
    """

    def __init__(self, seconds: float, stopped: Callable[[float, str, object], object], *, starts: bool = True) -> None:
        """Without ``starts`` nothing is noticed. Tests that move the time use this."""
        self._loop = asyncio.get_running_loop()
        self._loops_thread = threading.get_ident()
        self._seconds, self._stopped = seconds, stopped
        self._last = time.monotonic()
        self._ends = threading.Event()
        if not starts:
            return
        # Nor when no thread is available.
        try:
            threading.Thread(target=self._run, name="redisson_dq-pulse", daemon=True).start()
        except RuntimeError:
            self._ends.set()

    def beat(self) -> None:
        """The loop runs."""
        self._last = time.monotonic()

    async def aclose(self) -> None:
        self._ends.set()

    def _run(self) -> None:
        step = self._seconds / 3
        before = time.monotonic()
        while not self._ends.wait(step) and not self._loop.is_closed():
            now = time.monotonic()
            if now - before > 2 * step:
                # The whole process or machine was suspended.
                self._last = max(self._last, now)
            before = now
            if now - self._last > self._seconds:
                frame = sys._current_frames().get(self._loops_thread)
                task = asyncio.current_task(self._loop)
                if frame is not None:
                    self._stopped(now - self._last, _of_frame(frame), task)
