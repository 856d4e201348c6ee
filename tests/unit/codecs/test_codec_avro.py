"""AvroJacksonCodec: what Java writes by a schema, and the same bytes back."""

from __future__ import annotations

import json
from functools import partial

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
