"""The values that Java wrote into ``tests/vectors``, and what the tests of the codecs share."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from redisson_dq.codecs import (
    ByteArrayCodec,
    Codec,
    DoubleCodec,
    IntegerCodec,
    JsonJacksonCodec,
    Kryo5Codec,
    LongCodec,
    StringCodec,
)
from tests.peer import from_json

VECTORS = Path(__file__).resolve().parents[2] / "vectors"

CODECS: dict[str, Codec] = {
    codec.name: codec
    for codec in (
        StringCodec(),
        LongCodec(),
        IntegerCodec(),
        DoubleCodec(),
        ByteArrayCodec(),
        JsonJacksonCodec(),
        Kryo5Codec(),
    )
}


@dataclass(frozen=True)
class Row:
    """One value and the bytes one version of Redisson has for it; of long bytes only the digest is kept."""

    codec: str
    redisson: str
    java_type: str
    node: Any
    data: bytes | None
    length: int | None
    sha256: str | None
    encode_error: str | None

    @property
    def value(self) -> Any:
        return from_json(self.node)

    def matches(self, data: bytes) -> bool:
        if self.data is not None:
            return data == self.data
        return len(data) == self.length and hashlib.sha256(data).hexdigest() == self.sha256


@functools.cache
def rows() -> tuple[Row, ...]:
    found = []
    for path in sorted(VECTORS.glob("basic-*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            entry = json.loads(line)
            if "codec" in entry:
                found.append(
                    Row(
                        entry["codec"],
                        entry["redisson"],
                        entry["javaType"],
                        entry["value"],
                        bytes.fromhex(entry["hex"]) if "hex" in entry else None,
                        entry.get("length"),
                        entry.get("sha256"),
                        entry.get("encodeError"),
                    )
                )
    return tuple(found)


@functools.cache
def distinct_bytes(codec: str) -> tuple[bytes, ...]:
    """What any version wrote with this codec, each once."""
    return tuple(sorted({row.data for row in rows() if row.codec == codec and row.data is not None}))


def same(left: Any, right: Any) -> bool:
    """Equal, with the same types all the way down, the same order of dicts, signs of zero and scales."""
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return same(list(left.items()), list(right.items()))
    if isinstance(left, float):
        return bool(float.hex(left) == float.hex(right))
    if isinstance(left, Decimal):
        return bool(left.as_tuple() == right.as_tuple())
    return bool(left == right)


def caught_from(call: Callable[[], Any]) -> Exception | None:
    """The error of a call, or None."""
    try:
        call()
    except Exception as exc:
        return exc
    return None


def with_little_stack(frames: int, call: Callable[[], Any]) -> Any:
    """The result of a call made where so many frames are left."""

    def deeper(remaining: int) -> Any:
        return deeper(remaining - 1) if remaining else call()

    return deeper(sys.getrecursionlimit() - len(inspect.stack(0)) - frames)


def nested(depth: int, *, kind: str) -> Any:
    """The number 1 inside ``depth`` containers: of ``kind`` ``list``, ``dict`` or, by turns, ``mixed``."""
    value: Any = 1
    for level in range(depth):
        value = [value] if kind == "list" or (kind == "mixed" and level % 2) else {"k": value}
    return value
