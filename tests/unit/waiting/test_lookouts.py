"""The work beside the lookouts: what waits for a node that stands still holds up no pause. No server is asked."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from redisson_dq import Client
from redisson_dq._sync.receiving.beginning import Beginner
from redisson_dq._sync.receiving.lookout import Lookout
from redisson_dq._sync.receiving.lookouts import Lookouts
from tests.conftest import PATIENCE


def test_a_pause_ends_in_its_time_while_a_node_stands_still() -> None:
    connections = Client(redis.Redis()).runtime.connections
    lookouts = Lookouts(connections, Beginner(connections.clock, lambda notice: None))
    hangs, answers, is_over = threading.Event(), threading.Event(), threading.Event()

    def put_back() -> None:
        hangs.set()
        answers.wait(PATIENCE)

    lookouts.later(put_back)
    assert hangs.wait(PATIENCE)
    lookouts.later(is_over.set, 0.01)
    assert is_over.wait(PATIENCE / 2)
    answers.set()
    lookouts.close()


def test_a_lookout_leaves_an_outage_before_its_next_task_may_report_another(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = Client(redis.Redis()).runtime.connections
    nothing: Any = SimpleNamespace(key=b"orders")
    lookout = Lookout(connections, nothing, Beginner(connections.clock, lambda notice: None), lambda error: None)
    is_running: list[bool] = []
    monkeypatch.setattr(connections.outage, "gave_up", lambda part: is_running.append(vars(lookout)["_is_running"]))
    lookout.call(nothing)
    lookout.close()
    assert is_running == [True]
