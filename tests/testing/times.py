"""The two times in which a contract is played: that of a test's clock, where a tick is a day, and real time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import datetime, timedelta, timezone
from typing import Any

import redis

from redisson_dq.testing import TestClock
from tests.conftest import eventually
from tests.testing.conftest import START

__all__ = ["RealTime", "Time", "TimeOfTests", "in_time"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Time:
    """The operations that a contract needs of its time."""

    #: The unit of all delays.
    tick: timedelta
    #: For how many days a calendar can be followed.
    days = 0

    @property
    def now(self) -> datetime:
        """The server's time."""
        raise NotImplementedError

    def pass_by(self, ticks: float) -> None:
        """Lets so much time pass."""
        raise NotImplementedError

    def going(self) -> AbstractContextManager[object]:
        """Time goes on by itself while calls wait."""
        raise NotImplementedError

    def is_so(self, condition: Callable[[], Any]) -> None:
        """Asserts that something is so, now that its time has come."""
        raise NotImplementedError

    def has_come(self, moment: datetime) -> None:
        """Asserts that it is that time: never earlier, and in the time of a test never later."""
        raise NotImplementedError


class TimeOfTests(Time):
    days = 20

    def __init__(self, clock: TestClock, tick: timedelta = timedelta(days=1)) -> None:
        self._clock = clock
        self.tick = tick

    @property
    def now(self) -> datetime:
        return self._clock.now

    def pass_by(self, ticks: float) -> None:
        self._clock.advance(ticks * self.tick)

    def going(self) -> AbstractContextManager[object]:
        return self._clock.auto()

    def is_so(self, condition: Callable[[], Any]) -> None:
        self._clock.settle()
        assert condition()

    def has_come(self, moment: datetime) -> None:
        assert self.now == moment


class RealTime(Time):
    def __init__(self, admin: redis.Redis, tick: timedelta = timedelta(milliseconds=60)) -> None:
        self._admin = admin
        self.tick = tick

    @property
    def now(self) -> datetime:
        seconds, us = self._admin.time()
        return _EPOCH + timedelta(seconds=seconds, microseconds=us)

    def pass_by(self, ticks: float) -> None:
        # The server's clock may go a little slower.
        until = self.now + ticks * self.tick
        while (left := until - self.now) > timedelta(0):
            time.sleep(left.total_seconds())

    def going(self) -> AbstractContextManager[object]:
        return nullcontext()

    def is_so(self, condition: Callable[[], Any]) -> None:
        eventually(condition)

    def has_come(self, moment: datetime) -> None:
        assert self.now >= moment


@contextmanager
def in_time(kind: str, url: str, **tick: timedelta) -> Iterator[Time]:
    """The time of a test (``test``), or the real one (``real``). Clients are made inside."""
    with ExitStack() as stack:
        if kind == "test":
            yield TimeOfTests(stack.enter_context(TestClock(url, start=START)), **tick)
        else:
            yield RealTime(stack.enter_context(redis.Redis.from_url(url)), **tick)
