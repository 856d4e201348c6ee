"""The tree between Java values and a format's bytes, as Jackson's generators get it and its parsers give it.

=====================  ========================================  ==============================================
node                   written as                                read from
=====================  ========================================  ==============================================
None, bool, str        null, a boolean, a text                   the same
bytes                  binary (JSON: base64)                     a format's own binary
int                    an Integer; beyond 32 bits a Long,        any whole number
                       beyond 64 bits a BigInteger
java.Byte, Short,      that type, where the format tells them    never
Long, BigInteger       apart
float, java.Float      a Double, a Float                         a float or a java.Float, if the format tells them
                                                                 apart, else float
Decimal                a BigDecimal                              a format's own decimal
Number                 never                                     a number as text with a point or an exponent
list                   an array                                  an array
Object                 an object: pairs of name (str or          an object, all names str; a name may occur
                       IntegerName) and node                       twice
Typed                  a value after the name of its class       a format's own type ids (Ion)
=====================  ========================================  ==============================================

Formats choose by a node's exact type (``type(node) is list``).
"""

from __future__ import annotations

from typing import Any

import attrs

from redisson_dq.codecs.faults import MAX_DEPTH
from redisson_dq.codecs.jackson.refusals import wrong

__all__ = [
    "CLASS",
    "MAX_NODE_DEPTH",
    "Number",
    "Object",
    "Typed",
    "IntegerName",
    "array_node",
    "class_of",
    "object_node",
]

#: The limit for nested arrays and objects. A collection takes one array for its class and one for its elements. The
#: innermost element takes one for its class.
MAX_NODE_DEPTH = 2 * MAX_DEPTH + 1

#: The property that names the class of an object.
CLASS = "@class"


class Object(tuple[tuple[str, Any], ...]):
    """An object: its pairs of name and node, in order. It behaves like a tuple, except for ``type()``."""

    __slots__ = ()


class IntegerName(str):
    """The name of a Map's entry whose key is an Integer or a Long, in digits. CBOR writes the number."""

    __slots__ = ()


class Number(str):
    """A number with a point or an exponent, as it was written."""

    __slots__ = ()


@attrs.define
class Typed:
    """A value with the name of its class.

    A format without type ids of its own writes an Object as an object whose first property is ``@class``. It writes any
    other content as an array of the name and the content.
    """

    name: str
    content: Any


def array_node(name: str, node: Any) -> list[Any]:
    """The node, if it is an array. Raises Malformed otherwise, with the class of the value."""
    if type(node) is not list:
        raise wrong(name)
    return node


def object_node(name: str, node: Any) -> Object:
    """The node, if it is an object. Raises Malformed otherwise, with the class of the value."""
    if type(node) is not Object:
        raise wrong(name)
    return node


def class_of(node: Object) -> tuple[str | None, Object]:
    """The class that an object names in any of its properties, and the other properties."""
    for index, (key, name) in enumerate(node):
        if key == CLASS:
            return (name, Object(node[:index] + node[index + 1 :])) if type(name) is str else (None, node)
    return None, node
