"""The two sides of an acceptance test: Redisson clients, Python consumers, and the data in Redis between them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, final

import redis

from redisson_dq.codecs import Codec, Kryo5Codec, StringCodec
from redisson_dq.errors import ClosedError
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, eventually
from tests.interop.java_args import JavaArg
from tests.peer import JavaPeer, from_json, to_json

__all__ = [
    "CODINGS",
    "HOUR",
    "NO_PROBE",
    "Coding",
    "Java",
    "Taker",
    "due_times",
    "entries",
    "open_delayed",
    "recoded",
    "scripts_run",
    "server_ms",
    "take",
    "waiting",
]

HOUR = 3600.0

#: A probe interval that no test reaches: what arrives then came by wake-ups alone.
NO_PROBE = HOUR


@final
class Java:
    """One Redisson client with one queue, for one test."""

    def __init__(self, peer: JavaPeer, url: str, queue: str, *, codec: Any = None, prefix: str = "") -> None:
        self._peer = peer
        self._queue = queue
        self._client = uuid.uuid4().hex
        address = url.removesuffix("/0")
        self._peer.call("open", client=self._client, address=address, codec=codec, nameMapperPrefix=prefix)

    def submit(self, op: str, **arguments: Any) -> Future[Any]:
        return self._peer.submit(op, client=self._client, queue=self._queue, **arguments)

    def call(self, op: str, **arguments: Any) -> Any:
        return self.submit(op, **arguments).result(2 * PATIENCE)

    def ready(self, op: str, **arguments: Any) -> Any:
        return self.call(op, side="ready", **arguments)

    def delayed(self, op: str, **arguments: Any) -> Any:
        return self.call(op, side="delayed", **arguments)

    def invoke(self, kind: str, method: str, *args: Any) -> Any:
        """What a method of Redisson's interface of that kind returns, in Python values; ``PeerError`` if it throws."""
        return from_json(self.invoking(kind, method, *args).result(2 * PATIENCE))

    def invoking(self, kind: str, method: str, *args: Any) -> Future[Any]:
        """The same under way, for a method that blocks; the result is raw JSON."""
        return self.submit("invoke", kind=kind, method=method, args=[JavaArg.of(arg).json for arg in args])

    def offer(self, value: Any, delay_ms: int) -> None:
        self.call("offer", value=to_json(value), delayMs=delay_ms)

    def offer_all(self, values_and_delays: Iterable[tuple[Any, int]]) -> None:
        """Returns when all of them are in, at the pace of a service under load."""
        items = [{"value": to_json(value), "delayMs": delay_ms} for value, delay_ms in values_and_delays]
        self.call("offer_many", items=items, inFlight=50)

    def taking(self, count: int) -> Future[Any]:
        """Takes until the count is reached, or until nothing came for very long."""
        return self.submit("take_many", count=count, timeoutMs=int(PATIENCE * 1000))

    def take_until(self, done: Callable[[], bool]) -> list[Any]:
        """Takes in rounds that end when nothing came for a second, as long as there may be more."""
        taken: list[Any] = []
        while True:
            last = done()
            taken += [from_json(item["value"]) for item in self.call("take_many", count=10_000, timeoutMs=1000)]
            if last:
                return taken

    def close(self) -> None:
        self._peer.call("close", client=self._client)


@final
class Taker:
    """Calls ``take()`` in a thread until the queue or its client is closed."""

    def __init__(self, queue: Any) -> None:
        self.taken: list[Any] = []
        self._queue = queue
        self._thread = ThreadPoolExecutor(1, "taker")
        self._end = self._thread.submit(self._run)

    def _run(self) -> None:
        while True:
            try:
                self.taken.append(self._queue.take())
            except ClosedError:
                return

    def wait_for(self, count: int) -> None:
        eventually(lambda: len(self.taken) >= count or self._end.done(), within=2 * PATIENCE)
        assert len(self.taken) >= count, self._end.exception()

    def ended(self) -> list[Any]:
        """Everything that was taken. The client is closed already; raises what ``take()`` raised."""
        self._end.result(PATIENCE)
        self._thread.shutdown()
        return self.taken


