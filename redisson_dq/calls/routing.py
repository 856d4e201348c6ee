"""Which partition a call goes to."""

from __future__ import annotations

import itertools
import random
from typing import Generic, TypeVar
from zlib import crc32

from redisson_dq.calls.items import checked_id
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.wire.partitions import partition_of

__all__ = ["DelayedRouting", "Routing"]

T = TypeVar("T")


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


class DelayedRouting(Routing, Generic[T]):
    """The partitions of one queue for offers, and for items by their ids."""

    def __init__(self, partitions: int, side: OpenQueue[T]) -> None:
        """``side`` is that of any partition."""
        super().__init__(partitions)
        self._side = side

    def of_id(self, id: str) -> int:
        """The partition of an id of the caller's, unless the item was offered under a key. Raises ArgumentError."""
        return self.of_key(checked_id(self._side, id))

    def of_offer(self, value: T, key: str | None, id: str | None, *, by_payload: bool) -> int:
        """The partition of the key, else of the id, else where equal values meet, else the next."""
        if key is not None:
            return self.of_key(key)
        if id is not None:
            return self.of_id(id)
        return crc32(self._side.encode_to_compare(value)) % self.partitions if by_payload else self.next()
