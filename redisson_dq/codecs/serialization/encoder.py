"""From Python values to the contents of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Unencodable, no_java_type, type_name, unwritable
from redisson_dq.codecs.serialization import declared, table, throwables
from redisson_dq.codecs.serialization.descriptors import array_descriptor, jdk_descriptor
from redisson_dq.codecs.serialization.fitting import fit, primitive
from redisson_dq.codecs.serialization.rows import put
from redisson_dq.codecs.serialization.stream import (
    STRUCT_CODES,
    Array,
    ClassDesc,
    ClassObject,
    Content,
    EnumConstant,
    Instance,
)
from redisson_dq.java.arrays import Array as JavaArray
from redisson_dq.java.collections import Comparator
from redisson_dq.java.declare import Declaration, Signature, declaration_for, declaration_of
from redisson_dq.java.values import JavaClass, JavaObject, Throwable, ThrowableClass

__all__ = ["Encoder"]

_BYTES = "[B"
#: Classes that have no subclasses, or none here.
_LEAVES = frozenset(
    (
        *("java.lang.String", "java.lang.Boolean", "java.lang.Character", "java.lang.Byte", "java.lang.Short"),
        *("java.lang.Integer", "java.lang.Long", "java.lang.Float", "java.lang.Double", "java.math.BigInteger"),
        *("java.math.BigDecimal", "java.util.UUID", "java.net.URI", "java.net.URL", "java.util.Currency"),
    )
)


class Encoder:
    """The contents of the values seen so far; ``depth`` is how deep the next value is nested.

    A list, a dict, an object and whatever else can change is one content wherever it stands, so it is written
    once. Numbers, dates and texts are their value: each is a content of its own, except where Java itself has
    one object for all that are equal (``Integer.valueOf`` up to 127, the constants of an enum).
    """

    __slots__ = ("_constants", "_described", "_kept", "depth")

    def __init__(self) -> None:
        self.depth = 0
        # The value with its content: an id stands for the value as long as it is there.
        self._kept: dict[int, tuple[Any, Content]] = {}
        self._constants: dict[Any, Content] = {}
        self._described: dict[ThrowableClass, ClassDesc] = {}

    def content(self, value: Any) -> Content:
        """The content of a value. Raises Unencodable."""
        kind = type(value)
        if value is None or kind is str:
            return value
        kept = self._kept.get(id(value))
        if kept is not None:
            return kept[1]
        row = table.row_of(value)
        if row is None:
            return self._special(value)
        key = table.constant_key(value, row)
        if key is not None and key in self._constants:
            return self._constants[key]
        if row.write is None:
            raise Unencodable(f"class {row.name} is read, not written")
        node = self.instance(row.name)
        if row.identity and not (kind in (tuple, frozenset) and not value):
            self._kept[id(value)] = value, node
        elif key is not None:
            self._constants[key] = node
        self._enter()
        row.write(node, value, self)
        self.depth -= 1
        return node

    def _special(self, value: Any) -> Content:
        """The contents that are no objects, or of classes that the table does not name."""
        if isinstance(value, (bytes, bytearray, memoryview)):
            array = Array(array_descriptor(_BYTES), bytes(value))
            if isinstance(value, bytearray):
                self._kept[id(value)] = value, array
            return array
        if isinstance(value, JavaArray):
            return self._array(value)
        if isinstance(value, Comparator):
            return self.constant(value.value, "INSTANCE" if value is Comparator.NATURAL_ORDER else None)
        if isinstance(value, JavaClass):
            return self.class_object(str(value))
        declaration = declaration_for(type(value))
        if declaration is not None and isinstance(value, Enum):
            return self.enum_constant(declaration, value)
        if isinstance(value, Throwable) or declaration is not None:
            node = Instance(
                throwables.descriptor(value, self._described)
                if declaration is None
                else declared.descriptor(declaration)
            )
            self._kept[id(value)] = value, node
            self._enter()
            if declaration is None:
                throwables.write_throwable(node, value, self)
            else:
                declared.write_object(node, value, declaration, self)
            self.depth -= 1
            return node
        if isinstance(value, str) and not hasattr(value, "java_name"):
            return str.__str__(value)
        if isinstance(value, JavaObject):
            raise Unencodable(f"an object of {value.java_name}, which is not declared, is read, not written")
        unwritable = getattr(value, "java_name", None)
        if unwritable is not None:
            raise Unencodable(f"{unwritable} is not Serializable in Java")
        raise no_java_type(value)

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unencodable(TOO_DEEP)

    # What the rows put together

    def contents(self, values: Iterable[Any]) -> list[Content]:
        """The contents of several values, in order."""
        found: list[Content] = []
        try:
            for value in values:
                found.append(self.content(value))
        except Unencodable as exc:
            exc.inside(len(found))
            raise
        except Exception as exc:
            raise unwritable(exc, len(found)) from exc
        return found

    def pairs(self, pairs: Iterable[tuple[Any, Any]]) -> list[Content]:
        """The contents of keys and values by turns."""
        found: list[Content] = []
        key: Any = None
        try:
            for key, value in pairs:
                found.append(self.content(key))
                found.append(self.content(value))
        except Unencodable as exc:
            exc.inside(key)
            raise
        except Exception as exc:
            raise unwritable(exc, key) from exc
        return found

    def elements(self, values: Iterable[Any], component: str) -> list[Content]:
        """The contents of an array's elements, which its component type must hold."""
        type_ = Signature(component)
        found: list[Content] = []
        try:
            for value in values:
                found.append(self.typed(value, type_))
        except Unencodable as exc:
            exc.inside(len(found))
            raise
        except Exception as exc:
            raise unwritable(exc, len(found)) from exc
        return found

    def typed(self, value: Any, type_: Signature) -> Content:
        """The content of a value where that type is declared, which Java would refuse to put elsewhere."""
        content = self.content(fit(value, type_))
        if content is not None and (type_.name in _LEAVES or declaration_of(type_.name) is not None):
            desc = getattr(content, "desc", None)
            name = "java.lang.String" if type(content) is str else ""
            while desc is not None and name != type_.name:
                name, desc = desc.name, desc.superclass
            if name != type_.name:
                raise Unencodable(f"{type_name(value)} where a {type_.name} is declared")
        return content

    def instance(self, java_class: str) -> Instance:
        """A new object of a class of the JDK, to be filled."""
        desc = jdk_descriptor(java_class)
        assert desc is not None, java_class
        return Instance(desc)

    def filled(self, java_class: str, values: dict[str, Content], annotation: Iterable[Content] = ()) -> Instance:
        """A new object of a class of the JDK."""
        node = self.instance(java_class)
        put(node, values, annotation)
        return node

    def array(self, java_class: str, items: Any) -> Array:
        """An array of contents, or of numbers."""
        return Array(array_descriptor(java_class), items)

    def constant(self, java_class: str, enum_constant: str | None = None) -> Content:
        """The only object of a class without fields, or a constant of an enum of the JDK."""
        return self._once(
            (java_class, enum_constant),
            lambda: (
                self.filled(java_class, {})
                if enum_constant is None
                else EnumConstant(_known(java_class), enum_constant)
            ),
        )

    def class_object(self, name: str) -> ClassObject:
        """The ``java.lang.Class`` of that name."""
        found: ClassObject = self._once(("class", name), lambda: ClassObject(self._class_desc(name)))
        return found

    def enum_constant(self, declaration: Declaration, member: Enum) -> EnumConstant:
        """A constant of a declared enum."""
        name = declaration.constants[declaration.members.index(member)]
        found: EnumConstant = self._once(
            (declaration.name, name), lambda: EnumConstant(declared.descriptor(declaration), name)
        )
        return found

    def declaration(self, python: Any) -> Declaration:
        """The declaration of the enum that an EnumSet or an EnumMap is made for."""
        found = declaration_for(python)
        if found is None or found.kind != "enum":
            raise Unencodable(f"{python!r} is no enum declared with java_class")
        return found

    def _once(self, key: Any, make: Callable[[], Content]) -> Any:
        if key not in self._constants:
            self._constants[key] = make()
        return self._constants[key]

    def _class_desc(self, name: str) -> ClassDesc:
        declaration = declaration_of(name)
        if declaration is not None:
            return declared.descriptor(declaration)
        if name.startswith("["):
            return array_descriptor(name)
        # Of any other class Java compares nothing but the name, if the stream says it is not Serializable.
        return jdk_descriptor(name) or self._once(("not serializable", name), lambda: ClassDesc(name, 0))

    def _array(self, value: JavaArray[Any]) -> Array:
        node = self.array(value.java_name, [])
        self._kept[id(value)] = value, node
        self._enter()
        code = value.java_name[1:]
        if code in STRUCT_CODES:
            node.items = self._numbers(value, code)
        else:
            node.items += self.elements(value, value.component)
        self.depth -= 1
        return node

    def _numbers(self, value: JavaArray[Any], code: str) -> Any:
        found: list[Any] = []
        try:
            for item in value:
                found.append(primitive(item, value.component))
        except Unencodable as exc:
            exc.inside(len(found))
            raise
        except Exception as exc:
            raise unwritable(exc, len(found)) from exc
        return bytes(number & 0xFF for number in found) if code == "B" else tuple(found)


def _known(java_class: str) -> ClassDesc:
    desc = jdk_descriptor(java_class)
    assert desc is not None, java_class
    return desc
