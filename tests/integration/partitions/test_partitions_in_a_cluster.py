"""Partitions over three masters and their replicas: spread, and under load while slots move and a master dies."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from redisson_dq import Outcome, partition_names
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.partitions import partition_of
from tests.cluster import Cluster
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, eventually
from tests.flavours import Flavour

COUNT = 8
NAMES = partition_names("orders", COUNT)
KEYS = [str(i) for i in range(20)]


@pytest.fixture
def own_cluster() -> Iterator[Cluster]:
    """Its masters may die."""
    with ExitStack() as stack:
        yield Cluster(stack, 3, replicas=True, node_timeout_ms=1000)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack, 3, replicas=True)


@pytest.fixture
def client(flavour: Flavour, cluster: Cluster) -> Iterator[Any]:
    for i in cluster.masters:
        cluster.admins[i].flushall()
    with flavour.cluster(cluster.url, codec=StringCodec()) as made:
        yield made


class Load:
    """One producer and one consumer, each with a client of its own, until the block ends."""

    def __init__(self, producer: Any, consumer: Any, threads: ThreadPoolExecutor) -> None:
        self._producer, self._consumer = producer, consumer
        #: Values by what became of their offer.
        self.acknowledged: list[str] = []
        self.doubtful: list[str] = []
        self.taken: list[str] = []
        #: Keys that nothing is offered under.
        self.avoided: set[str] = set()
        self._over = threading.Event()
        self._drained = threading.Event()
        self._running: list[Future[None]] = [threads.submit(self._offer), threads.submit(self._take)]

    def acknowledges_more(self, count: int = 50) -> None:
        """Waits until so many more offers were made."""
        wanted = len(self.acknowledged) + count
        eventually(lambda: len(self.acknowledged) >= wanted)

    def finish(self) -> None:
        """Ends the offers, and waits until everything that was acknowledged has been taken."""
        self._over.set()
        self._running[0].result(PATIENCE)
        try:
            eventually(lambda: self.has_taken(self.acknowledged))
        finally:
            self._drained.set()
            self._running[1].result(PATIENCE)

    def offers(self, values: list[str], delay: float) -> None:
        """Offers values beside, all of them for certain."""
        for value in values:
            self._producer.offer(value, delay, key=_key(value))
        self.acknowledged += values

    def has_taken(self, values: list[str]) -> bool:
        return set(values) <= set(self.taken)

    def _offer(self) -> None:
        for number in itertools.count():
            if self._over.is_set():
                return
            key = KEYS[number % len(KEYS)]
            if key in self.avoided:
                continue
            try:
                self._producer.offer(f"{key}:{number}", 0.05, key=key)
            except RedissonDQError as error:
                if getattr(error, "maybe_done", False):
                    self.doubtful.append(f"{key}:{number}")
                time.sleep(0.01)
            else:
                self.acknowledged.append(f"{key}:{number}")

    def _take(self) -> None:
        while not self._drained.is_set():
            try:
                self.taken += self._consumer.poll(100, timeout=0.2)
            except RedisConnectionError:
                time.sleep(0.01)


@contextmanager
def under_load(flavour: Flavour, cluster: Cluster, threads: ThreadPoolExecutor) -> Iterator[Load]:
    with ExitStack() as stack:
        clients = [stack.enter_context(flavour.cluster(cluster.url, codec=StringCodec())) for _ in range(2)]
        producer = clients[0].delayed_queue("orders", partitions=COUNT, transfer=False)
        load = Load(producer, clients[1].blocking_queue("orders", partitions=COUNT), threads)
        load.acknowledges_more()
        yield load
        load.finish()


def _key(value: str) -> str:
    return value.split(":")[0].removeprefix("kept-")


def in_order(values: list[str]) -> dict[str, list[int]]:
    """The numbers of each key, in the order of the values."""
    found: dict[str, list[int]] = {}
    for value in values:
        key, number = value.split(":")
        found.setdefault(key, []).append(int(number))
    return found


# -- a cluster at rest -----------------------------------------------------------------------------------------------


def test_partitions_spread_over_all_masters(client: Any, cluster: Cluster) -> None:
    assert sorted(Counter(map(cluster.owner, partition_names("orders", 16))).values()) == [5, 5, 6]
    delayed = client.delayed_queue("orders", partitions=16, transfer=False)
    delayed.offer_all((str(i), 60) for i in range(160))
    waiting = [0, 0, 0]
    for name in partition_names("orders", 16):
        owner = cluster.owner(name)
        waiting[owner] += cluster.admins[owner].zcard(QueueKeys.of(name).timeout)
    assert sorted(waiting) == [50, 50, 60]
    assert delayed.size() == 160
    assert [item.value for item in delayed.items(0, 9)] == [item.value for item in delayed.items()][:10]


def test_every_call_over_all_masters(client: Any, threads: ThreadPoolExecutor) -> None:
    queue = client.blocking_queue("orders", partitions=COUNT)
    delayed = client.delayed_queue(queue)
    takes = [threads.submit(queue.take) for _ in range(20)]
    delayed.offer_all([(f"{i % 4}:{i}", 0.02) for i in range(200)], key=lambda value: value[0])
    values = [take.result(PATIENCE) for take in takes]
    while len(values) < 200:
        values += queue.poll(50, timeout=PATIENCE)
    assert sorted(int(value[2:]) for value in values) == list(range(200))
    item = delayed.offer("a", 60)
    assert delayed.find(item.id) == item
    assert delayed.cancel(item.id)
    assert delayed.pause()
    assert delayed.is_paused()
    assert delayed.resume()
    assert delayed.next_due() is None


def test_a_pipeline_over_all_partitions(client: Any) -> None:
    """One exchange with each master, whatever the partitions of its requests."""
    delayed = client.delayed_queue("orders", partitions=COUNT, transfer=False)
    queue = client.blocking_queue("orders", partitions=COUNT, transfer=False)
    with client.pipeline() as pipe:
        offered = {key: pipe.add(delayed.requests.offer(f"late {key}", 3600, key=key, id=key)) for key in KEYS}
        added = [pipe.add(queue.requests.add(f"now {key}", key)) for key in KEYS]
    assert all(reply.result for reply in added)
    assert {key: reply.result.id for key, reply in offered.items()} == {key: key for key in KEYS}
    with client.pipeline() as pipe:
        found = [pipe.add(delayed.requests.find(key, key)) for key in KEYS]
        sizes = [pipe.add(delayed.partition_for(key).requests.size()) for key in KEYS]
        moved = pipe.add(delayed.requests.reschedule(KEYS[0], 7200, key=KEYS[0]))
        gone = [pipe.add(delayed.requests.cancel(key, key)) for key in KEYS]
        heads = [pipe.add(queue.requests.partition_for(key).poll()) for key in KEYS]
    assert [reply.result.value for reply in found] == [f"late {key}" for key in KEYS]
    per_partition = Counter(partition_of(key, COUNT) for key in KEYS)
    assert [reply.result for reply in sizes] == [per_partition[partition_of(key, COUNT)] for key in KEYS]
    assert moved.result is Outcome.RESCHEDULED
    assert [reply.result for reply in gone] == [Outcome.CANCELLED] * len(KEYS)
    assert sorted(reply.result for reply in heads) == sorted(f"now {key}" for key in KEYS)
    assert (delayed.size(), queue.size()) == (0, 0)


def test_an_item_is_found_by_its_id_as_its_own_key(client: Any) -> None:
    delayed = client.delayed_queue("orders", partitions=COUNT, transfer=False)
    with client.pipeline() as pipe:
        for id in KEYS:
            pipe.add(delayed.requests.offer("a", 3600, id=id))
    with client.pipeline() as pipe:
        found = [pipe.add(delayed.requests.find(id)) for id in KEYS]
        elsewhere = pipe.add(delayed.requests.find("another"))
    assert [reply.result.id for reply in found] == KEYS
    assert elsewhere.result is None
    assert all(delayed.cancel(id) is Outcome.CANCELLED for id in KEYS)


def test_a_consumer_has_one_connection_for_each_partition(
    client: Any, cluster: Cluster, threads: ThreadPoolExecutor
) -> None:
    before = {i: {each["id"] for each in cluster.admins[i].client_list(_type="normal")} for i in cluster.masters}

    def opened(command: str) -> Counter[int]:
        """Connections since then whose last command was that one, on each master."""
        return Counter(
            i
            for i in cluster.masters
            for each in cluster.admins[i].client_list()
            if each["id"] not in before[i] and each["cmd"] == command
        )

    queue = client.blocking_queue("orders", partitions=COUNT)
    takes = [threads.submit(queue.take) for _ in range(25)]
    shares = Counter(cluster.owner(name) for name in NAMES)
    eventually(lambda: opened("blpop") == shares)
    assert opened("subscribe").total() == 1
    assert all(len(cluster.admins[i].client_list(_type="normal")) - len(before[i]) < COUNT + 5 for i in cluster.masters)
    client.delayed_queue(queue).offer_all((str(i), 0) for i in range(25))
    assert sorted(int(take.result(PATIENCE)) for take in takes) == list(range(25))


# -- slots that move -------------------------------------------------------------------------------------------------


@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize("pace", ["at once", "slowly"])
def test_slots_move_under_load(flavour: Flavour, cluster: Cluster, threads: ThreadPoolExecutor, pace: str) -> None:
    """Slowly: with offers between the steps, of which those with keys here and there are refused in the end."""
    for i in cluster.masters:
        cluster.admins[i].flushall()
    with under_load(flavour, cluster, threads) as load:
        for name in NAMES[:4] if pace == "at once" else NAMES[:1]:
            between = {"between": lambda: load.acknowledges_more(COUNT)} if pace == "slowly" else {}
            cluster.move(name, (cluster.owner(name) + 1) % 3, **between)
            load.acknowledges_more()
    assert Counter(load.taken) == Counter(load.acknowledged)
    assert load.doubtful == []
    # One consumer takes the values of a key in the order of their offers, wherever its partition went.
    assert in_order(load.taken) == in_order(load.acknowledged)


# -- a master that dies ----------------------------------------------------------------------------------------------


@ONE_FLAVOUR_BY_DAY
def test_a_master_dies_under_load(flavour: Flavour, own_cluster: Cluster, threads: ThreadPoolExecutor) -> None:
    """Nothing that was acknowledged and replicated is lost, and nothing comes twice whose taking was replicated."""
    gone = own_cluster.owner(NAMES[0])
    keys = [key for key in KEYS if own_cluster.owner(NAMES[partition_of(key, COUNT)]) == gone]
    with under_load(flavour, own_cluster, threads) as load:
        # The other masters stay busy, while the replica comes to know all that its master does.
        load.avoided = set(keys)
        load.offers([f"kept-{key}:{i}" for key in keys for i in range(20)], delay=3)
        eventually(lambda: load.has_taken([value for value in load.acknowledged if value.split(":")[0] in keys]))
        _wait_for_replica(own_cluster, gone)
        own_cluster.servers[gone].kill()
        load.avoided = set()
        eventually(lambda: own_cluster.admins[3 + gone].info("replication")["role"] == "master")
        load.acknowledges_more(200)
    unexpected = Counter(load.taken) - Counter(load.acknowledged)
    assert unexpected <= Counter(load.doubtful)
    certain = [value for value in load.taken if value not in unexpected]
    assert in_order(certain) == in_order(load.acknowledged)


@ONE_FLAVOUR_BY_DAY
def test_an_offer_whose_fate_is_open_is_told_before_one_that_was_refused(
    flavour: Flavour, threads: ThreadPoolExecutor
) -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack, 2)
        client = stack.enter_context(flavour.cluster(cluster.url, codec=StringCodec()))
        delayed = client.delayed_queue("orders", partitions=2, transfer=False)
        refused, doubtful = (next(key for key in KEYS if partition_of(key, 2) == i) for i in range(2))
        assert [cluster.owner(delayed.partition_for(key).name) for key in (refused, doubtful)] == [0, 1]
        delayed.partition_for(refused).set_max_size(1)
        cluster.admins[1].execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
        values = [(refused, 60), (refused, 60), (doubtful, 60)]
        offering = threads.submit(delayed.offer_all, values, key=lambda value: value)
        eventually(lambda: cluster.admins[1].info("clients")["blocked_clients"] == 1)
        cluster.servers[1].kill()
        with pytest.raises(RedisConnectionError, match="; 0 of 3 values were offered") as caught:
            offering.result(PATIENCE)
        assert caught.value.maybe_done


def _wait_for_replica(cluster: Cluster, master: int) -> None:
    """Until the replica has all that the master has done so far."""
    offset = cluster.admins[master].info("replication")["master_repl_offset"]
    eventually(lambda: cluster.admins[3 + master].info("replication")["slave_repl_offset"] >= offset)
