"""Refuses keys and elements that were made to have one hash. Adding such a key to a dict takes time for each of the
others.

Nobody knows the hashes of texts beforehand. The hashes of numbers, UUIDs and whatever consists of them are the same in
every process. That of an int is its remainder by 2**61 - 1.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection
from decimal import Decimal
from enum import Enum
from typing import Any

import attrs

from redisson_dq.codecs.faults import Malformed

__all__ = ["FEW_KEYS", "SAME_HASH", "Hashes"]

#: So many keys of a container may have the same hash.
FEW_KEYS = 16
SAME_HASH = "keys or elements of which too many have the same hash"

#: The number of comparisons that every value may take, and how many more are allowed for each key.
_FREE = 100_000
_FOR_EACH_KEY = 8
_MOST_PARTS = 1_000
#: To compare an int with a Decimal, Python makes it a Decimal. For an int of more bits that takes too long.
_MOST_BITS = 16_384
_TEXTS = frozenset((str, bool, type(None)))


class Hashes:
    """Counts, for one value that is read, the comparisons that its keys of the same hash take."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = _FREE

    def check(self, keys: Collection[Any], pos: int | None = None) -> None:
        """Refuse keys or elements of a container when too many have the same hash. Raises Malformed. O(size).

        Elements without a hash pass: they are no keys. Equal keys pass too: only one of them is kept.
        """
        if len(keys) <= FEW_KEYS or all(kind in _TEXTS or issubclass(kind, Enum) for kind in set(map(type, keys))):
            return
        try:
            hashes = list(map(hash, keys))
        except TypeError:
            return
        self._left += _FOR_EACH_KEY * len(keys)
        if len(set(hashes)) == len(hashes):
            return
        groups: dict[int, list[Any]] = defaultdict(list)
        for key, code in zip(keys, hashes, strict=True):
            groups[code].append(key)
        for group in groups.values():
            if len(group) > 1:
                self._compare(group, pos)

    def _compare(self, group: list[Any], pos: int | None) -> None:
        kinds = set(map(type, group))
        has_large = any(isinstance(key, int) and key.bit_length() > _MOST_BITS for key in group)
        if Decimal in kinds and has_large:
            raise Malformed(SAME_HASH, pos)
        different: set[Any] = set()
        for key in group:
            self._left -= len(different) * _parts(key)
            if self._left < 0:
                raise Malformed(SAME_HASH, pos)
            different.add(key)


def _parts(key: Any) -> int:
    """How many values a comparison with the key may have to compare, up to a limit."""
    count = 0
    waiting = [key]
    while waiting and count < _MOST_PARTS:
        count += 1
        value: Any = waiting.pop()
        kind = type(value)
        if attrs.has(kind):
            waiting += [getattr(value, field.name, None) for field in attrs.fields(kind)]
        elif dataclasses.is_dataclass(kind):
            waiting += [getattr(value, field.name, None) for field in dataclasses.fields(kind)]
        elif kind is tuple:
            waiting += value
    return count
