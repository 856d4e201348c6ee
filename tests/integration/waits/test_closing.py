"""The end of a client that has consumers: it waits for them, and says what it gave up."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError
from tests.conftest import PATIENCE, eventually
from tests.flavours import AsyncioFlavour, Flavour


def consumer(flavour: Flavour, entered: list[str], left: list[str], release: threading.Event) -> Any:
    def consume(value: str) -> None:
        entered.append(value)
        release.wait(PATIENCE)
        left.append(value)

    async def consume_async(value: str) -> None:
        entered.append(value)
        await asyncio.to_thread(release.wait, PATIENCE)
        left.append(value)

    return consume_async if isinstance(flavour, AsyncioFlavour) else consume


def test_close_waits_for_consumers(flavour: Flavour, admin: Any, url: str) -> None:
    entered: list[str] = []
    left: list[str] = []
    release = threading.Event()
    client = flavour.connect(url, codec=StringCodec())
    queue = client.blocking_queue("orders", transfer=False)
    for _ in range(4):
        queue.subscribe_on_elements(consumer(flavour, entered, left, release))
    values = [f"v{number}" for number in range(10)]
    admin.rpush("orders", *values)
    eventually(lambda: len(entered) == 4)
    threading.Timer(0.3, release.set).start()
    client.close(grace=PATIENCE)
    assert sorted(left) == sorted(entered) == values[:4]
    assert admin.lrange("orders", 0, -1) == [value.encode() for value in values[4:]]


def test_close_says_what_it_gave_up(flavour: Flavour, admin: Any, url: str, caplog: pytest.LogCaptureFixture) -> None:
    entered: list[str] = []
    release = threading.Event()
    client = flavour.connect(url, codec=StringCodec())
    client.blocking_queue("orders", transfer=False).subscribe_on_elements(consumer(flavour, entered, [], release))
    admin.rpush("orders", "held", "left")
    eventually(lambda: entered)
    client.close(grace=0.1)
    (record,) = [record for record in caplog.records if "has not returned" in record.message]
    assert "'held'" in record.message
    assert "'orders'" in record.message
    assert admin.lrange("orders", 0, -1) == [b"left"]
    release.set()


def test_a_consumer_may_close_its_client(flavour: Flavour, admin: Any, url: str) -> None:
    client = flavour.connect(url, codec=StringCodec())
    closed: list[str] = []

    def close(value: str) -> None:
        client.close(grace=PATIENCE * 10)
        closed.append(value)

    async def close_async(value: str) -> None:
        await client.inner.close(grace=PATIENCE * 10)
        closed.append(value)

    consume = close_async if isinstance(flavour, AsyncioFlavour) else close
    client.blocking_queue("orders", transfer=False).subscribe_on_elements(consume)
    admin.rpush("orders", "a")
    eventually(lambda: closed == ["a"])


def test_a_client_is_closed_while_another_thread_subscribes(admin: Any, url: str) -> None:
    for _ in range(40):
        client = redisson_dq.connect(url, codec=StringCodec())
        queue = client.blocking_queue("orders", transfer=False)
        subscribed, ended = threading.Event(), threading.Event()

        def subscribe() -> None:
            try:
                while True:
                    queue.unsubscribe(queue.subscribe_on_elements(print))  # noqa: B023
                    subscribed.set()  # noqa: B023
            except ClosedError:
                ended.set()  # noqa: B023

        thread = threading.Thread(target=subscribe)
        thread.start()
        assert subscribed.wait(PATIENCE)
        client.close()
        thread.join(PATIENCE)
        assert ended.is_set()
