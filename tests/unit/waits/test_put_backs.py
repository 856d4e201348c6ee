"""Values on their way back: which outcome of a try makes the next one wait. No server is asked."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from redisson_dq._concurrency import Inbox, Mutex
from redisson_dq._sync.receiving.put_backs import PutBacks
from redisson_dq.errors import RedisConnectionError
from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.waits.line import Line
from redisson_dq.wire.blocking import Pop
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.taken import Taken

ORDERS = QueueKeys.of("orders").ready
A, B = Taken(key=ORDERS, data=b"a"), Taken(key=ORDERS, data=b"b")


def backs_of(run: Callable[[], None], source: Any = None) -> PutBacks:
    """Two values: ``a`` is on its way back, and ``run`` is called instead of Redis."""
    line = Line("orders", Inbox(SYSTEM), Mutex())
    connections: Any = SimpleNamespace(clock=SYSTEM, run=lambda request, when_closed: run())
    backs = PutBacks(connections, source or Pop((ORDERS,), "first"), line)
    backs.add([A])
    return backs


def test_a_value_that_comes_while_another_goes_back_is_no_failure() -> None:
    """Otherwise the pump would pause, take nothing meanwhile, and not give the value to waiting callers."""
    backs = backs_of(lambda: backs.add([B]))
    assert backs.send()
    assert backs.surplus == [B]


@pytest.mark.parametrize("maybe_done", [False, True])
def test_a_value_that_did_not_go_back_is_sent_again_later(maybe_done: bool) -> None:
    def refuse() -> None:
        backs.add([B])
        raise RedisConnectionError("Redis cannot be reached", maybe_done=maybe_done)

    backs = backs_of(refuse)
    assert not backs.send()
    assert [back.values for back in backs.unsure] == ([[A]] if maybe_done else [])
    assert backs.surplus == ([B] if maybe_done else [A, B])


def test_a_value_is_kept_where_a_defect_shows_before_it_is_sent() -> None:
    def put_back(values: Any, known: Any) -> Any:
        raise RuntimeError("a defect")

    backs = backs_of(lambda: None, SimpleNamespace(key=ORDERS, put_back=put_back))
    assert not backs.send()
    assert backs.surplus == [A]


def test_a_value_of_which_nobody_knows_whether_it_is_back_is_not_sent_again(caplog: pytest.LogCaptureFixture) -> None:
    """No script can put a value back into a plain list only once, so the value could be there twice."""
    key = "{orders"
    source = SimpleNamespace(key=key, put_back=Pop((key,), "first").put_back)

    def lose() -> None:
        raise RedisConnectionError("the reply is lost", maybe_done=True)

    backs = backs_of(lose, source)
    backs.surplus = [Taken(key=key, data=b"a")]
    assert backs.send()
    assert "popped values may not be back in Redis" in caplog.text
