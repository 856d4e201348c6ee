"""A migration between two servers, killed again and again, under producers and consumers of both queues."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ClosedError
from tests.conftest import PATIENCE, PROGRAMS, environment, eventually

# The two servers share the machine's clock. A value of this much before its due time is early.
_CLOCKS_MS = 2


class _Load:
    """Offers to the old name, and takes from both names, until all that was offered has come."""

    def __init__(self, old: Any, new: Any) -> None:
        self.due_ms: dict[str, float] = {}
        self.taken: list[tuple[str, float]] = []
        self._clients = (old, new)
        self._threads = [
            threading.Thread(target=self._take, args=(old.blocking_queue("orders"),)),
            threading.Thread(target=self._take, args=(new.blocking_queue("bills"),)),
        ]

    def start_consumers(self) -> None:
        for thread in self._threads:
            thread.start()

    def offer(self, count: int, name: str, least: float, most: float) -> None:
        """Offers so many values that fall due at random times."""
        delayed = self._clients[0].delayed_queue("orders", transfer=False)
        pairs = [(f"{name} {number}", random.uniform(least, most)) for number in range(count)]
        for start in range(0, count, 500):
            part = pairs[start : start + 500]
            offered_ms = time.time() * 1000
            for value, delay in part:
                self.due_ms[value] = offered_ms + 1000 * delay
            delayed.offer_all(part)

    def add(self, count: int) -> None:
        """Adds values that are ready."""
        values = [f"ready {number}" for number in range(count)]
        self.due_ms |= dict.fromkeys(values, 0.0)
        self._clients[0].blocking_queue("orders", transfer=False).add_all(values)

    def _take(self, queue: Any) -> None:
        try:
            while True:
                value = queue.take()
                self.taken.append((value, time.time() * 1000))
        except ClosedError:
            return

    def end(self) -> None:
        for client in self._clients:
            client.close()
        for thread in self._threads:
            thread.join(PATIENCE)


def _migrating(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "redisson_dq", "migrate", "orders", *arguments, "--yes"]
    with (folder / "migrate.log").open("a") as log:
        return subprocess.Popen(command, cwd=folder, env=environment(), stdout=log, stderr=log, text=True)


@pytest.mark.parametrize(
    ("count", "kills"), [(800, 4), pytest.param(10_000, 10, marks=pytest.mark.nightly)], ids=["small", "large"]
)
def test_nothing_is_lost_twice_or_early(own_server: EmbeddedServer, tmp_path: Path, count: int, kills: int) -> None:
    with (
        EmbeddedServer(program=PROGRAMS["redis"]()) as second,
        redis.Redis.from_url(own_server.url) as admin,
        redis.Redis.from_url(second.url) as there,
    ):
        old, new = (redisson_dq.connect(each.url, codec=StringCodec()) for each in (own_server, second))
        load = _Load(old, new)
        try:
            queue = old.blocking_queue("orders", transfer=False)
            queue.add_all([f"dead {number}" for number in range(count)])
            for _ in range(0, count, 1000):
                queue.reject_all(queue.receive(1000, timeout=5), reason="no such order")
            load.offer(count, "waiting", 0.5, 30 if count > 1000 else 6)
            load.add(count)
            journal = tmp_path / "journal"
            where = ["--url", own_server.url, "--to-url", second.url, "--to-name", "bills"]
            first = [*where, "--journal", "journal"]
            killed = 0
            for number in range(kills + 1):
                resume = ["--url", own_server.url, "--to-url", second.url, "--resume", "journal"]
                size = journal.stat().st_size if journal.exists() else 0
                run = _migrating(first if not journal.exists() else resume, tmp_path)
                if number == 1:
                    load.start_consumers()
                if number == kills:
                    break
                more = random.randrange(1, 300 if count < 1000 else 1500)
                eventually(
                    lambda: run.poll() is not None or (journal.exists() and journal.stat().st_size > size + more),  # noqa: B023
                    within=4 * PATIENCE,
                )
                load.offer(count // 20, f"during {number}", 0, 10 if count > 1000 else 3)
                if run.poll() is None:
                    os.kill(run.pid, signal.SIGKILL)
                    killed += 1
                run.wait()
            assert run.wait(20 * PATIENCE) == 0, (tmp_path / "migrate.log").read_text()
            assert killed >= min(kills, 3)
            eventually(
                lambda: len(load.taken) >= len(load.due_ms),
                within=20 * PATIENCE,
                told=lambda: (len(load.taken), len(load.due_ms), new.inspect("bills"), old.inspect("orders")),
            )
            letters = there.lrange("redisson_dq_dead:{bills}", 0, -1)
            left = {key for key in admin.scan_iter("*orders*") if not key.startswith(b"redisson_dq_mover")}
        finally:
            load.end()
    times = Counter(value for value, _ in load.taken)
    assert times == Counter(load.due_ms.keys())
    early = [(value, at - load.due_ms[value]) for value, at in load.taken if at < load.due_ms[value] - _CLOCKS_MS]
    assert early == []
    assert sorted(letters) == sorted(b"dead %d" % number for number in range(count))
    assert left - {b"redisson_dq_alarm:{orders}", b"redisson_dq_returned:{orders}"} == set()
    late = sorted(at - load.due_ms[value] for value, at in load.taken if load.due_ms[value])
    print(f"{len(load.taken)} values, {killed} kills, late by {late[len(late) // 2]:.0f} ms, at most {late[-1]:.0f} ms")
