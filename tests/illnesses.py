"""Broken fleets for the doctor: each problem is planted separately, on entries of Redisson or this library."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any, Protocol

import attrs
import pytest
import redis

import redisson_dq
from redisson_dq._version import __version__
from redisson_dq.codecs import ByteArrayCodec, Kryo5Codec
from redisson_dq.scheduling.times import machine_us
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from tests.conftest import PATIENCE, eventually, moving

__all__ = ["GLOBAL", "ILLNESSES", "Fleet", "PythonWriter", "Writer", "well"]

HOUR = 3600.0
#: An undeclared class of a Java service, as Kryo5Codec writes an object of it.
UNDECLARED = b"\x01\x00" + b"com.shop.Unseen"[:-1] + bytes([ord("n") | 0x80]) + b"\x01"


class Writer(Protocol):
    """A service that offers delayed values: a Redisson of some version, or this library."""

    def offer(self, queue: str, value: Any, delay: float) -> None: ...
    def offer_bytes(self, queue: str, value: bytes, delay: float) -> None: ...


@attrs.frozen
class PythonWriter:
    """This library as a writer."""

    client: Any

    def offer(self, queue: str, value: Any, delay: float) -> None:
        self.client.delayed_queue(queue, transfer=False).offer(value, delay=delay)

    def offer_bytes(self, queue: str, value: bytes, delay: float) -> None:
        self.client.delayed_queue(queue, codec=ByteArrayCodec(), transfer=False).offer(value, delay=delay)


@attrs.define
class Fleet:
    """A healthy fleet on one server: ``client`` moves and receives, ``writer`` offers."""

    url: str
    admin: redis.Redis
    client: Any
    writer: Writer
    patch: pytest.MonkeyPatch
    stack: ExitStack

    def listen(self, queue: str) -> Any:
        """Our client moves the queue from now on."""
        handle = moving(self.client.delayed_queue(queue))
        eventually(lambda: self.admin.pubsub_numsub(QueueKeys.of(queue).channel)[0][1])
        return handle

    def frozen(self, queue: str) -> None:
        """A client that has the queue open and moves nothing."""
        self.hears(QueueKeys.of(queue).channel)

    def hears(self, channel: str) -> None:
        pubsub = self.stack.enter_context(self.admin.pubsub())
        pubsub.subscribe(channel)
        eventually(lambda: pubsub.get_message(timeout=0.1))

    def named(self, name: str) -> None:
        """A connection with a name."""
        other = self.stack.enter_context(redis.Redis.from_url(self.url, single_connection_client=True))
        other.client_setname(name)

    def configured(self, name: str, value: str | int) -> None:
        """A setting of the server until the test ends."""
        before = str(self.admin.config_get(name)[name])
        self.admin.config_set(name, value)
        self.stack.callback(self.admin.config_set, name, before)

    def late(self, queue: str) -> None:
        """Makes the waiting items overdue by a minute."""
        keys = QueueKeys.of(queue)
        now_ms = int(self.admin.time()[0]) * 1000
        for member in self.admin.zrange(keys.timeout, 0, -1):
            self.admin.execute_command("ZADD", keys.timeout, now_ms - 60_000, member)


def rights(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.admin.execute_command("ACL", "SETUSER", "svc", "reset", "on", ">secret", "+@all", "-subscribe", "~*", "&*")
    fleet.stack.callback(fleet.admin.execute_command, "ACL", "DELUSER", "svc")
    with redis.Redis.from_url(fleet.url.replace("//", "//svc:secret@")) as service:
        with pytest.raises(redis.exceptions.NoPermissionError):
            service.execute_command("SUBSCRIBE", QueueKeys.of(queue).channel)


def eviction(fleet: Fleet, queue: str) -> None:
    fleet.configured("maxmemory", "1gb")
    fleet.configured("maxmemory-policy", "allkeys-lru")


def persistence(fleet: Fleet, queue: str) -> None:
    fleet.configured("appendonly", "no")


def memory(fleet: Fleet, queue: str) -> None:
    fleet.configured("maxmemory", int(fleet.admin.info("memory")["used_memory"] * 1.05))


def replication(fleet: Fleet, queue: str) -> None:
    fleet.configured("min-replicas-to-write", 1)


def key_types(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.admin.set(QueueKeys.of(queue).undecodable, "a text of somebody else")


def overdue(fleet: Fleet, queue: str) -> None:
    fleet.frozen(queue)
    fleet.writer.offer(queue, "late", HOUR)
    fleet.late(queue)


def parked(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.writer.offer(queue, "over its limit", HOUR)
    keys = QueueKeys.of(queue)
    entries: Any = fleet.admin.zrange(keys.timeout, 0, -1, withscores=True)
    ((member, due),) = (each for each in entries if b"over its limi" in each[0])
    id, _ = unwrap(member)
    since = int(due) - 3 * 3_600_000
    fleet.admin.hset(keys.deliveries, id, b"0 0 0 0 0 0 0 %d %s: 0 " % (int(due), b"0" * 32))
    fleet.admin.zadd(keys.lines, {b"p" + since.to_bytes(8, "big") + id: 0})
    fleet.admin.hset(keys.turns, b"p" + id, b"%d limit customer=71" % since)


def far_due(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    # Like a service that passes a time in epoch ms as the delay.
    fleet.writer.offer(queue, "in decades", HOUR)
    keys = QueueKeys.of(queue)
    (member,) = (each for each in fleet.admin.zrange(keys.timeout, 0, -1) if b"in decade" in each)
    fleet.admin.execute_command("ZADD", keys.timeout, 2 * int(time.time() * 1000) + 60_000, member)


def nobody_moves(fleet: Fleet, queue: str) -> None:
    fleet.writer.offer(queue, "alone", HOUR)


def nobody_consumes(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.writer.offer(queue, "ready", 0.001)
    eventually(lambda: fleet.admin.llen(queue) == 1)


def paused(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue).pause()
    fleet.writer.offer(queue, "waits", HOUR)


def leases_stuck(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.writer.offer(queue, "held", 0.001)
    assert fleet.client.blocking_queue(queue).receive(timeout=PATIENCE, visibility_timeout=HOUR * 24)
    deliveries = QueueKeys.of(queue).deliveries
    records: Any = fleet.admin.hgetall(deliveries)
    ((lease, record),) = records.items()
    fields = record.split(b" ")
    # It was received two hours ago.
    fields[4] = b"%d" % (int(fields[4]) - 7_200_000)
    fleet.admin.hset(deliveries, lease, b" ".join(fields))


def failing(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    handle = fleet.client.blocking_queue(queue)
    for number in range(3):
        fleet.writer.offer(queue, f"job {number}", 0.001)
    for number in range(6):
        delivery = handle.receive(timeout=PATIENCE)
        assert delivery is not None
        delivery.nack(delay=HOUR if number > 2 else None, reason="ValueError: no such order")


def dead_letters(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.writer.offer(queue, "bad", 0.001)
    delivery = fleet.client.blocking_queue(queue).receive(timeout=PATIENCE)
    assert delivery is not None
    delivery.reject("cannot be used")


def quarantine(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.admin.zadd(QueueKeys.of(queue).timeout, {b"\x01\x02junk": 1})
    fleet.writer.offer(queue, "good", HOUR)
    fleet.admin.publish(QueueKeys.of(queue).channel, "0")
    eventually(lambda: fleet.admin.llen(QueueKeys.of(queue).quarantine) == 1)


def undecodable(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.writer.offer_bytes(queue, b"\xff\xff", 0.001)
    eventually(lambda: fleet.admin.llen(queue) == 1)
    with contextlib.suppress(redisson_dq.errors.DecodeError):
        fleet.client.blocking_queue(queue, codec=Kryo5Codec()).poll()
    assert fleet.admin.llen(QueueKeys.of(queue).undecodable) == 1


def expired(fleet: Fleet, queue: str) -> None:
    delayed = fleet.client.delayed_queue(queue, transfer=False)
    delayed.offer("too late", delay=0.001, expires=0.001)
    eventually(lambda: fleet.client.inspect(queue).late_by > timedelta(seconds=0.1))
    moving(fleet.client.delayed_queue(queue))
    eventually(lambda: fleet.client.inspect(queue).expired == 1)


def torn_entries(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    for number in range(3):
        fleet.writer.offer(queue, f"item {number}", HOUR + number)
    fleet.admin.zremrangebyrank(QueueKeys.of(queue).timeout, 1, 1)


def mixed_envelopes(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    for envelope in ("legacy", "current"):
        with redisson_dq.connect(fleet.url, envelope=envelope) as other:
            other.delayed_queue(queue, transfer=False).offer("either", delay=HOUR)


def codec(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    for number in range(3):
        fleet.writer.offer(queue, {"id": number}, HOUR)
    fleet.writer.offer_bytes(queue, b'{"id": 4}', HOUR)


def unknown_classes(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.writer.offer_bytes(queue, UNDECLARED, HOUR)


def name_mapper(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.writer.offer(f"shop:{queue}", "elsewhere", HOUR)


def clock(fleet: Fleet, queue: str) -> None:
    fleet.patch.setattr("redisson_dq.doctor.sight.machine_us", lambda: machine_us() + 5_000_000)


def keyspace_events(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.hears(f"__keyspace@0__:{QueueKeys.of(queue).timeout}")


def recurring(fleet: Fleet, queue: str) -> None:
    delayed = fleet.listen(queue)
    delayed.offer_recurring("report", "daily", every=HOUR)
    keys = QueueKeys.of(queue)
    fleet.admin.delete(keys.recurring_due, keys.timeout, keys.envelopes)


def slow_scripts(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    busy = "local t = redis.call('TIME') repeat local n = redis.call('TIME') "
    busy += "until (n[1] - t[1]) * 1000000 + n[2] - t[2] > 130000 return 1"
    fleet.admin.eval(busy, 1, QueueKeys.of(queue).timeout)


def client_versions(fleet: Fleet, queue: str) -> None:
    fleet.named(f"redisson-dq/0.0.9/0123456789abcdef/subscription/{queue}")


def orphans(fleet: Fleet, queue: str) -> None:
    fleet.admin.hset(DeadKeys.belonging_to(queue).dead_info, "id", "record")


def ready_backlog(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.writer.offer(queue, "first", 0.001)
    assert fleet.client.blocking_queue(queue).receive(timeout=PATIENCE, visibility_timeout=HOUR)
    fleet.admin.rpush(queue, *[Kryo5Codec().encode(number) for number in range(1500)])


def worker(fleet: Fleet, queue: str) -> None:
    fleet.listen(queue)
    fleet.named(f"redisson-dq/{__version__}/0123456789abcdef/receiver/{queue}")
    fleet.writer.offer(queue, "ready", 0.001)
    eventually(lambda: fleet.admin.llen(queue) == 1)


def history(fleet: Fleet, queue: str) -> None:
    fleet.client.delayed_queue(queue, transfer=False).set_history(1000)
    fleet.admin.xadd(QueueKeys.of(queue).events, {"level": "info"})


#: Each problem by the id of its check. ``connection`` and ``server-version`` need other servers.
ILLNESSES: dict[str, Callable[[Fleet, str], None]] = {
    illness.__name__.replace("_", "-"): illness
    for illness in (
        *(rights, eviction, persistence, memory, replication, key_types, overdue, far_due, nobody_moves, parked),
        *(nobody_consumes,),
        *(paused, leases_stuck, failing, dead_letters, quarantine, undecodable, expired, torn_entries, mixed_envelopes),
        *(
            codec,
            unknown_classes,
            name_mapper,
            clock,
            keyspace_events,
            recurring,
            history,
            slow_scripts,
            client_versions,
        ),
        *(orphans, ready_backlog, worker),
    )
}

#: Illnesses of a server that block writes: they are planted after the others.
GLOBAL = ("memory", "replication", "persistence", "eviction", "clock")


@contextmanager
def well(url: str, admin: redis.Redis, client: Any, writer: Writer) -> Iterator[Fleet]:
    """A healthy fleet: a queue with waiting items, an idle one, and consumers of both."""
    admin.flushall()
    admin.execute_command("ACL", "LOG", "RESET")
    admin.slowlog_reset()
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        fleet = Fleet(url, admin, client, writer, patch, stack)
        for name in ("idle", "busy"):
            fleet.listen(name)
            client.blocking_queue(name).subscribe_on_elements(lambda value: None)
        # A server that refuses writes would refuse the first wait of a consumer, and the client would connect again.
        eventually(lambda: admin.info("clients")["blocked_clients"] == 2)
        writer.offer("busy", {"id": 1}, HOUR)
        yield fleet
