"""From Python values to the contents of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum
from typing import Any, cast

import attrs

from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Unencodable, no_java_type, unwritable
from redisson_dq.codecs.java_limits import check_contents
from redisson_dq.codecs.serialization import class_descriptors, declared, described, registry, throwables
from redisson_dq.codecs.serialization.descriptors import array_descriptor, jdk_descriptor
from redisson_dq.codecs.serialization.fitting import primitive
from redisson_dq.codecs.serialization.handler import put
from redisson_dq.codecs.serialization.stream import (
    SC_ENUM,
    STRUCT_CODES,
    ArrayInstance,
    ClassDesc,
    ClassObject,
    Content,
    EnumConstant,
    Instance,
    OwnText,
)
from redisson_dq.java.arrays import Array, component_of
from redisson_dq.java.collections import Elements, Entries
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.orders import Comparator
from redisson_dq.java.own import is_own, is_own_of
from redisson_dq.java.places import Place, place_of
from redisson_dq.java.registry import declaration_for, declaration_of
from redisson_dq.java.replacing import Notes
from redisson_dq.java.signatures import Signature
from redisson_dq.java.values import JavaClass, JavaObject, Throwable, ThrowableClass

__all__ = ["Encoder"]

_BYTES = "[B"


class Encoder:
    """The contents of the values seen so far. ``depth`` is the depth of the next value.

    A list, a dict or another mutable object is one content wherever it occurs, so it is written once. Numbers, dates
    and texts are immutable, so each occurrence is a separate content. For some equal values Java has only one object,
    such as ``Integer.valueOf`` up to 127 and enum constants. These are one content here too.
    """

    __slots__ = ("_described", "by_identity", "constants", "depth", "notes")

    def __init__(self) -> None:
        self.depth = 0
        self.notes: Notes = {}
        # The value with its content: an id is only valid while the value exists.
        self.by_identity: dict[int, tuple[Any, Content]] = {}
        self.constants: dict[Any, Content] = {}
        self._described: dict[ThrowableClass, ClassDesc] = {}

    def content(self, value: Any) -> Content:
        """The content of a value. Raises Unencodable."""
        kind = type(value)
        if value is None or kind is str:
            return value
        known = self.by_identity.get(id(value))
        if known is not None:
            return known[1]
        handler = registry.handler_of(value)
        if handler is None:
            return self._special(value)
        has_identity = handler.identity or is_own(value)
        key = None if has_identity else registry.constant_key(value, handler)
        if key is not None and key in self.constants:
            return self.constants[key]
        check_contents(value, handler.name)
        if handler.write is None:
            return self._as_read(value, handler.name)
        node = self.instance(handler.name)
        if has_identity and not (kind in (tuple, frozenset) and not value):
            self.by_identity[id(value)] = value, node
        elif key is not None:
            self.constants[key] = node
        self._enter()
        handler.write(node, value, self)
        self.depth -= 1
        return node

    def _special(self, value: Any) -> Content:
        """Contents that are not objects, or whose classes are not in the registry."""
        if isinstance(value, Comparator):
            return self.constant(value.value, "INSTANCE" if value is Comparator.NATURAL_ORDER else None)
        declaration = declaration_for(type(value))
        if isinstance(value, Enum) and declaration is None:
            # A constant that is also a text would come back as a text.
            raise no_java_type(value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            array = ArrayInstance(array_descriptor(_BYTES), bytes(value))
            if isinstance(value, bytearray) or is_own(value):
                self.by_identity[id(value)] = value, array
            return array
        if isinstance(value, Array):
            return self._array(value)
        if isinstance(value, JavaClass):
            return self.class_object(str(value), value.described)
        if isinstance(value, (Elements, Entries)):
            declaration = declaration_of(value.java_name)
        if declaration is not None and isinstance(value, Enum):
            return self.enum_constant(declaration, value)
        if isinstance(value, Throwable) or declaration is not None:
            node = Instance(
                throwables.throwable_descriptor(cast(Any, value), self._described)
                if declaration is None
                else class_descriptors.descriptor_of_object(declaration)
            )
            self.by_identity[id(value)] = value, node
            self._enter()
            if declaration is None:
                throwables.write_throwable(node, cast(Any, value), self)
            elif declaration.extends:
                check_contents(value, declaration.extends)
                write = registry.BY_NAME[declaration.extends].write
                declared.write_collection(node, value, declaration, write, self)
            else:
                declared.write_declared(node, value, declaration, self)
            self.depth -= 1
            return node
        if is_own_of(str, value):
            text = OwnText(str.__str__(cast(Any, value)))
            self.by_identity[id(value)] = value, text
            return text
        if isinstance(value, str) and not hasattr(value, "java_name"):
            return str.__str__(value)
        if isinstance(value, JavaObject):
            return self._generic(value)
        unwritable = getattr(value, "java_name", None)
        if unwritable is not None:
            raise Unencodable(f"{unwritable} is not Serializable in Java")
        raise no_java_type(value)

    def _generic(self, value: JavaObject) -> Content:
        """An object of an undeclared class, as the stream described it when it was read."""
        if not isinstance(value.described, ClassDesc):
            raise Unencodable(
                f"an object of {value.java_name}, which is not declared and came from no stream of Java's"
            )
        desc = self._one_desc(value.described)
        if desc.flags & SC_ENUM:
            name = value.fields.get("name")
            if type(name) is not str:
                raise Unencodable(f"a constant of {value.java_name} without its name")
            return self.once((desc, name), lambda: EnumConstant(desc, name))
        node = Instance(desc)
        self.by_identity[id(value)] = value, node
        self._enter()
        described.write_generic(node, value, self)
        self.depth -= 1
        return node

    def _as_read(self, value: Any, java_name: str) -> Content:
        """A value of which Python knows a part and keeps the rest."""
        if not isinstance(getattr(value, "described", None), JavaObject):
            raise Unencodable(
                f"a {java_name} is written as it was read from Java's serialization, and this one was made or changed "
                "in Python: send a ZonedDateTime, an Instant or a ZoneId, or take Kryo5Codec"
            )
        node = self._generic(value.described)
        self.by_identity[id(value)] = value, node
        return node

    def _one_desc(self, desc: ClassDesc) -> ClassDesc:
        """This stream's descriptor of a class: values that were read separately bring one each."""
        parent = None if desc.superclass is None else self._one_desc(desc.superclass)
        found: ClassDesc = self.once(
            ("class", desc.name, desc.uid, desc.flags, desc.fields, desc.interfaces, parent),
            lambda: _known_desc(desc, parent),
        )
        return found

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unencodable(TOO_DEEP)

    # The parts of the handlers

    def contents(self, values: Iterable[Any]) -> list[Content]:
        """The contents of several values, in order."""
        found: list[Content] = []
        try:
            for value in values:
                found.append(self.content(value))
        except Unencodable as error:
            error.inside(len(found))
            raise
        except Exception as error:
            raise unwritable(error, len(found)) from error
        return found

    def pairs(self, pairs: Iterable[tuple[Any, Any]]) -> list[Content]:
        """The contents of keys and values, alternating."""
        found: list[Content] = []
        key: Any = None
        try:
            for key, value in pairs:
                found.append(self.content(key))
                found.append(self.content(value))
        except Unencodable as error:
            error.inside(key)
            raise
        except Exception as error:
            raise unwritable(error, key) from error
        return found

    def elements(self, values: Iterable[Any], component: str) -> list[Content]:
        """The contents of an array's elements, which its component type must hold."""
        place = place_of(Signature(component))
        found: list[Content] = []
        try:
            for value in values:
                found.append(self.placed(value, place))
        except Unencodable as error:
            error.inside(len(found))
            raise
        except Exception as error:
            raise unwritable(error, len(found)) from error
        return found

    def placed(self, value: Any, place: Place | None) -> Content:
        """The content of a value in a place with a declared type. Raises Misfit if the value does not fit."""
        return self.content(value if place is None else place(value, self.notes))

    def described(self, value: Any, code: str, name: str) -> Content:
        """The content of a value in a field that the stream describes by name and type code."""
        kind = component_of("[" + code.replace("/", "."))
        try:
            return primitive(value, kind) if code in STRUCT_CODES else self.placed(value, place_of(Signature(kind)))
        except Exception as error:
            raise unwritable(error, name) from error

    def instance(self, java_class: str) -> Instance:
        """A new object of a JDK class, to be filled."""
        desc = jdk_descriptor(java_class)
        assert desc is not None, java_class
        return Instance(desc)

    def filled(self, java_class: str, values: dict[str, Content], annotation: Iterable[Content] = ()) -> Instance:
        """A new object of a JDK class."""
        node = self.instance(java_class)
        put(node, values, annotation)
        return node

    def array(self, java_class: str, items: Any) -> ArrayInstance:
        """An array of contents, or of numbers."""
        return ArrayInstance(array_descriptor(java_class), items)

    def constant(self, java_class: str, enum_constant: str | None = None) -> Content:
        """The only object of a class without fields, or a constant of a JDK enum."""
        return self.once(
            (java_class, enum_constant),
            lambda: (
                self.filled(java_class, {})
                if enum_constant is None
                else EnumConstant(_known(java_class), enum_constant)
            ),
        )

    def class_object(self, name: str, described: ClassDesc | None = None) -> ClassObject:
        """The ``java.lang.Class`` of that name. ``described`` is its description in the stream that it was read
        from."""
        desc = self._one_desc(described) if isinstance(described, ClassDesc) else self._class_desc(name)
        found: ClassObject = self.once(("class", desc), lambda: ClassObject(desc))
        return found

    def enum_constant(self, declaration: Declaration, member: Enum) -> EnumConstant:
        """A constant of a declared enum."""
        name = declaration.constants[declaration.members.index(member)]
        found: EnumConstant = self.once(
            (declaration.name, name), lambda: EnumConstant(class_descriptors.declared_descriptor(declaration), name)
        )
        return found

    def declaration(self, python: Any) -> Declaration:
        """The declaration of the enum of an EnumSet or an EnumMap."""
        found = declaration_for(python)
        if found is None or found.kind != "enum":
            raise Unencodable(f"{python!r} is not an enum declared with java_class")
        return found

    def once(self, key: Any, make: Callable[[], Content]) -> Any:
        """The content that is a single object in a stream, by its key."""
        if key not in self.constants:
            self.constants[key] = make()
        return self.constants[key]

    def _class_desc(self, name: str) -> ClassDesc:
        declaration = declaration_of(name)
        if declaration is not None:
            return class_descriptors.declared_descriptor(declaration)
        if name.startswith("["):
            return array_descriptor(name)
        # For any other class, Java compares only the name, if the stream says that it is not Serializable.
        return jdk_descriptor(name) or self.once(("not serializable", name), lambda: ClassDesc(name, 0))

    def _array(self, value: Array[Any]) -> ArrayInstance:
        node = self.array(value.java_name, [])
        self.by_identity[id(value)] = value, node
        self._enter()
        code = value.java_name[1:]
        if code in STRUCT_CODES:
            node.items = self._numbers(value, code)
        else:
            node.items += self.elements(value, value.component)
        self.depth -= 1
        return node

    def _numbers(self, value: Array[Any], code: str) -> Any:
        found: list[Any] = []
        try:
            for item in value:
                found.append(primitive(item, value.component))
        except Unencodable as error:
            error.inside(len(found))
            raise
        except Exception as error:
            raise unwritable(error, len(found)) from error
        return bytes(number & 0xFF for number in found) if code == "B" else tuple(found)


def _known_desc(desc: ClassDesc, superclass: ClassDesc | None) -> ClassDesc:
    """The descriptor that other values of the class use, if it is equal. Otherwise the one that was read."""
    if desc.name.startswith("["):
        known: ClassDesc | None = array_descriptor(desc.name)
    else:
        known = jdk_descriptor(desc.name)
        declaration = declaration_of(desc.name)
        if declaration is not None:
            with suppress(Unencodable):  # a class whose serialVersionUID is not declared
                known = class_descriptors.declared_descriptor(declaration)
    if known is not None and known.superclass is superclass and known.same_as(desc):
        return known
    return attrs.evolve(desc, superclass=superclass)


def _known(java_class: str) -> ClassDesc:
    desc = jdk_descriptor(java_class)
    assert desc is not None, java_class
    return desc
