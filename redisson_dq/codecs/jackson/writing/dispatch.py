"""The writer of one value: finds how its class is named and which module writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import (
    MAX_DEPTH,
    TOO_DEEP,
    Unencodable,
    no_java_type,
    unwritable,
)
from redisson_dq.codecs.jackson.dialect import Dialect
from redisson_dq.codecs.jackson.enums import node_of_constant
from redisson_dq.codecs.jackson.node import Object, Typed
from redisson_dq.codecs.jackson.scalar_nodes import NODE_TYPES, Scalar, no_module, text_in_pattern
from redisson_dq.codecs.jackson.text_numbers import text_of
from redisson_dq.codecs.jackson.throwables import RENAMED, STACK_TRACE, fields_of, trace_of
from redisson_dq.codecs.jackson.types import (
    REFERENCES,
    held_by,
    json_of,
)
from redisson_dq.codecs.jackson.writing.containers import collection, container, entry_nodes, item_nodes
from redisson_dq.codecs.jackson.writing.keys import placed
from redisson_dq.java import time_numbers
from redisson_dq.java.arrays import PRIMITIVE_CODES
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.generics import arguments_in, not_related
from redisson_dq.java.registry import declaration_for, declaration_of
from redisson_dq.java.signatures import OBJECT, Signature

__all__ = ["Writer", "node_of"]


def node_of(value: Any, dialect: Dialect, declared: Signature = OBJECT) -> Any:
    """The node of a whole value in a place of the type ``declared``. Raises Unencodable. O(size)."""
    if declared is OBJECT and dialect.typed:
        bare = dialect.bare.get(type(value))
        if bare is not None:
            return bare(value)
    return Writer(dialect).write(value, declared, 1)


class Writer:
    """The state of writing one value."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._scalars = dialect.scalars
        #: The number of exceptions written so far; each has a number.
        self.throwables = 0

    def write(self, value: Any, declared: Signature, depth: int) -> Any:
        """The node of a value in a place of the type ``declared``."""
        if value is None and declared.name not in PRIMITIVE_CODES:
            return None
        if declared is not OBJECT:
            value = placed(value, declared)
            if declared.pattern is not None:
                of_class = time_numbers.java_time_name(value)
                text = text_in_pattern(declared.pattern, value, of_class, self.dialect.time_zone)
                return self.with_name(of_class, text, declared)
            if declared.as_text or declared.name in self.dialect.as_text:
                return self.with_name(declared.name, text_of(value), declared)
            if REFERENCES.get(declared.name) is type(value) and self._scalars[type(value)] is not no_module:
                return self._held(value, held_by(declared), depth)
        kind = type(value)
        scalar = self._scalars.get(kind)
        if scalar is None:
            declaration = declaration_for(kind)
            if isinstance(value, (java.Elements, java.Entries)):
                declaration = declaration_of(value.java_name)
            if declaration is not None:
                if isinstance(value, Enum):
                    return self.with_name(declaration.name, self.member(declaration, value), declared)
                if declaration.extends:
                    return collection(self, value, declaration, declared, depth)
                return self._object(value, declaration, declared, depth)
            scalar = _inherited(value, self._scalars)
        if scalar is not None:
            name, node = scalar(value)
            if name is not None and declared.name == "java.lang.CharSequence" and self.dialect.typed:
                raise Unencodable(
                    f"a {name} where Jackson reads a String alone, as CharSequence is declared: send a str"
                )
            if name is None:
                return node
            if name in self.dialect.as_text and declared.name not in PRIMITIVE_CODES:
                node = text_of(node)
            return self.with_name(name, node, declared)
        return container(self, value, declared, depth)

    def _held(self, value: Any, declared: Signature, depth: int) -> Any:
        """The node of the content of one of REFERENCES."""
        if value.value is None:
            return None
        node = self.write(value.value, declared, depth)
        if type(node) is Object and type(value) is java.AtomicReference and self.dialect.names_referred:
            declaration = declaration_for(type(value.value))
            if declaration is not None and self.dialect.typed:
                return self._named(declaration.name, node)
        return node

    def with_name(self, name: str, node: Any, declared: Signature) -> Any:
        return self._named(name, node) if self.dialect.names(declared) else node

    def _named(self, name: str, node: Any) -> Any:
        return [name, node] if self.dialect.wraps else Typed(name, node)

    def member(self, declaration: Declaration, member: Enum) -> str | int:
        return node_of_constant(member, declaration, self.dialect.jackson_3)

    def constant(self, member: Enum, declaration: Declaration) -> Any:
        scalar = self._scalars.get(type(member))
        return self.member(declaration, member) if scalar is None else scalar(member)[1]

    def _pairs(self, fields: Iterable[tuple[str, Any, Signature]], depth: int, owner: str) -> Object:
        """The written fields of an object of the class ``owner``."""
        pairs: list[tuple[str, Any]] = []
        name = ""
        try:
            for name, item, declared in fields:
                pairs.append((name, self.write(item, declared, depth + 1)))
        except Unencodable as error:
            error.of_field(f"{owner}.{name}").inside(name)
            raise
        except Exception as error:
            raise unwritable(error, name).of_field(f"{owner}.{name}") from error
        return Object(pairs)

    def generic(self, content: Any, depth: int) -> Any:
        """The content of an object of an undeclared class: its fields, its elements, or one value."""
        if type(content) is list:
            return item_nodes(self, content, OBJECT, depth, self._generic_item)
        if type(content) is dict:
            return entry_nodes(self, content.items(), OBJECT, depth, write=self._generic_item)
        scalar = self._scalars.get(type(content))
        return self.write(content, OBJECT, depth) if scalar is None else scalar(content)[1]

    def _generic_item(self, value: Any, declared: Signature, depth: int) -> Any:
        """A part of an object of an undeclared class. Its type is unknown, so a number without a wrapper stays
        unchanged."""
        return value if type(value) is int else self.write(value, declared, depth)

    def _object(self, value: Any, declaration: Declaration, declared: Signature, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")
        arguments = arguments_in(declaration, declared)
        if arguments is None and self.dialect.typed:
            raise Unencodable(not_related(declaration, declared))
        self.check_json(declaration)
        if self.dialect.refuses_objects(declared):
            raise Unencodable(
                f"a {declaration.name} where Jackson reads no object, as {declared.name} is declared: declare its class"
            )
        found = self.dialect.properties(declaration, arguments or ()).values()
        try:
            values = [(field, getattr(value, field.attribute)) for field in found]
        except AttributeError as error:
            raise Unencodable(f"an attribute has no value: {error}") from error
        nulls = self.dialect.nulls
        fields = (
            (field.name, item, field.type) for field, item in values if item is not None or nulls or field.is_written
        )
        node = self._pairs(fields, depth, declaration.name)
        return self._named(declaration.name, node) if self.dialect.names_object(declaration, declared) else node

    def check_json(self, declaration: Declaration) -> None:
        why = json_of(declaration, self.dialect.jackson_3).refusal(declaration.name)
        if why:
            raise Unencodable(why)

    def throwable(self, value: java.Throwable, depth: int) -> Object:
        if self.dialect.renames:
            raise Unencodable(RENAMED)
        numbers: tuple[tuple[str, Any], ...] = ()
        if self.dialect.numbered_exceptions:
            self.throwables += 1
            numbers = (("@id", self.throwables),)
        fields = [field for field in fields_of(value) if field[1] is not None or self.dialect.nulls]
        pairs = (*self._pairs(fields, depth, value.java_name), (STACK_TRACE, trace_of(value)))
        return Object((*numbers, *sorted(pairs, key=lambda pair: pair[0])))


def _inherited(value: Any, scalars: Mapping[type, Scalar]) -> Scalar | None:
    """The function that writes a value of a subclass: the one of its nearest base class."""
    if isinstance(value, Enum):
        raise no_java_type(value)
    for base in type(value).__mro__[1:]:
        scalar = scalars.get(base)
        if scalar is not None:
            return _exactly(base, scalar) if base in NODE_TYPES else scalar
    return None


def _exactly(base: type, scalar: Scalar) -> Scalar:
    """Convert an instance of a subclass, because a node's type is exact."""
    return lambda value: scalar(str.__str__(value) if base is str else base(value))
