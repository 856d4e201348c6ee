"""The memory and the work of a decode are bounded by the bytes that are read: families of bytes that took far more."""

from __future__ import annotations

from typing import Any

import pytest

from redisson_dq.codecs import (
    AvroJacksonCodec,
    CborJacksonCodec,
    Codec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    SerializationCodec,
    SmileJacksonCodec,
    SnappyCodec,
    StringCodec,
)
from redisson_dq.codecs.jackson.avro_scalars import long_bytes_of
from redisson_dq.codecs.kryo5.wire import ascii_name
from redisson_dq.errors import DecodeError
from tests.conftest import as_many, by_night
from tests.unit.codecs.memory import peak_of

SIZE = as_many(100_000, 500_000)
#: How many bytes of memory one byte of a text takes, by itself and in the text of an error.
MOST = 16

ION, KRYO = IonJacksonCodec(), Kryo5Codec()
QUOTED: dict[str, tuple[Codec, ...]] = {
    "\\n": (JsonJacksonCodec(), JsonJackson3Codec(), ION),
    '\\"': (JsonJacksonCodec(), JsonJackson3Codec(), ION),
    "\\\\": (JsonJacksonCodec(), JsonJackson3Codec(), ION),
    "\\u4e2d": (JsonJacksonCodec(), JsonJackson3Codec(), ION),
    "\\ud83d\\ude00": (JsonJacksonCodec(), JsonJackson3Codec()),
    "\\U0001f600": (ION,),
}
TYPED = (KRYO, SerializationCodec(), JsonJacksonCodec(), CborJacksonCodec(), MsgPackJacksonCodec(), SmileJacksonCodec())
DOTTED = "a." * (SIZE // 2) + "a"

FAMILIES: dict[str, tuple[Codec, bytes]] = {
    **{
        f"{codec.name}: a text of {escape}": (codec, f'"{escape * (SIZE // len(escape))}"'.encode())
        for escape, codecs in QUOTED.items()
        for codec in codecs
    },
    "Ion: a name": (ION, ("{'" + "\\n" * (SIZE // 2) + "':1}").encode()),
    "Ion: a class": (ION, ("'" + "\\n" * (SIZE // 2) + "'::1").encode()),
    "Ion: no end": (ION, ('"' + "\\n" * (SIZE // 2)).encode()),
    "Ion: no end of backslashes": (ION, ('"' + "\\" * SIZE).encode()),
    **{f"{codec.name}: surrogates": (codec, codec.encode("\U0001f600" * (SIZE // 6))) for codec in (*TYPED, ION)},
    "Kryo: a class": (KRYO, b"\x01\x00" + ascii_name(DOTTED)),
    "JSON: a class": (JsonJacksonCodec(), f'["{DOTTED}",1]'.encode()),
    "JSON 3: a class": (JsonJackson3Codec(), f'["{DOTTED}",1]'.encode()),
    "Ion: a class with dots": (ION, f"'{DOTTED}'::1".encode()),
    "JSON: no JSON": (JsonJacksonCodec(), b"ab " * (SIZE // 3)),
    "Kryo: a text": (KRYO, b"ab " * (SIZE // 3)),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_memory_is_bounded_by_what_is_read(name: str) -> None:
    codec, data = FAMILIES[name]
    found: list[Any] = []

    def decode() -> None:
        try:
            found.append(codec.decode(data))
        except DecodeError:
            found.append(None)

    assert peak_of(decode) < MOST * len(data)
    assert len(found) == 1


@pytest.mark.parametrize("items", ['"long"', by_night('"string"'), '"boolean"', by_night('["null", "long"]')])
def test_elements_of_a_byte_each_in_avro_take_a_few_pointers(items: str) -> None:
    codec = AvroJacksonCodec(Any, f'{{"type": "array", "items": {items}}}')
    data = long_bytes_of(SIZE) + bytes(SIZE) + b"\0"
    value: Any = codec.decode(data)
    assert len(value) == SIZE
    assert peak_of(lambda: codec.decode(data)) < 48 * len(data)


def test_bytes_in_smile_take_a_few_times_their_memory() -> None:
    codec, value = SmileJacksonCodec(), bytes(range(256)) * (SIZE // 256)
    data = codec.encode(value)
    assert codec.decode(data) == value
    assert peak_of(lambda: codec.encode(value)) < 6 * len(data)
    assert peak_of(lambda: codec.decode(data)) < 6 * len(data)


def test_empty_chunks_are_refused_at_the_first() -> None:
    codec = SnappyCodec(StringCodec())
    empty = b"\0\0\0\1\0"
    with pytest.raises(DecodeError, match="a chunk of 0 bytes before the last, 32767 are in each") as caught:
        codec.decode(empty * 100_000)
    assert caught.value.offset == 4
    for text in ("", "a", "a" * 32766, "a" * 32767, "a" * 32768, "ab" * 100_000):
        assert codec.decode(codec.encode(text)) == text
    assert codec.decode(empty) == ""


@pytest.mark.parametrize("text", ["a\\", '\\"', "\\\\", "'", "\n\u4e2d\U0001f600\x7f\xff", "'\\'", "\\" * 9], ids=repr)
def test_ion_reads_each_text_that_it_escapes(text: str) -> None:
    for value in (text, {text: 1}, [text, text]):
        assert ION.decode(ION.encode(value)) == value
