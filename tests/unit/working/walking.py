"""Walks a decision table through everything that its surroundings can do.

A scenario is a table with a model of its surroundings: the currently possible moves, and the conditions that must hold
after each of them. Two ways to one situation are walked on once, so the walk has an end. It covers every sequence of
moves.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import pytest

__all__ = ["Move", "Scenario", "closure", "unnoticed"]

Move = tuple[Any, ...]


class Scenario(Protocol):
    """``moves`` are those that are possible now. ``play`` makes one, and asserts what has to hold after it."""

    def moves(self) -> Iterable[Move]: ...

    def play(self, move: Move) -> None: ...

    def situation(self) -> Hashable: ...


S = TypeVar("S", bound=Scenario)
Row = tuple[Any, Any]
Outcome = tuple[Any, tuple[Any, ...]]
# How many uses of a row are tried from each start, from how many later situations a walk continues, and how far.
_USES, _TRIED, _AHEAD = 300, 60, 6


def closure(start: S, depth: int | None = None, note: Callable[[S, Move], object] = lambda before, move: None) -> int:
    """Plays every sequence of moves, up to a ``depth`` where one is given. Gives the number of situations.

    ``note`` is called after each move, with the scenario as it was before.
    """
    seen = {start.situation()}
    ahead: list[tuple[S, tuple[Move, ...]]] = [(start, ())]
    while ahead:
        reached: list[tuple[S, tuple[Move, ...]]] = []
        for scenario, way in ahead:
            for move in scenario.moves():
                after = copy.deepcopy(scenario)
                try:
                    after.play(move)
                except Exception as error:
                    raise AssertionError(f"{' '.join(map(str, (*way, move)))}: {error!r}") from error
                note(scenario, move)
                if (situation := after.situation()) not in seen:
                    seen.add(situation)
                    reached.append((after, (*way, move)))
        ahead = [] if depth is not None and len(ahead[0][1]) + 1 >= depth else reached
    return len(seen)


class _Noting(dict[Row, Outcome]):
    """A table that knows which rows were used."""

    def __init__(self, rows: Mapping[Row, Outcome]) -> None:
        super().__init__(rows)
        self.used: set[Row] = set()

    def __getitem__(self, row: Row) -> Outcome:
        self.used.add(row)
        return super().__getitem__(row)


def _broken(table: Mapping[Row, Outcome]) -> Iterator[tuple[str, Row, Outcome | None]]:
    """Each way to break one row: it is gone, leads to another state, or lacks one action."""
    states = dict.fromkeys(state for state, _ in table)
    for row, (target, to_do) in table.items():
        name = f"{row[0].name} {row[1].name}"
        yield f"{name} gone", row, None
        for state in states:
            if state is not target:
                yield f"{name} leads to {state.name}", row, (state, to_do)
        for place, do in enumerate(to_do):
            yield f"{name} without {do.name}", row, (target, to_do[:place] + to_do[place + 1 :])


def unnoticed(module: Any, starts: Iterable[S], depth: int | None = None) -> list[str]:
    """The rows of a module's ``TRANSITIONS`` that no walk uses, and the broken rows that no walk notices."""
    rows: dict[Row, Outcome] = module.TRANSITIONS
    table = _Noting(rows)
    uses: dict[Row, list[tuple[S, Move]]] = {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TRANSITIONS", table)
        for start in starts:
            of_start: dict[Row, list[tuple[S, Move]]] = {}

            def note(before: S, move: Move, of_start: dict[Row, list[tuple[S, Move]]] = of_start) -> None:
                for row in table.used:
                    if len(found := of_start.setdefault(row, [])) < _USES:
                        found.append((before, move))
                table.used.clear()

            closure(start, depth, note)
            for row, found in of_start.items():
                uses.setdefault(row, []).extend(found)
        missed = [
            f"{state.name} {trigger.name} is never used" for state, trigger in rows if (state, trigger) not in uses
        ]
        for name, row, broken in list(_broken(rows)):
            if broken is None:
                del table[row]
            else:
                table[row] = broken
            if not _is_noticed(uses.get(row, ())):
                missed.append(name)
            table[row] = rows[row]
    return missed


def _is_noticed(uses: Sequence[tuple[Any, Move]]) -> bool:
    """Whether the move itself fails where a broken row is used, or a walk that goes on from there."""
    reached = []
    for before, move in uses:
        after = copy.deepcopy(before)
        try:
            after.play(move)
        except Exception:
            return True
        reached.append(after)
    # Most show soon, from one of these situations or another.
    for ahead in range(1, _AHEAD + 1):
        for after in reached[:: max(1, -(-len(reached) // _TRIED))]:
            try:
                closure(after, ahead)
            except AssertionError:
                return True
    return False
