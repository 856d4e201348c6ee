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
    """The happenings that an observer has heard of."""
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
    outage.began("wait", first)
    clock.advance(7)
    outage.began("renewal", ConnectionError("second"))
    clock.advance(3)
    outage.began("wait", ConnectionError("third"))
    outage.ended("wait")
    outage.ended("wait")
    assert outage.is_going_on
    assert told == [Away(error=first)]
    outage.ended("renewal")
    assert not outage.is_going_on
    assert told[1:] == [BackAgain(after=timedelta(seconds=10))]
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert [record.getMessage().split(":")[0].split(" after")[0] for record in caplog.records] == [
        "Redis is away",
        "Redis is back again",
    ]
    outage.began("wait", first)
    assert len(told) == 3


def test_a_part_that_tries_no_more_does_not_say_that_redis_is_back(
    outage: Outage, clock: HandClock, told: list[Happening], caplog: pytest.LogCaptureFixture
) -> None:
    error = ConnectionError("away")
    outage.began("wait", error)
    outage.began("renewal", error)
    outage.gave_up("wait")
    outage.gave_up("renewal")
    assert outage.is_going_on
    assert told == [Away(error=error)]
    outage.began("wait", error)
    outage.gave_up("wait")
    assert [record.getMessage() for record in caplog.records] == ["Redis is away: away"]
    clock.advance(10)
    outage.ended("transfers")
    assert not outage.is_going_on
    assert told[1:] == [BackAgain(after=timedelta(seconds=10))]


def test_the_hooks_of_a_worker_are_called_too(outage: Outage, told: list[Happening]) -> None:
    hooks = Hooks()
    heard: list[Happening] = []

    def broken(happening: Happening) -> None:
        raise ValueError(happening)

    hooks.add((), broken)
    hooks.add((BackAgain,), heard.append)
    outage.hooks.append(hooks.call)
    outage.began("wait", ConnectionError())
    outage.ended("wait")
    assert heard == told[1:] == [BackAgain(after=timedelta(0))]
    outage.hooks.remove(hooks.call)
    outage.began("wait", ConnectionError())
    outage.ended("wait")
    assert (len(heard), len(told)) == (1, 4)
