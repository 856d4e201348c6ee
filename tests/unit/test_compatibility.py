"""The page on versions reports a run with all versions that the project declares."""

from __future__ import annotations

import itertools
import re
from datetime import date

from tests.compatibility.combinations import Result, most_telling
from tests.compatibility.environments import ROOT
from tests.compatibility.page import BEGIN, END, PAGE, section
from tests.interop.conftest import EACH_VERSION
from tests.versions import CLIENTS, NEWEST, OLDEST, PYTHONS, REDISES, REDISSONS, VALKEYS


def _run() -> str:
    return PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]


def _named(word: str) -> list[str]:
    return re.findall(rf"\b{word} ([\d.]+) \|", _run())


def test_every_version_that_is_declared_was_run_or_is_named_as_missing() -> None:
    missing = re.findall(r"3\.\d+", _run().partition("the machine had none:")[2].partition("\n")[0])
    run = [version.rpartition(".")[0] for version in _named("Python")]
    assert sorted([*run, *missing]) == sorted(PYTHONS)
    # Most of them were run.
    assert len(run) > len(missing)
    untried = re.findall(r"\d+\.\d+\.\d+", _run().partition("Not tried: Redisson")[2])
    assert sorted([*_named("Redisson"), *untried]) == sorted(REDISSONS)
    assert len(EACH_VERSION) == len(REDISSONS)


def test_the_oldest_versions_that_are_allowed_were_run() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    bound = re.search(r'"redis\[hiredis\]>=([\d.]+)"', project)
    assert bound
    assert CLIENTS[0].startswith(f"=={bound[1]}")
    clients = sorted(_named("redis-py"), key=lambda text: [int(part) for part in text.split(".")])
    assert [clients[0], len(clients)] == [CLIENTS[0].removeprefix("=="), len(CLIENTS)]
    assert f'requires-python = ">={PYTHONS[0]}"' in project
    for word, versions in (("Redis", REDISES), ("Valkey", VALKEYS)):
        assert sorted(".".join(version.split(".")[:2]) for version in _named(word)) == sorted(versions)
    assert "Redis 6.2 or newer" in (ROOT / "README.md").read_text("utf-8")


def test_all_that_was_run_has_passed() -> None:
    run = _run()
    count = re.search(r"(\d+) of (\d+) combinations were tried. (\d+) of (\d+) passed", run)
    assert count
    of_all, there_are, passed, tried = map(int, count.groups())
    assert passed == tried == of_all <= there_are
    days = re.findall(r"\d{4}-\d\d-\d\d", run)
    assert days
    assert all(date.fromisoformat(day) > date(2026, 1, 1) for day in days)
    cells = re.findall(r"(\d+) of (\d+) \|", run)
    assert all(passed == of for passed, of in cells)
    sums = [sum(int(of) for _, of in re.findall(r"(\d+) of (\d+) \|", table)) for table in run.split("\n\n| |")[1:]]
    assert sums == [tried] * 2


def test_a_combination_that_failed_is_named_and_one_that_was_not_tried_too() -> None:
    good = Result("3.11.7", "8.1.0", "Redis 7.0.15", NEWEST, "2026-11-27")
    bad = Result("3.11.7", "6.4.0", "Redis 10.0.1", NEWEST, "2026-11-26", "Python: it broke")
    other = Result("3.11.7", "8.1.0", "Redis 7.0.15", OLDEST, "2026-11-26")
    text = section([good, bad, other])
    # Of two redis-pys, two servers and two Redissons.
    assert text.startswith("3 of 8 combinations were tried. 2 of 3 passed.\n")
    assert "| | Redis 7.0.15 | Redis 10.0.1 | on |\n|---|---|---|---|\n" in text
    assert f"| Redisson {OLDEST} | 1 of 1 | not tried | 2026-11-26 |" in text
    assert f"| Redisson {NEWEST} | 1 of 1 | 0 of 1 | 2026-11-26 to 2026-11-27 |" in text
    assert f"- Python 3.11.7, redis-py 6.4.0, Redis 10.0.1, Redisson {NEWEST}: Python: it broke" in text


def test_a_short_run_begins_with_what_was_never_tried() -> None:
    every = [*itertools.product(("3.10", "3.11"), ("6", "8"), ("Redis", "Valkey"), ("3.20", "4.7"))]
    first, *rest = most_telling(every, {})
    assert len({first, *rest}) == len(every)
    # The second one has no pair of the first.
    assert len(set(first) & set(rest[0])) <= 1
    before = {each: f"2026-11-{20 + place}" for place, each in enumerate(reversed(every[:-1]))}
    order = [*most_telling(every, before)]
    assert order == [every[-1], *reversed(every[:-1])]
