"""The end of a handling, whatever happens in whatever order: walked through every sequence of triggers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from redisson_dq.working import handling_table
from redisson_dq.working.handling_table import Do, HandlingAction, HandlingTable, Trigger
from tests.conftest import as_many
from tests.unit.working.walking import Move, closure, unnoticed


class Surroundings:
    """A handler, a thread that concludes, a watch for the time, leases, and a worker that may stop."""

    def __init__(self, count: int) -> None:
        self.table = HandlingTable(count)
        self.count = count
        self.handler_runs = True
        # The place of the value that the conclusion is at, and whether on_failed runs for it.
        self.place: int | None = None
        self.calls = False
        self.expired = self.stopped = False
        self.lost: set[int] = set()
        # How often each value was settled, and those that were left to their deadline.
        self.settled: Counter[int] = Counter()
        self.left: set[int] = set()
        self.did: Counter[Do] = Counter()
        # Whether the end that counts is made known to the handler.
        self.is_void = False

    def situation(self) -> Hashable:
        table = self.table
        return (
            table.state,
            frozenset(table.unsettled),
            self.handler_runs,
            self.place,
            self.calls,
            self.expired,
            self.stopped,
            frozenset(self.lost),
            frozenset(self.settled.items()),
            frozenset(self.left),
            frozenset(self.did.items()),
            self.is_void,
        )

    # -- what may happen next ----------------------------------------------------------------------------------------

    def moves(self) -> Iterable[Move]:
        if self.handler_runs:
            yield (Trigger.RETURNED,)
            yield (Trigger.CANCELLED,)
        if not self.expired:
            yield (Trigger.EXPIRED,)
        yield (Trigger.STOPPED,)
        for place in set(range(self.count)) - self.lost:
            yield Trigger.LAST_LEASE_LOST, place
        if self.place is None:
            return
        yield (Trigger.BROKEN_OFF,)
        if self.calls:
            yield Trigger.ON_FAILED_RETURNED, self.place
            yield Trigger.ON_FAILED_RAISED, self.place
        elif self.place < self.count:
            # The value is acked, is delivered again, or belongs to another consumer by now.
            yield "settle", self.place
            yield Trigger.GIVEN_UP, self.place
        else:
            yield (Trigger.CONCLUDED,)

    def play(self, move: Move) -> None:
        trigger, place = move[0], move[1] if len(move) > 1 else 0
        if trigger == "settle":
            if self.table.settles(place):
                self.settle(place)
            self.place = place + 1
            self.check()
            return
        before = (self.handler_runs and not self.is_void, self.calls, self.did[Do.FORGET], self.stopped)
        actions = self.table.lost(place) if trigger is Trigger.LAST_LEASE_LOST else self.table.happened(trigger, place)
        self.surroundings_change(trigger, place)
        for action in actions:
            self.carry_out(action)
        self.expect(trigger, place, {action.do: action.places for action in actions}, *before)
        self.check()

    def surroundings_change(self, trigger: Trigger, place: int) -> None:
        if trigger in (Trigger.RETURNED, Trigger.CANCELLED):
            self.handler_runs = False
        elif trigger is Trigger.EXPIRED:
            self.expired = True
        elif trigger is Trigger.STOPPED:
            self.stopped = True
        elif trigger is Trigger.LAST_LEASE_LOST:
            self.lost.add(place)
        elif trigger in (Trigger.CONCLUDED, Trigger.BROKEN_OFF):
            self.place, self.calls = None, False
        elif trigger in (Trigger.ON_FAILED_RETURNED, Trigger.ON_FAILED_RAISED):
            self.place, self.calls = place + 1, False
        elif trigger is Trigger.GIVEN_UP:
            self.place = place + 1

    def carry_out(self, action: HandlingAction) -> None:
        self.did[action.do] += action.do not in (Do.HAND_BACK, Do.CALL, Do.BURY, Do.LET_EXPIRE, Do.VOID)
        if action.do in (Do.CONCLUDE, Do.CONCLUDE_APART):
            self.place = 0
        elif action.do is Do.CANCEL:
            self.is_void = True
        elif action.do is Do.CALL:
            (self.place,) = action.places
            self.calls = True
        elif action.do is Do.HAND_BACK:
            for place in action.places:
                self.settle(place)
        elif action.do is Do.BURY:
            (place,) = action.places
            assert self.table.settles(place), "a value that is settled is buried"
            self.settle(place)
        elif action.do is Do.LET_EXPIRE:
            self.left.update(action.places)

    def settle(self, place: int) -> None:
        self.settled[place] += 1

    # -- what has to be true -----------------------------------------------------------------------------------------

    def expect(
        self,
        trigger: Trigger,
        place: int,
        did: dict[Do, Any],
        counts: bool,
        calls: bool,
        forgotten: int,
        was_stopped: bool,
    ) -> None:
        """What this trigger has to lead to. ``counts``: the handler runs, and nothing has ended the handling."""
        everything = tuple(range(self.count))
        if forgotten:
            assert not did, "something is done for a handling that was forgotten"
            return
        ends = counts and (trigger in (Trigger.EXPIRED, Trigger.STOPPED) or len(self.lost) == self.count)
        if trigger is Trigger.LAST_LEASE_LOST:
            assert (Do.VOID in did) is (counts and not ends)
            assert did.get(Do.VOID, (place,)) == (place,)
        interrupts = trigger is Trigger.STOPPED and (calls or self.table_was_late)
        assert (Do.CANCEL in did) is bool(ends or interrupts), "user code is cancelled when it counts no more"
        assert (Do.TELL_LATE in did) is (ends and trigger is Trigger.EXPIRED)
        assert (Do.TELL_LOST in did) is (ends and trigger is Trigger.LAST_LEASE_LOST)
        assert (Do.CONCLUDE in did) is (counts and trigger is Trigger.RETURNED)
        assert (Do.CONCLUDE_APART in did) is (ends and trigger is Trigger.EXPIRED)
        if trigger is Trigger.GIVEN_UP:
            assert (Do.CALL in did) is not self.stopped, "on_failed is called, and never after a stop"
            assert (Do.HAND_BACK in did) is self.stopped
        assert (Do.BURY in did) is (trigger is Trigger.ON_FAILED_RETURNED)
        assert (Do.LET_EXPIRE in did) is (trigger is Trigger.ON_FAILED_RAISED)
        assert did.get(Do.BURY, (place,)) == did.get(Do.LET_EXPIRE, (place,)) == (place,)
        if trigger is Trigger.STOPPED and (counts or interrupts or was_stopped):
            assert set(self.settled) == set(everything), "a stop hands everything back that user code holds"
            assert Do.FORGET in did
        elif trigger is Trigger.STOPPED:
            assert not did, "outcomes that are decided have a little time more"
        if trigger in (Trigger.CONCLUDED, Trigger.BROKEN_OFF) or (counts and trigger is Trigger.CANCELLED):
            assert Do.FORGET in did, "what has ended is forgotten"
        if ends and trigger is Trigger.LAST_LEASE_LOST:
            assert Do.FORGET in did
            assert not self.settled, "what is lost is not settled here"
        if ends and trigger is Trigger.EXPIRED:
            assert Do.FREE in did, "a handler that may never return holds no slot"
            self.table_was_late = self.is_late = True
        if Do.FORGET in did:
            self.table_was_late = False

    #: Whether a conclusion without a slot goes on.
    table_was_late = False
    #: Whether the time ended the handling.
    is_late = False

    def check(self) -> None:
        assert all(count == 1 for count in self.settled.values()), "a value was settled twice"
        for do in (Do.FREE, Do.FORGET, Do.CONCLUDE, Do.CONCLUDE_APART):
            assert self.did[do] <= 1, f"{do.value}: twice"
        assert self.did[Do.CONCLUDE] + self.did[Do.CONCLUDE_APART] <= 1
        assert self.did[Do.FORGET] <= self.did[Do.FREE], "it is forgotten with its slot"
        assert self.table.holds_slot is not bool(self.did[Do.FREE])
        assert self.table.is_late is self.is_late, "the time that was over stands"
        goes_on = (self.handler_runs and not self.is_void) or (self.place is not None and not self.did[Do.FORGET])
        assert goes_on is not bool(self.did[Do.FORGET]), "it is forgotten when nothing goes on for it, and not before"
        if self.did[Do.CONCLUDE] and self.place is None and self.did[Do.FORGET] and not self.stopped:
            assert self.did[Do.FREE]


STARTS = (Surroundings(1), Surroundings(2))


@pytest.mark.parametrize("count", [1, 2])
def test_a_slot_is_freed_once_and_a_value_settled_once_whatever_happens(count: int) -> None:
    assert closure(Surroundings(count)) > 100


@pytest.mark.nightly
def test_a_batch_of_three_in_every_order() -> None:
    assert closure(Surroundings(3)) > 1000


def test_a_row_that_is_broken_is_noticed() -> None:
    assert unnoticed(handling_table, STARTS) == []


class AnyBatch(RuleBasedStateMachine):
    """Larger batches, by chance."""

    @initialize(count=st.integers(1, 8))
    def begin(self, count: int) -> None:
        self.surroundings = Surroundings(count)

    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        self.surroundings.play(data.draw(st.sampled_from(list(self.surroundings.moves()))))


TestAnyBatch = AnyBatch.TestCase
TestAnyBatch.settings = settings(max_examples=as_many(40, 100), stateful_step_count=40, deadline=None)


# -- one by one ------------------------------------------------------------------------------------------------------


def done(actions: tuple[HandlingAction, ...]) -> list[Do]:
    return [action.do for action in actions]


def test_the_outcome_of_a_handler_that_returns_in_time_counts() -> None:
    table = HandlingTable(1)
    assert done(table.happened(Trigger.RETURNED)) == [Do.CONCLUDE]
    assert table.holds_slot
    assert done(table.happened(Trigger.EXPIRED)) == []
    assert table.settles(0)
    assert done(table.happened(Trigger.CONCLUDED)) == [Do.FREE, Do.FORGET]


def test_a_handler_whose_time_is_over_holds_no_slot_and_its_outcome_does_not_count() -> None:
    table = HandlingTable(1)
    assert done(table.happened(Trigger.EXPIRED)) == [Do.CANCEL, Do.TELL_LATE, Do.CONCLUDE_APART, Do.FREE]
    assert not table.holds_slot
    assert done(table.happened(Trigger.RETURNED)) == []
    assert table.settles(0)
    assert not table.settles(0)
    assert done(table.happened(Trigger.CONCLUDED)) == [Do.FORGET]
    assert table.is_late


def test_a_batch_goes_on_until_its_last_lease_is_lost() -> None:
    table = HandlingTable(2)
    assert table.lost(1) == (HandlingAction(Do.VOID, (1,)),)
    assert done(table.lost(0)) == [Do.CANCEL, Do.TELL_LOST, Do.FREE, Do.FORGET]


def test_a_stop_hands_back_what_on_failed_holds_and_what_comes_behind_it() -> None:
    table = HandlingTable(3)
    table.happened(Trigger.RETURNED)
    assert table.settles(0)
    assert table.happened(Trigger.GIVEN_UP, 1) == (HandlingAction(Do.CALL, (1,)),)
    assert HandlingAction(Do.HAND_BACK, (1, 2)) in table.happened(Trigger.STOPPED)
    assert done(table.happened(Trigger.ON_FAILED_RETURNED, 1)) == []


def test_a_stop_between_two_values_calls_on_failed_for_none() -> None:
    table = HandlingTable(2)
    table.happened(Trigger.RETURNED)
    assert table.happened(Trigger.STOPPED) == ()
    assert table.happened(Trigger.GIVEN_UP, 0) == (HandlingAction(Do.HAND_BACK, (0,)),)
    assert table.settles(1)
    assert done(table.happened(Trigger.CONCLUDED)) == [Do.FREE, Do.FORGET]
