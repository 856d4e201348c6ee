"""Every named sample, in the bytes of every Redisson: read as its Python value, and written to the same bytes."""

from __future__ import annotations

import functools
import random
import re

import pytest

from redisson_dq.codecs import (
    CborJacksonCodec,
    Codec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MarshallingCodec,
    MsgPackJacksonCodec,
    SerializationCodec,
    SmileJacksonCodec,
)
from redisson_dq.errors import DecodeError, EncodeError
from tests.conftest import as_many
from tests.unit.codecs import specs
from tests.unit.codecs.golden_rows import UNORDERED, caught_from, same
from tests.unit.codecs.rows import check_rows
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.vectors import Vector, vectors

CODECS: dict[str, Codec] = {
    codec.name: codec
    for codec in (
        Kryo5Codec(),
        SerializationCodec(),
        MarshallingCodec(),
        JsonJacksonCodec(),
        JsonJackson3Codec(),
        MsgPackJacksonCodec(),
        CborJacksonCodec(),
        SmileJacksonCodec(),
        IonJacksonCodec(),
    )
}
#: Java's serialization in two protocols.
STREAMS = frozenset(("SerializationCodec", "MarshallingCodec"))
JACKSON = frozenset(CODECS) - STREAMS - {"Kryo5Codec"}


def rows_of(codec: str, redisson: str | None = None) -> list[Vector]:
    """The samples that Java itself reads back, of one Redisson or of all."""
    return [
        vector
        for vector in vectors(codec, redisson=redisson)
        if vector.data is not None and vector.name in SAMPLES and vector.same_back
    ]


ROWS = [vector for codec in CODECS for vector in rows_of(codec)]

#: What Jackson does not tell: the class inside a wrapper of java.util.Collections, what a BitSet holds, and a
#: calendar's time zone.
UNTOLD = {f"{kind}/{name}" for kind in ("unmodifiable", "synchronized") for name in ("set", "map", "map-hash")}
UNREAD = {*UNTOLD, "lang/bitset-empty", "calendar/utc"}

#: Of these classes Java has getters for none of the fields, or for more than the fields; Jackson 3 goes by getters.
GETTERS = {"object/order-nulls", "object/primitives-zero", "object/account"}
#: Before Redisson 4 Ion has a capital E for the exponent, and Smile the sign of a Float four times.
OTHER_FLOATS = {
    "IonJacksonCodec": re.compile("double/.*E"),
    "SmileJacksonCodec": re.compile("float/-"),
}

#: Java's serialization has more information than the samples: which strings, Integers and dates were one object, the
#: capacity of a HashMap, a Vector or a LinkedBlockingQueue, the order in which a LinkedHashMap is read, whether a list
#: may hold nulls. In Kryo5Codec's streams also the capacity of a HashMap, and whether an exception's cause was given as
#: null.
ONE_OBJECT = {"atomic/reference-map", "list/arraylist-nested", "list/arraylist-same-twice", "objects/equal-strings"}
ONE_OBJECT |= {"objects/shared-date"}
CAPACITY = {"list/vector", "queue/linked-blocking-bounded", "map/hash-null-key", "map/access-order", "map/capacity"}
CAPACITY |= {"immutable/stream-tolist"}
IN_STREAMS = {"unmodifiable/map-hash", "exception/own-in-list"}
#: And what the array behind Arrays.asList is of, which the samples do not say.
COMPONENTS = {"list/aslist", "list/aslist-mixed", "object/order-aslist-tags"}
#: What writes data of its own there.
OWN_DATA = {"object/money", "object/sealed"}

#: What is refused there when Python makes it: it holds the transitions of time zones.
REFUSED = {"timezone/utc", "timezone/berlin", "timezone/offset", "calendar/utc", "calendar/berlin"}
#: The types of the fields of an exception, which the river protocol does not tell.
FIELDS = {"exception/own", "exception/own-in-list"}

MUTATIONS = 20
#: How many damaged bytes are tried.
ENOUGH = as_many(3_500, 1_000_000)


@functools.cache
def codec_of(codec: str, redisson: str) -> Codec:
    """The codec as that Redisson has it."""
    return specs.codec_of(codec, redisson)


def name_of(vector: Vector) -> str:
    return f"{vector.codec}-{vector}"


