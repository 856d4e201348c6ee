"""The wrapper types: ranges, behaviour as plain numbers, and the results of decoding."""

from __future__ import annotations

import copy
import json
import math
import pickle
from decimal import Decimal
from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.codecs import Codec, JsonJacksonCodec, Kryo5Codec
from redisson_dq.errors import ArgumentError
from tests.unit.codecs.golden_rows import same

BITS = {java.Byte: 8, java.Short: 16, java.Integer: 32, java.Long: 64}


@pytest.mark.parametrize("kind", BITS)
def test_ranges(kind: Any) -> None:
    most = 2 ** (BITS[kind] - 1) - 1
    assert kind(most) == most
    assert kind(-most - 1) == -most - 1
    for outside in (most + 1, -most - 2, 10**5000):
        with pytest.raises(ArgumentError, match=f"{kind.__name__} holds -{most + 1} to {most}"):
            kind(outside)


def test_a_big_integer_has_no_range() -> None:
    assert java.BigInteger(10**5000) == 10**5000


@pytest.mark.parametrize("kind", [*BITS, java.BigInteger])
@pytest.mark.parametrize("value", [True, 1.0, "1", None, Decimal(1)])
def test_whole_numbers_are_made_of_ints_only(kind: Any, value: Any) -> None:
    with pytest.raises(ArgumentError, match=f"{kind.__name__} takes an int"):
        kind(value)


@pytest.mark.parametrize("kind", [java.Float, java.Double])
@pytest.mark.parametrize("value", [True, "1.0", None, Decimal(1), 1j])
def test_floats_are_made_of_numbers_only(kind: Any, value: Any) -> None:
    with pytest.raises(ArgumentError, match=f"{kind.__name__} takes a float"):
        kind(value)


def test_a_float_is_rounded_at_once() -> None:
    assert java.Float(1.1) == 1.100000023841858
    assert java.Float(java.Float(1.1)) == java.Float(1.1)
    assert java.Float(16777217) == 16777216.0
    assert java.Float(3.4028235677973366e38 - 1e31) == 3.4028234663852886e38
    assert math.isnan(java.Float(math.nan))
    assert java.Float(-math.inf) == -math.inf


@pytest.mark.parametrize("value", [3.5e38, -1e300])
def test_a_float_too_large_is_refused(value: float) -> None:
    with pytest.raises(ArgumentError, match="too large for Float"):
        java.Float(value)


def test_a_double_too_large_is_refused() -> None:
    assert java.Double(5) == 5.0
    with pytest.raises(ArgumentError, match="too large for Double"):
        java.Double(10**400)


@pytest.mark.parametrize("value", ["", "ab", "\U0001f600", 97, None, b"a"])
def test_a_character_is_one_utf16_unit(value: Any) -> None:
    with pytest.raises(ArgumentError, match="Character takes one character"):
        java.Character(value)


def test_a_character_may_be_half_a_pair() -> None:
    assert java.Character("\ud83d") == "\ud83d"


WRAPPED = [
    (java.Byte(-5), -5, "Byte(-5)"),
    (java.Short(5), 5, "Short(5)"),
    (java.Integer(5), 5, "Integer(5)"),
    (java.Long(5), 5, "Long(5)"),
    (java.BigInteger(5), 5, "BigInteger(5)"),
    (java.Float(1.5), 1.5, "Float(1.5)"),
    (java.Double(1.5), 1.5, "Double(1.5)"),
    (java.Character("a"), "a", "Character('a')"),
]


@pytest.mark.parametrize(("wrapped", "plain", "text"), WRAPPED)
def test_a_wrapper_behaves_as_the_plain_value(wrapped: Any, plain: Any, text: str) -> None:
    assert wrapped == plain
    assert hash(wrapped) == hash(plain)
    assert {plain: 1}[wrapped] == 1
    assert isinstance(wrapped, type(plain))
    assert repr(wrapped) == text
    assert str(wrapped) == f"{wrapped}" == str(plain)
    assert json.dumps(wrapped) == json.dumps(plain)
    assert type(wrapped + wrapped) is type(plain)


@pytest.mark.parametrize(("wrapped", "plain", "text"), WRAPPED)
def test_a_wrapper_can_be_copied(wrapped: Any, plain: Any, text: str) -> None:
    for other in (
        copy.copy(wrapped),
        copy.deepcopy(wrapped),
        pickle.loads(pickle.dumps(wrapped)),
        type(wrapped)(wrapped),
    ):
        assert same(other, wrapped)


# What goes in, what comes back: the plain type where it becomes the same Java type.
DECODED: list[tuple[Any, Any]] = [
    (java.Integer(5), 5),
    (java.Integer(2**31 - 1), 2**31 - 1),
    (java.Long(5), java.Long(5)),
    (java.Long(2**31 - 1), java.Long(2**31 - 1)),
    (java.Long(-(2**31)), java.Long(-(2**31))),
    (java.Long(2**31), 2**31),
    (java.Long(-(2**31) - 1), -(2**31) - 1),
    (2**31, 2**31),
    (2**63 - 1, 2**63 - 1),
    (java.BigInteger(5), java.BigInteger(5)),
    (java.BigInteger(2**63 - 1), java.BigInteger(2**63 - 1)),
    (java.BigInteger(-(2**63)), java.BigInteger(-(2**63))),
    (java.BigInteger(2**63), 2**63),
    (2**63, 2**63),
    (-(2**63) - 1, -(2**63) - 1),
    (java.Double(1.5), 1.5),
    (java.Float(1.5), java.Float(1.5)),
    (java.Short(5), java.Short(5)),
    (java.Byte(5), java.Byte(5)),
    (java.Character("a"), java.Character("a")),
    ("a", "a"),
    (True, True),
]


@pytest.mark.parametrize("codec", [Kryo5Codec(), JsonJacksonCodec()], ids=lambda codec: codec.name)
@pytest.mark.parametrize(("value", "decoded"), DECODED)
def test_what_comes_back(codec: Codec, value: Any, decoded: Any) -> None:
    data = codec.encode([value])
    result = codec.decode(data)
    assert same(result, [decoded])
    assert codec.encode(result) == data


@pytest.mark.parametrize(("value", "decoded"), DECODED)
def test_what_comes_back_when_it_is_the_whole_value(value: Any, decoded: Any) -> None:
    assert same(Kryo5Codec().decode(Kryo5Codec().encode(value)), decoded)


@pytest.mark.parametrize(
    ("value", "decoded"),
    [
        (java.Short(5), 5),
        (java.Byte(5), 5),
        (java.Character("a"), "a"),
        (java.Float(1.1), 1.1),
        (java.Long(5), java.Long(5)),
        (java.BigInteger(5), java.BigInteger(5)),
    ],
)
def test_json_does_not_carry_every_type_of_a_whole_value(value: Any, decoded: Any) -> None:
    assert same(JsonJacksonCodec().decode(JsonJacksonCodec().encode(value)), decoded)
