"""The wrappers that Collections.unmodifiable..., synchronized... and checked... put around a collection."""

from __future__ import annotations

from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.serialization.handler import ClassHandler, field, put
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import ClassObject, Content, Instance
from redisson_dq.errors import ArgumentError
from redisson_dq.java.views import view_of

__all__ = ["NAMES", "RANDOM_ACCESS", "HANDLERS"]

_HELPERS = "java.util.Collections$"
_KINDS = ("Collection", "List", "Set", "SortedSet", "NavigableSet", "Map", "SortedMap", "NavigableMap")
#: In the stream, the wrapper of a random access list has the class of a wrapper for any list. Java's readResolve
#: restores the original class.
_LIST, _RANDOM_ACCESS = "List", "RandomAccessList"
#: The fields with the class that a checked wrapper accepts.
_TYPES = ("keyType", "valueType", "type")
_MUTEX = "mutex"


def _read(node: Instance, decoder: DecoderProtocol) -> Any:
    name = node.desc.name
    fields = _field_names(node)
    types = tuple(field(node, each, ClassObject).desc.name for each in _TYPES if each in fields)
    inner = decoder.copied(field(node, "m" if "m" in fields else "c", Instance))
    if not types and name.endswith(_LIST) and _has_random_access(inner):
        name = name[: -len(_LIST)] + _RANDOM_ACCESS
    try:
        made = view_of(name, inner, types)
    except ArgumentError as error:
        raise Malformed(f"a wrapper around another collection than it can be around: {error}", node.offset) from error
    made.source = inner
    return made


def _field_names(node: Instance) -> set[str]:
    return {name for section in node.sections.values() for name in section.values}


def _has_random_access(inner: Any) -> bool:
    if isinstance(inner, java.ListView):
        return inner.java_name.endswith(_RANDOM_ACCESS)
    return isinstance(inner, list) and not isinstance(inner, (java.LinkedList, java.Elements, java.Entries))


def _write(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    types = dict(zip(("keyType", "valueType") if len(value.types) == 2 else ("type",), value.types, strict=False))
    inner = encoder.content(value.wrapped)
    values: dict[str, Content] = {}
    for desc in node.desc.lineage:
        for name, _ in desc.fields:
            if name == _MUTEX:
                values[name] = node
            elif name not in _TYPES:
                values[name] = inner
            elif name in types:
                values[name] = encoder.class_object(types[name])
            else:
                raise Unencodable(f"{value.java_name} without the class of what it lets in")
    values["zeroLengthElementArray"] = None  # made when it is needed
    put(node, values)


#: In the form of the stream.
_STREAM_NAMES = (
    *(f"{_HELPERS}{prefix}{kind}" for prefix in ("Unmodifiable", "Synchronized", "Checked") for kind in _KINDS),
    *(_HELPERS + name for name in ("CheckedQueue", "CheckedRandomAccessList")),
    # Collections.emptySortedSet() and emptySortedMap()
    *(_HELPERS + f"UnmodifiableNavigable{kind}$EmptyNavigable{kind}" for kind in ("Set", "Map")),
)
#: The wrappers of random access lists that have another class in the stream: both names.
RANDOM_ACCESS = {
    f"{_HELPERS}{prefix}{_RANDOM_ACCESS}": f"{_HELPERS}{prefix}{_LIST}" for prefix in ("Unmodifiable", "Synchronized")
}
#: The classes of all wrappers.
NAMES = (*_STREAM_NAMES, *RANDOM_ACCESS)

HANDLERS: tuple[ClassHandler, ...] = tuple(
    ClassHandler(name, _read, None, _write, identity=True) for name in _STREAM_NAMES
)
