"""A caller that comes late: while the pumper gives its bell up, or the line is closed. No server is asked."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest
import redis

from redisson_dq import Client
from redisson_dq._concurrency import Inbox, Promise
from redisson_dq._sync.receiving.actions import Actions
from redisson_dq._sync.receiving.put_backs import PutBacks
from redisson_dq._sync.receiving.receiver import Receiver
from redisson_dq.errors import ClosedError
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.in_hand import EMPTY
from redisson_dq.waits.line import Lifeline, Line, Waiter
from redisson_dq.waits.pop_engine import PopEngine
from redisson_dq.waits.pop_table import Do, Trigger
from redisson_dq.wire.blocking import Pop


class Silent(Inbox[Any]):
    """An inbox that never rings, and is still empty whenever its size is asked for."""

    @property
    def count(self) -> int:
        return 0

    def next(self, timeout: float | None) -> Any:
        return None


def test_the_pumper_stays_for_a_caller_that_came_when_the_bell_had_not_rung_for_long() -> None:
    connections = Client(redis.Redis()).runtime.connections
    bell, source = Silent(connections.clock), Pop(("orders",), "first")
    line = Line("orders", bell, contextlib.nullcontext())
    engine = PopEngine(line, source, Debts())
    actions = Actions(connections, engine, PutBacks(connections, source, line, lambda values: None), bell)
    waiter = Waiter(1, math.inf, Promise(connections.clock), lambda notice: None)
    engine.step(Trigger.WORK)
    engine.step(Trigger.IDLES)
    trigger, _ = actions.of[Do.WAIT](EMPTY)
    engine.step(trigger)
    bell.put(waiter)
    assert actions.choose(is_answered=False) is Trigger.CONNECTS
    line.withdraw(waiter)
    engine.step(Trigger.IDLES)
    trigger, _ = actions.of[Do.WAIT](EMPTY)
    engine.step(trigger)
    assert actions.choose(is_answered=False) is Trigger.RETIRES


class Answers:
    """The place for one answer, which notes each that comes."""

    def __init__(self) -> None:
        self.came: list[Any] = []

    @property
    def filled(self) -> bool:
        return bool(self.came)

    @property
    def value(self) -> Any:
        return self.came[-1]

    def fill(self, value: Any) -> None:
        self.came.append(value)


@pytest.mark.parametrize("closes_first", [True, False])
def test_a_waiter_that_enters_a_line_that_closes_is_answered_once(
    closes_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fetcher of many queues would read a second answer as one to its next waiter."""
    connections = Client(redis.Redis()).runtime.connections
    notices: Inbox[Any] = Inbox(connections.clock)
    receiver = Receiver(connections, notices, [Pop(("orders",), "first")])
    put, lifeline, answers = receiver.line.inbox.put, Lifeline(), Answers()

    def put_and_close(waiter: Any) -> None:
        put(waiter)
        receiver.shut()

    if closes_first:
        receiver.shut()
    else:
        monkeypatch.setattr(receiver.line.inbox, "put", put_and_close)
    receiver.enter(1, lifeline, answers)
    lifeline.let_go()
    while (notice := notices.poll()) is not None:
        receiver.gone(notice) if isinstance(notice, Waiter) else notice()
    assert [type(answer) for answer in answers.came] == [ClosedError]
