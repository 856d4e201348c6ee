"""The client of repairs. They are made by threads only, so it has one flavour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec


@pytest.fixture
def client(url: str) -> Iterator[Any]:
    with redisson_dq.connect(url, codec=StringCodec()) as made:
        yield made


@pytest.fixture
def delayed(client: Any) -> Any:
    return client.delayed_queue("orders", transfer=False)
