"""The values that Java wrote into ``tests/vectors``, and helpers shared by the tests of the codecs."""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import attrs

from redisson_dq import java
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
from redisson_dq.codecs.marks import _WHY
from redisson_dq.java.own import kind_of
from tests.peer import from_json
from tests.vector_files import all_rows

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
    for entry in all_rows("basic"):
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


#: Java's order of these is that of its hashes.
UNORDERED = (
    java.HashMap,
    java.Hashtable,
    java.ConcurrentHashMap,
    java.WeakHashMap,
    java.IdentityHashMap,
    java.Properties,
    java.MapOf,
    java.MapView,
    java.SetOf,
    java.SetView,
    java.ConcurrentHashSet,
    set,
    frozenset,
)


#: What a plain set or dict is that remembers how Java had it.
_PLAIN: dict[type, type] = {java.HashSet: set, java.LinkedHashMap: dict}


def _plain(value: Any) -> Any:
    if _WHY in getattr(value, "__dict__", ()):
        value = copy.copy(value)  # without the mark, which a subclass keeps
    return _PLAIN.get(type(value), kind_of(value))


def same(left: Any, right: Any) -> bool:
    """Equal, with the same types all the way down, the same order of what is ordered, signs of zero and scales."""
    if _plain(left) is not _plain(right):
        return False
    for name in ("component", "comparator", "java_name", "nanosecond", "zone", "element", "types", "fold", "like"):
        if type(left) is type(right) and hasattr(left, name) and not same(getattr(left, name), getattr(right, name)):
            return False
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, UNORDERED):
        pairs = {(kind_of(key), key): key for key in right}
        keys = [(key, pairs.get((kind_of(key), key))) for key in left]
        values = all(same(left[key], right[key]) for key in left) if isinstance(left, dict) and left == right else True
        return left == right and values and all(same(key, other) for key, other in keys)
    if isinstance(left, dict):
        return same(list(left.items()), list(right.items()))
    if isinstance(left, java.OrderedSet):
        return same(list(left), list(right))
    if isinstance(left, float):
        return bool(float.hex(left) == float.hex(right))
    if isinstance(left, Decimal):
        return bool(left.as_tuple() == right.as_tuple())
    if isinstance(left, datetime):
        return bool(left == right) and (left.utcoffset(), str(left.tzinfo)) == (right.utcoffset(), str(right.tzinfo))
    if isinstance(left, java.Throwable):
        told = vars(left).keys() - {"null_cause"}  # by Java's serialization alone
        return all(same(vars(left)[name], vars(right)[name]) for name in told)
    if (attrs.has(type(left)) or dataclasses.is_dataclass(left)) and not isinstance(left, type):
        names = attrs.fields(type(left)) if attrs.has(type(left)) else dataclasses.fields(left)
        kept = [field.name for field in names if field.name != "described"]  # which a codec keeps for itself
        return all(same(getattr(left, name), getattr(right, name)) for name in kept)
    return bool(left == right)


def caught_from(call: Callable[[], Any]) -> Exception | None:
    """The error of a call, or None."""
    try:
        call()
    except Exception as error:
        return error
    return None


def with_little_stack(frames: int, call: Callable[[], Any]) -> Any:
    """The result of a call with only this many stack frames left."""

    def deeper(remaining: int) -> Any:
        return deeper(remaining - 1) if remaining else call()

    return deeper(sys.getrecursionlimit() - len(inspect.stack(0)) - frames)


def nested(depth: int, *, kind: str) -> Any:
    """The number 1 inside ``depth`` containers: of ``kind`` ``list``, ``dict`` or, by turns, ``mixed``."""
    value: Any = 1
    for level in range(depth):
        value = [value] if kind == "list" or (kind == "mixed" and level % 2) else {"k": value}
    return value
