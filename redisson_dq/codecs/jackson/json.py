"""JSON: the text of a node as Jackson writes it, and the node of a text, which the standard library parses.

There are no spaces. Control characters and surrogates are written as ``\\uXXXX``, whole numbers as their digits, a
BigDecimal without an exponent. A Double and a Float are written as Java's ``toString`` has them, or as a text when they
are not finite. Bytes are in base64. Jackson 3 escapes lone surrogates only, and gives a BigDecimal its exponent.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from redisson_dq.codecs.faults import TOO_DEEP, Malformed, Unencodable, shorten, unwritable
from redisson_dq.codecs.floats import double_text, float_text
from redisson_dq.codecs.jackson.node import CLASS, Number, Object
from redisson_dq.codecs.jackson.reading.doubts import Doubt
from redisson_dq.java.numbers import INT_MAX, BigInteger, Byte, Float, Long, Short

__all__ = [
    "MAX_NUMBER_DIGITS",
    "digits",
    "doubt",
    "dumps",
    "dumps_3",
    "dumps_half_pairs",
    "has_half_pair",
    "loads",
    "quoted",
    "quoted_3",
    "substituted",
]

#: Since 2.15, Jackson reads no longer number.
MAX_NUMBER_DIGITS = 1000

_TOO_LONG = f"a number of more than {MAX_NUMBER_DIGITS} digits, which Jackson may not read"
_MAX_NUMBER_BITS = 3322  # more bits have more digits than that
_ESCAPED = re.compile('["\\\\\x00-\x1f\ud800-\udfff\U00010000-\U0010ffff]')
_ESCAPED_3 = re.compile('["\\\\\x00-\x1f\ud800-\udfff]')
_SURROGATE = re.compile("[\ud800-\udfff]")
#: The number of characters that are escaped at once.
_SLICE = 10_000
#: An escape with more than one spelling, or a character beyond U+FFFF.
_ESCAPES = re.compile(rb"\\[u/]")
_MINUS_ZERO = re.compile(rb"-0(?![.0-9eE])")
_BEYOND = re.compile(b"[\xf0-\xf4]")
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def dumps(node: Any) -> bytes:
    """The JSON of a node. Raises Unencodable. O(size)."""
    return _dumps(node, _SCALARS)


def dumps_half_pairs(node: Any) -> bytes:
    """Like :func:`dumps`, for a Jackson that reads a name with half of a surrogate pair."""
    return _dumps(node, _SCALARS_HALF_PAIRS)


def dumps_3(node: Any) -> bytes:
    """The JSON of a node as Jackson 3 writes it. Raises Unencodable. O(size)."""
    return _dumps(node, _SCALARS_3)


def _dumps(node: Any, scalars: _Scalars) -> bytes:
    scalar = scalars.get(type(node))
    if scalar is not None:
        return scalar(node).encode()
    out: list[str] = []
    _write(node, out, scalars)
    return "".join(out).encode()


def loads(data: bytes) -> Any:
    """The node of a JSON text. Raises Malformed, with the exact offset for faults of syntax. O(size)."""
    try:
        return _parse(str(data, "utf-8"))
    except json.JSONDecodeError as error:
        raise Malformed(f"the bytes are not JSON: {error.msg}", len(error.doc[: error.pos].encode())) from error
    except UnicodeDecodeError as error:
        raise Malformed(f"the bytes are not UTF-8: {error.reason}", error.start) from error
    except RecursionError as error:
        raise Malformed(TOO_DEEP) from error
    except ValueError as error:  # Python's own limit on the digits of an int
        raise Malformed(f"a number that cannot be read: {error}") from error


def doubt(data: bytes) -> Doubt | None:
    """Why this JSON may be written in another form: spaces, or what JSON writers escape in different ways. O(size).

    None if this depends only on its numbers and nodes.
    """
    if data.isdigit():
        return None
    if _may_be_spaced(data):
        return Doubt.SPACES
    if b"-0" in data and _MINUS_ZERO.search(data) is not None:
        return Doubt.MINUS_ZERO
    if (b"\\" in data and _ESCAPES.search(data) is not None) or (
        not data.isascii() and _BEYOND.search(data) is not None
    ):
        return Doubt.CHARACTER
    return None


def _may_be_spaced(data: bytes) -> bool:
    # A regular expression takes as long as reading the value. In a text, these characters are escaped, except for the
    # space.
    if b"\n" in data or b"\t" in data or b"\r" in data:
        return True
    if b" " not in data or data[:1] == data[-1:] == b'"':
        return False
    return (
        b", " in data
        or b": " in data
        or b"{ " in data
        or b"[ " in data
        or b" }" in data
        or b" ]" in data
        or b" ," in data
        or b" :" in data
        or data[:1] == b" "
        or data[-1:] == b" "
    )


def quoted(text: str) -> str:
    """``text`` as a JSON string in Jackson's spelling. O(length).

    Control characters and every UTF-16 surrogate become ``\\uXXXX`` with capital digits. So a character beyond U+FFFF
    becomes two escapes, and a lone surrogate is kept. Anything else is unchanged.
    """
    if _ESCAPED.search(text) is None:
        return f'"{text}"'
    return f'"{substituted(_ESCAPED, _escape, text)}"'


def quoted_3(text: str) -> str:
    """``text`` as a JSON string in Jackson 3's spelling, which escapes only lone surrogates."""
    if _ESCAPED_3.search(text) is None:
        return f'"{text}"'
    return f'"{substituted(_ESCAPED_3, _escape, _paired(text))}"'


