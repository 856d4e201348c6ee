"""The codecs without types: what Java writes, what its parsers accept, what is refused."""

from __future__ import annotations

import enum
import math
from typing import Any

import pytest

from redisson_dq.codecs import ByteArrayCodec, Codec, DoubleCodec, IntegerCodec, LongCodec, StringCodec
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import Character, Double, Float, Integer, Long
from tests.unit.codecs.golden_rows import same

# Written by Redisson 4.
CHARSETS = [
    ("UTF-8", "\u65e5\u672c\U0001f600", "e697a5e69cacf09f9880"),
    ("UTF-16", "", ""),
    ("UTF-16", "\u65e5\u672c\U0001f600", "feff65e5672cd83dde00"),
    ("UTF-16BE", "a\u00e9", "006100e9"),
    ("UTF-16LE", "a\u00e9", "6100e900"),
    ("UTF-32", "a\u00e9", "00000061000000e9"),
    ("ISO-8859-1", "a\u00e9", "61e9"),
    ("windows-1252", "a\u00e9", "61e9"),
    ("Shift_JIS", "\u65e5\u672c", "93fa967b"),
    ("GBK", "a\u00e9", "61a8a6"),
    ("Big5", "\u65e5\u672c", "a4e9a5bb"),
    ("EUC-KR", "\u65e5\u672c", "eceddce2"),
]


@pytest.mark.parametrize(("charset", "text", "data"), CHARSETS)
def test_charsets_are_javas(charset: str, text: str, data: str) -> None:
    codec = StringCodec(charset)
    assert codec.encode(text).hex() == data
    assert codec.decode(bytes.fromhex(data)) == text


