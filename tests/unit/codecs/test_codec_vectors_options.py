"""The named samples in the bytes of codecs with options: read as their Python values, written to the same bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import Codec, Kryo5Codec
from redisson_dq.errors import DecodeError, EncodeError
from tests.conftest import as_many
from tests.unit.codecs import acme
from tests.unit.codecs.golden_rows import UNORDERED, caught_from, same
from tests.unit.codecs.rows import check_rows
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.specs import codec_of
from tests.unit.codecs.test_codec_vectors import check_value_or_error, name_of
from tests.unit.codecs.vectors import Vector, of_codec, vectors

__all__ = ["CODECS", "CYCLES", "ROWS", "codec_for", "is_read_back", "spec_of", "value_of", "with_options"]

#: ProtobufCodec and the modules of java.time have tests of their own.
CODECS = (
    *("Kryo5Codec", "TypedJsonJacksonCodec", "AvroJacksonCodec", "CompositeCodec", "StringCodec"),
    *("LZ4Codec", "LZ4CodecV2", "SnappyCodecV2", "ZStdCodec"),
)

#: Of a StackTraceElement the library knows only those of an exception.
UNREAD = {("TypedJsonJacksonCodec", "exception/stack-trace-element")}


def spec_of(vector: Vector) -> Any:
    return json.loads(vector.spec)


def is_ordered(vector: Vector) -> bool:
    """After 4.0 Redisson sorts the allowed classes; before, their ids are in the order that its set has."""
    allowed = (spec_of(vector) or {}).get("allowedClasses", [])
    return vector.redisson.startswith("4.") or allowed == sorted(allowed)


def is_ascii(vector: Vector) -> bool:
    """Netty writes and reads the characters up to U+00FF in US-ASCII, which has 128."""
    return spec_of(vector).get("charset") == "US-ASCII" and vector.name == "string/latin"


def with_options(codec: str, redisson: str | None = None) -> list[Vector]:
    """The samples in the bytes of a codec with options, of one Redisson or of all."""
    return [
        vector
        for vector in of_codec(codec, redisson=redisson)
        if vector.spec != "null" and "modules" not in vector.spec and is_ordered(vector)
    ]


def is_read_back(vector: Vector) -> bool:
    """Whether Java and Python read the sample from its bytes."""
    return (
        vector.data is not None
        and vector.same_back
        and vector.name in SAMPLES
        and (vector.codec, vector.name) not in UNREAD
        and not is_ascii(vector)
    )


WITH_OPTIONS = [vector for codec in CODECS for vector in with_options(codec)]
ROWS = [vector for vector in WITH_OPTIONS if is_read_back(vector)]


def value_of(vector: Vector) -> Any:
    value = SAMPLES[vector.name]
    if (vector.codec, vector.name) == ("AvroJacksonCodec", "object/stock"):
        # A whole number for an Object is a long by the schema, so the plain int becomes a Long in Java again.
        return attrs.evolve(value, next=attrs.evolve(value.next, any=5))
    return value


def codec_for(vector: Vector) -> Codec:
    return codec_of(spec_of(vector), vector.redisson)


#: Kryo names the class of an enum's constant with a body, and reads the enum itself as well; and a stream of Java
#: tells whether an exception's cause was given as null.
OTHERWISE = {"enum/with-body", "keys/enum-with-body", "object/loose", "objects/list-mixed", "exception/own-in-list"}
#: With references Kryo records which strings, dates or lists are one object; the samples do not.
SHARING = {"list/arraylist-same-twice", "objects/equal-strings", "objects/shared-date", "object/stock"}
#: Their bytes hang on the version of the library that compresses.
COMPRESSORS = {"LZ4CodecV2", "SnappyCodecV2", "ZStdCodec"}


def is_written_otherwise(vector: Vector) -> bool:
    return vector.codec in COMPRESSORS or (vector.codec == "Kryo5Codec" and vector.name in OTHERWISE)


def is_only_rewritten(vector: Vector) -> bool:
    """Whether the value that was read has what the sample has not: who is one object, or Java's order of hashes."""
    return isinstance(SAMPLES[vector.name], UNORDERED) or (vector.codec == "Kryo5Codec" and vector.name in SHARING)


def test_every_codec_has_rows() -> None:
    least = {"Kryo5Codec": 200, "TypedJsonJacksonCodec": 110, "StringCodec": 200, "AvroJacksonCodec": 9}
    for codec in CODECS:
        assert sum(row.codec == codec for row in ROWS) > least.get(codec, 25), codec


def check_read(vector: Vector) -> None:
    assert vector.data is not None
    assert same(codec_for(vector).decode(vector.data), value_of(vector))


@pytest.mark.parametrize("codec", CODECS)
def test_a_sample_is_read_as_its_python_value(codec: str) -> None:
    check_rows([row for row in ROWS if row.codec == codec], check_read, name=name_of)


