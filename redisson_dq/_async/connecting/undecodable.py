"""Puts values that could not be read, and that exist nowhere else any more, into a list of their queue."""

from __future__ import annotations

import secrets
from typing import Any, Protocol

from redisson_dq._concurrency import AsyncCancelled, async_finish
from redisson_dq.errors import DecodeError, RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.clock import Clock
from redisson_dq.wire import calls, commands
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["UndecodableLists"]

# Pauses between the tries.
_PAUSES = (0.01, 0.05, 0.2, 0.5)


class _Sending(Protocol):
    @property
    def clock(self) -> Clock: ...

    async def run(self, request: Request[Any], *, when_closed: bool = False) -> Any: ...


class UndecodableLists:
    """The lists of values that could not be read."""

    def __init__(self, connections: _Sending) -> None:
        self._connections = connections
        # By list: the nonce of the last call that has put some into it.
        self._nonces: dict[str, bytes] = {}

    async def set_aside(self, error: DecodeError, key: str) -> None:
        """Puts undecodable values, which exist nowhere else any more, into the list ``key``.

        Raises the error itself when Redis does not take it.
        """
        # A cancelled caller cannot be given the bytes, so they are set aside in any case.
        failure = await async_finish(self.put(error.undecodable, key))
        if failure is not None:
            raise error from failure
        error.kept_in = key

    async def put(self, values: list[bytes], key: str) -> RedissonDQError | None:
        """Puts values into the list ``key``, and tries again when a connection breaks.

        Returns the error when it fails.
        """
        # A try whose reply was lost may have been carried out. The nonce keeps the next one from doing it again.
        # To the script the list is a ready list to which values go back.
        nonce = secrets.token_bytes(8)
        once = calls.put_back(QueueKeys.of(key), nonce, self._nonces.get(key, b""), "last", values[::-1])
        for pause in (*_PAUSES, None):
            try:
                await self._run_or_push(once, key, values)
                self._nonces[key] = nonce
                return None
            except RedissonDQError as error:
                if pause is None or not isinstance(error, RedisConnectionError):
                    return error
            except AsyncCancelled:
                # The end of the loop cancels a connection that is being made. The next try has another one.
                if pause is None:
                    raise
            await self._connections.clock.async_sleep(pause)
        raise AssertionError("the last try returns")

    async def _run_or_push(self, once: Request[bool], key: str, values: list[bytes]) -> None:
        try:
            await self._connections.run(once, when_closed=True)
        except RedisConnectionError:
            raise
        except RedissonDQError:
            # Redis refuses the script: a right is missing, or its keys share no slot. Twice is better than not at all.
            await self._connections.run(commands.set_aside(key, values), when_closed=True)
