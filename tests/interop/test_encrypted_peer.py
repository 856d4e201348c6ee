"""EncryptedCodec beside the codec of Java that interop/ has to copy, in live queues."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from redisson_dq.codecs import EncryptedCodec, Kryo5Codec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import DecodeError, EncodeError
from tests.conftest import PATIENCE, moving
from tests.flavours import Flavour
from tests.interop.sides import Java
from tests.peer import FAST_START, VERSIONS, JavaPeer

KEYS = {"2026-11": b"n" * 32, "2026-08": b"o" * 16}


def spec(queue: str, *ids: str) -> dict[str, Any]:
    keys = {key_id: KEYS[key_id].hex() for key_id in ids}
    return {"name": "EncryptedCodec", "inner": "Kryo5Codec", "keys": keys, "queue": queue}


@pytest.fixture(scope="module")
def peer() -> Iterator[JavaPeer]:
    with JavaPeer(VERSIONS[0], flags=FAST_START) as peer:
        yield peer


@pytest.fixture
def java(peer: JavaPeer, redis7: EmbeddedServer, queue: str) -> Iterator[Java]:
    java = Java(peer, redis7.url, queue, codec=spec(queue, "2026-11", "2026-08"))
    yield java
    java.close()


def test_values_go_both_ways(flavour: Flavour, redis7: EmbeddedServer, java: Java, queue: str) -> None:
    with flavour.connect(redis7.url, codec=EncryptedCodec(Kryo5Codec(), KEYS)) as client:
        ready = client.blocking_queue(queue)
        for number in range(3):
            java.call("offer", value=f"of Java {number}", delayMs=20 * number)
        assert [ready.poll(timeout=PATIENCE) for _ in range(3)] == [f"of Java {number}" for number in range(3)]
        taking = java.taking(3)
        delayed = moving(client.delayed_queue(queue))
        for number in range(3):
            delayed.offer(f"of Python {number}", delay=0.02 * number)
        assert [item["value"] for item in taking.result(2 * PATIENCE)] == [f"of Python {number}" for number in range(3)]


def test_a_rotation_reaches_java_first(flavour: Flavour, peer: JavaPeer, redis7: EmbeddedServer, queue: str) -> None:
    java = Java(peer, redis7.url, queue, codec=spec(queue, "2026-08", "2026-11"))
    old = EncryptedCodec(Kryo5Codec(), {"2026-08": KEYS["2026-08"]})
    with flavour.connect(redis7.url, codec=EncryptedCodec(Kryo5Codec(), KEYS)) as client:
        rotated, behind = client.blocking_queue(queue), client.blocking_queue(queue, codec=old)
        taking = java.taking(1)
        rotated.offer("by the new key")
        assert [item["value"] for item in taking.result(2 * PATIENCE)] == ["by the new key"]
        java.call("offer", value="by the old key", delayMs=0)
        assert rotated.poll(timeout=PATIENCE) == "by the old key"
        rotated.offer("by the new key")
        with pytest.raises(DecodeError, match="encrypted with the key '2026-11'"):
            behind.poll()
    java.close()


def test_what_looks_for_a_value_says_that_it_cannot(flavour: Flavour, redis7: EmbeddedServer, queue: str) -> None:
    with flavour.connect(redis7.url, codec=EncryptedCodec(Kryo5Codec(), KEYS)) as client:
        delayed, ready = client.delayed_queue(queue, transfer=False), client.blocking_queue(queue, transfer=False)
        delayed.offer("a", delay=60, id="order-71")
        ready.offer("a")
        calls: tuple[Callable[[], Any], ...] = (
            lambda: ready.contains("a"),
            lambda: ready.remove("a"),
            lambda: ready.remove_all(["a"]),
            lambda: delayed.contains("a"),
            lambda: delayed.remove("a"),
            lambda: delayed.offer("a", delay=60, deduplicate_for=60),
        )
        for call in calls:
            with pytest.raises(EncodeError, match=f"queue '{queue}'.*cannot be searched for"):
                call()
        assert (ready.read_all(), delayed.read_all()) == (["a"], ["a"])
        assert delayed.cancel("order-71")
