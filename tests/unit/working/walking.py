"""Walks a table of decisions through everything that its surroundings can do.

A scenario is a table with a model of its surroundings: the moves that are possible just now, and what has to be true
after each of them. Two ways to one situation are walked on once, so the walk has an end. It covers every sequence of
moves.
"""

from __future__ import annotations

import copy
import enum
from collections.abc import Hashable, Iterable, Iterator, MutableMapping
from typing import Any, Protocol, TypeVar

__all__ = ["Scenario", "broken_rows", "closure", "unnoticed"]

Move = tuple[Any, ...]


class Scenario(Protocol):
    """``moves`` are those that are possible now. ``play`` makes one, and asserts what has to hold after it."""

    def moves(self) -> Iterable[Move]: ...

    def play(self, move: Move) -> None: ...

    def situation(self) -> Hashable: ...


S = TypeVar("S", bound=Scenario)


def closure(start: S, depth: int | None = None) -> int:
    """Plays every sequence of moves, up to a ``depth`` where one is given. Gives the number of situations."""
    seen = {start.situation()}
    ahead: list[tuple[S, tuple[Move, ...]]] = [(start, ())]
    while ahead:
        reached: list[tuple[S, tuple[Move, ...]]] = []
        for scenario, way in ahead:
            for move in scenario.moves():
                after = copy.deepcopy(scenario)
                try:
                    after.play(move)
                except (AssertionError, KeyError, RecursionError) as error:
                    raise AssertionError(f"{' '.join(map(str, (*way, move)))}: {error!r}") from error
                if (situation := after.situation()) not in seen:
                    seen.add(situation)
                    reached.append((after, (*way, move)))
        ahead = [] if depth is not None and len(ahead[0][1]) + 1 >= depth else reached
    return len(seen)


_Table = MutableMapping[tuple[Any, Any], tuple[Any, tuple[Any, ...]]]


def broken_rows(table: _Table) -> Iterator[tuple[str, tuple[Any, Any], tuple[Any, tuple[Any, ...]] | None]]:
    """Each way to break one row: it is gone, leads to another state, or lacks one action."""
    states: dict[enum.Enum, None] = dict.fromkeys(state for state, _ in table)
    for row, (target, to_do) in table.items():
        name = f"{row[0].name} {row[1].name}"
        yield f"{name} gone", row, None
        for state in states:
            if state is not target:
                yield f"{name} leads to {state.name}", row, (state, to_do)
        for place, do in enumerate(to_do):
            yield f"{name} without {do.name}", row, (target, to_do[:place] + to_do[place + 1 :])


def unnoticed(table: _Table, starts: Iterable[Any], depth: int | None = None) -> list[str]:
    """The names of the broken rows that no walk from one of the ``starts`` notices."""
    starts = list(starts)
    missed = []
    for name, row, broken in list(broken_rows(table)):
        kept = table[row]
        if broken is None:
            del table[row]
        else:
            table[row] = broken
        try:
            for start in starts:
                closure(copy.deepcopy(start), depth)
        except AssertionError:
            continue
        else:
            missed.append(name)
        finally:
            table[row] = kept
    return missed
