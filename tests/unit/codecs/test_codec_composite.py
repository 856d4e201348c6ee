"""CompositeCodec: a queue has the value codec, and the other two are only held."""

from __future__ import annotations

from typing import Any

import pytest

from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec, LongCodec, StringCodec
from redisson_dq.codecs.composite import CompositeCodec
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from tests.unit.codecs.vectors import vectors

SPEC = {"name": "CompositeCodec", "mapKey": "StringCodec", "mapValue": "LongCodec", "value": "JsonJacksonCodec"}


def test_java_writes_what_the_value_codec_writes() -> None:
    composite = {(row.redisson, row.name): row.data for row in vectors("CompositeCodec", SPEC)}
    inner = {(row.redisson, row.name): row.data for row in vectors("JsonJacksonCodec")}
    assert len(composite) > 40
    assert composite == {place: inner[place] for place in composite}


def test_the_value_codec_writes_and_reads() -> None:
    codec = CompositeCodec(StringCodec(), LongCodec(), JsonJacksonCodec())
    assert codec.encode({"a": [1]}) == JsonJacksonCodec().encode({"a": [1]})
    assert codec.decode(b'{"@class":"java.util.LinkedHashMap","a":5}') == {"a": 5}


def test_errors_are_those_of_the_value_codec() -> None:
    codec = CompositeCodec(None, None, LongCodec())
    with pytest.raises(EncodeError, match=r"^LongCodec: str given"):
        codec.encode("a")  # type: ignore[arg-type]
    with pytest.raises(DecodeError, match=r"^LongCodec: the bytes are not a whole number") as caught:
        codec.decode(b"a")
    assert (caught.value.codec, caught.value.data) == ("LongCodec", b"a")


def test_the_arguments_have_javas_names() -> None:
    codec = CompositeCodec(map_key_codec=StringCodec(), map_value_codec=None, value_codec=Kryo5Codec())
    assert repr(codec) == "CompositeCodec(StringCodec('utf-8'), None, Kryo5Codec())"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            (StringCodec(), LongCodec()),
            "value_codec must be a redisson_dq.codecs.Codec, .* it is the one that a queue uses",
        ),
        ((StringCodec(), LongCodec(), LongCodec), "value_codec must be a redisson_dq.codecs.Codec"),
        (
            ("StringCodec", None, LongCodec()),
            "map_key_codec must be a redisson_dq.codecs.Codec or None, not 'StringCodec'",
        ),
        ((None, 5, LongCodec()), "map_value_codec must be a redisson_dq.codecs.Codec or None, not 5"),
    ],
)
def test_arguments_that_are_no_codecs(arguments: tuple[Any, ...], text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        CompositeCodec(*arguments)
