"""Builds a codec's values from JSON, and detects how a queue's values are written."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from redisson_dq.errors import ArgumentError

if TYPE_CHECKING:
    from redisson_dq import Client
    from redisson_dq.browsing import SeenIn

__all__ = ["codec_of", "envelope_of", "made_value"]

# How many items are read to detect how the others are written.
_LOOKED = 20
_KRYO = "Kryo5Codec"
_CLEAR = frozenset((_KRYO, "JsonJacksonCodec", "SerializationCodec", "StringCodec"))


def made_value(parsed: Any, java_class: str | None) -> Any:
    """A JSON value, or an object of the Java class with these fields.

    A mapping with ``@class`` becomes an object of that class, at any depth. Raises ArgumentError for an undeclared
    class, and for fields that the class does not have.
    """
    if isinstance(parsed, list):
        return [made_value(each, None) for each in parsed]
    if not isinstance(parsed, dict):
        if java_class is not None:
            raise ArgumentError(f"an object of {java_class} is made of a JSON object, not of {parsed!r}")
        return parsed
    name = java_class or parsed.get("@class")
    fields = {key: made_value(each, None) for key, each in parsed.items() if key != "@class"}
    return fields if name is None else _made_object(str(name), fields)


def _made_object(name: str, fields: dict[str, Any]) -> Any:
    from redisson_dq.java.registry import declaration_of

    declared = declaration_of(name)
    if declared is None:
        raise ArgumentError(f"nobody has declared {name}: --classes FILE names a Python file that does")
    if declared.kind == "enum":
        raise ArgumentError(f"{name} is an enum, which has no fields")
    parameters = inspect.signature(declared.python).parameters
    # Both Java's and Python's names are accepted.
    given = {_attribute(declared, key, parameters): each for key, each in fields.items()}
    try:
        return declared.python(**given)
    except TypeError as error:
        raise ArgumentError(f"an object of {name} cannot be made: {error}") from None


def _attribute(declared: Any, key: str, parameters: Any) -> str:
    if key in parameters:
        return key
    return next((each for each in parameters if declared._java_name(each) == key), key)


def envelope_of(client: Client, queue: str, partitions: int | None) -> str:
    """The envelope of the first waiting items: ``legacy`` if all of them have it, otherwise ``current``."""
    from redisson_dq.browsing import browse

    found = {row.envelope for row in browse(client, queue, partitions=partitions, limit=_LOOKED, head=0).rows}
    return "legacy" if "legacy" in found and not found & {"current", "lean", "lease"} else "current"


def codec_of(client: Client, queue: str, partitions: int | None, *, help: str = "say --codec NAME") -> str:
    """Redisson's name of the codec of the first items, or of Redisson's default codec if there are none.

    Raises ArgumentError if the bytes do not determine the codec. Its text ends with ``help``, which says how to name
    one.
    """
    from redisson_dq.browsing import browse, recognise

    states: tuple[SeenIn, ...] = ("waiting", "ready")
    for state in states:
        rows = browse(client, queue, state, partitions=partitions, limit=_LOOKED, head=1 << 16).rows
        names = {found[0].codec for row in rows if (found := recognise(row.data, is_whole=row.is_whole))}
        if len(names) == 1 and names <= _CLEAR:
            return names.pop()
        if rows:
            alike = ", ".join(sorted(names)) or "no known codec"
            raise ArgumentError(f"the values of {queue} look like those of {alike}: {help}")
    return _KRYO
