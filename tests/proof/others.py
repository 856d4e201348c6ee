"""Kills of a server under other task queues and Redisson, as the benchmarks start them: the fate of their jobs.

A producer enqueues, half of the jobs half a second ahead, and a worker handles them, as fast as both can. Again and
again the server gets SIGKILL at a random moment, and starts again with its files. At the end the worker is stopped and
started once more. A job that has never begun is lost where no key of Redis names it. Otherwise it stands still there.
"""

from __future__ import annotations

import random
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs
import redis

from redisson_dq.embedded import EmbeddedServer
from tests.benchmarks.peers.peer import PEERS, Peer
from tests.benchmarks.peers.processes import PeerFailed, Producer, Worker
from tests.benchmarks.peers.stage import START, now_ms
from tests.conftest import PROGRAMS

__all__ = ["OTHERS", "Aftermath", "killed", "table"]

OTHERS = {
    each.name: each
    for each in PEERS
    if each.module in ("on_redisson_dq", "on_redisson", "on_celery", "on_rq", "on_bullmq", "on_asynq")
}

# Numbers that do not otherwise occur in the bytes of a job.
_FIRST = 700_000_000
_NUMBER = re.compile(rb"7\d{8}(?!\d)")
# So many jobs may be ahead of the worker, for so many seconds.
_AHEAD, _AHEAD_SECONDS = 100, 0.5
# Seconds in which a worker may come back before the next kill, and without any job before it counts as standing still:
# before it is started again, and after that, when leases and locks of half a minute are over and were looked for.
_BACK, _QUIET, _OVER = 10.0, 20.0, 75.0


@attrs.frozen(kw_only=True)
class Aftermath:
    """The fate of one peer's jobs after some kills."""

    name: str
    versions: str
    setting: str
    kills: int
    confirmed: int
    lost: int
    #: Never begun, and still in Redis.
    still: int
    #: Begun only when the worker was started again.
    late: int
    twice: int
    seconds: float


def table(found: list[Aftermath]) -> list[str]:
    """The rows of a table."""
    return [
        "| | `appendfsync` | kills | confirmed | lost | stand still | late | begun twice |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {each.name} {each.versions} | {each.setting} | {each.kills:,} | {each.confirmed:,} | {each.lost:,} "
            f"| {each.still:,} | {each.late:,} | {each.twice:,} |"
            for each in found
        ),
    ]


def killed(name: str, setting: str, kills: int, seed: int, within: float) -> Aftermath:
    """Kills the server so often, for ``within`` seconds at most. The environment of the peer is made first."""
    peer, rng, began = OTHERS[name], random.Random(f"{name}-{seed}"), time.monotonic()
    peer.environment.prepare()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        server = EmbeddedServer(
            program=PROGRAMS["valkey"](), appendonly=True, data_dir=folder / "data", config={"appendfsync": setting}
        )
        stack.enter_context(server)
        worker = stack.enter_context(Worker(peer, server.url, folder))
        jobs = _Enqueuing(peer, server.url, folder, worker)
        with jobs:
            jobs.go_on(START)
            done, ends = 0, time.monotonic() + within
            while done < kills and time.monotonic() < ends:
                done += 1
                jobs.go_on(_BACK)
                time.sleep(rng.uniform(0.02, 0.12))
                server.kill()
                server.start()
            jobs.go_on(_BACK)
        jobs.settle(_QUIET)
        before = set(jobs.begun())
        worker.terminate(10.0)
        worker.start()
        jobs.settle(_OVER)
        begun = jobs.begun()
        missing = jobs.confirmed - set(begun)
        with redis.Redis.from_url(server.url) as admin:
            there = missing & set(_numbers(admin))
    return Aftermath(
        name=name,
        versions=jobs.versions,
        setting=setting,
        kills=done,
        confirmed=len(jobs.confirmed),
        lost=len(missing - there),
        still=len(there),
        late=len((jobs.confirmed & set(begun)) - before),
        twice=sum(times > 1 for times in begun.values()),
        seconds=time.monotonic() - began,
    )


class _Enqueuing:
    """Enqueues in a thread of its own while it is entered, and knows what was confirmed."""

    def __init__(self, peer: Peer, url: str, folder: Path, worker: Worker) -> None:
        self._peer, self._url, self._folder, self._worker = peer, url, folder, worker
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._enqueue, name="producer")
        self.confirmed: set[int] = set()
        self.versions = ""

    def __enter__(self) -> _Enqueuing:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def begun(self) -> Counter[int]:
        return Counter(mark.number for mark in self._worker.marks())

    def go_on(self, seconds: float) -> None:
        """Returns when jobs are enqueued and begun, or after some seconds. Starts a worker again that has ended."""
        confirmed, begun = len(self.confirmed), self._count()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and (len(self.confirmed) < confirmed + 10 or self._count() == begun):
            self._revive()
            time.sleep(0.01)

    def settle(self, seconds: float) -> None:
        """Returns when all have begun that were confirmed, or none has for some seconds."""
        count, deadline = self._count(), time.monotonic() + seconds
        while time.monotonic() < deadline and self.confirmed - set(self.begun()):
            self._revive()
            if self._count() != count:
                count, deadline = self._count(), time.monotonic() + seconds
            time.sleep(0.2)

    def _count(self) -> int:
        file = self._worker.marks_file
        return file.read_bytes().count(b"\n") if file.exists() else 0

    def _revive(self) -> None:
        try:
            self._worker.check()
        except PeerFailed:
            self._worker.kill()
            self._worker.start()

    def _enqueue(self) -> None:
        number = _FIRST
        while not self._ends.is_set():
            try:
                with Producer(self._peer, self._url, self._folder) as producer:
                    self.versions = " ".join(list(producer.versions.values())[:1])
                    while not self._ends.is_set():
                        number += 1
                        producer.enqueue([(number, now_ms() + 500 if number % 2 else None)])
                        self.confirmed.add(number)
                        self._wait()
            except PeerFailed:
                # The call gave up, and its job is not confirmed.
                self._ends.wait(0.05)

    def _wait(self) -> None:
        ends = time.monotonic() + _AHEAD_SECONDS
        while len(self.confirmed) - self._count() > _AHEAD and time.monotonic() < ends and not self._ends.is_set():
            time.sleep(0.005)


def _numbers(admin: Any) -> Iterator[int]:
    """The jobs that any key names. All of these libraries write the arguments of a job as a text too."""
    for key in admin.scan_iter(count=1000):
        for data in (key, *_parts(admin, key)):
            yield from map(int, _NUMBER.findall(data))


def _parts(admin: Any, key: bytes) -> list[bytes]:
    kind = admin.type(key)
    if kind == b"string":
        return [admin.get(key) or b""]
    if kind == b"hash":
        return [part for pair in admin.hgetall(key).items() for part in pair]
    if kind == b"list":
        return list(admin.lrange(key, 0, -1))
    if kind == b"set":
        return list(admin.smembers(key))
    if kind == b"zset":
        return list(admin.zrange(key, 0, -1))
    return [part for _, fields in admin.xrange(key) for pair in fields.items() for part in pair]