def has_half_pair(text: str) -> bool:
    """Whether the text has a lone surrogate. O(length)."""
    return _SURROGATE.search(text) is not None and _SURROGATE.search(_paired(text)) is not None


def _paired(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def substituted(pattern: re.Pattern[str], make: Callable[[re.Match[str]], str], text: str) -> str:
    """``pattern.sub`` for a pattern of single characters. O(length).

    Each replaced part takes far more memory than its characters, so a long text is processed in slices.
    """
    slices = (text[start : start + _SLICE] for start in range(0, len(text), _SLICE))
    return "".join([pattern.sub(make, one) for one in slices])


def digits(value: int) -> str:
    """A whole number of any size. Raises Unencodable beyond 1,000 digits. O(digits ** 2)."""
    if value.bit_length() <= _MAX_NUMBER_BITS:
        try:
            text = int.__repr__(value)
        except ValueError as error:
            raise Unencodable("a number of more digits than this Python converts") from error
        if len(text) - (value < 0) <= MAX_NUMBER_DIGITS:
            return text
    raise Unencodable(_TOO_LONG)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 | code >> 10:04X}\\u{0xDC00 | code & 0x3FF:04X}"
    return _SHORT.get(char) or f"\\u{code:04X}"


def _parts(value: Decimal) -> tuple[int, int]:
    """The number of a BigDecimal's digits, and its exponent."""
    _sign, coefficient, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise Unencodable(f"a BigDecimal cannot hold {shorten(str(value), 80)}")
    return len(coefficient), exponent


def _decimal_3(value: Decimal) -> str:
    """``BigDecimal.toString``."""
    _, exponent = _parts(value)
    if abs(exponent) > INT_MAX:
        raise Unencodable("a BigDecimal whose scale takes more than 32 bits")
    text = str(value if value else value.copy_abs()).upper()
    if sum(map(str.isdigit, text)) > MAX_NUMBER_DIGITS:
        raise Unencodable(_TOO_LONG)
    return text


def _plain_decimal(value: Decimal) -> str:
    count, exponent = _parts(value)
    power = exponent
    if not value:  # Java has no -0, and writes 0E+3 as 0
        power = min(exponent, 0)
        value = Decimal((0, (0,), power))
    if (count + power if power > 0 else max(count, 1 - power)) > MAX_NUMBER_DIGITS:
        raise Unencodable(_TOO_LONG)
    return format(value, "f")


def _float_or_name(text: Callable[[float], str]) -> Callable[[float], str]:
    return lambda value: text(value) if value - value == 0 else f'"{text(value)}"'


class _Name(str):
    """The type of a property's name among the types of nodes."""


def _whole_name(quoted: Callable[[str], str]) -> Callable[[str], str]:
    def write(name: str) -> str:
        if has_half_pair(name):
            raise Unencodable(
                "a key with half of a surrogate pair, which Jackson 2.21 does not read in a name. For a Redisson "
                'before 4.3 give JsonJacksonCodec redisson="4.2"'
            )
        return quoted(name)

    return write


_Scalars = Mapping[type, Callable[[Any], str]]
_SCALARS: _Scalars = {
    str: quoted,
    int: digits,
    float: _float_or_name(double_text),
    bool: lambda value: "true" if value else "false",
    type(None): lambda _value: "null",
    Decimal: _plain_decimal,
    bytes: lambda value: f'"{base64.b64encode(value).decode()}"',
    Byte: int.__repr__,
    Short: int.__repr__,
    Long: int.__repr__,
    BigInteger: digits,
    Float: _float_or_name(float_text),
    _Name: _whole_name(quoted),
}
_SCALARS_HALF_PAIRS: _Scalars = {**_SCALARS, _Name: quoted}
_SCALARS_3: _Scalars = {**_SCALARS, str: quoted_3, _Name: _whole_name(quoted_3), Decimal: _decimal_3}


def _write(node: Any, out: list[str], scalars: _Scalars) -> None:
    kind = type(node)
    scalar = scalars.get(kind)
    if scalar is not None:
        out.append(scalar(node))
    elif kind is list:
        _write_array(node, out, scalars)
    elif kind is Object:
        _write_object(node, out, "{", scalars)
    elif type(node.content) is Object:
        out.append(f'{{"{CLASS}":{scalars[str](node.name)}')
        _write_object(node.content, out, ",", scalars)
    else:
        out.append(f"[{scalars[str](node.name)},")
        _write(node.content, out, scalars)
        out.append("]")


def _write_array(node: list[Any], out: list[str], scalars: _Scalars) -> None:
    separator = "["
    index = 0
    try:
        for index in range(len(node)):
            out.append(separator)
            _write(node[index], out, scalars)
            separator = ","
    except Unencodable as error:
        error.inside(index)
        raise
    except Exception as error:
        raise unwritable(error, index) from error
    out.append("]" if node else "[]")


def _write_object(node: Object, out: list[str], separator: str, scalars: _Scalars) -> None:
    name = ""
    try:
        for name, item in node:
            out.append(f"{separator}{scalars[_Name](name)}:")
            _write(item, out, scalars)
            separator = ","
    except Unencodable as error:
        error.inside(name)
        raise
    except Exception as error:
        raise unwritable(error, name) from error
    out.append("{}" if separator == "{" else "}")


def _no_number(text: str) -> Any:
    raise Malformed(f"{text} is not a JSON number", near=text)


_parse = json.JSONDecoder(object_pairs_hook=Object, parse_float=Number, parse_constant=_no_number).decode
