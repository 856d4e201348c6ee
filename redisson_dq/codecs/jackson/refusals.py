"""The faults of nodes that have no value."""

from __future__ import annotations

from typing import Any

from redisson_dq.codecs.faults import Malformed, shorten, undeclared
from redisson_dq.codecs.jackson.text_numbers import NUMBERS, node_of_text
from redisson_dq.codecs.java_limits import unread
from redisson_dq.java.date_patterns import COMMON, DatePattern
from redisson_dq.java.signatures import OBJECT, Signature

__all__ = ["no_name", "other_typing", "unknown", "wrong", "wrong_time"]


def no_name(what: str, declared: Signature, is_own: bool) -> str:
    """The message for a value whose class is unknown. ``is_own``: it is in a field of an exception's own class."""
    if is_own:
        return f"{what}: the type of that field of an exception is not known here. unknown='generic' keeps the value"
    if declared is OBJECT:
        return f"{what} (Java could not read it either)"
    return (
        f"{what} where {shorten(declared.name, 200)} is declared: Java could not read it either, or the declarations "
        "lack type arguments that Java has (redisson-dq generate-classes prints them)"
    )


def wrong_time(name: str, text: str, pattern: DatePattern | None) -> Malformed:
    """The fault of a text that is not a date or time in the pattern of its place."""
    near = shorten(text, 40)
    message = f"a value that is not a {name}: {near!r}"
    if pattern is not None:
        return Malformed(f"{message} in the pattern {pattern.text!r}", near=name, stale=False)
    seen = next((one for one in COMMON if DatePattern(one).fits(text, name)), "")
    fitting = f", as {seen!r}" if seen else ""
    advice = f"give a pattern{fitting}, if Java has one: of its mapper by patterns= of the codec, of @JsonFormat by "
    return Malformed(f"{message}; {advice}json=java.Json(patterns=...) of the class", near=name, stale=False)


def wrong(name: str, node: Any = None) -> Malformed:
    """The fault of a node that does not have the form of a value of this class."""
    if name in NUMBERS and type(node) is str and type(node_of_text(node, name)) is not str:
        advice = (
            "if Java writes it so, by ToStringSerializer: json=java.Json(as_text=...) of the class, or as_text= of the "
            "codec where Java's mapper has it"
        )
        return Malformed(f"a text, {shorten(node, 40)!r}, that is not a {name}; {advice}", near=name, stale=False)
    return Malformed(f"a value that is not a {name}", near=name)


def unknown(name: str) -> Malformed:
    """The fault of a class that is not declared."""
    if name.startswith(("java.", "[")):
        return Malformed(unread(name), near=name, stale=False)
    return undeclared(name, near=name)


def other_typing(name: str, *, wrapped: bool) -> Malformed:
    """The fault of an object that names its class ``name`` in another form than this codec writes.

    ``wrapped``: the name is in an array before it. Otherwise it is the first property.
    """
    form, typing = (
        (f'["{name}",{{..}}]', 'TypedJsonJacksonCodec(object, typing="wrapper_array")')
        if wrapped
        else (f'{{"@class":"{name}",..}}', 'JsonJacksonCodec() or TypedJsonJacksonCodec(object, typing="property")')
    )
    message = f"{form}, which this codec would not write again: the default typing of Java's mapper is that of {typing}"
    return Malformed(message, near=name, stale=False)
