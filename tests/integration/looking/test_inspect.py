"""``inspect``: one call reports everything about any queue, changes nothing, and costs the same at any size."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta, timezone
from itertools import takewhile
from pathlib import Path
from typing import Any

import attrs
import pytest
import redis

import redisson_dq
from redisson_dq import partition_names
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, ClosedError, RedisReplyError
from redisson_dq.inspection import QueueInspection
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from redisson_dq.wire.rights import acl_words
from tests.cluster import Cluster
from tests.conftest import ONE_FLAVOUR_BY_DAY, PROGRAMS, eventually
from tests.flavours import Flavour
from tests.integration.calls import dump
from tests.integration.conftest import KEYS
from tests.integration.names.test_forms import NEWER
from tests.integration.scanned import Scanned

DEAD = DeadKeys.belonging_to("orders")
ROLES = {
    **{role: key for role, key in attrs.asdict(KEYS).items() if key not in KEYS.channels},
    **attrs.asdict(DEAD),
}
TYPES = {role: DEAD.types.get(key) or KEYS.type_of(key) for role, key in ROLES.items()}
COUNTS = [
    *(
        "ready",
        "waiting",
        "mirrored",
        "overdue",
        "in_flight",
        "arrivals",
        "dead",
        "undecodable",
        "quarantined",
        "newer",
    ),
    *("expired", "missed", "recurring", "remembered", "histories", "turns", "waiting_for_slots", "slots", "handled"),
]


PAGE = (Path(__file__).resolve().parents[3] / "docs" / "troubleshooting.md").read_text("utf-8")
SECTION = PAGE.partition("## What is going on in this queue?")[2].partition("\n## ")[0]
# The user whom the page names.
assert "redisson-dq acl --role observer '*'" in SECTION
PAGE_RULES = tuple(acl_words("observer", ["*"], version=(7, 0)))


def counts(found: QueueInspection) -> dict[str, int]:
    """The counts that are not 0."""
    return {name: getattr(found, name) for name in COUNTS if getattr(found, name)}


# -- each state ------------------------------------------------------------------------------------------------------


def test_a_queue_that_was_never_used(looking: Any, admin: Any) -> None:
    found = looking.inspect("orders")
    assert found == QueueInspection(name="orders", server_time=found.server_time, subscribers=0, memory=0)
    assert not found.exists
    seconds, micros = admin.time()
    assert timedelta(0) <= datetime.fromtimestamp(seconds + micros / 1e6, timezone.utc) - found.server_time
    assert dump(admin) == {}
    assert looking.runtime.attachments == {}


def test_a_queue_that_was_emptied(looking: Any, queue: Any, delayed: Any) -> None:
    delayed.offer("a", 0.001)
    assert queue.take() == "a"
    found = eventually(lambda: (found := looking.inspect("orders")).subscribers == 1 and found)
    assert counts(found) == {}
    assert (found.next_due, found.late_by, found.is_paused, found.mover) == (None, timedelta(0), False, None)


def test_what_waits(looking: Any, producer: Any, client: Any) -> None:
    first = producer.offer("a", 60)
    producer.offer("b", 90)
    client.delayed_queue("orders", transfer=False, lean=True).offer("c", 70)
    found = looking.inspect("orders")
    assert counts(found) == {"waiting": 3, "mirrored": 2}
    assert found.next_due == first.due
    assert (found.overdue, found.late_by) == (0, timedelta(0))
    assert found.entry_kinds == ("current",)
    assert {key.role: (key.type, key.size) for key in found.keys} == {"timeout": ("zset", 3), "envelopes": ("list", 2)}
    assert found.memory == sum(key.memory for key in found.keys) > 100


def test_what_is_overdue(looking: Any, producer: Any, admin: Any) -> None:
    producer.offer_all([("a", 0), ("b", 0.002), ("c", 3600)])
    eventually(lambda: producer.overdue().count == 2)
    found, told = looking.inspect("orders"), producer.overdue()
    assert (found.overdue, found.waiting) == (2, 3)
    assert found.next_due == producer.next_due() < found.server_time
    assert timedelta(0) < found.late_by <= told.late_by
    assert found.server_time - found.next_due == found.late_by


@pytest.mark.parametrize("score", ["inf", "-inf", "12.5"])
def test_a_score_of_another_program(looking: Any, producer: Any, admin: Any, score: str) -> None:
    admin.zadd(KEYS.timeout, {wrap(Envelope.CURRENT, bytes(8), b"x"): score})
    found = looking.inspect("orders")
    assert found.next_due == producer.next_due()
    assert found.overdue == producer.overdue().count


def test_what_is_ready(looking: Any, client: Any, queue: Any, producer: Any) -> None:
    queue.add("plain")
    assert looking.inspect("orders").ready_since is None
    assert queue.poll() == "plain"
    offered = producer.offer("told", 0.001, context={"k": "v"})
    eventually(lambda: queue.size() == 1)
    found = looking.inspect("orders")
    assert counts(found) == {"ready": 1, "histories": 1}
    assert found.ready_since == offered.due
    # An equal value that waits has a record too, which tells nothing of the ready one.
    assert queue.poll() == "told"
    producer.offer("told", 60, context={"k": "v"})
    queue.add("told")
    assert looking.inspect("orders").ready_since is None


def test_a_large_value_is_not_looked_up(looking: Any, queue: Any, producer: Any) -> None:
    """Its digest would hold the server up."""
    for size, is_told in ((1_000_000, True), (1_000_001, False)):
        producer.offer("x" * size, 0.001, context={"k": "v"})
        eventually(lambda: queue.size() == 1)
        assert (looking.inspect("orders").ready_since is not None) == is_told
        assert len(queue.poll()) == size


def test_what_receivers_hold(looking: Any, queue: Any, producer: Any) -> None:
    queue.add_all(["a", "b", "c"])
    held = [queue.receive(visibility_timeout=seconds) for seconds in (60, 120)]
    waits = producer.offer("later", 90)
    found = looking.inspect("orders")
    assert counts(found) == {"ready": 1, "waiting": 1, "mirrored": 1, "in_flight": 2}
    assert found.next_deadline == held[0].deadline
    assert found.next_due == waits.due
    assert found.entry_kinds == ("current", "lease")
    assert held[0].nack()
    found = looking.inspect("orders")
    assert (found.in_flight, found.next_deadline, found.histories) == (1, held[1].deadline, 1)


def test_a_lease_that_has_ended_is_overdue(looking: Any, client: Any, admin: Any) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("a")
    delivery = queue.receive(visibility_timeout=0.01)
    eventually(lambda: delivery.lost)
    found = looking.inspect("orders")
    assert (found.waiting, found.overdue, found.in_flight, found.next_deadline) == (1, 1, 0, None)
    assert found.next_due == delivery.deadline


@pytest.mark.parametrize("others", [0, 5])
@pytest.mark.parametrize("delay", [10, 45, 90])
def test_leases_whose_entries_are_gone(
    looking: Any, queue: Any, producer: Any, admin: Any, others: int, delay: float
) -> None:
    """Redisson's delete() takes the entries alone."""
    queue.add_all(["a", "b", "c"])
    assert len(queue.receive(3, visibility_timeout=30)) == 3
    admin.delete(KEYS.timeout)
    queue.add_all([f"{number}" for number in range(others)])
    held = queue.receive(others, visibility_timeout=60) if others else []
    waits = producer.offer("later", delay)
    found = looking.inspect("orders")
    assert (found.in_flight, found.waiting) == (queue.in_flight_size(), producer.size()) == (others, 1)
    assert found.next_due == waits.due == producer.next_due()
    assert found.next_deadline == (held[0].deadline if held else None)


