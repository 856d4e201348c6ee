"""Ion text as jackson-dataformat-ion writes it: pure ASCII, no spaces, the name of a class as an annotation.

    'java.util.LinkedHashMap'::{sku:"A-1",id:'java.lang.Long'::5,price:1.5e0,weight:'java.math.BigDecimal'::2.50}

A name that is no identifier is quoted with ``'``. A Double has an ``e``, and a Float is written as a Double. A
BigDecimal has a point or a ``d``. Bytes are base64 in ``{{ }}``. The reader only reads Jackson's own forms: no spaces,
comments, symbols, s-expressions, timestamps, long strings or binary Ion.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from redisson_dq.codecs.budget import COUNTED_FROM
from redisson_dq.codecs.faults import TOO_DEEP, Malformed, Unencodable, shorten, unwritable
from redisson_dq.codecs.floats import double_text
from redisson_dq.codecs.jackson.binary import deeper, depth_of, utf8
from redisson_dq.codecs.jackson.json import MAX_NUMBER_DIGITS, digits, substituted
from redisson_dq.codecs.jackson.node import Object, Typed
from redisson_dq.java.numbers import INT_MAX, BigInteger, Byte, Float, Long, Short

__all__ = ["dumps", "loads"]


def dumps(node: Any) -> bytes:
    """The text of a node. Raises Unencodable. O(size)."""
    out: list[str] = []
    _write(node, out)
    return "".join(out).encode("ascii")


def loads(data: bytes) -> Any:
    """The node of a text. Raises Malformed. O(size)."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Malformed(f"the bytes are not Ion text: {error.reason}", error.start) from error
    try:
        node, end = _read(text, 0, depth_of(text) if len(text) >= COUNTED_FROM else 0)
        if end != len(text):
            raise Malformed(f"{len(text) - end} characters too many after the value", end)
    except Malformed as error:
        if error.offset and not text.isascii():
            error.offset = len(text[: error.offset].encode())
        raise
    except RecursionError as error:
        raise Malformed(TOO_DEEP) from error
    return node


_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
#: Identifiers with another meaning: values and symbol numbers.
_RESERVED = re.compile(r"null|true|false|nan|\$[0-9]+")
_TO_ESCAPE = {'"': re.compile(r'["\\]|[^ -~]'), "'": re.compile(r"['\\]|[^ -~]")}
_SHORT = {"\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r"}
_SHORT |= {char: char for char in "\"'\\"}


def _quoted(text: str, quote: str) -> str:
    escaped = _TO_ESCAPE[quote]
    if escaped.search(text) is None:
        return quote + text + quote
    return quote + substituted(escaped, _escape, utf8(text).decode()) + quote


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if char in _SHORT:
        return "\\" + _SHORT[char]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _name(name: str) -> str:
    if _IDENTIFIER.fullmatch(name) and not _RESERVED.fullmatch(name):
        return name
    return _quoted(name, "'")


def _double(value: float) -> str:
    if value != value:
        return "nan"
    if value - value:
        return "+inf" if value > 0 else "-inf"
    text = double_text(value)
    return text.replace("E", "e") if "E" in text else text.removesuffix(".0") + "e0"


def _decimal(value: Decimal) -> str:
    sign, coefficient, exponent = value.as_tuple()
    if not isinstance(exponent, int) or abs(exponent) > INT_MAX:
        raise Unencodable(f"a BigDecimal cannot hold {shorten(str(value), 80)}")
    if len(coefficient) > MAX_NUMBER_DIGITS:
        raise Unencodable(f"a number of more than {MAX_NUMBER_DIGITS} digits")
    if not value:  # Java has no -0
        sign, value = 0, value.copy_abs()
    if exponent == 0:
        return format(value, "f") + "."
    if exponent < 0 and value.adjusted() >= -6:
        return format(value, "f")
    return f"{Decimal((sign, coefficient, 0)):f}d{exponent}"


_SCALARS: dict[type, Callable[[Any], str]] = {
    type(None): lambda _value: "null",
    bool: lambda value: "true" if value else "false",
    str: lambda value: _quoted(value, '"'),
    bytes: lambda value: "{{" + base64.b64encode(value).decode() + "}}",
    Decimal: _decimal,
    **dict.fromkeys((float, Float), _double),
    **dict.fromkeys((int, Byte, Short, Long, BigInteger), digits),
}


def _write(node: Any, out: list[str]) -> None:
    kind = type(node)
    scalar = _SCALARS.get(kind)
    if scalar is not None:
        out.append(scalar(node))
    elif kind is Typed:
        out.append(_name(node.name) + "::")
        _write(node.content, out)
    elif kind is list:
        _write_list(node, out)
    else:
        _write_struct(node, out)


def _write_list(node: list[Any], out: list[str]) -> None:
    separator = "["
    index = 0
    try:
        for index in range(len(node)):
            out.append(separator)
            _write(node[index], out)
            separator = ","
    except Unencodable as error:
        error.inside(index)
        raise
    except Exception as error:
        raise unwritable(error, index) from error
    out.append("]" if node else "[]")


def _write_struct(node: Object, out: list[str]) -> None:
    separator = "{"
    name = ""
    try:
        for name, item in node:
            out.append(f"{separator}{_name(name)}:")
            _write(item, out)
            separator = ","
    except Unencodable as error:
        error.inside(name)
        raise
    except Exception as error:
        raise unwritable(error, name) from error
    out.append("}" if node else "{}")


