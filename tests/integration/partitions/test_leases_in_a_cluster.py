"""Leases in a cluster: slots that move and masters that change while values are held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
import redis

from redisson_dq import Durability, SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import CrossSlotError, RedissonDQError
from tests.cluster import Cluster
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts

NAME = "orders"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack, 3, replicas=True)


@pytest.fixture
def client(flavour: Flavour, cluster: Cluster) -> Iterator[Any]:
    with flavour.cluster(cluster.url, codec=StringCodec()) as made:
        made.blocking_queue(NAME, transfer=False).delete()
        made.delayed_queue(NAME, transfer=False).delete()
        made.blocking_queue(NAME, transfer=False).purge_dead()
        yield made


def owner(cluster: Cluster) -> Any:
    """The master that has the queue now."""
    (found,) = [admin for admin in cluster.admins if _has_it(admin)]
    return found


def _has_it(admin: Any) -> bool:
    try:
        return admin.info("replication")["role"] == "master" and bool(admin.exists(KEYS.leases))
    except redis.exceptions.MovedError:
        return False


def test_a_slot_that_moves_takes_its_leases_along(client: Any, cluster: Cluster, threads: ThreadPoolExecutor) -> None:
    queue = client.blocking_queue(NAME)
    queue.add_all(["a", "b", "c", "d", "e"])
    held = queue.receive(4, visibility_timeout=60)
    short = queue.receive(visibility_timeout=0.5)
    waiting = threads.submit(queue.receive, timeout=PATIENCE)
    cluster.move(NAME, (cluster.owner(NAME) + 1) % 3)
    # The deadline passed while the slot moved, or after it.
    again = waiting.result(PATIENCE)
    assert (again.value, again.crashes) == ("e", 1)
    assert short.ack() is SettleOutcome.LOST
    assert again.ack()
    assert held[0].ack()
    assert held[1].nack(reason="moved")
    assert held[2].reject()
    assert held[3].extend(60)
    found = whereabouts(owner(cluster), NAME)
    assert (found.ready, found.leased, found.dead) == (Counter([b"b"]), Counter([b"d"]), Counter([b"c"]))
    assert queue.redrive().count == 1
    left = [queue.receive(timeout=PATIENCE) for _ in range(2)]
    assert [(each.value, each.attempt, each.reason) for each in left] == [("b", 2, "moved"), ("c", 1, "")]
    assert queue.ack_all([*left, held[3]]) == [SettleOutcome.ACKED] * 3


@ONE_FLAVOUR_BY_DAY
def test_a_replica_that_takes_over_knows_of_the_leases(client: Any, cluster: Cluster) -> None:
    queue = client.blocking_queue(NAME)
    queue.add_all(["a", "b", "c"])
    held = queue.receive(3, visibility_timeout=5)
    # The last change is confirmed by the replica, and with it what came before.
    held[0].extend(5, durable=Durability(replicas=1, timeout=5))
    port = owner(cluster).connection_pool.connection_kwargs["port"]
    (replica,) = [
        admin
        for admin in cluster.admins
        if admin.info("replication")["role"] == "slave" and admin.info("replication")["master_port"] == port
    ]
    replica.execute_command("CLUSTER FAILOVER")
    eventually(lambda: replica.info("replication")["role"] == "master")
    assert eventually(lambda: _outcome(held[0])) is SettleOutcome.ACKED
    assert held[1].nack()
    again = queue.receive(timeout=PATIENCE)
    assert (again.value, again.attempt, again.failures) == ("b", 2, 1)
    crashed = queue.receive(timeout=PATIENCE)
    assert (crashed.value, crashed.crashes) == ("c", 1)
    assert queue.ack_all([again, crashed]) == [SettleOutcome.ACKED] * 2


def _outcome(delivery: Any) -> Any:
    """None while the cluster has not settled."""
    try:
        return delivery.ack()
    except RedissonDQError:
        return None


def test_dead_letters_of_another_slot(client: Any) -> None:
    client.blocking_queue(NAME, transfer=False).add("a")
    elsewhere = client.blocking_queue(NAME, transfer=False, dead_letter="another-slot")
    with pytest.raises(CrossSlotError):
        elsewhere.receive(timeout=0)
    queue = client.blocking_queue(NAME, transfer=False, dead_letter=f"dead-{{{NAME}}}")
    delivery = queue.receive(timeout=0)
    assert delivery.value == "a"
    with pytest.raises(CrossSlotError):
        queue.redrive(to="another-slot")
    assert delivery.reject(reason="no")
    assert [letter.value for letter in queue.dead_letters()] == ["a"]
    assert queue.purge_dead() == 1


def test_how_many_clients_have_a_queue_open_is_not_told(client: Any) -> None:
    """Each node knows its own subscribers alone, and would tell of none."""
    for queue in (client.blocking_queue(NAME), client.blocking_queue("orders-apart", partitions=3)):
        for number in range(3):
            queue.add(f"v{number}")
        for _ in range(3):
            assert queue.receive(timeout=PATIENCE).reject()
        done = queue.redrive()
        assert (done.count, done.left, done.clients) == (3, 0, None)
        for _ in range(3):
            assert queue.receive(timeout=PATIENCE).ack()
    ready = client.blocking_queue(NAME)
    ready.add("v")
    assert ready.receive(timeout=PATIENCE).reject()
    with client.pipeline() as pipe:
        reply = pipe.add(ready.requests.redrive())
    assert (reply.result.count, reply.result.clients) == (1, None)
