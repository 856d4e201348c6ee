"""``ConcurrentHashMap.newKeySet()``: a map with a value for each key since Redisson 4.7, a collection before.

The new form is the map with its class, then the value that the set stores for each key, true. Redisson's serializer for
it is set too late for registered classes: with allowed classes, every Redisson writes the form of a collection, which
Java cannot read back. So that form is read here and not written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.kryo5.generics import Arguments
from redisson_dq.codecs.kryo5.protocols import ReaderProtocol, WriterProtocol
from redisson_dq.codecs.kryo5.wire import ascii_name, read_varint
from redisson_dq.java.collections import Entries, set_of
from redisson_dq.java.tables import in_order

__all__ = ["key_set_reader", "write_key_set"]

_Read = Callable[..., "tuple[Any, int]"]

_KIND = java.ConcurrentHashSet
_NAME: str = _KIND.java_name
_MAP: str = java.ConcurrentHashMap.java_name
_SPELLED = ascii_name(_MAP)


def key_set_reader(read_collection: _Read) -> _Read:
    """The reader of both forms. ``read_collection`` reads the older one."""

    def read(data: bytes, pos: int, reader: ReaderProtocol, arguments: Arguments = ()) -> tuple[Any, int]:
        as_map = _begins_with_map(data, pos, reader)
        if as_map is not reader.types.key_sets_as_maps and not reader.types.allowed:
            reader.other = reader.other or "a Redisson of another version writes this set as another one does"
        if not as_map:
            return read_collection(data, pos, reader, arguments)
        start, before = pos, reader.size
        held, pos = reader.read_any(data, pos)
        value, pos = reader.read_any(data, pos)
        if held is None or value is None:
            raise Malformed("the keySet() of a ConcurrentHashMap, which Redisson cannot read", start)
        pairs = list(held.items() if isinstance(held, dict) else held)
        if value is not True or any(each is not True for _key, each in pairs):
            reader.other = reader.other or "its keys have values in Java, which a set does not tell"
        reader.check_hash(reader.size - before, start)
        return set_of(_NAME, _KIND, [key for key, _value in pairs]), pos

    return read


def _begins_with_map(data: bytes, pos: int, reader: ReaderProtocol) -> bool:
    """Whether the class of a map follows. An empty collection begins with the same byte, and ends there."""
    if reader.types.allowed or data[pos] != 1 or pos + 1 >= len(data):
        return False
    number, pos = read_varint(data, pos + 1)
    names = reader.names
    if number == len(names):
        return data.startswith(_SPELLED, pos)
    return number < len(names) and getattr(names[number], "name", names[number]) == _MAP


def write_key_set(value: Any, writer: WriterProtocol, _arguments: Arguments = ()) -> None:
    """Write the form that Java reads. Raises Unencodable if Java reads neither form."""
    if not writer.types.key_sets_as_maps:
        raise Unencodable(
            "a ConcurrentHashMap.newKeySet(), which Java's Kryo cannot read back "
            f"{'with allowed classes' if writer.types.allowed else 'before Redisson 4.7'}: send a set or a java.HashSet"
        )
    writer.write_any(Entries(_MAP, [(each, True) for each in in_order(value)]))
    writer.write_any(True)