_TOKEN = re.compile(
    r"""
      (?P<number> -?(?:0|[1-9][0-9]*) (\.[0-9]*)? (?:([dDeE])([+-]?[0-9]{1,10}))? )
    | (?P<infinity> [+-]inf )
    | "(?P<text> [^"\\\x00-\x1f]* )"
    | '(?P<symbol> [^'\\\x00-\x1f]* )'
    | (?P<escaped> ["'] )
    | (?P<identifier> [A-Za-z_$][A-Za-z0-9_$]* )
    | \{\{(?P<blob> [A-Za-z0-9+/=]* )\}\}
    | (?P<list> \[ )
    | (?P<struct> \{ )
    """,
    re.VERBOSE,
)
_VALUES = {"null": None, "true": True, "false": False, "nan": float("nan")}
_ESCAPED = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_UNESCAPED = {letter: char for char, letter in _SHORT.items()}


#: The number of parts of a text that are kept before they are joined. A part takes far more memory than its characters.
_MOST_PARTS = 10_000
#: The characters that end a quoted text, or may not be in one.
_QUOTE = {'"': re.compile(r'["\x00-\x1f]'), "'": re.compile(r"['\x00-\x1f]")}


def _read(text: str, pos: int, depth: int) -> tuple[Any, int]:
    token = _token(text, pos)
    kind = token.lastgroup
    end = token.end()
    if kind == "number":
        return _read_number(token), end
    if kind == "text":
        return token["text"], end
    if kind == "escaped":
        content, end = _read_escaped(text, pos)
        if token[0] == '"':
            return content, end
        return _read_symbol(text, pos, content, end, depth)
    if kind == "blob":
        return _read_blob(token), end
    if kind == "infinity":
        return float(token[0]), end
    if kind == "symbol" or kind == "identifier":
        if token[0] in _VALUES and not text.startswith("::", end):
            return _VALUES[token[0]], end
        return _read_symbol(text, pos, token[kind], end, depth)
    depth = deeper(depth, pos)
    if kind == "list":
        items: list[Any] = []
        while text[end : end + 1] != "]":
            item, end = _read(text, _after_comma(text, end, items), depth)
            items.append(item)
        return items, end + 1
    pairs: list[tuple[str, Any]] = []
    while text[end : end + 1] != "}":
        start = _after_comma(text, end, pairs)
        token = _token(text, start)
        kind = token.lastgroup
        name, end = token[kind or 0], token.end()
        if name == "'":
            name, end = _read_escaped(text, start)
        elif kind != "symbol" and kind != "identifier":
            end = len(text)
        if not text.startswith(":", end):
            raise Malformed("no name of a property", start)
        item, end = _read(text, end + 1, depth)
        pairs.append((name, item))
    return Object(pairs), end + 1


def _read_symbol(text: str, pos: int, name: str, end: int, depth: int) -> tuple[Any, int]:
    """A name that annotates the value after it."""
    if not text.startswith("::", end):
        raise Malformed("a symbol, which Jackson does not write", pos)
    node, end = _read(text, end + 2, deeper(depth, pos))
    if type(node) is Typed:
        raise Malformed("two annotations of one value", pos)
    return Typed(name, node), end


def _token(text: str, pos: int) -> re.Match[str]:
    token = _TOKEN.match(text, pos)
    if token is None:
        raise Malformed("here begins nothing that Jackson writes", pos)
    return token


def _after_comma(text: str, pos: int, before: list[Any]) -> int:
    """The position of the next element. A comma precedes it unless it is the first."""
    if not before:
        return pos
    if text[pos : pos + 1] != ",":
        raise Malformed("no comma, and no end", pos)
    return pos + 1


def _read_number(token: re.Match[str]) -> int | float | Decimal:
    number, point, letter, exponent = token.group("number", 2, 3, 4)
    if letter is None and point is None:
        try:
            return int(number)
        except ValueError as error:
            raise Malformed("a number of more digits than this Python converts", token.start()) from error
    if letter in ("e", "E"):
        return float(number)
    if exponent is not None and abs(int(exponent)) > INT_MAX:
        raise Malformed("a BigDecimal whose exponent takes more than 32 bits", token.start())
    value = Decimal(number.replace("d", "E").replace("D", "E"))
    return value if value else value.copy_abs()


def _read_blob(token: re.Match[str]) -> bytes:
    try:
        return base64.b64decode(token["blob"], validate=True)
    except binascii.Error as error:
        raise Malformed(f"no base64: {error}", token.start()) from error


def _read_escaped(text: str, pos: int) -> tuple[str, int]:
    """A quoted text with escapes. A single regular expression would remember each escape. O(size)."""
    end = pos
    while True:
        found = _QUOTE[text[pos]].search(text, end + 1)
        if found is None or found[0] != text[pos]:
            raise Malformed("here begins nothing that Jackson writes", pos)
        end = found.start()
        before = end
        while text[before - 1] == "\\":
            before -= 1
        if (end - before) % 2 == 0:
            break
    joined: list[str] = []
    parts: list[str] = []
    start = pos + 1
    for escape in _ESCAPED.finditer(text, start, end):
        parts += (text[start : escape.start()], _char(escape, pos))
        start = escape.end()
        if len(parts) > _MOST_PARTS:
            joined.append("".join(parts))
            parts.clear()
    return "".join((*joined, *parts, text[start:end])), end + 1


def _char(match: re.Match[str], pos: int) -> str:
    letter = match[4]
    if letter is not None:
        char = _UNESCAPED.get(letter)
    else:
        code = int(match[match.lastindex or 0], 16)
        char = chr(code) if code < 0xD800 or 0xDFFF < code < 0x110000 else None
    if char is None:
        raise Malformed(f"{match[0]} in a text", pos)
    return char