def take(queue: Any) -> Any:
    """``take()`` in a thread, so that a value that never comes fails the test."""
    thread = ThreadPoolExecutor(1, "take")
    try:
        return thread.submit(queue.take).result(PATIENCE)
    finally:
        # One that still waits ends when the test closes its client.
        thread.shutdown(wait=False)


def recoded(peer: JavaPeer, codec: Any, written: Sequence[bytes]) -> list[dict[str, Any]]:
    """What Java's codec writes of the values that it reads from these bytes."""
    answers: list[dict[str, Any]] = []
    for start in range(0, len(written), 1000):
        items = [data.hex() for data in written[start : start + 1000]]
        answers += peer.call("recode_many", codec=codec, items=items, timeout=120)
    return answers


@dataclass(frozen=True)
class Coding:
    """A codec in both languages, and a value of it for every number."""

    name: str
    java: str | None
    python: Codec | None
    value: Callable[[int], Any]
    number: Callable[[Any], int]

    def numbers(self, values: Iterable[Any]) -> list[int]:
        """The numbers of these values. Each value must be equal to the offered one."""
        found = []
        for value in values:
            found.append(self.number(value))
            assert value == self.value(found[-1])
        return found

    def decode(self, data: bytes) -> Any:
        return (self.python or Kryo5Codec()).decode(data)


CODINGS = (
    Coding(
        name="default",
        java=None,
        python=None,
        value=lambda number: {"id": number, "name": f"item {number} \u00e9", "tags": [number % 7, None, True, 0.5]},
        number=lambda value: int(value["id"]),
    ),
    Coding(
        name="StringCodec",
        java="StringCodec",
        python=StringCodec(),
        value=lambda number: f"item {number} \u00e9",
        number=lambda value: int(value.split()[1]),
    ),
)


def server_ms(admin: redis.Redis) -> float:
    """The server's clock in epoch milliseconds."""
    seconds, microseconds = admin.time()
    return float(seconds * 1000 + microseconds / 1000)


def scripts_run(admin: redis.Redis) -> int:
    """How many scripts the server has run."""
    stats = admin.info("commandstats")
    rows = [row for name, row in stats.items() if name in ("cmdstat_eval", "cmdstat_evalsha")]
    return sum(row["calls"] - row["failed_calls"] for row in rows)


def open_delayed(java: Java, admin: redis.Redis) -> None:
    """Returns when its first transfer is over: a message that overtakes the reply of that is lost to Redisson."""
    before = scripts_run(admin)
    java.call("open_delayed")
    eventually(lambda: scripts_run(admin) > before)


def waiting(admin: redis.Redis, queue: str) -> int:
    """How many values are in Redis, due or not."""
    keys = QueueKeys.of(queue)
    return int(admin.zcard(keys.timeout)) + int(admin.llen(keys.ready))


def entries(admin: redis.Redis, queue: str) -> list[tuple[bytes, float]]:
    """Every entry that waits, and its score, in the order they are due."""
    found: list[tuple[bytes, float]] = admin.zrange(QueueKeys.of(queue).timeout, 0, -1, withscores=True)  # type: ignore[assignment]
    return found


def due_times(
    admin: redis.Redis, queue: str, coding: Coding, offered_from_ms: float, delays_ms: Sequence[int]
) -> dict[int, float]:
    """When each item is due, read from Redis right after the offers.

    For one that had left by then it is the earliest time it can have been; no other may be earlier than that.
    """
    # Java's clock has whole milliseconds.
    due: dict[int, float] = {number: int(offered_from_ms) + delay for number, delay in enumerate(delays_ms)}
    for member, score in entries(admin, queue):
        number = coding.number(coding.decode(unwrap(member)[1]))
        assert score >= due[number]
        due[number] = score
    return due
