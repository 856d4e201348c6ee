"""An outage that several parts of a client see. It is reported once when it begins, and once when no part fails any
more.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest

from redisson_dq._async.connecting.outage import Outage as AsyncOutage
from redisson_dq._sync.connecting.outage import Outage
from redisson_dq.observing import Observers
from tests.hand_clock import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(params=[Outage, AsyncOutage])
def outage(request: pytest.FixtureRequest, clock: HandClock) -> Any:
    return request.param(clock, Observers())


def test_it_lasts_from_the_first_part_to_the_last(
    outage: Any, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[Any] = []
    outage.listeners.append(told.append)
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
    assert told == [first]
    outage.ended("renewal")
    assert not outage.is_going_on
    assert told[0] is first
    assert told[1] == timedelta(seconds=10)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert [record.getMessage().split(":")[0].split(" after")[0] for record in caplog.records] == [
        "Redis is away",
        "Redis is back again",
    ]
    outage.began("wait", first)
    assert len(told) == 3


def test_a_part_that_tries_no_more_does_not_say_that_redis_is_back(
    outage: Any, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[Any] = []
    outage.listeners.append(told.append)
    error = ConnectionError("away")
    outage.began("wait", error)
    outage.began("renewal", error)
    outage.gave_up("wait")
    outage.gave_up("renewal")
    assert outage.is_going_on
    assert told == [error]
    outage.began("wait", error)
    outage.gave_up("wait")
    assert [record.getMessage() for record in caplog.records] == ["Redis is away: away"]
    clock.advance(10)
    outage.ended("transfers")
    assert not outage.is_going_on
    assert told[1] == timedelta(seconds=10)
    assert len(told) == 2


def test_a_listener_that_fails_keeps_nothing_from_the_others(outage: Any) -> None:
    told: list[Any] = []

    def broken(what: Any) -> None:
        raise ValueError(what)

    outage.listeners += [broken, told.append]
    outage.began("wait", ConnectionError())
    outage.ended("wait")
    assert len(told) == 2
