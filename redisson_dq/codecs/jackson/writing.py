"""From values to nodes, as Redisson's Jackson writes them, with the names of the classes.

A bare number is an Integer or a Double, a bare string a String. Any other value stands with the name of its class. As
the whole value, Jackson writes a value of a final class without its name, and cannot read most of them back. This codec
writes it as inside a list, which every Redisson reads right. Only Short, Byte, Character and Float stand bare, as in
Jackson. They come back as Integer, String and Double.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, cast
from uuid import UUID

from redisson_dq import java
from redisson_dq.codecs.faults import (
    MAX_DEPTH,
    TOO_DEEP,
    Unencodable,
    check_contents,
    check_fields,
    no_java_type,
    type_name,
    unwritable,
)
from redisson_dq.codecs.floats import double_text, float_text
from redisson_dq.codecs.jackson.dialect import Dialect
from redisson_dq.codecs.jackson.enums import node_of_constant
from redisson_dq.codecs.jackson.node import IntegerName, Object, Typed
from redisson_dq.codecs.jackson.scalar_nodes import NODE_TYPES, Scalar, no_module
from redisson_dq.codecs.jackson.throwables import STACK_TRACE, fields_of, trace_of
from redisson_dq.codecs.jackson.types import (
    REFERENCES,
    declared_component,
    element_of,
    held_by,
    json_of,
    key_and_value_of,
    parts_of,
    properties,
)
from redisson_dq.codecs.sorting import SORTED, refuse_comparator, sorted_contents
from redisson_dq.java.arrays import PRIMITIVE_CODES, component_of
from redisson_dq.java.collections import COLLECTIONS
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.facts import SET_FROM_MAP
from redisson_dq.java.generics import arguments_in, not_related
from redisson_dq.java.places import place_of, with_declared_parts
from redisson_dq.java.registry import declaration_for, declaration_of
from redisson_dq.java.signatures import OBJECT, Signature, array_signature
from redisson_dq.java.tables import in_order, pairs_in_order

__all__ = ["Writer", "collection_name", "node_of"]


def node_of(value: Any, dialect: Dialect, declared: Signature = OBJECT) -> Any:
    """The node of a whole value in a place of the type ``declared``. Raises Unencodable. O(size)."""
    if declared is OBJECT and dialect.typed:
        bare = dialect.bare.get(type(value))
        if bare is not None:
            return bare(value)
    return Writer(dialect).write(value, declared, 1)


#: The Java class of each plain collection.
_PLAIN = {
    **dict.fromkeys((list, tuple), "java.util.ArrayList"),
    **dict.fromkeys((set, frozenset), "java.util.HashSet"),
    dict: "java.util.LinkedHashMap",
}


#: The classes that hold nothing.
_EMPTY = java.kotlin.EMPTY | {java.CopiesList, java.EmptyList, java.EmptySet, java.EmptyMap}

#: Jackson reads all that stands in one as texts, whatever its writer put there.
_PROPERTIES = Signature("java.util.Properties", (Signature("java.lang.String"),) * 2)

#: The classes that are never named.
_NATURAL = frozenset(f"java.lang.{name}" for name in ("String", "Integer", "Double", "Boolean"))

#: CBOR writes these keys as the numbers they are.
_INTEGER_NAMES = frozenset(("java.lang.Integer", "java.lang.Long"))


class Writer:
    """The state of writing one value."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._scalars = dialect.scalars
        #: How many exceptions were written, which are numbered.
        self.throwables = 0

    def write(self, value: Any, declared: Signature, depth: int) -> Any:
        """The node of a value in a place of the type ``declared``."""
        if value is None and declared.name not in PRIMITIVE_CODES:
            return None
        if declared is not OBJECT:
            value = _placed(value, declared)
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
                    return self._with_name(declaration.name, self._member(declaration, value), declared)
                if declaration.extends:
                    return self._collection(value, declaration, declared, depth)
                return self._object(value, declaration, declared, depth)
            scalar = _inherited(value, self._scalars)
        if scalar is not None:
            name, node = scalar(value)
            if name is not None and declared.name == "java.lang.CharSequence" and self._dialect.typed:
                raise Unencodable(
                    f"a {name} where Jackson reads a String alone, as CharSequence is declared: send a str"
                )
            return node if name is None else self._with_name(name, node, declared)
        return self._container(value, declared, depth)

    def _held(self, value: Any, declared: Signature, depth: int) -> Any:
        """The node of the content of one of REFERENCES."""
        if value.value is None:
            return None
        node = self.write(value.value, declared, depth)
        if type(node) is Object and type(value) is java.AtomicReference and self._dialect.names_referred:
            declaration = declaration_for(type(value.value))
            if declaration is not None and self._dialect.typed:
                return Typed(declaration.name, node)
        return node

    def _with_name(self, name: str, node: Any, declared: Signature) -> Any:
        return Typed(name, node) if self._dialect.names(declared) else node

    def _container(self, value: Any, declared: Signature, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")
        if isinstance(value, java.Array):
            return self._array(value, declared, depth)
        if type(value) in _EMPTY and len(value):
            raise Unencodable(f"a {value.java_name} with {len(value)} elements, which Java does not read: send a list")
        if isinstance(value, java.EnumSet):
            declaration = _declared(value.element)
            if not value <= {*declaration.members}:
                raise Unencodable(f"an EnumSet of {declaration.name} with an element that is none of its constants")
            members = sorted(value, key=declaration.members.index)
            node: Any = [self._constant(member, declaration) for member in members]
            return self._with_name(f"{value.java_name}<{declaration.name}>", node, declared)
        if isinstance(value, java.EnumMap):
            declaration = _declared(value.element)
            if not value.keys() <= {*declaration.members}:
                raise Unencodable(f"an EnumMap of {declaration.name} with a key that is none of its constants")
            pairs = sorted(value.items(), key=lambda pair: declaration.members.index(pair[0]))
            name = f"{value.java_name}<{declaration.name},java.lang.Object>"
            # As its name says, its values stand as objects do whose class is not known.
            declared_key, declared_value = key_and_value_of(declared)
            place = place_of(declared_value)
            entries = pairs if place is None else ((key, place(item, {})) for key, item in pairs)
            objects = Signature(value.java_name, (declared_key, OBJECT if self._dialect.typed else declared_value))
            return self._with_name(name, self._entries(entries, objects, depth, named_keys=True), declared)
        if isinstance(value, dict):
            name = collection_name(value, declared)
            check_contents(value, name)
            refuse_comparator(value)
            return self._with_name(
                name, self._entries(pairs_in_order(value), self._parts(name, declared), depth), declared
            )
        if isinstance(value, java.Entries):
            name = value.java_name
            check_contents(value, name)
            return self._with_name(name, self._entries(value, self._parts(name, declared), depth), declared)
        if isinstance(value, (list, tuple, set, frozenset, java.OrderedSet)):
            name = collection_name(value, declared)
            check_contents(value, name)
            element = element_of(declared)
            has_order = name in SORTED and self._dialect.typed and element == OBJECT
            refuse_comparator(value)
            items = sorted_contents(value, name) if has_order else in_order(value)
            return self._with_name(name, self._items(items, element, depth), declared)
        if isinstance(value, java.Throwable):
            return self._with_name(value.java_name, self._throwable(value, depth), declared)
        if isinstance(value, java.JavaObject):
            if value.data:
                raise Unencodable(f"{value.java_name} has data of its own, which Java's serialization alone carries")
            if value.java_name == SET_FROM_MAP:
                check_contents((), SET_FROM_MAP)
            content = self._generic(value.fields, depth)
            return self._with_name(value.java_name, content, declared) if value.java_name else content
        raise no_java_type(value)

    def _parts(self, name: str, declared: Signature) -> Signature:
        """The type of a map of the class ``name``, as far as it decides how its entries are written."""
        return _PROPERTIES if name == _PROPERTIES.name and (self._dialect.typed or declared.name == name) else declared

    def _collection(self, value: Any, declaration: Declaration, declared: Signature, depth: int) -> Any:
        """An object of a class that extends a collection: its elements, as Java leaves its own fields out."""
        if depth > MAX_DEPTH:
            raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")
        self._check_json(declaration)
        check_fields(value, declaration)
        check_contents(value, declaration.extends)
        parts, are_others = parts_of(declaration, declared, self._dialect.names)
        if are_others:
            value = with_declared_parts(value, declaration, declared, {})
        if isinstance(value, (dict, java.Entries)):
            parts = self._parts(declaration.extends, parts)
            return self._with_name(declaration.name, self._entries(pairs_in_order(value), parts, depth), declared)
        return self._with_name(declaration.name, self._items(in_order(value), element_of(parts), depth), declared)

    def _member(self, declaration: Declaration, member: Enum) -> str | int:
        return node_of_constant(member, declaration, self._dialect.jackson_3)

    def _constant(self, member: Enum, declaration: Declaration) -> Any:
        scalar = self._scalars.get(type(member))
        return self._member(declaration, member) if scalar is None else scalar(member)[1]

    def _array(self, value: java.Array[Any], declared: Signature, depth: int) -> Any:
        name = value.java_name
        try:
            component_of(name)
        except ValueError as error:
            raise Unencodable(str(error)) from error
        if name == "[B":
            return self._with_name(name, bytes(item & 0xFF for item in value), declared)
        if name == "[C":
            return self._with_name(name, _text_of_units(value), declared)
        component = declared_component(name, declared)
        items: Iterable[Any] = value
        is_named = bool(component.arguments) and self._dialect.names(array_signature(component))
        if is_named and all(map(self._reads_named, component.arguments)):
            # Java writes an element of a List<Order>[] as its class alone says, and reads it as a List<Order>.
            place = place_of(component)
            items = value if place is None else (place(item, {}) for item in value)
            # Of a map Java knows from the declaration how to read its keys.
            keys = (component.arguments[0], OBJECT) if len(component.arguments) == 2 else ()
            component = Signature(component.name, keys)
        return self._with_name(name, self._items(items, component, depth), declared)

    def _reads_named(self, declared: Signature) -> bool:
        """Whether Java reads a value that is declared so even with the name of its class, where that is left out."""
        declaration = declaration_of(declared.name)
        is_object = declaration is not None and declaration.kind in ("class", "record")
        return (is_object or declared.name in _NATURAL or self._dialect.names(declared)) and all(
            map(self._reads_named, declared.arguments)
        )

    def _items(
        self,
        values: Iterable[Any],
        declared: Signature,
        depth: int,
        write: Callable[[Any, Any, Signature, int], Any] | None = None,
    ) -> list[Any]:
        write = write or Writer.write
        nodes: list[Any] = []
        try:
            for item in values:
                nodes.append(write(self, item, declared, depth + 1))
        except Unencodable as error:
            error.inside(len(nodes))
            raise
        except Exception as error:
            raise unwritable(error, len(nodes)) from error
        return nodes

    def _entries(
        self,
        entries: Iterable[tuple[Any, Any]],
        declared: Signature,
        depth: int,
        *,
        named_keys: bool = False,
        write: Callable[[Any, Any, Signature, int], Any] | None = None,
    ) -> Object:
        write = write or Writer.write
        declared_key, declared_value = key_and_value_of(declared)
        named_keys = named_keys or declared_key.name != OBJECT.name
        key_place = place_of(declared_key)
        is_text = key_place is None or str in key_place.exact
        pairs: list[tuple[str, Any]] = []
        key = None
        try:
            for key, item in entries:
                name = key if is_text and type(key) is str else self._key(key, declared_key, named_keys)
                pairs.append((name, write(self, item, declared_value, depth + 1)))
        except Unencodable as error:
            error.inside(key)
            raise
        except Exception as error:
            raise unwritable(error, key) from error
        return Object(pairs)

    def _key(self, key: Any, declared: Signature, named: bool) -> str:
        """The name of an entry. ``named``: its map is declared to have such keys."""
        if declared is not OBJECT:
            key = _placed(key, declared)
        if isinstance(key, str) and not isinstance(key, Enum):
            return str.__str__(key)
        if named:
            if isinstance(key, Enum):
                text = self._dialect.keys.get(type(key))
                if text is not None:
                    return str(text(key)[1])
                member = self._member(_declared(type(key)), key)
                return IntegerName(member) if isinstance(member, int) else member
            if isinstance(key, bool):
                return "true" if key else "false"
            if isinstance(key, int):
                digits = int.__repr__(key)
                return IntegerName(digits) if declared.name in _INTEGER_NAMES else digits
            if isinstance(key, float):
                return float_text(key) if isinstance(key, java.Float) else double_text(key)
            if isinstance(key, UUID):
                return str(key)
            time = self._dialect.keys.get(type(key))
            if time is not None:
                return cast(str, time(key)[1])
        raise Unencodable(f"a key of type {type_name(key)}: keys are str, Java reads back nothing else")

    def _pairs(self, fields: Iterable[tuple[str, Any, Signature]], depth: int, owner: str) -> Object:
        """The fields of an object of the class ``owner`` that are written."""
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

    def _generic(self, content: Any, depth: int) -> Any:
        """The content of an object of an undeclared class: its fields, its elements, or one value."""
        if type(content) is list:
            return self._items(content, OBJECT, depth, Writer._generic_item)
        if type(content) is dict:
            return self._entries(content.items(), OBJECT, depth, write=Writer._generic_item)
        scalar = self._scalars.get(type(content))
        return self.write(content, OBJECT, depth) if scalar is None else scalar(content)[1]

    def _generic_item(self, value: Any, declared: Signature, depth: int) -> Any:
        """A part of an undeclared class's object. Its type is not known: a number without a wrapper stands as it is."""
        return value if type(value) is int else self.write(value, declared, depth)

    def _object(self, value: Any, declaration: Declaration, declared: Signature, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")
        arguments = arguments_in(declaration, declared)
        if arguments is None and self._dialect.typed:
            raise Unencodable(not_related(declaration, declared))
        self._check_json(declaration)
        if self._dialect.refuses_objects(declared):
            raise Unencodable(
                f"a {declaration.name} where Jackson reads no object, as {declared.name} is declared: declare its class"
            )
        found = properties(declaration, arguments or (), jackson_3=self._dialect.jackson_3).values()
        try:
            items = [(field, getattr(value, field.attribute)) for field in found]
        except AttributeError as error:
            raise Unencodable(f"an attribute has no value: {error}") from error
        nulls = self._dialect.nulls
        fields = (
            (field.name, item, field.type) for field, item in items if item is not None or nulls or field.is_written
        )
        node = self._pairs(fields, depth, declaration.name)
        return Typed(declaration.name, node) if self._dialect.names_object(declaration, declared) else node

    def _check_json(self, declaration: Declaration) -> None:
        why = json_of(declaration, self._dialect.jackson_3).refusal(declaration.name)
        if why:
            raise Unencodable(why)

    def _throwable(self, value: java.Throwable, depth: int) -> Object:
        numbers: tuple[tuple[str, Any], ...] = ()
        if self._dialect.numbered_exceptions:
            self.throwables += 1
            numbers = (("@id", self.throwables),)
        fields = [field for field in fields_of(value) if field[1] is not None or self._dialect.nulls]
        pairs = (*self._pairs(fields, depth, value.java_name), (STACK_TRACE, trace_of(value)))
        return Object((*numbers, *sorted(pairs, key=lambda pair: pair[0])))


def _text_of_units(units: Iterable[str]) -> str:
    """The text of a ``char[]``."""
    text = "".join(units)
    if any(len(unit) != 1 or unit > "\uffff" for unit in units):
        raise Unencodable("a char[] with an element that is not one UTF-16 unit: make it of the whole text")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _placed(value: Any, declared: Signature) -> Any:
    """The value as one of the type ``declared``; its parts are looked at where they are written. Raises Misfit."""
    place = place_of(declared)
    return value if place is None or type(value) in place.exact else place.shallow(value)


def _inherited(value: Any, scalars: Mapping[type, Scalar]) -> Scalar | None:
    """The function that writes a value of a subclass: that of the nearest base class."""
    if isinstance(value, Enum):
        raise no_java_type(value)
    for base in type(value).__mro__[1:]:
        scalar = scalars.get(base)
        if scalar is not None:
            return _exactly(base, scalar) if base in NODE_TYPES else scalar
    return None


def _exactly(base: type, scalar: Scalar) -> Scalar:
    """A node's type is exact."""
    return lambda value: scalar(str.__str__(value) if base is str else base(value))


def collection_name(value: Any, declared: Signature) -> str:
    """The Java class of a collection in a place of the type ``declared``."""
    name = getattr(value, "java_name", None)
    if isinstance(name, str):
        return name
    if declared.name in COLLECTIONS and not (declared.name == "java.util.HashMap" and isinstance(value, dict)):
        return declared.name
    for base in type(value).__mro__:
        if base in _PLAIN:
            return _PLAIN[base]
    return "java.util.LinkedHashSet"


def _declared(element: type) -> Declaration:
    declaration = declaration_for(element)
    if declaration is None:
        raise Unencodable(f"{element.__qualname__} is not declared: give it its Java name with java_class")
    return declaration
