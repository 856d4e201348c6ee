"""The starting point of most integration tests: a client with StringCodec and its two queue handles."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire import forms
from redisson_dq.wire.keys import QueueKeys
from tests.cluster import Cluster
from tests.conftest import PROGRAMS, REPLICATES_AT_ONCE, emptied, moving
from tests.flavours import Flavour

KEYS = QueueKeys.of("orders")


@pytest.fixture(autouse=True)
def _nothing_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process reports each newer form once, and all tests use one queue."""
    monkeypatch.setattr(forms, "TOLD", set())


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Threads for calls that block. A test that fails must not wait for them."""
    pool = ThreadPoolExecutor(32)
    yield pool
    pool.shutdown(wait=False, cancel_futures=True)


@pytest.fixture
def client(flavour: Flavour, url: str) -> Iterator[Any]:
    with flavour.connect(url, codec=StringCodec()) as made:
        yield made


@pytest.fixture
def looking(flavour: Flavour, url: str) -> Iterator[Any]:
    """A client that opens nothing and moves nothing."""
    with flavour.connect(url, codec=StringCodec()) as made:
        yield made


@pytest.fixture
def queue(client: Any) -> Any:
    """The client moves the queue's due items from the beginning, whatever the test does."""
    return moving(client.blocking_queue("orders"))


@pytest.fixture
def delayed(client: Any) -> Any:
    return moving(client.delayed_queue("orders"))


@pytest.fixture
def producer(client: Any) -> Any:
    """The delayed side of the same queue, in a client that moves nothing."""
    return client.delayed_queue("orders", transfer=False)


@pytest.fixture
def worker(flavour: Flavour, client: Any) -> Any:
    """A worker over the client, in the test's process."""
    return flavour.worker(client)


@pytest.fixture(autouse=True)
def _look_at_servers_late(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many tests count commands. Whether a client's single look at its servers is among them would depend on time."""
    if "looks" not in request.fixturenames:
        for flavour in ("_sync", "_async"):
            monkeypatch.setattr(f"redisson_dq.{flavour}.runtime._LOOK_AT_SERVERS_US", 3_600_000_000 * 24 * 365)


@pytest.fixture(scope="module")
def _second() -> Iterator[EmbeddedServer]:
    with EmbeddedServer(program=PROGRAMS["redis"](), config=REPLICATES_AT_ONCE) as server:
        yield server


@pytest.fixture
def second(_second: EmbeddedServer) -> EmbeddedServer:
    """Another server, empty."""
    return emptied(_second)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack, 3)
