"""The names of a map's entries."""

from __future__ import annotations

from enum import Enum
from typing import Any, cast
from uuid import UUID

from redisson_dq import java
from redisson_dq.codecs.faults import Unencodable, type_name
from redisson_dq.codecs.floats import double_text, float_text
from redisson_dq.codecs.jackson.node import IntegerName
from redisson_dq.codecs.jackson.writing.protocol import NodeWriterProtocol
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.places import place_of
from redisson_dq.java.registry import declaration_for
from redisson_dq.java.signatures import OBJECT, Signature

__all__ = ["declared_enum", "key_of", "placed"]

#: CBOR writes these keys as the numbers they are.
_INTEGER_NAMES = frozenset(("java.lang.Integer", "java.lang.Long"))


def key_of(writer: NodeWriterProtocol, key: Any, declared: Signature, named: bool) -> str:
    """The name of an entry. ``named``: the declaration of the map says that it has such keys."""
    if declared is not OBJECT:
        key = placed(key, declared)
    if isinstance(key, str) and not isinstance(key, Enum):
        return str.__str__(key)
    if named:
        if isinstance(key, Enum):
            text = writer.dialect.keys.get(type(key))
            if text is not None:
                return str(text(key)[1])
            member = writer.member(declared_enum(type(key)), key)
            return IntegerName(member) if isinstance(member, int) else member
        if isinstance(key, bool):
            return "true" if key else "false"
        if isinstance(key, int):
            digits = int.__repr__(key)
            return IntegerName(digits) if declared.name in _INTEGER_NAMES else digits
        if isinstance(key, float):
            return float_text(key) if isinstance(key, java.Float) else double_text(key)
        if isinstance(key, UUID):
            return str(key)
        time = writer.dialect.keys.get(type(key))
        if time is not None:
            return cast(str, time(key)[1])
    raise Unencodable(f"a key of type {type_name(key)}: keys are str, Java reads back nothing else")


def placed(value: Any, declared: Signature) -> Any:
    """The value as one of the type ``declared``. Its parts are checked when they are written. Raises Misfit."""
    place = place_of(declared)
    return value if place is None or type(value) in place.exact else place.shallow(value)


def declared_enum(element: type) -> Declaration:
    declaration = declaration_for(element)
    if declaration is None:
        raise Unencodable(f"{element.__qualname__} is not declared: give it its Java name with java_class")
    return declaration
