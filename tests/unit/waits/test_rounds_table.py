"""The rounds of a receiver of several sources: walked through everything that callers, pops and the bell can do."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable

from redisson_dq.waits import rounds_table
from redisson_dq.waits.rounds_table import Do, RoundsTable, State, Trigger
from tests.unit.working.walking import Move, closure, unnoticed

_NOTHING = "nothing is under way"


class Surroundings:
    """Callers, a bell, and the pops of all sources as one: they are blocked, or each source is free."""

    def __init__(self) -> None:
        self.table = RoundsTable()
        # Callers in line, and those that may still come.
        self.waiting, self.coming = 0, 2
        # Callers in the inbox, and whether the bell rang. One caller may look just now whether anybody runs.
        self.inbox, self.rings, self.looks_round = 0, False, False
        self.blocked = self.closed = False
        # Whether nobody has rung for a moment, and the background task has not waited since.
        self.lingers = False
        # Whether the time of a caller was over during the look. The look may still find a value for it.
        self.expired = 0
        self.work: Do | str | None = None

    def __deepcopy__(self, memo: dict[int, object]) -> Surroundings:
        made = copy.copy(self)
        made.table = copy.copy(self.table)
        return made

    def situation(self) -> Hashable:
        return (*(value for name, value in vars(self).items() if name != "table"), self.table.state)

    # -- what may happen next ----------------------------------------------------------------------------------------

    def moves(self) -> Iterable[Move]:
        if self.coming and not self.looks_round:
            yield ("comes",)
        if self.looks_round:
            yield ("looks round",)
        if self.waiting:
            yield ("leaves",)
        if self.blocked and self.waiting:
            yield ("is served by a pop",)
        if self.table.is_looking and not self.expired:
            yield ("expires",)
        if self.blocked:
            yield ("a pop ends",)
        yield ("is gone",)
        # Two callers may close it.
        yield ("closes",)
        if self.work == _NOTHING:
            yield "chooses", False
            if self.coming and not self.looks_round:
                yield "chooses", True
        elif self.work is Do.LOOK:
            yield "looked", True
            yield "looked", False
        elif self.work is not None:
            if self.inbox or self.rings:
                yield ("hears",)
            elif self.work is Do.STAY:
                yield ("lingers",)

    def play(self, move: Move) -> None:
        getattr(self, f"_{move[0].replace(' ', '_')}")(*move[1:])
        self.check()

    def _comes(self) -> None:
        self.coming -= 1
        self.inbox += 1
        self.looks_round = True

    def _looks_round(self) -> None:
        self.looks_round = False
        if not self.table.is_running:
            self._tell(Trigger.WORK)

    def _leaves(self) -> None:
        self._admit()
        self.waiting -= 1
        self._tell(Trigger.WORK)

    def _is_gone(self) -> None:
        """A caller that had its answer."""
        self._admit()
        self._tell(Trigger.WORK)

    def _expires(self) -> None:
        self.expired = 1

    def _is_served_by_a_pop(self) -> None:
        """Its pump goes on for those who still wait. A notice in the inbox tells of the values."""
        self.waiting, self.rings = self.waiting - 1, True
        self.blocked = self.waiting > 0

    def _a_pop_ends(self) -> None:
        """It broke, or it was answered with nothing. Its pump goes on for those who wait."""
        self.blocked = self.waiting > 0

    def _closes(self) -> None:
        self._admit()
        self.closed, self.blocked, self.waiting = True, False, 0
        self._tell(Trigger.CLOSED)

    # -- the background task -----------------------------------------------------------------------------------------

    def _admit(self) -> None:
        if not self.closed:
            self.waiting += self.inbox
        self.inbox, self.rings = 0, False

    def _chooses(self, slips_in: bool) -> None:
        """A caller may slip in behind the look at the inbox, as callers need no mutex."""
        self._admit()
        is_unserved = self.waiting > 0 and not self.blocked
        self._tell(self.table.choice(is_unserved=is_unserved, anyone=bool(self.waiting), closed=self.closed))
        if self.lingers and not self.waiting:
            assert self.work is Do.LEAVE, "it stays for ever"
        self.lingers = False
        if slips_in:
            self._comes()
        if self.work is Do.LEAVE:
            self.work = None
            if self.inbox or self.rings:
                self._tell(Trigger.HEARS_BELL)

    def _looked(self, found: bool) -> None:
        self._admit()
        if found and self.waiting:
            self.waiting -= 1
        self._tell(Trigger.FOUND if found else Trigger.MISSED)
        assert found or self.blocked or not self.waiting, "it looks for ever, and no pop blocks"

    def _hears(self) -> None:
        self._admit()
        self._tell(Trigger.RANG)

    def _lingers(self) -> None:
        self.lingers = True
        self._tell(Trigger.LINGERED)

    def _tell(self, trigger: Trigger) -> None:
        before = self.table.state
        outcome = trigger in (Trigger.FOUND, Trigger.MISSED, Trigger.RANG, Trigger.LINGERED, Trigger.HEARS_BELL)
        if outcome:
            self.work = _NOTHING
        for do in self.table.happened(trigger):
            if do is Do.START:
                assert self.work is None, "two background tasks"
                self.work = _NOTHING
            elif do is Do.RING:
                self.rings = True
            elif do is Do.BLOCK:
                self.blocked = self.waiting > 0
            elif do is Do.ANSWER:
                self.expired = 0
            elif do is Do.END_POPS:
                assert not self.waiting, "a pop ends that somebody waits at"
                assert self.lingers, "pops do not stay for callers who come back"
                self.blocked = False
            else:
                assert before in (State.CHOOSING, State.LINGERED)
                self.work = do

    # -- what has to be true -----------------------------------------------------------------------------------------

    def check(self) -> None:
        state, work = self.table.state, self.work
        assert self.table.is_running is (work is not None)
        assert self.table.is_looking is (work is Do.LOOK)
        assert (state in (State.CHOOSING, State.LINGERED)) is (work == _NOTHING)
        assert (state is State.IDLE) is (work is Do.WAIT)
        assert (state is State.STAYING) is (work is Do.STAY)
        if work is None:
            assert not self.waiting, "somebody waits, and nobody looks"
            assert not self.inbox or self.looks_round, "somebody comes, and nobody hears it"
            assert not self.blocked, "pops stay blocked for nobody"
        if work in (Do.WAIT, Do.STAY) and not (self.inbox or self.rings or self.looks_round):
            assert not self.closed, "it waits, and nobody comes any more"
            assert self.blocked or not self.waiting, "somebody waits, and no pop is blocked"
            assert self.waiting or work is Do.STAY, "it waits for ever, and nobody waits"
        assert not self.expired or self.table.is_looking, "the time of a caller is over, and nobody tells it"
        if work is Do.STAY and not (self.inbox or self.rings):
            assert not self.waiting, "it would leave, and somebody waits"


def test_somebody_looks_or_pops_as_long_as_a_caller_waits() -> None:
    assert closure(Surroundings()) > 100


def test_a_row_that_is_broken_is_noticed() -> None:
    # Once it is closed the background task leaves, from either state.
    harmless = ["CHOOSING CLOSED leads to LINGERED", "LINGERED CLOSED leads to CHOOSING"]
    assert unnoticed(rounds_table, (Surroundings(),)) == harmless
