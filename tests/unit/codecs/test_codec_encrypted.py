"""EncryptedCodec: who reads its bytes, and who does not."""

from __future__ import annotations

import json
import os
import pickle
import traceback
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisson_dq.browsing import ValueReader, recognise
from redisson_dq.codecs import (
    ByteArrayCodec,
    CborJacksonCodec,
    Codec,
    CompositeCodec,
    EncryptedCodec,
    IntegerCodec,
    JsonCodec,
    JsonJacksonCodec,
    Kryo5Codec,
    LongCodec,
    LZ4Codec,
    MarshallingCodec,
    ProtobufCodec,
    SerializationCodec,
    StringCodec,
    TypedJsonJacksonCodec,
    ZStdCodec,
)
from redisson_dq.codecs.encrypted import key_id_of
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError

OLD, NEW = {"2026-08": b"o" * 16}, {"2026-11": b"n" * 32}
CODEC = EncryptedCodec(StringCodec(), NEW, queue="orders")
CANARY = "canary-4111"


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


class Talking(Codec):
    """A codec of somebody else, which raises what it likes."""

    def encode(self, value: Any) -> bytes:
        raise KeyError(value)

    def decode(self, data: bytes) -> Any:
        raise KeyError(data)


def told_by(error: BaseException) -> str:
    """All that a log with tracebacks, or whoever keeps the error, may have of it."""
    chain = [error]
    while (before := chain[-1].__cause__ or chain[-1].__context__) is not None:
        chain.append(before)
    texts = [f"{each!r} {each} {vars(each)} {''.join(traceback.format_exception(each))}" for each in chain]
    return "".join(texts)


#: Codecs, values that they refuse to write, and bytes that they refuse to read. Each has the canary.
REFUSED: list[tuple[Codec, Any, bytes]] = [
    (Kryo5Codec(), {f"k {CANARY}": [CANARY, object()]}, b"\x01\x00" + CANARY.encode()),
    (StringCodec(), CANARY.encode(), CANARY.encode() + b"\xff"),
    (LongCodec(), CANARY, CANARY.encode()),
    (JsonJacksonCodec(), {CANARY: {1: object()}}, b'{"@class": "' + CANARY.encode() + b'"}'),
    (TypedJsonJacksonCodec(dict[str, int]), {CANARY: CANARY}, b'{"a": "' + CANARY.encode() + b'"}'),
    (SerializationCodec(), [CANARY, object()], b"\xac\xed\x00\x05" + CANARY.encode()),
    (MarshallingCodec(), [CANARY, object()], CANARY.encode()),
    (CborJacksonCodec(), {CANARY: "\udc80" + CANARY}, CANARY.encode()),
    (JsonCodec(dict[str, int]), {CANARY: CANARY}, b'{"a": "' + CANARY.encode() + b'"}'),
    (ProtobufCodec(list), CANARY, b'"' + CANARY.encode() + b'"'),
    (ZStdCodec(StringCodec(), max_size=4), CANARY, CANARY.encode()),
    (Kryo5Codec().typed(int), CANARY, Kryo5Codec().encode(CANARY)),
    (Talking(), CANARY, CANARY.encode()),
]


@pytest.mark.parametrize(("inner", "value", "data"), REFUSED, ids=[repr(inner) for inner, _, _ in REFUSED])
def test_an_error_of_the_inner_codec_tells_nothing_of_the_value(inner: Codec, value: Any, data: bytes) -> None:
    codec = EncryptedCodec(inner, NEW, queue="orders")
    with pytest.raises(EncodeError, match="cannot write this") as refused:
        codec.encode(value)
    unreadable = EncryptedCodec(ByteArrayCodec(), NEW, queue="orders").encode(data)
    with pytest.raises(DecodeError, match="cannot read the decrypted value") as unread:
        codec.decode(unreadable)
    for error in (refused.value, unread.value):
        # The lines of this file are in tracebacks, and spell the name.
        assert CANARY not in told_by(error)
    assert unread.value.data == unreadable


def test_values_cannot_be_looked_for() -> None:
    for codec in (CODEC, CompositeCodec(None, None, CODEC)):
        with pytest.raises(EncodeError, match=r"cannot be searched for.*use id="):
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
    for text in ("[]", "{}", "{", '{"a": 1}', '{"a": "!"}', "[" * 100_000, "\xff"):
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
