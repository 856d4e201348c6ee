"""Which classes a module declares: those that were asked for, and those that their values are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import attrs

from redisson_dq.cli.generate_classes import _classfile as flags
from redisson_dq.cli.generate_classes._classfile import BadClass, ClassFile, Member
from redisson_dq.cli.generate_classes._defaults import initial_values
from redisson_dq.cli.generate_classes._initial import Initial
from redisson_dq.cli.generate_classes._jackson import JsonFacts, json_facts
from redisson_dq.cli.generate_classes._serial_version import serial_version_uid
from redisson_dq.cli.generate_classes._signatures import OBJECT, ClassSignature, TypeUse, class_signature, field_type
from redisson_dq.cli.generate_classes._sources import Library
from redisson_dq.cli.generate_classes._streams import why_not_written
from redisson_dq.errors import ArgumentError
from redisson_dq.java import kotlin
from redisson_dq.java.extending import may_extend
from redisson_dq.java.hierarchy import kind_of
from redisson_dq.java.registry import declaration_for

__all__ = ["PRIMITIVES", "Closure", "DeclaredClass", "JavaField", "Why", "java_name_of"]

PRIMITIVES = frozenset(("boolean", "byte", "char", "short", "int", "long", "float", "double"))

_NAME = re.compile(r"(?!\d)[\w$]+(\.(?!\d)[\w$]+)*")
_NUMBER = "java.lang.Number"
#: The superclasses of records and enums, those without fields, and all that are no superclass of a declaration.
_SPECIAL = ("java.lang.Record", "java.lang.Enum")
_WITHOUT_FIELDS = ("java.lang.Object", _NUMBER)
_ROOTS = (*_SPECIAL, *_WITHOUT_FIELDS)
#: Java's own packages: a class of theirs that is in no jar is not missing.
_JDK = re.compile(
    r"(java|jdk|sun|com\.sun|javax\.(crypto|imageio|management|naming|net|print|script|security|sql|swing|xml))\."
)
_JDK_THROWABLE = re.compile(r"java\..*(Throwable|Exception|Error)")
#: Whatever implements or extends one of these is written as a collection, not by its fields.
_COLLECTIONS = re.compile(
    r"java\.util\.(concurrent\.)?(\w*(Collection|List|Set|Queue|Deque|Map)|Vector|Stack|Hashtable|Properties|Dictionary)"
)
_SERIALIZABLE = frozenset(("java.io.Serializable", "java.io.Externalizable", _NUMBER))
#: The methods with which a class writes itself in Java's serialization.
_WRITERS = {
    ("writeObject", "(Ljava/io/ObjectOutputStream;)V"),
    ("writeExternal", "(Ljava/io/ObjectOutput;)V"),
    ("writeReplace", "()Ljava/lang/Object;"),
}

_READ_RESOLVE = ("readResolve", "()Ljava/lang/Object;")


def java_name_of(python: type) -> str | None:
    """The one Java class that a class of redisson_dq.java stands for, if there is one."""
    declared = declaration_for(python)
    name = declared.name if declared else getattr(python, "java_name", None)
    return name if isinstance(name, str) else None


#: The classes of Kotlin's library that are declared already.
_KOTLIN = frozenset(java_name_of(getattr(kotlin, name)) for name in kotlin.__all__)


class Why(Enum):
    """Why a class is not declared; the value is said of it."""

    JDK = "belongs to Java itself"
    INTERFACE = "is an interface"
    THROWABLE = "is an exception, which comes as a java.Throwable without being declared"
    COLLECTION = (
        "is a collection or a map of its own, which is not written by its fields: send an ArrayList, a HashMap ..., a "
        "class that extends one of these, or one that has it in a field"
    )
    JDK_SUPERCLASS = "extends a class of Java itself, whose fields are not known"
    CONSTANT = "is the class of one constant of an enum"
    MISSING = "is in none of the jars"
    MISSING_SUPERCLASS = "extends a class that is in none of the jars"


@attrs.frozen
class JavaField:
    """A field that is part of an object's value."""

    name: str
    type: TypeUse
    #: Its first value, where the constructors tell it.
    initial: Initial | None = None


