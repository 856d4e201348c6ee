"""What was read and not changed can be written again, as an equal value: every vector of every codec."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import Codec, JsonJackson3Codec, JsonJacksonCodec, Kryo5Codec, SerializationCodec
from redisson_dq.codecs.marks import other_bytes
from redisson_dq.errors import DecodeError, EncodeError
from tests.unit.codecs.golden_rows import same
from tests.unit.codecs.rows import check_rows
from tests.unit.codecs.test_codec_vectors import CODECS, codec_of, name_of
from tests.unit.codecs.test_codec_vectors_options import ROWS as WITH_OPTIONS
from tests.unit.codecs.test_codec_vectors_options import codec_for
from tests.unit.codecs.vectors import Vector, vectors
from tests.versions import NEWEST

SERIALIZATION, KRYO = SerializationCodec(), Kryo5Codec()


def check_rewritten(codec: Codec, data: bytes) -> None:
    try:
        value = codec.decode(data)
    except DecodeError:
        return
    written = codec.encode(value)
    assert written == data or other_bytes(value) or same(codec.decode(written), value)


@pytest.mark.parametrize("name", CODECS)
def test_what_was_read_can_be_written(name: str) -> None:
    def check(row: Vector) -> None:
        assert row.data is not None
        check_rewritten(codec_of(row.codec, row.redisson), row.data)

    # Of what Java itself cannot read back nothing is written.
    check_rows([row for row in vectors(name) if row.data is not None and row.same_back], check, name=name_of)


def test_what_was_read_with_options_can_be_written() -> None:
    def check(row: Vector) -> None:
        assert row.data is not None
        check_rewritten(codec_for(row), row.data)

    check_rows(WITH_OPTIONS, check, name=name_of)


# Time zones and calendars of Java's serialization


def read(name: str) -> tuple[bytes, Any]:
    data = next(row.data for row in vectors("SerializationCodec") if row.name == name and row.redisson == NEWEST)
    assert data is not None
    return data, SERIALIZATION.decode(data)


ZONED = ["timezone/utc", "timezone/berlin", "timezone/offset", "timezone/simple", "calendar/utc", "calendar/berlin"]


@pytest.mark.parametrize("name", ZONED)
def test_zones_and_calendars_are_written_as_they_were_read(name: str) -> None:
    data, value = read(name)
    for one in (value, copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert SERIALIZATION.encode(one) == data
        assert same(SERIALIZATION.decode(data), one)
    for around in ([value, value], {"a": value, "b": [read(name)[1]]}, java.unmodifiable([value])):
        back = SERIALIZATION.decode(SERIALIZATION.encode(around))
        assert SERIALIZATION.encode(back) == SERIALIZATION.encode(around)
        assert same(back, around)
    wrapped = KRYO.encode(java.unmodifiable([value]))
    assert KRYO.encode(KRYO.decode(wrapped)) == wrapped


def test_what_was_changed_or_made_in_python_is_refused() -> None:
    calendar = read("calendar/berlin")[1]
    made = [attrs.evolve(calendar, lenient=False), attrs.evolve(calendar), java.TimeZone("UTC")]
    for value in made:
        with pytest.raises(EncodeError, match=r"is written as it was read from Java's serialization, and this one was"):
            SERIALIZATION.encode(value)
    assert calendar == attrs.evolve(calendar)
    assert repr(calendar) == repr(attrs.evolve(calendar))


def test_a_zone_of_rules_of_its_own_is_no_time_zone_of_that_id() -> None:
    value = read("timezone/simple")[1]
    assert isinstance(value, java.JavaObject)
    assert value.java_name == "java.util.SimpleTimeZone"
    with pytest.raises(EncodeError):
        KRYO.encode(value)


# Arrays of maps in JSON


@java.java_class("com.acme.read.Rounds")
@attrs.define
class Rounds:
    names: java.Array[dict[java.Integer, str]]


@pytest.mark.parametrize("codec", [JsonJacksonCodec(), JsonJackson3Codec()], ids=lambda codec: codec.name)
def test_the_keys_of_maps_in_an_array_are_of_their_declared_type(codec: Codec) -> None:
    data = b'{"@class":"com.acme.read.Rounds","names":["[Ljava.util.Map;",[{"@class":"java.util.HashMap","1":"a"}]]}'
    value = codec.decode(data)
    assert list(value.names) == [{1: "a"}]
    assert codec.encode(value) == data
