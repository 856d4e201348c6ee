"""Java offers to queues that one Python client waits for over two connections."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from redisson_dq.codecs import Kryo5Codec
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.interop.conftest import OpenJava

COUNT = 12


@pytest.mark.parametrize("call", ["take", "receive"])
def test_what_java_adds_and_offers_comes_at_once(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, call: str
) -> None:
    names = [f"{queue}-{number}" for number in range(COUNT)]
    peers = [java(redis7.url, queue=name) for name in names]

    def taken(handle: Any) -> list[Any]:
        got = []
        for _ in range(2):
            value = getattr(handle, call)()
            if call == "receive":
                assert value.ack()
                value = value.value
            got.append(value)
        return got

    with flavour.connect(redis7.url, codec=Kryo5Codec()) as client, ThreadPoolExecutor(COUNT) as threads:
        waiting = [threads.submit(taken, client.blocking_queue(name)) for name in names]
        eventually(lambda: look.info("stats")["tracking_total_keys"] == COUNT - 8)
        for peer in peers:
            peer.call("add", value="added")
        for peer in peers:
            peer.call("offer", value="offered", delayMs=20)
        assert [each.result(PATIENCE) for each in waiting] == [["added", "offered"]] * COUNT
