"""A request whose reply was lost is owed until Redis has answered it, or refuses it for good. No server is asked."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from redis.exceptions import ReadOnlyError, ResponseError

from redisson_dq._async.receiving.put_backs import PutBacks as AsyncPutBacks
from redisson_dq._concurrency import Inbox, Mutex
from redisson_dq._redis import translate
from redisson_dq._sync.receiving.looks import Looks
from redisson_dq._sync.receiving.popping import Popping
from redisson_dq._sync.receiving.put_backs import PutBacks
from redisson_dq.calls.sources import BoundedSource
from redisson_dq.errors import RedisConnectionError, RedisReplyError
from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.waits.debts import Debts, repeat
from redisson_dq.waits.in_hand import EMPTY
from redisson_dq.waits.line import Lifeline, Line
from redisson_dq.waits.pop_engine import PopEngine
from redisson_dq.wire.blocking import Pop
from redisson_dq.wire.calls.leases import LeaseKeys
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import DeadKeys, QueueKeys
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
def test_a_pump(line: Line, error: ResponseError, is_owed: bool, is_repeated: bool) -> None:
    """A request that was not sent before has taken nothing when it is refused."""
    engine = PopEngine(line, SOURCE, Debts())
    connections: Any = SimpleNamespace(clock=SYSTEM, run=refusing(our(error)))
    popping = Popping(connections, engine, line.inbox)  # type: ignore[arg-type]
    dedicated: Any = SimpleNamespace(exchange=refusing(error))
    popping.dedicated = dedicated
    request = SOURCE.look(1)
    assert request is not None
    if is_repeated:
        engine.debts.owe(repeat(request))
    else:
        engine.source = SimpleNamespace(look=lambda count: request, sets_aside=False)  # type: ignore[assignment]
        engine.debts.owe(repeat(request))
        engine.debts.paid(repeat(request))
        line.claim = lambda now, in_hand=0: 1  # type: ignore[method-assign]
    with pytest.raises((ResponseError, RedisReplyError, RedisConnectionError)):
        popping.look(EMPTY)
    assert (repeat(request) in engine.debts.all) is (is_owed and is_repeated)


@OUTCOMES
def test_a_receiver_that_was_closed(line: Line, error: ResponseError, is_owed: bool) -> None:
    connections: Any = SimpleNamespace(clock=SYSTEM, run=refusing(our(error)))
    backs, debts = PutBacks(connections, SOURCE, line, lambda values: None), Debts()
    request = SOURCE.look(1)
    assert request is not None
    debts.owe(repeat(request))
    assert (backs.repeat(debts) is None) is is_owed
    assert (repeat(request) in debts.all) is is_owed


def test_what_follows_a_take_is_owed_when_its_connection_is_cancelled(line: Line) -> None:
    """The end of a loop cancels a connection that is being made. The room for one value would be missing for ever."""

    async def cancelled(request: Any) -> None:
        raise asyncio.CancelledError

    connections: Any = SimpleNamespace(clock=SYSTEM, run=cancelled)
    source = BoundedSource(Pop((ORDERS.ready,), "first"), ORDERS)
    backs = AsyncPutBacks(connections, source, line, lambda values: None)
    after = source.after([Taken(key=ORDERS.ready, data=b"a")], {})
    assert after is not None
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(backs.follow(after))
    assert backs.unsure == [after]


@OUTCOMES
def test_a_look_that_is_sent_again(line: Line, error: ResponseError, is_owed: bool) -> None:
    """The first one may have been carried out, so the receiver asks again when the second one is refused."""
    tries = iter([RedisConnectionError("lost", maybe_done=True), our(error)])
    notices: list[Any] = []

    def run(*args: Any, **options: Any) -> Any:
        raise next(tries)

    connections: Any = SimpleNamespace(clock=SYSTEM, run=run)
    looks = Looks(connections, line, SOURCE, Debts(), notices.append, None, lambda: None)
    lifeline = Lifeline()
    with pytest.raises((RedisReplyError, RedisConnectionError)) as raised:
        looks.look(1, lifeline, 0)
    assert vars(raised.value)["maybe_done"]
    (waiter,) = notices
    assert waiter.is_leaving
    assert waiter.request is not None
