"""What tests of ``redisson_dq.testing`` start from: a test's clock, and a client that follows it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.testing import TestClock
from tests.flavours import Flavour

#: A Friday, nine days before the clocks of Europe go forward.
START = datetime(2026, 3, 20, tzinfo=timezone.utc)


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