# As Redisson 4 reads them.
@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("UTF-16", "0061", "a"),
        ("UTF-16", "fffe6100", "a"),
        ("utf_16", "feff0061", "a"),
        ("u16", "feff0061", "a"),
        ("UTF-16BE", "feff0061", "\ufeffa"),
        ("UTF-32", "0000feff00000061", "a"),
        ("UTF-32", "00000061", "a"),
        ("UTF-8", "efbbbf61", "\ufeffa"),
    ],
)
def test_byte_order_marks(charset: str, data: str, text: str) -> None:
    assert StringCodec(charset).decode(bytes.fromhex(data)) == text


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("no-such-charset", "unknown"),
        ("hex", "unknown"),
        ("utf-7", "Python's own"),
        ("UTF_8_SIG", "Python's own"),
        ("unicode_escape", "Python's own"),
        ("undefined", "Python's own"),
        ("idna", "Python's own"),
    ],
)
def test_a_charset_that_java_and_python_do_not_share(charset: str, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        StringCodec(charset)


@pytest.mark.parametrize(
    ("charset", "text", "message"),
    [
        ("utf-8", "x\ud800", r"U\+D800 at 1 has no bytes in utf-8"),
        ("UTF-16", "\udc00", r"U\+DC00 at 0 has no bytes in UTF-16"),
        ("US-ASCII", "a\u00e9", r"U\+00E9 at 1 has no bytes in US-ASCII"),
        ("ISO-8859-1", "\U0001f600", r"U\+1F600 at 0"),
    ],
)
def test_a_character_the_charset_does_not_have(charset: str, text: str, message: str) -> None:
    with pytest.raises(EncodeError, match=message) as caught:
        StringCodec(charset).encode(text)
    assert (caught.value.codec, caught.value.path) == ("StringCodec", "$")


@pytest.mark.parametrize(
    ("charset", "data", "offset"),
    [("utf-8", "6162c328", 2), ("utf-8", "61eda080", 1), ("UTF-16", "006100", 2), ("US-ASCII", "61e9", 1)],
)
def test_bytes_that_are_no_text(charset: str, data: str, offset: int) -> None:
    raw = bytes.fromhex(data)
    with pytest.raises(DecodeError, match=f"the bytes are not {charset} text") as caught:
        StringCodec(charset).decode(raw)
    assert (caught.value.codec, caught.value.offset, caught.value.data) == ("StringCodec", offset, raw)
    assert isinstance(caught.value.__cause__, UnicodeDecodeError)


@pytest.mark.parametrize("charset", ["IBM037", "IBM273", "IBM424", "IBM500", "IBM1026"])
def test_a_line_feed_in_ebcdic_is_the_nel_of_java(charset: str) -> None:
    codec = StringCodec(charset)
    assert codec.encode("a\nb") == bytes.fromhex("811582")
    assert codec.decode(bytes.fromhex("811582")) == codec.decode(bytes.fromhex("812582")) == "a\nb"
    with pytest.raises(EncodeError, match=r"reads character U\+0085"):
        codec.encode("a\x85b")


def test_the_charset_is_in_the_repr() -> None:
    assert repr(StringCodec("latin-1")) == "StringCodec('latin-1')"
    assert repr(LongCodec()) == "LongCodec()"


class Size(enum.IntEnum):
    LARGE = 3


@pytest.mark.parametrize(
    ("codec", "value", "text"),
    [
        (StringCodec(), 5, r"int given, the codec takes a str; call str\(\) on it"),
        (StringCodec(), b"ab", "bytes given, the codec takes a str"),
        (StringCodec(), None, "NoneType given"),
        (LongCodec(), "5", "str given, the codec takes an int"),
        (LongCodec(), True, "bool given"),
        (LongCodec(), 5.0, "float given"),
        (LongCodec(), 2**63, "outside -9223372036854775808 to 9223372036854775807"),
        (LongCodec(), -(2**63) - 1, "outside"),
        (IntegerCodec(), 2**31, "outside -2147483648 to 2147483647"),
        (IntegerCodec(), -(2**31) - 1, "outside"),
        (DoubleCodec(), "1.5", "str given, the codec takes a float"),
        (DoubleCodec(), False, "bool given"),
        (DoubleCodec(), 2**53 + 1, "does not hold this int exactly"),
        (DoubleCodec(), 10**400, "too large for a Double"),
        (ByteArrayCodec(), "ab", "str given, the codec takes bytes"),
        (ByteArrayCodec(), [1, 2], "list given"),
    ],
)
def test_a_value_of_another_type_is_refused(codec: Codec, value: Any, text: str) -> None:
    with pytest.raises(EncodeError, match=text) as caught:
        codec.encode(value)
    assert (caught.value.codec, caught.value.path) == (codec.name, "$")


@pytest.mark.parametrize(
    ("codec", "value", "data"),
    [
        (LongCodec(), 2**63 - 1, b"9223372036854775807"),
        (LongCodec(), -(2**63), b"-9223372036854775808"),
        (LongCodec(), Long(5), b"5"),
        (LongCodec(), Size.LARGE, b"3"),
        (IntegerCodec(), Integer(-5), b"-5"),
        (DoubleCodec(), 5, b"5.0"),
        (DoubleCodec(), Double(1e10), b"1.0E10"),
        (DoubleCodec(), Float(1.1), b"1.100000023841858"),
        (DoubleCodec(), -(2**60), b"-1.152921504606847E18"),
        (StringCodec(), Character("a"), b"a"),
        (ByteArrayCodec(), bytearray(b"ab"), b"ab"),
        (ByteArrayCodec(), memoryview(b"a-b-")[::2], b"ab"),
    ],
)
def test_what_stands_for_a_value(codec: Codec, value: Any, data: bytes) -> None:
    encoded = codec.encode(value)
    assert encoded == data
    assert type(encoded) is bytes


# As Java's Long.valueOf and Integer.valueOf read them.
@pytest.mark.parametrize(
    ("text", "value"), [("5", 5), ("+5", 5), ("-5", -5), ("0005", 5), ("-0", 0), ("\u0665", 5), ("\uff15\u0661", 51)]
)
def test_whole_numbers_that_java_reads(text: str, value: int) -> None:
    for codec in (LongCodec(), IntegerCodec()):
        assert same(codec.decode(text.encode()), value)


@pytest.mark.parametrize(
    "text",
    ["", "-", "+", "+-5", " 5", "5 ", "5\n", "5L", "5.0", "1_0", "0x5", "1e3", "\u00b2", "\U0001d7d3", "9" * 5000],
)
def test_whole_numbers_that_java_refuses(text: str) -> None:
    for codec in (LongCodec(), IntegerCodec()):
        with pytest.raises(DecodeError) as caught:
            codec.decode(text.encode())
        assert caught.value.data == text.encode()


@pytest.mark.parametrize(
    ("codec", "data"),
    [
        (LongCodec(), b"9223372036854775808"),
        (LongCodec(), b"-9223372036854775809"),
        (IntegerCodec(), b"2147483648"),
        (IntegerCodec(), b"-2147483649"),
    ],
)
def test_whole_numbers_out_of_range(codec: Codec, data: bytes) -> None:
    with pytest.raises(DecodeError, match="outside"):
        codec.decode(data)


# As Java's Double.valueOf reads them.
DOUBLES = {
    "5": 5.0, "+5.5": 5.5, " 5 ": 5.0, "\t5\n": 5.0, "\x005": 5.0, "NaN": math.nan, "+NaN": math.nan, "-NaN": math.nan,
    "Infinity": math.inf, "-Infinity": -math.inf, "+Infinity": math.inf, "1e5": 1e5, "1E+5": 1e5, "1.": 1.0, ".5": 0.5,
    "1.e2": 100.0, "5f": 5.0, "5F": 5.0, "5d": 5.0, "5D": 5.0, "1e5f": 1e5, "0x1.8p1": 3.0, "0x1p-3": 0.125,
    "-0x.8P3d": -4.0, "0x1.p0": 1.0, "0X1FP0": 31.0, "1e999": math.inf, "-1e999": -math.inf, "1e-999": 0.0,
    "0x1p9999": math.inf, "-0x1p9999": -math.inf, "0x1p-99999999999": 0.0, "00012.50": 12.5, "4.9E-324": 5e-324,
    "1e99999999999": math.inf, "2.4703282292062328e-324": 5e-324, "0x1.fffffffffffff8p1023": math.inf, "-0": -0.0,
}  # fmt: skip


@pytest.mark.parametrize("text", DOUBLES)
def test_floats_that_java_reads(text: str) -> None:
    assert same(DoubleCodec().decode(text.encode()), DOUBLES[text])


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "5\u00a0", "nan", "inf", "infinity", "1e", ".", "e5", "5L", "0x1", "0xp0", "0x1.8p", "0x.p1"),
        *("\u0665", "1_0", "NaNd", "Infinityf", "1e5 f", "1.5ff", "--1", "1,5"),
    ],
)
def test_floats_that_java_refuses(text: str) -> None:
    with pytest.raises(DecodeError, match="the bytes are not a number") as caught:
        DoubleCodec().decode(text.encode())
    assert caught.value.data == text.encode()


@pytest.mark.parametrize("codec", [LongCodec(), IntegerCodec(), DoubleCodec()])
def test_numbers_that_are_no_text(codec: Codec) -> None:
    with pytest.raises(DecodeError) as caught:
        codec.decode(b"12\xff")
    assert caught.value.offset == 2


def test_byte_arrays_come_back_as_bytes() -> None:
    data = bytes(range(256))
    assert ByteArrayCodec().decode(ByteArrayCodec().encode(data)) == data
