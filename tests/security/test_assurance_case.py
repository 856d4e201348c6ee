"""The table of SECURITY.md: each guard and each test that it names is there, and each attacker has one."""

from __future__ import annotations

import re
from pathlib import Path

HOME = Path(__file__).parents[2]
ATTACKERS = ("a writer", "a reader", "a visitor", "a browser", "a value", "a file", "a proxy")


def rows() -> list[list[str]]:
    text = (HOME / "SECURITY.md").read_text("utf-8").partition("| who attacks |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def test_each_row_names_a_guard_and_a_test_that_are_there() -> None:
    assert len(rows()) >= len(ATTACKERS)
    for _, goal, guards, tests in rows():
        for cell, root in ((guards, "redisson_dq/"), (tests, "tests/")):
            named = re.findall("`([^`]+)`", cell)
            assert named, goal
            for each in named:
                assert each.startswith(root)
                assert (HOME / each).exists(), each
        assert all("def test_" in (HOME / each).read_text("utf-8") for each in re.findall("`([^`]+)`", tests))


def test_each_attacker_has_a_row() -> None:
    named = {who.partition(":")[0] for who, *_ in rows()}
    assert [each for each in ATTACKERS if not any(who.startswith(each) for who in named)] == []
