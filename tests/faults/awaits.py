"""Cancels a task at its n-th await, and at no other moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from typing import Any

__all__ = ["cancelled_at"]


class _Counting:
    """Runs a coroutine, and cancels the task at its await with a given number."""

    def __init__(self, call: Callable[[], Any], number: int) -> None:
        self._call, self._number = call, number

    def __await__(self) -> Generator[Any, Any, Any]:
        inner = self._call().__await__()
        count, thrown = 0, None
        while True:
            try:
                waited_for = inner.send(None) if thrown is None else inner.throw(thrown)
            except StopIteration as error:
                return error.value
            count += 1
            if count == self._number:
                # The task is cancelled before it waits, so nothing happens in between.
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            thrown = None
            try:
                yield waited_for
            except BaseException as error:
                thrown = error


def cancelled_at(call: Callable[[], Any], number: int) -> Callable[[], Awaitable[Any]]:
    """The same call, cancelled at the await with this number, from 1 on. The call may end before."""

    async def run() -> Any:
        return await _Counting(call, number)

    return run
