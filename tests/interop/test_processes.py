"""Several processes on one queue, and none at all for a while."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, final

import pytest
import redis

from redisson_dq.codecs import Kryo5Codec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.envelope import unwrap
from tests.conftest import PATIENCE, by_night, environment, eventually
from tests.interop.conftest import OpenJava
from tests.interop.sides import Java, entries, server_ms, waiting
from tests.peer import JavaPeer

EACH, EACH_AT_NIGHT = 300, 2500


@final
class PythonProcess:
    """A process of ``tests.workers.taking``; its reports arrive in a list."""

    def __init__(self, work: str, flavour: str, **arguments: Any) -> None:
        command = [sys.executable, "-m", "tests.workers.taking", work, flavour, json.dumps(arguments)]
        pipe = subprocess.PIPE
        self.reports: list[Any] = []
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8", env=environment())
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self.reports.append(json.loads(line))

    def say(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def wait(self) -> list[Any]:
        """Ends its input, waits for its end, and gives every value it took."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(PATIENCE) == 0
        self._reader.join(PATIENCE)
        return [line for line in self.reports if line not in ("ready", "offered")]

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def python(work: str, flavour: str, **arguments: Any) -> Iterator[PythonProcess]:
    process = PythonProcess(work, flavour, **arguments)
    try:
        yield process
    finally:
        process.kill()


@pytest.mark.parametrize("each", [EACH, by_night(EACH_AT_NIGHT)])
def test_four_processes_offer_and_take_on_one_queue(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, each: int
) -> None:
    chance = random.Random(4)
    shares = [[(each * who + number, chance.randrange(each)) for number in range(each)] for who in range(4)]
    in_seconds = [[(value, delay / 1000) for value, delay in share] for share in shares]
    both: dict[str, Any] = {"url": redis7.url, "queue": queue}
    with (
        JavaPeer() as second_jvm,
        python("exchange", "sync", **both, items=in_seconds[0]) as first_python,
        python("exchange", "asyncio", **both, items=in_seconds[1]) as second_python,
        ThreadPoolExecutor(4) as threads,
    ):
        pythons = [first_python, second_python]
        javas = [java(redis7.url), Java(second_jvm, redis7.url, queue)]
        for client in javas:
            client.call("open_delayed")
        eventually(lambda: all("ready" in process.reports for process in pythons))

        done = threading.Event()
        try:
            takes = [threads.submit(client.take_until, done.is_set) for client in javas]
            offers = [threads.submit(client.offer_all, share) for client, share in zip(javas, shares[2:], strict=True)]
            for process in pythons:
                process.say()
            for offer in offers:
                offer.result(2 * PATIENCE)
            eventually(lambda: all("offered" in process.reports for process in pythons), within=2 * PATIENCE)
            eventually(lambda: waiting(look, queue) == 0, within=2 * PATIENCE)
            # What they have popped and nobody waits for goes back, so they end first.
            taken = [process.wait() for process in pythons]
        finally:
            done.set()
        taken += [take.result(2 * PATIENCE) for take in takes]

    counts = Counter(value for values in taken for value in values)
    assert sorted(counts.keys() ^ set(range(4 * each))) == []
    assert [value for value, times in counts.items() if times > 1] == []
    assert all(taken), "every one of the four took some"
    assert waiting(look, queue) == 0


@pytest.mark.parametrize("flavour_name", ["sync", "asyncio"])
def test_what_fell_due_while_nobody_ran_is_delivered_to_a_consumer_that_only_takes(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, flavour_name: str
) -> None:
    # More than one transfer moves, so taking them needs transfers that follow each other.
    count = 250
    producer = java(redis7.url)
    producer.offer_all((f"item {number}", 3000 + number) for number in range(count))
    producer.close()
    last = entries(look, queue)[-1][1]
    while (left := last - server_ms(look)) >= 0:
        time.sleep(left / 1000 + 0.001)
    overdue = entries(look, queue)
    assert len(overdue) == count, "nobody was there to move them"

    with python("take", flavour_name, url=redis7.url, queue=queue, count=count) as consumer:
        eventually(lambda: len(consumer.reports) >= count)
        taken = consumer.wait()

    assert taken == [Kryo5Codec().decode(unwrap(member)[1]) for member, _ in overdue]
    assert sorted(taken) == sorted(f"item {number}" for number in range(count))
    assert [key for key in look.keys("*") if queue.encode() in key] == []
