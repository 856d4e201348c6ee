"""How a worker receives next: walked through every sequence of rounds, acks and changes."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from redisson_dq.working import fetch_table
from redisson_dq.working.fetch_plan import PAUSES, FetchAction, FetchPlan
from redisson_dq.working.fetch_table import COUNTS, STANDINGS, Do, State, Trigger
from tests.conftest import as_many
from tests.unit.working.walking import Move, closure, unnoticed

#: What takes time. The driver does one of them at a time.
STEPS = {Do.SLEEP, Do.JOIN, Do.WAIT, Do.PAUSE}


class Surroundings:
    """One that receives in rounds, handlers that ack meanwhile, and changes."""

    def __init__(self, most: int = 2) -> None:
        self.plan = FetchPlan()
        self.most = most
        self.now = 100.0
        # The step that is under way, "turned" at the beginning of a round, and None between two rounds.
        self.step: Do | str | None = None
        self.gone = self.asked_to_end = False
        # Whether a change has come since the beginning of the round, and whether the last round has failed.
        self.is_stale = self.has_failed = False
        # Whether receives may carry acks.
        self.joins = False
        # Whether a sleeping receiver goes on, and whether its wait was ended.
        self.is_awake = self.is_withdrawn = False
        # Whether a change came since it sleeps or pauses.
        self.is_told = False
        # Whether values that came are being handed over.
        self.hands_over = False
        self.acks = 0
        # Acks that are on their way in the call, and how often each was sent.
        self.carried: list[int] = []
        self.sent: Counter[int] = Counter()

        # Whether more values stood behind those that came last, so that the next call carries acks.
        self.carries = False

    def __deepcopy__(self, memo: dict[int, Any]) -> Surroundings:
        made = copy.copy(self)
        made.plan, made.carried, made.sent = copy.copy(self.plan), list(self.carried), Counter(self.sent)
        made.plan.collected = list(self.plan.collected)
        return made

    def situation(self) -> Hashable:
        plan = self.plan
        return (
            plan.state,
            self.is_stale,
            self.has_failed,
            plan.joins_from > self.now,
            self.step,
            self.gone,
            self.asked_to_end,
            self.joins,
            self.is_awake,
            self.is_withdrawn,
            self.is_told,
            self.hands_over,
            self.carries,
            self.acks,
            tuple(self.carried),
            tuple(plan.collected),
            frozenset(self.sent.items()),
        )

    # -- what may happen next ----------------------------------------------------------------------------------------

    def moves(self) -> Iterable[Move]:
        if not self.gone:
            yield from self.rounds()
            yield ("gone",)
        # Another one may begin the round, and end it, before that is told.
        yield ("short",)
        if self.acks < self.most:
            yield ("ack",)
        yield ("freed",)
        yield "joins", True
        yield "joins", False
        yield ("recount",)
        yield ("end",)

    def rounds(self) -> Iterable[Move]:
        if self.step is None:
            if not self.plan.ends:
                yield ("turn",)
            if self.hands_over:
                # The values that came cannot be handed over.
                yield ("failed",)
        elif self.step == "turned":
            yield "begin", False
            yield "begin", True
        elif self.step is Do.SLEEP:
            if self.is_awake:
                yield ("over",)
        elif self.step is Do.PAUSE:
            yield ("over",)
        else:
            yield "took", False
            yield "took", True
            yield ("failed",)
            if self.step is not Do.WAIT:
                yield ("missed",)
            if self.step is Do.JOIN:
                yield ("declined",)
                yield ("noted",)
            if self.step is Do.WAIT:
                # By a change in this round, or at the end of the one before.
                yield ("withdrawn",)

    def play(self, move: Move) -> None:
        kind, given = move[0], move[1:]
        state, was_gone, had_ended = self.plan.state, self.gone, self.asked_to_end
        self.hands_over = kind == "took" or (self.hands_over and kind not in ("turn", "failed"))
        actions = self.made(*move)
        step = None
        for action in actions:
            if action.do is Do.WAKE:
                self.is_awake = True
            elif action.do is Do.WITHDRAW:
                assert self.step is Do.WAIT
                self.is_withdrawn = True
            elif action.do in (Do.SEND, Do.PASS_ON):
                self.sent.update(action.acks)
            elif action.do in STEPS:
                assert step is None, "two steps at a time"
                step = action.do
        self.is_told = self.is_told or kind in ("freed", "joins", "recount") or (kind == "ack" and self.carries)
        if step is not None:
            self.is_told = False
            assert self.step is None, "a step begins while another one is under way"
            self.step = step
            if step is Do.JOIN:
                self.carried = list(self.plan.carried(1))
        self.expect(kind, given, state, step, {action.do for action in actions}, was_gone, had_ended)
        self.check()

    def made(self, kind: str, *given: Any) -> tuple[FetchAction, ...]:
        plan = self.plan
        if kind == "turn":
            plan.new_round()
            self.is_stale = False
            self.step, self.is_awake, self.is_withdrawn = "turned", False, False
            return ()
        if kind == "begin":
            self.step = None
            actions = plan.counted(given[0], self.now)
            self.carries = self.carries and not given[0]
            return actions
        if kind == "ack":
            self.acks += 1
            return plan.acked(self.acks)
        if kind in ("freed", "joins", "recount", "end"):
            return self.changed(kind, *given)
        if kind == "short":
            self.carries = self.carries and plan.state is not State.COLLECTING
            return plan.happened(Trigger.SHORT)
        if kind == "gone":
            self.gone, self.step, self.carried = True, None, []
            return plan.gone()
        # What was under way is over.
        under_way, self.step = self.step, None
        if kind == "noted":
            plan.noted()
            self.sent.update(self.carried)
            self.carried, self.carries = [], False
            return plan.missed(self.now)
        if kind == "took":
            if under_way is Do.JOIN:
                plan.noted()
                self.sent.update(self.carried)
            self.carried = []
            self.carries = given[0] and self.joins and plan.joins_from <= self.now
            # Until they cannot be handed over.
            plan.went_well()
            self.has_failed = False
            return plan.took(given[0], self.now)
        self.carried = []
        if kind == "over":
            return plan.happened(Trigger.OVER)
        self.carries = False
        if kind == "declined":
            return plan.missed(self.now, declined_until=self.now + PAUSES[0])
        if kind == "missed":
            return plan.missed(self.now)
        if kind == "withdrawn":
            return plan.withdrawn()
        self.has_failed = True
        return plan.failed()

    def changed(self, kind: str, *given: Any) -> tuple[FetchAction, ...]:
        if kind == "freed":
            return self.plan.freed()
        self.is_stale = True
        if kind == "joins":
            self.joins = given[0]
            return self.plan.changed(can_join=given[0])
        if kind == "end":
            self.asked_to_end = True
            return self.plan.end()
        return self.plan.changed()

    # -- what has to be true -----------------------------------------------------------------------------------------

    def expect(
        self,
        kind: str,
        given: tuple[Any, ...],
        state: State,
        step: Do | None,
        did: set[Do],
        was_gone: bool,
        had_ended: bool,
    ) -> None:
        is_change = kind in ("freed", "joins", "recount", "end")
        if self.asked_to_end:
            assert step is None, "nothing begins after the end"
            assert self.plan.ends
        elif kind == "begin":
            joins = state is State.COLLECTING and self.joins and self.plan.joins_from <= self.now
            assert step is (Do.SLEEP if not given[0] else Do.JOIN if joins else Do.WAIT)
        elif kind in ("missed", "declined", "noted"):
            # A change in the middle of a round keeps the wait from beginning.
            assert step is (None if self.is_stale else Do.WAIT)
        elif kind == "failed":
            assert step is Do.PAUSE
        else:
            assert step is None
        if kind == "gone":
            assert Do.FINISH in did
            assert not self.plan.collected
        else:
            assert Do.FINISH not in did
        if was_gone:
            assert did <= {Do.SEND}
        if is_change and not was_gone and not had_ended:
            if self.step in (Do.SLEEP, Do.PAUSE, "turned"):
                assert self.is_awake, "a change wakes the receiver"
            if self.step is Do.WAIT and kind != "freed":
                assert self.is_withdrawn, "a change ends the wait"
        if kind == "short" and self.step is not Do.JOIN:
            assert not self.plan.collected, "acks do not wait for a thread"

    def check(self) -> None:
        plan = self.plan
        found = Counter([*self.sent.elements(), *plan.collected, *self.carried])
        assert found == Counter(range(1, self.acks + 1)), "each ack is kept, carried, or sent once"
        if plan.collected:
            assert plan.state in (State.COLLECTING, State.JOINING), "an ack waits for no value that may not come"
            # Nobody sleeps on it.
            assert self.step in (None, "turned", Do.JOIN) or self.is_awake
        assert plan.ends is (self.asked_to_end or self.gone)
        assert plan.is_stale is self.is_stale
        assert plan.has_failed is self.has_failed
        assert plan.state is self.expected()

    def expected(self) -> State:
        if self.gone:
            return State.ENDED
        if self.asked_to_end:
            return State.ENDING
        if self.step is Do.SLEEP and not self.is_told:
            return State.IDLE_COLLECTING if self.carries else State.IDLE
        if self.step is Do.PAUSE and not self.is_told:
            return State.PAUSING
        between = State.COLLECTING if self.carries else State.BETWEEN
        for step, state in ((Do.JOIN, State.JOINING), (Do.WAIT, State.WAITING)):
            if self.step is step:
                return state
        return between


def test_each_ack_is_sent_once_and_no_change_is_missed() -> None:
    assert closure(Surroundings(2)) > 500


@pytest.mark.nightly
def test_more_acks_in_every_order() -> None:
    assert closure(Surroundings(3)) > 2000


def test_a_row_that_is_broken_is_noticed() -> None:
    assert unnoticed(fetch_table, (Surroundings(1),)) == []


@pytest.mark.parametrize("row", [*COUNTS, *STANDINGS], ids=lambda row: f"{row[0].name}-{row[1].name}")
def test_a_row_of_the_smaller_tables_that_is_gone_is_noticed(row: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(COUNTS if row in COUNTS else STANDINGS, row)
    with pytest.raises(AssertionError):
        closure(Surroundings(1))


class AnyReceiver(RuleBasedStateMachine):
    """More acks, by chance."""

    @initialize()
    def begin(self) -> None:
        self.surroundings = Surroundings(1000)

    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        self.surroundings.play(data.draw(st.sampled_from(list(self.surroundings.moves()))))


TestAnyReceiver = AnyReceiver.TestCase
TestAnyReceiver.settings = settings(max_examples=as_many(40, 100), stateful_step_count=80, deadline=None)
