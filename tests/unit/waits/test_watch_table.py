"""The watch table keeps its promises, whatever happens in whatever order. There is no server and no waiting."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from redisson_dq.waits import watch_table
from redisson_dq.waits.watch_table import TRANSITIONS, WATCHES, Do, KeyWatch, State, Trigger
from tests.conftest import by_night
from tests.unit.waits.walking import Broken, Row, Walk, walk
from tests.unit.waits.watched import World

_DEPTH = 6
# A row that is broken shows so many events later at the latest.
_SHOWS = 6
KINDS = {"takes": False, "leases": True}


def _nothing(leases: bool) -> World:
    return World(leases)


def _watched(leases: bool) -> World:
    """A caller waits, and Redis watches."""
    world = World(leases)
    for event in (("enters", None), ("rings", 0), ("round", False), ("redis goes on", None), ("reads", False)):
        world.happen(event)
    assert world.engine.state is State.WATCHED
    return world


def _asked(leases: bool) -> World:
    """Two values came and one caller is being served, with another one behind it."""
    world = _watched(leases)
    for event in (("push", None), ("push", None), ("hears", None), ("round", False), ("redis goes on", None)):
        world.happen(event)
    return world


def _yielded(leases: bool) -> World:
    """It waits for its turn."""
    world = World(leases)
    for event in (("enters", None), ("rings", 0), ("round", True)):
        world.happen(event)
    return world


def _failing(leases: bool) -> World:
    """Redis has refused."""
    world = World(leases, mishaps=2)
    for event in (("enters", None), ("rings", 0), ("round", False), ("redis goes on", None), ("reads", True)):
        world.happen(event)
    return world


def _refused(leases: bool) -> World:
    """Redis has refused a source that it watches, and a caller waits."""
    world = World(leases, mishaps=2)
    for event in (("enters", None), ("rings", 0), ("round", False), ("redis goes on", None), ("reads", False)):
        world.happen(event)
    for event in (("is over", 0), ("round", False), ("redis goes on", None), ("reads", True), ("enters", None)):
        world.happen(event)
    assert (world.engine.state, world.engine.is_watched) == (State.FAILING, True)
    return world


def _returning(leases: bool) -> World:
    """A value goes back, as its caller has left."""
    world = _asked(leases)
    for event in (("leaves", 0), ("reads", False), ("round", False), ("works", True)):
        world.happen(event)
    assert world.engine.state is State.RETURNING
    return world


STARTS = {
    "nothing": _nothing,
    "watched": _watched,
    "asked": _asked,
    "yielded": _yielded,
    "failing": _failing,
    "refused": _refused,
    "returning": _returning,
}


@functools.cache
def walked(kind: str, start: str, depth: int) -> Walk:
    return walk(STARTS[start](KINDS[kind]), depth, of=watch_table)


@pytest.mark.parametrize("depth", [_DEPTH, by_night(_DEPTH + 4)])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_sequence_of_events_keeps_the_promises(kind: str, start: str, depth: int) -> None:
    seen = walked(kind, start, depth)
    assert (seen.problem, seen.path) == ("", ())
    assert seen.worlds > 200


def found(row: Row) -> list[tuple[World, Any]]:
    """The worlds in which the walks met a row first, and the event that led to it."""
    walks = (walked(kind, start, _DEPTH).reached for kind in KINDS for start in STARTS)
    return [reached[row] for reached in walks if row in reached]


_ROWS = pytest.mark.parametrize("row", TRANSITIONS, ids=lambda row: f"{row[0].name}-{row[1].name}")


@_ROWS
def test_the_walk_meets_every_row(row: Row) -> None:
    assert found(row)


_WATCH_ROWS = pytest.mark.parametrize("row", WATCHES, ids=lambda row: f"{row[0].name}-{row[1].name}")


@_WATCH_ROWS
def test_the_walk_meets_every_row_of_the_watch(row: Row) -> None:
    assert found(row)


@pytest.mark.parametrize(
    ("trigger", "event"),
    [(Trigger.CHANGED, "evicts"), (Trigger.DISCONNECTED, "is cut")],
    ids=["CHANGED", "DISCONNECTED"],
)
def test_a_key_that_counts_as_watched_and_is_not_holds_callers_up(
    trigger: Trigger, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other rows of the watch save a command: without them a key is watched once more."""
    monkeypatch.delitem(WATCHES, (KeyWatch.ON, trigger))
    world = _watched(leases=False)
    world.happen((event, None))
    if world.messages:
        world.happen(("hears", None))
    for each in (("round", False), ("redis goes on", None)):
        world.happen(each)
    with pytest.raises(Broken, match="Redis does not watch"):
        world.happen(("reads", False))


