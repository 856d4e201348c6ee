"""Every named sample, in the bytes of every Redisson: read as its Python value, and written to the same bytes."""

from __future__ import annotations

import random

import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    CborJacksonCodec,
    Codec,
    IonJacksonCodec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    SerializationCodec,
    SmileJacksonCodec,
)
from redisson_dq.errors import DecodeError, EncodeError
from tests.unit.codecs.golden_rows import UNORDERED, caught_from, same
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.vectors import Vector, vectors

CODECS: dict[str, Codec] = {
    codec.name: codec
    for codec in (
        Kryo5Codec(),
        SerializationCodec(),
        JsonJacksonCodec(),
        MsgPackJacksonCodec(),
        CborJacksonCodec(),
        SmileJacksonCodec(),
        IonJacksonCodec(),
    )
}
JACKSON = frozenset(CODECS) - {"Kryo5Codec", "SerializationCodec"}


def is_embedded(vector: Vector) -> bool:
    """Whether Kryo5Codec holds a Java serialization stream, which is not read yet."""
    return vector.codec == "Kryo5Codec" and vector.name.split("/")[0] in ("unmodifiable", "synchronized", "enummap")


ROWS = [
    vector
    for codec in CODECS
    for vector in vectors(codec)
    if vector.data is not None and vector.name in SAMPLES and vector.same_back and not is_embedded(vector)
]

#: What Jackson does not tell: the class inside a wrapper of java.util.Collections, and what a BitSet holds.
UNTOLD = {f"{kind}/{name}" for kind in ("unmodifiable", "synchronized") for name in ("set", "map", "map-hash")}
UNREAD = {*UNTOLD, "lang/bitset-empty"}

#: Samples that Jackson codecs write with their class where Java, that knows it, leaves it out: as the whole value in
#: JSON a byte[] or NaN would come back as a text, so all of them write it. Also UUIDs, as Redisson 4.3 writes them.
NAMED = {"float/NaN", "float/Infinity", "float/-Infinity", "float/-0.0", "double/NaN", "double/Infinity"}
NAMED |= {"double/-Infinity", "array/byte", "array/byte-empty", "array/byte-256"}
TYPED_UUID = {"object/loose", "object/collected", "object/invoice"}

#: Javac numbers the classes of an enum's constants with bodies; Kryo writes them, and reads the enum itself as well.
WITH_BODIES = {"enum/with-body", "enumset/with-bodies", "enumset/with-bodies-empty", "keys/enum-with-body"}
WITH_BODIES |= {"object/loose", "objects/list-mixed"}

#: Java's serialization tells more than Python keeps: which strings and Integers were one object, the capacity of a
#: HashMap, a Vector or a LinkedBlockingQueue, and the order in which a LinkedHashMap is read.
ONE_OBJECT = {"atomic/reference-map", "list/arraylist-nested", "list/arraylist-same-twice", "objects/equal-strings"}
CAPACITY = {"list/vector", "queue/linked-blocking-bounded", "map/hash-null-key", "map/access-order", "map/capacity"}
CAPACITY |= {"unmodifiable/map-hash"}
#: And what the array behind Arrays.asList is of, which the samples do not say.
COMPONENTS = {"list/aslist", "list/aslist-mixed", "object/order-aslist-tags"}

MUTATIONS = 20


def name_of(vector: Vector) -> str:
    return f"{vector.codec}-{vector}"


def is_unread(vector: Vector) -> bool:
    if vector.codec == "SerializationCodec":
        return vector.name in COMPONENTS
    return vector.codec in JACKSON and vector.name in UNREAD


def is_written_otherwise(vector: Vector) -> bool:
    if vector.codec == "IonJacksonCodec" and vector.name.startswith("double/"):
        return True  # Ion's decimal and float have exponents of their own
    if vector.codec == "SerializationCodec":
        return vector.name in ONE_OBJECT | CAPACITY | COMPONENTS
    if vector.codec == "Kryo5Codec":
        return vector.name in WITH_BODIES
    if vector.codec == "CborJacksonCodec" and vector.name == "object/collected":
        return True  # Jackson's CBOR writes the keys of a Map<Integer, ..> as numbers, and reads texts as well
    if vector.redisson == "4.3.1" and vector.name in TYPED_UUID:
        return False
    return is_unread(vector) or vector.name in NAMED or vector.name in TYPED_UUID


@pytest.mark.parametrize("vector", [row for row in ROWS if not is_unread(row)], ids=name_of)
def test_a_sample_is_read_as_its_python_value(vector: Vector) -> None:
    assert vector.data is not None
    assert same(CODECS[vector.codec].decode(vector.data), SAMPLES[vector.name])


@pytest.mark.parametrize(
    "vector", [row for row in ROWS if row.deterministic and not is_written_otherwise(row)], ids=name_of
)
def test_a_sample_is_written_to_the_bytes_of_java(vector: Vector) -> None:
    assert vector.data is not None
    codec, value = CODECS[vector.codec], SAMPLES[vector.name]
    if isinstance(value, UNORDERED):
        # Java's order of hashes is its own; a dict keeps it, and a set of Python's cannot.
        value = codec.decode(vector.data)
        if isinstance(value, (set, java.SetView)):
            assert same(codec.decode(codec.encode(value)), value)
            return
    assert codec.encode(value) == vector.data


@pytest.mark.parametrize("codec", CODECS)
def test_a_sample_that_is_written_otherwise_comes_back(codec: str) -> None:
    for vector in ROWS:
        if vector.codec == codec and is_written_otherwise(vector) and not is_unread(vector):
            value = SAMPLES[vector.name]
            assert same(CODECS[codec].decode(CODECS[codec].encode(value)), value)


@pytest.mark.parametrize("codec", CODECS)
def test_damaged_bytes_give_a_value_or_a_decode_error(codec: str) -> None:
    rng = random.Random(7)
    tried = 0
    for data in {vector.data for vector in vectors(codec) if vector.data}:
        damaged = [data[:end] for end in range(len(data))]
        for _ in range(MUTATIONS):
            changed = bytearray(data)
            for _ in range(rng.randint(1, 3)):
                changed[rng.randrange(len(data))] = rng.randrange(256)
            damaged.append(bytes(changed))
        for bytes_ in damaged:
            tried += 1
            check_value_or_error(CODECS[codec], bytes_)
    assert tried > 10_000


def check_value_or_error(codec: Codec, data: bytes) -> None:
    error = caught_from(lambda: codec.encode(codec.decode(data)))
    assert error is None or isinstance(error, (DecodeError, EncodeError)), repr(error)
    if isinstance(error, DecodeError):
        assert error.data == data
        assert 0 <= error.offset <= len(data)
