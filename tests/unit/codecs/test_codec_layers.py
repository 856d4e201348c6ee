"""The memory of a compressed value has one bound, over all its layers: every compressor around every codec."""

from __future__ import annotations

from typing import Any

import pytest

from redisson_dq.browsing.values import ValueReader
from redisson_dq.codecs import (
    ByteArrayCodec,
    CborJackson3Codec,
    CborJacksonCodec,
    Codec,
    CompositeCodec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    SerializationCodec,
    SmileJackson3Codec,
    SmileJacksonCodec,
    StringCodec,
    TypedJsonJacksonCodec,
)
from redisson_dq.codecs.compression import LZ4Codec, LZ4CodecV2, SnappyCodec, SnappyCodecV2, ZStdCodec
from redisson_dq.errors import DecodeError, EncodeError
from tests.conftest import by_night
from tests.unit.codecs.memory import peak_of

COMPRESSING: tuple[type[Codec], ...] = (LZ4Codec, LZ4CodecV2, SnappyCodec, SnappyCodecV2, ZStdCodec)
INNER: tuple[Codec, ...] = (
    *(Kryo5Codec(), SerializationCodec(), JsonJacksonCodec(), JsonJackson3Codec(), TypedJsonJacksonCodec(list)),
    *(CborJacksonCodec(), CborJackson3Codec(), SmileJacksonCodec(), SmileJackson3Codec(), MsgPackJacksonCodec()),
    *(IonJacksonCodec(), StringCodec(), CompositeCodec(None, None, Kryo5Codec())),
)
#: What a few bytes become, at most, beyond the number that is allowed.
_TIMES_OVER = 10
LIMIT = 1_000_000
#: Lists that take one or a few bytes each, and other values that take much memory for their length.
VALUES: tuple[Any, ...] = ([[]] * 60_000, [1234] * 100_000, [{}] * 60_000, [{"a": 1}] * 60_000, "\U0001f600" * 300_000)


def packed(kind: Any, inner: Codec, data: bytes) -> bytes:
    return kind(ByteArrayCodec(), max_ratio=None).encode(data)  # type: ignore[no-any-return]


def in_turn() -> list[Any]:
    """All kinds around all codecs with all values. By day each codec once, with a list or with a text."""
    return [
        pytest.param(
            kind,
            inner,
            value,
            marks=pytest.mark.nightly if (outer + place) % len(COMPRESSING) or number != 4 * (place % 2) else (),
        )
        for outer, kind in enumerate(COMPRESSING)
        for place, inner in enumerate(INNER)
        for number, value in enumerate(VALUES)
    ]


@pytest.mark.parametrize(
    ("kind", "inner", "value"), in_turn(), ids=lambda each: len(each) if type(each) in (str, list) else None
)
def test_a_value_takes_no_more_memory_than_allowed(kind: Any, inner: Codec, value: Any) -> None:
    try:
        data = inner.encode(value)
    except EncodeError:
        assert type(value) is not str if type(inner) is StringCodec else type(inner) is TypedJsonJacksonCodec
        return
    codec = kind(inner, max_size=LIMIT, max_ratio=None)
    raised: list[DecodeError] = []

    def decode() -> None:
        try:
            codec.decode(packed(kind, inner, data))
        except DecodeError as error:
            raised.append(error)

    assert peak_of(decode) < _TIMES_OVER * LIMIT
    assert len(raised) == (len(data) + inner.memory_of(data) > LIMIT)


@pytest.mark.parametrize("outer", COMPRESSING)
@pytest.mark.parametrize("kind", [ZStdCodec, by_night(LZ4Codec), by_night(SnappyCodecV2)])
def test_layers_have_one_number_together(outer: Any, kind: Any) -> None:
    data = b"[" + b",".join([b"[]"] * 3000) + b"]"
    within = len(data) + JsonJacksonCodec().memory_of(data)
    bytes_of = packed(outer, ByteArrayCodec(), packed(kind, ByteArrayCodec(), data))
    between = len(packed(kind, ByteArrayCodec(), data))
    codec = outer(kind(TypedJsonJacksonCodec(list), max_ratio=None), max_size=within + between, max_ratio=None)
    assert codec.decode(bytes_of) == [[]] * 3000
    less = outer(kind(TypedJsonJacksonCodec(list), max_ratio=None), max_size=within + between - 1, max_ratio=None)
    with pytest.raises(DecodeError, match=f"some {within + between} bytes of memory after decompression") as caught:
        less.decode(bytes_of)
    assert caught.value.data == bytes_of
    with pytest.raises(EncodeError, match="bytes of memory after decompression"):
        less.encode([[]] * 3000)


def test_by_default_some_kilobytes_become_64_megabytes_at_most() -> None:
    text = b'["java.util.ArrayList",[' + b",".join([b'["java.util.ArrayList",[]]'] * 300_000) + b"]]"
    bomb = packed(ZStdCodec, JsonJacksonCodec(), text)
    assert len(bomb) < 15_000
    codec = ZStdCodec(JsonJacksonCodec(), max_ratio=None)

    def decode() -> None:
        with pytest.raises(DecodeError, match="67108864 are allowed"):
            codec.decode(bomb)

    assert peak_of(decode) < 30_000_000
    honest = [{"sku": f"A-{number}", "price": number * 1.25, "text": "of some length"} for number in range(30_000)]
    assert codec.decode(codec.encode(honest)) == honest


@pytest.mark.parametrize("kind", [COMPRESSING[0], *map(by_night, COMPRESSING[1:-1]), COMPRESSING[-1]])
def test_a_look_at_a_value_takes_less(kind: Any) -> None:
    inner = JsonJacksonCodec()
    large: list[Any] = [[]] * 120_000
    small = large[:2_000]
    codec = kind(inner, max_ratio=None)
    assert codec.decode(codec.encode(large)) == large
    found = ValueReader(codec).read(codec.encode(large))
    assert "16777216 are allowed" in found.error
    assert ValueReader(codec).read(codec.encode(small)).value == small
    found = ValueReader(kind.__name__).read(codec.encode(small))
    assert (found.value, found.codec) == (small, f"{kind.__name__}(JsonJacksonCodec)")
