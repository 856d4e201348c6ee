"""Numbers that Java writes as texts: ``@JsonSerialize(using = ToStringSerializer.class)`` on an id."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any

import attrs

from redisson_dq.codecs.decimals import MAX_DECIMAL_DIGITS, unscaled_and_scale
from redisson_dq.errors import ArgumentError
from redisson_dq.java.arrays import component_of
from redisson_dq.java.signatures import Signature, array_signature

__all__ = ["NUMBERS", "as_text", "natural_number", "node_of_text", "text_of"]

_DECIMAL = "java.math.BigDecimal"
#: The classes that can be written so.
NUMBERS = frozenset(
    (
        *("byte", "short", "int", "long", _DECIMAL, "java.math.BigInteger"),
        *(f"java.lang.{name}" for name in ("Byte", "Short", "Integer", "Long")),
    )
)
_WITH_POINT = re.compile(r"[+-]?[0-9]{1,1000}(?:\.[0-9]{0,1000})?(?:[eE][+-]?[0-9]{1,9})?")
_WHOLE = re.compile(r"[ \t\r\n]*([+-]?[0-9]{1,1000})[ \t\r\n]*")


def as_text(declared: Signature, where: str) -> Signature:
    """The type with its numbers written as texts: the type itself, or its elements or values.

    Raises ArgumentError for a type of other values.
    """
    if declared.component is not None or declared.name.startswith("["):
        component = declared.component or Signature(component_of(declared.name))
        return array_signature(as_text(component, where))
    if declared.arguments:
        *before, last = declared.arguments
        return attrs.evolve(declared, arguments=(*before, as_text(last, where)))
    if declared.name not in NUMBERS:
        raise ArgumentError(f"{where}: as_text= is for whole numbers and BigDecimals, not for a {declared.name}")
    return attrs.evolve(declared, as_text=True)


def text_of(value: Any) -> str:
    """The text of a number, by Java's toString(). Raises Unencodable."""
    if isinstance(value, Decimal):
        unscaled_and_scale(value)  # raises for values that a BigDecimal cannot hold
        return str(value if value else value.copy_abs())
    return int.__repr__(value)


def natural_number(text: str) -> Any:
    """The number in a text whose declared type is Number. The text itself if it is not a number."""
    found = _WHOLE.fullmatch(text)
    if found is not None:
        return int(found[1])
    return float(text) if _WITH_POINT.fullmatch(text) is not None else text


def node_of_text(text: str, name: str) -> Any:
    """The number in a text, as if it had no quotes. The text itself if it is not a number."""
    if name != _DECIMAL:
        found = _WHOLE.fullmatch(text)
        return text if found is None else int(found[1])
    try:
        return Decimal(text) if len(text) <= MAX_DECIMAL_DIGITS else text
    except InvalidOperation:
        return text
