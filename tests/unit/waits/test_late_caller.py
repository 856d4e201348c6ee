"""A caller that comes when the line is closed. No server is asked."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from redisson_dq import Client
from redisson_dq._concurrency import Inbox
from redisson_dq._sync.receiving.receiver import Receiver
from redisson_dq.errors import ClosedError
from redisson_dq.waits.line import Lifeline, Waiter
from redisson_dq.wire.blocking import Pop


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
