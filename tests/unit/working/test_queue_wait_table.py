"""The wait of a worker for one queue of many: walked through every sequence of answers, wishes and pauses."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable
from typing import Any

import pytest

from redisson_dq.working import queue_wait_table
from redisson_dq.working.queue_wait_table import Do, QueueWaitTable, State, Trigger
from tests.unit.working.walking import Move, closure, unnoticed


class Surroundings:
    """A line that a waiter stands in or not, and a fetcher that looks at the queue when its turn comes."""

    def __init__(self, *, is_stocked: bool) -> None:
        self.table = QueueWaitTable(is_stocked=is_stocked)
        self.in_line = self.is_asked_out = False
        self.pauses = False
        self.is_forgotten = self.asked_to_end = False
        # Whether values may be ready, so that no waiter enters before a look.
        self.is_stocked = is_stocked

    def __deepcopy__(self, memo: dict[int, Any]) -> Surroundings:
        made = copy.copy(self)
        made.table = copy.copy(self.table)
        return made

    def situation(self) -> Hashable:
        return (*(value for name, value in vars(self).items() if name != "table"), self.table.state)

    def moves(self) -> Iterable[Move]:
        if self.is_forgotten:
            return
        if not self.asked_to_end:
            yield ("end",)
            # Values that are wanted change nothing for a waiter that stands in line.
            if not self.in_line or self.is_asked_out:
                yield ("wanted",)
            else:
                yield ("fewer",)
        if self.in_line:
            if not self.asked_to_end:
                yield "answered", Trigger.TOOK
                yield "answered", Trigger.MORE
            # Values that are not wanted any more go back, and are there again.
            yield "answered", Trigger.UNWANTED
            yield "answered", Trigger.MISSED
            yield "answered", Trigger.FAILED
        elif self.is_stocked and not self.pauses:
            yield "looked", Trigger.TOOK
            yield "looked", Trigger.MORE
            yield "looked", Trigger.MISSED
            yield "looked", Trigger.FAILED
        if self.pauses:
            yield ("over",)

    def play(self, move: Move) -> None:
        kind = move[0]
        if kind == "end":
            did = self.table.happened(Trigger.END)
            self.asked_to_end = True
        elif kind in ("wanted", "fewer"):
            did = self.table.happened(Trigger[kind.upper()])
        elif kind == "over":
            self.pauses = False
            did = self.table.happened(Trigger.OVER)
        else:
            self.in_line = self.is_asked_out = False
            self.is_stocked = move[1] in (Trigger.MORE, Trigger.UNWANTED)
            did = self.table.happened(move[1])
        for do in did:
            if do is Do.ENTER:
                assert not self.in_line, "one waiter for a queue"
                assert self.expected() is State.RESTING
                self.in_line = True
            elif do is Do.WITHDRAW:
                assert self.in_line
                assert not self.is_asked_out, "a waiter is asked out once"
                self.is_asked_out = True
            elif do is Do.PAUSE:
                assert move[1:] == (Trigger.FAILED,)
                self.pauses = True
            else:
                assert self.asked_to_end
                self.is_forgotten, self.pauses = True, False
        assert Do.PAUSE in did or move[1:] != (Trigger.FAILED,) or self.asked_to_end
        self.check(kind)

    def check(self, kind: str) -> None:
        assert self.table.ends is self.asked_to_end
        assert self.is_forgotten is (self.asked_to_end and not self.in_line), "the end waits for the answer alone"
        assert self.table.state is self.expected()
        if self.in_line and (kind == "fewer" or self.asked_to_end):
            assert self.is_asked_out
        if kind == "wanted" and not (self.asked_to_end or self.is_stocked or self.pauses):
            assert self.in_line, "wanted values are waited for"

    def expected(self) -> State:
        if self.asked_to_end:
            return State.PARTING if self.in_line else State.GONE
        if self.in_line:
            return State.LEAVING if self.is_asked_out else State.WAITING
        if self.pauses:
            return State.PAUSING
        return State.STOCKED if self.is_stocked else State.RESTING


@pytest.mark.parametrize("is_stocked", [False, True])
def test_a_waiter_stands_in_line_while_values_are_wanted_and_none_is_known_to_be_ready(is_stocked: bool) -> None:
    assert closure(Surroundings(is_stocked=is_stocked)) >= len(State)


def test_a_row_that_is_broken_is_noticed() -> None:
    assert unnoticed(queue_wait_table, (Surroundings(is_stocked=False), Surroundings(is_stocked=True))) == []
