"""The consumers whose lateness is measured: one process or many, which answer with (value, arrival) pairs."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any, Protocol

import redis

from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks.measures import REDISSON, SYNC
from tests.benchmarks.processes import Worker
from tests.benchmarks.watching import eventually, is_empty
from tests.peer import JavaPeer

__all__ = ["Arrivals", "JavaConsumers", "PythonConsumer", "PythonCrowd", "Subject", "java_address"]

#: Values in the order they came, each with the epoch time in microseconds when the consumer had it.
Arrivals = list[tuple[str, int]]

# How long after its own time limit a consumer may still take to answer.
_GRACE = 20.0
# Redisson gives up if nothing arrives for this time. There are a second or two between warm-up and measured items.
_JAVA_IDLE_MS = 15_000
# Of several clients each waits so long for the next item after the last one, as none knows how many it gets.
_JAVA_CROWD_IDLE_MS = 4_000
# What many processes have popped has arrived in them by then.
_ON_THEIR_WAY = 2.0


class Subject(Protocol):
    """One consumer or several alike. It serves passes one after the other, with fresh clients each."""

    name: str
    #: How many clients are subscribed while it listens.
    processes: int

    def listen(self, url: str, queue: str, count: int, timeout: float) -> None:
        """Opens the queue and starts to take ``count`` values. Does not wait."""

    def arrivals(self) -> Arrivals:
        """Waits for the values. Some are missing when the time limit passed."""

    def leave(self) -> None:
        """Closes the client; the process stays for the next pass."""

    def close(self) -> None:
        """Ends the process."""


class PythonConsumer:
    """This library, in either flavour, one process."""

    processes = 1

    def __init__(self, name: str, flavour: str) -> None:
        self.name = name
        self._flavour = flavour
        self._limit = 0.0
        self._worker = Worker()

    def listen(self, url: str, queue: str, count: int, timeout: float) -> None:
        self._limit = timeout + _GRACE
        self._worker.send("take", flavour=self._flavour, url=url, queue=queue, count=count, timeout=timeout)

    def arrivals(self) -> Arrivals:
        return [(value, at_us) for value, at_us in self._worker.answer(self._limit)]

    def leave(self) -> None:
        """It closes its client after the last value by itself."""

    def close(self) -> None:
        self._worker.close()


class PythonCrowd:
    """Many processes of this library on one queue, each of which takes and moves."""

    name = SYNC

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._url = ""
        self._keys = QueueKeys.of("")
        self._limit = 0.0
        self._workers: list[Worker] = []

    def listen(self, url: str, queue: str, count: int, timeout: float) -> None:
        self._url, self._keys, self._limit = url, QueueKeys.of(queue), timeout
        # Started for the first pass, so that waiting crowds take no memory.
        self._workers = self._workers or [Worker() for _ in range(self.processes)]
        for worker in self._workers:
            worker.send("consume", url=url, queue=queue, transfer=True)

    def arrivals(self) -> Arrivals:
        with redis.Redis.from_url(self._url) as admin:
            complaint = f"{self.processes} processes did not take all"
            eventually(lambda: is_empty(admin, self._keys), complaint, round(self._limit * 1000))
        # Redis has given away the last ones, which the busy processes have yet to read.
        time.sleep(_ON_THEIR_WAY)
        for worker in self._workers:
            worker.tell()
        return sorted(
            ((value, at_us) for worker in self._workers for value, at_us in worker.answer(self._limit)),
            key=lambda pair: pair[1],
        )

    def leave(self) -> None:
        """They have closed their clients."""

    def close(self) -> None:
        for worker in self._workers:
            worker.close()


class JavaConsumers:
    """Redisson: so many clients in the JVM of ``peer``."""

    name = REDISSON

    def __init__(self, peer: JavaPeer, processes: int = 1, *, idle_ms: int = _JAVA_IDLE_MS) -> None:
        self.processes = processes
        self._idle_ms = idle_ms if processes == 1 else _JAVA_CROWD_IDLE_MS
        self._peer = peer
        self._limit = 0.0
        self._clients = [f"consumer-{number}" for number in range(processes)]
        self._taken: list[Future[Any]] = []

    def listen(self, url: str, queue: str, count: int, timeout: float) -> None:
        self._limit = timeout + _GRACE
        for client in self._clients:
            self._peer.call("open", client=client, address=java_address(url), codec="StringCodec")
            self._peer.call("open_delayed", client=client, queue=queue)
        self._taken = [
            self._peer.submit("take_many", client=client, queue=queue, count=count, timeoutMs=self._idle_ms)
            for client in self._clients
        ]

    def arrivals(self) -> Arrivals:
        found = [(item["value"], round(item["atMs"] * 1000)) for one in self._taken for item in one.result(self._limit)]
        return sorted(found, key=lambda pair: pair[1])

    def leave(self) -> None:
        for client in self._clients:
            self._peer.call("close", client=client)

    def close(self) -> None:
        """The JVM belongs to whoever started it."""


def java_address(url: str) -> str:
    """The server's URL without the database, which Redisson takes from elsewhere."""
    return url.rpartition("/")[0]
