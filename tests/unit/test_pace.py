"""A slow server is given less to do in one call."""

from __future__ import annotations

import pytest

from redisson_dq.scheduling.pace import Pace

LONG, MIDDLING, SHORT = 60_000, 30_000, 5_000


def told(*calls: int, way: int = 200, pace: Pace | None = None) -> Pace:
    """The pace after calls that the server works on for this long, with ``way`` for the network."""
    pace = pace or Pace()
    for us in calls:
        if pace.took(way + us):
            pace.way_took(way)
    return pace


def test_at_first_a_server_is_as_fast_as_any() -> None:
    assert told().slowness == told(*[SHORT] * 100).slowness == told(*[MIDDLING] * 100).slowness == 1.0


def test_one_long_call_alone_says_nothing() -> None:
    assert told(*[LONG, MIDDLING] * 50).slowness == 1.0


def test_long_calls_in_succession_do() -> None:
    assert told(LONG, LONG).slowness == 2.0
    assert told(LONG, LONG, LONG, LONG).slowness == 4.0
    assert told(*[LONG] * 1000).slowness == 32.0


def test_it_recovers_slowly_and_to_the_end() -> None:
    assert told(LONG, LONG, *[SHORT] * 15).slowness == 2.0
    assert told(LONG, LONG, *[SHORT] * 15, MIDDLING, *[SHORT] * 15).slowness == 2.0
    assert told(LONG, LONG, *[SHORT] * 16).slowness == 1.6
    assert told(*[LONG] * 1000, *[SHORT] * 1000).slowness == 1.0


@pytest.mark.parametrize("way", [200, 40_000, 60_000, 400_000])
def test_a_server_far_away_is_not_slow(way: int) -> None:
    assert told(*[SHORT] * 100, way=way).slowness == 1.0
    assert told(*[LONG] * 2, way=way).slowness == 2.0
    assert told(*[LONG] * 2, *[SHORT] * 16, way=way).slowness == 1.6


def test_a_way_that_has_become_longer_is_measured_anew() -> None:
    assert told(*[SHORT] * 100, way=400_000, pace=told(*[SHORT] * 100)).slowness == 1.0


def test_a_way_that_has_become_shorter_is_seen_by_a_call_without_work() -> None:
    pace = told(LONG, LONG, way=400_000)
    assert not pace.took(200, worked=False)
    assert told(LONG, LONG, pace=pace).slowness == 4.0


def test_a_server_that_stood_still_while_the_way_was_measured_is_learnt_of_later() -> None:
    pace = Pace()
    assert [pace.took(LONG), pace.took(LONG)] == [False, True]
    pace.way_took(300_000)
    assert told(SHORT, LONG, LONG, pace=pace).slowness == 2.0
