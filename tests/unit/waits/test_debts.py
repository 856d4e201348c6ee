"""Debts of lost replies: who leaves them, and who pays them when pumps change."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any, cast

from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Farewell, Lifeline, Waiter
from redisson_dq.waits.watch_engine import WatchEngine
from redisson_dq.waits.watch_table import State, Trigger

FIRST, SECOND = (cast("Any", SimpleNamespace(name=name, repeatable=True)) for name in "ab")


class Promise:
    """An answer that has not come."""

    filled = False
    value: Any = None

    def fill(self, value: Any) -> None:
        raise AssertionError("nobody is answered here")


class NobodyHere:
    """A line in which nobody waits."""

    closed = False
    count = 0

    def broke(self) -> None:
        pass


def caller(request: Any, notices: list[Any]) -> tuple[Waiter, Lifeline]:
    lifeline = Lifeline()
    waiter = Waiter(1, 0.0, Promise(), notices.append)
    waiter.request, waiter.farewell = request, Farewell(lifeline, waiter)
    lifeline.waiter = waiter
    return waiter, lifeline


def engine_that_sent(request: Any) -> WatchEngine:
    """Its request is under way."""
    engine = WatchEngine(cast("Any", NobodyHere()), Debts())
    engine.debts.owe(request)
    engine.step(Trigger.WORK)
    assert engine.choice(has_returns=False) is Trigger.ASKS
    engine.sends(request)
    engine.step(Trigger.ASKS)
    return engine


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
    engine = engine_that_sent(FIRST)
    assert not engine.debts
    engine.debts.owe(SECOND)
    engine.step(Trigger.DISCONNECTED)
    assert engine.debts.requests == [FIRST, SECOND]


def test_a_reply_that_was_read_is_not_asked_for_again() -> None:
    engine = engine_that_sent(FIRST)
    engine.was_answered()
    engine.step(Trigger.DISCONNECTED)
    assert not engine.debts


def test_the_pump_of_before_pays_nothing_and_leaves_what_it_had_under_way() -> None:
    engine = engine_that_sent(FIRST)
    engine.is_replaced = True
    # The next pump pays this one, and must not send again what is under way here.
    engine.debts.owe(SECOND)
    assert engine.debts.requests == [SECOND]
    engine.step(Trigger.DISCONNECTED)
    assert engine.debts.first == FIRST
    assert engine.choice(has_returns=False) is Trigger.RESTS
    engine.line.closed = True
    assert engine.choice(has_returns=False) is Trigger.RESTS
    assert engine.choice(has_returns=True) is Trigger.RETURNS
    assert engine.state is State.CALLED
