"""Values that a caller gives back keep their place: no look skips them meanwhile."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from redisson_dq import connect
from redisson_dq._concurrency import Promise
from redisson_dq._sync.receiving.receiver import Receiver
from redisson_dq.codecs import StringCodec
from redisson_dq.waits.line import Lifeline
from redisson_dq.wire.blocking import Pop
from tests.conftest import PATIENCE, eventually


def test_a_receiver_is_not_quiet_until_the_value_of_a_caller_that_leaves_is_back(
    url: str, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look by others would find the value behind it first."""
    handled, go_on = threading.Event(), threading.Event()
    gone = Receiver.gone

    def gone_late(self: Receiver, waiter: Any) -> None:
        handled.set()
        assert go_on.wait(PATIENCE)
        gone(self, waiter)

    monkeypatch.setattr(Receiver, "gone", gone_late)
    with connect(url, codec=StringCodec()) as client:
        receiver = client.runtime.receivers.of(Pop(("orders",), "first"))
        answer: Promise[Any] = Promise(client.runtime.clock)
        lifeline = Lifeline()
        receiver.enter(1, lifeline, answer)
        admin.rpush("orders", "a")
        assert answer.wait(PATIENCE)
        eventually(lambda: receiver.is_quiet)
        lifeline.let_go()
        try:
            assert handled.wait(PATIENCE)
            assert not receiver.is_quiet
        finally:
            go_on.set()
        eventually(lambda: receiver.is_quiet)
        assert admin.lrange("orders", 0, -1) == [b"a"]
