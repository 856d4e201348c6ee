"""Debts of lost replies: who leaves them, and who pays them when pumps change."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any, cast

from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Lifeline, Waiter
from redisson_dq.waits.steps import Do
from redisson_dq.waits.watched import State, WatchedSource

FIRST, SECOND = (cast("Any", SimpleNamespace(name=name, repeatable=True)) for name in "ab")


class Promise:
    """An answer that has not come."""

    filled = False
    value: Any = None

    def fill(self, value: Any) -> None:
        raise AssertionError("nobody is answered here")


class NobodyHere:
    """A line without waiters."""

    closed = False
    waiting = ()
    inbox = SimpleNamespace(qsize=lambda: 0)

    def broke(self) -> None:
        pass

    def unclaim(self, count: int) -> None:
        pass

    def give(self, values: list[Any]) -> list[Any]:
        return values


class Alone(WatchedSource):
    """A source whose lookout and clerk are a list."""

    def __init__(self) -> None:
        backs: Any = SimpleNamespace(surplus=[], are_left=False, add=None)
        self.works: list[Any] = []
        source: Any = SimpleNamespace(key="orders")
        lookouts: Any = SimpleNamespace(
            call=lambda source: None, carry_out=lambda source, step: self.works.append(step), gave_up=None
        )
        line: Any = NobodyHere()
        super().__init__(line, source, Debts(), backs, lambda: 0.0, lookouts, lambda: None)


def caller(request: Any, notices: list[Any]) -> tuple[Waiter, Lifeline]:
    lifeline = Lifeline()
    waiter = Waiter(1, 0.0, Promise(), notices.append, lifeline=lifeline)
    waiter.request = request
    return waiter, lifeline


def source_that_sent(request: Any) -> Alone:
    """Its request is under way."""
    source = Alone()
    source.debts.owe(request)
    source.wake()
    assert source.wants()
    source.ask(0, 0.0)
    return source


def test_a_request_that_a_caller_has_left_is_owed_at_once_and_noted_by_the_next_choice() -> None:
    debts, notices = Debts(), list[Any]()
    debts.look = True
    waiter, lifeline = caller(FIRST, notices)
    debts.leave_request(waiter)
    assert (bool(debts), debts.has_request, waiter.is_leaving, waiter.is_settled) == (True, True, True, False)
    assert debts.admit()
    assert debts.first == FIRST
    assert waiter.is_settled
    del lifeline
    gc.collect()
    assert notices == []


def test_a_caller_that_vanishes_behind_its_request_lets_it_be_sent_once() -> None:
    debts, notices = Debts(), list[Any]()
    waiter, lifeline = caller(FIRST, notices)
    debts.leave_request(waiter)
    del lifeline
    gc.collect()
    assert [notice.waiter for notice in notices] == [waiter]
    debts.admit()
    assert waiter.is_gone
    debts.paid(FIRST)
    assert not debts.admit()


def test_a_caller_that_has_gone_leaves_no_request() -> None:
    debts = Debts()
    waiter, _lifeline = caller(FIRST, [])
    waiter.is_gone = True
    debts.leave_request(waiter)
    assert not debts.admit()


def test_what_is_under_way_is_owed_again_before_all_others_when_its_reply_is_lost() -> None:
    source = source_that_sent(FIRST)
    assert not source.debts
    source.debts.owe(SECOND)
    source.lose_at(None)
    assert source.debts.requests == [FIRST, SECOND]


def test_a_reply_that_was_read_is_not_asked_for_again() -> None:
    source = source_that_sent(FIRST)
    source.commands.is_read = True
    source.lose_at(None)
    assert not source.debts


def test_the_pump_of_before_pays_nothing_and_leaves_what_it_had_under_way() -> None:
    source = source_that_sent(FIRST)
    source.is_replaced = True
    # The next pump pays this one, and must not send again what is under way here.
    source.debts.owe(SECOND)
    assert source.debts.requests == [SECOND]
    source.lose_at(None)
    assert source.debts.first == FIRST
    assert not source.wants()
    assert source.state is State.RESTING
    source.line.closed = True
    assert not source.wants()
    assert (source.state, source.works) == (State.RESTING, [])
    source.backs.are_left = True  # type: ignore[misc]
    assert not source.wants()
    assert (source.state, source.works) == (State.BUSY, [Do.PUT_BACK])