@attrs.frozen
class DeclaredClass:
    """The facts of a class that its declaration states."""

    name: str
    kind: str  # class, record, enum or collection
    final: bool
    #: A class of which there are no objects but those of its subclasses.
    abstract: bool
    #: The type parameters, each with the class that it is erased to.
    parameters: dict[str, str]
    #: None where it is Object, Record or Enum.
    superclass: TypeUse | None
    #: The interfaces that it implements itself, and those that these extend; of a generic class with their arguments.
    interfaces: tuple[TypeUse, ...]
    #: Whether there may be more of them, as the jars lack one of these.
    implements_more: bool
    fields: tuple[JavaField, ...]
    constants: tuple[str, ...]
    #: By constant of an enum that has a body: the class of it.
    bodies: dict[str, str]
    #: None for an enum, and for a class that is not Serializable.
    serial_version_uid: int | None
    #: Whether its objects refer to an enclosing one, by a field that is not among ``fields``.
    has_outer: bool
    #: The method with which the class writes itself in Java's serialization, if it has one.
    writer: str | None
    #: Why Java could not read its objects if their fields alone were written in Java's serialization.
    not_written: str = attrs.field(default="", kw_only=True)
    #: Whether it is an enum with a toString() of its own.
    has_text: bool
    #: The constructor that Kryo calls to read a sorted collection, if the class lacks it.
    lacks: str = ""
    #: By superclass and field: its first value in an object of this class, where that differs from the superclass's.
    inherited: Mapping[tuple[str, str], Initial] = attrs.field(factory=dict, kw_only=True)
    #: Its annotations of Jackson, for Jackson 2 and for Jackson 3.
    json: JsonFacts = attrs.field(factory=JsonFacts, kw_only=True)
    json3: JsonFacts = attrs.field(factory=JsonFacts, kw_only=True)

    def types(self) -> Iterator[TypeUse]:
        """The types of its fields and the arguments of its superclass, each with its own arguments."""
        for field in self.fields:
            yield from _parts(field.type)
        for argument in self.superclass.arguments if self.superclass else ():
            yield from _parts(argument)


