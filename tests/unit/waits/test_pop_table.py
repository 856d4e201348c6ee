"""The pop table keeps its promises, whatever happens in whatever order. There is no server and no waiting."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from redisson_dq.errors import RedisConnectionError
from redisson_dq.waits.debts import NOTHING, repeat
from redisson_dq.waits.pop_engine import Look
from redisson_dq.waits.pop_table import CONTACTS, PUMPERS, TRANSITIONS, Contact, Do, Sign, State, Trigger
from tests.conftest import by_night
from tests.unit.waits.pumped import AWAY, Kind, World
from tests.unit.waits.walking import STARTS, Row, Walk, walk

_DEPTH = 6
#: How long the walk of each kind from each start is by day. Half of them are one event shorter, and take less than half
#: the time.
_BY_DAY = {
    (kind, start): _DEPTH - (row + column + 1) % 2
    for row, kind in enumerate(Kind)
    for column, start in enumerate(STARTS)
}
_AT_NIGHT = dict.fromkeys(_BY_DAY, _DEPTH)
# A row that is broken shows so many events later at the latest.
_SHOWS = 6


@functools.cache
def walked(kind: Kind, start: str, depth: int) -> Walk:
    return walk(STARTS[start](kind), depth)


@pytest.mark.parametrize("more", [0, by_night(4)])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.name)
def test_every_sequence_of_events_keeps_the_promises(kind: Kind, start: str, more: int) -> None:
    seen = walked(kind, start, _DEPTH + more if more else _BY_DAY[kind, start])
    assert (seen.problem, seen.path) == ("", ())
    assert seen.worlds > 200


def found(row: Row, depths: Mapping[tuple[Kind, str], int] = _BY_DAY) -> list[tuple[World, Any]]:
    """The worlds in which the walks met a row first, and the event that led to it."""
    walks = (walked(kind, start, depth).reached for (kind, start), depth in depths.items())
    return [reached[row] for reached in walks if row in reached]


_ROWS = pytest.mark.parametrize("row", TRANSITIONS, ids=lambda row: f"{row[0].name}-{row[1].name}")


@_ROWS
def test_the_walk_meets_every_row(row: Row) -> None:
    assert found(row)


#: The rows of the smaller tables that only longer walks meet.
_FAR: set[Row] = {(Contact.AWAY, Sign.ANSWERED)}


@pytest.mark.parametrize("row", [*PUMPERS, *CONTACTS], ids=lambda row: "-".join(each.name for each in row))
def test_the_walk_meets_every_row_beside_the_work(row: Row) -> None:
    assert bool(found(row)) is (row not in _FAR)


Break = tuple[str, tuple[State, tuple[Do, ...]]]


def breaks(row: Row) -> Iterator[Break]:
    """The row without one of its actions, and the row that leads elsewhere."""
    state, to_do = TRANSITIONS[row]
    for place, do in enumerate(to_do):
        yield f"without {do.name}", (state, to_do[:place] + to_do[place + 1 :])
    for other in State:
        if other is not state:
            yield f"to {other.name}", (other, to_do)


def shows(row: Row, broken: Any) -> bool:
    """Whether a walk shows that this row is not what it should be."""
    table = {**TRANSITIONS, row: broken}
    return any(
        walk(world, depth, table).problem for depth in range(1, _SHOWS + 1) for world, _ in found(row, _AT_NIGHT)
    )


_S, _T = State, Trigger
#: Breaks that cost at most a command or a pause more. No promise depends on them.
_HARMLESS: dict[Row, set[str]] = {
    # A look is under way in both. They differ in whether a blocking command may follow.
    **{(state, _T.LOOKS): {"to FETCHING"} for state in (_S.CHOOSING, _S.LINGERED)},
    (_S.SETTLING, _T.ASIDE): {"to LOOKING"},
    **{(_S.LOOKING, told): {"to FETCHING"} for told in (_T.WORK, _T.OWED, _T.NOBODY, _T.CLOSED)},
    **{(_S.FETCHING, told): {"to LOOKING"} for told in (_T.WORK, _T.OWED, _T.NOBODY, _T.CLOSED)},
    # The pumper hears its bell in each of them, also before it leaves.
    (_S.IDLE, _T.WORK): {"to IDLE"},
    (_S.IDLE, _T.CLOSED): {"to IDLE"},
    **{(_S.IDLE, told): {"to CHOOSING"} for told in (_T.NOBODY, _T.LINGERED)},
    (_S.CHOOSING, _T.NOBODY): {"to IDLE"},
    **{(_S.RESTING, begins): {"to LINGERED"} for begins in (_T.STANDS_IN, _T.HEARS_BELL, _T.HANDS_OVER)},
    (_S.LINGERED, _T.OWED): {"to LINGERED"},
    (_S.LINGERED, _T.NOBODY): {"to IDLE", "to CHOOSING"},
    (_S.CHOOSING, _T.LINGERED): {"to LINGERED"},
    **{(state, _T.FAILED): {"to LINGERED"} for state in (_S.IDLE, _S.CHOOSING)},
    # After the close there is nothing that a pumper would see in the other state.
    **{(state, _T.CLOSED): {"to PAUSING"} for state in (_S.CONNECTING, _S.GIVING)},
    (_S.CHOOSING, _T.OWED): {"without RING"},
    # A command that nobody waits for is ended in each of them. The PING ends one as well.
    (_S.TIMED, _T.NOBODY): {"to TIMED"},
    (_S.TIMED, _T.CLOSED): {"to TIMED", "to ENDING"},
    (_S.ENDING, _T.NOBODY): {"to STOPPING"},
    **{(state, _T.CLOSED): {"to STOPPING"} for state in (_S.BLOCKED, _S.ENDING)},
    (_S.STOPPING, _T.CLOSED): {"to ENDING"},
    # The values are handed out before anybody looks at the state.
    (_S.SETTLING, _T.SAVED): {"to PAUSING"},
    (_S.GATHERING, _T.SAVED): {"to PAUSING"},
    (_S.REPEATING, _T.CAME): {"to PAUSING"},
    # A caller that goes on first saves the pumper a look.
    (_S.GIVING, _T.DONE): {"without GIVE_WAY"},
    # Nothing is left to disconnect.
    (_S.CHOOSING, _T.ABANDONED): {"without DISCONNECT"},
    (_S.REPEATING, _T.FAILED): {"without DISCONNECT"},
}


@pytest.mark.nightly
@_ROWS
def test_a_broken_row_shows(row: Row) -> None:
    """Each row without each of its actions, and each row that leads to any other state."""
    unseen = {name for name, broken in breaks(row) if not shows(row, broken)}
    assert unseen == _HARMLESS.get(row, set())


class Many(RuleBasedStateMachine):
    """More values, callers and mishaps than a walk has, in sequences that are much longer."""

    world: World

    @initialize(kind=st.sampled_from(Kind))
    def begin(self, kind: Kind) -> None:
        self.world = World(kind, values=6, callers=5, mishaps=3)

    @rule(choice=st.integers(0, 1_000_000))
    def anything_happens(self, choice: int) -> None:
        events = list(self.world.events())
        if events:
            self.world.happen(events[choice % len(events)])

    @rule(choice=st.integers(0, 1_000_000), count=st.integers(1, 12))
    def the_pumper_goes_on(self, choice: int, count: int) -> None:
        for _ in range(count):
            events = list(self.world.own_events())
            if events:
                self.world.happen(events[choice % len(events)])


@pytest.mark.parametrize("examples", [20, by_night(3000)])
def test_long_sequences_with_many_callers_keep_the_promises(examples: int) -> None:
    run_state_machine_as_test(Many, settings=settings(max_examples=examples, stateful_step_count=60, deadline=None))


def test_a_request_that_is_noted_beside_a_blocking_command_is_another_one() -> None:
    """The command ends for it. It does not end for the request that was sent together with it."""
    world = next(each for each, _ in found((State.BLOCKED, Trigger.NOBODY)) if each.kind is Kind.LEASE)
    assert world.engine.is_blocked
    assert not world.engine.owes_another()
    world.engine.debts.owe(repeat(cast("Any", "theirs")))
    assert world.engine.owes_another()


_REFUSED = RedisConnectionError("a replica takes no writes")


def test_a_connection_proves_nothing_to_a_client_that_was_refused() -> None:
    """It is made, and callers give up. A look proves nothing either. So Redis is not back before it has let one pop."""
    begins = (Trigger.WORK, Trigger.CONNECTS)
    for is_refusal, pops, is_back in ((True, False, False), (True, True, True), (False, False, True)):
        engine = World(Kind.POP).engine
        for trigger in (*begins, Trigger.FAILED, engine.diagnosed(_REFUSED, is_refusal=is_refusal), Trigger.DONE):
            engine.step(trigger)
        assert engine.trouble is _REFUSED
        assert not engine.shows(Trigger.IDLES)
        for trigger in (Trigger.CONNECTS, Trigger.DONE, Trigger.LOOKS):
            engine.step(trigger)
        engine.looked(Look(cast("Any", "look"), 0, NOTHING))
        assert engine.next_command(0.0, has_returns=False) is (Trigger.HURRIED if is_refusal else Trigger.MISSED)
        if pops:
            engine.step(Trigger.HURRIED)
            engine.step(Trigger.ANSWERED)
        engine.step(Trigger.MISSED)
        assert engine.shows(Trigger.IDLES) is (is_back and not pops)
        engine.step(Trigger.IDLES)
        assert engine.trouble is (None if is_back else _REFUSED)


def test_a_pumper_that_stays_keeps_what_its_connection_shows() -> None:
    """A look at many sources has failed for this one, and nobody came for long. A caller comes as the pumper leaves."""
    world = World(Kind.POP)
    world.happen(("comes", math.inf))
    while world.to_do != (Do.LOOK,):
        world.happen(("pumps", "goes well"))
    world.happen(("leaves", 0))
    while world.to_do != (Do.WAIT,):
        world.happen(("pumps", "goes well"))
    # Other sources have values, so nobody wakes this pump.
    world.engine.met(AWAY, is_connected=world.connected)
    world.happen(("pumps", "lingers"))
    assert (world.engine.state, world.engine.contact) == (State.LINGERED, Contact.BACK)
    world.happen(("pumps", "somebody slips in"))
    assert (world.engine.state, world.engine.contact) == (State.CHOOSING, Contact.BACK)
    assert world.connected


def test_a_stand_in_that_hands_over_has_not_shown_that_redis_is_back() -> None:
    """It leaves a connection that nobody needs. So it seems, until its bell rings."""
    for bell, contact in ((None, Contact.WELL), (Trigger.HANDS_OVER, Contact.BACK)):
        engine = STARTS["in trouble"](Kind.LEASE).engine
        assert engine.stand_in(is_connected=True)
        engine.step(Trigger.LEAVES, lambda bell=bell: bell)  # type: ignore[misc]
        assert engine.contact is contact
        assert engine.has_answered is (contact is Contact.WELL)


def test_a_caller_whose_look_has_failed_is_told_nothing_before_the_next() -> None:
    """The stand-in's look fails, and the time of another caller is over. The next look is for that one too."""
    world = STARTS["standing in"](Kind.LEASE)
    world.happen(("is over", 1))
    world.happen(("pumps", "is cut before"))
    while world.to_do != (Do.LOOK,):
        world.happen(("pumps", "goes well"))
    assert world.callers[1] == "waits"


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.name)
def test_everything_comes_to_an_end(kind: Kind) -> None:
    """Callers come, the connection is cut, everybody leaves: each value is given or ready, and nobody pumps."""
    world = World(kind, values=3, callers=3, mishaps=0)
    for event in (("comes", world.now + 10.0), ("push", None), ("push", None), ("push", None), ("closes", None)):
        world.happen(event)
        while (own := next(world.own_events(), None)) is not None and own != ("pumps", "lingers"):
            world.happen(own)
    assert world.engine.state is State.RESTING
    assert sorted((*world.given, *world.ready)) == [0, 1, 2]
    assert not world.connected
