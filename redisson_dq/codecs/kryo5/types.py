"""The Java classes this codec knows: how Kryo's bytes name them, and the functions that read and write them.

Before a value Kryo writes its class as a varint. 0 is null, and 1 is a named class (see the reader). From 2 on it is a
class id plus 2. Kryo's own ids are int 0, String 1, float 2, boolean 3, byte 4, char 5, short 6, long 7, double 8.
Boxed types have the same ids. The ids of registered classes follow.
"""

from __future__ import annotations

import copy
from collections.abc import Collection
from enum import Enum
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Unencodable, no_java_type, shorten, type_name
from redisson_dq.codecs.kryo5 import arrays, embedded, objects, values
from redisson_dq.codecs.kryo5.class_serializer import NULL_ZERO, ClassSerializer, byte_writer
from redisson_dq.codecs.kryo5.jdk_classes import (
    BY_ID,
    BY_NAME,
    BY_PYTHON_TYPE,
    BY_VALUE,
    INTEGER,
    UNREGISTRABLE,
    collection_subclass,
    int_name,
    same_exception_type,
)
from redisson_dq.codecs.redissons import RedissonForm
from redisson_dq.errors import ArgumentError
from redisson_dq.java.arrays import PRIMITIVE_NAMES, component_of
from redisson_dq.java.collections import COLLECTIONS
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.numbers import INT_MAX, INT_MIN
from redisson_dq.java.orders import Comparator
from redisson_dq.java.registry import declaration_for, declaration_of, generation

__all__ = ["Types"]

_MOST_MADE = 256


