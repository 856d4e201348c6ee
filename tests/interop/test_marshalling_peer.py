"""The default codec of Redisson before 3.19, beside a Redisson that has the envelope of that time too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from redisson_dq.codecs import MarshallingCodec
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE, moving
from tests.flavours import Flavour
from tests.interop.sides import Java
from tests.interop.test_codec_peer import check_samples
from tests.peer import FAST_START, OPENS, VERSIONS, JavaPeer
from tests.unit.codecs.samples import SAMPLES

OLDEST = VERSIONS[-1]
CODEC = "MarshallingCodec"
#: The values that such queues mostly carry.
NAMES = ("string/unicode", "long/1", "map/linked-mixed", "list/arraylist-mixed", "date/millis", "enum/plain")
ORDER = "object/order"


@pytest.fixture(scope="module")
def peer() -> Iterator[JavaPeer]:
    with JavaPeer(OLDEST, flags=(*FAST_START, *OPENS)) as peer:
        yield peer


@pytest.fixture
def java(peer: JavaPeer, redis7: EmbeddedServer, queue: str) -> Iterator[Java]:
    java = Java(peer, redis7.url, queue, codec=CODEC)
    yield java
    java.close()


def test_java_reads_every_sample_as_its_own_value(peer: JavaPeer) -> None:
    check_samples(peer, CODEC, OLDEST)


def connected(flavour: Flavour, server: EmbeddedServer) -> Any:
    return flavour.connect(server.url, codec=MarshallingCodec(), envelope="legacy")


@pytest.fixture
def typed(java: Java) -> dict[str, Any]:
    """The values as Java gets them in requests."""
    written = {name: MarshallingCodec().encode(SAMPLES[name]).hex() for name in (*NAMES, ORDER)}
    return {name: java.call("decode", codec=CODEC, hex=data) for name, data in written.items()}


def test_python_takes_what_java_offered(
    flavour: Flavour, redis7: EmbeddedServer, java: Java, queue: str, typed: dict[str, Any]
) -> None:
    with connected(flavour, redis7) as client:
        for delay, name in enumerate(NAMES, start=1):
            java.call("offer", value=typed[name], delayMs=20 * delay)
        ready = client.blocking_queue(queue)
        assert [ready.poll(timeout=PATIENCE) for _ in NAMES] == [SAMPLES[name] for name in NAMES]


def test_java_takes_what_python_offered(
    flavour: Flavour, redis7: EmbeddedServer, java: Java, queue: str, typed: dict[str, Any]
) -> None:
    taking = java.taking(len(typed))
    with connected(flavour, redis7) as client:
        delayed = moving(client.delayed_queue(queue))
        for delay, name in enumerate(typed, start=1):
            delayed.offer(SAMPLES[name], delay=0.02 * delay)
        assert [item["value"] for item in taking.result(2 * PATIENCE)] == list(typed.values())


def test_both_find_what_the_other_offered(
    flavour: Flavour, redis7: EmbeddedServer, java: Java, queue: str, typed: dict[str, Any]
) -> None:
    with connected(flavour, redis7) as client:
        delayed = client.delayed_queue(queue)
        for name in NAMES:
            java.call("offer", value=typed[name], delayMs=60_000)
            assert delayed.contains(SAMPLES[name])
            delayed.offer(SAMPLES[name], delay=60)
            for _ in range(2):
                assert java.delayed("contains", value=typed[name])
                assert delayed.remove(SAMPLES[name])
            assert not java.delayed("contains", value=typed[name])
