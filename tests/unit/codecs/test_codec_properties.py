"""Round trips of generated values. Broken bytes give a value, or one DecodeError."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisson_dq import java
from redisson_dq.codecs import ByteArrayCodec, Codec, DoubleCodec, IntegerCodec, JsonJacksonCodec, Kryo5Codec, LongCodec
from redisson_dq.errors import DecodeError, EncodeError
from tests.conftest import as_many
from tests.unit.codecs.golden_rows import CODECS, caught_from, distinct_bytes, same

bounded = settings(max_examples=as_many(100, 300), deadline=None, derandomize=True, database=None)

# Surrogates too, but never two that Java would take for one character.
texts = st.text(st.characters(), max_size=80).filter(
    lambda text: same(text, text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass"))
)
texts_with_surrogates = st.text(st.sampled_from("a\u00e9\u20ac\U0001f600\ud800\udc00\x00"), max_size=40).map(
    lambda text: text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
)
decimals = st.builds(
    lambda unscaled, scale: Decimal(unscaled).scaleb(-scale), st.integers(-(10**25), 10**25), st.integers(0, 30)
)
wrapped = st.one_of(
    st.integers(-128, 127).map(java.Byte),
    st.integers(-(2**15), 2**15 - 1).map(java.Short),
    st.integers(-(2**31), 2**31 - 1).map(java.Long),
    st.integers(-(2**63), 2**63 - 1).map(java.BigInteger),
    st.floats(width=32).map(java.Float),
    st.characters(max_codepoint=0xFFFF).map(java.Character),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**31), 2**31),
    st.integers(-(2**63), 2**63),
    st.integers(),
    st.floats(),
    texts,
    texts_with_surrogates,
    st.binary(max_size=80),
    decimals,
    wrapped,
)
#: A name in JSON holds no half of a surrogate pair.
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
keys = st.one_of(
    texts, st.integers(), st.none(), st.integers(-(2**31), 2**31 - 1).map(java.Long), st.binary(max_size=5)
)


def nested_values(of_keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    one_class = [st.lists(st.none() | kind, max_size=70) for kind in (texts, st.integers(), decimals, wrapped)]
    return st.recursive(
        st.one_of(scalars, *one_class),
        lambda inner: st.lists(inner, max_size=6) | st.dictionaries(of_keys, inner, max_size=6),
        max_leaves=25,
    )


def canonical(value: Any) -> Any:
    """The value with one sign for NaN, which Java does not keep."""
    if isinstance(value, float) and value != value:
        return type(value)(float("nan"))
    if type(value) is list:
        return [canonical(item) for item in value]
    return {canonical(k): canonical(v) for k, v in value.items()} if type(value) is dict else value


@bounded
@given(nested_values(keys))
def test_kryo_gives_back_what_it_was_given(value: Any) -> None:
    codec = Kryo5Codec()
    assert same(codec.decode(codec.encode(value)), canonical(value))


@bounded
@given(nested_values(names))
def test_json_gives_back_what_it_was_given(value: Any) -> None:
    codec = JsonJacksonCodec()
    assert same(codec.decode(codec.encode([value])), canonical([value]))


@bounded
@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1), st.floats(), st.binary())
def test_the_simple_codecs_give_back_what_they_were_given(small: int, large: int, number: float, raw: bytes) -> None:
    pairs: list[tuple[Codec, Any]] = [
        (IntegerCodec(), small),
        (LongCodec(), large),
        (DoubleCodec(), canonical(number)),
        (ByteArrayCodec(), raw),
    ]
    for codec, value in pairs:
        assert same(codec.decode(codec.encode(value)), value)


@bounded
@given(st.sampled_from(sorted(CODECS)), st.binary(max_size=60))
def test_any_bytes_are_a_value_or_a_decode_error(name: str, data: bytes) -> None:
    value_or_error(CODECS[name], data)


@bounded
@given(st.integers(0, 10), st.binary(max_size=40))
def test_any_bytes_after_a_class_are_a_value_or_a_decode_error(class_id: int, data: bytes) -> None:
    value_or_error(Kryo5Codec(), bytes([class_id]) + data)
    value_or_error(Kryo5Codec(), b"\x01\x00java.util.ArrayLis\xf4" + data)


def value_or_error(codec: Codec, data: bytes) -> bool:
    """Whether the bytes are a value. If so, it is written again and read back unchanged."""
    error = caught_from(lambda: codec.decode(data))
    if error is not None:
        assert isinstance(error, DecodeError), data
        assert (error.codec, error.data) == (codec.name, data)
        assert 0 <= error.offset <= len(data)
        return False
    value = codec.decode(data)
    refused = caught_from(lambda: codec.encode(value))
    if refused is not None:
        # Sets are only read, a longer JSON number is read than written, and an array's class may be of any name.
        assert isinstance(refused, EncodeError), data
        assert re.search(r"set has no Java type|digits|of type .* cannot be a ", str(refused))
    else:
        assert same(codec.decode(codec.encode(value)), canonical(value))
    return True


@pytest.mark.parametrize("name", sorted(CODECS))
def test_golden_bytes_cut_off_anywhere(name: str) -> None:
    codec = CODECS[name]
    found = distinct_bytes(name)
    assert found
    for data in found:
        for end in range(len(data)):
            # Kryo's bytes say where they end, so no part of them is a value.
            assert not value_or_error(codec, data[:end]) or name != "Kryo5Codec", (data, end)


@pytest.mark.parametrize("name", sorted(CODECS))
def test_golden_bytes_changed_at_random(name: str) -> None:
    codec = CODECS[name]
    chance = random.Random(20260727)
    values = errors = 0
    for data in distinct_bytes(name):
        for _ in range(60):
            changed = bytearray(data)
            for _ in range(chance.choice((1, 1, 2, 5))):
                position = chance.randrange(len(changed) + 1)
                kind = chance.randrange(4)
                if kind == 0:
                    changed.insert(position, chance.randrange(256))
                elif kind == 1:
                    del changed[position : position + chance.randrange(1, 4)]
                elif position < len(changed):
                    changed[position] = chance.choice((changed[position] ^ 1 << chance.randrange(8), 0xFF, 0x00, 0x80))
            if value_or_error(codec, bytes(changed)):
                values += 1
            else:
                errors += 1
    assert values
    assert errors or name == "ByteArrayCodec"


@pytest.mark.parametrize("name", ["Kryo5Codec", "JsonJacksonCodec"])
def test_anything_after_a_value_is_refused(name: str) -> None:
    for data in distinct_bytes(name):
        with pytest.raises(DecodeError):
            CODECS[name].decode(data + b"\x00")
