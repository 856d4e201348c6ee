"""MessagePack: Java's bytes of each kind of node, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed
from redisson_dq.codecs.jackson import msgpack
from redisson_dq.codecs.jackson.node import IntegerName, Object, Typed
from tests.unit.codecs.format_nodes import as_read, refusal, same_node

#: Written by Redisson 4 (jackson-dataformat-msgpack 0.9.9).
JAVA: list[tuple[Any, str]] = [
    (None, "c0"),
    (True, "c3"),
    (False, "c2"),
    (0, "00"),
    (127, "7f"),
    (128, "cc80"),
    (-1, "ff"),
    (-32, "e0"),
    (-33, "d0df"),
    (-128, "d080"),
    (-129, "d1ff7f"),
    (255, "ccff"),
    (256, "cd0100"),
    (-32769, "d2ffff7fff"),
    (65535, "cdffff"),
    (65536, "ce00010000"),
    (2**31 - 1, "ce7fffffff"),
    (-(2**31), "d280000000"),
    (java.Long(5), "05"),
    (2**32 - 1, "ceffffffff"),
    (2**32, "cf0000000100000000"),
    (2**63 - 1, "cf7fffffffffffffff"),
    (-(2**63), "d38000000000000000"),
    (java.BigInteger(128), "cc80"),
    (2**64 - 1, "cfffffffffffffffff"),
    (0.1, "cb3fb999999999999a"),
    (-0.0, "cb8000000000000000"),
    (float("nan"), "cb7ff8000000000000"),
    (float("-inf"), "cbfff0000000000000"),
    (java.Float(0.1), "ca3dcccccd"),
    (java.Float(float("nan")), "ca7fc00000"),
    (Decimal("1.50"), "cb3ff8000000000000"),
    (Decimal("0E-10"), "00"),
    (Decimal("1E+3"), "cd03e8"),
    (Decimal("1E+20"), "cb4415af1d78b58c40"),
    (Decimal("1E+300"), "cb7e37e43c8800759c"),
    (Decimal("0.0000001"), "cb3e7ad7f29abcaf48"),
    (b"", "c400"),
    (b"\xc8\xed", "c402c8ed"),
    ("", "a0"),
    ("\u00e9", "a2c3a9"),
    ([*range(10), 0, 1, 2, 3, 4], "9f000102030405060708090001020304"),
    ([*range(10), 0, 1, 2, 3, 4, 5], "dc001000010203040506070809000102030405"),
    (Object((("a", 1),)), "81a16101"),
    (
        Typed("java.util.Arrays$ArrayList", [None, 1, None, "x"]),
        "92ba6a6176612e7574696c2e4172726179732441727261794c69737494c001c0a178",
    ),
    (
        Typed("java.util.LinkedHashMap", Object(((IntegerName("5"), "x"),))),
        "82a640636c617373b76a6176612e7574696c2e4c696e6b6564486173684d6170a135a178",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("node", "java_hex"), JAVA, ids=repr)
def test_java_s_bytes(node: Any, java_hex: str) -> None:
    assert msgpack.dumps(node).hex() == java_hex
    assert same_node(msgpack.loads(bytes.fromhex(java_hex)), as_read(node, msgpack))


@pytest.mark.parametrize(
    "node",
    [
        2**64,
        -(2**63) - 1,
        java.BigInteger(2**64),
        Decimal("12345678901234567890.123"),
        Decimal("0.3000000000000000166"),
        Decimal("1E-400"),
        Decimal("1E+400"),
        Decimal("1E+999999999"),
        Decimal("1E-999999999"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("-Infinity"),
    ],
)
def test_numbers_that_java_does_not_write_either(node: Any) -> None:
    assert "MessagePack" in refusal(msgpack, [node]).message


@pytest.mark.parametrize(
    ("data", "message", "offset"),
    [
        ("", "the bytes end in the middle", 0),
        ("c1", "0xC1 begins no value", 0),
        ("93 01 c1 00", "0xC1 begins no value", 2),
        ("d6ff00000001", "extension types are not read", 0),
        ("91 d7ff0000000000000001", "extension types are not read", 1),
        ("c70cff" + "00" * 12, "extension types are not read", 0),
        ("d4 05 00", "extension types are not read", 0),
        ("81 01 02", "a property's name is not text", 1),
        ("82 a161 01 90 01", "a property's name is not text", 4),
        ("81 c0 02", "a property's name is not text", 1),
        ("ddffffffff", "4294967295 elements are announced, 0 bytes are there", 0),
        ("dfffffffff c0c0", "4294967295 elements are announced, 2 bytes are there", 0),
        ("91 dcffff c0", "65535 elements are announced, 1 bytes are there", 1),
        ("dbffffffff 61", "4294967295 bytes are announced, 1 are there", 5),
        ("c6ffffffff", "4294967295 bytes are announced, 0 are there", 5),
        ("a2 61", "2 bytes are announced, 1 are there", 1),
        ("a2 c328", "not UTF-8", 1),
        ("a3 eda080", "not UTF-8", 1),
        ("cb 00", "the bytes end in the middle", 2),
        ("0505", "1 bytes too many after the value", 1),
    ],
)
def test_bytes_that_are_no_node(data: str, message: str, offset: int) -> None:
    with pytest.raises(Malformed) as caught:
        msgpack.loads(bytes.fromhex(data))
    assert message in caught.value.message
    assert caught.value.offset == offset
