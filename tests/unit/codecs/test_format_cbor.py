"""CBOR: Java's bytes of each kind of node, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed
from redisson_dq.codecs.jackson import cbor
from redisson_dq.codecs.jackson.node import IntegerName, Object, Typed
from tests.unit.codecs.format_nodes import as_read, refusal, same_node

#: Written by Redisson 4 (Jackson 2.21.2).
JAVA: list[tuple[Any, str]] = [
    (None, "f6"),
    (True, "f5"),
    (False, "f4"),
    (0, "00"),
    (23, "17"),
    (24, "1818"),
    (-1, "20"),
    (-33, "3820"),
    (255, "18ff"),
    (256, "190100"),
    (65535, "19ffff"),
    (65536, "1a00010000"),
    (-(2**31), "3a7fffffff"),
    (2**32 - 1, "1affffffff"),
    (2**32, "1b0000000100000000"),
    (-(2**32) - 1, "3b0000000100000000"),
    (2**63 - 1, "1b7fffffffffffffff"),
    (-(2**63), "3b7fffffffffffffff"),
    (java.Long(5), "05"),
    (java.Short(300), "19012c"),
    (java.Byte(-3), "22"),
    (java.BigInteger(0), "c24100"),
    (java.BigInteger(-1), "c34101"),
    (java.BigInteger(128), "c2420080"),
    (java.BigInteger(-129), "c3420081"),
    (2**63, "c249008000000000000000"),
    (-(2**63) - 1, "c349008000000000000001"),
    (-123456789012345678901234567890, "c34d018ee90ff6c373e0ee4e3f0ad2"),
    (0.1, "fb3fb999999999999a"),
    (float("nan"), "fb7ff8000000000000"),
    (float("-inf"), "fbfff0000000000000"),
    (java.Float(0.1), "fa3dcccccd"),
    (java.Float(float("nan")), "fa7fc00000"),
    (Decimal("0"), "c4820000"),
    (Decimal("0E+3"), "c4820300"),
    (Decimal("1.50"), "c482211896"),
    (Decimal("-1.50"), "c482213895"),
    (Decimal("1E+400"), "c48219019001"),
    (Decimal("2147483648.1"), "c482201b0000000500000001"),
    (Decimal("-2147483648.1"), "c482203b0000000500000000"),
    (Decimal("214748364.7"), "c482201a7fffffff"),
    (Decimal("9223372036854775807.5"), "c48220c24904fffffffffffffffb"),
    (Decimal("-12345678901234567890.123"), "c48222c34a029d42b64e76714244cb"),
    (Decimal("15E-2147483647"), "c4823a7ffffffe0f"),
    (b"\xc8\xed\x12", "43c8ed12"),
    (b"\xc8" * 24, "5818" + "c8" * 24),
    ("", "60"),
    ("\u00e9", "62c3a9"),
    ([], "80"),
    ([1], "8101"),
    ([0] * 24, "9818" + "00" * 24),
    (["a", "bc"], "826161626263"),
    (Object(), "bfff"),
    (Object((("a", 1),)), "bf616101ff"),
    (Typed("java.util.ArrayList", []), "9f736a6176612e7574696c2e41727261794c6973749fffff"),
    (Typed("[I", [1, 2]), "9f625b499f0102ffff"),
    (Typed("[B", b"\xc8"), "9f625b4241c8ff"),
    (
        Typed("java.util.LinkedHashMap", Object(((IntegerName("5"), "x"),))),
        "bf6640636c617373776a6176612e7574696c2e4c696e6b6564486173684d6170056178ff",
    ),
    (Object(((IntegerName("-1"), 1),)), "bf2001ff"),
    (Object(((IntegerName(str(2**40)), 2),)), "bf1b000001000000000002ff"),
    (Object((("5", 3),)), "bf613503ff"),
]  # fmt: skip


@pytest.mark.parametrize(("node", "java_hex"), JAVA, ids=repr)
def test_java_s_bytes(node: Any, java_hex: str) -> None:
    assert cbor.dumps(node).hex() == java_hex
    assert same_node(cbor.loads(bytes.fromhex(java_hex)), as_read(node, cbor))


@pytest.mark.parametrize(
    "node",
    [
        1 << 7999,
        Decimal("1E-2147483648"),
        Decimal("1E+2147483648"),
        Decimal("9" * 2409),
        Decimal(1 << 7999),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
    ],
)
def test_numbers_that_java_does_not_read(node: Any) -> None:
    refusal(cbor, [node])


def test_the_longest_numbers() -> None:
    for number in ((1 << 7999) - 1, -(1 << 7999) + 1):
        assert cbor.loads(cbor.dumps(number)) == number
        assert cbor.loads(cbor.dumps(Decimal(number))) == number


@pytest.mark.parametrize(
    ("data", "message", "offset"),
    [
        ("", "the bytes end in the middle", 0),
        ("ff", "0xFF begins nothing that Jackson writes here", 0),
        ("81 f7", "0xF7 begins nothing", 1),  # undefined
        ("f93e00", "0xF9 begins nothing", 0),  # a float of 16 bits
        ("f820", "0xF8 begins nothing", 0),
        ("1c", "0x1C begins nothing", 0),
        ("1f", "0x1F begins nothing", 0),
        ("df", "0xDF begins nothing", 0),
        ("5f4101ff", "0x5F begins nothing", 0),  # bytes in chunks
        ("7f 7f6161ffff", "0x7F begins nothing", 1),  # chunks in chunks
        ("7f 4161 ff", "0x41 begins nothing", 1),
        ("7f 61", "1 bytes are announced, 0 are there", 2),
        ("7f 6161", "the bytes end in the middle", 3),
        ("81 c074323030302d30312d30315430303a30303a30305a", "0xC0 begins nothing", 1),  # a date as text
        ("c1 00", "0xC1 begins nothing", 0),  # a date as number
        ("c3 80", "0x80 begins nothing", 1),
        ("c2" * 50 + "40", "0xC2 begins nothing", 1),
        ("c4 83 00 00 00", "0xC4 begins nothing", 0),
        ("c4 9f 00 00 ff", "0xC4 begins nothing", 0),
        ("c4 82 00 fa00000000", "0xFA begins nothing", 3),
        ("c4 82 00 c4820000", "0xC4 begins nothing", 3),
        ("c4 82 1a80000000 01", "exponent takes more than 32 bits", 0),
        ("c4 82 c24a" + "7f" * 10 + " 01", "exponent takes more than 32 bits", 0),
        ("c5 82 00 01", "0xC5 begins nothing", 0),  # a binary fraction
        ("d81c 80", "0xD8 begins nothing", 0),  # a value to be shared
        ("d81c 81 d81d00", "0xD8 begins nothing", 0),  # a list that contains itself
        ("d81d 00", "0xD8 begins nothing", 0),
        ("d81e 82 01 02", "0xD8 begins nothing", 0),  # a fraction
        ("d823 6161", "0xD8 begins nothing", 0),  # a regular expression
        ("d90102 80", "0xD9 begins nothing", 0),  # a set
        ("d90104 44c0a80001", "0xD9 begins nothing", 0),  # an IP address
        ("d9d9f7 05", "0xD9 begins nothing", 0),  # "this is CBOR"
        ("9bffffffffffffffff", "18446744073709551615 elements are announced, 0 bytes are there", 0),
        ("bbffffffffffffffff 00", "18446744073709551615 elements are announced, 1 bytes are there", 0),
        ("9a7fffffff", "2147483647 elements are announced", 0),
        ("7bffffffffffffffff", "18446744073709551615 bytes are announced", 9),
        ("5a7fffffff 00", "2147483647 bytes are announced, 1 are there", 5),
        ("c25a7fffffff", "2147483647 bytes are announced", 6),
        ("c25903e9" + "00" * 1001, "more than 1000 bytes", 0),
        ("19 00", "2 bytes are announced, 1 are there", 1),
        ("62 c328", "not UTF-8", 1),
        ("bf f501ff", "0xF5 begins nothing", 1),
        ("bf 8001ff", "0x80 begins nothing", 1),
        ("bf c24101 01ff", "0xC2 begins nothing", 1),
        ("bf 6161 ff", "0xFF begins nothing", 3),
        ("9f 01", "the bytes end in the middle", 2),
        ("0505", "1 bytes too many after the value", 1),
    ],
)
def test_bytes_that_are_no_node(data: str, message: str, offset: int) -> None:
    with pytest.raises(Malformed) as caught:
        cbor.loads(bytes.fromhex(data))
    assert message in caught.value.message
    assert caught.value.offset == offset


def test_forms_that_jackson_reads_besides_its_own() -> None:
    # Objects of known size, and numbers in more bytes than they take.
    assert same_node(cbor.loads(bytes.fromhex("a2 6161 01 6162 1b0000000000000002")), Object((("a", 1), ("b", 2))))
    # The sign of a BigInteger's bytes counts, as in Jackson.
    assert cbor.loads(bytes.fromhex("c24180")) == -128
    assert cbor.loads(bytes.fromhex("c340")) == 0
    assert cbor.loads(bytes.fromhex("1bffffffffffffffff")) == 2**64 - 1
