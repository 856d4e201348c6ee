"""Observes a call bytecode by bytecode, on every Python, and holds up background threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["threads_traced", "traced"]


@contextmanager
def traced(wants: Callable[[FrameType], bool], look: Callable[[FrameType, str], object]) -> Iterator[None]:
    """Calls ``look(frame, event)`` in this thread, in each frame that ``wants`` chooses.

    It does so at the frame's beginning (``"call"``), before each of its bytecodes (``"opcode"``) and at its end
    (``"return"``). What it raises is raised there.
    """

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename == __file__ or not wants(frame):
            return None
        # Python 3.13 looks for it only in a frame that has its function already.
        frame.f_trace = trace
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        look(frame, event)
        return trace

    before = sys.gettrace()
    # Python 3.12 looks for it in settrace.
    sys._getframe().f_trace_opcodes = True
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def threads_traced(name: str, look: Callable[[FrameType, str], object]) -> Iterator[None]:
    """Calls ``look(frame, event)`` at the beginning (``"call"``) and at the end (``"return"``) of functions.

    Only functions of the module whose path ends with ``name``, in threads that start meanwhile. A ``look`` that waits
    holds up its thread.
    """

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.endswith(name):
            return None
        if event != "line":
            look(frame, event)
        return trace

    threading.settrace(trace)
    try:
        yield
    finally:
        threading.settrace(None)
