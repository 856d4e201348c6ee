"""A migration between two servers, killed again and again, under producers and consumers of both queues."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
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
_RECORDS = (b"deliveries", b"histories", b"history_ends")


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
        """Offers so many values that fall due at random times, half of them as lean entries."""
        pairs = [(f"{name} {number}", random.uniform(least, most)) for number in range(count)]
        for start in range(0, count, 500):
            delayed = self._clients[0].delayed_queue("orders", transfer=False, lean=bool(start // 500 % 2))
            part = pairs[start : start + 500]
            offered_ms = time.time() * 1000
            for value, delay in part:
                self.due_ms[value] = offered_ms + 1000 * delay
            delayed.offer_all(part)

    def add(self, count: int) -> None:
        """Adds values that are ready."""
        values = [f"ready {number}" for number in range(count)]
        self.due_ms |= dict.fromkeys(values, 0.0)
        for start in range(0, count, 1000):
            self._clients[0].blocking_queue("orders", transfer=False).add_all(values[start : start + 1000])

    def hold(self, count: int, least: float, most: float) -> None:
        """Receives so many values. Their leases end while the migration runs, and they come again then."""
        queue = self._clients[0].blocking_queue("orders", transfer=False)
        for start in range(0, count, 1000):
            values = [f"held {number}" for number in range(start, min(count, start + 1000))]
            queue.add_all(values)
            timeout = random.uniform(least, most)
            until_ms = time.time() * 1000 + 1000 * timeout
            self.due_ms |= dict.fromkeys(values, until_ms)
            assert len(queue.receive(len(values), timeout=5, visibility_timeout=timeout)) == len(values)

    def _take(self, queue: Any) -> None:
        with suppress(ClosedError):
            while True:
                values = [queue.take(), *queue.poll(limit=500)]
                now_ms = time.time() * 1000
                self.taken += [(value, now_ms) for value in values]

    def end(self) -> None:
        for client in self._clients:
            client.close()
        for thread in self._threads:
            thread.join(PATIENCE)


def _migrating(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "redisson_dq", "migrate", "orders", *arguments, "--yes", "--json"]
    with (folder / "migrate.log").open("a") as log:
        return subprocess.Popen(command, cwd=folder, env=environment(), stdout=log, stderr=log, text=True)


@pytest.mark.parametrize(
    ("count", "kills", "seconds"),
    [
        (800, 4, 6),
        pytest.param(10_000, 10, 30, marks=pytest.mark.nightly),
        pytest.param(100_000, 10, 120, marks=[pytest.mark.nightly, pytest.mark.timeout(1500)]),
    ],
    ids=["small", "large", "whole"],
)
def test_nothing_is_lost_twice_or_early(
    own_server: EmbeddedServer, tmp_path: Path, count: int, kills: int, seconds: float
) -> None:
    """So many of each kind: ready, waiting, in flight, dead, quarantined."""
    with (
        EmbeddedServer(program=PROGRAMS["redis"]()) as second,
        redis.Redis.from_url(own_server.url) as admin,
        redis.Redis.from_url(second.url) as there,
    ):
        old, new = (redisson_dq.connect(each.url, codec=StringCodec()) for each in (own_server, second))
        load = _Load(old, new)
        try:
            queue = old.blocking_queue("orders", transfer=False)
            for start in range(0, count, 1000):
                queue.add_all([f"dead {number}" for number in range(start, min(count, start + 1000))])
                queue.reject_all(queue.receive(1000, timeout=5), reason="no such order")
                junk = [b"1795256046475 \x01junk %d" % number for number in range(start, min(count, start + 1000))]
                admin.rpush("redisson_dq_quarantine:{orders}", *junk)
            load.hold(count, seconds / 2, seconds)
            load.offer(count, "waiting", 0.5, seconds)
            load.add(count)
            journal = tmp_path / "journal"
            where = ["--url", own_server.url, "--to-url", second.url]
            killed, during = 0, count // 20
            for number in range(kills + 1):
                more = ["--resume", "journal"] if journal.exists() else ["--to-name", "bills", "--journal", "journal"]
                size = journal.stat().st_size if journal.exists() else 0
                run = _migrating([*where, *more], tmp_path)
                if number == 1:
                    load.start_consumers()
                if number == kills:
                    break
                until = size + random.randrange(1, max(300, min(count, 40_000)))
                eventually(
                    lambda: run.poll() is not None or (journal.exists() and journal.stat().st_size > until),  # noqa: B023
                    within=8 * PATIENCE,
                )
                load.offer(during, f"during {number}", 0, seconds / 3)
                if run.poll() is None:
                    os.kill(run.pid, signal.SIGKILL)
                    killed += 1
                run.wait()
            assert run.wait(60 * PATIENCE) == 0, (tmp_path / "migrate.log").read_text()
            assert killed >= min(kills, 3)
            eventually(
                lambda: len(load.taken) >= len(load.due_ms),
                within=40 * PATIENCE,
                told=lambda: (len(load.taken), len(load.due_ms), new.inspect("bills"), old.inspect("orders")),
            )
            letters = there.lrange("redisson_dq_dead:{bills}", 0, -1)
            set_aside = there.lrange("redisson_dq_quarantine:{bills}", 0, -1)
            left = {key.split(b":")[0] for key in admin.scan_iter("*orders*")}
        finally:
            load.end()
    times = Counter(value for value, _ in load.taken)
    assert times == Counter(load.due_ms.keys())
    early = [(value, at - load.due_ms[value]) for value, at in load.taken if at < load.due_ms[value] - _CLOCKS_MS]
    assert early == []
    assert sorted(letters) == sorted(b"dead %d" % number for number in range(count))
    assert sorted(set_aside) == sorted(b"1795256046475 \x01junk %d" % number for number in range(count))
    # A value that was taken without a receive, after a lease, leaves the record of its deliveries.
    assert left <= {b"redisson_dq_" + name for name in (b"mover", b"alarm", b"returned", *_RECORDS)}
    log = (tmp_path / "migrate.log").read_text()
    moved = json.loads(log[log.rindex("\n{") :])["moved"]
    assert (moved["dead"], moved["quarantined"]) == (count, count)
    # The others were taken under the old name.
    assert moved.get("waiting", 0) + moved.get("ready", 0) <= len(load.due_ms)
    late = sorted(at - load.due_ms[value] for value, at in load.taken if load.due_ms[value])
    print(f"moved {moved}, {killed} kills")
    print(f"{len(load.taken)} values, late by {late[len(late) // 2]:.0f} ms, at most {late[-1]:.0f} ms")
