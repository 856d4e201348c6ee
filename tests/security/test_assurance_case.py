"""The table of SECURITY.md: each row names guards, and tests that fail when a guard is removed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.mutations import MUTATIONS

HOME = Path(__file__).parents[2]
ATTACKERS = ("a writer", "a reader", "a visitor", "a browser", "a value", "a file", "a proxy")


def rows() -> list[list[str]]:
    text = (HOME / "SECURITY.md").read_text("utf-8").partition("| who attacks |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[1])
def test_each_row_is_shown_by_tests_that_notice_when_its_guard_is_removed(row: list[str]) -> None:
    """``tests/mutations.py`` removes the guards, and each night these tests have to fail for that."""
    guards, tests = (re.findall("`([^`]+)`", cell) for cell in row[2:])
    assert guards
    assert tests
    removed = [each for each in MUTATIONS if each.name.startswith("security: ") and each.test in tests]
    assert {each.test for each in removed} == set(tests)
    for guard in guards:
        assert any(each.path.startswith(guard) for each in removed), guard
    for each in removed:
        assert each.path.startswith(tuple(guards)), each.name


def test_each_attacker_has_a_row() -> None:
    named = {who.partition(":")[0] for who, *_ in rows()}
    assert [each for each in ATTACKERS if not any(who.startswith(each) for who in named)] == []
