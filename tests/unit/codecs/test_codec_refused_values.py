"""Values that Java has no form for, or does not read: each codec refuses them, whatever they look like in Python."""

from __future__ import annotations

import datetime as dt
import enum
from typing import Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    CborJackson3Codec,
    Codec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    SerializationCodec,
    TypedJsonJackson3Codec,
    TypedJsonJacksonCodec,
)
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import java_class

CODECS: list[Codec] = [
    SerializationCodec(),
    Kryo5Codec(),
    Kryo5Codec(references=True),
    JsonJacksonCodec(java_time="numbers"),
    JsonJackson3Codec(),
    CborJackson3Codec(),
    MsgPackJacksonCodec(),
]


class Colour(str, enum.Enum):
    RED = "red"


class Grade(enum.IntEnum):
    ONE = 1


class Raw(bytes, enum.Enum):
    A = b"a"


class Day(dt.date, enum.Enum):
    FIRST = (2024, 1, 1)


@java_class("com.acme.Painted", serial_version_uid=1)
@attrs.define
class Painted:
    any: object


@pytest.mark.parametrize("codec", CODECS, ids=repr)
@pytest.mark.parametrize(
    "value",
    [Colour.RED, Grade.ONE, Raw.A, Day.FIRST, [Colour.RED], {"a": Colour.RED}, {Colour.RED: 1}, Painted(Colour.RED)],
    ids=repr,
)
def test_a_constant_of_an_enum_that_was_not_declared_is_not_written_as_what_it_equals(codec: Codec, value: Any) -> None:
    with pytest.raises(EncodeError, match=r"java_class|a key of type"):
        codec.encode(value)


@java_class("com.acme.Framed")
@attrs.define
class Framed:
    at: java.StackTraceElement | None
    size: int = 5


@java_class("com.acme.Frames")
@attrs.define
class Frames:
    at: java.Array[java.StackTraceElement] | None


@pytest.mark.parametrize("references", [False, True])
def test_kryo_has_no_serializer_for_an_element_of_a_trace_even_where_it_is_null(references: bool) -> None:
    codec = Kryo5Codec(references=references)
    element = java.StackTraceElement("C", "m", "C.java", 5)
    array: java.Array[Any] = java.Array("java.lang.StackTraceElement", [])
    for value in (element, [element], Framed(None), Framed(element), [Framed(None)], array, Frames(array)):
        with pytest.raises(EncodeError, match=r"java\.lang\.StackTraceElement"):
            codec.encode(value)
    # Of a field with an array Java makes the array's serializer alone.
    assert codec.decode(codec.encode(Frames(None))) == Frames(None)


FIRST, LAST = -31_557_014_167_219_200, 31_556_889_864_403_199
NO_INSTANTS = [(LAST + 1, 0), (FIRST - 1, 999_999_999), (10**17, 0), (5, 10**9), (5, -1)]


# MsgPackJacksonCodec writes no dates of java.time.
@pytest.mark.parametrize("codec", CODECS[:-1], ids=repr)
def test_an_instant_that_java_does_not_have_is_not_written(codec: Codec) -> None:
    for parts in NO_INSTANTS:
        with pytest.raises(ArgumentError, match=r"are not parts of a java\.time\.Instant"):
            java.FarTime("java.time.Instant", parts)
    for parts in ((LAST, 999_999_999), (FIRST, 0)):
        assert codec.encode(java.FarTime("java.time.Instant", parts))


@pytest.mark.parametrize("number", [LAST + 1, FIRST - 1, 10**18, f"{LAST + 1}.5", f"{FIRST}.5"])
def test_an_instant_that_java_does_not_have_is_not_read(number: Any) -> None:
    for codec in (JsonJackson3Codec(), JsonJacksonCodec(java_time="numbers")):
        with pytest.raises(DecodeError, match=r"not a java\.time\.Instant"):
            codec.decode(f'["java.time.Instant",{number}]'.encode())
    typed = TypedJsonJackson3Codec(java.Instant)
    with pytest.raises(DecodeError, match=r"not a java\.time\.Instant"):
        typed.decode(str(number).encode())


def test_an_instant_that_jackson_3_reads_it_also_writes_and_reads_again() -> None:
    codec = JsonJackson3Codec()
    for number in (LAST, f"{LAST}.999999999", FIRST, 0, "1704067200.5"):
        value = codec.decode(f'["java.time.Instant",{number}]'.encode())
        assert codec.decode(codec.encode(value)) == value


HALVES = ({"\ud800": 1}, [{"a": {"x\udc00": None}}], java.TreeMap({"\udc00\ud800": 1}))


@pytest.mark.parametrize("codec", [JsonJacksonCodec(), JsonJackson3Codec()], ids=lambda codec: codec.name)
def test_a_key_with_half_of_a_surrogate_pair_is_refused_in_json(codec: Codec) -> None:
    """Jackson 2.21 writes it, and then does not read the name. A text may hold it."""
    for value in HALVES:
        with pytest.raises(EncodeError, match="half of a surrogate pair"):
            codec.encode(value)
    assert codec.decode(codec.encode({"\ud83d\ude00": "\ud800"})) == {"\U0001f600": "\ud800"}


def test_an_older_jackson_reads_half_of_a_surrogate_pair() -> None:
    for value in HALVES:
        for codec in (JsonJacksonCodec(redisson="4.2"), TypedJsonJacksonCodec(object, redisson="3.20.0")):
            assert codec.decode(codec.encode(value)) == value
        with pytest.raises(EncodeError, match=r'redisson="4\.2"'):
            JsonJacksonCodec(redisson="4.3").encode(value)
