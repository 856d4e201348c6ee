"""Limits whose keys another program wrote, or whose other queues are broken: no value waits forever or is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import redisson_dq
from redisson_dq._redis.tuning import tuned
from redisson_dq._sync.leases.delivery import lease_of
from redisson_dq.codecs import StringCodec
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.working.limits import Admission, Limit, Rate
from tests.integration.admitting import Opened, admit, opened
from tests.integration.conftest import KEYS
from tests.integration.foreign import GARBAGE
from tests.integration.server import of_server
from tests.interop.sides import NO_PROBE

BILLS = QueueKeys.of("bills")
RATE, SLOTS = "redisson_dq_rate:{h}", "redisson_dq_slots:{h}"
FIVE = Admission(name="h", rate=Rate(5, per=1))
ONE = Admission(name="h", limit=Limit(1))


@pytest.fixture
def client(url: str) -> Iterator[Any]:
    with tuned(probe_interval=NO_PROBE), redisson_dq.connect(url, codec=StringCodec()) as made:
        yield made


@pytest.fixture
def queue(client: Any) -> Opened:
    return opened(client)


def longest_wait(admin: Any, name: str = KEYS.timeout) -> float:
    """In seconds. A due time that has passed for long, such as one below zero, counts as one that never comes."""
    now_ms = of_server(admin).timestamp() * 1000
    waits = [(score - now_ms) / 1000 for _, score in admin.zrange(name, 0, -1, withscores=True)]
    return max((wait if wait > -60 else float("inf") for wait in waits), default=0.0)


BUCKETS: dict[str, bytes] = {
    "a debt": b"NOW -1000000000000 NOW",
    "an endless debt": b"NOW -" + b"9" * 400 + b" NOW",
    "a debt since long ago": b"0 -999999999999999999999 0",
    "times in a far future": b"NOW 0 99999999999999999999",
    "times without an end": b"NOW 0 " + b"9" * 400,
    "tokens in a far future": b"99999999999999999999 -5 5",
    "more than fits": b"NOW " + b"9" * 400 + b" NOW",
}


@pytest.mark.parametrize("home", ["", "{h}"])
@pytest.mark.parametrize("bucket", [*BUCKETS, *GARBAGE])
def test_whatever_stands_in_a_bucket_values_wait_for_a_token_only(
    queue: Opened, admin: Any, home: str, bucket: str
) -> None:
    queue.add("before")
    (first,) = admit(queue, FIVE, home=home)
    assert first.ack()
    key = RATE if home else KEYS.turns
    (field,) = (field for field in admin.hkeys(key) if field.startswith(b"b"))
    now = b"%d" % round(of_server(admin).timestamp() * 1_000_000)
    known = admin.hget(key, field)
    text = GARBAGE[bucket](known) if bucket in GARBAGE else BUCKETS[bucket].replace(b"NOW", now)
    admin.hset(key, field, text)
    queue.add_all([f"v{number}" for number in range(20)])
    admitted = admit(queue, FIVE, home=home)
    assert admin.zcard(KEYS.timeout) - admin.zcard(KEYS.leases) == 20 - len(admitted)
    for each in admitted:
        assert each.ack()
    # Five come in a second.
    assert longest_wait(admin) < 10
    queue.add("one more")
    admit(queue, FIVE, home=home)
    assert longest_wait(admin) < 61


def test_who_shares_a_rate_does_not_shorten_the_times_of_others(queue: Opened, client: Any, admin: Any) -> None:
    bills = opened(client, "bills")
    queue.add_all([f"v{number}" for number in range(30)])
    assert len(admit(queue, FIVE, home="{h}")) == 5
    bills.add_all(["b1", "b2"])
    assert admit(bills, FIVE, home="{h}") == []
    # 25 wait before them: five seconds.
    assert 4 < longest_wait(admin, BILLS.timeout) < 6


def test_a_slower_rate_does_not_pay_back_what_a_faster_one_took(queue: Opened, admin: Any) -> None:
    queue.add_all([f"v{number}" for number in range(60)])
    assert len(admit(queue, Admission(name="h", rate=Rate(10, per=3600, burst=60)), home="{h}")) == 60
    (field,) = (field for field in admin.hkeys(RATE) if field.startswith(b"b"))
    now = b"%d" % round(of_server(admin).timestamp() * 1_000_000)
    admin.hset(RATE, field, now + b" -59 " + now)
    admin.delete(KEYS.timeout)
    queue.add("next")
    assert admit(queue, Admission(name="h", rate=Rate(1, per=10)), home="{h}") == []
    assert 0 < longest_wait(admin) < 21


@pytest.mark.parametrize("number", [b"\xff" * 8, b"\x7f" * 8, b"\0\x1f" + b"\xff" * 6, b"\0\x0f" + b"\xff" * 6, b""])
@pytest.mark.parametrize("kind", [b"w", b"k"])
def test_a_turn_with_a_number_that_is_none_of_ours(queue: Opened, admin: Any, kind: bytes, number: bytes) -> None:
    by = Admission(name="h", limit=Limit(1), key=(lambda value: value[0]) if kind == b"k" else None)
    queue.add_all(["a1", "a2"])
    running = admit(queue, by)
    line = next(turn for turn in admin.zrange(KEYS.lines, 0, -1) if turn.startswith(kind))[:17]
    admin.zadd(KEYS.lines, {line + number: 0})
    queue.add_all(["a3", "a4"])
    assert admit(queue, by) == []
    assert longest_wait(admin) < 61
    order = []
    while running:
        (one,) = running
        order.append(one.value)
        assert one.ack()
        running = admit(queue, by)
    assert order == ["a1", "a2", "a3", "a4"]


def _of_another_type(key: str) -> Callable[[Any], None]:
    def breaks(admin: Any) -> None:
        name = getattr(BILLS, key)
        admin.delete(name)
        admin.set(name, "text")

    return breaks


BROKEN: dict[str, Callable[[Any], None]] = {
    key: _of_another_type(key)
    for key in ("ready", "envelopes", "leases", "deliveries", "histories", "history_ends", "lines", "turns")
}


@pytest.mark.parametrize("envelope", [Envelope.CURRENT, Envelope.LEGACY])
@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("how", ["ack", "nack", "admit"])
def test_a_free_slot_takes_no_value_out_of_a_broken_queue(
    queue: Opened, client: Any, admin: Any, how: str, broken: str, envelope: Envelope
) -> None:
    bills = opened(client, "bills", envelope=envelope)
    queue.add("a1")
    (held,) = admit(queue, ONE, home="{h}")
    bills.add_all(["b1", "b2"])
    assert admit(bills, ONE, home="{h}") == []
    waiting = admin.zrange(BILLS.timeout, 0, -1)
    BROKEN[broken](admin)
    if how == "ack":
        assert held.ack()
    elif how == "nack":
        assert held.nack()
    else:
        admin.delete(SLOTS, KEYS.leases)
        admin.zadd(SLOTS, {"qbills": 0})
        admit(queue, ONE, home="{h}")
    assert admin.zrange(BILLS.timeout, 0, -1) == waiting


@pytest.mark.parametrize("unwritable", ["bills", "redisson_delay_queue:{bills}"])
def test_a_free_slot_takes_no_value_that_the_user_may_not_put_back(
    server: Any, queue: Opened, client: Any, admin: Any, unwritable: str
) -> None:
    queue.add("a1")
    (first,) = admit(queue, ONE, home="{h}")
    bills = opened(client, "bills", envelope=Envelope.LEGACY)
    bills.add_all(["b1", "b2"])
    assert admit(bills, ONE, home="{h}") == []
    waiting = admin.zrange(BILLS.timeout, 0, -1)
    # A worker of orders whose user may write most of what belongs to the other queue.
    allowed = {"orders", "bills", "redisson_delay_queue:{bills}", "redisson_delay_queue:{orders}"} - {unwritable}
    ours = ("redisson_delay_queue_*", "redisson_dq_*", "redisson_bqs*", "redisson_sc*")
    patterns = [f"~{key}" for key in (*allowed, *ours)]
    admin.execute_command("ACL", "SETUSER", "few", "reset", "on", ">secret", *patterns, "&*", "+@all")
    try:
        with redisson_dq.connect(server.url.replace("://", "://few:secret@"), codec=StringCodec()) as few:
            run = few.runtime.connections.run
            assert run(call("ack", opened(few).source().lease_keys, ("", lease_of(first).id), list))[1] == [b"acked"]
        assert admin.zrange(BILLS.timeout, 0, -1) == waiting
    finally:
        admin.execute_command("ACL", "DELUSER", "few")
