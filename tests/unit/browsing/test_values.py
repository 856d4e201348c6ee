"""Recognised codecs and plain values, on what Redisson wrote, and on any bytes."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisson_dq.browsing import ValueReader, recognise
from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec, LZ4Codec
from redisson_dq.errors import ArgumentError
from redisson_dq.java import java_class
from tests.vector_files import rows
from tests.versions import NEWEST

READER = ValueReader()


def samples() -> list[tuple[str, bytes]]:
    return [
        (each["codec"].partition("(")[0], bytes.fromhex(each["hex"])) for each in rows("types", NEWEST) if "hex" in each
    ]


@java_class("com.acme.browsing.Parcel")
@attrs.define
class Parcel:
    id: int
    to: dict[str, Any]


def test_what_redisson_wrote_is_recognised() -> None:
    known: Counter[tuple[str, bool]] = Counter()
    for codec, data in samples():
        known[codec, any(each.codec == codec for each in recognise(data))] += 1
    shares = {codec: known[codec, True] / (known[codec, True] + known[codec, False]) for codec, _ in known}
    for codec in ("SerializationCodec", "SmileJacksonCodec"):
        assert shares[codec] == 1
    for codec in ("ZStdCodec", "LZ4Codec", "LZ4CodecV2", "SnappyCodecV2"):
        assert shares[codec] > 0.9
    assert shares["Kryo5Codec"] > 0.95
    assert shares["JsonJacksonCodec"] > 0.85


def test_nothing_that_redisson_wrote_makes_reading_fail() -> None:
    for _, data in samples():
        for part in (data, data[: len(data) // 2], data[1:]):
            json.dumps(READER.read(part).value)


@given(st.binary(max_size=60))
def test_any_bytes_are_shown(data: bytes) -> None:
    read = READER.read(data)
    json.dumps(read.value)
    assert read.codec or read.error
    assert READER.read(data, is_whole=False).value == data.hex()


@pytest.mark.parametrize(
    ("data", "first", "sure"),
    [
        (Kryo5Codec().encode({"id": 1}), "Kryo5Codec", "certain"),
        (Kryo5Codec().encode(300), "Kryo5Codec", "possible"),
        (b"\x01\x00com.acme.Orde\xf2\x01", "Kryo5Codec", "certain"),
        (b'{"@class":"com.acme.Order","id":1}', "JsonJacksonCodec", "certain"),
        (b'["java.util.ArrayList",[1]]', "JsonJacksonCodec", "certain"),
        (b'{"id":1}', "TypedJsonJacksonCodec", "likely"),
        (b"\xac\xed\x00\x05t\x00\x01a", "SerializationCodec", "certain"),
        (b"42", "LongCodec", "likely"),
        (b"hello world", "StringCodec", "likely"),
        (b"\x04\x3e\x05hello", "MarshallingCodec", "likely"),
        (b"\x00\x01\x10com.acme.Order", "FstCodec", "likely"),
    ],
)
def test_the_surest_comes_first(data: bytes, first: str, sure: str) -> None:
    found = recognise(data)[0]
    assert (found.codec, found.sure) == (first, sure)


class TestReading:
    def test_a_declared_class(self) -> None:
        read = READER.read(Kryo5Codec().encode(Parcel(7, {"city": "Bern"})))
        assert read.value == {"@class": "com.acme.browsing.Parcel", "id": 7, "to": {"city": "Bern"}}
        assert read.java_class == "com.acme.browsing.Parcel"

    def test_an_undeclared_class_is_shown_by_its_fields(self) -> None:
        read = READER.read(
            b'{"@class":"com.acme.Nobody","id":["java.lang.Long",5],"in":{"@class":"com.acme.In","a":1}}'
        )
        assert read.value == {"@class": "com.acme.Nobody", "id": 5, "in": {"@class": "com.acme.In", "a": 1}}
        assert read.java_class == "com.acme.Nobody"
        assert not read.error

    def test_kryo_names_the_class_that_it_cannot_read(self) -> None:
        data = b"\x01\x00com.acme.Nobod\xf9\x01\x02"
        read = READER.read(data)
        assert read.java_class == "com.acme.Nobody"
        assert read.value == data.hex()
        assert "com.acme.Nobody is not declared" in read.error

    def test_inside_a_compression(self) -> None:
        read = READER.read(LZ4Codec(JsonJacksonCodec()).encode([1, 2]))
        assert read.codec == "LZ4Codec(JsonJacksonCodec)"
        assert read.value == [1, 2]

    def test_a_codec_that_is_given(self) -> None:
        read = ValueReader("string").read(b"42")
        assert (read.codec, read.sure, read.value) == ("StringCodec", "given", "42")
        wrong = ValueReader("kryo").read(b"{}")
        assert wrong.error.startswith("Kryo5Codec")
        assert wrong.value == "7b7d"

    @pytest.mark.parametrize("name", ["JsonJacksonCodec", "json", "json-jackson", "MsgPack", "lz4", "LZ4CodecV2"])
    def test_names_of_codecs(self, name: str) -> None:
        ValueReader(name)

    def test_a_codec_that_there_is_not(self) -> None:
        with pytest.raises(ArgumentError, match=r"there is no codec 'Kryo5Codex'; did you mean Kryo5Codec?"):
            ValueReader("Kryo5Codex")

    def test_a_deep_value_ends(self) -> None:
        read = ValueReader("json").read(b"[" * 200 + b"]" * 200)
        json.dumps(read.value)
