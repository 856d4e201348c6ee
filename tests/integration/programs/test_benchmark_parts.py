"""Each part of the benchmarks that measures scale, in a run too small to mean anything: it ends and writes its JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.__main__ import main
from tests.benchmarks.measures import ASYNCIO, JAVA_ENTRIES, LEAN, QUICK, REDISSON, SYNC
from tests.benchmarks.report import PARTS


def _measured(tmp_path: Path, *parts: str) -> dict[str, Any]:
    file = tmp_path / "figures.json"
    only = [word for part in parts for word in ("--only", part)]
    kept = ["--kept", str(tmp_path)]
    assert main([*only, "--quick", "--no-java", "--check-goals", "--json", str(file), *kept]) == 0
    figures: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return figures


@pytest.mark.nightly
def test_drains(tmp_path: Path) -> None:
    figures = _measured(tmp_path, "drain", "few-due")
    for one in [*figures["drain"], *figures["few-due"]]:
        assert one["arrived"] == one["items"]
        assert (one["early"], one["lost"], one["twice"]) == (0, 0, 0)
        assert one["scripts"] > 0
        assert one["seconds"] < one["limit_s"]
    assert {one["subject"] for one in figures["drain"]} == {SYNC, LEAN, JAVA_ENTRIES}
    assert {one["waiting"] for one in figures["few-due"]} == {1_000}
    verdicts = {goal["text"]: goal["verdict"] for goal in figures["goals"]}
    assert verdicts[f"{SYNC}: no item of a drain early, lost or twice"] == "met"
    assert verdicts[f"{SYNC}: 50,000 random within 1 s drained in 1.5 s"] == "not measured"


@pytest.mark.nightly
def test_many_processes_on_one_queue(tmp_path: Path) -> None:
    figures = _measured(tmp_path, "herd", "takeover")
    assert [one["processes"] for one in figures["herd"]] == [1, 2]
    for one in figures["herd"]:
        assert (len(one["lateness_us"]), one["early"], one["lost"], one["twice"]) == (50, 0, 0, 0)
    (kill,) = figures["takeover"]
    assert kill["lateness_us"]
    assert (kill["lost"], kill["twice"]) == (0, 0)


@pytest.mark.nightly
def test_what_is_held_while_nothing_happens(tmp_path: Path) -> None:
    figures = _measured(tmp_path, "memory", "clients", "idle")
    assert {one["layout"] for one in figures["memory"]} == {REDISSON, SYNC, LEAN}
    assert all(one["bytes"] > one["items"] * one["value_bytes"] for one in figures["memory"])
    assert {(one["flavour"], one["queues"]) for one in figures["clients"]} == {
        (flavour, queues) for flavour in (SYNC, ASYNCIO) for queues in (1, 20)
    }
    assert all(one["after"] > one["before"] > 0 and one["connections"] > 0 for one in figures["clients"])
    assert [one["subject"] for one in figures["idle"]] == [SYNC, ASYNCIO]


@pytest.mark.nightly
def test_a_backlog(tmp_path: Path) -> None:
    figures = _measured(tmp_path, "backlog")
    assert {(one["subject"], one["waiting"]) for one in figures["backlog"]} == {
        (subject, waiting) for subject in (SYNC, LEAN, JAVA_ENTRIES) for waiting in (0, 1_000)
    }
    for one in figures["backlog"]:
        assert len(one["lateness_us"]) == one["items"]
        assert (one["early"], one["lost"], one["twice"]) == (0, 0, 0)


@pytest.mark.nightly
def test_leases(tmp_path: Path) -> None:
    figures = _measured(tmp_path, "leases")
    by_name = {one["what"]: one["values"] for one in figures["leases"]}
    assert all(by_name.values())
    assert 2 <= by_name["commands an item that is waited for"][0] <= 5
    assert by_name["... in batches"][0] <= 0.1
    assert len(by_name["redelivery after the end of a lease, ms"]) == 20
    verdicts = {goal["text"]: goal["verdict"] for goal in figures["goals"]}
    assert verdicts[f"{SYNC}: at most 0.1 commands an item in batches"] == "met"


@pytest.mark.nightly
def test_a_queue_over_a_cluster(tmp_path: Path) -> None:
    figures = _measured(tmp_path, "partitions")
    assert figures["partitions"]
    for one in figures["partitions"]:
        assert 1 <= one["masters"] <= one["partitions"]
        assert (one["items"], one["lost"], one["twice"]) == (500, 0, 0)


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_curves(tmp_path: Path) -> None:
    figures = _measured(tmp_path, "growth")
    points = figures["growth"]
    assert {one["curve"] for one in points} == set(QUICK.growth)
    for one in points:
        assert (len(one["lateness_us"]), one["lost"], one["twice"]) == (one["items"], 0, 0)
        assert one["commands"] > 0
        assert one["server_bytes"] > 0
    sizes = {(one["curve"], one["size"]) for one in points}
    assert sizes == {(curve, size) for curve, sizes in QUICK.growth.items() for size in sizes}
    verdicts = {goal["text"]: goal["verdict"] for goal in figures["goals"]}
    assert verdicts["growth: no item lost or twice"] == "met"
    assert verdicts["Worker() over 3 queues: at most 3 commands a second, idle"] == "met"


@pytest.mark.nightly
def test_many_queues(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    own = Path(__file__).parents[3]
    only = [
        "--only",
        "many",
        "--quick",
        "--no-java",
        "--against",
        str(own),
        "--json",
        str(file),
        "--kept",
        str(tmp_path),
    ]
    assert main(only) == 0
    turns = json.loads(file.read_text("utf-8"))["many"]
    assert {turn["code"] for turn in turns} == {"this checkout", "the other one"}
    for turn in turns:
        one = turn["point"]
        assert (len(one["lateness_us"]), one["lost"], one["twice"]) == (one["items"], 0, 0)
        assert one["threads"] > 0


def test_every_part_tells_its_goals_though_it_was_not_measured() -> None:
    goals = [goal for part in PARTS.values() for goal in part.goals(())]
    assert len(goals) == len({goal.text for goal in goals})
    assert {goal.verdict for goal in goals} == {"not measured"}
