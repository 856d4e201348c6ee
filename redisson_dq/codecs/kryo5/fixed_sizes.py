"""Collections of a fixed size: no elements, or one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from redisson_dq.codecs.faults import (
    Unencodable,
)
from redisson_dq.codecs.kryo5.protocols import ReaderProtocol, WriterProtocol
from redisson_dq.java.collections import Entries, map_of, set_of

__all__ = ["no_bytes", "only_empty", "singleton", "singleton_map"]

_Read = Callable[..., "tuple[Any, int]"]
_Write = Callable[..., None]


def no_bytes(kind: type) -> tuple[_Read, _Write]:
    """The reader and writer of ``Collections.emptyList()`` and similar classes, whose values have no bytes."""

    def write(value: Any, _writer: WriterProtocol) -> None:
        if len(value):
            raise Unencodable(f"a {kind.__name__} with {len(value)} elements")

    return lambda _data, pos, _reader: (kind(), pos), write


def only_empty(kind: Any, write: _Write) -> _Write:
    """The writer of a class without elements that is written like other collections."""

    def checked(value: Any, *rest: Any) -> None:
        if len(value):
            raise Unencodable(f"a {kind.java_name} with {len(value)} elements, which Java does not read: send a list")
        write(value, *rest)

    return checked


def _only(value: Any) -> Any:
    if len(value) != 1:
        raise Unencodable(f"a {type(value).__name__} with {len(value)} elements")
    return next(iter(value))


def singleton(java_name: str, kind: type) -> tuple[_Read, _Write]:
    """The reader and writer of ``Collections.singletonList(x)`` and ``singleton(x)``: ``x`` with its class."""

    def read(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[Any, int]:
        reader.enter(pos)
        before = reader.size
        value, pos = reader.read_any(data, pos)
        reader.depth -= 1
        reader.check_hash(reader.size - before, pos)
        return (kind([value]) if issubclass(kind, list) else set_of(java_name, kind, [value])), pos

    def write(value: Any, writer: WriterProtocol) -> None:
        writer.enter()
        writer.write_any(_only(value))
        writer.depth -= 1

    return read, write


def singleton_map(java_name: str, kind: type) -> tuple[_Read, _Write]:
    """The reader and writer of ``Collections.singletonMap(k, v)``: both with their classes."""

    def read(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[Any, int]:
        reader.enter(pos)
        before = reader.size
        key, pos = reader.read_any(data, pos)
        reader.check_hash(reader.size - before, pos)
        value, pos = reader.read_any(data, pos)
        reader.depth -= 1
        return map_of(java_name, kind, [(key, value)]), pos

    def write(value: Any, writer: WriterProtocol) -> None:
        writer.enter()
        for part in _only(value if isinstance(value, Entries) else value.items()):
            writer.write_any(part)
        writer.depth -= 1

    return read, write
