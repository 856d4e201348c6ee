"""Changes that replicas and disks confirm before a call returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest
import redis

import redisson_dq
from redisson_dq import Durability, SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.durability import Confirmed
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, DurabilityError, LeaseLostError, ServerSettingError
from tests.conftest import PROGRAMS, by_night, eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS


@attrs.define
class Pair:
    """A server with one replica."""

    url: str
    admin: redis.Redis
    replica: redis.Redis

    def part(self) -> None:
        """The replica hears nothing any more."""
        self.replica.replicaof("NO", "ONE")
        eventually(lambda: self.admin.info("replication")["connected_slaves"] == 0)

    def join(self) -> None:
        self.replica.replicaof("127.0.0.1", self.admin.connection_pool.connection_kwargs["port"])
        eventually(lambda: self.replica.info("replication").get("master_link_status") == "up")
        eventually(lambda: self.admin.wait(1, 100) == 1)


@pytest.fixture(scope="module", params=["redis", by_night("valkey")])
def servers_of_pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    program, folder = PROGRAMS[request.param](), tmp_path_factory.mktemp("pair")
    with (
        EmbeddedServer(program=program, appendonly=True, data_dir=folder / "one") as first,
        EmbeddedServer(program=program, appendonly=True, data_dir=folder / "two") as second,
    ):
        for server in (first, second):
            with redis.Redis.from_url(server.url) as admin:
                admin.config_set("repl-diskless-sync-delay", 0)
        yield request.param, first, second


@pytest.fixture
def pair(servers_of_pair: Any) -> Iterator[Pair]:
    _, first, second = servers_of_pair
    with redis.Redis.from_url(first.url) as admin, redis.Redis.from_url(second.url) as replica:
        made = Pair(first.url, admin, replica)
        admin.flushall()
        made.join()
        yield made


@pytest.fixture
def told() -> list[Confirmed]:
    return []


@pytest.fixture
def client(flavour: Flavour, pair: Pair, told: list[Confirmed]) -> Iterator[Any]:
    durable = Durability(replicas=1, timeout=2, on_confirmed=told.append)
    with flavour.connect(pair.url, codec=StringCodec(), durable=durable) as made:
        yield made


def waits(admin: redis.Redis, command: str = "wait") -> int:
    return int(admin.info("commandstats").get(f"cmdstat_{command}", {}).get("calls", 0))


CONFIRMED = Confirmed(replicas=1, fsynced=None)


def test_every_offer_and_every_end_of_a_lease_is_confirmed(client: Any, pair: Pair, told: list[Confirmed]) -> None:
    queue = client.blocking_deque("orders", transfer=False)
    delayed = client.delayed_queue("orders", transfer=False)
    bounded = client.bounded_blocking_queue("bounded", transfer=False)
    bounded.try_set_capacity(5)
    queue.add_all([f"v{i}" for i in range(8)])
    batch = queue.receive(8)
    changes: list[Callable[[], object]] = [
        lambda: delayed.offer("a", delay=60),
        lambda: delayed.offer("b", delay=60, id="b"),
        lambda: delayed.offer("c", delay=60, context={"trace": "1"}),
        lambda: delayed.offer_all([("d", 60), ("e", 60)]),
        lambda: delayed.offer_recurring("f", id="f", every=60),
        lambda: queue.add("g"),
        lambda: queue.add_all(["h", "i"]),
        lambda: queue.offer("j"),
        lambda: queue.put("k"),
        lambda: queue.add_first("l"),
        lambda: bounded.add("m"),
        lambda: bounded.offer("n"),
        lambda: bounded.put("o"),
        lambda: batch[0].ack(),
        lambda: batch[1].extend(60),
        lambda: batch[1].nack(),
        lambda: batch[2].reject(),
        lambda: queue.ack_all(batch[3:4]),
        lambda: queue.nack_all(batch[4:5], delay=60),
        lambda: queue.reject_all(batch[5:6]),
        lambda: queue.extend_all(batch[6:7], 60),
    ]
    for number, change in enumerate(changes):
        told.clear()
        change()
        assert told == [CONFIRMED], number
        # The replica had it when the call returned.
        for key in (KEYS.ready, KEYS.timeout, KEYS.leases, "bounded"):
            assert pair.replica.dump(key) == pair.admin.dump(key), (number, key)
    told.clear()
    assert queue.size() > 0
    assert delayed.size() > 0
    queue.receive()
    assert told == []


def test_too_few_replicas_are_told_of_and_the_change_stands(client: Any, pair: Pair, told: list[Confirmed]) -> None:
    queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
    queue.add("a")
    delivery = queue.receive()
    pair.part()
    told.clear()
    short = Durability(replicas=1, timeout=0.05, on_confirmed=told.append)
    with pytest.raises(DurabilityError, match="0 of 1 replicas") as failed:
        delivery.ack()
    assert (failed.value.maybe_done, failed.value.replicas, failed.value.fsynced) == (True, 0, None)
    assert delivery.outcome is SettleOutcome.ACKED
    assert queue.in_flight_size() == 0
    with pytest.raises(DurabilityError, match=r"the change was made, but within 0\.05 s 0 of 1"):
        delayed.offer("b", delay=60, durable=short)
    assert delayed.read_all() == ["b"]
    with pytest.raises(DurabilityError):
        delayed.offer_all([("c", 60)], durable=short)
    assert delayed.size() == 2
    assert told == [Confirmed(replicas=0, fsynced=None)] * 3
    pair.join()
    assert queue.add("d")


def test_what_many_leases_came_to_is_known_without_the_confirmation(client: Any, pair: Pair) -> None:
    queue = client.blocking_queue("orders")
    queue.add_all([f"v{number}" for number in range(1010)])
    batch = [each for _ in range(2) for each in queue.receive(1000)]
    pair.part()
    short = Durability(replicas=1, timeout=0.05)
    with pytest.raises(DurabilityError):
        queue.extend_all(batch, 600, durable=short)
    assert {each.outcome for each in batch} == {SettleOutcome.EXTENDED}
    assert min(each.remaining.total_seconds() for each in batch) > 60
    with pytest.raises(DurabilityError):
        queue.ack_all(batch[:1005], durable=short)
    assert {each.outcome for each in batch[:1005]} == {SettleOutcome.ACKED}
    with pytest.raises(DurabilityError):
        queue.nack_all(batch[1004:], durable=short)
    assert [each.outcome for each in batch[1004:]] == [SettleOutcome.ACKED] + [SettleOutcome.RETURNED] * 5


def test_a_late_call_has_nothing_to_confirm(client: Any, pair: Pair, told: list[Confirmed]) -> None:
    queue = client.blocking_queue("orders")
    queue.add("a")
    delivery = queue.receive()
    assert delivery.ack()
    pair.part()
    told.clear()
    short = Durability(replicas=1, timeout=0.05, on_confirmed=told.append)
    assert delivery.ack(durable=short) is SettleOutcome.LOST
    assert queue.nack_all([delivery], durable=short) == [SettleOutcome.LOST]
    assert queue.extend_all([delivery], 5, durable=short) == [SettleOutcome.LOST]
    pipe = client.pipeline(transaction=True)
    acked = pipe.add(delivery.requests.ack(durable=short))
    added = pipe.add(queue.requests.add("b"))
    with pytest.raises(LeaseLostError):
        pipe.execute()
    assert acked.result is SettleOutcome.LOST
    with pytest.raises(LeaseLostError):
        added.result  # noqa: B018  (it raises)
    assert told == []


def test_a_call_asks_for_what_its_client_does_not(flavour: Flavour, pair: Pair, told: list[Confirmed]) -> None:
    one = Durability(replicas=1, on_confirmed=told.append)
    with flavour.connect(pair.url, codec=StringCodec()) as client:
        pair.admin.config_resetstat()
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
        queue.add_all(["a", "b", "c"])
        batch = queue.receive(3)
        assert waits(pair.admin) == 0
        delayed.offer("d", delay=60, durable=one)
        delayed.offer_all([("e", 60)], durable=one)
        assert batch[0].extend(60, durable=one)
        assert batch[0].ack(durable=one)
        assert batch[1].nack(durable=one)
        assert batch[2].reject(durable=one)
        batch = queue.receive(1)
        queue.extend_all(batch, 60, durable=one)
        queue.nack_all(batch, count=False, durable=one)
        queue.ack_all(queue.receive(1), durable=one)
        queue.reject_all([], durable=one)
        assert told == [CONFIRMED] * 9
        assert waits(pair.admin) == 9
        parts = client.blocking_queue("parts", partitions=3)
        for value in "abc":
            parts.add(value)
        told.clear()
        assert all(parts.ack_all(parts.receive(3, timeout=1), durable=one))
        assert told
        assert client.delayed_queue(parts).offer("d", delay=60, durable=one)


def test_more_than_the_client_asks_for(client: Any, pair: Pair) -> None:
    delayed = client.delayed_queue("orders")
    with pytest.raises(DurabilityError, match="1 of 2 replicas") as failed:
        delayed.offer("a", delay=60, durable=Durability(replicas=2, timeout=0.05))
    assert failed.value.replicas == 1


@pytest.mark.parametrize("transaction", [False, True])
def test_a_pipeline_is_confirmed_once(client: Any, pair: Pair, told: list[Confirmed], transaction: bool) -> None:
    queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
    queue.add_all(["a", "b"])
    one, two = queue.receive(2)
    pair.admin.config_resetstat()
    with client.pipeline(transaction=transaction) as pipe:
        pipe.add(one.requests.ack())
        pipe.add(delayed.requests.offer("c", delay=60))
        size = pipe.add(queue.requests.size())
    assert (waits(pair.admin), one.outcome, size.result) == (1, SettleOutcome.ACKED, 0)
    pair.part()
    pipe = client.pipeline(transaction=transaction)
    acked = pipe.add(two.requests.ack(durable=Durability(replicas=1, timeout=0.05)))
    size = pipe.add(queue.requests.size())
    with pytest.raises(DurabilityError):
        pipe.execute()
    assert (two.outcome, size.result) == (SettleOutcome.ACKED, 0)
    with pytest.raises(DurabilityError):
        acked.result  # noqa: B018  (it raises)
    assert queue.size() == 0


def test_the_disk(flavour: Flavour, servers_of_pair: Any, pair: Pair, told: list[Confirmed]) -> None:
    kind = servers_of_pair[0]
    durable = Durability(replicas=1, fsync=True, timeout=3, on_confirmed=told.append)
    if kind == "redis":
        # This one is older than 7.2.
        with pytest.raises(ServerSettingError, match=r"needs WAITAOF, which Redis has since 7\.2"):
            with flavour.connect(pair.url, durable=durable):
                pass
        with flavour.connect(pair.url, codec=StringCodec()) as client:
            delayed = client.delayed_queue("orders")
            with pytest.raises(DurabilityError, match=r"the change was made.*since 7\.2") as failed:
                delayed.offer("a", delay=60, durable=durable)
            assert (failed.value.maybe_done, failed.value.replicas, failed.value.fsynced) == (True, None, None)
            assert delayed.size() == 1
        return
    with flavour.connect(pair.url, codec=StringCodec(), durable=durable) as client:
        queue = client.blocking_queue("orders")
        queue.add("a")
        assert queue.receive().ack()
        with client.pipeline(transaction=True) as pipe:
            pipe.add(queue.requests.add("b"))
        assert told == [Confirmed(replicas=1, fsynced=True)] * 3
        pair.admin.config_set("appendonly", "no")
        try:
            with pytest.raises(DurabilityError, match="CONFIG SET appendonly yes"):
                queue.add("c")
            assert queue.size() == 2
            with pytest.raises(ServerSettingError, match="CONFIG SET appendonly yes"):
                with flavour.connect(pair.url, durable=Durability(fsync=True)):
                    pass
        finally:
            pair.admin.config_set("appendonly", "yes")
            eventually(lambda: not pair.admin.info("persistence")["aof_rewrite_in_progress"])


def test_a_callback_that_fails_changes_nothing(flavour: Flavour, pair: Pair) -> None:
    def fail(confirmed: Confirmed) -> None:
        raise ValueError(confirmed)

    with flavour.connect(pair.url, codec=StringCodec(), durable=Durability(1, on_confirmed=fail)) as client:
        assert client.blocking_queue("orders").add("a")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"replicas": 0},
        {"replicas": -1},
        {"replicas": True},
        {"replicas": "1"},
        {"fsync": 1},
        {"replicas": 1, "timeout": 0},
        {"replicas": 1, "timeout": 5.1},
        {"replicas": 1, "timeout": float("nan")},
        {"replicas": 1, "timeout": "1"},
        {"replicas": 1, "on_confirmed": 5},
    ],
)
def test_what_cannot_be_waited_for(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match="durable="):
        Durability(**arguments)


def test_durable_is_a_durability(client: Any) -> None:
    with pytest.raises(ArgumentError, match="durable="):
        redisson_dq.connect("redis://127.0.0.1:1/0", durable=1)  # type: ignore[arg-type]  # wrong: argument
    delayed = client.delayed_queue("orders")
    with pytest.raises(ArgumentError, match="durable="):
        delayed.offer("a", delay=60, durable=True)
    assert delayed.is_empty()
