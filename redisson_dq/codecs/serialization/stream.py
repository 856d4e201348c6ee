"""The parts of a stream of Java's Object Serialization Stream Protocol, version 5.

The grammar is the one in chapter 6 of Java's Object Serialization Specification. ``reader`` and ``writer`` follow it
rule by rule. Both use the neutral structures of this module, which know nothing about the meaning of a class. A
*content* is one of these:

==================  =====================================================================================
None                TC_NULL
str                 TC_STRING, TC_LONGSTRING
bytes               block data: what a class's writeObject wrote with writeInt and its kin
ClassDesc           TC_CLASSDESC, TC_PROXYCLASSDESC
Instance            TC_OBJECT
ArrayInstance       TC_ARRAY
EnumConstant        TC_ENUM
ClassObject         TC_CLASS
==================  =====================================================================================

Each content except null and block data gets a *handle*, a number that counts up from 0x7E0000, where the grammar says
``newHandle``. A content that occurs again is written as TC_REFERENCE and its handle. The structures compare by
identity, like Java's objects: the same content twice is one object twice.
"""

from __future__ import annotations

import struct
from typing import Any, Final, NamedTuple

import attrs

from redisson_dq.java.arrays import component_of

__all__ = [
    "ARRAY",
    "BASE_HANDLE",
    "BLOCK_DATA",
    "BLOCK_DATA_LONG",
    "CLASS",
    "CLASS_DESC",
    "END_BLOCK_DATA",
    "ENUM",
    "EXCEPTION",
    "HEADER",
    "LONG_STRING",
    "NULL",
    "OBJECT",
    "PROXY_CLASS_DESC",
    "REFERENCE",
    "RESET",
    "SC_BLOCK_DATA",
    "SC_ENUM",
    "SC_EXTERNALIZABLE",
    "SC_SERIALIZABLE",
    "SC_WRITE_METHOD",
    "STRING",
    "STRUCT_CODES",
    "ArrayInstance",
    "ClassDesc",
    "ClassObject",
    "Content",
    "EnumConstant",
    "FieldDesc",
    "Instance",
    "OwnText",
    "Section",
]

#: STREAM_MAGIC and STREAM_VERSION.
HEADER: Final = b"\xac\xed\x00\x05"
BASE_HANDLE: Final = 0x7E0000

# TC_...
NULL: Final = 0x70
REFERENCE: Final = 0x71
CLASS_DESC: Final = 0x72
OBJECT: Final = 0x73
STRING: Final = 0x74
ARRAY: Final = 0x75
CLASS: Final = 0x76
BLOCK_DATA: Final = 0x77
END_BLOCK_DATA: Final = 0x78
RESET: Final = 0x79
BLOCK_DATA_LONG: Final = 0x7A
EXCEPTION: Final = 0x7B
LONG_STRING: Final = 0x7C
PROXY_CLASS_DESC: Final = 0x7D
ENUM: Final = 0x7E

# Flags of a class descriptor.
SC_WRITE_METHOD: Final = 0x01
SC_SERIALIZABLE: Final = 0x02
SC_EXTERNALIZABLE: Final = 0x04
SC_BLOCK_DATA: Final = 0x08
SC_ENUM: Final = 0x10

#: By type code of a primitive: its format in the struct module. A char is the number of its UTF-16 unit.
STRUCT_CODES: Final = {"B": "b", "C": "H", "D": "d", "F": "f", "I": "i", "J": "q", "S": "h", "Z": "?"}

#: See the registry in the module's docstring.
Content = Any


class FieldDesc(NamedTuple):
    """A field: its name, and its type as in a class file: ``I``, ``Ljava/lang/String;``, ``[[J``."""

    name: str
    type: str


@attrs.define(eq=False, repr=False)
class ClassDesc:
    """A class as the stream describes it: ``java.util.HashMap``; an array's name is ``[Ljava.lang.String;``.

    Fields of primitive types are before the others. ``flags`` are the ``SC_`` ones, ``superclass`` is the
    nearest serializable superclass. A dynamic proxy has no name, but ``interfaces``.
    """

    name: str
    uid: int
    flags: int = 0
    fields: tuple[FieldDesc, ...] = ()
    superclass: ClassDesc | None = None
    interfaces: tuple[str, ...] | None = None
    _layout: tuple[struct.Struct, tuple[str, ...], tuple[str, ...]] | None = attrs.field(default=None, init=False)
    _lineage: tuple[ClassDesc, ...] | None = attrs.field(default=None, init=False)
    _component: str | None = attrs.field(default=None, init=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy gets only these arguments, and computes the rest again."""
        return ClassDesc, (self.name, self.uid, self.flags, self.fields, self.superclass, self.interfaces)

    def same_as(self, other: ClassDesc) -> bool:
        """Whether both describe a class in the same way. Their superclasses are not compared."""
        return (self.name, self.uid, self.flags, self.fields) == (other.name, other.uid, other.flags, other.fields)

    @property
    def component(self) -> str:
        """The element type of an array class. Raises ValueError if the name is not that of an array class.

        Computed once for all arrays: a reference to a class takes five bytes, and its name may be long.
        """
        if self._component is None:
            self._component = component_of(self.name)
        return self._component

    @property
    def layout(self) -> tuple[struct.Struct, tuple[str, ...], tuple[str, ...]]:
        """The format of the primitive fields, their names, and the names of the other fields."""
        if self._layout is None:
            primitive = [field for field in self.fields if field.type in STRUCT_CODES]
            self._layout = (
                struct.Struct(">" + "".join(STRUCT_CODES[field.type] for field in primitive)),
                tuple(field.name for field in primitive),
                tuple(field.name for field in self.fields[len(primitive) :]),
            )
        return self._layout

    @property
    def lineage(self) -> tuple[ClassDesc, ...]:
        """The classes that have data in an object: this one and its superclasses, the topmost first.

        Classes with neither fields nor a writeObject write no bytes, so they are left out.
        """
        if self._lineage is None:
            found: list[ClassDesc] = []
            desc: ClassDesc | None = self
            while desc is not None:
                if desc.fields or desc.flags & (SC_WRITE_METHOD | SC_EXTERNALIZABLE):
                    found.append(desc)
                desc = desc.superclass
            self._lineage = tuple(reversed(found))
        return self._lineage


@attrs.define(eq=False, repr=False)
class Section:
    """The data of one class in an object: the fields by name, and the data that writeObject wrote."""

    values: dict[str, Content] = attrs.field(factory=dict)
    annotation: list[Content] = attrs.field(factory=list)


@attrs.define(eq=False, repr=False)
class Instance:
    """An object: a section for each class of its descriptor's lineage, by class name, in that order."""

    desc: ClassDesc
    sections: dict[str, Section] = attrs.field(factory=dict)
    offset: int = 0
    #: Whether a reference to the object was read.
    shared: bool = False


@attrs.define(eq=False, repr=False)
class ArrayInstance:
    """An array: bytes for ``byte[]``, a tuple of numbers for any other primitive type, else a list of contents."""

    desc: ClassDesc
    items: Any
    offset: int = 0
    shared: bool = False


@attrs.define(eq=False, repr=False)
class EnumConstant:
    """A constant of an enum."""

    desc: ClassDesc
    name: str
    offset: int = 0


@attrs.define(eq=False, repr=False)
class OwnText:
    """A text that is written as a separate object, even if an equal text was written before."""

    text: str


@attrs.define(eq=False, repr=False)
class ClassObject:
    """A ``java.lang.Class``."""

    desc: ClassDesc
    offset: int = 0
