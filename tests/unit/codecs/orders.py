"""Prints the bytes of values that Python gives another order in each process, a line for each codec and value."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import attrs
from pydantic import BaseModel

from redisson_dq import java
from redisson_dq.codecs import (
    CborJackson3Codec,
    CborJacksonCodec,
    Codec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    ProtobufCodec,
    SerializationCodec,
    SmileJackson3Codec,
    SmileJacksonCodec,
    TypedJsonJackson3Codec,
    TypedJsonJacksonCodec,
)
from redisson_dq.errors import EncodeError
from redisson_dq.java import java_class
from tests.unit.codecs import acme

__all__ = ["CODECS", "VALUES", "lines"]

WORDS = [f"word-{number}" for number in range(20)] + ["Aa", "BB", "", "\u00e9", "\U0001f600"]


@java_class("com.acme.order.Tag", serial_version_uid=1)
@attrs.frozen
class Tag:
    name: str
    rank: int = 0


@java_class("com.acme.order.Label", serial_version_uid=1)
@dataclass(eq=False)
class Label:
    name: str = ""


@java_class("com.acme.order.Tagged", serial_version_uid=1)
@attrs.define
class Tagged:
    tags: set[str] = attrs.field(factory=set)
    names: dict[str, set[int]] = attrs.field(factory=dict)


OtherTag = java_class("com.acme.order.OtherTag", serial_version_uid=1)(
    attrs.make_class("Tag", {"name": attrs.field(type=str)}, frozen=True)
)


@java_class("com.acme.order.Part", serial_version_uid=1)
@dataclass(frozen=True)
class Part:
    names: frozenset[str]


@java_class("com.acme.order.Model", serial_version_uid=1)
class Model(BaseModel, frozen=True):
    names: frozenset[str]


NOON = datetime(2024, 2, 29, 12, tzinfo=timezone.utc)

#: By name: what makes the value of a plain set of that process.
VALUES: dict[str, Callable[[], Any]] = {
    "texts": lambda: set(WORDS),
    "frozen": lambda: frozenset(WORDS),
    "constants": lambda: {*acme.Planet, *acme.Color},
    "mixed": lambda: {*WORDS, 1, 2.5, None, Decimal("1.50"), UUID(int=7), b"x", date(2024, 2, 29), ("a", 1)},
    "objects": lambda: {Tag(word) for word in WORDS},
    "objects-by-identity": lambda: {Label(word) for word in WORDS},
    "nested": lambda: {frozenset(WORDS[:5]), frozenset(WORDS[3:9]), frozenset({frozenset(WORDS), ("t", "u")})},
    "tuples": lambda: {(word, Tag(word)) for word in WORDS},
    "inside": lambda: {"k": [set(WORDS), {"deep": {"a", "b", "c"}}]},
    "linked": lambda: java.LinkedHashSet(set(WORDS)),
    "set-of": lambda: java.SetOf(set(WORDS)),
    "tree": lambda: java.TreeSet(set(WORDS)),
    "key-set": lambda: java.ConcurrentHashSet(set(WORDS)),
    "copy-on-write": lambda: java.CopyOnWriteArraySet(set(WORDS)),
    "view": lambda: java.unmodifiable(set(WORDS)),
    "synchronized": lambda: java.synchronized(frozenset(WORDS)),
    "enum-set": lambda: java.EnumSet(acme.Color, set(acme.Color)),
    "enum-map": lambda: java.EnumMap(acme.Color, dict.fromkeys(set(acme.Color), 1)),
    "hash-map": lambda: java.HashMap(dict.fromkeys(set(WORDS), 1)),
    "hash-map-of-objects": lambda: java.HashMap(dict.fromkeys({Tag(word) for word in WORDS}, 1)),
    "hashtable": lambda: java.Hashtable(dict.fromkeys(set(WORDS), 1)),
    "concurrent": lambda: java.ConcurrentHashMap(dict.fromkeys(set(WORDS), 1)),
    "weak": lambda: java.WeakHashMap(dict.fromkeys(set(WORDS), 1)),
    "properties": lambda: java.Properties(dict.fromkeys(set(WORDS), "1")),
    "instants": lambda: {java.Instant(NOON, nanosecond=number) for number in range(40)},
    "times": lambda: {java.LocalTime(NOON.time(), nanosecond=number) for number in range(40)},
    "durations": lambda: {java.Duration(timedelta(1), nanosecond=number) for number in range(40)},
    "zoned": lambda: {java.ZonedDateTime(NOON, nanosecond=number) for number in range(40)},
    "far": lambda: {java.FarTime("java.time.LocalDate", (10**6 + number, 1, 1)) for number in range(20)},
    "months": lambda: {java.YearMonth(2024, number) for number in range(1, 13)},
    "bytes": lambda: {bytes((number,)) for number in range(40)},
    "models": lambda: {Model(names=frozenset(WORDS[number : number + 9])) for number in range(12)},
    "twins": lambda: {Tag("a"), OtherTag("a"), Tag("b"), OtherTag("b")},
    "parts": lambda: {Part(frozenset(WORDS[number : number + 9])) for number in range(12)},
    "keys": lambda: {"k": {key: {*WORDS} for key in WORDS}, "l": [{*WORDS[:5]}, java.Optional(frozenset(WORDS))]},
    "tree-map": lambda: java.TreeMap(dict.fromkeys(set(WORDS), 1)),
    "field": lambda: Tagged(set(WORDS), {"n": {3, 1, 2}}),
}
CODECS: tuple[Codec, ...] = (
    Kryo5Codec(),
    Kryo5Codec(references=True),
    SerializationCodec(),
    JsonJacksonCodec(),
    JsonJackson3Codec(),
    MsgPackJacksonCodec(),
    CborJacksonCodec(),
    SmileJacksonCodec(),
    IonJacksonCodec(),
    CborJackson3Codec(),
    SmileJackson3Codec(),
    JsonJacksonCodec(java_time="text"),
    TypedJsonJacksonCodec(Tagged),
    TypedJsonJackson3Codec(Tagged),
    ProtobufCodec(Tagged),
)


def lines() -> list[str]:
    """Each value by each codec that has bytes for it."""
    found = []
    for number, codec in enumerate(CODECS):
        for name, make in VALUES.items():
            try:
                found.append(f"{number} {name} {codec.encode(make()).hex()}")
            except EncodeError:
                continue
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()))