def test_what_was_set_aside(looking: Any, queue: Any, admin: Any) -> None:
    queue.add_all(["a", "b"])
    for delivery in queue.receive(2):
        assert delivery.reject("no")
    admin.rpush(KEYS.undecodable, "x", "y", "z")
    admin.rpush(KEYS.quarantine, "5 junk")
    admin.rpush(KEYS.arrivals, "came")
    admin.rpush(KEYS.expired, "5 late")
    admin.hset(KEYS.settings, "expired", 7)
    found = looking.inspect("orders")
    assert counts(found) == {"dead": 2, "undecodable": 3, "quarantined": 1, "arrivals": 1, "expired": 7}


def test_dead_letters_of_another_queue(looking: Any, client: Any) -> None:
    queue = client.blocking_queue("orders", dead_letter="graves")
    queue.add("a")
    assert queue.receive(timeout=0).reject("no")
    assert queue.inspect().dead == 1
    assert looking.inspect("orders").dead == 0
    assert looking.inspect("orders", dead_letter="graves").dead == 1


def test_settings(looking: Any, producer: Any, admin: Any) -> None:
    producer.offer("a", 0)
    producer.pause()
    producer.set_max_size(7)
    found = looking.inspect("orders")
    assert (found.is_paused, found.max_size, found.remaining_capacity) == (True, 7, None)
    producer.resume()
    producer.set_max_size(None)
    found = looking.inspect("orders")
    assert (found.is_paused, found.max_size) == (False, None)


