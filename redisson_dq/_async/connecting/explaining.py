"""Asks Redis what its errors do not say, and drives other generators of requests."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol, TypeVar

from redis.exceptions import ResponseError

from redisson_dq._async.connecting.dedicated import HungUpError
from redisson_dq._redis import was_closed
from redisson_dq._redis.errors import A_PROXY
from redisson_dq.calls.explaining import Serves, ended, explaining, reason_of
from redisson_dq.errors import RedisReplyError, RedissonDQError
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request

__all__ = ["Runs", "end_of_wait", "explained", "walked"]

T = TypeVar("T")

_NOBODYS_KEY = "redisson_dq:none"
# In seconds, for a command that would block.
_AT_MOST = 0.001


class Runs(Serves, Protocol):
    """Sends one request and gives its result."""

    async def run(self, request: Request[T]) -> T: ...

    async def is_cut_by(self, key: str, words: Sequence[Any]) -> bool: ...


async def walked(runs: Runs, walk: Generator[Request[Any], Any, T], check: Callable[[], None] | None = None) -> T:
    """Sends the requests of a generator, one after the other, and gives its result. ``check`` is called before each."""
    try:
        request = next(walk)
        while True:
            try:
                if check is not None:
                    check()
                reply = await runs.run(request)
            except Exception as error:
                request = walk.throw(error)
            else:
                request = walk.send(reply)
    except StopIteration as failure:
        result: T = failure.value
        return result


async def explained(runs: Runs, request: Request[Any], error: ResponseError) -> RedissonDQError:
    """Our error for one of Redis's, with the key that has the wrong type, or the rights that are missing."""
    return await walked(runs, explaining(runs, request, error))


async def end_of_wait(
    runs: Runs, source: Source, error: BaseException, request: Request[Any] | None = None
) -> RedissonDQError | None:
    """Our error for the one that ended a wait. None when a plain command finds nothing wrong, or we have ended it.

    The refused ``request`` may use keys that the source does not name.
    """
    if isinstance(error, HungUpError):
        return None
    if isinstance(error, ResponseError):
        return await walked(runs, ended(runs, source, error, request))
    where = f"queue {source.key!r}"
    cut = await _cut(runs, source, where, error) if isinstance(error, Exception) else None
    return cut or reason_of(runs, error, where, sent=True)


async def _cut(runs: Runs, source: Source, where: str, error: Exception) -> RedissonDQError | None:
    """Says that a proxy closes the connection at the command that waits. None where that is not so."""
    if not was_closed(error):
        return None
    # The same command on keys that nobody uses: it may be carried out.
    words = [_NOBODYS_KEY if word in source.keys else word for word in source.words(_AT_MOST)]
    command = str(words[0])
    try:
        if not await runs.is_cut_by(source.key, words):
            return None
    except RedissonDQError:
        return None
    return RedisReplyError(f"{where}: the connection is closed at {command}: the server is {A_PROXY}")
