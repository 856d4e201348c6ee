"""A Redis Cluster and a Sentinel's master, with slots that move and masters that fail."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio
import redis.asyncio.sentinel
import redis.sentinel

import redisson_dq
import redisson_dq.otel
from redisson_dq._redis import client_at
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedisConnectionError, RedisReplyError, RedissonDQError, WrongTypeError
from redisson_dq.observing import Happening, Noticed
from redisson_dq.wire.blocking import Pop
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request
from redisson_dq.worker import Away, BackAgain, Lost
from tests.cluster import Cluster
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, PROGRAMS, REPLICATES_AT_ONCE, eventually
from tests.flavours import AsyncioFlavour, Flavour
from tests.integration.server import of_server, wait_until
from tests.workers.handlers import Gate, Ledger, Log, at_rest, running

# Names whose slots fall to the first, the second and the third of three masters.
NAMES = [f"queue-{letter}" for letter in "abcdefghijkl"]


@pytest.fixture
def client(flavour: Flavour, cluster: Cluster) -> Iterator[Any]:
    for admin in cluster.admins:
        admin.flushall()
    with flavour.cluster(cluster.url, codec=StringCodec()) as made:
        yield made


@ONE_FLAVOUR_BY_DAY
def test_a_sentinel_that_is_down_is_named_in_few_words(flavour: Flavour) -> None:
    client = flavour.sentinel(1, "mymaster", codec=StringCodec())
    queue = client.blocking_queue("orders", transfer=False)
    for call in (queue.size, client.open):
        with pytest.raises(RedisConnectionError) as failed:
            call()
        short = "No master found for 'mymaster'; sentinels that could not be asked: 127.0.0.1:1"
        assert str(failed.value) == f"cannot connect to Redis: {short}"
        assert str(failed.value.__cause__) == short
    client.close()


@pytest.mark.parametrize("way", ["url", "file"])
def test_a_cluster_by_its_url(flavour: Flavour, cluster: Cluster, way: str) -> None:
    nodes = [each.url.removeprefix("redis://").partition("/")[0] for each in cluster.servers]
    if way == "file":
        config = {"clusterServersConfig": {"nodeAddresses": [f"redis://{node}" for node in nodes]}}
        made = flavour.connect(None, redisson_config=config, codec=StringCodec())
    else:
        # A node that is away is no hindrance.
        url = f"redis+cluster://127.0.0.1:1,{nodes[1]},{nodes[2]}?socket_timeout=5"
        made = flavour.connect(url, codec=StringCodec())
    with made as client:
        for name in NAMES[:6]:
            queue = client.blocking_queue(name)
            client.delayed_queue(queue).offer(name, delay=0.05)
            assert queue.take() == name


def test_cursors_and_missed_occurrences_on_a_cluster(client: Any, cluster: Cluster) -> None:
    for name in NAMES[:3]:
        queue = client.blocking_queue(name)
        queue.add("a")
        delivery = queue.receive(timeout=PATIENCE)
        assert delivery.save([name])
        assert delivery.nack()
        assert queue.receive(timeout=PATIENCE).cursor == [name]
    other = client.delayed_queue(NAMES[3], transfer=False)
    # The first recurring offer of a process imports more modules, which takes its time on a busy machine.
    start = of_server(cluster.admins[0], 2000)
    other.offer_recurring("a", "tick", every=0.5, start=start, end=start + timedelta(seconds=1.2), missed="all")
    wait_until(cluster.admins[0], start + timedelta(seconds=2))
    assert [other.take_due(), other.take_due(), other.take_due()] == [["a"], ["a", "a"], []]
    assert other.stats().missed == 2


def test_a_worker_of_a_cluster_by_its_url(flavour: Flavour, cluster: Cluster) -> None:
    url = f"redis+cluster://{cluster.url.removeprefix('redis://').partition('/')[0]}"
    ledger, worker = Ledger(), flavour.worker_of(url, codec=StringCodec())
    worker.handler(NAMES[0])(ledger.handle)
    cluster.admins[cluster.owner(NAMES[0])].rpush(NAMES[0], "a")
    with running(worker):
        assert ledger.next() == "a"


@ONE_FLAVOUR_BY_DAY
def test_one_request_of_many_waits_for_a_cluster_that_is_down(flavour: Flavour) -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack, 2, node_timeout_ms=500)
        admin, name = cluster.admins[0], next(each for each in NAMES if cluster.owner(each) == 0)
        client = stack.enter_context(flavour.cluster(cluster.url, codec=StringCodec()))
        queue = client.blocking_queue(name, transfer=False)
        assert queue.size() == 0
        cluster.servers[1].kill()
        eventually(lambda: admin.execute_command("CLUSTER INFO")["cluster_state"] == "fail")
        pipe = client.pipeline(transaction=False)
        for _ in range(10):
            pipe.add(queue.requests.size())
        with pytest.raises(RedisReplyError, match="CLUSTERDOWN"):
            pipe.execute()
        # All of them together, and one again and again.
        assert admin.info("commandstats")["cmdstat_llen"]["rejected_calls"] < 20


@pytest.fixture
def looks() -> list[Happening]:
    """All that an observer hears."""
    return []


def test_each_node_of_a_cluster_is_looked_at_once(flavour: Flavour, cluster: Cluster, looks: list[Happening]) -> None:
    for admin in cluster.admins:
        admin.config_set("maxmemory-policy", "volatile-ttl")
    try:
        with flavour.cluster(cluster.url, codec=StringCodec(), observer=looks.append) as client:
            for name in NAMES:
                client.blocking_queue(name).poll()
            nodes = sorted(each.url.removeprefix("redis://").partition("/")[0] for each in cluster.servers)
            eventually(lambda: _evicting(looks) == nodes)
    finally:
        for admin in cluster.admins:
            admin.config_set("maxmemory-policy", "noeviction")


def _evicting(heard: list[Happening]) -> list[str]:
    return sorted(each.server for each in heard if isinstance(each, Noticed) and each.check == "eviction")


def test_a_cluster_that_is_away(flavour: Flavour) -> None:
    with pytest.raises(RedisConnectionError, match=r"127\.0\.0\.1:1"):
        flavour.connect("redis+cluster://127.0.0.1:1")


def test_the_address_of_the_server_is_known_where_it_is_one(
    flavour: Flavour, client: Any, cluster: Cluster, tmp_path: Path
) -> None:
    host, _, port = cluster.url.partition("://")[2].partition("/")[0].partition(":")
    assert client.runtime.connections.address == (host, int(port))
    for options, address in (
        ({"host": "redis.internal", "port": 7000}, ("redis.internal", 7000)),
        ({"unix_socket_path": str(tmp_path / "redis.sock")}, (str(tmp_path / "redis.sock"), None)),
    ):
        made = redisson_dq.Client(redis.Redis(**options))
        assert made.runtime.connections.address == address
        made.close()
    # A cluster that is away is not asked.
    made = redisson_dq.Client(client_at("redis+cluster://127.0.0.1:1", {}))
    redisson_dq.otel.instrument(made)
    assert (made.runtime.connections.address, "127.0.0.1:1" in repr(made)) == (("127.0.0.1", 1), True)
    sentinel = flavour.sentinel(1, "mymaster")
    assert sentinel.runtime.connections.address is None
    sentinel.close()


def test_queues_on_every_node(client: Any, cluster: Cluster) -> None:
    assert {cluster.owner(name) for name in NAMES} == {0, 1, 2}
    queues = [client.blocking_queue(name) for name in NAMES]
    for queue in queues:
        client.delayed_queue(queue).offer_all([(f"{queue.name}-{i}", 0.1 + i / 50) for i in range(5)])
    for queue in queues:
        assert [queue.take() for _ in range(5)] == [f"{queue.name}-{i}" for i in range(5)]
    assert all(client.delayed_queue(name).is_empty() for name in NAMES)


_MOVED = re.compile(r"MOVED \d+ 127\.0\.0\.1:\d+; the server is one node of a cluster: name it as")


def test_a_wait_at_one_node_of_a_cluster_says_how_to_name_it(flavour: Flavour, cluster: Cluster) -> None:
    elsewhere = next(name for name in NAMES if cluster.owner(name) != 0)
    heard: list[Happening] = []
    with flavour.connect(cluster.url, codec=StringCodec(), observer=heard.append) as client:
        queue = client.blocking_queue(elsewhere, transfer=False)
        parts = client.blocking_queue("orders", partitions=12, transfer=False)
        deque = client.blocking_deque(elsewhere, transfer=False)
        for wait in (queue.poll, queue.receive, deque.poll_last, parts.poll, parts.receive):
            # Where another connection has met the node before, it is left without being asked.
            eventually(lambda: _MOVED.search(_refusal(wait)))  # noqa: B023
    assert any("name it as redis+cluster://host:port" in str(each.error) for each in heard if isinstance(each, Away))


def _refusal(wait: Callable[..., Any]) -> str:
    with pytest.raises(RedisConnectionError) as refused:
        wait(timeout=0.2)
    return str(refused.value)


def test_all_keys_of_a_queue_share_a_slot(cluster: Cluster) -> None:
    for name in ("orders", "{shop}:orders", "wide-\u00e9"):
        keys = QueueKeys.of(name)
        all_keys = [keys.ready, keys.timeout, keys.envelopes, keys.quarantine, keys.undecodable, keys.channel]
        assert len({cluster.admins[0].execute_command("CLUSTER KEYSLOT", key) for key in all_keys}) == 1


def test_a_wrong_type_in_a_cluster(client: Any, cluster: Cluster) -> None:
    for name in NAMES[:3]:
        cluster.admins[cluster.owner(name)].set(name, "a string")
        with pytest.raises(WrongTypeError, match=name):
            client.blocking_queue(name, transfer=False).take()


def test_lists_on_every_node_give_in_turns(
    flavour: Flavour, client: Any, cluster: Cluster, threads: ThreadPoolExecutor
) -> None:
    names = NAMES[:6]
    admins = {name: cluster.admins[cluster.owner(name)] for name in names}
    assert len(set(map(id, admins.values()))) == 3
    receiver = flavour.round_robin_receiver(client, [Pop((name,), "first") for name in names])
    for name, admin in admins.items():
        admin.rpush(name, *(f"{name}-{i}" for i in range(3)))
    taken = [receiver.receive(PATIENCE)[0] for _ in range(6)] + receiver.receive(PATIENCE, 12)
    assert sorted(each.key for each in taken[:6]) == sorted(names)
    for name in names:
        assert [each.data for each in taken if each.key == name] == [f"{name}-{i}".encode() for i in range(3)]
    waiting = threads.submit(receiver.receive, None)
    eventually(lambda: sum(admin.info("clients")["blocked_clients"] for admin in cluster.admins) == 6)
    # The one whose slot moves is told so, and follows.
    target = (cluster.owner(names[0]) + 1) % 3
    cluster.move(names[0], target)
    cluster.admins[target].rpush(names[0], "late")
    assert waiting.result(PATIENCE)[0].data == b"late"
    flavour.end_of(receiver)


@pytest.mark.parametrize("waiting_since", ["before", "after"])
def test_a_slot_that_moves(client: Any, cluster: Cluster, threads: ThreadPoolExecutor, waiting_since: str) -> None:
    name = NAMES[0]
    queue, delayed = client.blocking_queue(name), client.delayed_queue(name)
    delayed.offer("warm", delay=0)
    assert queue.take() == "warm"
    delayed.offer_all([(f"v{i}", 1 + i / 100) for i in range(20)])
    early = [threads.submit(queue.take)] if waiting_since == "before" else []
    cluster.move(name, (cluster.owner(name) + 1) % 3)
    delayed.offer("last", delay=2)
    taken = [future.result(PATIENCE) for future in early]
    taken += [queue.take() for _ in range(21 - len(taken))]
    assert taken == [*(f"v{i}" for i in range(20)), "last"]


def test_offers_during_a_migration(client: Any, cluster: Cluster, threads: ThreadPoolExecutor) -> None:
    name = NAMES[1]
    delayed = client.delayed_queue(name, transfer=False)
    delayed.offer_all([(f"old-{i}", 60) for i in range(200)])

    def offers() -> list[str]:
        values = [f"new-{i}" for i in range(300)]
        for value in values:
            delayed.offer(value, delay=60)
        return values

    running = threads.submit(offers)
    cluster.move(name, (cluster.owner(name) + 1) % 3)
    values = running.result(PATIENCE)
    assert sorted(delayed.read_all()) == sorted([*(f"old-{i}" for i in range(200)), *values])


def test_a_new_owner_that_does_not_know_the_script(client: Any, cluster: Cluster) -> None:
    name = NAMES[2]
    queue, source = client.blocking_queue(name, transfer=False), cluster.owner(name)
    target = (source + 1) % 3
    slot = cluster.admins[0].execute_command("CLUSTER KEYSLOT", name)
    cluster.admins[target].execute_command("CLUSTER SETSLOT", slot, "IMPORTING", cluster.ids[source])
    cluster.admins[source].execute_command("CLUSTER SETSLOT", slot, "MIGRATING", cluster.ids[target])
    try:
        # What is new goes where the slot will be.
        queue.add("a")
        cluster.admins[target].script_flush()
        assert queue.contains_all(["a"])
    finally:
        cluster.move(name, target)
    assert queue.poll() == "a"


def test_a_batch_whose_first_queue_has_moved(client: Any, cluster: Cluster) -> None:
    """The script's text went with the call that was redirected; the others' node still does not know it."""
    name = NAMES[0]
    source = cluster.owner(name)
    names = [each for each in NAMES if cluster.owner(each) == source]
    queues = [client.delayed_queue(each, transfer=False) for each in names]
    assert all(queue.is_empty() for queue in queues)
    cluster.move(name, (source + 1) % 3)
    for admin in cluster.admins:
        admin.script_flush()
    with client.pipeline() as pipe:
        replies = [pipe.add(queue.requests.offer("a", 60)) for queue in queues]
    assert len(replies) > 1
    assert [queue.read_all() for queue in queues] == [["a"]] * len(queues)


def _pops_on_every_node(client: Any, cluster: Cluster) -> tuple[Any, dict[str, Any]]:
    """A pipeline with a pop on each node that waits there for a value; its replies, by the names of the lists."""
    names = [next(name for name in NAMES if cluster.owner(name) == i) for i in cluster.masters]
    pipe = client.pipeline()
    pops = [Request(words=("BLPOP", name, 0), types={name: "list"}, parse=lambda found: found[1]) for name in names]
    return pipe, {name: pipe.add(pop) for name, pop in zip(names, pops, strict=True)}


def _blocked(cluster: Cluster) -> list[int]:
    return [cluster.admins[i].info("clients")["blocked_clients"] for i in cluster.masters]


def test_all_nodes_work_on_a_batch_at_once(client: Any, cluster: Cluster, threads: ThreadPoolExecutor) -> None:
    pipe, replies = _pops_on_every_node(client, cluster)
    executing = threads.submit(pipe.execute)
    eventually(lambda: _blocked(cluster) == [1, 1, 1])
    for name in reversed(replies):
        cluster.admins[cluster.owner(name)].rpush(name, name)
    assert executing.result(PATIENCE) == [name.encode() for name in replies]


def test_a_cancelled_batch_leaves_no_reply_behind(cluster: Cluster) -> None:
    flavour = AsyncioFlavour()
    try:
        with flavour.cluster(cluster.url, codec=StringCodec()) as client:
            pipe, replies = _pops_on_every_node(client, cluster)
            executing = flavour.submit(pipe.inner.execute)
            eventually(lambda: _blocked(cluster) == [1, 1, 1])
            executing.cancel()
            eventually(lambda: _blocked(cluster) == [0, 0, 0])
            queues = [client.blocking_queue(name, transfer=False) for name in replies]
            for queue in queues:
                assert queue.add(queue.name)
                assert queue.poll() == queue.name
    finally:
        flavour.close()


def test_a_node_that_is_gone_hides_no_replies_of_the_others(flavour: Flavour, threads: ThreadPoolExecutor) -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack, 3)
        client = stack.enter_context(flavour.cluster(cluster.url, codec=StringCodec()))
        pipe, replies = _pops_on_every_node(client, cluster)
        first, _, third = replies
        executing = threads.submit(pipe.execute)
        eventually(lambda: _blocked(cluster) == [1, 1, 1])
        cluster.servers[1].kill()
        cluster.admins[0].rpush(first, "a")
        cluster.admins[2].rpush(third, "c")
        with pytest.raises(RedisConnectionError) as caught:
            executing.result(PATIENCE)
        assert caught.value.maybe_done
        assert (replies[first].result, replies[third].result) == (b"a", b"c")


@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize("subscribed", [True, False])
def test_a_replica_takes_over(flavour: Flavour, subscribed: bool) -> None:
    """A client that only offers finds the new master too, and so does a subscription."""
    with ExitStack() as stack:
        cluster = Cluster(stack, 3, replicas=True, node_timeout_ms=1000)
        client = stack.enter_context(flavour.cluster(cluster.url, codec=StringCodec()))
        names = [next(name for name in NAMES if cluster.owner(name) == i) for i in cluster.masters]
        queues = [client.delayed_queue(name, transfer=subscribed) for name in names]
        for queue in queues:
            queue.offer("before", 60)
        for i in cluster.masters:
            eventually(lambda: cluster.admins[3 + i].dbsize() == cluster.admins[i].dbsize() >= 2)  # noqa: B023
        if subscribed:
            channel = queues[0].keys.channel
            gone = eventually(lambda: [i for i in cluster.masters if cluster.admins[i].pubsub_numsub(channel)[0][1]])[0]
        else:
            gone = 0
        cluster.servers[gone].kill()
        eventually(lambda: cluster.admins[3 + gone].info("replication")["role"] == "master")
        _offer_until_accepted(queues[gone])
        assert queues[gone].read_all() == ["before", "after"]
        if subscribed:
            # A message, and not the probe after 30 s, tells of what is due at once.
            queues[0].offer("now", 0)
            ready = client.blocking_queue(names[0], transfer=False)
            assert ready.poll(timeout=PATIENCE / 2) in ("now", "after")


class Watched:
    """A master, its replica and a Sentinel that promotes the one when the other is gone."""

    def __init__(self, stack: ExitStack, directory: Path) -> None:
        program = PROGRAMS["redis"]()
        self.master = stack.enter_context(EmbeddedServer(program=program, config=REPLICATES_AT_ONCE))
        replica_of = {"replicaof": f"127.0.0.1 {self.master.port}", **REPLICATES_AT_ONCE}
        self.replica = stack.enter_context(EmbeddedServer(program=program, config=replica_of))
        with redis.Redis.from_url(self.replica.url) as admin:
            eventually(lambda: admin.info("replication")["master_link_status"] == "up")
        self.port = sentinel_of(stack, directory, self.master)
        sentinel = stack.enter_context(redis.Redis(port=self.port))
        eventually(lambda: len(sentinel.sentinel_slaves("main")) == 1)


def sentinel_of(stack: ExitStack, directory: Path, master: EmbeddedServer) -> int:
    """The port of a Sentinel that calls the master ``main``."""
    with EmbeddedServer(program=master.program) as short:
        port = short.port or 0
    config = directory / "sentinel.conf"
    config.write_text(
        f"port {port}\nbind 127.0.0.1\ndir {directory}\nsentinel monitor main 127.0.0.1 {master.port} 1\n"
        "sentinel down-after-milliseconds main 500\nsentinel failover-timeout main 3000\n"
    )
    command = [str(master.program.path), str(config), "--sentinel"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    sentinel = stack.enter_context(redis.Redis(port=port))
    eventually(lambda: _answers(sentinel))
    return port


def _answers(server: redis.Redis) -> bool:
    try:
        return bool(server.ping())
    except redis.ConnectionError:
        return False


@ONE_FLAVOUR_BY_DAY
def test_a_failover_under_a_sentinel(flavour: Flavour, tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    with ExitStack() as stack:
        watched = Watched(stack, tmp_path)
        client = stack.enter_context(flavour.sentinel(watched.port or 0, "main", codec=StringCodec()))
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
        delayed.offer("first", delay=0.05)
        assert queue.take() == "first"
        delayed.offer_all([(f"v{i}", 3) for i in range(50)])
        with redis.Redis.from_url(watched.replica.url) as replica:
            eventually(lambda: replica.zcard(delayed.keys.timeout) == 50)
        waiting = threads.submit(queue.take)
        watched.master.kill()
        taken = [waiting.result(PATIENCE)] + [queue.poll(timeout=PATIENCE) for _ in range(49)]
        assert taken == [f"v{i}" for i in range(50)]
        _offer_until_accepted(delayed)
        assert queue.take() == "after"


@ONE_FLAVOUR_BY_DAY
def test_a_sentinels_master_by_its_url(flavour: Flavour, tmp_path: Path) -> None:
    with ExitStack() as stack:
        watched = Watched(stack, tmp_path)
        address = f"127.0.0.1:{watched.port}"
        config = {"sentinelServersConfig": {"sentinelAddresses": [f"redis://{address}"], "masterName": "main"}}
        given: list[tuple[str | None, dict[str, Any]]] = [
            (f"redis+sentinel://127.0.0.1:1,{address}/main?db=0", {}),
            (None, {"redisson_config": config}),
        ]
        for url, options in given:
            client = stack.enter_context(flavour.connect(url, codec=StringCodec(), **options))
            queue = client.blocking_queue("orders")
            client.delayed_queue(queue).offer("first", delay=0.05)
            assert queue.take() == "first"


@pytest.mark.nightly
def test_a_worker_goes_on_after_a_failover_under_a_sentinel(flavour: Flavour, tmp_path: Path) -> None:
    """What waits is handled, and the ack of what was in hand meanwhile goes to the new master."""
    with ExitStack() as stack:
        watched = Watched(stack, tmp_path)
        client = stack.enter_context(flavour.sentinel(watched.port or 0, "main", codec=StringCodec()))
        delayed, worker = client.delayed_queue("orders"), flavour.worker(client)
        log, gate, handled = Log(worker), Gate(), Ledger()

        def handle(value: Any, event: Any) -> None:
            if value == "held":
                gate.wait()
            handled.note(value, event)

        worker.handler("orders", concurrency=4)(handle)
        delayed.offer("held", delay=0)
        replica = stack.enter_context(redis.Redis.from_url(watched.replica.url))
        with running(worker, gate):
            eventually(lambda: gate.inside == 1)
            delayed.offer_all([(f"v{i}", 3) for i in range(50)])
            eventually(lambda: replica.zcard(delayed.keys.timeout) == 51)
            watched.master.kill()
            log.until(BackAgain)
            assert set(handled.some(50)) == {f"v{i}" for i in range(50)}
            gate.open()
            _offer_until_accepted(delayed)
            assert {handled.next(), handled.next()} == {"held", "after"}
            at_rest(replica)
        assert [len(log.of(kind)) for kind in (Away, BackAgain, Lost)] == [1, 1, 0]
        assert {event.attempt for event in handled.events} == {1}


def _offer_until_accepted(delayed: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return delayed.offer("after", delay=0)  # type: ignore[no-any-return]
        except RedissonDQError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
