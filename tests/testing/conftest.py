"""Fixtures of the tests of ``redisson_dq.testing``: a test's clock, and a client that follows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.testing import TestClock
from tests.conftest import by_night, emptied
from tests.faults.servers import at_hand
from tests.flavours import Flavour

#: A Friday, nine days before the clocks of Europe go forward.
START = datetime(2026, 3, 20, tzinfo=timezone.utc)


@pytest.fixture(scope="session")
def old_server() -> Iterator[EmbeddedServer]:
    """A Redis 6.2, which the nightly tests have from a wheel."""
    found = [find for name, find in at_hand().items() if name.startswith("redis-6.2")]
    assert found, "REDISSON_DQ_TEST_SERVERS names no Redis 6.2: tests/nightly.sh installs one"
    with EmbeddedServer(program=found[0]()) as server:
        yield server


@pytest.fixture(params=["redis", "valkey", by_night("redis-6.2")])
def server(request: pytest.FixtureRequest, servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    """An empty server of each kind that the clock has to know the commands of."""
    if request.param == "redis-6.2":
        return emptied(request.getfixturevalue("old_server"))
    return emptied(servers(request.param))


@pytest.fixture
def clock(url: str) -> Iterator[TestClock]:
    with TestClock(url, start=START) as made:
        yield made


@pytest.fixture
def client(flavour: Flavour, url: str, clock: TestClock) -> Iterator[Any]:
    with flavour.connect(url, codec=StringCodec()) as made:
        yield made


@pytest.fixture
def queue(client: Any) -> Any:
    return client.blocking_queue("orders")


@pytest.fixture
def delayed(client: Any) -> Any:
    return client.delayed_queue("orders")


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Threads for calls that block. A test that fails must not wait for them."""
    pool = ThreadPoolExecutor(4)
    yield pool
    pool.shutdown(wait=False, cancel_futures=True)
