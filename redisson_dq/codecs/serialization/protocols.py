"""The decoder and the encoder as the handlers of classes see them.

The registry imports every handler, and the decoder and the encoder import the registry. So handlers know these two only
by their protocols, and imports form no cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, Protocol

from redisson_dq.codecs.serialization.stream import ArrayInstance, ClassDesc, ClassObject, Content, Instance
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.places import Place
from redisson_dq.java.replacing import Notes
from redisson_dq.java.tables import Table
from redisson_dq.java.values import ThrowableClass

__all__ = ["DecoderProtocol", "EncoderProtocol"]


class DecoderProtocol(Protocol):
    """From contents to values: :class:`~redisson_dq.codecs.serialization.decoder.Decoder` describes each method."""

    depth: int
    stream: str
    other: str
    described: dict[ClassDesc, ThrowableClass | None]

    def value(self, content: Content) -> Any: ...

    def values(self, contents: Iterable[Content]) -> list[Any]: ...

    def fill(self, target: list[Any], contents: Iterable[Content]) -> None: ...

    def copied(self, content: Content) -> Any: ...

    def begin(self, content: Content, value: Any) -> Any: ...

    def complete(self, content: Any, read: Callable[[Any, DecoderProtocol], Any]) -> Any: ...

    def spend(self, cost: int, content: Content) -> None: ...

    def set(
        self, node: Instance, java_name: str, kind: Any, contents: Iterable[Content], table: Table | None = None
    ) -> Any: ...

    def map(
        self, node: Instance, java_name: str, kind: Any, pairs: list[Content], table: Table | None = None
    ) -> Any: ...

    def enum_class(self, content: Content, node: Instance) -> Any: ...


class EncoderProtocol(Protocol):
    """From values to contents: :class:`~redisson_dq.codecs.serialization.encoder.Encoder` describes each method."""

    depth: int
    notes: Notes

    def content(self, value: Any) -> Content: ...

    def contents(self, values: Iterable[Any]) -> list[Content]: ...

    def pairs(self, pairs: Iterable[tuple[Any, Any]]) -> list[Content]: ...

    def elements(self, values: Iterable[Any], component: str) -> list[Content]: ...

    def placed(self, value: Any, place: Place | None) -> Content: ...

    def described(self, value: Any, code: str, name: str) -> Content: ...

    def instance(self, java_class: str) -> Instance: ...

    def filled(self, java_class: str, values: dict[str, Content], annotation: Iterable[Content] = ()) -> Instance: ...

    def array(self, java_class: str, items: Any) -> ArrayInstance: ...

    def class_object(self, name: str, described: ClassDesc | None = None) -> ClassObject: ...

    def enum_constant(self, declaration: Declaration, member: Enum) -> Content: ...

    def declaration(self, python: Any) -> Declaration: ...

    def once(self, key: Any, make: Callable[[], Content]) -> Any: ...