def test_a_bounded_queue(looking: Any, client: Any, admin: Any) -> None:
    bounded = client.bounded_blocking_queue("orders")
    bounded.try_set_capacity(5)
    bounded.add_all(["a", "b"])
    found = looking.inspect("orders")
    assert (found.ready, found.remaining_capacity) == (2, 3)
    admin.set(KEYS.capacity, "no number")
    assert looking.inspect("orders").remaining_capacity is None


def test_recurring_offers(looking: Any, producer: Any) -> None:
    producer.offer_recurring("x", "often", every=30)
    producer.offer_recurring("y", "seldom", every=3600)
    found = looking.inspect("orders")
    assert (found.recurring, found.waiting) == (2, 2)
    assert found.next_recurring == found.next_due == producer.recurring()[0].next_due
    assert found.newer_forms == ()


def test_ids_are_remembered(looking: Any, producer: Any) -> None:
    for number in range(3):
        producer.offer(f"{number}", 60, id=f"{number}")
    assert looking.inspect("orders").remembered == 3


def test_a_time_to_live(looking: Any, producer: Any, queue: Any) -> None:
    producer.offer("a", 60, id="7")
    queue.add("b")
    # The records have a time to live of ours.
    assert looking.inspect("orders").expires is None
    producer.expire(50)
    found = looking.inspect("orders")
    assert found.expires == producer.expire_time()
    queue.expire(40)
    assert looking.inspect("orders").expires == queue.expire_time() < found.expires


def test_who_moves(looking: Any, flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec()) as one, flavour.connect(url, codec=StringCodec()) as two:
        one.delayed_queue("orders").offer("a", 60)
        eventually(lambda: looking.inspect("orders").subscribers == 1)
        assert looking.inspect("orders").mover is None
        two.delayed_queue("orders").offer("b", 0.05)
        eventually(lambda: looking.inspect("orders").ready == 1)
        found = eventually(lambda: (found := looking.inspect("orders")).mover and found)
        assert (found.subscribers, found.reserves) == (2, 1)
        assert found.mover.client in {
            each["name"].split("/")[2].partition("@")[0] for each in admin.client_list() if each["name"]
        }
        assert found.server_time - timedelta(seconds=30) < found.mover.moved <= found.server_time
        assert found.mover.moved < found.mover.until <= found.server_time + timedelta(minutes=1)


def test_a_mover_of_another_program(looking: Any, admin: Any) -> None:
    admin.set(KEYS.mover, "no mover of ours")
    assert looking.inspect("orders").mover is None


