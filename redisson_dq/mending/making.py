"""Makes the values of a codec from JSON, and finds how a queue's values are written."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from redisson_dq.errors import ArgumentError

if TYPE_CHECKING:
    from redisson_dq import Client
    from redisson_dq.browsing import SeenIn

__all__ = ["codec_of", "envelope_of", "made_value"]

# How many items say how the others are written.
_LOOKED = 20
_KRYO = "Kryo5Codec"
_CLEAR = frozenset((_KRYO, "JsonJacksonCodec", "SerializationCodec", "StringCodec"))


def made_value(parsed: Any, java_class: str | None) -> Any:
    """A value of JSON, or an object of the Java class with its fields.

    A mapping with ``@class`` is an object of that class anywhere. Raises ArgumentError for a class that nobody has
    declared, and for fields that it does not have.
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
    # Java's names and Python's are both taken.
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
    """The envelope of the first items that wait: ``legacy`` where they have no other one, else ``current``."""
    from redisson_dq.browsing import browse

    found = {row.envelope for row in browse(client, queue, partitions=partitions, limit=_LOOKED, head=0).rows}
    return "legacy" if "legacy" in found and not found & {"current", "lean", "lease"} else "current"


def codec_of(client: Client, queue: str, partitions: int | None, *, help: str = "say --codec NAME") -> str:
    """Redisson's name of the codec that the first items have, and its default where there are none.

    Raises ArgumentError where the bytes do not say which one it is. ``help`` ends its text: how the caller names one.
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
