"""Reading Redisson's JSON: the standard library parses it, this module gives the parsed tree its types.

Nothing is looked up by name but the tables below; a class that is not in them is refused, and named.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from redisson_dq import java
from redisson_dq.codecs import classes
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed, shorten
from redisson_dq.errors import ArgumentError
from redisson_dq.java import numbers

__all__ = ["value_of"]


class _Decimal(str):
    """A JSON number with a point or an exponent, as it was written."""

    __slots__ = ()


def _no_number(text: str) -> Any:
    raise Malformed(f"{text} is no JSON number", near=text)


# An array comes as a list and an object as a tuple of its pairs.
_parse = json.JSONDecoder(object_pairs_hook=tuple, parse_float=_Decimal, parse_constant=_no_number).decode

_NON_FINITE = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}


def value_of(text: str) -> Any:
    """The value of a JSON text. Raises Malformed; ValueError and RecursionError from the parser. O(size)."""
    return _value(_parse(text), 1)


def _value(node: Any, depth: int) -> Any:
    kind = type(node)
    if kind is list:
        return _typed_value(node, depth)
    if kind is tuple:
        return _map(node, depth)
    return float(node) if kind is _Decimal else node


def _typed_value(node: list[Any], depth: int) -> Any:
    if len(node) != 2 or type(node[0]) is not str:
        raise Malformed("an array without the name of its Java type (Java could not read it either)")
    name, content = node
    scalar = _SCALARS.get(name)
    if scalar is not None:
        value = scalar(content)
        if value is None:
            raise Malformed(f"a value that is no {name}", near=name)
        return value
    make = _COLLECTIONS.get(name)
    if make is None:
        raise Malformed(f"Java class {shorten(name, 200)} cannot be read", near=name)
    if type(content) is not list:
        raise Malformed(f"a value that is no {name}", near=name)
    if depth > MAX_DEPTH:
        raise Malformed(TOO_DEEP)
    values: list[Any] = []
    try:
        for item in content:
            values.append(_value(item, depth + 1))
    except Malformed as exc:
        exc.inside(len(values))
        raise
    return values if make is list else make(values)


def _map(pairs: tuple[tuple[str, Any], ...], depth: int) -> dict[str, Any]:
    if depth > MAX_DEPTH:
        raise Malformed(TOO_DEEP)
    values: dict[str, Any] = {}
    name: Any = None
    key = ""
    try:
        for key, node in pairs:
            if name is None and key == "@class":
                name = node
            else:
                values[key] = _value(node, depth + 1)
    except Malformed as exc:
        exc.inside(key)
        raise
    if type(name) is not str:
        raise Malformed("an object without @class (Java could not read it either)")
    if name not in _MAPS:
        raise Malformed(f"Java class {shorten(name, 200)} cannot be read", near=name)
    return values


def _whole(least: int, most: int, make: Callable[[int], int]) -> Callable[[Any], int | None]:
    return lambda node: make(node) if type(node) is int and least <= node <= most else None


def _double(node: Any) -> float | None:
    if type(node) is str:
        return float(_NON_FINITE[node]) if node in _NON_FINITE else None
    try:
        return float(node) if type(node) in (int, _Decimal) else None
    except OverflowError:
        return float("inf" if node > 0 else "-inf")


def _float(node: Any) -> float | None:
    number = _double(node)
    if number is None:
        return None
    try:
        return java.Float(number)
    except ArgumentError:
        return java.Float(float("-inf" if number < 0 else "inf"))


def _big_decimal(node: Any) -> Decimal | None:
    if type(node) not in (int, _Decimal):
        return None
    try:
        value = Decimal(node)
    except InvalidOperation:
        return None
    _sign, _digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or not numbers.INT_MIN <= -exponent <= numbers.INT_MAX:
        return None
    return value if value else value.copy_abs()


def _byte_array(node: Any) -> bytes | None:
    try:
        return base64.b64decode(node, validate=True) if type(node) is str else None
    except ValueError:
        return None


#: By Java name: what makes a value of the JSON that follows the name; None for the wrong kind of JSON.
_SCALARS: dict[str, Callable[[Any], Any]] = {
    "java.lang.Boolean": lambda node: node if type(node) is bool else None,
    "java.lang.Byte": _whole(-128, 127, java.Byte),
    "java.lang.Short": _whole(-32768, 32767, java.Short),
    "java.lang.Integer": _whole(numbers.INT_MIN, numbers.INT_MAX, int),
    "java.lang.Long": _whole(numbers.LONG_MIN, numbers.LONG_MAX, numbers.decoded_long),
    "java.math.BigInteger": lambda node: numbers.decoded_big_integer(node) if type(node) is int else None,
    "java.math.BigDecimal": _big_decimal,
    "java.lang.Float": _float,
    "java.lang.Double": _double,
    "java.lang.String": lambda node: node if type(node) is str else None,
    "java.lang.Character": lambda node: (
        java.Character(node) if type(node) is str and len(node) == 1 and node <= "\uffff" else None
    ),
    "[B": _byte_array,
}

_COLLECTIONS: dict[str, Callable[[list[Any]], Any]] = {
    **dict.fromkeys((*classes.LISTS, *classes.IMMUTABLE_LISTS, *classes.SMALL_LISTS), list),
    **dict.fromkeys((*classes.SETS, *classes.IMMUTABLE_SETS, *classes.SMALL_SETS), classes.to_set),
    **dict.fromkeys(classes.SORTED_SETS, classes.to_set),
}
_MAPS = frozenset((*classes.MAPS, *classes.IMMUTABLE_MAPS, *classes.SORTED_MAPS, *classes.SMALL_MAPS))