class Closure:
    """The classes of a module, collected by :meth:`add`. Every class that is met is in one of the two dicts.

    Methods raise ArgumentError for a class that is needed and cannot be read.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self.declared: dict[str, DeclaredClass] = {}
        self.undeclared: dict[str, Why] = {}
        #: Classes that a pattern matches and that are not declared.
        self.dropped: dict[str, Why] = {}
        #: Classes that are in none of the jars, with a class that has a field of it; and with one that extends it.
        self.missing: dict[str, str] = {}
        self.missing_superclasses: dict[str, str] = {}
        #: Classes of the jar that :meth:`add_subclasses` could not read: the messages.
        self.unreadable: list[str] = []
        #: The types of values: those that were added, and the types of fields. A mere superclass is none.
        self._of_values: dict[str, None] = {}

    def add(self, name: str) -> Why | None:
        """Declare the class, and all that it needs and can be declared. Why not, if the class itself cannot be."""
        self._of_values[name] = None
        waiting = [name]
        while waiting:
            met = waiting.pop()
            if met in self.declared or met in self.undeclared:
                continue
            if _NAME.fullmatch(met) is None:
                raise ArgumentError(f"{met} is no name that a class in Java source can have")
            why = self._why_not(met)
            if why is not None:
                self.undeclared[met] = why
                continue
            known = self._known(met)
            values = initial_values(known, self._find)
            java = _java_class(known, self._supertypes(met), values, *self._interfaces(known))
            java = attrs.evolve(java, inherited=self._inherited(known, values))
            if java.serial_version_uid is not None and java.kind in ("class", "collection"):
                java = attrs.evolve(java, not_written=why_not_written(known, self._find))
            if any(map(_has_text, (self._find(body) for body in java.bodies.values()))):
                java = attrs.evolve(java, has_text=True)
            json, json3 = (json_facts(known, self._find, jackson_3=jackson_3) for jackson_3 in (False, True))
            self.declared[met] = attrs.evolve(java, json=json, json3=json3)
            if java.superclass is not None and not may_extend(java.superclass.name):
                waiting.append(java.superclass.name)
            used = [use.name for use in java.types() if not use.is_variable and use.name not in PRIMITIVES]
            used += java.parameters.values()
            for needed in used:
                self._of_values[needed] = None
                if self._find(needed) is None and not _is_known(needed):
                    self.missing.setdefault(needed, met)
            waiting += used
        return self.undeclared.get(name)

    def add_subclasses(self) -> None:
        """Declares the classes that extend or implement a type of values, until none is left. Reads all of the jar."""
        children = self._children()
        done: set[str] = set()
        while waiting := sorted(self._of_values.keys() - done):
            done.update(waiting)
            for name in waiting:
                for child in children.get(name, ()):
                    self.add(child)

    def _children(self) -> dict[str, list[str]]:
        children: dict[str, list[str]] = {}
        for name in self._library.names():
            try:
                java = self._known(name)
            except ArgumentError as error:
                self.unreadable.append(str(error))
                continue
            for parent in _parents(java):
                if not parent.startswith("java."):
                    children.setdefault(parent, []).append(name)
        return children

    def _why_not(self, name: str) -> Why | None:
        java = self._find(name)
        if java is None:
            if not _is_known(name):
                return Why.MISSING
            return Why.THROWABLE if _JDK_THROWABLE.fullmatch(name) else Why.JDK
        if java.is_interface:
            return Why.INTERFACE
        if java.superclass in _SPECIAL:
            return None
        if java.modifiers & flags.ENUM:
            return Why.CONSTANT
        supertypes = self._supertypes(name)
        if any(_COLLECTIONS.fullmatch(supertype) for supertype in supertypes):
            top_most = java
            while top_most.superclass is not None and (above := self._find(top_most.superclass)) is not None:
                top_most = above
            extends = top_most.superclass is not None and may_extend(top_most.superclass)
            return None if extends else Why.COLLECTION
        top = java
        while top.superclass is not None and (parent := self._find(top.superclass)) is not None:
            if parent.is_enum:  # Kotlin does not mark the class of a constant as one
                return Why.CONSTANT
            if parent.is_interface or parent.is_record:
                raise ArgumentError(f"{top.name} extends {parent.name}, which no class may extend")
            top = parent
        if top.superclass is None or top.superclass in _WITHOUT_FIELDS:
            return None
        if _JDK.match(top.superclass) is None:
            self.missing_superclasses.setdefault(top.superclass, top.name)
            return Why.MISSING_SUPERCLASS
        return Why.THROWABLE if _JDK_THROWABLE.fullmatch(top.superclass) else Why.JDK_SUPERCLASS

    def _supertypes(self, name: str) -> set[str]:
        """All superclasses and interfaces of a class, as far as the jars tell."""
        found: set[str] = set()
        waiting = _parents(self._known(name))
        while waiting:
            parent = waiting.pop()
            if parent not in found:
                found.add(parent)
                java = self._find(parent)
                waiting += _parents(java) if java else ()
        if name in found:
            raise ArgumentError(f"{name} extends itself")
        return found

    def _interfaces(self, java: ClassFile) -> tuple[tuple[TypeUse, ...], bool]:
        """The interfaces of a class and those that they extend, and Number if the class extends it itself; and whether
        there may be more, which no jar tells.

        Those of a generic class are in terms of its own parameters, those of any other are names.
        """
        try:
            head = class_signature(java.signature) if java.signature else None
            is_generic = head is not None and bool(head.parameters)
            found = {_NUMBER: TypeUse(_NUMBER)} if java.superclass == _NUMBER else {}
            waiting = _direct_interfaces(java, head if is_generic else None)
            while waiting:
                use = waiting.pop()
                if use.name in found:
                    continue
                found[use.name] = use
                above = self._find(use.name)
                if above is None:
                    continue
                above_head = class_signature(above.signature) if above.signature and is_generic else None
                is_raw = above_head is not None and bool(above_head.parameters) and not use.arguments
                given = dict(zip(above_head.parameters, use.arguments, strict=False)) if above_head else {}
                waiting += [
                    _replaced(parent, given) for parent in _direct_interfaces(above, None if is_raw else above_head)
                ]
            # Java may replace a serialized object with a readResolve() by one of any class.
            more = any((method.name, method.descriptor) == _READ_RESOLVE for method in java.methods)
            return tuple(found.values()), more or any(
                self._find(name) is None and kind_of(name) is None for name in found
            )
        except BadClass as error:
            raise ArgumentError(f"{java.name} cannot be read: {error}") from error

    def _inherited(self, java: ClassFile, values: Mapping[tuple[str, str], Initial]) -> dict[tuple[str, str], Initial]:
        above = self._find(java.superclass) if java.superclass is not None else None
        plain = {} if above is None else initial_values(above, self._find)
        return {key: value for key, value in values.items() if key[0] != java.name and plain.get(key) != value}

    def _find(self, name: str) -> ClassFile | None:
        """The class, if a jar may have it: Java's own are never looked for, nor are those declared already."""
        return None if name.startswith("java.") or name in _KOTLIN else self._library.find(name)

    def _known(self, name: str) -> ClassFile:
        java = self._library.find(name)
        assert java is not None
        return java


def _has_text(java: ClassFile | None) -> bool:
    return java is not None and any(
        (method.name, method.descriptor) == ("toString", "()Ljava/lang/String;") for method in java.methods
    )


def _is_known(name: str) -> bool:
    """Whether the class is not missing where no jar has it."""
    return name in _KOTLIN or _JDK.match(name) is not None


def _parents(java: ClassFile) -> list[str]:
    return [*([java.superclass] if java.superclass else ()), *java.interfaces]


def _direct_interfaces(java: ClassFile, head: ClassSignature | None) -> list[TypeUse]:
    """The last one first; without a head by name."""
    uses = (
        map(TypeUse, java.interfaces)
        if head is None
        else (_within(use, head.parameters, OBJECT) for use in head.interfaces)
    )
    return [*uses][::-1]


