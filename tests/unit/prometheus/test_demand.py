"""The slots that a wave needs, and how late it is with workers that are scaled by its depth or by what is due."""

from __future__ import annotations

import heapq
import random
from datetime import datetime, timezone

import pytest

from redisson_dq.prometheus.demand import Demand, HandlingTimes, slots_for
from redisson_dq.stats import QueueStats

#: The interval of a scaler's requests and the start time of a pod, in seconds; the slots of a pod.
ASKS, STARTS, SLOTS = 15, 40, 8
#: A wave is due at this second, after a time with nothing to do.
AT, ITEMS, DRAIN = 600, 10_000, 60


@pytest.mark.parametrize(
    ("items", "handling", "slots"), [(0, 5, 0), (1, 0.001, 1), (60, 1, 1), (61, 1, 2), (10_000, 2.5, 417)]
)
def test_the_slots_of_some_items(items: int, handling: float, slots: int) -> None:
    assert slots_for(items, handling, 60) == slots


@pytest.mark.parametrize(("due", "slots"), [(0, 0), (5, None)])
def test_no_items_need_no_slots_however_long_a_handling_takes(due: int, slots: int | None) -> None:
    """An autoscaler takes unknown slots for an error, and would keep the pods that it has."""
    stats = QueueStats(name="q", server_time=datetime.now(timezone.utc))
    assert Demand.of(stats, due, None, 60).slots == slots


def test_handling_times_that_no_worker_tells() -> None:
    assert HandlingTimes([], None).of("q") is None
    assert HandlingTimes(["http://127.0.0.1:1/metrics"], 2.5).of("q") == 2.5


def lateness(handlings: list[float], within: float) -> list[float]:
    """When each item of the wave begins, after its due time. The scaler knows items ``within`` seconds before they are
    due, and the handling times by their mean so far, as an exporter does.
    """
    mean = sum(handlings) / len(handlings)
    # When each slot is free. One pod always runs.
    free = [0.0] * SLOTS
    late: list[float] = []
    left = list(handlings)
    for now in range(0, AT + 3600, ASKS):
        seen = len(left) if now >= AT - within else 0
        pods = -(-slots_for(seen, mean, DRAIN) // SLOTS)
        for _ in range(max(0, pods * SLOTS - len(free))):
            heapq.heappush(free, now + STARTS)
        while left and max(free[0], AT) < now + ASKS:
            begins = max(heapq.heappop(free), AT)
            late.append(begins - AT)
            heapq.heappush(free, begins + left.pop())
    assert not left
    return sorted(late)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_a_wave_is_in_time_where_what_is_due_decides(seed: int) -> None:
    """Handling times are those of calls to other services: half a second, some of them ten."""
    chance = random.Random(seed)
    handlings = [min(10, chance.lognormvariate(-0.7, 0.8)) for _ in range(ITEMS)]
    by_depth, by_due = lateness(handlings, 0), lateness(handlings, STARTS + 2 * ASKS)
    half = ITEMS // 2
    print(f"begun by depth: half after {by_depth[half]:.0f} s, all after {by_depth[-1]:.0f} s")
    print(f"begun by what is due: half after {by_due[half]:.0f} s, all after {by_due[-1]:.0f} s")
    # All begins within the time that was asked for, and only so.
    assert by_due[-1] <= DRAIN
    assert by_depth[-1] >= DRAIN + STARTS / 2
    assert by_depth[half] > by_due[half] + STARTS / 2
