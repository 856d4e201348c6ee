"""Which part of a queue a call goes to, and the outcome of one that was sent in several parts."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import TypeVar

from redisson_dq.errors import RedisConnectionError, RedisReplyError, RedissonDQError
from redisson_dq.wire.partitions import partition_of

__all__ = ["Routing", "all_of", "failure_of"]

U = TypeVar("U")


class Routing:
    """The partitions of one queue by their numbers: that of a key, of bytes, or the next one."""

    def __init__(self, partitions: int) -> None:
        self.partitions = partitions
        # Begins at a random partition, so that processes which live for one call do not all meet in the same one.
        self._calls = itertools.count(random.randrange(partitions))

    def of_key(self, key: str) -> int:
        """The partition of a key, or of an id. Raises ArgumentError for anything but a text."""
        return partition_of(key, self.partitions)

    def next(self) -> int:
        """Each partition in turn."""
        return next(self._calls) % self.partitions

    def of_key_or_next(self, key: str | None) -> int:
        """The partition of the key; without one the next."""
        return self.next() if key is None else self.of_key(key)


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
