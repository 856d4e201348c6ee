"""Hints: where due entries are in the envelope list, as one client remembers it between its transfers.

Theory of operation. A transfer has to take its entries out of a list that has no index. Most of them it finds by itself
(``scripts/include/places.lua``). Entries of Java's that are due in another order than they were offered it finds only
by reading the list. Reading a long list takes too long for one call. So the transfer answers "lost", and a pass begins:

* The first calls ask for the keys of the next due entries, in due order. A key is the id of an entry, or most of it.
* The next calls read the list from its end to its front, a slice each, until all are found. With few entries the script
  answers with their places. With many it answers with all keys of the slice, and the client finds the places.
* Then the calls deliver again. Each is given hints: the keys of the next entries, and the place of each. A place is the
  one that the pass saw, less the number of entries in front of it that were taken out since.

Nothing changes in Redis before entries are delivered. This client does not learn which entries others take out of the
list meanwhile. So the script believes no hint, and looks whether the entry is there. All that is known here may be
wrong or forgotten at any time. It costs a new pass then.
"""

from __future__ import annotations

import enum
import struct
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

__all__ = ["Hints"]

_KEY_BYTES = 8
_HINT = struct.Struct(f"<{_KEY_BYTES}sI")
# The place of an entry that a pass did not find.
_ABSENT = 0xFFFFFFFF
# Up to this many keys are sent to the script, which picks them out of a slice.
_FEW = 4000
# How many hints are sent with one call: somewhat more than the last call used.
_MOST_HINTS, _LEAST_HINTS = 2000, 100
# How many places are counted together.
_BLOCK = 512


class _Purpose(enum.Enum):
    """The purpose of the next call."""

    DELIVER = enum.auto()
    ASK_FOR_KEYS = enum.auto()
    READ_A_SLICE = enum.auto()


class Hints:
    """The hints of one queue. Not thread-safe: its driver calls it from one place."""

    def __init__(self) -> None:
        self._purpose = _Purpose.DELIVER
        #: The keys that the pass is for, in due order, and how many of them are delivered.
        self._keys: list[bytes] = []
        self._over = 0
        #: Where the next slice ends: "end" or a place.
        self._before = b"end"
        #: Where the pass saw them.
        self._seen: dict[bytes, int] = {}
        #: How many of them the pass has not seen yet.
        self._unseen = 0
        #: The places of entries that were taken out since: a sorted list for each block of places.
        self._gone: list[list[int]] = []
        self._share = _MOST_HINTS

    @property
    def is_passing(self) -> bool:
        """Whether the next call only reads, and moves nothing."""
        return self._purpose is not _Purpose.DELIVER

    def words(self) -> tuple[bytes, bytes | int]:
        """The step of the next transfer."""
        if self._purpose is _Purpose.ASK_FOR_KEYS:
            return b"keys", len(self._keys)
        if self._purpose is _Purpose.READ_A_SLICE:
            return self._before, b"".join(self._unseen_keys()) if self._few else b""
        return b"deliver", self._hints()

    def answered(self, state: bytes, found: Any = b"", total: int = 0) -> None:
        """Records the outcome of the transfer's step."""
        if state == b"lost":
            self._begin()
        elif state == b"found" and self._purpose is _Purpose.DELIVER:
            self._use_up(found)
        elif state == b"keys":
            self._keys += (key for (key,) in struct.iter_unpack(f"{_KEY_BYTES}s", found))
            if len(self._keys) >= total or not found:
                self._purpose = _Purpose.READ_A_SLICE
                self._seen = dict.fromkeys(self._keys, _ABSENT)
                self._unseen = len(self._seen)
        elif state.isdigit():
            self._note(int(state), found)
        else:
            # Nothing more is due, or too little for a pass, or another client moves.
            self.forget()

    def forget(self) -> None:
        """Forgets everything."""
        self._purpose = _Purpose.DELIVER
        self._keys, self._over, self._before, self._seen, self._unseen, self._gone = [], 0, b"end", {}, 0, []

    @property
    def _few(self) -> bool:
        return len(self._keys) <= _FEW

    def _begin(self) -> None:
        self.forget()
        self._purpose = _Purpose.ASK_FOR_KEYS

    def _hints(self) -> bytes:
        words, before = [], list(accumulate(map(len, self._gone), initial=0))
        for key in self._keys[self._over : self._over + self._share]:
            place = self._seen[key]
            if place != _ABSENT:
                block = place // _BLOCK
                place -= before[block] + bisect_left(self._gone[block], place)
            words.append(_HINT.pack(key, place))
        return b"".join(words)

    def _unseen_keys(self) -> Iterator[bytes]:
        return (key for key, place in self._seen.items() if place == _ABSENT)

    def _note(self, first: int, found: bytes) -> None:
        seen = self._seen
        places: Iterable[tuple[bytes, int]]
        if self._few:
            places = _HINT.iter_unpack(found)
        else:
            keys = struct.iter_unpack(f"{_KEY_BYTES}s", found)
            places = ((key, place) for place, (key,) in enumerate(keys, first) if key in seen)
        for key, place in places:
            self._unseen -= seen[key] == _ABSENT
            seen[key] = place
        self._before = b"%d" % first
        # Fresh entries are at the end of the list, where the pass begins.
        if first == 0 or self._unseen == 0:
            self._purpose = _Purpose.DELIVER
            last = max((place for place in seen.values() if place != _ABSENT), default=0)
            self._gone = [[] for _ in range(last // _BLOCK + 1)]

    def _use_up(self, over: int) -> None:
        # The script skipped some entries and went on to later ones. Another client took those out, so they are gone
        # too.
        for key in self._keys[self._over : self._over + over]:
            place = self._seen[key]
            if place != _ABSENT:
                insort(self._gone[place // _BLOCK], place)
        left = len(self._keys) - self._over
        self._over += over
        if left and (over == left or (not over and left <= self._share)):
            # More may be due. Or others took out all that the rest of the hints was for.
            self._begin()
        elif over:
            self._share = max(_LEAST_HINTS, min(_MOST_HINTS, over + over // 8))
