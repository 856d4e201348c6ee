"""What is learned of a server's clock, with every time as a number."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisson_dq.scheduling.server_clock import ServerClock

SECOND = 1_000_000
AHEAD_US = 1_700_000_000 * SECOND


def answered(clock: ServerClock, sent_us: int, there_us: int, back_us: int, ahead_us: int = AHEAD_US) -> None:
    """An answer to a command, with the given times to the server and back."""
    clock.learn(sent_us + there_us + ahead_us, sent_us, sent_us + there_us + back_us)


def early_by(clock: ServerClock, there_us: int, ahead_us: int = AHEAD_US) -> int:
    """How early a command runs that is sent now for its due time and takes this long."""
    assert clock.ahead_us is not None
    return clock.ahead_us - ahead_us - there_us


def test_nothing_is_known_before_the_first_answer() -> None:
    assert ServerClock().ahead_us is None


@pytest.mark.parametrize("there_us", [0, 40, 15_000])
def test_a_command_runs_on_time_whatever_its_way_takes(there_us: int) -> None:
    clock = ServerClock()
    for number in range(100):
        answered(clock, number * 10_000, there_us, 3 * there_us)
        assert early_by(clock, there_us) == 0


def test_the_fastest_way_counts_and_a_slow_answer_changes_nothing() -> None:
    clock = ServerClock()
    answered(clock, 0, 60, 100)
    for sent_us, there_us, back_us in ((10_000, 500, 100), (20_000, 70, 900_000), (3_000_000, 800_000, 100)):
        answered(clock, sent_us, there_us, back_us)
        assert 0 <= early_by(clock, 60) <= 45, "it may rise by as much as clocks may have drifted"


def test_a_first_answer_that_was_slow_is_forgotten_with_the_second_one() -> None:
    clock = ServerClock()
    answered(clock, 0, 400_000, 100_000)
    assert early_by(clock, 60) == 399_940
    answered(clock, SECOND, 60, 100)
    assert early_by(clock, 60) == 0


def test_a_way_that_became_slower_for_good_is_learned() -> None:
    clock = ServerClock()
    for number in range(64):
        answered(clock, number * 4_000, 60, 100)
    for number in range(64, 129):
        answered(clock, number * 4_000, 200, 100)
    assert early_by(clock, 200) == 0


def test_early_ones_are_rare() -> None:
    clock, chance = ServerClock(), random.Random(18)
    ways = [round(60 + chance.expovariate(1 / 80)) for _ in range(4_000)]
    early = late = 0
    for number, there_us in enumerate(ways):
        if number >= 100:
            early += early_by(clock, there_us) > 0
            late += -min(0, early_by(clock, there_us))
        answered(clock, number * 4_000, there_us, 150)
    assert early / len(ways) <= 0.03
    assert late / len(ways) <= 100, "the spread of the ways, and no more"


@pytest.mark.parametrize("step_us", [-3600 * SECOND, -5_000, 5_000, 3600 * SECOND])
def test_a_clock_that_was_set_is_noticed_at_the_next_answer(step_us: int) -> None:
    clock = ServerClock()
    for number in range(64):
        answered(clock, number * 4_000, 60, 100)
    answered(clock, 64 * 4_000, 70, 120, AHEAD_US + step_us)
    assert early_by(clock, 70, AHEAD_US + step_us) == 0
    answered(clock, 65 * 4_000, 60, 100, AHEAD_US + step_us)
    assert early_by(clock, 60, AHEAD_US + step_us) == 0


@pytest.mark.parametrize("drift_ppm", [-200, -10, 10, 200])
@pytest.mark.parametrize("gap_us", [4_000, SECOND, 20 * SECOND])
def test_clocks_that_drift_are_followed_within_a_round_trip(drift_ppm: int, gap_us: int) -> None:
    clock = ServerClock()
    for number in range(200):
        sent_us = number * gap_us
        answered(clock, sent_us, 60, 140, AHEAD_US + sent_us * drift_ppm // SECOND)
        assert -200 <= early_by(clock, 60, AHEAD_US + sent_us * drift_ppm // SECOND) <= 200


def test_only_an_answer_that_tells_something_counts_as_a_comparison() -> None:
    clock = ServerClock()
    answered(clock, 0, 60, 100)
    answered(clock, SECOND, 50_000, 100_000)
    assert clock.learned_us == 160
    answered(clock, 2 * SECOND, 600, 100)
    assert clock.learned_us == 2 * SECOND + 700


@given(st.lists(st.tuples(st.integers(0, 10 * SECOND), st.integers(0, SECOND), st.integers(0, SECOND)), min_size=1))
def test_without_drift_it_is_between_the_slowest_and_the_fastest_way(answers: list[tuple[int, int, int]]) -> None:
    clock, now_us = ServerClock(), 0
    fastest_us = slowest_us = answers[0][1]
    for gap_us, there_us, back_us in answers:
        now_us += gap_us
        answered(clock, now_us, there_us, back_us)
        now_us += there_us + back_us
        fastest_us, slowest_us = min(fastest_us, there_us), max(slowest_us, there_us)
        assert clock.ahead_us is not None
        assert fastest_us <= clock.ahead_us - AHEAD_US <= slowest_us + 1000
