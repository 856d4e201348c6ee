"""Redisson in cluster mode uses partitions by their names: what it offers is taken here, and the other way round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from redisson_dq import partition_names
from redisson_dq.codecs import StringCodec
from redisson_dq.wire.partitions import partition_of
from tests.cluster import Cluster
from tests.conftest import PATIENCE
from tests.flavours import Flavour
from tests.interop.conftest import EACH_VERSION
from tests.peer import VERSIONS, JavaPeer

COUNT = 6
NAMES = partition_names("orders", COUNT)
KEYS = [f"customer-{i}" for i in range(30)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack, 3)


@pytest.fixture(params=EACH_VERSION)
def java(request: pytest.FixtureRequest, peers: Callable[[str], JavaPeer], cluster: Cluster) -> Iterator[JavaPeer]:
    for admin in cluster.admins:
        admin.flushall()
    peer = peers(request.param)
    address = cluster.url.removesuffix("/0")
    peer.call("open", client="cluster", address=address, cluster=True, codec="StringCodec")
    for name in NAMES:
        assert peer.call("open_delayed", client="cluster", queue=name)
    yield peer
    peer.call("close", client="cluster")


@pytest.fixture
def client(flavour: Flavour, java: JavaPeer, cluster: Cluster) -> Iterator[Any]:
    envelope = "legacy" if java.version == VERSIONS[-1] else "current"
    with flavour.cluster(cluster.url, codec=StringCodec(), envelope=envelope) as made:
        yield made


def test_java_offers_and_python_takes(java: JavaPeer, client: Any) -> None:
    queue = client.blocking_queue("orders", partitions=COUNT)
    for key in KEYS:
        name = NAMES[partition_of(key, COUNT)]
        java.call("offer", client="cluster", queue=name, value=key, delayMs=50)
    assert sorted(queue.take() for _ in KEYS) == sorted(KEYS)
    assert client.delayed_queue(queue).is_empty()


def test_python_offers_and_java_takes(java: JavaPeer, client: Any) -> None:
    delayed = client.delayed_queue("orders", partitions=COUNT, transfer=False)
    delayed.offer_all([(key, 0.05) for key in KEYS], key=lambda key: key)
    for i, name in enumerate(NAMES):
        expected = [key for key in KEYS if partition_of(key, COUNT) == i]
        taken = [java.call("take", client="cluster", queue=name, timeout=PATIENCE) for _ in expected]
        assert sorted(taken) == sorted(expected)
    assert delayed.is_empty()
