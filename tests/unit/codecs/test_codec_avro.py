"""AvroJacksonCodec: what Java writes by a schema, and the same bytes back."""

from __future__ import annotations

import json
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from redisson_dq.codecs import AvroJacksonCodec
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from tests.unit.codecs import acme
from tests.unit.codecs.golden_rows import caught_from, same
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.vectors import Vector, of_codec

TYPES = {"com.acme.Order": acme.Order, "com.acme.Primitives": acme.Primitives}
ROWS = [
    vector
    for vector in of_codec("AvroJacksonCodec")
    if json.loads(vector.spec)["class"] in TYPES and vector.data is not None and vector.name in SAMPLES
]


def codec_of(vector: Vector) -> AvroJacksonCodec:
    spec = json.loads(vector.spec)
    return AvroJacksonCodec(TYPES[spec["class"]], spec["schema"])


@pytest.mark.parametrize("vector", ROWS, ids=str)
def test_a_sample_is_read_and_written_to_the_bytes_of_java(vector: Vector) -> None:
    codec = codec_of(vector)
    assert vector.data is not None
    value = codec.decode(vector.data)
    assert codec.encode(value) == vector.data
    if vector.name != "object/order-immutable-tags":  # a List is an ArrayList where no class is named
        assert same(value, SAMPLES[vector.name])


@pytest.mark.parametrize("vector", ROWS, ids=str)
def test_bytes_that_end_early_are_a_decode_error(vector: Vector) -> None:
    codec = codec_of(vector)
    assert vector.data is not None
    for end in range(len(vector.data)):
        error = caught_from(partial(codec.decode, vector.data[:end]))
        assert isinstance(error, DecodeError), end


def test_what_cannot_be_used_is_refused() -> None:
    with pytest.raises(ArgumentError):
        AvroJacksonCodec(acme.Order, "no schema")
    with pytest.raises(ArgumentError, match="complex"):
        AvroJacksonCodec(complex, '"string"')
    with pytest.raises(EncodeError):
        AvroJacksonCodec(str, '"string"').encode(5)  # type: ignore[arg-type]


SOME_ID = UUID("12345678-1234-5678-1234-567812345678")
IN_BYTES, IN_TEXT = SOME_ID.hex, str(SOME_ID).encode().hex()
WITH_CLASS = "041c" + b"java.util.UUID".hex() + "48" + IN_TEXT + "00"
FIXED = '{"type":"fixed","name":"U","size":16}'
TEXTS = '{"type":"array","items":"string"}'

#: What each Redisson has written of a UUID, or that it has refused it. 3.20 and 4.7 write alike.
OF_JAVA = [
    ("4.7", UUID, "string", None),
    ("4.7", UUID, "bytes", "20" + IN_BYTES),
    ("3.20", UUID, FIXED, IN_BYTES),
    ("4.7", UUID, '["null","bytes"]', "0220" + IN_BYTES),
    ("4.7", UUID, '["null","string","bytes"]', "0420" + IN_BYTES),
    ("4.7", list[UUID], FIXED, "02" + IN_BYTES + "00"),
    ("3.50", dict[UUID, UUID], "bytes", "0248" + IN_TEXT + "20" + IN_BYTES + "00"),
    ("4.7", UUID, TEXTS, None),
    ("4.3", UUID, "string", None),
    ("4.3", UUID, "bytes", None),
    ("4.3", UUID, FIXED, None),
    ("4.3", UUID, TEXTS, WITH_CLASS),
    ("4.3", list[UUID], TEXTS, "02" + WITH_CLASS + "00"),
    ("4.3", dict[UUID, UUID], TEXTS, "0248" + IN_TEXT + WITH_CLASS + "00"),
]


@pytest.mark.parametrize(("redisson", "kind", "schema", "written"), OF_JAVA)
def test_a_uuid_has_the_bytes_of_each_redisson(redisson: str, kind: Any, schema: str, written: str | None) -> None:
    value: Any = {UUID: SOME_ID, list[UUID]: [SOME_ID]}.get(kind, {SOME_ID: SOME_ID})
    schema = schema if schema[0] in "[{" else json.dumps(schema)
    if kind != UUID:
        inner = '"items":' if kind == list[UUID] else '"values":'
        schema = f'{{"type":"{"array" if kind == list[UUID] else "map"}",{inner}{schema}}}'
    codec = AvroJacksonCodec(kind, schema, redisson=redisson)
    if written is None:
        with pytest.raises(EncodeError):
            codec.encode(value)
        return
    assert codec.encode(value).hex() == written
    for reader in (codec, AvroJacksonCodec(kind, schema), AvroJacksonCodec(kind, schema, redisson="4.3")):
        assert reader.decode(bytes.fromhex(written)) == value
