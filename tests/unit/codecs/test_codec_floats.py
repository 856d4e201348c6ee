"""The text of floats, beside what a JDK printed."""

from __future__ import annotations

import math
import re
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisson_dq.codecs.floats import double_text, float_text
from tests.conftest import as_many

# Printed by JDK 25; JDK 17 prints the same but for the rows marked with what it prints.
DOUBLES = [
    (0.0, "0.0"),
    (-0.0, "-0.0"),
    (1.0, "1.0"),
    (0.1, "0.1"),
    (-1.5, "-1.5"),
    (1e-3, "0.001"),
    (9.99e-4, "9.99E-4"),
    (1e-5, "1.0E-5"),
    (9999999.0, "9999999.0"),
    (9999999.999, "9999999.999"),
    (1e7, "1.0E7"),
    (-12345678.9, "-1.23456789E7"),
    (1e10, "1.0E10"),
    (123456789012345680.0, "1.2345678901234568E17"),
    (1e100, "1.0E100"),
    (1.7976931348623157e308, "1.7976931348623157E308"),
    (2.2250738585072014e-308, "2.2250738585072014E-308"),
    (5e-324, "4.9E-324"),
    (1e-323, "9.9E-324"),
    (2e-323, "2.0E-323"),
    (1e23, "1.0E23"),  # JDK 17: 9.999999999999999E22
    (2.0**-968, "4.008336720017946E-292"),  # JDK 17: 4.0083367200179456E-292
    (1.012e-320, "1.012E-320"),  # JDK 17: 1.0118E-320
    (math.inf, "Infinity"),
    (-math.inf, "-Infinity"),
    (math.nan, "NaN"),
]
# By bits.
FLOATS = [
    (0x00000000, "0.0"),
    (0x80000000, "-0.0"),
    (0x3F800000, "1.0"),
    (0x3DCCCCCD, "0.1"),
    (0x3F8CCCCD, "1.1"),
    (0x3A83126F, "0.001"),
    (0x3727C5AC, "1.0E-5"),
    (0x4B189680, "1.0E7"),
    (0x501502F9, "1.0E10"),
    (0x4C01B320, "3.4E7"),
    (0x00000001, "1.4E-45"),
    (0x7F7FFFFF, "3.4028235E38"),
    (0x00800000, "1.1754944E-38"),  # JDK 17: 1.17549435E-38
    (0x5C505EAC, "2.3460355E17"),  # JDK 17: 2.34603552E17
    (0x6C800000, "1.2379401E27"),  # a power of two whose nearest 8 digits do not read back
    (0x0F800000, "1.2621775E-29"),
    (0x6B000000, "1.5474251E26"),
    (0xFF800000, "-Infinity"),
    (0x7FC00000, "NaN"),
]


#: Plain from 1E-3 to below 1E7; else one digit, not zero, before the point.
FORM = re.compile(r"-?(?:0\.0|0\.00[1-9]\d*|0\.0?[1-9]\d*|[1-9]\d{0,6}\.\d+|[1-9]\.\d+E-?[1-9]\d*)")


@pytest.mark.parametrize(("value", "text"), DOUBLES)
def test_doubles(value: float, text: str) -> None:
    assert double_text(value) == text


@pytest.mark.parametrize(("bits", "text"), FLOATS)
def test_floats(bits: int, text: str) -> None:
    assert float_text(struct.unpack(">f", bits.to_bytes(4, "big"))[0]) == text


@settings(max_examples=as_many(300, 1000), deadline=None, derandomize=True, database=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_doubles_text_reads_back(value: float) -> None:
    assert float(double_text(value)).hex() == value.hex()
    assert FORM.fullmatch(double_text(value))


@settings(max_examples=as_many(300, 1000), deadline=None, derandomize=True, database=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_floats_text_reads_back(value: float) -> None:
    text = float_text(value)
    assert struct.unpack("<f", struct.pack("<f", float(text)))[0].hex() == value.hex()
    assert FORM.fullmatch(text)