class Types:
    """The classes in one configuration of the codec: those known to all configurations, and the declared ones.

    ``allowed`` are registered in the order of their names; if there are any, no other class is read or written.
    ``key_sets_as_maps``: the form of a ``ConcurrentHashMap.newKeySet()``. ``embeds_streams``: whether Java reads the
    serialization streams of some classes.
    """

    def __init__(self, allowed: Collection[str] = (), *, references: bool = False, redisson: str | None = None) -> None:
        self.references = references
        names = [serializer.name for serializer in BY_ID]
        #: The boxed class by the primitive type's name, and vice versa.
        self.primitives: dict[str, str] = dict(
            zip(("int", "", "float", "boolean", "byte", "char", "short", "long", "double"), names, strict=True)
        )
        del self.primitives[""]
        self.boxes = {box: name for name, box in self.primitives.items()}
        refused = sorted(name for name in allowed if name in UNREGISTRABLE)
        if refused:
            raise ArgumentError(
                f"Redisson's Kryo5Codec cannot have {refused[0]} among its allowed classes: it registers them before "
                "it sets up how that class is written"
            )
        self.allowed = sorted({self.primitives.get(name, name) for name in allowed} - {*names})
        self.ids = {name: len(names) + index for index, name in enumerate(self.allowed)}
        self.embeds_streams = RedissonForm.STREAM_IN_KRYO.is_written_by(redisson)
        self.key_sets_as_maps = not self.allowed and RedissonForm.MAP_OF_KEY_SET.is_written_by(redisson)
        self._declared: dict[Declaration, ClassSerializer] = {}
        self._bodies: dict[tuple[Declaration, str], ClassSerializer] = {}
        #: By name: arrays and charsets, including arrays of classes that may turn out to be final when they are
        #: declared.
        self._made: dict[str, ClassSerializer] = {}
        self._open_arrays: dict[str, ClassSerializer] = {}
        self._spelled: dict[bytes, ClassSerializer] = {}
        self._by_type: dict[type, ClassSerializer] = {}
        self._generation = -1

    def spelled(self) -> dict[bytes, ClassSerializer]:
        """The known and declared classes read so far, by the bytes of their names."""
        if generation() != self._generation:
            self._forget()
        return self._spelled

    def by_type(self) -> dict[type, ClassSerializer]:
        """The classes written so far, by Python type, if the type alone decides."""
        if generation() != self._generation:
            self._forget()
        return self._by_type

    def _forget(self) -> None:
        # Earlier answers may be wrong now. The dicts are replaced, because other threads may still fill the old ones.
        now = generation()
        self._spelled, self._by_type, self._open_arrays = {}, dict(BY_PYTHON_TYPE), {}
        self._generation = now

    def known(self, name: str) -> ClassSerializer | None:
        """The class of that name, if it is known to all configurations or declared."""
        found = BY_NAME.get(name)
        if found is not None:
            return found
        declaration = declaration_of(name)
        return None if declaration is None else self._of_declaration(declaration)

    def named(self, name: str) -> ClassSerializer | None:
        """The class of that name. None if it is unknown."""
        found = self.known(name)
        if found is not None:
            return found
        if name.startswith("["):
            return self._array(name)
        if name.startswith(values.CHARSET_PACKAGE):
            read, to_bytes = values.MARKED["java.nio.charset.Charset"]
            return self._one_for_all(self._made, ClassSerializer(name, read, byte_writer(to_bytes)))
        # The class of an enum's constant that has a body: Step$1 in Java, Step$UP in Kotlin.
        outer, dollar, constant = name.rpartition("$")
        declaration = declaration_of(outer) if dollar else None
        if declaration is None or declaration.kind != "enum":
            return None
        if name in declaration.bodies.values():
            return self._of_declaration(declaration)
        if not constant.isdigit() and constant not in declaration.constants:
            return None
        made = copy.copy(self._of_declaration(declaration))
        made.read = objects.body_reader(declaration)
        return made

    def final(self, name: str) -> ClassSerializer | None:
        """The class of that name if it is final in Java (for an array: if its innermost component type is)."""
        found = BY_NAME.get(name)
        if found is None and name.startswith("["):
            found = self._array(name)
        elif found is None:
            declaration = declaration_of(name)
            found = None if declaration is None else self._of_declaration(declaration)
        return found if found is not None and found.final else None

    def component(self, name: str) -> ClassSerializer | None:
        """The class of an array's elements if they do not carry it: a final class, or any array class."""
        return self.named(name) if name.startswith("[") else self.final(name)

    def is_open(self, name: str) -> bool:
        """Whether the class is known not to be final, and will stay so."""
        return self.final(name) is None and (name.startswith("java.") or declaration_of(name) is not None)

    @staticmethod
    def _one_for_all(made: dict[str, ClassSerializer], serializer: ClassSerializer) -> ClassSerializer:
        """The object that all threads use, because classes are compared by identity."""
        if len(made) >= _MOST_MADE:
            made.clear()
        return made.setdefault(serializer.name, serializer)

    def _array(self, name: str) -> ClassSerializer | None:
        if generation() != self._generation:
            self._forget()
        found = self._made.get(name) or self._open_arrays.get(name)
        if found is None:
            try:
                component = component_of(name)
            except ValueError:
                return None
            innermost = component.lstrip("[")
            final = component in arrays.PRIMITIVES or innermost in PRIMITIVE_NAMES or self._is_final(innermost)
            found = ClassSerializer(
                name,
                arrays.array_reader(component, self),
                arrays.array_writer(component, self),
                null=NULL_ZERO,
                final=final,
            )
            found = self._one_for_all(
                self._made if final or component.startswith("java.") else self._open_arrays, found
            )
        return found

    def _is_final(self, code: str) -> bool:
        """Whether a class is final, by its name or by its name within that of an array of arrays."""
        return self.final(code[1:-1] if code.endswith(";") else code) is not None

    def _of_declaration(self, declaration: Declaration) -> ClassSerializer:
        found = self._declared.get(declaration)
        if found is None:
            # If two threads come here at once, both continue with the same object: types are compared by identity.
            found = self._declared.setdefault(declaration, self._make(declaration))
        return found

    def _make(self, declaration: Declaration) -> ClassSerializer:
        """The declared class. Its fields are inspected when the first object is read or written."""
        if declaration.kind == "enum":
            return ClassSerializer(
                declaration.name,
                objects.enum_reader(declaration),
                objects.enum_writer(declaration),
                null=NULL_ZERO,
                final=declaration.final,
                shared=False,
                python=declaration.python,
            )

        if declaration.extends:
            return collection_subclass(declaration)

        def read(*args: Any) -> tuple[Any, int]:
            # All elements of a list come here if it has the first object of the class.
            if made.read is read:
                made.read = objects.object_reader(declaration, self)
            return made.read(*args)

        def write(*args: Any) -> None:
            if made.write is write:
                made.write = objects.object_writer(declaration, self)
            made.write(*args)

        made = ClassSerializer(
            declaration.name,
            read,
            write,
            # With references, a mark precedes each value.
            sizeless=not self.references and not declaration.has_attributes,
            final=declaration.final,
            generic=objects.is_generic(declaration),
            python=declaration.python,
        )
        return made

    def of_constant(self, member: Enum) -> ClassSerializer:
        """The class of an enum's constant: that of the enum, unless the constant has a body."""
        declaration = declaration_for(type(member))
        if declaration is None:
            raise Unencodable(f"{type(member).__qualname__} has no Java type here: declare it with java_class")
        found = self._of_declaration(declaration)
        if not declaration.bodies:
            return found
        body = declaration.bodies.get(declaration.constants[declaration.members.index(member)])
        # If classes are registered, Kryo uses the enum's class for a constant whose own class is not among them.
        if body is None or (self.allowed and body not in self.ids):
            return found
        made = self._bodies.get((declaration, body))
        if made is None:
            made = ClassSerializer(
                body, found.read, found.write, null=NULL_ZERO, final=True, shared=False, python=declaration.python
            )
            made = self._bodies.setdefault((declaration, body), made)
        return made

    def of(self, value: Any) -> ClassSerializer | None:
        """The Java class that a value becomes. None for None. A subclass counts as its nearest known base class."""
        if value is None:
            return None
        kind = type(value)
        by_type = self._by_type
        found = by_type.get(kind)
        if found is not None:
            return found
        if kind is int:
            return INTEGER if INT_MIN <= value <= INT_MAX else BY_NAME[int_name(value)]
        declaration = declaration_for(kind)
        if declaration is not None:
            if declaration.bodies:
                return self.of_constant(value)
            found = self._of_declaration(declaration)
            if declaration.python is kind:
                by_type[kind] = found
            return found
        if isinstance(value, java.Throwable):
            if self.allowed:
                raise Unencodable("Redisson's Kryo5Codec with allowed classes writes no exceptions")
            return same_exception_type(value.java_name)
        if isinstance(value, java.JavaObject):
            raise Unencodable(f"an object of {value.java_name}, which is not declared, is not written")
        if isinstance(value, Enum) and kind is not Comparator:
            raise no_java_type(value)
        name = self._name_of(value, kind)
        if name is not None:
            held = _HELD.get(kind)
            if held is not None and name not in embedded.STREAMS and not issubclass(_collection_class(name), held):
                what = "maps" if held is dict else "sets"
                raise Unencodable(f"{kind.__name__} of {shorten(name, 120)}, which is not a class of {what}")
            found = BY_NAME.get(name) or self.named(name)
            if found is None:
                raise Unencodable(f"Java class {name} cannot be written")
            return found
        raise no_java_type(value)

    @staticmethod
    def _name_of(value: Any, kind: type) -> str | None:
        for base in kind.__mro__:
            choose = BY_VALUE.get(base)
            if choose is not None:
                return choose(value)
            if "java_name" in base.__dict__ or "java_name" in getattr(base, "__slots__", ()):
                return str(value.java_name)
            found = BY_PYTHON_TYPE.get(base)
            if found is not None:
                return found.name
            if base is not kind and declaration_for(base) is not None:
                raise Unencodable(f"{type_name(value)} has no Java type here: declare it with java_class")
        return None


def _collection_class(name: str) -> type:
    """The Python class of a collection, declared ones included. ``object`` for any other name."""
    declaration = declaration_of(name)
    if declaration is not None and declaration.extends:
        return declaration.python
    return COLLECTIONS.get(name, object)


#: By type of these wrappers: the Python class of the collections that they represent.
_HELD: dict[type, Any] = {java.Elements: (set, java.OrderedSet), java.Entries: dict}
