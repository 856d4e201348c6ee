"""Smile: Java's bytes of each kind of node, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed
from redisson_dq.codecs.jackson import smile
from redisson_dq.codecs.jackson.node import Object, Typed
from tests.unit.codecs.format_nodes import as_read, refusal, same_node

HEADER = "3a290a01"

#: Written by Redisson 4 (Jackson 2.21.2), without the header.
JAVA: list[tuple[Any, str]] = [
    (None, "21"),
    (True, "23"),
    (False, "22"),
    (0, "c0"),
    (15, "de"),
    (16, "24a0"),
    (-16, "df"),
    (-17, "24a1"),
    (31, "24be"),
    (32, "240180"),
    (-129, "240481"),
    (4095, "247fbe"),
    (4096, "24010080"),
    (-32769, "24080081"),
    (524287, "247f7fbe"),
    (524288, "2401000080"),
    (67108864, "240100000080"),
    (2**31 - 1, "241f7f7f7fbe"),
    (-(2**31), "241f7f7f7fbf"),
    (java.Long(5), "ca"),
    (2**31, "252000000080"),
    (-(2**31) - 1, "252000000081"),
    (2**34, "25020000000080"),
    (2**63 - 1, "25037f7f7f7f7f7f7f7fbe"),
    (-(2**63), "25037f7f7f7f7f7f7f7fbf"),
    (java.BigInteger(0), "26810000"),
    (java.BigInteger(128), "2682002000"),
    (java.BigInteger(-129), "26827f5f03"),
    (123456789012345678901234567890, "268d00635d107f5b0673703b4963782b12"),
    (0.1, "29003f5c6633194c66331a"),
    (-1.5, "29013f7c00000000000000"),
    (5e-324, "2900000000000000000001"),
    (float("nan"), "29007f7c00000000000000"),
    (float("-inf"), "29017f7800000000000000"),
    (java.Float(0.1), "28036e33194d"),
    (java.Float(-0.0), "280800000000"),
    (java.Float(float("nan")), "28077e000000"),
    (Decimal("1.50"), "2a8482002502"),
    (Decimal("-1.50"), "2a84827f5a02"),
    (Decimal("0E-10"), "2a94810000"),
    (Decimal("1E+3"), "2a85810001"),
    (Decimal("15E+1073741824"), "2a0f7f7f7fbf810701"),
    (Decimal("15E-1073741823"), "2a0f7f7f7fbe810701"),
    (b"", "e880"),
    (b"\xc8", "e8816400"),
    (b"\xc8\xed\x12\x37\x5c\x81", "e886643b22233a7201"),
    (b"\xc8\xed\x12\x37\x5c\x81\xa6", "e887643b22233a720326"),
    (b"\xc8\xed\x12\x37\x5c\x81\xa6\xcb", "e888643b22233a7203266501"),
    (b"\xc8" * 24, "e8986432190c462311486432190c462311486432190c4623114864321900"),
    ("", "20"),
    ("a", "4061"),
    ("\u00e9", "80c3a9"),
    ("\U0001f600", "82f09f9880"),
    ([], "f8f9"),
    (["a", "bc"], "f84061416263f9"),
    (Object(), "fafb"),
    (Object((("a", 1),)), "fa8061c2fb"),
    (Typed("[B", b"\xc8"), "f8415b42e8816400f9"),
    (
        Typed("java.util.Arrays$ArrayList", [None, 1, None, "x"]),
        "f8596a6176612e7574696c2e4172726179732441727261794c697374f821c2214078f9f9",
    ),
    # Of a name that was there before stands the number: 40, 41.
    (Object((("a", Object((("a", 5), ("", 1), ("b", 2)))), ("b", None))), "fa8061fa40ca20c28062c4fb4121fb"),
]  # fmt: skip


@pytest.mark.parametrize(("node", "java_hex"), JAVA, ids=repr)
def test_java_s_bytes(node: Any, java_hex: str) -> None:
    assert smile.dumps(node).hex() == HEADER + java_hex
    assert same_node(smile.loads(bytes.fromhex(HEADER + java_hex)), as_read(node, smile))


def test_floats_of_an_older_jackson() -> None:
    # Before 2.19 the sign fills the bits before it.
    for written, number in (("287800000000", -0.0), ("287f7c000000", float("-inf"))):
        assert same_node(smile.loads(bytes.fromhex(HEADER + written)), java.Float(number))


def objects_with(names: int) -> list[Object]:
    return [Object((f"n{number}", value) for number in range(names)) for value in (1, 2)]


def test_numbers_of_names_do_not_end_in_fe_or_ff() -> None:
    data = smile.dumps(objects_with(300))
    assert data.count(b"\x30\xfd") == 1
    assert b"\x30\xfe" not in data
    assert b"\x30\xff" not in data
    assert (data.count(b"n253"), data.count(b"n254"), data.count(b"n255"), data.count(b"n256")) == (1, 2, 2, 1)


@pytest.mark.parametrize("names", [1021, 1022, 1023, 1024, 1025, 3000])
def test_names_are_forgotten_after_1024(names: int) -> None:
    node = objects_with(names)
    assert same_node(smile.loads(smile.dumps(node)), node)


@pytest.mark.parametrize(
    "node",
    [1 << 7999, Decimal("1E-1073741824"), Decimal("1E+1073741825"), Decimal(1 << 7999), Decimal("NaN")],
)
def test_numbers_that_java_does_not_write_right_or_read(node: Any) -> None:
    refusal(smile, [node])


def test_the_longest_numbers() -> None:
    for number in ((1 << 7999) - 1, -(1 << 7999)):
        assert smile.loads(smile.dumps(number)) == number
        assert smile.loads(smile.dumps(Decimal(number))) == number


@pytest.mark.parametrize("data", ["", "3a", "3a290a", "3a290a00c2", "3a290a03c2", "3a290a05c2", "3a290a11c2", "c2"])
def test_other_headers(data: str) -> None:
    with pytest.raises(Malformed, match="header"):
        smile.loads(bytes.fromhex(data))


@pytest.mark.parametrize(
    ("data", "message", "offset"),
    [
        ("", "the bytes end in the middle", 4),
        ("01", "0x01 begins nothing that Jackson writes here", 4),  # a shared text
        ("ec01", "0xEC begins nothing", 4),
        ("27", "0x27 begins nothing", 4),
        ("2b", "0x2B begins nothing", 4),
        ("f8 fb", "0xFB begins nothing", 5),
        ("f9", "0xF9 begins nothing", 4),
        ("fd 81 00", "0xFD begins nothing", 4),  # bytes of 8 bits
        ("ff", "0xFF begins nothing", 4),
        ("3a290a01c2", "0x3A begins nothing", 4),  # a second header
        ("fa 21 c2 fb", "0x21 begins no name", 5),
        ("fa f8 c2 fb", "0xF8 begins no name", 5),
        ("fa 40 c2 fb", "name 0 was not there before", 5),
        ("fa 8061 c2 41 c2 fb", "name 1 was not there before", 8),
        ("fa 3001 c2 fb", "name 1 was not there before", 5),
        ("fa 8061 fb", "0xFB begins nothing", 7),
        ("fa 8061 c2", "the bytes end in the middle", 8),
        ("f8 c2", "the bytes end in the middle", 6),
        ("24" + "01" * 11 + "80", "more than 10 bytes", 5),
        ("24 01", "the bytes end in the middle", 6),
        ("e8 7f7f7f7fbf", "announced, 0 are there", 10),
        ("e8 81 c800", "more than 7 bits", 6),
        ("26 81 80 00", "more than 7 bits", 6),
        ("26 0fa9" + "00" * 1144, "more than 1000 bytes", 5),
        ("2a 7f7f7f7f7fbf 810001", "exponent takes more than 32 bits", 5),
        ("28 00000000", "5 bytes are announced, 4 are there", 5),
        ("29 00", "10 bytes are announced, 1 are there", 5),
        ("e0 6161", "the bytes end in the middle", 7),
        ("e4 c328 fc", "not UTF-8", 5),
        ("80 c328", "not UTF-8", 5),
        ("fa 34 6161", "the bytes end in the middle", 8),
        ("c2 c2", "1 bytes too many after the value", 5),
    ],
)
def test_bytes_that_are_no_node(data: str, message: str, offset: int) -> None:
    with pytest.raises(Malformed) as caught:
        smile.loads(bytes.fromhex(HEADER + data))
    assert message in caught.value.message
    assert caught.value.offset == offset
