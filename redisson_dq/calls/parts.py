"""The outcome of a call that was sent in several parts, such as one for each partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from redisson_dq.errors import RedisConnectionError, RedisReplyError, RedissonDQError

__all__ = ["all_of", "failure_of"]

U = TypeVar("U")


def all_of(results: Sequence[U | RedissonDQError]) -> list[U]:
    """The results of all parts. Raises :func:`failure_of` where a part has failed."""
    if (failure := failure_of(results)) is not None:
        raise failure
    return [result for result in results if not isinstance(result, RedissonDQError)]


def failure_of(results: Sequence[U | RedissonDQError]) -> RedissonDQError | None:
    """The error of the whole call. Its ``maybe_done`` is true where any part was, or may have been, carried out."""
    failures = [result for result in results if isinstance(result, RedissonDQError)]
    if not failures:
        return None
    unsure = next((failure for failure in failures if getattr(failure, "maybe_done", False)), None)
    failure = unsure or failures[0]
    if len(failures) < len(results) and isinstance(failure, (RedisConnectionError, RedisReplyError)):
        failure.maybe_done = True
    return failure