def test_lines_of_a_worker(looking: Any, admin: Any) -> None:
    members = {b"k": 5, b"w": 3, b"s": 2}
    admin.zadd(KEYS.lines, {prefix + bytes([n]) * 24: 0 for prefix, count in members.items() for n in range(count)})
    admin.zadd(KEYS.handled, {bytes(16): 2**50})
    assert counts(looking.inspect("orders")) == {"turns": 5, "waiting_for_slots": 3, "slots": 2, "handled": 1}


# -- what is broken --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ROLES)
def test_a_key_of_another_type(role: str, looking: Any, client: Any, admin: Any) -> None:
    """It is reported, and so is everything else."""
    queue, delayed = client.blocking_queue("orders", transfer=False), client.delayed_queue("orders", transfer=False)
    queue.add_all(["a", "b", "c", "d"])
    queue.receive(visibility_timeout=60)
    assert queue.receive().reject("no")
    assert queue.receive().nack(60)
    delayed.offer("a", 60, id="7", context={"k": "v"})
    delayed.offer_recurring("e", "tick", every=30)
    delayed.pause()
    expected = counts(looking.inspect("orders"))
    makers: dict[str, Callable[[str], Any]] = {
        "string": lambda key: admin.set(key, "text"),
        "list": lambda key: admin.rpush(key, "text"),
        "zset": lambda key: admin.zadd(key, {"text": 5}),
        "set": lambda key: admin.sadd(key, "text"),
        "stream": lambda key: admin.xadd(key, {"a": "b"}),
        "hash": lambda key: admin.hset(key, "a", "b"),
    }
    # These counts depend on the key, or on one that cannot be told apart without it.
    of_key = {
        "timeout": {"waiting", "in_flight"},
        "leases": {"waiting", "in_flight"},
        "envelopes": {"mirrored"},
        "recurring_due": {"recurring"},
        "forget": {"remembered"},
        "histories": {"histories"},
    }.get(role, {role})
    for kind in makers.keys() - {TYPES[role]}:
        admin.delete(ROLES[role])
        makers[kind](ROLES[role])
        before = dump(admin)
        found = looking.inspect("orders")
        assert [(each.role, each.key, each.type, each.expected) for each in found.wrong_types] == [
            (role, ROLES[role], kind, TYPES[role])
        ]
        assert {name: count for name, count in counts(found).items() if name not in of_key} == {
            name: count for name, count in expected.items() if name not in of_key
        }
        assert found.is_paused == (role != "settings")
        assert f"key {ROLES[role]!r} holds a {kind}, but this queue keeps a {TYPES[role]} there" in str(found)
        assert dump(admin) == before


def test_every_key_of_another_type(looking: Any, admin: Any) -> None:
    for key in ROLES.values():
        admin.sadd(key, "text")
    found = looking.inspect("orders")
    assert counts(found) == {}
    assert [each.role for each in found.wrong_types] == list(ROLES)


def test_entries_of_every_kind(looking: Any, admin: Any) -> None:
    entries = {
        "current": wrap(Envelope.CURRENT, bytes(8), b"x"),
        "legacy": wrap(Envelope.LEGACY, b"12345678", b"x"),
        "lean": wrap(Envelope.CURRENT, bytes(9), b"x"),
        "lease": wrap(Envelope.CURRENT, bytes(10), b"x"),
        "newer": NEWER,
        "unknown": b"junk",
    }
    for kind, entry in entries.items():
        admin.flushall()
        admin.zadd(KEYS.timeout, {entry: 2**50})
        assert looking.inspect("orders").entry_kinds == (kind,)
    admin.rpush(KEYS.envelopes, entries["legacy"], entries["lean"], entries["current"])
    assert looking.inspect("orders").entry_kinds == ("current", "legacy", "unknown")
    admin.zadd(KEYS.leases, {b"12345678": 2**50})
    assert looking.inspect("orders").entry_kinds == ("current", "lease", "unknown")


