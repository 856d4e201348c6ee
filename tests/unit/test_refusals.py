"""The problems of a client: each error is news once, until its part has done its work."""

from __future__ import annotations

from redisson_dq.observing.refusals import Refusals
from tests.hand_clock import HandClock

ERROR, OTHER = ValueError("no right"), ValueError("no list")


def test_an_error_is_news_once() -> None:
    refusals = Refusals(HandClock())
    assert refusals.began("part", "orders", "fails", ERROR)
    assert not refusals.began("part", "orders", "fails", ERROR)
    assert refusals.began("part", "orders", "fails", OTHER)
    assert refusals.began("another part", "orders", "fails", OTHER)
    assert [problem.error for problem in refusals.problems] == [OTHER, OTHER]
    refusals.ended("part")
    assert len(refusals.problems) == 1
    assert refusals.began("part", "orders", "fails", OTHER)


def test_a_part_that_only_seemed_well_has_no_news() -> None:
    """On a busy machine a refusal comes late. Meanwhile the part waits long enough to look healthy."""
    clock = HandClock()
    refusals = Refusals(clock)
    is_well = True
    assert refusals.began("part", "orders", "fails", ERROR, lambda: is_well)
    for _ in range(5):
        clock.advance(4)
        assert not refusals.began("part", "orders", "fails", ERROR, lambda: is_well)
    assert not refusals.problems
    # Longer than any refusal takes: in between the part did its work.
    clock.advance(6)
    assert refusals.began("part", "orders", "fails", ERROR, lambda: is_well)
    is_well = False
    clock.advance(3600)
    assert not refusals.began("part", "orders", "fails", ERROR, lambda: is_well)
    assert refusals.problems