def is_unread(vector: Vector) -> bool:
    if vector.codec in STREAMS:
        return vector.name in COMPONENTS | OWN_DATA | (FIELDS if vector.codec == "MarshallingCodec" else set())
    if vector.codec == "Kryo5Codec":
        return vector.redisson == "3.20.0" and vector.name == "enummap/empty"  # the enum is lost
    return vector.codec in JACKSON and vector.name in UNREAD


def is_refused(vector: Vector) -> bool:
    return vector.codec in STREAMS and vector.name in REFUSED


def is_written_otherwise(vector: Vector) -> bool:
    if is_unread(vector) or is_refused(vector):
        return True
    if vector.codec == "MarshallingCodec" and vector.name == "net/url":
        return True  # a part of it has the text of a field's name, and is another object in Java
    if vector.codec in STREAMS:
        return vector.name in ONE_OBJECT | CAPACITY | IN_STREAMS
    if vector.codec == "Kryo5Codec":
        return vector.name in IN_STREAMS
    if vector.codec == "JsonJackson3Codec":
        return vector.name in GETTERS
    other = OTHER_FLOATS.get(vector.codec)
    return other is not None and vector.redisson.startswith("3.") and other.match(vector.name) is not None


def check_read(vector: Vector) -> None:
    assert vector.data is not None
    assert same(codec_of(vector.codec, vector.redisson).decode(vector.data), SAMPLES[vector.name])
    assert same(CODECS[vector.codec].decode(vector.data), SAMPLES[vector.name])


@pytest.mark.parametrize("codec", CODECS)
def test_a_sample_is_read_as_its_python_value(codec: str) -> None:
    check_rows([row for row in rows_of(codec) if not is_unread(row)], check_read)


def check_written(vector: Vector) -> None:
    assert vector.data is not None
    codec, value = codec_of(vector.codec, vector.redisson), SAMPLES[vector.name]
    if isinstance(value, UNORDERED):
        value = codec.decode(vector.data)  # Java's order of hashes is its own
    assert codec.encode(value) == vector.data


@pytest.mark.parametrize("codec", CODECS)
def test_a_sample_is_written_to_the_bytes_of_java(codec: str) -> None:
    check_rows([row for row in rows_of(codec) if row.deterministic and not is_written_otherwise(row)], check_written)


@pytest.mark.parametrize("codec", CODECS)
def test_a_sample_that_is_written_otherwise_comes_back(codec: str) -> None:
    for vector in ROWS:
        if vector.codec == codec and is_written_otherwise(vector) and not is_unread(vector) | is_refused(vector):
            value = SAMPLES[vector.name]
            assert same(CODECS[codec].decode(CODECS[codec].encode(value)), value)


@pytest.mark.parametrize("vector", [row for row in ROWS if is_refused(row)], ids=name_of)
def test_a_sample_that_python_cannot_make_is_refused(vector: Vector) -> None:
    with pytest.raises(EncodeError, match=r"a \S+\.(ZoneInfo|GregorianCalendar) is written as it was read"):
        CODECS[vector.codec].encode(SAMPLES[vector.name])


@pytest.mark.parametrize("codec", CODECS)
def test_damaged_bytes_give_a_value_or_a_decode_error(codec: str) -> None:
    rng = random.Random(7)
    tried = 0
    whole = sorted({vector.data for vector in vectors(codec) if vector.data})
    one_of = 1 + sum(len(data) + MUTATIONS for data in whole) // ENOUGH
    for data in whole[::one_of]:
        damaged = [data[:end] for end in range(len(data))]
        for _ in range(MUTATIONS):
            changed = bytearray(data)
            for _ in range(rng.randint(1, 3)):
                changed[rng.randrange(len(data))] = rng.randrange(256)
            damaged.append(bytes(changed))
        for bytes_ in damaged:
            tried += 1
            check_value_or_error(CODECS[codec], bytes_)
    assert tried > as_many(2_000, 4_500)


def check_value_or_error(codec: Codec, data: bytes) -> None:
    error = caught_from(lambda: codec.encode(codec.decode(data)))
    assert error is None or isinstance(error, (DecodeError, EncodeError)), repr(error)
    if isinstance(error, DecodeError):
        assert error.data == data
        assert 0 <= error.offset <= len(data)
