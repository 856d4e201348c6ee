"""Of each case of a test one pair of flavour and server runs by day, all of them at night. So do long searches."""

from __future__ import annotations

import functools
import itertools
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import yaml

from tests.conftest import by_day, environment

FILE = "tests/integration/workers/test_worker_many_queues.py"


@functools.cache
def collected(*arguments: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *arguments, FILE]
    run = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=120, check=True)
    # Tests that pytest makes and does not run cost each process of a run as much as those it runs.
    assert "deselected" not in run.stdout.splitlines()[-1]
    return [line.partition("::")[2] for line in run.stdout.splitlines() if "::" in line]


def case(test: str) -> str:
    return re.sub(r"\b(sync|asyncio|redis|valkey)\b", "", test)


def test_cases_take_turns_with_the_pairs() -> None:
    pairs = set(itertools.product(("sync", "asyncio"), ("redis", "valkey")))
    assert {by_day(number, pairs) for number in range(4)} == pairs
    assert {by_day(number, {("sync", ""), ("asyncio", "")}) for number in range(2)} == {("sync", ""), ("asyncio", "")}
    assert by_day(1, {("sync", "valkey")}) == ("sync", "valkey")


def test_a_file_sees_all_four_pairs_by_day() -> None:
    both = [re.findall(r"\b(sync|asyncio|redis|valkey)\b", test) for test in collected()]
    assert len({tuple(sorted(pair)) for pair in both if len(pair) == 2}) == 4


def test_each_case_runs_once_by_day() -> None:
    today, all_of_them = collected(), collected("-m", "")
    assert set(Counter(map(case, today)).values()) == {1}
    assert {case(test) for test in today} == {case(test) for test in all_of_them}
    assert len(all_of_them) > 3 * len(today)
    for word in ("sync", "asyncio", "redis", "valkey"):
        assert any(re.search(rf"\b{word}\b", test) for test in today)


def test_each_search_that_is_longer_by_night_runs_then() -> None:
    tests = Path(__file__).parents[1]
    (paths,) = re.findall(r"--hypothesis-profile=nightly (.*)", (tests / "nightly.sh").read_text())
    searched = [tests.parent / path for path in paths.split()]
    longer = [path for path in tests.rglob("test_*.py") if re.search(r"\bas_many\(", path.read_text())]
    assert longer
    assert [path for path in longer if not any(path.is_relative_to(each) for each in searched)] == []


def test_the_nightly_workflow_has_each_part() -> None:
    root = Path(__file__).parents[2]
    parts = re.findall(r'^part "([^"]+)"', (root / "tests" / "nightly.sh").read_text(), re.M)
    workflow = yaml.safe_load((root / ".github" / "workflows" / "nightly.yml").read_text())
    words = workflow["jobs"]["nightly"]["strategy"]["matrix"]["part"]
    assert parts
    assert [part for part in parts if not any(word in part for word in words)] == []
    assert [word for word in words if not any(word in part for part in parts)] == []
