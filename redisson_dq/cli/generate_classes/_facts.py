"""The facts of one class that its declaration states, read from its class file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from redisson_dq.cli.generate_classes import _classfile as flags
from redisson_dq.cli.generate_classes._classfile import BadClass, ClassFile, Member
from redisson_dq.cli.generate_classes._errors import UnreadableError
from redisson_dq.cli.generate_classes._initial import Initial
from redisson_dq.cli.generate_classes._jackson import JsonFacts
from redisson_dq.cli.generate_classes._serial_version import serial_version_uid
from redisson_dq.cli.generate_classes._signatures import OBJECT, ClassSignature, TypeUse, class_signature, field_type
from redisson_dq.cli.generate_classes._supertypes import NUMBER, OWN_COLLECTIONS, ROOTS, is_collection

__all__ = ["DeclaredClass", "JavaField", "class_facts", "has_text"]

_SERIALIZABLE = frozenset(("java.io.Serializable", "java.io.Externalizable", NUMBER))
#: The methods with which a class writes itself in Java's serialization.
_WRITERS = {
    ("writeObject", "(Ljava/io/ObjectOutputStream;)V"),
    ("writeExternal", "(Ljava/io/ObjectOutput;)V"),
    ("writeReplace", "()Ljava/lang/Object;"),
}


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
    #: Why Java could not read its objects if only their fields were written in Java's serialization.
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
            yield from field.type.parts()
        for argument in self.superclass.arguments if self.superclass else ():
            yield from argument.parts()


def class_facts(
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
        if java.superclass is not None and java.superclass not in ROOTS:
            arguments = head.superclass.within(parameters, OBJECT).arguments if head else ()
            superclass = TypeUse(java.superclass, arguments)
        superclass = OWN_COLLECTIONS.get(java.name, superclass)
        kind = "enum" if java.is_enum else "record" if java.is_record else "class"
        if is_collection(supertypes):
            kind = "collection"
        fields = (
            []
            if java.is_enum or java.name in OWN_COLLECTIONS
            else [field for field in instance if not field.flags & flags.SYNTHETIC]
        )
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
            has_text=java.is_enum and has_text(java),
            lacks=_lacking(java, supertypes),
        )
    except BadClass as error:
        raise UnreadableError(f"{java.name} cannot be read: {error}") from error


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
    return field_type(field.signature).within(parameters, erased) if field.signature else erased


def has_text(java: ClassFile | None) -> bool:
    return java is not None and any(
        (method.name, method.descriptor) == ("toString", "()Ljava/lang/String;") for method in java.methods
    )
