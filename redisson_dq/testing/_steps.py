"""Calls of handles in the order that a generator yields them, on threads and on asyncio."""

from __future__ import annotations

import inspect
from collections.abc import Generator
from typing import Any

__all__ = ["play"]


def play(steps: Generator[Any, Any, Any]) -> Any:
    """The result of the steps. Each yields the result of a call, or its coroutine, and gets the result back.

    With coroutines the whole is one coroutine.
    """
    result: Any = None
    while True:
        try:
            result = steps.send(result)
        except StopIteration as error:
            return error.value
        if inspect.isawaitable(result):
            return _played(steps, result)


async def _played(steps: Generator[Any, Any, Any], first: Any) -> Any:
    asked = first
    while True:
        try:
            asked = steps.send(await asked)
        except StopIteration as error:
            return error.value
