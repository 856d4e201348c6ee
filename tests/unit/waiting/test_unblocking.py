"""The unblocker's pauses between its tries. No server is asked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, cast

import pytest
import redis.exceptions

from redisson_dq._clock import SystemClock
from redisson_dq._sync.receiving.beginning import Beginner
from redisson_dq._sync.receiving.unblocking import Unblocker
from tests.conftest import eventually


class Blocked:
    """A connection with a blocking command. The tries to end it have these outcomes, and the last one ends it."""

    def __init__(self, *outcomes: bool | Exception) -> None:
        self._outcomes: Iterator[bool | Exception] = iter(outcomes)
        self.target: tuple[Any, int] | None = (self, 1)

    def unblock(self) -> bool:
        outcome = next(self._outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        if outcome:
            self.target = None
        return outcome


def test_once_redis_answers_again_the_tries_are_as_quick_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    away = redis.exceptions.ConnectionError("away")
    clock, slept = SystemClock(), list[float]()
    monkeypatch.setattr(clock, "sleep", slept.append)
    blocked = Blocked(False, away, away, False, False, away, False, True)
    beginner = Beginner(clock, lambda notice: None)
    unblocker = Unblocker("orders", contextlib.nullcontext(), clock, beginner, lambda: cast("Any", blocked.target))
    unblocker.start()
    eventually(lambda: not unblocker.is_running)
    assert slept == [0.005, 0.1, 0.2, 0.005, 0.005, 0.1, 0.005]
