"""``stats``: the figures of one queue or many. They equal those of ``inspect``, and cost the same at any size."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime, timedelta, timezone
from typing import Any

import attrs
import pytest
import redis

from redisson_dq import partition_names
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, ClosedError, CrossSlotError, RedisConnectionError, RedissonDQError
from redisson_dq.inspection import QueueInspection
from redisson_dq.scripts.script import load
from redisson_dq.stats import QueueStats
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import QueueKeys
from tests.cluster import Cluster
from tests.conftest import ONE_FLAVOUR_BY_DAY, PROGRAMS, eventually
from tests.flavours import Flavour
from tests.integration.calls import dump
from tests.integration.conftest import KEYS
from tests.integration.looking.test_inspect import ROLES, TYPES, sent_by, steps
from tests.integration.scanned import Scanned

FIGURES = [field.name for field in attrs.fields(QueueStats) if field.name not in ("name", "server_time", "keys")]
COUNTS = [name for name in FIGURES if isinstance(getattr(QueueStats(name="", server_time=datetime.min), name), int)]


def counts(found: QueueStats) -> dict[str, int]:
    """The counts that are not 0."""
    return {name: getattr(found, name) for name in COUNTS if getattr(found, name)}


def figures(found: QueueStats) -> dict[str, Any]:
    """All figures except the moment, and the time since a due time."""
    return {name: getattr(found, name) for name in FIGURES if name != "late_by"}


@pytest.fixture
def full(client: Any, admin: Any) -> dict[str, int]:
    """A queue in which every count is a different number."""
    queue, delayed = client.blocking_queue("orders", transfer=False), client.delayed_queue("orders", transfer=False)
    queue.add_all([f"{number}" for number in range(9)])
    for delivery in queue.receive(2):
        assert delivery.reject("no")
    assert len(queue.receive(3, visibility_timeout=60)) == 3
    delayed.offer_all([(f"{number}", 0) for number in range(5)])
    delayed.offer_all([(f"{number}", 3600) for number in range(6)])
    client.delayed_queue("orders", transfer=False, lean=True).offer_all([(f"{number}", 3600) for number in range(7)])
    delayed.offer_recurring("tick", "tick", every=3600)
    admin.rpush(KEYS.undecodable, *range(8))
    admin.rpush(KEYS.quarantine, *(f"5 {number}" for number in range(10)))
    admin.hset(KEYS.settings, mapping={"expired": 11, "missed": "12 5 tick"})
    delayed.pause()
    eventually(lambda: delayed.overdue().count == 5)
    # The occurrence of a recurring offer waits as well.
    return {
        "ready": 4,
        "waiting": 19,
        "lean": 7,
        "overdue": 5,
        "in_flight": 3,
        "dead": 2,
        "undecodable": 8,
        "quarantined": 10,
        "expired": 11,
        "missed": 12,
        "recurring": 1,
        "is_paused": True,
    }


# -- each figure -----------------------------------------------------------------------------------------------------


def test_every_count(looking: Any, client: Any, full: dict[str, int]) -> None:
    queue, delayed = client.blocking_queue("orders", transfer=False), client.delayed_queue("orders", transfer=False)
    found = [queue.stats(), delayed.stats(), looking.stats("orders")["orders"], looking.inspect("orders")]
    for each in found:
        assert counts(each) == full
        assert each.name == "orders"
        assert each.oldest_overdue == each.next_due == delayed.next_due() < each.server_time
        assert each.late_by == each.server_time - each.next_due
        assert (each.error, each.exists, each.reserves) == (None, True, 0)
        assert figures(each) == figures(found[0])


def test_a_queue_that_was_never_used(looking: Any, admin: Any) -> None:
    (found,) = looking.stats("orders").values()
    assert found == QueueStats(name="orders", server_time=found.server_time, subscribers=0)
    assert (found.exists, found.oldest_overdue, found.error) == (False, None, None)
    assert dump(admin) == {}
    assert looking.runtime.attachments == {}
    assert looking.runtime.transfer_driver is None


def test_who_moves(looking: Any, flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=StringCodec()) as one, flavour.connect(url, codec=StringCodec()) as two:
        one.delayed_queue("orders").offer("a", 60)
        two.delayed_queue("orders").offer("b", 0.05)
        found = eventually(lambda: (found := looking.stats("orders")["orders"]).mover and found.ready and found)
        assert (found.subscribers, found.reserves, found.ready) == (2, 1, 1)
        assert found.mover.client in {one.runtime.connections.client, two.runtime.connections.client}
        assert found.mover.moved < found.server_time < found.mover.until <= found.server_time + timedelta(minutes=1)


@pytest.mark.parametrize("seed", range(6))
def test_the_figures_are_those_of_an_inspection_and_of_single_calls(client: Any, admin: Any, seed: int) -> None:
    """The same names and the same numbers: nothing is counted in two ways."""
    assert issubclass(QueueInspection, QueueStats)
    chance = random.Random(seed)
    queue, delayed, lean = (
        client.blocking_queue("orders", transfer=False),
        client.delayed_queue("orders", transfer=False),
        client.delayed_queue("orders", transfer=False, lean=True),
    )
    held: list[Any] = []
    changes: list[Callable[[], Any]] = [
        lambda: delayed.offer(chance.choice("abc"), chance.uniform(20, 200)),
        lambda: lean.offer(chance.choice("abc"), chance.uniform(20, 200)),
        lambda: delayed.offer("d", chance.uniform(20, 200), id=str(chance.random()), context={"k": "v"}),
        lambda: delayed.offer_recurring("e", str(chance.random()), every=30),
        lambda: queue.add_all([chance.choice("abc") for _ in range(3)]),
        lambda: held.extend(queue.receive(3, timeout=0, visibility_timeout=chance.uniform(20, 200))),
        lambda: held and held.pop().ack(),
        lambda: held and held.pop().nack(chance.choice([None, 60])),
        lambda: held and held.pop().reject("no"),
        lambda: delayed.poll(),
        lambda: delayed.take_due(datetime.now(timezone.utc) + timedelta(seconds=40), limit=1),
        lambda: chance.choice([delayed.pause, delayed.resume])(),
        lambda: delayed.set_max_size(chance.choice([None, 10_000])),
        lambda: chance.random() < 0.2 and admin.delete(KEYS.timeout, KEYS.envelopes),
        lambda: chance.random() < 0.1 and admin.rpush(KEYS.quarantine, "5 junk"),
    ]
    for _ in range(40):
        chance.choice(changes)()
        found, told = client.stats("orders")["orders"], client.inspect("orders")
        assert figures(found) == figures(told)
        assert found.lean + min(told.mirrored, told.waiting) == found.waiting
        overdue = delayed.overdue()
        assert (found.ready, found.waiting, found.in_flight) == (queue.size(), delayed.size(), queue.in_flight_size())
        assert told.mirrored == admin.llen(KEYS.envelopes)
        assert (found.overdue, found.next_due) == (overdue.count, delayed.next_due())
        assert told.next_deadline == min((each.deadline for each in queue.in_flight(0, 999)), default=None)
        assert found.dead == len(queue.dead_letters(0, 999))
        assert (found.is_paused, told.max_size) == (delayed.is_paused(), delayed.max_size())


@pytest.mark.parametrize("score", ["inf", "-inf", "12.5"])
def test_a_score_of_another_program(looking: Any, producer: Any, admin: Any, score: str) -> None:
    admin.zadd(KEYS.timeout, {wrap(Envelope.CURRENT, bytes(8), b"x"): score})
    found = looking.stats("orders")["orders"]
    assert (found.next_due, found.overdue) == (producer.next_due(), producer.overdue().count)
    assert found.late_by >= timedelta(0)


def entries_read(admin: Any, call: Callable[[], Any]) -> int:
    """How many commands read entries that wait or are held."""
    call()
    admin.config_resetstat()
    call()
    calls = {name.removeprefix("cmdstat_"): each["calls"] for name, each in admin.info("commandstats").items()}
    return sum(count for name, count in calls.items() if name == "zrange")


@pytest.mark.parametrize("delay", [30, 90])
def test_no_held_value_is_read(looking: Any, client: Any, admin: Any, delay: float) -> None:
    """A large one would hold the server up. The first entry is read, and the first one that waits behind all leases."""
    queue, delayed = client.blocking_queue("orders", transfer=False), client.delayed_queue("orders", transfer=False)
    delayed.offer("waits", delay)
    queue.add_all([f"{number}" for number in range(100)])
    assert len(queue.receive(100, visibility_timeout=60)) == 100
    found = looking.stats("orders")["orders"]
    assert (found.next_due, found.waiting, found.in_flight) == (delayed.next_due(), 1, 100)
    assert entries_read(admin, lambda: looking.stats("orders")) == 1


# -- what is broken --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", load("stats").keys)
def test_a_key_of_another_type(role: str, looking: Any, full: dict[str, int], admin: Any) -> None:
    """It is reported, and so is everything else."""
    if role == "channel":
        admin.set(KEYS.channel, "no key of the queue")
        assert counts(looking.stats("orders")["orders"]) == full
        return
    admin.delete(ROLES[role])
    admin.xadd(ROLES[role], {"a": "b"})
    before, found = dump(admin), looking.stats("orders")["orders"]
    of_key = {
        "ready": {"ready"},
        "timeout": {"waiting", "lean", "overdue", "in_flight"},
        "leases": {"waiting", "lean", "in_flight"},
        "envelopes": {"lean"},
        "quarantine": {"quarantined"},
        "recurring_due": {"recurring"},
        "settings": {"is_paused", "expired", "missed"},
    }.get(role, {role})
    assert {name: count for name, count in counts(found).items() if name not in of_key} == {
        name: count for name, count in full.items() if name not in of_key
    }
    if role != "leases":
        assert counts(found).keys().isdisjoint(of_key)
    text = f"key {ROLES[role]!r} holds a stream, but this queue keeps a {TYPES[role]} there"
    assert (found.error, [each.role for each in found.wrong_types]) == (text, [role])
    assert text in str(found)
    assert dump(admin) == before


def test_while_the_memory_is_full(looking: Any, full: dict[str, int], admin: Any) -> None:
    admin.config_set("maxmemory", 1)
    try:
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            admin.set("a", "b")
        assert counts(looking.stats("orders")["orders"]) == full
    finally:
        admin.config_set("maxmemory", 0)


# -- what it costs ---------------------------------------------------------------------------------------------------


def test_the_cost_does_not_grow(looking: Any, client: Any, producer: Any, admin: Any) -> None:
    # Nothing moves the queue: what a mover sends at its start would count.
    queue = client.blocking_queue("orders", transfer=False)

    def look() -> None:
        looking.stats("orders")

    producer.offer_all([(f"{number}", 3600 + number) for number in range(10)])
    queue.add_all([f"{number}" for number in range(10)])
    few = steps(admin, look)
    assert few[0] == 1
    assert few[1] < 40
    producer.offer_all([(f"{number}", 3600 + number) for number in range(100_000)])
    queue.add_all([f"{number}" for number in range(100_000)])
    assert steps(admin, look) == few
    for key in (KEYS.envelopes, KEYS.ready):
        assert Scanned(admin, key).of(look) == 0


@pytest.mark.parametrize("gone", [False, True])
def test_the_cost_does_not_grow_with_leases(looking: Any, client: Any, admin: Any, gone: bool) -> None:
    """Not even with those whose entries are gone, which take the longest to look for."""
    queue, delayed = client.blocking_queue("orders", transfer=False), client.delayed_queue("orders", transfer=False)
    queue.add_all([f"{number}" for number in range(3000)])
    for _ in range(300):
        queue.receive(10, visibility_timeout=60)
    if gone:
        admin.delete(KEYS.timeout)
    delayed.offer("later", 3600)
    sent, inside = steps(admin, lambda: looking.stats("orders"))
    assert sent == 1
    assert inside < (500 if gone else 120)


def test_few_leases_whose_entries_are_gone(looking: Any, queue: Any, admin: Any) -> None:
    queue.add_all([f"{number}" for number in range(40)])
    queue.receive(40, visibility_timeout=30)
    admin.delete(KEYS.timeout)
    queue.add("held")
    assert queue.receive(visibility_timeout=60)
    assert looking.stats("orders")["orders"].in_flight == queue.in_flight_size() == 1


def test_a_thousand_queues_in_one_round_trip(looking: Any, client: Any, admin: Any) -> None:
    names = [f"orders-{number}" for number in range(1000)]
    with client.pipeline() as pipe:
        for number, name in enumerate(names):
            pipe.add(client.blocking_queue(name, transfer=False).requests.add_all(["a"] * (number % 7 + 1)))
    found = looking.stats(*names)
    assert [(name, each.name, each.ready) for name, each in found.items()] == [
        (name, name, number % 7 + 1) for number, name in enumerate(names)
    ]
    assert sent_by(admin, lambda: looking.stats(*names[:5])) == ["EVALSHA"] * 5
    # The first of those that are sent again carries the script.
    admin.script_flush()
    assert sent_by(admin, lambda: looking.stats(*names[:5])) == [*["EVALSHA"] * 5, "EVAL", *["EVALSHA"] * 4]
    assert sent_by(admin, lambda: looking.stats("orders")) == ["EVALSHA"]
    assert sent_by(admin, looking.stats) == []


def test_many_in_a_pipeline(client: Any) -> None:
    queue, delayed = client.blocking_queue("orders", transfer=False), client.delayed_queue("bills", transfer=False)
    with client.pipeline() as pipe:
        pipe.add(queue.requests.add("a"))
        ready, waits = pipe.add(queue.requests.stats()), pipe.add(delayed.requests.stats())
    assert (ready.result.ready, waits.result.waiting) == (1, 0)


@pytest.mark.parametrize(
    "rules", [("~*", "+@read", "+eval", "+evalsha", "+time"), ("%R~*", "+@read", "+@scripting", "+time")]
)
def test_a_user_who_may_only_look(
    flavour: Flavour, server: EmbeddedServer, admin: Any, full: dict[str, int], rules: tuple[str, ...]
) -> None:
    admin.execute_command("ACL", "SETUSER", "looker", "reset", "on", ">secret", "+@connection", *rules)
    try:
        with flavour.connect(server.url.replace("://", "://looker:secret@"), codec=StringCodec()) as client:
            names = ["orders", *(f"orders-{number}" for number in range(9))]
            found = client.stats(*names)
            assert (list(found), counts(found["orders"])) == (names, full)
            assert {each.subscribers for each in found.values()} == {None}
            # What was refused once is not tried again.
            admin.config_resetstat()
            client.stats(*names)
            stats = admin.info("commandstats")
            tries = [each["calls"] + each["rejected_calls"] for name, each in stats.items() if "eval" in name]
            assert sum(tries) == 10
    finally:
        admin.execute_command("ACL", "DELUSER", "looker")


# -- arguments, partitions, nodes ------------------------------------------------------------------------------------


def test_names_and_handles(looking: Any, client: Any) -> None:
    queue = client.blocking_queue("orders", transfer=False, dead_letter="graves")
    queue.add_all(["a", "b"])
    assert queue.receive(timeout=0).reject("no")
    whole = client.blocking_queue("parts", transfer=False, partitions=3)
    whole.add("c")
    found = client.stats(queue, whole, client.delayed_queue("bills", transfer=False), "orders-2")
    assert list(found) == ["orders", "parts", "bills", "orders-2"]
    assert [(each.ready, each.dead) for each in found.values()] == [(1, 1), (1, 0), (0, 0), (0, 0)]
    assert looking.stats("orders", dead_letter="graves")["orders"].dead == 1
    assert looking.stats("orders")["orders"].dead == 0
    assert looking.stats("parts", partitions=3)["parts"].ready == 1
    assert list(looking.stats("orders", "orders")) == ["orders"]


def test_bad_arguments(looking: Any, client: Any) -> None:
    for bad in (5, None, ["orders"]):
        with pytest.raises(ArgumentError, match="names of queues, or their handles"):
            looking.stats("orders", bad)
    with pytest.raises(ArgumentError, match="a queue's name"):
        looking.stats("")
    for partitions in (0, 1025, "x"):
        with pytest.raises(ArgumentError, match="partitions="):
            looking.stats("orders", partitions=partitions)
    with pytest.raises(TypeError, match="partition"):
        looking.stats("orders", partition=5)
    handle = client.blocking_queue("orders", transfer=False)
    handle.destroy()
    with pytest.raises(ClosedError):
        handle.stats()


def test_a_closed_client(flavour: Flavour, url: str) -> None:
    client = flavour.connect(url)
    client.close()
    for names in ((), ("orders",), ("orders", "bills")):
        with pytest.raises(ClosedError):
            client.stats(*names)


def test_partitions(looking: Any, client: Any, admin: Any) -> None:
    delayed, queue = (
        client.delayed_queue("orders", partitions=3, transfer=False),
        client.blocking_queue("orders", partitions=3, transfer=False, dead_letter="graves"),
    )
    each = [client.delayed_queue(name, transfer=False) for name in partition_names("orders", 3)]
    for number, partition in enumerate(each):
        partition.offer("a", 3600 - number)
        client.delayed_queue(partition.name, transfer=False, lean=True).offer("b", 4000)
    each[1].offer("c", 0)
    for value in "bcd":
        queue.add(value)
    assert queue.receive(timeout=0).reject("no")
    each[1].pause()
    admin.delete(each[2].keys.quarantine)
    admin.set(each[2].keys.quarantine, "text")
    eventually(lambda: each[1].overdue().count == 1)
    for found in (looking.stats("orders", partitions=3, dead_letter="graves")["orders"], queue.stats()):
        assert counts(found) == {"ready": 2, "waiting": 7, "lean": 3, "overdue": 1, "dead": 1, "is_paused": True}
        assert (found.name, found.next_due, found.oldest_overdue) == ("orders", each[1].next_due(), each[1].next_due())
        assert found.late_by > timedelta(0)
        assert found.subscribers == 0
        assert [key.key for key in found.wrong_types] == [each[2].keys.quarantine]
        assert figures(found) == figures(
            attrs.evolve(looking.inspect("orders", partitions=3, dead_letter="graves"), keys=())
        )
    assert delayed.stats().waiting == 7


def test_a_name_mapper(flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=StringCodec(), name_mapper="shop:") as client:
        client.delayed_queue("orders", transfer=False).offer("a", 60)
        found = client.stats("orders")["orders"]
    assert (found.name, found.waiting) == ("orders", 1)
    assert found.keys[0].key == QueueKeys.of("shop:orders").timeout


@pytest.mark.parametrize("name", ["a b", "x" * 100_000, "{tag}rest", "a{b", "a}b", "{}x", "é\n😀", "0", "*", "{a}"])
def test_odd_names(looking: Any, client: Any, name: str) -> None:
    client.delayed_queue(name, transfer=False).offer("a", 60)
    found = looking.stats(name, "other")
    assert [(each.name, each.waiting) for each in found.values()] == [(name, 1), ("other", 0)]


def test_a_client_that_decodes_and_speaks_resp3(flavour: Flavour, url: str, full: dict[str, int]) -> None:
    options = {"decode_responses": True, "protocol": 3}
    with flavour.client(url, redis_options=options, codec=StringCodec()) as client:
        assert counts(client.stats("orders", "bills")["orders"]) == full


@ONE_FLAVOUR_BY_DAY
def test_a_replica(flavour: Flavour, full: dict[str, int], server: EmbeddedServer) -> None:
    with EmbeddedServer(program=PROGRAMS[server.name.lower()]()) as replica, redis.Redis.from_url(replica.url) as admin:
        admin.replicaof("127.0.0.1", str(server.port))
        eventually(lambda: admin.hget(KEYS.settings, "paused") is not None)
        with flavour.connect(replica.url, codec=StringCodec()) as client:
            assert counts(client.stats("orders")["orders"]) == full


def test_redis_is_away(flavour: Flavour, server: EmbeddedServer) -> None:
    with EmbeddedServer(program=PROGRAMS[server.name.lower()]()) as other:
        client = flavour.connect(other.url, codec=StringCodec())
        assert client.stats("orders")["orders"].ready == 0
    for names in (("orders",), ("orders", "bills")):
        with pytest.raises(RedisConnectionError):
            client.stats(*names)
    client.close()


@ONE_FLAVOUR_BY_DAY
def test_a_cluster(flavour: Flavour) -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack, 3)
        client = stack.enter_context(flavour.cluster(cluster.url, codec=StringCodec()))
        client.delayed_queue("orders").offer("a", 60)
        whole = client.delayed_queue("parts", partitions=6)
        whole.offer_all([(f"{number}", 60) for number in range(12)])
        found = client.stats("orders", whole)
        assert [(each.waiting, each.subscribers) for each in found.values()] == [(1, None), (12, None)]
        assert whole.stats().waiting == 12
        with client.pipeline() as pipe:
            piped = pipe.add(client.blocking_queue("orders").requests.stats())
        assert (piped.result.waiting, piped.result.subscribers) == (1, None)
        # The keys of this name share no slot. The others are told all the same.
        with pytest.raises(CrossSlotError):
            client.stats("orders", "a{b")
        told = client.stats("a{b", "orders", return_exceptions=True)
        assert isinstance(told["a{b"], CrossSlotError)
        assert told["orders"].waiting == 1
        # So are those of nodes that are up.
        names = partition_names("parts", 6)
        cluster.servers[2].kill()
        told = client.stats(*names, return_exceptions=True)
        assert {type(each) for each in told.values()} == {QueueStats, RedisConnectionError}
        assert all(each.waiting == 2 for each in told.values() if not isinstance(each, RedissonDQError))
        with pytest.raises(RedisConnectionError):
            client.stats(*names)


# -- shown -----------------------------------------------------------------------------------------------------------


def test_it_is_shown(looking: Any, producer: Any, queue: Any, admin: Any) -> None:
    producer.offer("a", 0)
    queue.add("b")
    producer.pause()
    producer.offer("c", 0)
    admin.rpush(KEYS.undecodable, "x")
    found = eventually(
        lambda: (found := looking.stats("orders")["orders"]).subscribers == 1 and found.overdue and found
    )
    assert str(found).splitlines() == [
        f"orders at {found.server_time.isoformat(' ', 'milliseconds')}",
        f"  ready          {found.ready}",
        f"  waiting        {found.waiting}, the next is due {found.next_due.isoformat(' ', 'milliseconds')}",
        f"  overdue        {found.overdue}, by {found.late_by}",
        "  in flight      0",
        "  undecodable    1",
        "  paused         delivery waits for resume()",
        "  subscribers    1",
    ]


def test_it_goes_into_json(looking: Any, full: dict[str, int]) -> None:
    found = looking.stats("orders")["orders"]
    told = json.loads(json.dumps(found.to_dict()))
    assert {name: told[name] for name in full} == full
    assert told["late_by"] == found.late_by.total_seconds()
    assert told["next_due"] == found.next_due.isoformat()
