"""Values as Jackson writes them for Redisson, byte for byte.

A bare number is an Integer or a Double, a bare string a String; any other type stands in an array of two, its
Java name first: ``["java.lang.Long",5]``, ``["java.util.ArrayList",[1,2]]``. A map is an object whose first
entry is ``"@class"``. At the root Jackson leaves the name out for Short, Byte, Character and Float, so Java
reads them back as Integer, String and Double; inside a list or map it writes it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Any

from redisson_dq import java
from redisson_dq.codecs import classes
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Unencodable, no_java_type, type_name
from redisson_dq.codecs.floats import double_text, float_text
from redisson_dq.java import numbers

__all__ = ["MAX_NUMBER_DIGITS", "json_text", "quoted"]

#: Jackson since 2.15 reads no longer number.
MAX_NUMBER_DIGITS = 1000

_TOO_LONG = f"a number of more than {MAX_NUMBER_DIGITS} digits, which Jackson does not read"
_MAX_NUMBER_BITS = 3322  # more bits have more digits than that
_ESCAPED = re.compile('["\\\\\x00-\x1f\ud800-\udfff\U00010000-\U0010ffff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MAP_START = f'{{"@class":"{classes.LINKED_HASH_MAP}"'
_LIST_START = f'["{classes.ARRAY_LIST}",['


def quoted(text: str) -> str:
    """``text`` as a JSON string in Jackson's spelling. O(length).

    Control characters and every UTF-16 surrogate become ``\\uXXXX`` with capital digits, so a character
    beyond U+FFFF becomes two of them and a lone surrogate is kept; anything else stands as it is.
    """
    if _ESCAPED.search(text) is None:
        return f'"{text}"'
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 | code >> 10:04X}\\u{0xDC00 | code & 0x3FF:04X}"
    return _SHORT.get(char) or f"\\u{code:04X}"


def _digits(value: int) -> str:
    return int.__repr__(value)


def _typed(name: str, text: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: f'["{name}",{text(value)}]'


def _big_digits(value: int) -> str:
    if value.bit_length() <= _MAX_NUMBER_BITS:
        try:
            text = int.__repr__(value)
        except ValueError as exc:
            raise Unencodable("a number of more digits than this Python converts") from exc
        if len(text) - (value < 0) <= MAX_NUMBER_DIGITS:
            return text
    raise Unencodable(_TOO_LONG)


def _plain_decimal(value: Decimal) -> str:
    _sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise Unencodable(f"a BigDecimal cannot hold {value}")
    power = exponent
    if not value:  # Java has no -0, and writes 0E+3 as 0
        power = min(exponent, 0)
        value = Decimal((0, (0,), power))
    if (len(digits) + power if power > 0 else max(len(digits), 1 - power)) > MAX_NUMBER_DIGITS:
        raise Unencodable(_TOO_LONG)
    return format(value, "f")


def _float_or_name(text: Callable[[float], str]) -> Callable[[float], str]:
    return lambda value: text(value) if value - value == 0 else f'"{text(value)}"'


_long = _typed("java.lang.Long", _digits)
_big_integer = _typed("java.math.BigInteger", _big_digits)
_odd_double = _typed("java.lang.Double", _float_or_name(double_text))
_typed_float = _typed("java.lang.Float", _float_or_name(float_text))


def _int(value: int) -> str:
    if numbers.INT_MIN <= value <= numbers.INT_MAX:
        return int.__repr__(value)
    return _long(value) if numbers.LONG_MIN <= value <= numbers.LONG_MAX else _big_integer(value)


def _double(value: float) -> str:
    return double_text(value) if value - value == 0 else _odd_double(value)


_byte_array = _typed("[B", lambda value: f'"{base64.b64encode(bytes(value)).decode()}"')

#: By Python type: the text of a value inside a list or map.
_INSIDE: dict[type, Callable[[Any], str]] = {
    str: quoted,
    int: _int,
    float: _double,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _value: "null",
    Decimal: _typed("java.math.BigDecimal", _plain_decimal),
    bytes: _byte_array,
    bytearray: _byte_array,
    memoryview: _byte_array,
    java.Byte: _typed("java.lang.Byte", _digits),
    java.Short: _typed("java.lang.Short", _digits),
    java.Integer: _digits,
    java.Long: _long,
    java.BigInteger: _big_integer,
    java.Float: _typed_float,
    java.Double: _double,
    java.Character: _typed("java.lang.Character", quoted),
}
#: The same at the root.
_ROOT = {
    **_INSIDE,
    java.Byte: _digits,
    java.Short: _digits,
    java.Float: lambda value: float_text(value) if value - value == 0 else _typed_float(value),
    java.Character: quoted,
}


def json_text(value: Any) -> str:
    """The JSON of a whole value. Raises Unencodable. O(size)."""
    scalar = _ROOT.get(type(value))
    if scalar is not None:
        return scalar(value)
    out: list[str] = []
    _write(value, out, 1, _ROOT)
    return "".join(out)


def _write(value: Any, out: list[str], depth: int, scalars: dict[type, Callable[[Any], str]]) -> None:
    scalar = scalars.get(type(value))
    if scalar is not None:
        out.append(scalar(value))
    elif isinstance(value, Enum):
        raise no_java_type(value)
    elif isinstance(value, list):
        _write_list(value, out, depth)
    elif isinstance(value, dict):
        _write_map(value, out, depth)
    else:
        for base in type(value).__mro__:
            if base in scalars:
                out.append(scalars[base](value))
                return
        raise no_java_type(value)


def _write_list(values: list[Any], out: list[str], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")
    separator = _LIST_START
    index = 0
    try:
        for index in range(len(values)):
            out.append(separator)
            _write(values[index], out, depth + 1, _INSIDE)
            separator = ","
    except Unencodable as exc:
        exc.inside(index)
        raise
    out.append("]]" if values else _LIST_START + "]]")


def _write_map(values: dict[Any, Any], out: list[str], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")
    out.append(_MAP_START)
    key = None
    try:
        for key, value in values.items():
            if not isinstance(key, str) or isinstance(key, Enum):
                raise Unencodable(f"a key of type {type_name(key)}: keys are str, Java reads back nothing else")
            out.append(f",{quoted(key)}:")
            _write(value, out, depth + 1, _INSIDE)
    except Unencodable as exc:
        exc.inside(key)
        raise
    out.append("}")