def test_newer_forms(looking: Any, queue: Any, producer: Any, admin: Any) -> None:
    admin.zadd(KEYS.newer, {NEWER: 5})
    found = looking.inspect("orders")
    assert (found.newer, found.newer_forms) == (1, (("newer", 11),))
    producer.offer_recurring("x", "tick", every=30)
    rule = json.loads(admin.hget(KEYS.recurring, "dtick"))
    admin.hset(KEYS.recurring, "dtick", json.dumps({**rule, "v": 3}))
    queue.add("a")
    assert queue.receive(timeout=0).nack()
    (field,) = admin.hkeys(KEYS.deliveries)
    admin.hset(KEYS.deliveries, field, b"v2 whatever follows")
    found = looking.inspect("orders")
    assert found.newer_forms == (("deliveries", 2), ("newer", 11), ("recurring", 3))
    assert found.ready_since is None
    admin.hset(KEYS.recurring, "dtick", "not JSON")
    assert dict(looking.inspect("orders").newer_forms).keys() == {"deliveries", "newer"}


# -- what it costs ---------------------------------------------------------------------------------------------------


def steps(admin: Any, call: Callable[[], Any]) -> tuple[int, int]:
    """The number of commands that a call sends, and of commands inside its scripts."""
    call()
    admin.config_resetstat()
    call()
    calls = {name.removeprefix("cmdstat_"): each["calls"] for name, each in admin.info("commandstats").items()}
    sent = calls.pop("evalsha", 0)
    assert calls.keys().isdisjoint({"eval", "hello", "client|setinfo"})
    return sent, sum(count for name, count in calls.items() if not name.startswith(("config", "info")))


def test_the_cost_does_not_grow(looking: Any, client: Any, producer: Any, admin: Any) -> None:
    # Nothing moves the queue: what a mover sends at its start would count.
    queue = client.blocking_queue("orders", transfer=False)
    producer.offer_all([(f"{number}", 3600 + number) for number in range(10)])
    queue.add_all([f"{number}" for number in range(10)])
    few = steps(admin, lambda: looking.inspect("orders"))
    assert few[0] == 1
    producer.offer_all([(f"{number}", 3600 + number) for number in range(100_000)])
    queue.add_all([f"{number}" for number in range(100_000)])
    assert steps(admin, lambda: looking.inspect("orders")) == few
    assert Scanned(admin, KEYS.envelopes).of(lambda: looking.inspect("orders")) == 2
    assert Scanned(admin, KEYS.ready).of(lambda: looking.inspect("orders")) == 0
    found = looking.inspect("orders")
    assert (found.waiting, found.ready) == (100_010, 100_010)


