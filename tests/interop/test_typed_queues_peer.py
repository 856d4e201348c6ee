"""``RDelayedQueue<Long>`` beside a Python queue of ``type=java.Long``: each finds and takes the other's values."""

from __future__ import annotations

from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec, MsgPackJacksonCodec, SerializationCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import EncodeError
from tests.conftest import PATIENCE, by_night, moving
from tests.flavours import Flavour
from tests.interop.conftest import OpenJava
from tests.peer import VERSIONS

CODECS: list[Any] = [Kryo5Codec(), JsonJacksonCodec(), by_night(MsgPackJacksonCodec()), by_night(SerializationCodec())]
LONG = {"$": "java.lang.Long", "v": "100234"}
#: The type in Python, the plain value, and the value as Java has it.
TYPED: dict[str, tuple[Any, Any, Any]] = {
    "long": (java.Long, 100_234, LONG),
    "longs": (list[java.Long], [100_234], [LONG]),
    "long by name": (dict[str, java.Long], {"a": 100_234}, {"a": LONG}),
}


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
@pytest.mark.parametrize("name", TYPED)
def test_values_of_one_type_on_both_sides(
    flavour: Flavour, redis7: EmbeddedServer, java: OpenJava, queue: str, name: str, codec: Any, version: str
) -> None:
    kind, value, of_java = TYPED[name]
    peer = java(redis7.url, version=version, codec=codec.name)
    envelope = "legacy" if version == VERSIONS[-1] else "current"
    with flavour.connect(redis7.url, codec=codec, envelope=envelope) as client:
        ready = client.blocking_queue(queue, type=kind, transfer=False)
        delayed = client.delayed_queue(ready)
        # Java looks for ours, and Python for Java's.
        delayed.offer(value, delay=3600)
        assert peer.delayed("contains", value=of_java)
        assert peer.delayed("remove", value=of_java)
        peer.call("offer", value=of_java, delayMs=3_600_000)
        assert delayed.contains(value)
        with pytest.raises(EncodeError, match=r"an equal \S*(java\.Long|\.\.\., java\.Long\])"):
            client.delayed_queue(queue).remove(value)
        assert delayed.remove(value)
        # Each takes the other's.
        taking = peer.taking(1)
        moving(delayed).offer(value, delay=0.01)
        assert [item["value"] for item in taking.result(2 * PATIENCE)] == [of_java]
        peer.call("offer", value=of_java, delayMs=10)
        assert ready.poll(timeout=PATIENCE) == value
