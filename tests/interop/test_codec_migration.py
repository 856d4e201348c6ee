"""From the default codec to JSON on one queue, with the codecs of docs/changing-a-codec.md on both sides."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import redis

from redisson_dq.codecs import Codec, JsonJacksonCodec, Kryo5Codec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.java import Long
from tests.conftest import PATIENCE
from tests.flavours import Flavour
from tests.interop.conftest import NEWEST_BY_DAY, OpenJava
from tests.interop.sides import entries
from tests.peer import from_json

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "changing-a-codec.md").read_text("utf-8")
KRYO, JSON = Kryo5Codec(), JsonJacksonCodec()


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def documented_codec(write_json: bool) -> Codec:
    made: dict[str, Any] = {"__name__": "documented"}
    exec(block("python"), made)
    codec = made["KryoToJson"](write_json)
    assert isinstance(codec, Codec)
    return codec


def test_the_page_shows_the_java_that_is_compiled() -> None:
    assert (ROOT / "interop/src/main/java/com/acme/codec/KryoToJson.java").read_text("utf-8").endswith(block("java"))


#: What Java reads and writes, then what Python does: the default codec, the one that reads both, JSON.
PHASES: list[tuple[Any, Codec]] = [
    ({"name": "KryoToJson", "writeJson": False}, KRYO),
    ("Kryo5Codec", documented_codec(False)),
    ({"name": "KryoToJson", "writeJson": True}, documented_codec(False)),
    ({"name": "KryoToJson", "writeJson": False}, documented_codec(True)),
    ({"name": "KryoToJson", "writeJson": True}, documented_codec(True)),
    ("JsonJacksonCodec", documented_codec(True)),
    ({"name": "KryoToJson", "writeJson": True}, JSON),
]
VALUE = {"sku": "A-1", "id": Long(5), "tags": ["new", "gift"]}


@pytest.mark.parametrize("phase", range(len(PHASES)))
@pytest.mark.parametrize("version", NEWEST_BY_DAY)
def test_both_sides_read_each_other_in_every_phase(
    redis7: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str, version: str, phase: int
) -> None:
    spec, codec = PHASES[phase]
    other = java(redis7.url, version=version, codec=spec)
    with flavour.connect(redis7.url, codec=codec) as client:
        other.offer(VALUE, 0)
        assert client.blocking_queue(queue).poll(timeout=PATIENCE) == VALUE
        client.delayed_queue(queue).offer(VALUE, 0)
        (item,) = other.taking(1).result(2 * PATIENCE)
        assert from_json(item["value"]) == VALUE


def test_a_queue_that_holds_both_is_read_by_both(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    changed = documented_codec(True)
    for number, codec in enumerate((KRYO, JSON) * 4):
        with flavour.connect(redis7.url, codec=codec) as producer:
            producer.delayed_queue(queue, transfer=False).offer(number, 0.1 * number)
    assert len(entries(look, queue)) == 8
    other = java(redis7.url, codec={"name": "KryoToJson", "writeJson": True})
    with flavour.connect(redis7.url, codec=changed) as client:
        ready = client.blocking_queue(queue)
        assert [ready.poll(timeout=PATIENCE) for _ in range(4)] == [0, 1, 2, 3]
        client.delayed_queue(queue).start_moving()
        assert [from_json(item["value"]) for item in other.taking(4).result(2 * PATIENCE)] == [4, 5, 6, 7]
