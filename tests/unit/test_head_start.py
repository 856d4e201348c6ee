"""How long before its departure a transfer's timer fires, with every time as a number."""

from __future__ import annotations

import random

import pytest

from redisson_dq.scheduling.server_clock import HeadStart


def learned(ways_us: list[int], *, busy_wait: bool) -> int:
    head_start = HeadStart(busy_wait=busy_wait)
    for way_us in ways_us:
        head_start.learn(way_us)
    return head_start.us


@pytest.mark.parametrize("busy_wait", [True, False])
def test_it_begins_with_a_guess_and_stays_within_bounds(busy_wait: bool) -> None:
    assert 50 <= HeadStart(busy_wait=busy_wait).us <= 2_000
    assert learned([0] * 40, busy_wait=busy_wait) == 50
    assert learned([-5] * 40, busy_wait=busy_wait) == 50
    assert learned([700_000] * 40, busy_wait=busy_wait) == 2_000


@pytest.mark.parametrize("busy_wait", [True, False])
def test_a_machine_that_stood_still_once_changes_nothing(busy_wait: bool) -> None:
    ways_us = [300] * 31
    assert learned(ways_us, busy_wait=busy_wait) == learned([*ways_us, 30_000_000], busy_wait=busy_wait) == 300


def test_with_a_busy_wait_nearly_all_are_ready_in_time_and_without_one_nearly_none_wait() -> None:
    chance = random.Random(18)
    ways_us = [round(200 + chance.expovariate(1 / 200)) for _ in range(2_000)]
    in_time = {}
    for busy_wait in (True, False):
        head_start = HeadStart(busy_wait=busy_wait)
        ready = 0
        for way_us in ways_us:
            ready += way_us <= head_start.us
            head_start.learn(way_us)
        in_time[busy_wait] = ready / len(ways_us)
    assert in_time[True] >= 0.8
    assert in_time[False] <= 0.2


def test_what_changed_is_learned() -> None:
    assert learned([200] * 100 + [900] * 32, busy_wait=True) == 900
    assert learned([900] * 100 + [200] * 32, busy_wait=True) == 200
