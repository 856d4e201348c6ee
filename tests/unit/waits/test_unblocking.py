"""The unblocker's pauses between its tries. No server is asked."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import redis.exceptions

from redisson_dq._concurrency import Inbox
from redisson_dq._sync.receiving.beginning import Beginner
from redisson_dq._sync.receiving.unblocking import Unblocker
from redisson_dq.scheduling.clock import SystemClock
from redisson_dq.waits.line import Line
from redisson_dq.waits.steps import Block
from tests.conftest import eventually


class Blocked:
    """A connection with a blocking command. The tries to end it have these outcomes, and the last one ends it."""

    def __init__(self, *outcomes: bool | Exception, until: float = math.inf) -> None:
        self._outcomes: Iterator[bool | Exception] = iter(outcomes)
        self.block: Block | None = Block(0.0, 0.0, None, until)
        self.is_cut = self.is_half_cut = False

    def unblock(self) -> bool:
        outcome = next(self._outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        if outcome:
            self.block = None
        return outcome

    def hang_up(self) -> None:
        self.is_cut, self.block = True, None

    def sends_no_more(self) -> None:
        self.is_half_cut, self.block = True, None


def pauses_of(
    blocked: Blocked, monkeypatch: pytest.MonkeyPatch, *, may_cut: bool = False, closed: bool = False
) -> list[float]:
    """The pauses between the tries, once these have come to an end."""
    line = Line("orders", Inbox(SystemClock()), contextlib.nullcontext())
    line.closed = closed
    clock, slept = SystemClock(), list[float]()
    monkeypatch.setattr(clock, "sleep", slept.append)
    source = SimpleNamespace(key="orders", sets_aside=may_cut)
    engine: Any = SimpleNamespace(line=line, source=source, connection=blocked, number=1, to_end=lambda: blocked.block)
    unblocker = Unblocker(engine, clock, Beginner(clock, lambda notice: None))
    unblocker.start()
    eventually(lambda: not unblocker.is_running)
    return slept


AWAY = redis.exceptions.ConnectionError("away")
FORBIDDEN = redis.exceptions.NoPermissionError("NOPERM this user has no permissions to run 'client|unblock'")
BUSY = redis.exceptions.ResponseError("BUSY Redis is busy running a script")


def test_once_redis_answers_again_the_tries_are_as_quick_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = Blocked(False, AWAY, AWAY, False, False, AWAY, False, True)
    assert pauses_of(blocked, monkeypatch) == [0.005, 0.1, 0.2, 0.01, 0.02, 0.1, 0.04]


def test_a_reply_that_is_on_its_way_for_long_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis answers each try with 0 then. The reply may be a value that exists nowhere else."""
    blocked = Blocked(*[False] * 1000, True)
    slept = pauses_of(blocked, monkeypatch, may_cut=True)
    assert not blocked.is_cut
    # It does not ask Redis 200 times a second for all that time.
    assert len(slept) == 1000
    assert slept[5:] == [0.1] * 995


def test_a_refusal_that_passes_cuts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script that Redis is busy with may push a value, which the pop takes at once."""
    blocked = Blocked(BUSY, BUSY, True)
    assert pauses_of(blocked, monkeypatch, may_cut=True) == [0.1, 0.2]
    assert not blocked.is_cut


def test_where_redis_forbids_it_only_a_connection_whose_values_are_asked_for_again_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leased, popped = Blocked(FORBIDDEN, FORBIDDEN), Blocked(FORBIDDEN, FORBIDDEN, True)
    # The next caller of a loop would come by then.
    assert pauses_of(leased, monkeypatch, may_cut=True) == [0.05]
    assert leased.is_cut
    # Its wait is over soon anyway.
    ending = Blocked(FORBIDDEN, FORBIDDEN, True, until=0.0)
    assert pauses_of(ending, monkeypatch, may_cut=True) == [0.05, 0.2]
    assert not ending.is_cut
    assert pauses_of(popped, monkeypatch) == [0.05, 0.2]
    assert not popped.is_cut
    assert not popped.is_half_cut


def test_once_it_is_closed_a_pop_ends_with_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this side ends it, so that a value that is on its way still comes."""
    leased, popped = Blocked(FORBIDDEN), Blocked(FORBIDDEN)
    assert pauses_of(leased, monkeypatch, may_cut=True, closed=True) == []
    assert pauses_of(popped, monkeypatch, closed=True) == []
    assert leased.is_cut
    assert popped.is_half_cut
    assert not popped.is_cut