@pytest.mark.parametrize("start", [_watched, _asked, _failing])
@pytest.mark.parametrize("kind", KINDS)
def test_a_source_in_whose_place_another_pump_is_asks_no_more(kind: str, start: Callable[[bool], World]) -> None:
    """The values that it has still go back, and it comes to rest."""
    world = start(KINDS[kind])
    world.budget["replace"] = 1
    seen = walk(world, _DEPTH - 2, of=watch_table)
    assert (seen.problem, seen.path) == ("", ())


Break = tuple[str, tuple[State, tuple[Do, ...]]]


def breaks(row: Row) -> Iterator[Break]:
    """The row without one of its actions, and the row that leads elsewhere."""
    state, to_do = TRANSITIONS[row]
    for place, do in enumerate(to_do):
        yield f"without {do.name}", (state, to_do[:place] + to_do[place + 1 :])
    for other in (State.RESTING, State.WATCHED):
        if other is not state:
            yield f"to {other.name}", (other, to_do)


def shows(row: Row, broken: Any) -> bool:
    """Whether a walk shows that this row is not what it should be."""
    table = {**TRANSITIONS, row: broken}
    walks = (walk(world, depth, table, of=watch_table) for depth in range(1, _SHOWS + 1) for world, _ in found(row))
    return any(each.problem for each in walks)


_S, _T = State, Trigger
#: Breaks that cost at most a command more. No promise depends on them.
_HARMLESS: dict[Row, set[str]] = {
    # Whoever tells of a time that is over also tells that somebody may wait.
    **{(state, _T.TIME_OVER): {"to RESTING"} for state in (_S.CALLED, _S.YIELDED, _S.WATCHED, _S.RESTING)},
    # It pauses without a trouble where values have to go back. That is told as well.
    (_S.PAUSING, _T.TIME_OVER): {"to RESTING", "to WATCHED"},
    # Nobody comes any more.
    (_S.RESTING, _T.CLOSED): {"to WATCHED"},
}


@pytest.mark.nightly
@_ROWS
def test_a_broken_row_shows(row: Row) -> None:
    """Each row without each of its actions, and each row that leads to a state in which nothing is under way."""
    unseen = {name for name, broken in breaks(row) if not shows(row, broken)}
    assert unseen == _HARMLESS.get(row, set())


class Many(RuleBasedStateMachine):
    """More values, callers and mishaps than a walk has, in sequences that are much longer."""

    world: World

    @initialize(leases=st.booleans())
    def begin(self, leases: bool) -> None:
        self.world = World(leases, values=6, callers=5, mishaps=3)

    @rule(choice=st.integers(0, 1_000_000))
    def anything_happens(self, choice: int) -> None:
        events = list(self.world.events())
        if events:
            self.world.happen(events[choice % len(events)])

    @rule(choice=st.integers(0, 1_000_000), count=st.integers(1, 12))
    def the_lookout_goes_on(self, choice: int, count: int) -> None:
        for _ in range(count):
            events = list(self.world.own_events())
            if events:
                self.world.happen(events[choice % len(events)])


@pytest.mark.parametrize("examples", [20, by_night(3000)])
def test_long_sequences_with_many_callers_keep_the_promises(examples: int) -> None:
    run_state_machine_as_test(Many, settings=settings(max_examples=examples, stateful_step_count=60, deadline=None))
