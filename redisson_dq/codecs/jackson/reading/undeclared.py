"""Objects of undeclared classes. ``unknown="generic"`` keeps their content, and writes it again."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.floats import double_text
from redisson_dq.codecs.jackson.node import Number, Object, Typed
from redisson_dq.codecs.jackson.reading.containers import entries, items
from redisson_dq.codecs.jackson.reading.doubts import Doubt
from redisson_dq.codecs.jackson.reading.protocol import NodeReaderProtocol
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from redisson_dq.java.signatures import OBJECT, Signature

__all__ = ["java_object", "names_a_class"]

_DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+")
#: Matches the beginning of an array's class name, or of a class name with a package.
_CLASS_NAME = re.compile(r"\[|[^\W\d][\w$]*\.[^\W\d]")


def names_a_class(text: str) -> bool:
    """Whether a text looks like the name of a class. The first of two texts in an array may be one."""
    return _CLASS_NAME.match(text) is not None


def java_object(reader: NodeReaderProtocol, name: str, node: Any, depth: int) -> java.JavaObject:
    """The object of a class that is not declared; ``name`` is empty if its class is not named."""
    reader.doubts.note(Doubt.UNDECLARED)
    return java.JavaObject(name, _content(reader, node, depth))


def _content(reader: NodeReaderProtocol, node: Any, depth: int) -> Any:
    if type(node) is list:
        return items(reader, node, OBJECT, depth, _part)
    if type(node) is Object:
        return dict(entries(reader, node, OBJECT, OBJECT, depth, _part))
    return reader.number(node)


def _part(reader: NodeReaderProtocol, node: Any, declared: Signature, depth: int) -> Any:
    value = reader.read(node, declared, depth)
    if type(node) in (list, Object, Typed):
        if type(value) is not int or INT_MIN <= value <= INT_MAX:
            return value
        # An int beyond 32 bits could also be a bare number. The wrapper shows that it had a class name.
        return java.Long(value) if LONG_MIN <= value <= LONG_MAX else java.BigInteger(value)
    if type(node) is Number and _DECIMAL.fullmatch(node) and double_text(value) != node:
        value = Decimal(node)
    is_natural = type(value) in (str, bool, int, type(None)) or (type(value) is float and value - value == 0)
    return value if is_natural else java.JavaObject("", value)
