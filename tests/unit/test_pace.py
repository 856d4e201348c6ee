"""A slow server is given less to do in one call."""

from __future__ import annotations

from redisson_dq.scheduling.pace import Pace

LONG, MIDDLING, SHORT = 60_000, 30_000, 5_000


def told(*calls: int) -> Pace:
    pace = Pace()
    for us in calls:
        pace.took(us)
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
