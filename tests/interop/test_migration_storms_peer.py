"""A migration to another server that is killed again and again, while Redissons offer and take on both sides."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE, PROGRAMS, environment, eventually
from tests.interop.conftest import OpenJava
from tests.peer import VERSIONS, from_json

# Java's clock and Redis's are the machine's. Java rounds a due time down, and tells a time after it has the value.
_CLOCKS_MS = 2


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("version", "count", "kills", "seconds"),
    [(version, *storm) for version in (VERSIONS[0], VERSIONS[-1]) for storm in ((400, 2, 2), (20_000, 10, 30))],
)
def test_redissons_offer_and_take_during_a_migration(
    redis7: EmbeddedServer,
    look: redis.Redis,
    java: OpenJava,
    queue: str,
    tmp_path: Path,
    version: str,
    count: int,
    kills: int,
    seconds: float,
) -> None:
    """Half of the values come during the migration. Each is taken once, on one of the two sides, and none is early."""
    due_ms: dict[str, float] = {}

    def offers(name: str, number: int) -> list[tuple[str, int]]:
        pairs = [(f"{name} {each}", int(1000 * seconds * each / number)) for each in range(number)]
        now_ms = time.time() * 1000
        due_ms.update((value, now_ms + delay_ms) for value, delay_ms in pairs)
        return pairs

    with EmbeddedServer(program=PROGRAMS["redis"]()) as second:
        producer, old = (java(redis7.url, version=version) for _ in range(2))
        new = java(second.url, version=version)
        # Values may be due after the migration has ended, and this one moves them then.
        new.call("open_delayed")
        producer.offer_all(offers("before", count // 2))
        journal = tmp_path / "journal"
        command = [sys.executable, "-m", "redisson_dq", "migrate", queue, "--yes", "--quiet", "0.3"]
        command += ["--url", redis7.url, "--to-url", second.url]
        killed = 0
        rounds: list[list[dict[str, object]]] = []
        taking = [each.submit("take_many", count=count, timeoutMs=int(4000 + 1000 * seconds)) for each in (old, new)]
        for number in range(kills + 1):
            more = ["--resume", str(journal)] if journal.exists() else ["--journal", str(journal)]
            size = journal.stat().st_size if journal.exists() else 0
            with (tmp_path / "log").open("a") as log:
                run = subprocess.Popen([*command, *more], env=environment(), stdout=log, stderr=log)
            producer.offer_all(offers(f"during {number}", count // 2 // (kills + 1)))
            if number == kills:
                break
            eventually(
                lambda: run.poll() is not None or (journal.exists() and journal.stat().st_size > size + 200),  # noqa: B023
                within=PATIENCE,
            )
            if run.poll() is None:
                os.kill(run.pid, signal.SIGKILL)
                killed += 1
            run.wait()
        assert run.wait(8 * PATIENCE) == 0, (tmp_path / "log").read_text()
        assert killed
        rounds += [each.result(8 * PATIENCE) for each in taking]
        # Some came when nothing had come for long.
        rounds += [each.call("take_many", count=count, timeoutMs=500) for each in (old, new)]
    taken = [(from_json(each["value"]), float(str(each["atMs"]))) for part in rounds for each in part]
    assert Counter(value for value, _ in taken) == Counter(due_ms.keys())
    assert [(value, at - due_ms[value]) for value, at in taken if at < due_ms[value] - _CLOCKS_MS] == []
    assert not look.keys("redisson_dq_migrating*")
    print(f"{killed} kills, {len(rounds[1]) + len(rounds[3])} of {len(taken)} taken on the other side")
