"""The order of each key over many processes, which fail and are killed. Every value is accounted for all the time."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE, environment, eventually
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts


@contextmanager
def processes() -> Iterator[Any]:
    """Starts worker processes, and ends those that are left."""
    started: list[subprocess.Popen[str]] = []

    def start(**arguments: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.workers.in_turns", json.dumps(arguments)]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment(), encoding="utf-8")
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    try:
        yield start
    finally:
        for process in started:
            process.kill()
            process.wait()
            for end in (process.stdin, process.stdout):
                assert end is not None
                end.close()


@pytest.mark.parametrize(
    ("workers", "keys", "each", "kills", "visibility"),
    [
        pytest.param(3, 20, 10, 2, 1.0, id="few"),
        pytest.param(3, 30, 10, 4, 1.0, id="some", marks=pytest.mark.nightly),
        pytest.param(8, 1000, 5, 25, 3.0, id="many", marks=[pytest.mark.nightly, pytest.mark.timeout(1500)]),
    ],
)
@pytest.mark.parametrize("server", ["redis"], indirect=True)
def test_the_order_of_each_key_is_exact(
    server: EmbeddedServer, admin: Any, workers: int, keys: int, each: int, kills: int, visibility: float
) -> None:
    chance = random.Random(keys)
    numbers = {f"k{key}": 0 for key in range(keys)}
    values: list[str] = []
    while numbers:
        key = chance.choice(list(numbers))
        values.append(f"{key}-{numbers[key]}")
        numbers[key] += 1
        if numbers[key] == each:
            del numbers[key]
    admin.rpush(KEYS.ready, *values)
    everything = {value.encode() for value in values}

    def begun() -> list[bytes]:
        found: list[bytes] = admin.lrange("log", 0, -1)
        return found

    def reaches(count: int) -> None:
        eventually(lambda: admin.llen("log") >= count, within=4 * PATIENCE)

    with processes() as start:
        options = {"url": server.url, "visibility": visibility, "failing": 0.1}
        running = [start(seed=seed, **options) for seed in range(workers)]
        for kill in range(kills):
            reaches(len(values) * (kill + 1) // (kills + 2))
            victim = running.pop(chance.randrange(len(running)))
            victim.kill()
            victim.wait()
            before = set(begun())
            there = whereabouts(admin).total
            assert max(there.values(), default=1) == 1, "no value is there twice"
            # What was not begun before the look cannot have been done by then.
            assert everything - set(begun()) <= set(there) <= everything
            assert before <= everything
            running.append(start(seed=workers + kill, **options))
        eventually(lambda: not whereabouts(admin).total, within=8 * PATIENCE)
        log = [value.decode() for value in begun()]
    assert set(log) == set(values)
    for number in range(keys):
        of_key = [int(value.partition("-")[2]) for value in log if value.startswith(f"k{number}-")]
        assert of_key == sorted(of_key), f"k{number}: {of_key}"
    assert len(log) > len(values), "some came again"
    assert whereabouts(admin).dead.total() == 0
