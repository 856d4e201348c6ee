"""The checker accepts what the queue may do, and finds each kind of defect."""

from __future__ import annotations

import random

import pytest

from tests.proof.checker import Report, judged
from tests.proof.making import ORDERED, Lines, right
from tests.proof.making_bounds import with_bounds
from tests.proof.operations import happened
from tests.proof.planting import PLANTS, planted


def _judged(lines: Lines) -> Report:
    return judged([happened(lambda: lines)], ordered=[ORDERED])


def test_right_histories_are_accepted() -> None:
    for seed in range(20):
        lines = right(seed, 150)
        with_bounds(lines, random.Random(seed))
        report = _judged(lines)
        assert not report.findings, f"seed {seed}: {report}"
        assert not report.excused


def test_a_history_in_parts() -> None:
    for kind in list(PLANTS)[:7]:
        lines = planted(kind, 7, 150)
        parts = [happened(lambda lines=lines: lines, (part, 3)) for part in range(3)]  # type: ignore[misc]
        assert judged(parts).items == _judged(lines).items
        # The order of items is one of all of them together.
        whole = {str(finding) for finding in judged([happened(lambda lines=lines: lines)]).findings}  # type: ignore[misc]
        assert {str(finding) for finding in judged(parts).findings} == whole


@pytest.mark.parametrize("kind", PLANTS)
def test_each_planted_defect_is_found(kind: str) -> None:
    for seed in range(3):
        report = _judged(planted(kind, seed, 150))
        assert report.findings, f"{kind} was planted and not found: seed {seed}"


def test_a_call_without_an_answer_may_have_extended_a_lease() -> None:
    """Its deadline counts from the call, as for any other extension."""
    for seed in (141, 170, 242, 243):
        report = _judged(right(seed, 400))
        assert not report.findings, f"seed {seed}: {report}"
