"""``with`` of the other flavour, which an object cannot answer."""

from __future__ import annotations

from typing import NoReturn

from redisson_dq._common.bound import Bound
from redisson_dq.errors import ArgumentError

__all__ = ["AsyncWrongWith", "WrongWith"]


class WrongWith(Bound):
    """A base of all objects that ``with`` is for. ``async with`` raises ArgumentError."""

    __slots__ = ()

    async def __aenter__(self) -> NoReturn:
        raise ArgumentError(
            f"this {type(self).__name__} is one of redisson_dq, for threads: use `with`, or for `async with` a "
            "client of redisson_dq.aio.connect() and a Worker of redisson_dq.aio.worker"
        )

    async def __aexit__(self, *error: object) -> None:
        """Never comes, but Python looks for it."""


class AsyncWrongWith(Bound):
    """A base of all objects that ``async with`` is for. ``with`` raises ArgumentError."""

    __slots__ = ()

    def __enter__(self) -> NoReturn:
        raise ArgumentError(
            f"this {type(self).__name__} is one of redisson_dq.aio, for asyncio: use `async with`, or for `with` a "
            "client of redisson_dq.connect() and a Worker of redisson_dq.worker"
        )

    def __exit__(self, *error: object) -> None:
        """Never comes, but Python looks for it."""
