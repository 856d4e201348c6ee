"""Refuses keys and elements that were crafted to collide in Python's hash tables.

The hashes of texts and bytes are randomised. The hashes of numbers, UUIDs and objects made of these are the same in
every process. An attacker can choose numbers with the same hash, or numbers whose slots in a dict or a set form one
chain. Adding such a key takes a step for each of the others.

So before a dict or a set is made, the steps that CPython will take are counted (``dictobject.c``, ``setobject.c``).
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from decimal import Decimal
from enum import Enum
from itertools import groupby
from typing import Any

import attrs

from redisson_dq.codecs.faults import Malformed

__all__ = ["FEW_KEYS", "ONE_CHAIN", "SAME_HASH", "Hashes"]

#: The number of keys in a container that may have the same hash.
FEW_KEYS = 16
SAME_HASH = "keys or elements of which too many have the same hash"
ONE_CHAIN = "keys or elements of which too many have their places in one chain"

#: The number of comparisons that every value may take, and how many more are allowed for each key.
_FREE = 100_000
_FOR_EACH_KEY = 8
_MOST_PARTS = 1_000
#: To compare an int with a Decimal, Python converts the int. With more bits than this, that takes too long.
_MOST_BITS = 16_384

#: Below this number of different hashes, adding the keys is faster than counting their steps.
_SHORT_CHAIN = 256
#: The steps that the keys of a value may take, and how many more for each key. Multiples of a power of two, such as
#: the ids of Snowflake, take up to 35 each.
_FREE_STEPS = 100_000
_STEPS_FOR_EACH_KEY = 64
_WORD = (1 << sys.hash_info.width) - 1
_SHIFT = 5
#: The number of adjacent slots a set tries before it jumps.
_NEXT_PLACES = 10

#: The types with randomised hashes.
_UNKNOWN: tuple[Any, ...] = (str.__hash__, bytes.__hash__)
_FEW_VALUES = (bool, type(None))


class Hashes:
    """Counts, for one value that is read, the steps that its keys take in Python's hash tables."""

    __slots__ = ("_left", "steps_left")

    def __init__(self) -> None:
        self._left = _FREE
        #: The steps that further keys may take.
        self.steps_left = _FREE_STEPS

    def check(self, keys: Collection[Any], pos: int | None = None, kind: Any = dict) -> None:
        """Refuse keys or elements of a container ``kind`` that take too many steps. Raises Malformed. O(size).

        Keys after an unhashable one are not checked, because Python stops there. Equal keys pass: only one of them is
        kept.
        """
        if len(keys) <= FEW_KEYS or all(map(_is_harmless, set(map(type, keys)))):
            return
        hashes: list[int] = []
        with suppress(TypeError):
            hashes.extend(map(hash, keys))
        self._left += _FOR_EACH_KEY * len(hashes)
        hashes = self._without_equal(keys, hashes, pos)
        if len(hashes) > _SHORT_CHAIN:
            self.steps_left += _STEPS_FOR_EACH_KEY * len(hashes)
            is_set = isinstance(kind, type) and issubclass(kind, (set, frozenset))
            self.steps_left = (_after_set if is_set else _after_dict)(hashes, self.steps_left)
            if self.steps_left < 0:
                raise Malformed(ONE_CHAIN, pos)

    def _without_equal(self, keys: Collection[Any], hashes: list[int], pos: int | None) -> list[int]:
        """The hashes of the keys, without keys that equal an earlier one."""
        by_hash = sorted(hashes)
        if all(map(int.__ne__, by_hash, by_hash[1:])):
            return hashes
        numbered = sorted(enumerate(zip(hashes, keys, strict=False)), key=lambda each: each[1][0])
        left: list[tuple[int, int]] = []
        for code, group in groupby(numbered, key=lambda each: each[1][0]):
            same = list(group)
            different = self._compare([key for _, (_, key) in same], pos) if len(same) > 1 else (0,)
            left += [(same[place][0], code) for place in different]
        left.sort()
        return [code for _, code in left]

    def _compare(self, group: list[Any], pos: int | None) -> list[int]:
        """The indexes of the keys that equal no earlier one. All keys have the same hash."""
        kinds = set(map(type, group))
        has_large = any(isinstance(key, int) and key.bit_length() > _MOST_BITS for key in group)
        if Decimal in kinds and has_large:
            raise Malformed(SAME_HASH, pos)
        different: dict[Any, int] = {}
        for place, key in enumerate(group):
            self._left -= len(different) * _parts(key)
            if self._left < 0:
                raise Malformed(SAME_HASH, pos)
            different.setdefault(key, place)
        return list(different.values())


def _is_harmless(kind: type) -> bool:
    return kind in _FEW_VALUES or kind.__hash__ in _UNKNOWN or issubclass(kind, Enum)


def _parts(key: Any) -> int:
    """The number of values that a comparison with the key may have to compare, up to a limit."""
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


def _dict_tables(count: int) -> Iterator[tuple[int, int]]:
    """The length of each table that a dict gets while ``count`` keys are added, and how many of them fit in.

    Tables in which all chains are short are left out.
    """
    size, most = 8, 5
    while most < count:
        if most > _SHORT_CHAIN:
            yield size, most
        size *= 2
        most = size * 2 // 3
    yield size, count


def _after_dict(hashes: list[int], left: int) -> int:
    """``left`` minus the steps that keys with these hashes take in a dict. Negative if they are too many. O(steps)."""
    for size, most in _dict_tables(len(hashes)):
        mask = size - 1
        taken = bytearray(size)
        for code in hashes[:most]:
            place = code & mask
            if taken[place]:
                rest = code & _WORD
                while taken[place]:
                    left -= 1
                    rest >>= _SHIFT
                    place = (place * 5 + rest + 1) & mask
                if left < 0:
                    return left
            taken[place] = 1
    return left


def _after_set(hashes: list[int], left: int) -> int:
    """``left`` minus the steps that the elements take in a set, which also tries adjacent slots before it jumps."""
    size, added = 8, 0
    in_order: list[int | None] = []
    while added < len(hashes):
        most = (size - 1) * 3 // 5 + 1
        mask, last = size - 1, size - _NEXT_PLACES
        codes = [code for code in in_order if code is not None]  # a larger table is filled slot by slot
        codes += hashes[added:most]
        in_order = [None] * size
        taken = bytearray(size)
        free = taken.find
        for code in codes:
            place = code & mask
            if taken[place]:
                rest = code & _WORD
                while taken[place]:
                    found = free(0, place, place + _NEXT_PLACES) if place <= last else -1
                    if found >= 0:
                        place = found
                        break
                    left -= 1
                    rest >>= _SHIFT
                    place = (place * 5 + rest + 1) & mask
                if left < 0:
                    return left
            taken[place] = 1
            in_order[place] = code
        added = most
        wanted = most * 2 if most > 50_000 else most * 4
        while size <= wanted:
            size *= 2
    return left
