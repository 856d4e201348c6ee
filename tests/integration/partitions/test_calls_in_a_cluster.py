"""Every call in a Redis Cluster: on one queue, on two, on names that spread; pipelines over nodes and moving slots."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import attrs
import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import CrossSlotError, DecodeError, RedisConnectionError, WrongTypeError
from redisson_dq.items import Redriven
from redisson_dq.wire.keys import QueueKeys
from tests.cluster import Cluster
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE
from tests.flavours import Flavour
from tests.integration.calls import CALLS, Call, check, dump, fill, opened, plain_by_day, queue_for
from tests.integration.conftest import KEYS
from tests.integration.servers.test_topologies import NAMES


@pytest.fixture(scope="module")
def nodes(cluster: Cluster) -> Iterator[redis.RedisCluster]:
    """A plain client of redis-py for the whole cluster."""
    with redis.RedisCluster.from_url(cluster.url) as client:
        yield client


@pytest.fixture
def empty_cluster(cluster: Cluster) -> Cluster:
    for admin in cluster.admins:
        admin.flushall()
    return cluster


@pytest.mark.parametrize("call", plain_by_day([call for call in CALLS if not call.local]), ids=str)
def test_in_a_cluster(
    call: Call, flavour: Flavour, empty_cluster: Cluster, nodes: redis.RedisCluster, threads: ThreadPoolExecutor
) -> None:
    # Two queues in one call need a hash tag that they share; here the name mapper gives it to them.
    mapper = "{shop}" if call.other else ""
    with flavour.cluster(empty_cluster.url, codec=StringCodec(), name_mapper=mapper) as client:
        if not call.waits:
            handle = opened(client, call.kind)
            nodes.flushall()
            missing = call.missing
            # No node knows the clients of the others.
            check(call, handle, attrs.evolve(missing, clients=None) if isinstance(missing, Redriven) else missing)
            nodes.flushall()
        fill(client, nodes, QueueKeys.of(f"{mapper}orders"))
        threads.submit(call.run, opened(client, call.kind)).result(PATIENCE)


@pytest.mark.parametrize("call", plain_by_day([call for call in CALLS if call.other]), ids=str)
def test_two_queues_without_a_shared_tag(
    call: Call, flavour: Flavour, empty_cluster: Cluster, nodes: redis.RedisCluster, threads: ThreadPoolExecutor
) -> None:
    with flavour.cluster(empty_cluster.url, codec=StringCodec()) as client:
        fill(client, nodes, KEYS)
        before = dump(nodes)
        calling = threads.submit(call.run, opened(client, call.kind))
        if call.other == "source" and not call.waits:
            # Without a wait the queues are asked one after the other.
            assert calling.result(PATIENCE) in ("a", "c", ("orders", "a"), ("orders", "c"))
            return
        with pytest.raises(CrossSlotError, match=r"the same hash tag, as in \{shop\}orders"):
            calling.result(PATIENCE)
        assert dump(nodes) == before


@pytest.mark.parametrize("name", ["a{b", "a}b{", "{}a"])
def test_a_name_with_a_brace_and_no_tag(
    name: str, flavour: Flavour, empty_cluster: Cluster, nodes: redis.RedisCluster
) -> None:
    with flavour.cluster(empty_cluster.url, codec=StringCodec()) as client:
        queue, delayed = (queue_for(client, kind, name) for kind in ("queue", "delayed"))
        assert queue.add("x")
        assert queue.take() == "x"
        # The script that sets a value aside once is refused, and the value is kept all the same.
        nodes.rpush(name, b"\xff not UTF-8")
        with pytest.raises(DecodeError):
            queue.poll()
        assert queue.read_undecodable() == [b"\xff not UTF-8"]
        nodes.delete(queue.keys.undecodable)
        for call in (
            lambda: delayed.offer("x", 60),
            lambda: delayed.offer_all([("x", 60)]),
            delayed.poll,
            delayed.delete,
            delayed.items,
            lambda: delayed.cancel("42"),
        ):
            with pytest.raises(CrossSlotError, match=r"a\{b|a\}b\{|\{\}a"):
                call()
        assert dump(nodes) == {}


def test_a_pipeline_over_many_nodes(flavour: Flavour, empty_cluster: Cluster, nodes: redis.RedisCluster) -> None:
    assert {empty_cluster.owner(name) for name in NAMES} == {0, 1, 2}
    with flavour.cluster(empty_cluster.url, codec=StringCodec()) as client:
        with client.pipeline() as pipe:
            for name in NAMES:
                pipe.add(queue_for(client, "queue", name).requests.add_all([name, "more"]))
                pipe.add(queue_for(client, "delayed", name).requests.offer(name, 60))
        with client.pipeline() as pipe:
            kinds = ("queue", "deque", "bounded", "delayed", "lean", "item")
            replies = [pipe.add(queue_for(client, kind, name).requests.poll()) for name in NAMES for kind in kinds]
        assert [reply.result for reply in replies] == [
            value for name in NAMES for value in (name, "more", None, name, None, None)
        ]
        nodes.set(NAMES[1], "text")
        pipe = client.pipeline()
        replies = [pipe.add(queue_for(client, "queue", name).requests.add(name)) for name in NAMES]
        with pytest.raises(WrongTypeError, match=NAMES[1]):
            pipe.execute()
        del replies[1]
        assert all(reply.result for reply in replies)


@ONE_FLAVOUR_BY_DAY
def test_a_pipeline_of_which_one_node_is_gone(flavour: Flavour) -> None:
    """The replies of the others are kept, above all polled values."""
    with ExitStack() as stack:
        cluster = Cluster(stack, 3)
        with flavour.cluster(cluster.url, codec=StringCodec()) as client:
            for name in NAMES:
                queue_for(client, "queue", name).add(name)
            pipe = client.pipeline()
            replies = {name: pipe.add(queue_for(client, "queue", name).requests.poll()) for name in NAMES}
            owners = {name: cluster.owner(name) for name in NAMES}
            gone = next(owner for owner in owners.values() if owner != owners[NAMES[0]])
            cluster.servers[gone].stop()
            with pytest.raises(RedisConnectionError):
                pipe.execute()
            for name, reply in replies.items():
                if owners[name] == gone:
                    with pytest.raises(RedisConnectionError):
                        reply.result  # noqa: B018
                else:
                    assert reply.result == name


@pytest.mark.parametrize("second", ["another node", "another slot"])
def test_a_transaction_over_two_slots(
    second: str, flavour: Flavour, empty_cluster: Cluster, nodes: redis.RedisCluster
) -> None:
    first = NAMES[0]
    is_elsewhere = second == "another node"
    other = next(
        name for name in NAMES[1:] if (empty_cluster.owner(name) != empty_cluster.owner(first)) == is_elsewhere
    )
    with flavour.cluster(empty_cluster.url, codec=StringCodec()) as client:
        pipe = client.pipeline(transaction=True)
        for name in (first, other):
            pipe.add(queue_for(client, "queue", name).requests.add("x"))
        with pytest.raises(CrossSlotError, match=r"the same hash tag, as in \{shop\}orders"):
            pipe.execute()
        assert dump(nodes) == {}
        with client.pipeline(transaction=True) as pipe:
            replies = [
                pipe.add(queue_for(client, "queue", f"{{x}}{name}").requests.add("x")) for name in (first, other)
            ]
        assert [reply.result for reply in replies] == [True, True]


@pytest.mark.parametrize("transaction", [False, True])
def test_a_pipeline_after_its_slot_has_moved(transaction: bool, flavour: Flavour, empty_cluster: Cluster) -> None:
    name = NAMES[2]
    with flavour.cluster(empty_cluster.url, codec=StringCodec()) as client:
        queue = queue_for(client, "queue", name)
        queue.add("a")
        empty_cluster.move(name, (empty_cluster.owner(name) + 1) % 3)
        with client.pipeline(transaction=transaction) as pipe:
            pipe.add(queue.requests.add("b"))
            found = pipe.add(queue.requests.read_all())
        assert found.result == ["a", "b"]


def test_a_pipeline_while_its_slot_moves(flavour: Flavour, empty_cluster: Cluster) -> None:
    name = NAMES[3]
    source = empty_cluster.owner(name)
    target = (source + 1) % 3
    slot = empty_cluster.admins[0].execute_command("CLUSTER KEYSLOT", name)
    with flavour.cluster(empty_cluster.url, codec=StringCodec()) as client:
        queue = queue_for(client, "queue", name)
        assert queue.is_empty()
        empty_cluster.admins[target].execute_command("CLUSTER SETSLOT", slot, "IMPORTING", empty_cluster.ids[source])
        empty_cluster.admins[source].execute_command("CLUSTER SETSLOT", slot, "MIGRATING", empty_cluster.ids[target])
        try:
            with client.pipeline() as pipe:
                replies = [pipe.add(request) for request in (queue.requests.add("a"), queue.requests.read_all())]
            assert [reply.result for reply in replies] == [True, ["a"]]
            # What is new goes where the slot will be.
            assert empty_cluster.admins[source].dbsize() == 0
        finally:
            empty_cluster.move(name, target)
        assert queue.take() == "a"