@pytest.mark.parametrize("leases", [10, 3000])
def test_the_cost_does_not_grow_with_leases(looking: Any, client: Any, admin: Any, leases: int) -> None:
    queue, delayed = client.blocking_queue("orders", transfer=False), client.delayed_queue("orders", transfer=False)
    queue.add_all([f"{number}" for number in range(leases)])
    for _ in range(leases // 10):
        queue.receive(10, visibility_timeout=60)
    waits = delayed.offer("later", 3600)
    sent, inside = steps(admin, lambda: looking.inspect("orders"))
    assert sent == 1
    # The search for the first value that waits ends with the last lease, whatever stands before.
    assert inside < 150
    found = looking.inspect("orders")
    assert (found.in_flight, found.waiting, found.next_due) == (leases, 1, waits.due)


def sent_by(admin: Any, call: Callable[[], Any]) -> list[str]:
    """The commands that a call sends, without those that scripts call and those of a new connection."""
    with admin.monitor() as monitor:
        call()
        admin.echo("the end")
        lines = list(takewhile(lambda line: line["command"] != "ECHO the end", monitor.listen()))
    names = [line["command"].split()[0] for line in lines if line["client_type"] != "lua"]
    return [name for name in names if name not in ("CLIENT", "HELLO")]


def test_a_worker_looks_at_its_queues_with_one_command_each(flavour: Flavour, client: Any, admin: Any) -> None:
    worker = flavour.worker(client)
    worker.handler("orders")(print)
    worker.handler("bills")(print)
    worker.queue("jobs", partitions=3)
    worker.handler("jobs")(print)
    client.delayed_queue("jobs", partitions=3).pause()
    client.delayed_queue("orders", transfer=False).offer("a", 60)
    admin.set(QueueKeys.of("bills").forget, "text")
    reports = {report.name: report for report in worker.check()}
    assert [(name, report.waiting, report.is_paused) for name, report in reports.items()] == [
        ("orders", 1, False),
        ("bills", 0, False),
        ("jobs", 0, True),
    ]
    assert reports["bills"].error == (
        f"key {QueueKeys.of('bills').forget!r} holds a string, but this queue keeps a zset there"
    )
    stats = worker.stats()
    assert [(name, each.waiting, each.is_paused) for name, each in stats.items()] == [
        (name, report.waiting, report.is_paused) for name, report in reports.items()
    ]
    assert sent_by(admin, worker.check) == ["EVALSHA"] * 5
    assert sent_by(admin, worker.stats) == ["EVALSHA"] * 5


def test_it_starts_nothing(looking: Any, producer: Any, admin: Any) -> None:
    producer.offer("a", 0)
    eventually(lambda: producer.overdue().count == 1)
    for _ in range(3):
        assert looking.inspect("orders").overdue == 1
    assert looking.runtime.transfer_driver is None
    assert looking.runtime.attachments == {}


# -- rights ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def user(admin: Any, server: EmbeddedServer) -> Iterator[Callable[..., str]]:
    """Makes a user with these rights, and gives the URL to connect with."""

    def made(*rules: str) -> str:
        admin.execute_command("ACL", "SETUSER", "looker", "reset", "on", ">secret", "+@connection", *rules)
        return server.url.replace("://", "://looker:secret@")

    yield made
    admin.execute_command("ACL", "DELUSER", "looker")


@pytest.mark.parametrize(
    "rules",
    [
        ("~*", "+@read", "+eval", "+evalsha", "+time"),
        PAGE_RULES,
        ("%R~*", "+@read", "+eval_ro", "+evalsha_ro", "+time"),
        # Redis checks the rights to keys of a script that may write.
        ("%R~*", "+@read", "+@scripting", "+time"),
    ],
)
def test_a_user_who_may_only_look(
    flavour: Flavour, user: Callable[..., str], rules: tuple[str, ...], producer: Any, queue: Any, admin: Any
) -> None:
    producer.offer("a", 60)
    queue.add_all(["b", "c"])
    queue.receive()
    with flavour.connect(user(*rules), codec=StringCodec()) as client:
        found = client.inspect("orders")
        assert counts(found) == {"ready": 1, "waiting": 1, "mirrored": 1, "in_flight": 1}
        assert (found.subscribers is not None) == (rules is PAGE_RULES)
        assert found.memory is not None
        # What was refused once is not tried again.
        admin.config_resetstat()
        client.inspect("orders")
        stats = admin.info("commandstats")
        tries = [each["calls"] + each["rejected_calls"] for name, each in stats.items() if "eval" in name]
        assert sum(tries) == 1
        assert counts(client.inspect("orders", partitions=2)) == {}


def test_what_is_not_told_without_a_right(flavour: Flavour, user: Callable[..., str], producer: Any) -> None:
    producer.offer("a", 60)
    with flavour.connect(user("~*", "+@read", "+@scripting", "+time", "-memory"), codec=StringCodec()) as client:
        found = client.inspect("orders")
        assert (found.waiting, found.memory, found.subscribers, found.reserves) == (1, None, None, None)
        assert "memory" not in str(found)


@pytest.mark.parametrize(
    ("rules", "text"), [(("~*", "+@read", "+@scripting"), "TIME"), (("~other", "+@all"), "inspect on 'orders'")]
)
def test_a_right_that_is_missing(flavour: Flavour, user: Callable[..., str], rules: tuple[str, ...], text: str) -> None:
    with (
        flavour.connect(user(*rules), codec=StringCodec()) as client,
        pytest.raises(RedisReplyError, match=text),
    ):
        client.inspect("orders")


# -- arguments, partitions, nodes ------------------------------------------------------------------------------------


def test_bad_arguments(looking: Any) -> None:
    for bad in (5, "", None):
        with pytest.raises(ArgumentError, match="name"):
            looking.inspect(bad)
    for partitions in (0, 1025, "x"):
        with pytest.raises(ArgumentError, match="partitions="):
            looking.inspect("orders", partitions=partitions)
    with pytest.raises(ArgumentError, match="dead_letter="):
        looking.inspect("orders", dead_letter="orders")
    with pytest.raises(TypeError, match="partition"):
        looking.inspect("orders", partition=5)


def test_a_closed_client(flavour: Flavour, url: str) -> None:
    client = flavour.connect(url)
    client.close()
    with pytest.raises(ClosedError):
        client.inspect("orders")


def test_partitions(looking: Any, client: Any, admin: Any) -> None:
    delayed, queue = (
        client.delayed_queue("orders", partitions=3, transfer=False),
        client.blocking_queue("orders", partitions=3, transfer=False, dead_letter="graves"),
    )
    each = [client.delayed_queue(name, transfer=False) for name in partition_names("orders", 3)]
    for number, partition in enumerate(each):
        partition.offer("a", 3600 - number)
    for value in "bcd":
        queue.add(value)
    assert queue.receive(timeout=0).reject("no")
    each[1].pause()
    admin.set(each[2].keys.settings, "text")
    for found in (looking.inspect("orders", partitions=3, dead_letter="graves"), queue.inspect()):
        assert counts(found) == {"ready": 2, "waiting": 3, "mirrored": 3, "dead": 1}
        assert [part.name for part in found.partitions] == partition_names("orders", 3)
        assert [part.waiting for part in found.partitions] == [1, 1, 1]
        assert found.name == "orders"
        assert found.next_due == delayed.next_due() == found.partitions[2].next_due
        assert [found.is_paused, *(part.is_paused for part in found.partitions)] == [True, False, True, False]
        assert found.subscribers == 0
        assert [key.key for key in found.wrong_types] == [each[2].keys.settings]
        assert found.memory == sum({key.key: key.memory for part in found.partitions for key in part.keys}.values())
        assert str(found).splitlines()[1] == "  partitions     3"
    # Each has the list of dead letters, which is counted once.
    assert [part.dead for part in found.partitions] == [1, 1, 1]
    assert delayed.inspect().dead == 0


def test_partitions_cost_one_round_trip(flavour: Flavour, client: Any, admin: Any) -> None:
    client.inspect("orders", partitions=8)
    assert sent_by(admin, lambda: client.inspect("orders", partitions=8)) == ["EVALSHA"] * 8


def test_many_queues_in_one_round_trip(client: Any) -> None:
    names = [f"orders-{number}" for number in range(20)]
    with client.pipeline() as pipe:
        replies = []
        for number, name in enumerate(names):
            client.delayed_queue(name, transfer=False).offer_all([("a", 60)] * (number + 1))
            replies.append(pipe.add(client.blocking_queue(name, transfer=False).requests.inspect()))
    assert [(reply.result.name, reply.result.waiting) for reply in replies] == [
        (name, number + 1) for number, name in enumerate(names)
    ]


def test_a_name_mapper(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec(), name_mapper="shop:") as client:
        client.delayed_queue("orders", transfer=False).offer("a", 60)
        found = client.inspect("orders")
    assert (found.name, found.waiting) == ("orders", 1)
    assert found.keys[0].key == QueueKeys.of("shop:orders").timeout


@ONE_FLAVOUR_BY_DAY
def test_a_replica(flavour: Flavour, producer: Any, server: EmbeddedServer) -> None:
    producer.offer("a", 60)
    with EmbeddedServer(program=PROGRAMS[server.name.lower()]()) as replica, redis.Redis.from_url(replica.url) as admin:
        admin.replicaof("127.0.0.1", str(server.port))
        eventually(lambda: admin.zcard(KEYS.timeout) == 1)
        with flavour.connect(replica.url, codec=StringCodec()) as client:
            assert counts(client.inspect("orders")) == {"waiting": 1, "mirrored": 1}


@ONE_FLAVOUR_BY_DAY
def test_a_cluster(flavour: Flavour) -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack, 3)
        client = stack.enter_context(flavour.cluster(cluster.url, codec=StringCodec()))
        client.delayed_queue("orders").offer("a", 60)
        client.delayed_queue("orders", partitions=6).offer_all([(f"{number}", 60) for number in range(12)])
        whole = client.inspect("orders", partitions=6)
        with client.pipeline() as pipe:
            piped = pipe.add(client.blocking_queue("orders").requests.inspect())
        found = client.inspect("orders")
        # A node knows its own subscribers alone.
        assert (found.waiting, found.subscribers, piped.result.subscribers) == (1, None, None)
        assert (whole.waiting, [each.waiting for each in whole.partitions]) == (12, [2] * 6)
        assert {each.subscribers for each in (whole, *whole.partitions)} == {None}


