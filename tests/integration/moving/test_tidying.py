"""Records are removed soon after their time, even from a queue in which nothing is moved any more."""

from __future__ import annotations

import time
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.wire import calls
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import DeadKeys, LeaseKeys
from redisson_dq.wire.lease_source import LeaseSource
from tests.conftest import ONE_FLAVOUR_BY_DAY, eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.queues.test_whole_numbers import run

LEASES = LeaseKeys(queue=KEYS, dead=DeadKeys.belonging_to("orders"))


def remembered(admin: redis.Redis) -> int:
    return admin.exists(KEYS.records, KEYS.forget, KEYS.histories, KEYS.history_ends, KEYS.deliveries, KEYS.handled)


def record(admin: Any, count: int, until_ms: int, *, due_ms: int = 1000) -> None:
    """Records of delivered items, as a client that is gone has left them."""
    ids = [b"%08d" % number for number in range(count)]
    pipe = admin.pipeline()
    for start in range(0, count, 1000):
        some = ids[start : start + 1000]
        pipe.hset(KEYS.records, mapping={b"e" + id_: f"w {due_ms} 0 0 i".encode() + id_ for id_ in some})
        pipe.hset(KEYS.records, mapping={b"i" + id_: id_ for id_ in some})
        pipe.zadd(KEYS.forget, dict.fromkeys(some, until_ms))
    pipe.execute()


@ONE_FLAVOUR_BY_DAY
def test_an_idle_queue_forgets_soon_after_the_time(flavour: Flavour, url: str, admin: redis.Redis) -> None:
    with flavour.connect(url, codec=StringCodec(), remember=4, probe_interval=0.2) as client:
        delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
        items = [delayed.offer("never", 1, id=f"cancelled {number}") for number in range(30)]
        assert all(each.cancel() for each in items)
        for number in range(100):
            delayed.offer(str(number), 0, id=str(number))
        # An item is remembered until its value is taken, however long that takes.
        assert [queue.take() for _ in range(100)] == [str(number) for number in range(100)]
        assert remembered(admin)
        eventually(lambda: not remembered(admin))


def test_the_ends_of_the_keys_are_asked_for_once_and_not_for_each_record(client: Any, admin: redis.Redis) -> None:
    # Of items that are dead letters, which are looked at again in an hour.
    record(admin, 20, until_ms=1000)
    admin.hset(KEYS.records, mapping={b"p%08d" % number: b"dletter" for number in range(20)})
    admin.hset(LEASES.dead.dead_info, "letter", "of another version")
    admin.config_resetstat()
    client.delayed_queue("orders", transfer=False).cancel("nobody")
    assert admin.zcount(KEYS.forget, "-inf", 1000) == 0
    assert admin.zcard(KEYS.forget) == 20
    assert 0 < admin.info("commandstats")["cmdstat_pttl"]["calls"] <= 4
    assert admin.pttl(KEYS.records) == admin.pttl(KEYS.forget) == -1


@ONE_FLAVOUR_BY_DAY
def test_many_records_go_in_short_calls(flavour: Flavour, url: str, admin: redis.Redis) -> None:
    record(admin, 3_000, until_ms=1000)
    with flavour.connect(url, codec=StringCodec(), probe_interval=0.2) as client:
        assert client.blocking_queue("orders").poll(timeout=0.1) is None
        eventually(lambda: not remembered(admin))
        # Nothing is left, so nothing wakes up.
        eventually(lambda: admin.info("commandstats")["cmdstat_ping"]["calls"] > 2)
        before = admin.info("commandstats")["cmdstat_evalsha"]["calls"]
        pings = admin.info("commandstats")["cmdstat_ping"]["calls"]
        eventually(lambda: admin.info("commandstats")["cmdstat_ping"]["calls"] > pings + 3)
        assert admin.info("commandstats")["cmdstat_evalsha"]["calls"] <= before + 1


def test_one_call_drops_a_bounded_number(admin: redis.Redis) -> None:
    record(admin, 250, until_ms=1000)
    left = []
    for _ in range(3):
        left.append((run(admin, calls.tidy(KEYS)), admin.zcard(KEYS.forget)))
    assert left == [(0, 150), (0, 50), (None, 0)]
    assert not remembered(admin)


def test_a_call_tells_when_the_next_one_has_something_to_do(admin: redis.Redis) -> None:
    now_ms = int(time.time() * 1000)
    assert run(admin, calls.tidy(KEYS)) is None
    record(admin, 1, until_ms=now_ms + 60_000)
    assert 50_000 < run(admin, calls.tidy(KEYS)) <= 60_000
    admin.zadd(KEYS.handled, {b"u" * 16: now_ms + 30_000, b"v" * 16: 1000})
    assert 20_000 < run(admin, calls.tidy(KEYS)) <= 30_000
    assert admin.zcard(KEYS.handled) == 1
    assert admin.hlen(KEYS.records) == 2


def test_the_record_of_an_overdue_item_stays(admin: redis.Redis) -> None:
    """Nobody moves the queue: the item's id and its latest time still count, for longer than a week if need be."""
    args = "current", "0", b"value", "ione", "reject", "", 0, 0, b""
    entry = run(admin, call("offer_item", LEASES, args, list))[1]
    admin.zadd(KEYS.forget, {entry: 1000})
    admin.pexpire(KEYS.records, 5000)
    admin.pexpire(KEYS.forget, 5000)
    # It is due in the millisecond after the offer.
    eventually(lambda: run(admin, calls.tidy(KEYS)) == 300_000)
    assert admin.hget(KEYS.records, "ione") == entry
    assert admin.pttl(KEYS.records) == -1


@pytest.mark.parametrize("taken", [True, False])
def test_what_is_known_of_a_value_stays_as_long_as_the_value(admin: redis.Redis, taken: bool) -> None:
    admin.rpush(KEYS.ready, b"value")
    (leased,) = run(admin, LeaseSource(LEASES, Envelope.CURRENT, 60_000_000, 0).receive(1))
    run(admin, calls.give_back(LEASES, Envelope.CURRENT, [leased.id], counted=True))
    assert admin.zcard(KEYS.histories) == 1
    if taken:
        assert admin.lpop(KEYS.ready) == b"value"
    # Its time is the time of the call, in ms.
    answers = [run(admin, calls.tidy(KEYS)) for _ in range(50)]
    assert answers[-1] == (None if taken else 300_000)
    assert bool(remembered(admin)) is not taken


def test_leases_that_java_has_ended_are_noted_and_forgotten(admin: redis.Redis) -> None:
    """Redisson's transfer moves a lease whose time is over, and knows nothing of what else is kept of it."""
    admin.rpush(KEYS.ready, *[b"%d" % number for number in range(250)])
    assert len(run(admin, LeaseSource(LEASES, Envelope.CURRENT, 1000, 0).receive(250))) == 250
    admin.delete(KEYS.timeout)
    eventually(lambda: run(admin, calls.tidy(KEYS)) is None)
    assert not remembered(admin)
