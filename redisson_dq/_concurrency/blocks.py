"""The calls of Python that an object cannot answer: ``with`` of the other flavour, ``pickle`` and ``copy``."""

from __future__ import annotations

from typing import NoReturn

from redisson_dq.errors import ArgumentError

__all__ = ["AsyncWrongWith", "Bound", "WrongWith"]


class Bound:
    """A base of all objects that belong to the connections of one client, and so to one process."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"this {type(self).__name__} belongs to the connections of its process, and cannot be pickled or "
            "copied: pass on the URL and the names, and open it where it is used, as with connect(url)"
        )


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
