"""A caller that comes while the pumper gives its bell up, between two looks at the inbox. No server is asked."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import redis

from redisson_dq import Client
from redisson_dq._concurrency import Inbox, Promise
from redisson_dq._sync.receiving.actions import Actions
from redisson_dq._sync.receiving.put_backs import PutBacks
from redisson_dq.waiting.debts import Debts
from redisson_dq.waiting.in_hand import EMPTY
from redisson_dq.waiting.line import Line, Waiter
from redisson_dq.waiting.pop_engine import PopEngine
from redisson_dq.waiting.pop_table import Do, Trigger
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
