"""Actions on items while everything else runs, and commands that are killed: each value is somewhere exactly once."""

from __future__ import annotations

import os
import random
import shlex
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.mending import Acting, MendedQueue, UndoFile, UndoWriter, mend_waiting, select_waiting, undo
from redisson_dq.wire.calls.mending import Met
from redisson_dq.wire.envelope import unwrap
from redisson_dq.worker import Worker

HOUR = 3600


def taken_out(path: Path) -> list[str]:
    """The values that an action has cancelled and no undo has put back, by its file."""
    found, values = UndoFile.read(path), []
    for batch in found.batches:
        for index, entry in enumerate(found.entries(batch)):
            assert batch.left is not None
            assert isinstance(entry, Met)
            is_back = batch.undone is not None and index not in batch.undone
            if index not in batch.left and batch.action == "cancel" and not is_back:
                values.append(unwrap(entry.member)[1].decode())
    return values


# -- a storm ---------------------------------------------------------------------------------------------------------
class Storm:
    """Producers, consumers and a worker on one queue, until told to stop."""

    def __init__(self, url: str, seconds_due: float) -> None:
        self.url, self.due = url, seconds_due
        self.offered: list[str] = []
        self.delivered: list[str] = []
        self.over = threading.Event()
        self.producers = [threading.Thread(target=self._produce, args=(kind,)) for kind in ("java", "lean", "named")]
        self.consumer = threading.Thread(target=self._consume)

    def _produce(self, kind: str) -> None:
        choose = random.Random(kind)
        with redisson_dq.connect(self.url, codec=StringCodec()) as client:
            delayed = client.delayed_queue("orders", lean=kind == "lean", transfer=False)
            number = 0
            while not self.over.is_set():
                values = [f"{kind}-{number + i}" for i in range(20)]
                number += 20
                if kind == "named":
                    for value in values:
                        delayed.offer(value, choose.uniform(0, self.due), id=value)
                else:
                    delayed.offer_all([(value, choose.uniform(0, self.due)) for value in values])
                self.offered += values
                self.over.wait(0.01)

    def _consume(self) -> None:
        with redisson_dq.connect(self.url, codec=StringCodec()) as client:
            queue = client.blocking_queue("orders")
            while (value := queue.poll(timeout=2)) is not None:
                self.delivered.append(value)


@pytest.mark.nightly
def test_actions_by_filter_in_a_storm_lose_and_double_nothing(client: Any, url: str, tmp_path: Path) -> None:
    storm = Storm(url, 1.5)
    worker = Worker(client)
    handled: list[str] = []

    @worker.handler("orders", concurrency=4)
    def handle(value: str) -> None:
        handled.append(value)

    mended = MendedQueue(client, "orders")
    paths, counts = [], Counter[str]()
    for thread in (*storm.producers, storm.consumer):
        thread.start()
    worker.start()
    for number in range(12):
        action: Any = ("cancel", "by", "cancel", "to")[number % 4]
        digit = str(number % 10).encode()
        ms = {"cancel": 0, "by": 700, "to": mended.now_ms() + 300}[action]
        path = tmp_path / f"{number}"
        paths.append(path)
        with (
            select_waiting(mended, lambda row, digit=digit: row.data.endswith(digit)) as chosen,  # type: ignore[misc]
            UndoWriter.new(path, mended, action, "", "") as file,
        ):
            done = mend_waiting(chosen, action, ms, Acting(undo=file))
            counts[action] += done.done
        if number % 3 == 0:
            counts["undone"] += undo(mended, UndoFile.read(path)).done
    storm.over.set()
    for thread in (*storm.producers, storm.consumer):
        thread.join()
    worker.stop()
    cancelled = [value for path in paths for value in taken_out(path)]
    left = client.delayed_queue("orders", transfer=False).read_all()
    assert left == client.blocking_queue("orders", transfer=False).read_all() == []
    assert Counter(storm.delivered + handled + cancelled) == Counter(storm.offered)
    assert min(counts[each] for each in ("cancel", "by", "to", "undone")) > 0


# -- kill -9 ---------------------------------------------------------------------------------------------------------
class Commands:
    """Starts commands, and kills them when the size of the queue says that they are in the middle."""

    def __init__(self, url: str, folder: Path, delayed: Any) -> None:
        self.url, self.folder, self.delayed = url, folder, delayed

    def killed_at(self, line: str, size: int, *, grows: bool) -> int | None:
        """Runs a command, and kills it when the queue has so many items. The exit code."""
        environment = {**os.environ, "REDISSON_DQ_URL": self.url}
        command = [sys.executable, "-m", "redisson_dq", *shlex.split(line)]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, cwd=self.folder, env=environment, stdout=quiet, stderr=quiet) as made:
            while made.poll() is None:
                now = self.delayed.size()
                if now >= size if grows else now <= size:
                    made.kill()
                    break
            return made.wait()


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 11))])
def test_a_command_that_is_killed_leaves_a_complete_file_and_loses_nothing(
    client: Any, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    choose = random.Random(seed)
    delayed = client.delayed_queue("orders", transfer=False)
    lean = client.delayed_queue("orders", lean=True, transfer=False)
    values = [f"value-{i}" for i in range(1000)]
    for i in range(0, 1000, 100):
        (delayed if i % 200 else lean).offer_all([(value, HOUR) for value in values[i : i + 100]])
    commands = Commands(url, tmp_path, delayed)

    # Batches of 20, 100 in a second.
    killed = commands.killed_at(
        "cancel orders --all --yes --rate 200 --undo-file f", choose.randint(900, 980), grows=False
    )
    assert killed == -9
    left = delayed.size()
    found = UndoFile.read(tmp_path / "f")
    assert not found.ended
    assert found.batches[-1].left is None or sum(batch.count for batch in found.batches) == 1000 - left
    # A file of many small batches, so that an undo takes some time.
    monkeypatch.setattr("redisson_dq.mending.acting.batch_size", lambda rate: 10)
    mended = MendedQueue(client, "orders")
    path = tmp_path / "g"
    with select_waiting(mended) as chosen, UndoWriter.new(path, mended, "cancel", "", "") as file:
        assert mend_waiting(chosen, "cancel", 0, Acting(undo=file, rate=1_000_000)).done == left

    taken: list[str] = []
    for goal in sorted(choose.sample(range(50, left - 300), 2)):
        assert commands.killed_at("undo g --yes", goal, grows=True) == -9
        taken += delayed.poll(7)
    assert commands.killed_at("undo g --yes", 10_000, grows=True) == 0
    assert commands.killed_at("undo f --yes", 10_000, grows=True) == 0
    assert Counter(taken + delayed.read_all()) == Counter(values)
