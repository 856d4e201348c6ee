"""How lateness, commands, the server's work and memory grow: a curve for each size.

Each point is the same small flow. A few hundred items are written in advance, in the form of one kind of producer. They
fall due at random within two seconds, and are taken. Along a curve only one size differs. Before the items are written,
the consumer is idle for a second, and its commands are counted. ``curves.py`` determines the growth.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime, timezone
from typing import Any

import attrs
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks import entries
from tests.benchmarks.growth_report import HANDLERS, WORKER, Point, goals, tables
from tests.benchmarks.measures import ASYNCIO, JAVA_ENTRIES, LEAN, REDISSON, SYNC, Run
from tests.benchmarks.processes import Worker
from tests.benchmarks.subjects import JavaConsumers
from tests.benchmarks.watching import FROM_CLIENTS, Watch, command_stats, eventually, grown, subscribers, used_memory
from tests.cluster import Cluster

__all__ = ["Case", "goals", "measure", "point", "tables"]

_QUEUE = "benchmark"
_MASTERS = 3
_RATE, _SECONDS = 100, 2.0
#: The limit for all values of a flow, so that the largest ones do not fill the machine.
_MOST_BYTES = 60_000_000
_SETTLING, _IDLE = 1.0, 1.0
_PATIENCE_MS = 60_000
_REMOVAL = 300.0
#: Each of Redisson's transfers traverses the whole list, and ten million entries would take hours.
_REDISSON_BACKLOG = 1_000_000
_SEED = 20240701

_BACKLOGS = {SYNC: entries.mirrored, LEAN: entries.lean, JAVA_ENTRIES: entries.java, REDISSON: entries.java}
_HOW = {WORKER: "worker", HANDLERS: "handlers", ASYNCIO: "asyncio"}
#: The subjects of each curve. Redisson is left out if there is no JVM.
_SUBJECTS = {
    "backlog": (REDISSON, SYNC, LEAN, JAVA_ENTRIES),
    "queues": (SYNC, ASYNCIO),
    "worker": (WORKER, HANDLERS),
    "processes": (REDISSON, SYNC),
    "value size": (REDISSON, SYNC, LEAN),
    "rate": (REDISSON, SYNC, LEAN),
    "partitions": (SYNC,),
}


@attrs.frozen(kw_only=True)
class Case:
    """One point of a curve: the consumer, its items and the backlog."""

    curve: str
    size: int
    subject: str
    backlog: int = 0
    queues: int = 1
    processes: int = 1
    value_bytes: int = 16
    rate: int = _RATE
    partitions: int | None = None

    @classmethod
    def of(cls, curve: str, size: int, subject: str) -> Case:
        field = {"worker": "queues", "value size": "value_bytes"}.get(curve, curve)
        return cls(curve=curve, size=size, subject=subject, **{field: size})

    @property
    def items(self) -> int:
        return max(5, min(round(self.rate * _SECONDS), _MOST_BYTES // self.value_bytes))


def measure(run: Run) -> list[Point]:
    """Every curve once, the smallest size first. A point that cannot be measured is reported and left out."""
    found = []
    with ExitStack() as stack:
        admin = stack.enter_context(_admin(run))
        stack.callback(admin.flushall)
        cluster: Cluster | None = None
        for case in _cases(run):
            run.say(f"growth, {case.curve} {case.size:,}: {case.subject}")
            flow = _Flow(case, run, run.server.url, [admin])
            if case.partitions is not None:
                cluster = cluster or Cluster(stack, _MASTERS)
                flow = _Flow(case, run, cluster.url, cluster.admins)
            try:
                found.append(run.kept.of(f"growth {case.curve} {case.size} {case.subject}", flow.point))
            except RuntimeError as error:
                run.say(f"left out: {error}")
    return found


def point(case: Case, run: Run, *, checkout: str | None = None) -> Point:
    """One point. The consumers use the library of another checkout if one is given."""
    with _admin(run) as admin:
        try:
            return _Flow(case, run, run.server.url, [admin], checkout).point()
        finally:
            admin.flushall()


def _admin(run: Run) -> redis.Redis:
    # Removing 10,000,000 entries takes longer than redis-py's default timeout.
    return redis.Redis.from_url(run.server.url, socket_timeout=_REMOVAL)


def _cases(run: Run) -> Iterator[Case]:
    for curve, sizes in run.settings.sizes.growth.items():
        for subject in _SUBJECTS[curve]:
            for case in (Case.of(curve, size, subject) for size in sizes):
                if subject != REDISSON or (run.peer is not None and case.backlog <= _REDISSON_BACKLOG):
                    yield case


class _Flow:
    """Carries out one case."""

    def __init__(
        self, case: Case, run: Run, url: str, admins: Sequence[redis.Redis], checkout: str | None = None
    ) -> None:
        self._case, self._run, self._url, self._admins, self._checkout = case, run, url, admins, checkout
        self._queues = [f"{_QUEUE}-{number}" for number in range(case.queues)]
        self._keys = [QueueKeys.of(name) for name in self._queues]

    def point(self) -> Point:
        case = self._case
        for admin in self._admins:
            admin.flushall()
        if case.backlog:
            _BACKLOGS[case.subject](self._url, self._queues[0], case.backlog)
        others = self._connections()
        taken = self._with_redisson() if case.subject == REDISSON else self._with_ours()
        idle, watches, server_bytes, connections, told = taken
        late = [pair for one in told for pair in one["late"]]
        numbers = {number for number, _ in late}
        return Point(
            curve=case.curve,
            size=case.size,
            subject=case.subject,
            items=case.items,
            lateness_us=[us for _, us in late],
            lost=case.items - len(numbers),
            twice=len(late) - len(numbers),
            commands=sum(watch.calls.get(name, 0) for watch in watches for name in FROM_CLIENTS),
            cpu_s=sum(watch.cpu_s for watch in watches),
            longest_script_us=max(watch.longest_us for watch in watches),
            idle=idle,
            connections=connections - others,
            threads=sum(one["threads"] for one in told),
            client_bytes=sum(one["resident"] for one in told),
            server_bytes=server_bytes,
        )

    def _with_ours(self) -> tuple[float, list[Watch], int, int, list[dict[str, Any]]]:
        case = self._case
        with ExitStack() as stack:
            workers = [stack.enter_context(Worker(self._checkout)) for _ in range(case.processes)]
            for worker in workers:
                how = _HOW.get(case.subject, "take")
                worker.send("serve", url=self._url, queues=self._queues, how=how, partitions=case.partitions)
            self._until_subscribed(case.processes)
            measured = self._measured(self._write)
            for worker in workers:
                worker.tell()
            return *measured, [worker.answer() for worker in workers]

    def _with_redisson(self) -> tuple[float, list[Watch], int, int, list[dict[str, Any]]]:
        case, peer = self._case, self._run.peer
        assert peer is not None
        consumers = JavaConsumers(peer, case.processes)
        # The last consumers wait for one more item that never comes, because no one knows how many items each gets.
        consumers.listen(self._url, self._queues[0], case.items, _PATIENCE_MS / 1000)
        self._until_subscribed(case.processes)
        measured = self._measured(self._write)
        arrivals = consumers.arrivals()
        consumers.leave()
        late = [(int(value.split()[0]), at_us - int(value.split()[1]) * 1000) for value, at_us in arrivals]
        return *measured, [{"late": late, "threads": 0, "resident": 0}]

    def _measured(self, write: Callable[[], int]) -> tuple[float, list[Watch], int, int]:
        """Counts the commands of an idle second, then writes the items, and watches until they are gone."""
        time.sleep(_SETTLING)
        before = [command_stats(admin, "calls") for admin in self._admins]
        time.sleep(_IDLE)
        calls = [grown(first, command_stats(admin, "calls")) for first, admin in zip(before, self._admins, strict=True)]
        idle = sum(each.get(name, 0) for each in calls for name in FROM_CLIENTS) / _IDLE
        last_ms = write()
        watches = [Watch(admin) for admin in self._admins]
        server_bytes, connections = sum(map(used_memory, self._admins)), self._connections()
        time.sleep(max(0.0, last_ms / 1000 - time.time()))
        eventually(self._is_done, f"{self._case.subject} did not take all of {self._case.items:,} items", _PATIENCE_MS)
        # By then, popped items have arrived.
        time.sleep(_SETTLING)
        for watch in watches:
            watch.end()
        return idle, watches, server_bytes, connections

    def _is_done(self) -> bool:
        now_ms = time.time_ns() // 1_000_000
        return not any(
            admin.llen(ready) or admin.zcount(timeout, "-inf", now_ms) for admin, ready, timeout in self._places()
        )

    def _places(self) -> Iterator[tuple[redis.Redis, Any, Any]]:
        """Each ready list and each zset, with the server that has it."""
        if self._case.partitions is None:
            yield from ((self._admins[0], keys.ready, keys.timeout) for keys in self._keys)
            return
        for admin in self._admins:
            for timeout in admin.scan_iter("redisson_delay_queue_timeout:*", count=1000):
                name = timeout.partition(b":")[2]
                yield admin, name.removeprefix(b"{").removesuffix(b"}"), timeout

    def _until_subscribed(self, processes: int) -> None:
        if self._case.partitions is not None:
            # In a cluster, only the node with the subscription reports a channel.
            time.sleep(2 * _SETTLING)
            return
        admin = self._admins[0]
        eventually(
            lambda: all(subscribers(admin, keys) >= processes for keys in self._keys),
            f"{self._case.subject} did not subscribe to {len(self._keys):,} queues",
            _PATIENCE_MS,
        )

    def _connections(self) -> int:
        return sum(len(list(admin.client_list())) for admin in self._admins)

    # -- the items ---------------------------------------------------------------------------------------------------

    def _write(self) -> int:
        """Writes all items before the first of them is due. Returns the due time of the last one, in epoch ms."""
        case, chance = self._case, random.Random(_SEED)
        as_java = case.subject in (JAVA_ENTRIES, REDISSON)
        lead_ms = 700 + case.items // (20 if as_java else 3) + case.items * case.value_bytes // 30_000
        start_ms = time.time_ns() // 1_000_000 + lead_ms
        dues = [start_ms + chance.randrange(round(_SECONDS * 1000)) for _ in range(case.items)]
        values = [(f"{number} {due_ms} ".ljust(case.value_bytes, "x"), due_ms) for number, due_ms in enumerate(dues)]
        if as_java:
            self._write_as_java(values, chance)
        else:
            self._offer(values)
        if time.time_ns() // 1_000_000 > min(dues):
            raise RuntimeError("the machine is too slow: the first item was due before the last one was written")
        return max(dues)

    def _offer(self, values: Sequence[tuple[str, int]]) -> None:
        case = self._case
        options: dict[str, Any] = {"lean": True} if case.subject == LEAN else {}
        if case.partitions is not None:
            made: Any = redisson_dq.Client(redis.RedisCluster.from_url(self._url), codec=StringCodec())
            options |= {"partitions": case.partitions} if case.partitions > 1 else {}
        else:
            made = redisson_dq.connect(self._url, codec=StringCodec())
        with made as client:
            handles = [client.delayed_queue(name, transfer=False, **options) for name in self._queues]
            for number, (value, due_ms) in enumerate(values):
                at = datetime.fromtimestamp(due_ms / 1000, timezone.utc)
                handles[number % len(handles)].offer(value, at=at)

    def _write_as_java(self, values: Sequence[tuple[str, int]], chance: random.Random) -> None:
        admin, keys, head_ms = self._admins[0], self._keys[0], None
        with admin.pipeline(transaction=False) as pipeline:
            for value, due_ms in values:
                member = wrap(Envelope.CURRENT, chance.randbytes(8), value.encode())
                pipeline.zadd(keys.timeout, {member: due_ms})
                pipeline.rpush(keys.envelopes, member)
                if head_ms is None or due_ms < head_ms:
                    head_ms = due_ms
                    pipeline.publish(keys.channel, due_ms)
                if len(pipeline) >= 1000:
                    pipeline.execute()
            pipeline.execute()
