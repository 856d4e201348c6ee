"""The blocking commands that take from lists, as values: what is sent, and what the reply means."""

from __future__ import annotations

import itertools
from typing import Any, Union

import attrs

from . import commands
from .commands import SIDES, End
from .request import Request, Word

__all__ = ["Move", "Pop", "Source", "Taken", "Turns"]


_numbers = itertools.count()


@attrs.frozen(kw_only=True)
class Taken:
    """The bytes of one value, and the key they came from. What was taken later has a higher number."""

    key: str
    data: bytes
    number: int = attrs.field(factory=_numbers.__next__, init=False, eq=False, repr=False)


@attrs.frozen
class Pop:
    """One end of one list, or of the first of several that has a value."""

    keys: tuple[str, ...]
    end: End

    @property
    def key(self) -> str:
        return self.keys[0]

    @property
    def words(self) -> tuple[Word, ...]:
        return ("BLPOP" if self.end == "first" else "BRPOP", *self.keys, 0)

    def taken(self, reply: list[bytes]) -> Taken:
        return Taken(key=reply[0].decode(), data=reply[1])

    def more(self, count: int) -> Request[list[Taken]] | None:
        """What takes so many more, if there are any. None where the blocking command has to choose the list."""
        if len(self.keys) > 1:
            return None
        request = commands.pop_many(self.key, self.end, count)
        return request.then(lambda found: [Taken(key=self.key, data=data) for data in found])

    def put_back(self, surplus: list[Taken]) -> list[tuple[str, list[bytes], Request[Any]]]:
        """What returns these values to where they came from: key, its values, the request."""
        by_key: dict[str, list[bytes]] = {}
        for taken in surplus:
            by_key.setdefault(taken.key, []).append(taken.data)
        return [(key, values, commands.put_back(key, self.end, values)) for key, values in by_key.items()]


@attrs.frozen
class Move:
    """From one end of a list to an end of another. What nobody waits for is safe where it was moved to."""

    source: str
    destination: str
    from_end: End
    to_end: End

    @property
    def key(self) -> str:
        return self.source

    @property
    def keys(self) -> tuple[str, ...]:
        return self.source, self.destination

    @property
    def words(self) -> tuple[Word, ...]:
        return "BLMOVE", self.source, self.destination, SIDES[self.from_end], SIDES[self.to_end], 0

    def taken(self, reply: bytes) -> Taken:
        return Taken(key=self.source, data=reply)

    def more(self, count: int) -> Request[list[Taken]] | None:
        return None

    def put_back(self, surplus: list[Taken]) -> list[tuple[str, list[bytes], Request[Any]]]:
        return []


@attrs.frozen(cache_hash=True)
class Turns:
    """One end of each of several lists, which may live on different nodes, in turns."""

    pops: tuple[Pop, ...]


#: What a blocking call waits for.
Source = Union[Pop, Move]
