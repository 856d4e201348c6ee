"""A request whose reply was lost is owed until Redis has answered it, or refuses it for good. No server is asked."""

from __future__ import annotations

import asyncio
import math
from types import SimpleNamespace
from typing import Any

import pytest
from redis.exceptions import ReadOnlyError, ResponseError

from redisson_dq._async.receiving.put_backs import PutBacks as AsyncPutBacks
from redisson_dq._concurrency import Inbox, Mutex, Promise
from redisson_dq._redis import is_passing, translate
from redisson_dq._sync.receiving.looks import Looks
from redisson_dq._sync.receiving.put_backs import PutBacks
from redisson_dq.errors import RedisConnectionError, RedisReplyError
from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.engine import WaitEngine
from redisson_dq.waits.line import Lifeline, Line, Waiter
from redisson_dq.waits.steps import Ask, StepRefused
from redisson_dq.wire.blocking import Pop
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import DeadKeys, LeaseKeys, QueueKeys
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.taken import Taken

ORDERS = QueueKeys.of("orders")
SOURCE = LeaseSource(
    lease_keys=LeaseKeys(queue=ORDERS, dead=DeadKeys.belonging_to(ORDERS.ready)),
    envelope=Envelope.CURRENT,
    visible_us=30_000_000,
    limit=0,
)
PASSING = ReadOnlyError("READONLY You can't write against a read only replica.")
LASTING = ResponseError("ERR no such command")
OUTCOMES = pytest.mark.parametrize(("error", "is_owed"), [(PASSING, True), (LASTING, False)], ids=["passes", "lasts"])


def refusing(error: Exception) -> Any:
    def run(*args: Any, **options: Any) -> Any:
        raise error

    return run


def our(error: ResponseError) -> Exception:
    """The error that a call raises for this one of Redis."""
    made = translate(error, "queue 'orders'", sent=True)
    made.__cause__ = error
    return made


@pytest.fixture
def line() -> Line:
    return Line("orders", Inbox(SYSTEM), Mutex())


@OUTCOMES
@pytest.mark.parametrize("is_repeated", [True, False])
def test_an_engine(line: Line, error: ResponseError, is_owed: bool, is_repeated: bool) -> None:
    """A request that was not sent before has taken nothing when it is refused."""
    connections: Any = SimpleNamespace(clock=SYSTEM)
    backs = PutBacks(connections, SOURCE, line)
    engine = WaitEngine(line, SOURCE, Debts(), backs, line.inbox, SYSTEM.monotonic)
    engine.connection = SimpleNamespace(is_over=False)
    if is_repeated:
        request = SOURCE.look(1)
        engine.debts.owe(request)
    else:
        line.inbox.put(Waiter(1, math.inf, Promise(SYSTEM), lambda notice: None))
    steps = engine.run()
    asked = next(steps)
    assert isinstance(asked, Ask)
    assert engine.debts.requests == [asked.request]
    steps.throw(StepRefused(error, passes=is_passing(error)))
    assert (asked.request in engine.debts.requests) is (is_owed and is_repeated)


@OUTCOMES
def test_a_receiver_that_was_closed(line: Line, error: ResponseError, is_owed: bool) -> None:
    connections: Any = SimpleNamespace(clock=SYSTEM, run=refusing(our(error)))
    backs, debts = PutBacks(connections, SOURCE, line), Debts()
    request = SOURCE.look(1)
    assert request is not None
    debts.owe(request)
    assert (backs.repeat(debts) is None) is is_owed
    assert (request in debts.requests) is is_owed


def test_what_follows_a_take_is_owed_when_its_connection_is_cancelled(line: Line) -> None:
    """The end of a loop cancels a connection that is being made. The room for one value would be missing forever."""

    async def cancelled(request: Any) -> None:
        raise asyncio.CancelledError

    connections: Any = SimpleNamespace(clock=SYSTEM, run=cancelled)
    source = Pop((ORDERS.ready,), "first", ORDERS)
    backs = AsyncPutBacks(connections, source, line)
    after = source.after([Taken(key=ORDERS.ready, data=b"a")], {})
    assert after is not None
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(backs.follow(after))
    assert backs.unsure == [after]


@OUTCOMES
def test_a_look_that_is_sent_again(line: Line, error: ResponseError, is_owed: bool) -> None:
    """The first one may have been carried out, so the receiver asks again when the second one is refused."""
    tries = iter([RedisConnectionError("lost", maybe_done=True), our(error)])
    notices: Inbox[Any] = Inbox(SYSTEM)

    def run(*args: Any, **options: Any) -> Any:
        raise next(tries)

    connections: Any = SimpleNamespace(clock=SYSTEM, run=run)
    looks = Looks(connections, notices, line, [SOURCE])
    lifeline = Lifeline()
    with pytest.raises((RedisReplyError, RedisConnectionError)) as raised:
        looks.look(1, lifeline, 0)
    assert vars(raised.value)["maybe_done"]
    waiter = notices.get()
    assert waiter.is_leaving
    assert waiter.request is not None
