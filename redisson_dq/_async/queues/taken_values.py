"""Decodes values that were taken out of a queue, and puts those aside that the codec cannot read."""

from __future__ import annotations

from typing import Generic, TypeVar

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import DecodeError, RedissonDQError
from redisson_dq.waits.line import Lifeline
from redisson_dq.wire.taken import Taken

__all__ = ["TakenValues"]

T = TypeVar("T")


class TakenValues(Generic[T]):
    """Decodes the values of one queue. The client decides whether a value that it cannot read raises or is skipped."""

    def __init__(self, connections: Connections, side: OpenQueue[T]) -> None:
        self._connections = connections
        self._side = side

    async def received(
        self, taken: list[Taken], receiver: Receiver, lifeline: Lifeline, deadline: float | None = None
    ) -> list[T]:
        """The values that a receiver gave; without those that cannot be read when the client skips them.

        Raises DecodeError, at the caller's deadline even if Redis has not answered. The values in the error, read or
        not, are the caller's then.
        """
        try:
            return self._side.popped([each.data for each in taken], taken[0].key)
        except DecodeError as error:
            unread = set(map(id, error.undecodable))
            key = self._side.keys.undecodable
            aside = [each for each in taken if id(each.data) in unread]
            failure = await receiver.set_aside(lifeline, aside, key, deadline)
            lifeline.keep()
            self.skip(error, key, failure)
            return list(error.decoded)

    async def popped(self, taken: list[Taken]) -> list[T]:
        """Like :meth:`received`, of values that no receiver holds."""
        try:
            return self._side.popped([each.data for each in taken])
        except DecodeError as error:
            await self.set_aside(error, self._side.keys.undecodable)
            return list(error.decoded)

    async def set_aside(self, error: DecodeError, key: str) -> None:
        """Puts undecodable values into the list ``key``. Raises the error where the client does not skip them."""
        await self._connections.set_aside(error, key)
        self.skip(error, key, None)

    def skip(self, error: DecodeError, key: str, failure: RedissonDQError | None) -> None:
        """Raises the error, unless the client skips undecodable values and Redis has kept them."""
        if failure is not None:
            raise error from failure
        error.kept_in = key
        if not self._side.skip(error):
            raise error