def check_written(vector: Vector) -> None:
    assert vector.data is not None
    codec, value = codec_for(vector), value_of(vector)
    if is_written_otherwise(vector):
        assert same(codec.decode(codec.encode(value)), value)
        return
    assert codec.encode(codec.decode(vector.data)) == vector.data
    assert is_only_rewritten(vector) or codec.encode(value) == vector.data


@pytest.mark.parametrize("codec", CODECS)
def test_a_sample_is_written_to_the_bytes_of_java(codec: str) -> None:
    check_rows([row for row in ROWS if row.codec == codec], check_written, name=name_of)


#: What Java, which goes by the declared type alone, reads as something else. Of these it leaves out the nulls of
#: maps, and an exception's own fields; and a mapper without its module writes an empty Optional as an object.
LEFT_OUT = {"map/linked-mixed", "object/drawing", "object/ticket", "object/maybe", "exception/own"}
LEFT_OUT |= {"exception/own-in-list"}
LOSING = [
    vector
    for vector in WITH_OPTIONS
    if vector.codec == "TypedJsonJacksonCodec"
    and not (vector.same_back or vector.name in LEFT_OUT)
    and vector.data is not None
    and vector.name in SAMPLES
]


@pytest.mark.parametrize("vector", LOSING, ids=name_of)
def test_what_java_loses_is_written_as_java_writes_it(vector: Vector) -> None:
    assert codec_for(vector).encode(SAMPLES[vector.name]) == vector.data


# Kryo's options


def cycles() -> dict[str, Any]:
    """Values that contain themselves, which Kryo writes only with references."""
    left, right, leaf = acme.TreeNode("left"), acme.TreeNode("right"), acme.TreeNode("leaf")
    root = acme.TreeNode("root", children=[left, right])
    left.parent = right.parent = root
    right.children, leaf.parent = [leaf], right
    items: list[Any] = [1]
    items.append(items)
    array = java.ObjectArray([None, None])
    array[0] = array
    return {"cycle/tree": root, "cycle/list": items, "cycle/array": array}


CYCLES = cycles()
REFERENCES = {row.name: row for row in vectors("Kryo5Codec", {"name": "Kryo5Codec", "references": True})}


@pytest.mark.parametrize("name", CYCLES)
def test_a_value_that_contains_itself(name: str) -> None:
    codec = Kryo5Codec(references=True)
    data = REFERENCES[name].data
    assert data is not None
    assert codec.encode(CYCLES[name]) == data
    assert codec.encode(codec.decode(data)) == data


def test_an_object_is_read_as_the_one_that_it_refers_back_to() -> None:
    codec = Kryo5Codec(references=True)
    read = {name: codec.decode(codec.encode(value)) for name, value in CYCLES.items()}
    root = read["cycle/tree"]
    assert all(child.parent is root for child in root.children)
    assert root.children[1].children[0].parent is root.children[1]
    assert read["cycle/list"][1] is read["cycle/list"]
    assert read["cycle/array"][0] is read["cycle/array"]
    first, second, box = codec.decode(codec.encode(SAMPLES["objects/shared"]))
    assert first is second is box.content


REFUSED = [row for row in WITH_OPTIONS if row.codec == "Kryo5Codec" and "allowed" in row.spec and row.data is None]


@pytest.mark.parametrize("vector", REFUSED, ids=name_of)
def test_a_class_that_is_not_allowed_is_refused_as_in_java(vector: Vector) -> None:
    codec = codec_for(vector)
    with pytest.raises(EncodeError, match="none of the allowed classes"):
        codec.encode(SAMPLES[vector.name])
    named = Kryo5Codec(references=spec_of(vector).get("references", False)).encode(SAMPLES[vector.name])
    with pytest.raises(DecodeError, match="none of the allowed classes"):
        codec.decode(named)


def test_there_are_classes_that_are_not_allowed() -> None:
    assert {row.name for row in REFUSED} == {"array/int", "object/circle", "objects/shared"}


# Damaged bytes


def damaged(data: bytes, rng: random.Random) -> Iterator[bytes]:
    for _ in range(20):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            changed[rng.randrange(len(data))] = rng.randrange(256)
        yield bytes(changed)


@pytest.mark.parametrize("codec", ["Kryo5Codec", "TypedJsonJacksonCodec", "AvroJacksonCodec"])
def test_damaged_bytes_give_a_value_or_a_decode_error(codec: str) -> None:
    rng = random.Random(7)
    for spec, redisson, data in sorted(
        {(row.spec, row.redisson, row.data or b"") for row in ROWS if row.codec == codec}
    )[:: as_many(3, 1)]:
        made = codec_of(json.loads(spec), redisson)
        for changed in damaged(data, rng):
            check_value_or_error(made, changed)
        for end in range(len(data)):
            # Only a number of JSON goes on for as long as there are digits.
            error = caught_from(partial(made.decode, data[:end]))
            assert isinstance(error, DecodeError) or (error is None and codec == "TypedJsonJacksonCodec")
