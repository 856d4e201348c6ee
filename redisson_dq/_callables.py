"""Whether a function of the user's can be called in the way in which it will be called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["answers", "takes"]


def takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a call with so many positional arguments fits. True where Python does not tell the arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def answers(function: Callable[..., Any]) -> bool:
    """Whether a call gives an answer at once: not a coroutine, nor a generator, which is true whatever it says."""
    return not (
        inspect.iscoroutinefunction(function)
        or inspect.isgeneratorfunction(function)
        or inspect.isasyncgenfunction(function)
    )
