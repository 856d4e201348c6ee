"""The consumers whose lateness is measured. Each has a process of its own and answers with (value, arrival) pairs."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Protocol

from tests.benchmarks.measures import REDISSON
from tests.peer import JavaPeer

__all__ = ["Arrivals", "JavaConsumer", "PythonConsumer", "Subject"]

#: Values in the order they came, each with the epoch time in microseconds when the consumer had it.
Arrivals = list[tuple[str, int]]

_ROOT = Path(__file__).resolve().parents[2]
# How long after its own time limit a consumer may still take to answer.
_GRACE = 20.0
# How long one that has nothing to do may take to end.
_END = 5.0
# Redisson gives up when nothing came for so long. Between warm-up and measured items stands a second or two.
_JAVA_IDLE_MS = 15_000


class Subject(Protocol):
    """One consumer. It serves passes one after the other, with a fresh client each."""

    name: str

    def listen(self, url: str, queue: str, count: int, timeout: float) -> None:
        """Opens the queue and starts to take ``count`` values. Does not wait."""

    def arrivals(self) -> Arrivals:
        """Waits for the values. Some are missing when the time limit passed."""

    def leave(self) -> None:
        """Closes the client; the process stays for the next pass."""

    def close(self) -> None:
        """Ends the process."""


class PythonConsumer:
    """This library, in either flavour."""

    def __init__(self, name: str, flavour: str) -> None:
        self.name = name
        self._limit = 0.0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.consumer", flavour],
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def listen(self, url: str, queue: str, count: int, timeout: float) -> None:
        assert self._process.stdin is not None
        self._limit = timeout + _GRACE
        self._process.stdin.write(json.dumps({"url": url, "queue": queue, "count": count, "timeout": timeout}) + "\n")
        self._process.stdin.flush()

    def arrivals(self) -> Arrivals:
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], self._limit)
        line = self._process.stdout.readline() if readable else ""
        if not line:
            raise RuntimeError(f"{self.name}: the consumer process did not answer, see its messages above")
        return [(value, at_us) for value, at_us in json.loads(line)]

    def leave(self) -> None:
        """It closes its client after the last value by itself."""

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


class JavaConsumer:
    """Redisson, in the JVM of ``peer``."""

    name = REDISSON

    def __init__(self, peer: JavaPeer) -> None:
        self._peer = peer
        self._limit = 0.0
        self._taken: Future[Any] = Future()

    def listen(self, url: str, queue: str, count: int, timeout: float) -> None:
        self._limit = timeout + _GRACE
        # Without the database, which Redisson takes from elsewhere.
        self._peer.call("open", address=url.rpartition("/")[0], codec="StringCodec")
        self._peer.call("open_delayed", queue=queue)
        self._taken = self._peer.submit("take_many", queue=queue, count=count, timeoutMs=_JAVA_IDLE_MS)

    def arrivals(self) -> Arrivals:
        return [(item["value"], round(item["atMs"] * 1000)) for item in self._taken.result(self._limit)]

    def leave(self) -> None:
        self._peer.call("close")

    def close(self) -> None:
        """The JVM belongs to whoever started it."""
