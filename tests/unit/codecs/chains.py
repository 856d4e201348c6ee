"""Numbers whose places in a dict form one chain, and a model of dicts and sets that counts steps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

__all__ = ["Table", "chain"]

_WORD = (1 << 64) - 1


class Table:
    """A hash table as CPython fills it: ``places`` has the hash that is in each place, ``steps`` counts the jumps."""

    def __init__(self, size: int, run: int) -> None:
        self.size = size
        self.run = run
        self.places: list[int | None] = [None] * size
        self.steps = 0

    @classmethod
    def grown(cls, hashes: list[int], *, is_set: bool) -> Table:
        """The table after these hashes were added one by one. Its steps are those of all tables before, too."""
        made = cls(8, 10 if is_set else 1)
        full = 5
        for number, code in enumerate(hashes):
            if number == full:
                wanted = number * (2 if number > 50_000 else 4) if is_set else number * 3 - 1
                size = 8
                while size <= wanted:
                    size *= 2
                larger = cls(size, made.run)
                larger.steps = made.steps
                known = [code for code in made.places if code is not None] if is_set else hashes[:number]
                for each in known:
                    larger.add(each)
                made, full = larger, (size - 1) * 3 // 5 + 1 if is_set else size * 2 // 3
            made.add(code)
        return made

    def walk(self, code: int) -> Iterator[int]:
        """The first place after each jump."""
        place, rest = code % self.size, code & _WORD
        while True:
            yield place
            rest >>= 5
            place = (place * 5 + rest + 1) % self.size

    def free_after(self, code: int) -> tuple[int, int]:
        """How many jumps lead to a free place for this hash, and which place that is."""
        for jumps, start in enumerate(self.walk(code)):
            ends = start + self.run if start + self.run <= self.size else start + 1
            for place in range(start, ends):
                if self.places[place] is None:
                    return jumps, place
        raise AssertionError("a full table")

    def add(self, code: int) -> int:
        """Put a hash into its place, and count the jumps."""
        jumps, place = self.free_after(code)
        self.places[place] = code
        self.steps += jumps
        return jumps


@cache
def chain(count: int, jumps: int = 20) -> tuple[int, ...]:
    """``count`` different hashes, of which all but the first half need at least this many jumps in a dict, and more and
    more.
    """
    size = len(Table.grown(list(range(count)), is_set=False).places)
    table = Table(size, 1)
    found = list(islice(table.walk(0), count // 2))
    for code in found:
        table.add(code)
    mask, first = size - 1, found[: count // 4]
    for code in (code + high * size for high in range(1, 256) for code in first):
        # Most are in a free place after a jump or two.
        second = (5 * (5 * (code & mask) + (code >> 5) + 1) + (code >> 10) + 1) & mask
        if table.places[second] is not None and table.free_after(code)[0] >= jumps:
            table.add(code)
            found.append(code)
            if len(found) == count:
                return tuple(found)
    raise AssertionError(f"only {len(found)} of {count}")
