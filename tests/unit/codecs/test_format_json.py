"""JSON: the text of each kind of node, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.codecs.faults import TOO_DEEP, Malformed
from redisson_dq.codecs.jackson import json
from redisson_dq.codecs.jackson.node import IntegerName, Number, Object, Typed
from tests.unit.codecs.format_nodes import as_read, refusal, same_node

#: Written by Redisson 4 (Jackson 2.21.2).
JAVA: list[tuple[Any, str]] = [
    (None, "null"),
    (True, "true"),
    (-129, "-129"),
    (java.Long(5), "5"),
    (java.BigInteger(2**70), "1180591620717411303424"),
    (100.0, "100.0"),
    (1e7, "1.0E7"),
    (1e-7, "1.0E-7"),
    (5e-324, "4.9E-324"),
    (float("-inf"), '"-Infinity"'),
    (float("nan"), '"NaN"'),
    (java.Float(0.1), "0.1"),
    (java.Float(1e10), "1.0E10"),
    (b"\xc8" * 24, '"yMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjI"'),
    (
        '"\\\b\f\n\r\t\0\x01\x1f\x7f\x80\x9f\xa0\u2028\ufeff/\'',
        '"\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u0001\\u001F\x7f\x80\x9f\xa0\u2028\ufeff/\'"',
    ),
    ("\U0001f600", '"\\uD83D\\uDE00"'),
    ([], "[]"),
    ([0, 0], "[0,0]"),
    (Object(), "{}"),
    (Object(((IntegerName("-1"), 1),)), '{"-1":1}'),
    (Typed("java.math.BigDecimal", Decimal("0E+3")), '["java.math.BigDecimal",0]'),
    (Typed("java.math.BigDecimal", Decimal("1E-7")), '["java.math.BigDecimal",0.0000001]'),
    (Typed("java.math.BigDecimal", Decimal("1E+20")), '["java.math.BigDecimal",100000000000000000000]'),
    (Typed("java.util.LinkedHashMap", Object()), '{"@class":"java.util.LinkedHashMap"}'),
    (
        Typed("java.util.ArrayList", [Typed("java.util.ArrayList", []), Typed("java.util.LinkedHashMap", Object())]),
        '["java.util.ArrayList",[["java.util.ArrayList",[]],{"@class":"java.util.LinkedHashMap"}]]',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("node", "java_text"), JAVA, ids=repr)
def test_java_s_text(node: Any, java_text: str) -> None:
    assert json.dumps(node).decode() == java_text
    assert same_node(json.loads(java_text.encode()), as_read(node, json))


@pytest.mark.parametrize("node", [10**1000, Decimal("1E+1000"), Decimal("1E-1000"), Decimal("NaN"), Decimal("sNaN")])
def test_numbers_that_java_does_not_read(node: Any) -> None:
    refusal(json, [node])


def test_numbers_with_a_point_or_an_exponent_keep_their_text() -> None:
    assert same_node(json.loads(b"[1.50,1e3,-0,-0.0]"), [Number("1.50"), Number("1e3"), 0, Number("-0.0")])


@pytest.mark.parametrize(
    ("data", "message", "offset"),
    [
        (b"", "the bytes are not JSON", 0),
        (b"\xff", "the bytes are not UTF-8", 0),
        (b'["\xc3\xa9",x]', "the bytes are not JSON", 6),
        (b"[1] 2", "the bytes are not JSON: Extra data", 4),
        (b'{"a":1', "the bytes are not JSON", 6),
        (b"\xef\xbb\xbf1", "the bytes are not JSON", 0),
        (b'"a\nb"', "the bytes are not JSON", 2),
    ],
)
def test_bytes_that_are_no_json(data: bytes, message: str, offset: int) -> None:
    with pytest.raises(Malformed) as caught:
        json.loads(data)
    assert caught.value.message.startswith(message)
    assert caught.value.offset == offset


def test_what_else_is_refused() -> None:
    with pytest.raises(Malformed, match="Infinity is not a JSON number") as caught:
        json.loads(b"[1,Infinity]")
    assert caught.value.near == "Infinity"
    with pytest.raises(Malformed, match="a number that cannot be read"):
        json.loads(b"1" * 5000)
    with pytest.raises(Malformed, match=TOO_DEEP):
        json.loads(b"[" * 100_000)
