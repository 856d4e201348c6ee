"""The reader, the writer and the classes of a configuration, as the functions of single classes see them.

The reader and the writer look up the functions of each class, and these functions call the reader and the writer. So
the functions know them only by their protocols, and imports form no cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import Enum
from typing import Any, Protocol

from redisson_dq.codecs.budget import Budget
from redisson_dq.codecs.kryo5.class_serializer import ClassSerializer
from redisson_dq.codecs.kryo5.generics import Arguments, Variables
from redisson_dq.codecs.serialization import ReadState, WriteState
from redisson_dq.java.replacing import Notes
from redisson_dq.java.values import JavaClass

__all__ = ["ReaderProtocol", "TypesProtocol", "WriterProtocol"]


class TypesProtocol(Protocol):
    """The Java classes of one configuration: :class:`~redisson_dq.codecs.kryo5.types.Types` describes each method."""

    references: bool
    allowed: list[str]
    key_sets_as_maps: bool
    embeds_streams: bool
    primitives: dict[str, str]
    boxes: dict[str, str]

    def final(self, name: str) -> ClassSerializer | None: ...

    def component(self, name: str) -> ClassSerializer | None: ...

    def is_open(self, name: str) -> bool: ...

    def of_constant(self, member: Enum) -> ClassSerializer: ...


class ReaderProtocol(Protocol):
    """The state of reading one value: :class:`~redisson_dq.codecs.kryo5.reader.Reader` describes each method."""

    references: bool
    is_counting: bool
    by_byte: tuple[Callable[..., tuple[Any, int]] | None, ...]
    streams: ReadState | None
    other: str
    last_header: int | None
    depth: int
    variables: Variables
    size: int
    find: Callable[..., int]
    text: str
    spelled: dict[bytes, ClassSerializer]
    seen: dict[str, None]
    names: list[ClassSerializer | str]

    @property
    def types(self) -> TypesProtocol: ...

    def final(self, name: str) -> ClassSerializer | None: ...

    def read_any(self, data: bytes, pos: int, arguments: Arguments = ()) -> tuple[Any, int]: ...

    def read_named(self, data: bytes, pos: int, arguments: Arguments = ()) -> tuple[Any, int]: ...

    def read_value(
        self, serializer: ClassSerializer, data: bytes, pos: int, arguments: Arguments = ()
    ) -> tuple[Any, int]: ...

    def read_nullable(
        self, serializer: ClassSerializer, data: bytes, pos: int, arguments: Arguments = ()
    ) -> tuple[Any, int]: ...

    def register(self, value: Any) -> None: ...

    def read_class(self, data: bytes, pos: int) -> tuple[ClassSerializer | None, int]: ...

    def read_class_name(self, data: bytes, pos: int) -> tuple[str | None, int]: ...

    def java_class(self, name: str) -> JavaClass: ...

    def enter(self, pos: int) -> None: ...

    def check_count(self, count: int, data: bytes, pos: int) -> None: ...

    def spend(self, count: int, pos: int) -> Budget | None: ...

    def check_keys(self, keys: Collection[Any], pos: int, kind: Any = dict) -> None: ...

    def check_hash(self, size: int, pos: int) -> None: ...


class WriterProtocol(Protocol):
    """The state of writing one value: :class:`~redisson_dq.codecs.kryo5.writer.Writer` describes each method."""

    references: bool
    flat: dict[type, Callable[[Any], bytes | None]]
    streams: WriteState | None
    depth: int
    variables: Variables
    by_type: dict[type, ClassSerializer]
    notes: Notes
    out: bytearray

    @property
    def types(self) -> TypesProtocol: ...

    def type_of(self, value: Any) -> ClassSerializer | None: ...

    def final(self, name: str) -> ClassSerializer | None: ...

    def placed(self, name: str, value: Any) -> Any: ...

    def write_any(self, value: Any, arguments: Arguments = ()) -> None: ...

    def write_value(self, serializer: ClassSerializer, value: Any, arguments: Arguments = ()) -> None: ...

    def write_nullable(self, serializer: ClassSerializer, value: Any, arguments: Arguments = ()) -> None: ...

    def write_class(self, serializer: ClassSerializer | None) -> None: ...

    def check_allowed(self, serializer: ClassSerializer) -> None: ...

    def write_class_name(self, name: str) -> None: ...

    def enter(self) -> None: ...

    def spend(self, count: int) -> None: ...
