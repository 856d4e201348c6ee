"""An outage that several parts of a client see. It is reported once when it begins, and once when no part fails any
more.
"""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from redisson_dq.observing import Away, BackAgain, Happening, Observers
from redisson_dq.observing.outage import Outage
from redisson_dq.working.hooks import Hooks
from tests.hand_clock import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def told() -> list[Happening]:
    """The events that an observer was notified of."""
    return []


@pytest.fixture
def outage(clock: HandClock, told: list[Happening]) -> Outage:
    return Outage(clock, Observers(told.append))


def test_it_lasts_from_the_first_part_to_the_last(
    outage: Outage, clock: HandClock, told: list[Happening], caplog: pytest.LogCaptureFixture
) -> None:
    first = ConnectionError("first")
    outage.ended("wait")
    assert not outage.is_going_on
    outage.began("wait", first, clock.monotonic())
    clock.advance(7)
    outage.began("renewal", ConnectionError("second"), clock.monotonic())
    clock.advance(3)
    outage.began("wait", ConnectionError("third"), clock.monotonic())
    outage.ended("wait")
    outage.ended("wait")
    assert outage.is_going_on
    assert told == [Away(error=first)]
    outage.ended("renewal")
    assert not outage.is_going_on
    assert told[1:] == [BackAgain(after=timedelta(seconds=10))]
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert [record.getMessage().split(":")[0].split(" after")[0] for record in caplog.records] == [
        "Redis cannot be reached",
        "Redis is back",
    ]
    outage.began("wait", first, clock.monotonic())
    assert len(told) == 3


def test_a_part_that_tries_no_more_does_not_say_that_redis_is_back(
    outage: Outage, clock: HandClock, told: list[Happening], caplog: pytest.LogCaptureFixture
) -> None:
    error = ConnectionError("away")
    outage.began("wait", error, clock.monotonic())
    outage.began("renewal", error, clock.monotonic())
    outage.gave_up("wait")
    outage.gave_up("renewal")
    assert outage.is_going_on
    assert told == [Away(error=error)]
    outage.began("wait", error, clock.monotonic())
    outage.gave_up("wait")
    assert [record.getMessage() for record in caplog.records] == ["Redis cannot be reached: away"]
    clock.advance(10)
    outage.ended("transfers")
    assert not outage.is_going_on
    assert told[1:] == [BackAgain(after=timedelta(seconds=10))]


def test_a_try_that_an_outage_has_outlived_is_no_outage_of_its_own(
    outage: Outage, clock: HandClock, told: list[Happening]
) -> None:
    """A reply that is late, or a connection that broke without anybody reading from it."""
    error = ConnectionError("away")
    tried = clock.monotonic()
    clock.advance(1)
    outage.began("probe", error, tried)
    clock.advance(1)
    outage.ended("probe")
    clock.advance(10)
    outage.began("wait", error, tried)
    assert not outage.is_going_on
    assert told == [Away(error=error), BackAgain(after=timedelta(seconds=1))]
    # Its next try fails as well. So this is another outage, and lasts until that part is well.
    outage.began("wait", error, clock.monotonic())
    assert told[2:] == [Away(error=error)]
    outage.began("probe", error, tried)
    outage.ended("wait")
    assert outage.is_going_on
    outage.ended("probe")
    assert told[3:] == [BackAgain(after=timedelta(0))]


def test_the_hooks_of_a_worker_are_called_too(outage: Outage, clock: HandClock, told: list[Happening]) -> None:
    hooks = Hooks()
    heard: list[Happening] = []

    def broken(happening: Happening) -> None:
        raise ValueError(happening)

    hooks.add((), broken)
    hooks.add((BackAgain,), heard.append)
    outage.hooks.append(hooks.call)
    outage.began("wait", ConnectionError(), clock.monotonic())
    outage.ended("wait")
    assert heard == told[1:] == [BackAgain(after=timedelta(0))]
    outage.hooks.remove(hooks.call)
    outage.began("wait", ConnectionError(), clock.monotonic())
    outage.ended("wait")
    assert (len(heard), len(told)) == (1, 4)
