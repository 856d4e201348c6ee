"""EncryptedCodec: who reads its bytes, and who does not."""

from __future__ import annotations

import json
import os
import pickle
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisson_dq.browsing import ValueReader, recognise
from redisson_dq.codecs import (
    CompositeCodec,
    EncryptedCodec,
    IntegerCodec,
    JsonJacksonCodec,
    Kryo5Codec,
    LZ4Codec,
    StringCodec,
)
from redisson_dq.codecs.encrypted import key_id_of
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError

OLD, NEW = {"2026-08": b"o" * 16}, {"2026-11": b"n" * 32}
CODEC = EncryptedCodec(StringCodec(), NEW, queue="orders")


@given(
    st.text(),
    st.sampled_from([16, 24, 32]),
    st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=16),
)
def test_it_reads_what_it_has_written_and_never_the_same_twice(text: str, size: int, key_id: str) -> None:
    codec = EncryptedCodec(StringCodec(), {key_id: os.urandom(size)}, queue="orders")
    one, other = codec.encode(text), codec.encode(text)
    assert one != other
    assert (codec.decode(one), codec.decode(other), key_id_of(one)) == (text, text, key_id)


def test_after_a_rotation_both_keys_are_read_and_the_first_one_writes() -> None:
    rotated = EncryptedCodec(StringCodec(), {**NEW, **OLD}, queue="orders")
    before = EncryptedCodec(StringCodec(), OLD, queue="orders").encode("a")
    assert (rotated.decode(before), key_id_of(before), key_id_of(rotated.encode("b"))) == ("a", "2026-08", "2026-11")
    with pytest.raises(DecodeError, match="encrypted with the key '2026-08', and keys= has '2026-11'"):
        CODEC.decode(before)


def test_a_value_of_another_queue_or_key_is_refused() -> None:
    data = CODEC.encode("secret")
    for codec in (
        EncryptedCodec(StringCodec(), NEW, queue="bills"),
        EncryptedCodec(StringCodec(), NEW),
        EncryptedCodec(StringCodec(), {"2026-11": b"x" * 32}, queue="orders"),
    ):
        with pytest.raises(DecodeError, match=r"not a value of the queue .* under the key '2026-11'") as raised:
            codec.decode(data)
        assert raised.value.data == data
    assert EncryptedCodec(StringCodec(), NEW).of_queue("orders").decode(data) == "secret"


@pytest.mark.parametrize("place", range(len(CODEC.encode("a"))))
def test_any_changed_byte_is_noticed(place: int) -> None:
    data = bytearray(CODEC.encode("a"))
    data[place] ^= 1
    with pytest.raises(DecodeError):
        CODEC.decode(bytes(data))
    with pytest.raises(DecodeError):
        CODEC.decode(CODEC.encode("a")[:place])


@given(st.binary(max_size=60))
def test_any_bytes_are_an_error_of_ours(data: bytes) -> None:
    for each in (data, b"\xfe\xe1\x01" + data):
        with pytest.raises(DecodeError):
            CODEC.decode(each)
        assert key_id_of(each) is None or len(each) > 28


def test_an_error_of_the_inner_codec_tells_nothing_of_the_value() -> None:
    data = EncryptedCodec(StringCodec(), NEW, queue="orders").encode('{"@class":"4111"}')
    for inner in (Kryo5Codec(), JsonJacksonCodec(), IntegerCodec()):
        with pytest.raises(DecodeError) as raised:
            EncryptedCodec(inner, NEW, queue="orders").decode(data)
        assert raised.value.data == data
        assert "4111" not in str(raised.value)
        assert (raised.value.__cause__, raised.value.__context__) == (None, None)


def test_values_cannot_be_looked_for() -> None:
    for codec in (CODEC, CompositeCodec(None, None, CODEC)):
        with pytest.raises(EncodeError, match=r"cannot be looked for.*use id="):
            codec.sought("a")
    assert StringCodec().sought("a") == b"a"
    with pytest.raises(EncodeError, match="bound to its queue"):
        EncryptedCodec(StringCodec(), NEW).encode("a")


def test_it_goes_around_what_compresses_and_not_inside() -> None:
    codec = EncryptedCodec(LZ4Codec(StringCodec()), NEW, queue="orders")
    assert len(codec.encode("a" * 10_000)) < 200
    assert codec.decode(codec.encode("a" * 10_000)) == "a" * 10_000
    with pytest.raises(ArgumentError, match=r"EncryptedCodec\(LZ4Codec\(\), keys\)"):
        LZ4Codec(CODEC)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        [b"n" * 32],
        {"": b"n" * 32},
        {"a": b"short"},
        {"a": "n" * 32},
        {"a\n": b"n" * 32},
        {"a" * 65: b"n" * 32},
        {"\ud800": b"n" * 32},
        {1: b"n" * 32},
    ],
)
def test_keys_that_are_none_are_refused(keys: Any) -> None:
    with pytest.raises(ArgumentError, match="key"):
        EncryptedCodec(StringCodec(), keys)


def test_keys_are_in_no_text_and_in_no_pickle() -> None:
    codec = EncryptedCodec(StringCodec(), {"2026-11": b"K" * 32}, queue="orders")
    assert "K" * 4 not in repr(codec)
    assert repr(codec) == "EncryptedCodec(StringCodec('utf-8'), keys=['2026-11'])"
    with pytest.raises(TypeError, match="holds keys"):
        pickle.dumps(codec)


def test_keys_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"2026-11": b64encode(b"n" * 32).decode()}))
    assert EncryptedCodec.from_file(StringCodec(), path, queue="orders").decode(CODEC.encode("a")) == "a"
    for text in ("[]", "{", '{"a": 1}', '{"a": "!"}', "[" * 100_000, "\xff"):
        path.write_text(text, "latin-1")
        with pytest.raises(ArgumentError, match=r"keys\.json"):
            EncryptedCodec.from_file(StringCodec(), path)
    with pytest.raises(ArgumentError, match="cannot be read"):
        EncryptedCodec.from_file(StringCodec(), tmp_path / "none")


def test_a_reader_names_the_key_or_reads_with_it() -> None:
    data = EncryptedCodec(IntegerCodec(), NEW, queue="orders").encode(71)
    assert [(each.codec, each.sure, each.why) for each in recognise(data)] == [
        ("EncryptedCodec", "certain", "encrypted, key 2026-11")
    ]
    for reader in (ValueReader(), ValueReader("kryo5")):
        assert reader.read(data, queue="orders").error == "encrypted, key 2026-11"
    found = ValueReader(keys=NEW).read(data, queue="orders")
    assert (found.codec, found.value, found.error) == ("EncryptedCodec(LongCodec)", 71, "")
    assert "not a value of the queue 'bills'" in ValueReader(keys=NEW).read(data, queue="bills").error
    assert "the key '2026-11'" in ValueReader(keys=OLD).read(data, queue="orders").error