# -- shown -----------------------------------------------------------------------------------------------------------


def test_it_is_shown(looking: Any, producer: Any, queue: Any, admin: Any) -> None:
    producer.offer("a", 60)
    queue.add("b")
    producer.pause()
    found = eventually(lambda: (found := looking.inspect("orders")).subscribers == 1 and found)
    assert str(found).splitlines() == [
        f"orders at {found.server_time.isoformat(' ', 'milliseconds')}",
        "  ready          1",
        f"  waiting        1, the next is due {found.next_due.isoformat(' ', 'milliseconds')}",
        "  in flight      0",
        "  paused         delivery waits for resume()",
        "  subscribers    1",
        "  entries        current",
        f"  memory         {found.memory} bytes in {len(found.keys)} keys",
    ]


def test_the_page_shows_it(looking: Any, queue: Any, delayed: Any) -> None:
    delayed.pause()
    delayed.set_max_size(100)
    delayed.offer("a", 0)
    delayed.offer("b", 60, id="7")
    delayed.offer_all([("c", 60), ("d", 60)])
    delayed.offer_recurring("e", "tick", every=30)
    queue.add_all(["f", "g", "h", "i"])
    assert queue.receive().reject("no")
    queue.receive()
    found = eventually(lambda: (found := looking.inspect("orders")).overdue == 1 and found.subscribers == 1 and found)
    (sample,) = re.findall(r"^```\n(orders at .*?)^```$", SECTION, re.MULTILINE | re.DOTALL)

    def shape(text: str) -> list[str]:
        """Times and sizes differ each time."""
        return re.sub(r"\d+ bytes in \d+ keys|\d+-\d+-\d+ [\d:.]+|\d:\d+:[\d.]+", "...", text).splitlines()

    assert shape(str(found)) == shape(sample)


def test_it_goes_into_json(looking: Any, producer: Any) -> None:
    producer.offer("a", 0)
    eventually(lambda: producer.overdue().count == 1)
    found = looking.inspect("orders", partitions=2)
    assert [each["name"] for each in json.loads(json.dumps(found.to_dict()))["partitions"]] == partition_names(
        "orders", 2
    )
    found = looking.inspect("orders")
    told = json.loads(json.dumps(found.to_dict()))
    assert told.keys() == {field.name for field in attrs.fields(QueueInspection)}
    assert datetime.fromisoformat(told["next_due"]) == found.next_due
    assert told["late_by"] == found.late_by.total_seconds() > 0
    assert told["keys"][0]["key"] == KEYS.timeout
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        found.ready = 5


def test_the_names_are_public() -> None:
    assert {"KeyInspection", "Mover"} <= set(redisson_dq.stats.__all__)
    assert "QueueInspection" in redisson_dq.inspection.__all__
