"""Limits of Java's own types: classes that no codec here reads, and contents that a collection cannot have."""

from __future__ import annotations

from typing import Any

from redisson_dq.codecs.faults import Unencodable, shorten
from redisson_dq.java.collections import Entries
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.facts import INSTEAD, NO_NULL_VALUES, NO_NULLS
from redisson_dq.java.fields import attributes_of
from redisson_dq.java.numbers import Double, Float
from redisson_dq.java.sets import OrderedSet

__all__ = ["check_contents", "check_fields", "unread"]

_FLOATS = frozenset((float, Double, Float))


def unread(name: str) -> str:
    """The message for a class of the JDK that no codec here reads."""
    instead = INSTEAD.get(name)
    return f"Java class {shorten(name, 200)} cannot be read{f': {instead}' if instead else ''}"


def check_fields(value: Any, declaration: Declaration) -> None:
    """Refuse an object of a collection's subclass whose own fields are set. Neither Java's codec nor this one writes
    them.
    """
    if not declaration.fields and declaration.superclass is None:
        return
    defaults = {one.name: one.default for one in attributes_of(declaration.python)}
    for field in declaration.all_fields:
        default = defaults[field.attribute]
        if getattr(value, field.attribute, None) != (None if default is None else default()):
            raise Unencodable(
                f"{declaration.name}.{field.name} is not written: of a collection this codec has nothing but the "
                "elements, in Java as well. Send a class that has the collection in a field"
            )


def check_contents(value: Any, java_name: str) -> None:
    """Refuse contents that the collection cannot have in Java.

    Some collections allow no null: reading one fails, or drops the elements after it. Two NaN are one element or key in
    Java, but may be two in Python.
    """
    if java_name in INSTEAD:
        raise Unencodable(f"a {java_name} is not written: {INSTEAD[java_name]}")
    if isinstance(value, (dict, set, frozenset, OrderedSet)) and not _FLOATS.isdisjoint(map(type, value)):
        kinds = [isinstance(item, Float) for item in value if isinstance(item, float) and item != item]
        if len(kinds) > len({*kinds}) and java_name != "java.util.IdentityHashMap":
            raise Unencodable(f"a {java_name} with more than one NaN, which Java takes for one")
    if java_name not in NO_NULLS:
        return
    pairs = value.items() if isinstance(value, dict) else value if isinstance(value, Entries) else None
    with_values = java_name in NO_NULL_VALUES
    found = (
        any(item is None for item in value)
        if pairs is None
        else any(key is None or (item is None and with_values) for key, item in pairs)
    )
    if found:
        raise Unencodable(f"a {java_name} holds no null")
