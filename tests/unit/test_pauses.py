"""Pauses between tries."""

from __future__ import annotations

import pytest

from redisson_dq.scheduling.pauses import Pauses


@pytest.fixture
def even_pauses() -> None:
    """Chance has its part here."""


@pytest.mark.parametrize(
    ("first", "longest", "expected"),
    [
        pytest.param(0.05, 2.0, [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0], id="the longest is no double"),
        pytest.param(0.25, 1.0, [0.25, 0.5, 1.0, 1.0], id="the longest is a double"),
        pytest.param(30.0, 30.0, [30.0, 30.0, 30.0], id="the first is the longest"),
    ],
)
def test_pauses_double_up_to_the_longest(first: float, longest: float, expected: list[float]) -> None:
    pauses = Pauses(first, longest)
    for most in expected:
        assert 0.75 * most <= pauses.next() <= most


@pytest.mark.parametrize("count", [0, 1, 3, 9])
def test_a_success_brings_back_the_first_pause(count: int) -> None:
    pauses = Pauses(0.05, 2.0)
    for _ in range(count):
        pauses.next()
    pauses.reset()
    assert pauses.coming == 0.05
    assert pauses.next() <= 0.05 < pauses.coming == 0.1


def test_the_coming_pause_is_told_without_being_taken() -> None:
    pauses = Pauses(0.05, 2.0)
    assert [pauses.coming, pauses.coming] == [0.05, 0.05]
    pauses.next()
    assert pauses.coming == 0.1


def test_pauses_of_many_processes_differ() -> None:
    assert len({Pauses(1.0, 1.0).next() for _ in range(20)}) > 10