def _parts(use: TypeUse) -> Iterator[TypeUse]:
    yield use
    for argument in use.arguments:
        yield from _parts(argument)


def _java_class(
    java: ClassFile,
    supertypes: set[str],
    values: Mapping[tuple[str, str], Initial],
    interfaces: tuple[TypeUse, ...],
    implements_more: bool,
) -> DeclaredClass:
    try:
        head = class_signature(java.signature) if java.signature else None
        instance = [field for field in java.fields if not field.flags & (flags.STATIC | flags.TRANSIENT)]
        parameters = _erasures(head) if head else {}
        superclass = None
        if java.superclass is not None and java.superclass not in _ROOTS:
            arguments = _within(head.superclass, parameters, OBJECT).arguments if head else ()
            superclass = TypeUse(java.superclass, arguments)
        kind = "enum" if java.is_enum else "record" if java.is_record else "class"
        if any(_COLLECTIONS.fullmatch(supertype) for supertype in supertypes):
            kind = "collection"
        fields = [] if java.is_enum else [field for field in instance if not field.flags & flags.SYNTHETIC]
        serializable = kind == "collection" or (kind != "enum" and not supertypes.isdisjoint(_SERIALIZABLE))
        constants = tuple(field.name for field in java.fields if field.flags & flags.ENUM)
        writers = [method.name for method in java.methods if (method.name, method.descriptor) in _WRITERS]
        return DeclaredClass(
            name=java.name,
            kind=kind,
            final=bool(java.modifiers & flags.FINAL),
            abstract=kind in ("class", "collection") and bool(java.modifiers & flags.ABSTRACT),
            parameters=parameters,
            superclass=superclass,
            interfaces=interfaces,
            implements_more=implements_more,
            fields=tuple(
                JavaField(field.name, _field_type(field, parameters), values.get((java.name, field.name)))
                for field in fields
            ),
            constants=constants,
            bodies={
                constant: java.constant_classes[constant]
                for constant in constants
                if java.constant_classes.get(constant, "").startswith(f"{java.name}$")
            },
            serial_version_uid=serial_version_uid(java) if serializable else None,
            has_outer=any(field.flags & flags.SYNTHETIC for field in instance),
            writer=writers[0] if writers and serializable else None,
            has_text=java.is_enum and _has_text(java),
            lacks=_lacking(java, supertypes),
        )
    except BadClass as error:
        raise ArgumentError(f"{java.name} cannot be read: {error}") from error


#: The arguments with which Kryo makes the sorted collections.
_SORTED = {
    "java.util.TreeSet": "(Ljava/util/Comparator;)V",
    "java.util.TreeMap": "(Ljava/util/Comparator;)V",
    "java.util.concurrent.ConcurrentSkipListMap": "(Ljava/util/Comparator;)V",
    "java.util.PriorityQueue": "(ILjava/util/Comparator;)V",
}


def _lacking(java: ClassFile, supertypes: set[str]) -> str:
    constructors = {method.descriptor for method in java.methods if method.name == "<init>"}
    for name, descriptor in _SORTED.items():
        if name in supertypes and descriptor not in constructors:
            arguments = "int, Comparator" if descriptor.startswith("(I") else "Comparator"
            return f"{java.name.rpartition('.')[2].rpartition('$')[2]}({arguments})"
    return ""


def _erasures(head: ClassSignature) -> dict[str, str]:
    """By type parameter: the class of its first bound, which may be that of another parameter."""
    erasures = {}
    for name, bound in head.parameters.items():
        for _ in head.parameters:
            if bound.is_variable:
                bound = head.parameters.get(bound.name, OBJECT)
        erasures[name] = OBJECT.name if bound.is_variable else bound.name
    return erasures


def _field_type(field: Member, parameters: dict[str, str]) -> TypeUse:
    erased = field_type(field.descriptor)
    return _within(field_type(field.signature), parameters, erased) if field.signature else erased


def _within(use: TypeUse, parameters: Mapping[str, Any], erased: TypeUse) -> TypeUse:
    """The type with the class's own parameters as its only variables; those of an enclosing class are erased."""
    if use.is_variable:
        return use if use.name in parameters else erased
    return attrs.evolve(use, arguments=tuple(_within(argument, parameters, OBJECT) for argument in use.arguments))


def _replaced(use: TypeUse, given: Mapping[str, TypeUse]) -> TypeUse:
    """The type with these instead of the variables of their names."""
    if use.is_variable:
        known = given.get(use.name, OBJECT)
        return attrs.evolve(known, dimensions=known.dimensions + use.dimensions)
    return attrs.evolve(use, arguments=tuple(_replaced(argument, given) for argument in use.arguments))
