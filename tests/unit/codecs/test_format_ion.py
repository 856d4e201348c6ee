"""Ion text: Java's text of each kind of node, and what is refused."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.codecs import IonJacksonCodec
from redisson_dq.codecs.faults import Malformed
from redisson_dq.codecs.jackson import ion
from redisson_dq.codecs.jackson.node import Object, Typed
from tests.unit.codecs.format_nodes import as_read, refusal, same_node

ODD_NAMES = (
    *("", "a", "a b", "a-b", "_a", "$a", "1a", "null", "true", "false", "nan", "inf", "a.b", "\u00e9", "'", '"'),
    *("a\nb", "$1", "$0x", "a1", "+inf", "\U0001f600", "@class", "NaN", "in", "$ion", "null.int", "\0"),
)

#: Written by Redisson 4 (Jackson 2.21.2, ion-java 1.11.11).
JAVA: list[tuple[Any, str]] = [
    (None, "null"),
    (True, "true"),
    (False, "false"),
    (-129, "-129"),
    (0.0, "0e0"),
    (-0.0, "-0e0"),
    (100.0, "100e0"),
    (0.1, "0.1e0"),
    (0.001, "0.001e0"),
    (1e7, "1.0e7"),
    (1e-7, "1.0e-7"),
    (1e23, "1.0e23"),
    (5e-324, "4.9e-324"),
    (1.7976931348623157e308, "1.7976931348623157e308"),
    (float("nan"), "nan"),
    (float("inf"), "+inf"),
    (float("-inf"), "-inf"),
    (java.Float(0.1), "0.10000000149011612e0"),
    (java.Float(1e10), "1.0e10"),
    (b"", "{{}}"),
    (b"\xc8\xed\x12\x37", "{{yO0SNw==}}"),
    ("", '""'),
    (
        '"\\\b\f\n\r\t\0\x01\x1f\x7f\x80\x9f\xa0\u2028\ufeff/\'',
        r'''"\"\\\b\f\n\r\t\0\x01\x1f\x7f\x80\x9f\xa0\u2028\ufeff/'"''',
    ),
    ("\a\v\U0001f600", r'"\a\v\U0001f600"'),
    ([], "[]"),
    (["a", "bc"], '["a","bc"]'),
    (Object(), "{}"),
    (Object((("-1", 1),)), "{'-1':1}"),
    (Typed("java.lang.Long", java.Long(5)), "'java.lang.Long'::5"),
    (Typed("[B", b"\xc8"), "'[B'::{{yA==}}"),
    (Typed("java.math.BigInteger", java.BigInteger(-1)), "'java.math.BigInteger'::-1"),
    (Typed("java.lang.Double", float("nan")), "'java.lang.Double'::nan"),
    (
        Typed("Dump$Prim", Object((("b", 8), ("ls", Typed("java.util.ArrayList", ["a"]))))),
        """Dump$Prim::{b:8,ls:'java.util.ArrayList'::["a"]}""",
    ),
    (
        Typed("java.util.LinkedHashMap", Object((name, 1) for name in ODD_NAMES)),
        r"'java.util.LinkedHashMap'::{'':1,a:1,'a b':1,'a-b':1,_a:1,$a:1,'1a':1,'null':1,'true':1,'false':1,'nan':1,"
        r"""inf:1,'a.b':1,'\xe9':1,'\'':1,'"':1,'a\nb':1,'$1':1,$0x:1,a1:1,'+inf':1,'\U0001f600':1,'@class':1,NaN:1,"""
        r"in:1,$ion:1,'null.int':1,'\0':1}",
    ),
]  # fmt: skip

#: BigDecimals; in Java's text "'java.math.BigDecimal'::" stands before them.
JAVA_DECIMALS = {
    "0": "0.",
    "0.0": "0.0",
    "0.00": "0.00",
    "0E+3": "0d3",
    "0E-10": "0d-10",
    "1": "1.",
    "-1.50": "-1.50",
    "-0.5": "-0.5",
    "100": "100.",
    "1E+3": "1d3",
    "1.2E+5": "12d4",
    "1.23E-8": "123d-10",
    "0.000001": "0.000001",
    "1E-7": "1d-7",
    "12345678901234567890.123": "12345678901234567890.123",
    "1.5E-2147483646": "15d-2147483647",
}


@pytest.mark.parametrize(("node", "java_text"), JAVA, ids=repr)
def test_java_s_text(node: Any, java_text: str) -> None:
    assert ion.dumps(node).decode() == java_text
    assert same_node(ion.loads(java_text.encode()), as_read(node, ion))


@pytest.mark.parametrize(("number", "java_text"), JAVA_DECIMALS.items())
def test_java_s_text_of_big_decimals(number: str, java_text: str) -> None:
    node = Typed("java.math.BigDecimal", Decimal(number))
    assert ion.dumps(node).decode() == "'java.math.BigDecimal'::" + java_text
    assert same_node(ion.loads(ion.dumps(node)), node)


def test_other_forms_of_the_same() -> None:
    # ion-java before 1.11.10 has a capital E.
    assert same_node(ion.loads(b"[1.0E7,-4.9E-324,1D3,-0.]"), [1e7, -5e-324, Decimal("1E+3"), Decimal(0)])
    assert ion.loads('"\u00e9"'.encode()) == "\u00e9"
    assert ion.loads(rb'"\u00e9\x7F"') == "\u00e9\x7f"


@pytest.mark.parametrize(
    "node",
    [
        10**1000,
        Decimal(10**1000),
        Decimal("1E+2147483648"),
        Decimal("1E-2147483648"),
        Decimal("NaN"),
        Decimal("sNaN"),
    ],
)
def test_numbers_that_have_no_text(node: Any) -> None:
    refusal(ion, [node])


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("", "here begins nothing", 0),
        (" 5", "here begins nothing", 0),
        ("5 ", "1 characters too many after the value", 1),
        ("/**/5", "here begins nothing", 0),
        ("05", "1 characters too many", 1),
        ("+5", "here begins nothing", 0),
        ("0x1f", "3 characters too many", 1),
        ("1_000", "4 characters too many", 1),
        ("12e", "1 characters too many", 2),
        ("2000-01-01T", "7 characters too many", 4),
        ("2000T", "1 characters too many", 4),
        ("(a b)", "here begins nothing", 0),
        ("a", "a symbol", 0),
        ("[1,'null']", "a symbol", 3),
        ("null.int", "4 characters too many", 4),
        ("'a'::'b'::5", "two annotations", 0),
        ("'a'::", "here begins nothing", 5),
        ('"a', "here begins nothing", 0),
        ('"a\nb"', "here begins nothing", 0),
        ('"a\\', "here begins nothing", 0),
        ('"a\\q"', "\\q in a text", 0),
        ('["\u00e9","\\q"]', "\\q in a text", 6),
        (r'"\ud83d\ude00"', "\\ud83d in a text", 0),
        (r'"\U00110000"', "\\U00110000 in a text", 0),
        (r'"\x4"', "\\x in a text", 0),
        ('{{"clob"}}', "no name of a property", 1),
        ("{{YQ=}}", "no base64", 0),
        ("{{YQ==", "no name of a property", 1),
        ("[1 ,2]", "no comma", 2),
        ("[1,]", "here begins nothing", 3),
        ("[,1]", "here begins nothing", 1),
        ("[1,2", "no comma", 4),
        ("{a:1,}", "here begins nothing", 5),
        ('{"a":1}', "no name of a property", 1),
        ("{a :1}", "no name of a property", 1),
        ("{a::1}", "here begins nothing", 3),
        ("{a:1 b:2}", "no comma", 4),
        ("{a:b}", "a symbol", 3),
        ("1d2147483648", "exponent takes more than 32 bits", 0),
        ("1d99999999999", "exponent takes more than 32 bits", 0),
        ("1" * 5000, "more digits than this Python converts", 0),
    ],
)
def test_text_that_is_no_node(text: str, message: str, offset: int) -> None:
    with pytest.raises(Malformed) as caught:
        ion.loads(text.encode())
    assert message in caught.value.message
    assert caught.value.offset == offset


def test_binary_ion_is_refused() -> None:
    with pytest.raises(Malformed, match="not Ion text"):
        ion.loads(bytes.fromhex("e00100ea2105"))


def test_a_time_of_sql_is_its_milliseconds_as_every_date() -> None:
    text = b"'java.util.ArrayList'::['java.sql.Time'::8640000]"
    value = [java.SqlTime(datetime(1970, 1, 1, 2, 24, tzinfo=timezone.utc))]
    assert IonJacksonCodec().decode(text) == value
    assert IonJacksonCodec().encode(value) == text
