"""Reads a .class file (chapter 4 of the JVM's specification): the declarations of the class, and the first values of
its fields.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

import attrs

from redisson_dq.cli.generate_classes._annotations import (
    Annotation,
    AnnotationPool,
    read_annotations,
    read_parameter_annotations,
)
from redisson_dq.cli.generate_classes._bytecode import INVOCATIONS, NEW, PUT_STATIC, instructions
from redisson_dq.cli.generate_classes._enum_values import constant_values, returned
from redisson_dq.cli.generate_classes._initial import Constructor, Pool, constructor

__all__ = [
    "ABSTRACT",
    "ENUM",
    "FINAL",
    "INTERFACE",
    "NATIVE",
    "PRIVATE",
    "PROTECTED",
    "PUBLIC",
    "READ_OBJECT",
    "STATIC",
    "STRICT",
    "SYNCHRONIZED",
    "SYNTHETIC",
    "TRANSIENT",
    "VOLATILE",
    "WRITE_OBJECT",
    "BadClass",
    "ClassFile",
    "Member",
    "read_class",
]

PUBLIC, PRIVATE, PROTECTED, STATIC, FINAL, SYNCHRONIZED, VOLATILE, TRANSIENT, NATIVE = (1 << bit for bit in range(9))
INTERFACE, ABSTRACT, STRICT, SYNTHETIC, ENUM = 0x200, 0x400, 0x800, 0x1000, 0x4000
_MODULE = 0x8000

#: How a class writes and reads its objects itself in Java's serialization.
WRITE_OBJECT = "writeObject", "(Ljava/io/ObjectOutputStream;)V"
READ_OBJECT = "readObject", "(Ljava/io/ObjectInputStream;)V"
_STREAM_METHODS = frozenset((WRITE_OBJECT, READ_OBJECT))
_STREAM = re.compile(r"Ljava/io/(Object|Data)?(Output|Input)(Stream)?;")

_MAGIC = 0xCAFEBABE
_UTF8, _INTEGER, _FLOAT, _LONG, _DOUBLE, _CLASS, _STRING, _FIELD, _NAME_AND_TYPE = 1, 3, 4, 5, 6, 7, 8, 9, 12
_MEMBERS = (_FIELD, 10, 11)
#: How long the code of a method is at most that gives a field, or a name in small letters.
_MOST_OF_GETTER = 16
_ENUM = "java.lang.Enum"
#: The bytes of a constant after its tag. A Utf8's are counted by its first two.
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}

_U2, _U4 = struct.Struct(">H"), struct.Struct(">I")
_S4, _S8 = struct.Struct(">i"), struct.Struct(">q")
_NUMBERS = {_INTEGER: _S4, _FLOAT: struct.Struct(">f"), _LONG: _S8, _DOUBLE: struct.Struct(">d")}
_TRIPLE, _ATTRIBUTE, _INNER_CLASS = struct.Struct(">HHH"), struct.Struct(">HI"), struct.Struct(">HHHH")


class BadClass(ValueError):
    """These bytes are no class file."""


@attrs.frozen
class Member:
    """A field or a method. ``signature`` is its generic type, where it has one.

    ``parameters`` has the annotations of a method's parameters, if any of them has one. javac leaves out the parameters
    that it adds itself. ``returns`` is the field that a method without arguments gives, or one of ``NAMES``, as far as
    its code tells.
    """

    name: str
    descriptor: str
    flags: int
    signature: str | None
    annotations: tuple[Annotation, ...] = ()
    parameters: tuple[tuple[Annotation, ...], ...] = ()
    returns: str = ""


@attrs.frozen
class ClassFile:
    """One class. Names of classes are as ``Class.getName`` gives them: ``com.acme.Outer$Inner``."""

    name: str
    #: As Class.getModifiers gives them. Those of a nested class are not the flags at the head of its file.
    modifiers: int
    superclass: str | None
    interfaces: tuple[str, ...]
    fields: tuple[Member, ...]
    methods: tuple[Member, ...]
    signature: str | None
    #: The constant serialVersionUID, where the class declares one.
    serial_version_uid: int | None
    #: Of an enum: the class of each constant, as far as its initializer shows. A constant with a body has its own
    #: class.
    constant_classes: dict[str, str] = attrs.field(factory=dict)
    #: The known values that its constructors put into fields, by descriptor.
    constructors: Mapping[str, Constructor] = attrs.field(factory=dict)
    #: The methods of the stream that the class calls to write and read itself in Java's serialization, and the
    #: functions that it gives the stream to. By method.
    stream_calls: Mapping[tuple[str, str], frozenset[str]] = attrs.field(factory=dict)
    #: Of an enum, as far as its code shows: the text or number by constant and field.
    constant_values: Mapping[str, Mapping[str, str | int]] = attrs.field(factory=dict)
    #: Those that a running program can see.
    annotations: tuple[Annotation, ...] = ()

    @property
    def is_interface(self) -> bool:
        return bool(self.modifiers & INTERFACE)

    @property
    def is_enum(self) -> bool:
        return self.superclass == _ENUM

    @property
    def is_record(self) -> bool:
        return self.superclass == "java.lang.Record"


def read_class(data: bytes) -> ClassFile:
    """The class in these bytes. Raises BadClass, and nothing else, when they are not exactly one. O(size)."""
    try:
        return _Reader(data).class_file()
    except (IndexError, struct.error) as error:
        raise BadClass("it ends too early") from error
    except UnicodeDecodeError as error:
        raise BadClass("it has a text that is not UTF-8") from error


class _Reader:
    """Walks through the bytes once. Reading beyond their end raises IndexError or struct.error."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._constants: list[int] = [0]  # where each one's contents begin; there is not a number 0
        self._pool = AnnotationPool(self._text, self._loadable)

    def class_file(self) -> ClassFile:
        if self._unpack(_U4)[0] != _MAGIC:
            raise BadClass("it does not begin like one")
        self._skip(4)  # the version: nothing that is read here has changed since Java 5
        self._walk_constants()
        flags, this, superclass = self._unpack(_TRIPLE)
        if flags & _MODULE:
            raise BadClass("it describes a module, not a class")
        interfaces = [self._u2() for _ in range(self._u2())]
        uids: list[int] = []
        fields = tuple(self._field(uids) for _ in range(self._u2()))
        members = [self._member() for _ in range(self._u2())]
        codes = {(member.name, member.descriptor): found["Code"] for member, found in members if "Code" in found}
        initializer = codes.get(("<clinit>", "()V"))
        attributes = self._attributes()
        if self._at != len(self._data):
            raise BadClass("there is more after its end")
        name = self._class_name(this)
        methods = tuple(
            attrs.evolve(member, returns=self._returned(name, found["Code"])) if _may_return(member, found) else member
            for member, found in members
        )
        is_enum = superclass and self._class_name(superclass) == _ENUM
        return ClassFile(
            name=name,
            modifiers=self._nested_modifiers(name, attributes, flags),
            superclass=self._class_name(superclass) if superclass else None,
            interfaces=tuple(map(self._class_name, interfaces)),
            fields=fields,
            methods=methods,
            signature=self._signature(attributes),
            serial_version_uid=uids[0] if uids else None,
            constant_classes=self._constant_classes(name, initializer) if initializer and is_enum else {},
            constructors={} if is_enum else self._constructors(name, codes),
            constant_values=self._constant_values(name, codes) if initializer and is_enum else {},
            annotations=self._annotations(attributes),
            stream_calls={method: self._stream_calls(codes[method]) for method in _STREAM_METHODS & codes.keys()},
        )

    # Moving on

    def _unpack(self, layout: struct.Struct) -> tuple[int, ...]:
        values = layout.unpack_from(self._data, self._at)
        self._at += layout.size
        return values

    def _u2(self) -> int:
        return self._unpack(_U2)[0]

    def _skip(self, size: int) -> None:
        self._at += size
        if self._at > len(self._data):
            raise IndexError

    def _walk_constants(self) -> None:
        count = self._u2()
        while len(self._constants) < count:
            tag = self._data[self._at]
            self._at += 1
            self._constants.append(self._at)
            if tag == _UTF8:
                self._skip(self._u2())
            elif tag in _SIZES:
                self._skip(_SIZES[tag])
            else:
                raise BadClass(f"it has a constant of kind {tag}, unknown here: broken, or from a later Java")
            if tag in (_LONG, _DOUBLE):
                self._constants.append(0)  # they count twice

    def _attributes(self) -> dict[str, int]:
        """Where the contents of each attribute begin."""
        found = {}
        for _ in range(self._u2()):
            name, size = self._unpack(_ATTRIBUTE)
            found[self._text(name)] = self._at
            self._skip(size)
        return found

    def _member(self) -> tuple[Member, dict[str, int]]:
        flags, name, descriptor = self._unpack(_TRIPLE)
        attributes = self._attributes()
        of_parameters = attributes.get("RuntimeVisibleParameterAnnotations")
        member = Member(
            self._text(name),
            self._text(descriptor),
            flags,
            self._signature(attributes),
            self._annotations(attributes),
            () if of_parameters is None else read_parameter_annotations(self._data, of_parameters, self._pool),
        )
        return member, attributes

    def _annotations(self, attributes: dict[str, int]) -> tuple[Annotation, ...]:
        position = attributes.get("RuntimeVisibleAnnotations")
        return () if position is None else read_annotations(self._data, position, self._pool)

    def _field(self, uids: list[int]) -> Member:
        field, attributes = self._member()
        if field.name == "serialVersionUID" and field.flags & STATIC and "ConstantValue" in attributes:
            uids.append(self._integer(self._u2_at(attributes["ConstantValue"])))
        return field

    def _constant_classes(self, name: str, code: int) -> dict[str, str]:
        """By constant: the class of the object that is made first before it is put into its field."""
        found: dict[str, str] = {}
        made: int | None = None
        size = _U4.unpack_from(self._data, code + 4)[0]
        for operation, at in instructions(self._data, code + 8, size):
            if operation == NEW and made is None:
                made = self._u2_at(at)
            elif operation == PUT_STATIC:
                owner, field, descriptor = self._member_named(self._u2_at(at))
                if made is not None and owner == name and descriptor == f"L{name.replace('.', '/')};":
                    found[field] = self._class_name(made)
                made = None
        return found

    def _stream_calls(self, code: int) -> frozenset[str]:
        """The names of the methods that are called on a stream of objects or get one."""
        found: set[str] = set()
        size = _U4.unpack_from(self._data, code + 4)[0]
        for operation, at in instructions(self._data, code + 8, size):
            if operation in INVOCATIONS:
                owner, method, descriptor = self._member_named(self._u2_at(at))
                if _STREAM.fullmatch(f"L{owner.replace('.', '/')};") or _STREAM.search(descriptor.partition(")")[0]):
                    found.add(method)
        return frozenset(found)

    # Looking up

    def _constructors(self, name: str, codes: Mapping[tuple[str, str], int]) -> Mapping[str, Constructor]:
        """``codes``: where the contents of each method's Code attribute begin."""
        of_constructors = {key[1]: code for key, code in codes.items() if key[0] == "<init>"}
        read = {
            descriptor: constructor(self._code(code), name, descriptor, self._constant_pool())
            for descriptor, code in of_constructors.items()
        }
        return {descriptor: made for descriptor, made in read.items() if made is not None}

    def _constant_values(
        self, name: str, codes: Mapping[tuple[str, str], int]
    ) -> Mapping[str, Mapping[str, str | int]]:
        constructors = {key[1]: self._code(code) for key, code in codes.items() if key[0] == "<init>"}
        return constant_values(name, self._code(codes["<clinit>", "()V"]), constructors, self._constant_pool())

    def _returned(self, name: str, code: int) -> str:
        found = self._code(code)
        return returned(found, name, self._constant_pool()) if len(found) <= _MOST_OF_GETTER else ""

    def _code(self, code: int) -> bytes:
        """The instructions of a Code attribute whose contents begin there."""
        (size,) = _U4.unpack_from(self._data, code + 4)
        return self._data[code + 8 : code + 8 + size]

    def _constant_pool(self) -> Pool:
        return Pool(self._loadable, self._class_name, self._member_named)

    def _loadable(self, index: int) -> int | float | str | None:
        """A constant that ldc loads, if it is a number or a text."""
        position = self._constants[index]
        tag = self._data[position - 1] if position else 0
        if tag == _STRING:
            return self._text(self._u2_at(position))
        if tag not in _NUMBERS:
            return None
        value: int | float = _NUMBERS[tag].unpack_from(self._data, position)[0]
        return value

    def _member_named(self, index: int) -> tuple[str, str, str]:
        position = self._constant(index, *_MEMBERS)
        pair = self._constant(self._u2_at(position + 2), _NAME_AND_TYPE)
        owner = self._class_name(self._u2_at(position))
        return owner, self._text(self._u2_at(pair)), self._text(self._u2_at(pair + 2))

    def _u2_at(self, position: int) -> int:
        value: int = _U2.unpack_from(self._data, position)[0]
        return value

    def _constant(self, index: int, *kinds: int) -> int:
        position = self._constants[index]
        if not position or self._data[position - 1] not in kinds:
            raise BadClass(f"its constant {index} is of another kind than it must be")
        return position

    def _text(self, index: int) -> str:
        position = self._constant(index, _UTF8)
        size = self._u2_at(position)
        return _decoded(self._data[position + 2 : position + 2 + size])

    def _class_name(self, index: int) -> str:
        return self._text(self._u2_at(self._constant(index, _CLASS))).replace("/", ".")

    def _integer(self, index: int) -> int:
        position = self._constant(index, _INTEGER, _LONG)
        layout = _S4 if self._data[position - 1] == _INTEGER else _S8
        value: int = layout.unpack_from(self._data, position)[0]
        return value

    def _signature(self, attributes: dict[str, int]) -> str | None:
        position = attributes.get("Signature")
        return None if position is None else self._text(self._u2_at(position))

    def _nested_modifiers(self, name: str, attributes: dict[str, int], flags: int) -> int:
        """The modifiers that a nested class was declared with; ``flags`` for one that is not nested."""
        if "InnerClasses" in attributes:
            start = attributes["InnerClasses"]
            for at in range(start + 2, start + 2 + 8 * self._u2_at(start), 8):
                inner, _, _, modifiers = _INNER_CLASS.unpack_from(self._data, at)
                if self._class_name(inner) == name:
                    return int(modifiers)
        return flags


def _may_return(method: Member, attributes: Mapping[str, int]) -> bool:
    is_of_class = method.flags & (STATIC | SYNTHETIC)
    return (
        "Code" in attributes and not is_of_class and method.descriptor.startswith("()") and method.descriptor != "()V"
    )


def _decoded(data: bytes) -> str:
    """Java's modified UTF-8: a zero takes two bytes, a character beyond U+FFFF is two surrogates."""
    if data.isascii():
        return data.decode("ascii")
    units = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
