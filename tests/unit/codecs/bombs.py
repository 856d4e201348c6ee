"""Small byte strings that would become large in memory: every codec, every kind of small element.

``python -m tests.unit.codecs.bombs FILE`` reads the bombs of a file. It prints for each how many bytes its memory has
grown by. It makes none itself, as that takes memory too.
"""

from __future__ import annotations

import json
import os
import sys
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

from redisson_dq import java
from redisson_dq.codecs import (
    AvroJacksonCodec,
    ByteArrayCodec,
    CborJackson3Codec,
    CborJacksonCodec,
    Codec,
    IonJacksonCodec,
    JsonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MarshallingCodec,
    MsgPackJacksonCodec,
    ProtobufCodec,
    SerializationCodec,
    SmileJackson3Codec,
    SmileJacksonCodec,
    TypedJsonJacksonCodec,
    ZStdCodec,
)
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import java_class

__all__ = ["CODECS", "ELEMENTS", "LIMIT", "SHAPES", "bomb"]

LIMIT = 1_000_000
_SCHEMA = '{"type": "array", "items": {"type": "array", "items": "int"}}'


@java_class("com.acme.bombs.Nothing", serial_version_uid=1)
@dataclass(frozen=True)
class Nothing:
    """An object without fields."""


@java_class("com.acme.bombs.Few", serial_version_uid=1)
@dataclass
class Few:
    """An object whose fields take a byte each."""

    a: set[int]
    b: list[int]
    c: dict[str, int]


@java_class("com.acme.bombs.Inner", final=True, serial_version_uid=1)
@dataclass
class Inner:
    """A part of another object, whose class is not in the bytes."""

    a: set[int]
    b: set[int]
    c: set[int]


@java_class("com.acme.bombs.Middle", final=True, serial_version_uid=1)
@dataclass
class Middle:
    """An object of objects."""

    a: Inner
    b: Inner


@java_class("com.acme.bombs.Outer", final=True, serial_version_uid=1)
@dataclass
class Outer:
    """An object of objects of objects."""

    a: Middle
    b: Middle


def _outer() -> Outer:
    return Outer(*(Middle(*(Inner(set(), set(), set()) for _ in range(2))) for _ in range(2)))


@java_class("com.acme.bombs.All", serial_version_uid=1)
@dataclass
class All:
    """An object of protostuff, which has no list as the whole value."""

    items: list[Any]


CODECS: dict[str, Codec] = {
    "kryo5": Kryo5Codec(),
    "kryo5-typed": Kryo5Codec().typed(list[set[int]]),
    "kryo5-references": Kryo5Codec(references=True),
    "serialization": SerializationCodec(),
    "marshalling": MarshallingCodec(),
    "protostuff": ProtobufCodec(All),
    "protobuf": ProtobufCodec(list),
    "avro": AvroJacksonCodec(list[list[int]], _SCHEMA),
    "avro-sets": AvroJacksonCodec(list[set[int]], _SCHEMA),
    "cbor": CborJacksonCodec(),
    "cbor-typed": CborJacksonCodec().typed(list[set[int]]),
    "cbor3": CborJackson3Codec(),
    "ion": IonJacksonCodec(),
    "json": JsonJacksonCodec(),
    "json3": JsonJackson3Codec(),
    "json-typed": TypedJsonJacksonCodec(list[set[int]]),
    "plain-json": JsonCodec(),
    "msgpack": MsgPackJacksonCodec(),
    "smile": SmileJacksonCodec(),
    "smile3": SmileJackson3Codec(),
}
ELEMENTS: dict[str, Callable[[], Any]] = {
    "sets": set,
    "lists": list,
    "maps": dict,
    "records-of-nothing": Nothing,
    "records": lambda: Few(set(), [], {}),
    "records-of-records": _outer,
    "none": lambda: None,
    "bools": lambda: True,
    "ints": lambda: 1,
    "more-ints": lambda: 1000,
    "empty-texts": str,
    "characters": lambda: "a",
    "texts": lambda: "ab",
    "bytes": bytes,
    "longs": lambda: java.Long(1),
    "java-bytes": lambda: java.Byte(1),
    "floats": lambda: 1.5,
    "times": lambda: datetime(1970, 1, 1, tzinfo=timezone.utc),
    "spans": timedelta,
    "decimals": lambda: Decimal(1),
    "tuples": tuple,
    "big-integers": lambda: java.BigInteger(1),
    "atomic": lambda: java.AtomicInteger(0),
    "bit-sets": java.BitSet,
    "optional": java.Optional,
    "nested": lambda: [[[]]],
    "small-maps": lambda: {"a": 1},
    "small-sets": lambda: {1},
}
_ONE = Nothing()
ELEMENTS["references"] = lambda: _ONE
SHAPES: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "map": lambda items: {str(number): item for number, item in enumerate(items)},
    "lists": lambda items: [items[i : i + 50] for i in range(0, len(items), 50)],
}
# The most elements of a value.
_MOST = 90_000


def _made(codec: str, element: str, shape: str, count: int) -> bytes:
    items = SHAPES[shape]([ELEMENTS[element]() for _ in range(count)])
    return CODECS[codec].encode(All(items) if codec == "protostuff" else items)


def bomb(codec: str, element: str, shape: str) -> bytes | None:
    """The compressed bytes of as many elements as the estimate by bytes lets pass; None if there are none."""
    inner = CODECS[codec]
    try:
        small, large = (_made(codec, element, shape, count) for count in (200, 400))
    except EncodeError:
        return None
    costs = [len(each) + inner.memory_of(each) for each in (small, large)]
    each = max((costs[1] - costs[0]) / 200, 0.01)
    data = _made(codec, element, shape, min(_MOST, int(0.95 * LIMIT / each)))
    return ZStdCodec(ByteArrayCodec(), max_ratio=None).encode(data)


def _peak() -> int:
    """The peak memory of the process since the last call."""
    found = Path("/proc/self/status").read_text("ascii")
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    return 1024 * int(next(line.split()[1] for line in found.splitlines() if line.startswith("VmHWM")))


def _read(codec: Codec, data: bytes) -> None:
    try:
        ZStdCodec(codec, max_size=LIMIT, max_ratio=None).decode(data)
    except DecodeError as error:
        if "are allowed" not in str(error):
            raise


def main() -> None:
    """Reads all bombs of the file, each in a process of its own: one would be read into the memory of those before."""
    for name, element, shape, data in json.loads(Path(sys.argv[1]).read_text("utf-8")):
        codec, packed = CODECS[name], b64decode(data)
        few = ZStdCodec(ByteArrayCodec()).encode(_made(name, element, shape, 60))
        # What is imported and compiled for the first value is not its memory, nor are pages of Python's own code.
        _read(codec, few)
        if not (child := os.fork()):
            _read(codec, few)
            _peak()
            before = _peak()
            _read(codec, packed)
            print(json.dumps([name, element, shape, _peak() - before]), flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0


if __name__ == "__main__":
    main()
