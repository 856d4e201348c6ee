"""Delays, due times and timeouts at the edge."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.times import delays_in_seconds, due_word, timeout_seconds
from tests.hand_clock import HandClock

UTC = timezone.utc


@pytest.mark.parametrize(
    ("delay", "microseconds"),
    [
        (0, 0),
        (2.5, 2_500_000),
        (timedelta(minutes=5), 300_000_000),
        (timedelta(microseconds=1), 1),
        (0.0001, 100),
        (1e-7, 1),
        (0.1 + 0.2, 300_000),
        (8.2, 8_200_000),
        (1.0005, 1_000_500),
        (timedelta(days=365 * 1000), 31_536_000_000_000_000),
    ],
)
def test_a_delay_becomes_whole_microseconds_rounded_up(delay: Any, microseconds: int) -> None:
    assert due_word("q", delay, None) == str(microseconds)


@pytest.mark.parametrize("delay", [-1, -0.001, timedelta(seconds=-1), math.nan, math.inf, -math.inf, 1e300, 10**400])
def test_a_delay_that_is_negative_or_endless_is_refused(delay: Any) -> None:
    with pytest.raises(ArgumentError, match=r"queue 'orders'.*delay"):
        due_word("orders", delay, None)
    with pytest.raises(ArgumentError, match=r"queue 'orders'.*delay"):
        delays_in_seconds("orders", [1, delay, 2.5])


@pytest.mark.parametrize("delay", ["5", True, b"1", object()])
def test_a_delay_of_another_type_is_refused(delay: Any) -> None:
    with pytest.raises(ArgumentError, match="number of seconds or a timedelta"):
        due_word("orders", delay, None)
    with pytest.raises(ArgumentError, match="number of seconds or a timedelta"):
        delays_in_seconds("orders", [1, delay, 2.5])


def test_many_delays_become_seconds() -> None:
    assert delays_in_seconds("q", [1, 2.5]) == [1, 2.5]
    assert delays_in_seconds("q", [1, timedelta(minutes=5), 0.25]) == [1.0, 300.0, 0.25]
    assert list(delays_in_seconds("q", [])) == []


def test_an_absolute_time_becomes_epoch_milliseconds() -> None:
    assert due_word("q", None, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)) == "@1700000000000"
    east = timezone(timedelta(hours=2))
    assert due_word("q", None, datetime(2023, 11, 15, 0, 13, 20, 1, tzinfo=east)) == "@1700000000001"


def test_a_time_before_the_epoch_is_due_at_once() -> None:
    assert due_word("q", None, datetime(1960, 1, 1, tzinfo=UTC)) == "@0"


@pytest.mark.parametrize("at", [datetime(2030, 1, 1), 1_700_000_000, "2030-01-01"])
def test_a_time_without_a_zone_is_refused(at: Any) -> None:
    with pytest.raises(ArgumentError, match="with a time zone"):
        due_word("q", None, at)


def test_exactly_one_of_delay_and_at() -> None:
    with pytest.raises(ArgumentError, match="exactly one"):
        due_word("q", None, None)
    with pytest.raises(ArgumentError, match="exactly one"):
        due_word("q", 1, datetime.now(UTC))


def test_timeouts() -> None:
    assert timeout_seconds(0, "q") == 0
    assert timeout_seconds(timedelta(milliseconds=1500), "q") == 1.5
    for bad in (-1, math.nan, math.inf, 1e16, 10**400, "5", None, True):
        with pytest.raises(ArgumentError, match="timeout"):
            timeout_seconds(bad, "q")  # type: ignore[arg-type]


def test_a_delay_runs_while_its_offer_is_not_sent() -> None:
    clock = HandClock()
    long, short = due_word("orders", 60, None, clock), due_word("orders", timedelta(seconds=1), None, clock)
    assert (str(long), str(short)) == ("60000000", "1000000")
    clock.advance(2.5)
    # The rest of it, and never less than nothing.
    assert (str(long), str(short)) == ("57500000", "0")
    assert due_word("orders", None, datetime(1970, 1, 2, tzinfo=timezone.utc), clock) == "@86400000"
