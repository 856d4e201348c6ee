"""``redisson_dq.doctor``: each planted problem gives its own finding and nothing else."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.doctor import CHECKS, Report, Status, diagnose
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PROGRAMS
from tests.illnesses import GLOBAL, ILLNESSES, Fleet, PythonWriter, well

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def safe_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server as in production: with an append-only file."""
    place = tmp_path_factory.mktemp("doctor")
    with EmbeddedServer(program=PROGRAMS["redis"](), appendonly=True, data_dir=place) as server:
        yield server


@pytest.fixture
def fleet(safe_server: EmbeddedServer) -> Iterator[Fleet]:
    url = safe_server.url
    with redis.Redis.from_url(url) as admin, redisson_dq.connect(url) as client:
        with well(url, admin, client, PythonWriter(client)) as made:
            yield made


def examined(url: str, *queues: str, **options: Any) -> Report:
    with redisson_dq.connect(url) as client:
        return diagnose(client, queues, **options)


def named(report: Report) -> list[str]:
    return sorted(finding.check for finding in report.findings)


def told(report: Report) -> str:
    return "\n".join(f"{each.check} {each.queue}: {each.text} {dict(each.evidence)}" for each in report.findings)


def test_a_healthy_fleet(fleet: Fleet) -> None:
    report = examined(fleet.url)
    assert report.findings == (), told(report)
    assert [(each.check, each.status, each.reason) for each in report.results] == [
        (check.id, Status.OK, None) for check in CHECKS
    ]
    assert (report.notes, report.exit_code(), report.exit_code(strict=True)) == ((), 0, 0)


@pytest.mark.parametrize("illness", ILLNESSES)
def test_a_planted_problem_is_named_and_nothing_else(fleet: Fleet, illness: str) -> None:
    ILLNESSES[illness](fleet, "orders")
    report = examined(fleet.url)
    assert named(report) == [illness], told(report)
    (finding,) = report.findings
    assert finding.queue in (None, "orders", "shop:orders")
    assert finding.evidence
    assert finding.commands
    # The command that shows it is one that redis-cli takes.
    port = re.search(r":(\d+)/", fleet.url)
    assert port is not None
    shown = finding.shown_by.replace("redis-cli", f"redis-cli -p {port[1]}", 1)
    done = subprocess.run(["bash", "-c", shown], capture_output=True, check=True).stdout
    # That nothing stands in the other key is the sign of a torn entry.
    assert (done.strip() == b"") is (illness == "torn-entries")
    assert b"ERR" not in done
    assert {each.check: each.status.value for each in report.results if each.status is not Status.OK} == {
        illness: finding.severity.value
    }


@pytest.mark.parametrize("seed", range(4))
def test_a_mix_of_five(fleet: Fleet, seed: int) -> None:
    chosen = random.Random(seed).sample(sorted(ILLNESSES), 5)
    for illness in sorted(chosen, key=lambda each: (each in GLOBAL, GLOBAL.index(each) * -1 if each in GLOBAL else 0)):
        ILLNESSES[illness](fleet, f"orders-{illness}")
    report = examined(fleet.url)
    assert named(report) == sorted(chosen), told(report)
