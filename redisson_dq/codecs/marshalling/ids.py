"""The lead bytes of the river protocol, version 4: of objects, arrays, collections and classes.

The names are those of ``org.jboss.marshalling.river.Protocol``. A class with its own id is written as that one byte,
and some of its objects have a short form.
"""

from __future__ import annotations

from typing import Final

from redisson_dq.java.arrays import PRIMITIVE_NAMES

__all__ = [
    "ARRAYS",
    "ARRAY_EMPTY",
    "BLOCK_LARGE",
    "BLOCK_MEDIUM",
    "BLOCK_SMALL",
    "BOOLEAN_FALSE",
    "BOOLEAN_TRUE",
    "BOXED",
    "CLASS_CLASS",
    "CLASS_OF_ID",
    "COLLECTIONS",
    "COLLECTION_EMPTY",
    "COPIES",
    "COUNTED",
    "CREATED_AS_OBJECTS",
    "END_BLOCK",
    "ENUM_CLASS",
    "ENUM_MAP",
    "ENUM_SET",
    "EXTERNALIZABLE_CLASS",
    "ID_OF_CLASS",
    "NEW_OBJECT",
    "NULL",
    "OBJECT_ARRAY_CLASS",
    "OBJECT_CLASS",
    "PLAIN_CLASS",
    "PRIMITIVES",
    "PROXY_CLASS",
    "REPEAT_CLASS_FAR",
    "REPEAT_CLASS_NEAR",
    "REPEAT_CLASS_NEARISH",
    "REPEAT_OBJECT_FAR",
    "REPEAT_OBJECT_NEAR",
    "REPEAT_OBJECT_NEARISH",
    "SERIALIZABLE_CLASS",
    "SINGLE_FIELDS",
    "STRING_EMPTY",
    "TIMES",
    "VERSION",
    "VERSIONS",
    "WRITE_OBJECT_CLASS",
]

#: The first byte of every value. Redisson writes 4; its decoder also reads older versions.
VERSION: Final = 4
VERSIONS: Final = (2, 3, 4)

NULL: Final = 0x01
REPEAT_OBJECT_FAR: Final = 0x02
NEW_OBJECT: Final = 0x04
REPEAT_CLASS_FAR: Final = 0x06
PLAIN_CLASS: Final = 0x07
PROXY_CLASS: Final = 0x08
SERIALIZABLE_CLASS: Final = 0x09
EXTERNALIZABLE_CLASS: Final = 0x0A
ENUM_CLASS: Final = 0x0C
OBJECT_ARRAY_CLASS: Final = 0x0D
CLASS_CLASS: Final = 0x15
OBJECT_CLASS: Final = 0x16
BLOCK_SMALL: Final = 0x32
BLOCK_MEDIUM: Final = 0x33
BLOCK_LARGE: Final = 0x34
END_BLOCK: Final = 0x35
WRITE_OBJECT_CLASS: Final = 0x38
REPEAT_OBJECT_NEAR: Final = 0x39
REPEAT_OBJECT_NEARISH: Final = 0x3A
REPEAT_CLASS_NEAR: Final = 0x3B
REPEAT_CLASS_NEARISH: Final = 0x3C
#: Empty, then with a length of one byte, two bytes and four bytes. 0 in one or two bytes is 256 or 65,536.
STRING_EMPTY: Final = 0x3D
ARRAY_EMPTY: Final = 0x41
COLLECTION_EMPTY: Final = 0x52
BOOLEAN_TRUE: Final = 0x50
BOOLEAN_FALSE: Final = 0x51

#: By the id of the type of an array's elements: the code of that primitive type.
PRIMITIVES: Final = dict(zip(range(0x20, 0x28), "ZBSIJCFD", strict=True))
#: By the id of an array's class: the code of its elements.
ARRAYS: Final = dict(zip(range(0x18, 0x20), "ZBSIJCFD", strict=True))
#: By the id of a boxed number: its class, and its value in the struct module. A char is the number of its UTF-16 unit.
BOXED: Final = {
    0x49: ("java.lang.Byte", ">b"),
    0x4A: ("java.lang.Short", ">h"),
    0x4B: ("java.lang.Integer", ">i"),
    0x4C: ("java.lang.Long", ">q"),
    0x4D: ("java.lang.Character", ">H"),
    0x4E: ("java.lang.Float", ">f"),
    0x4F: ("java.lang.Double", ">d"),
}

_UTIL = "java.util."
_HELPERS = "java.util.Collections$"
#: Collections that are written as a count and their elements.
COUNTED: Final = {
    0x5A: _UTIL + "ArrayList",
    0x5B: _UTIL + "LinkedList",
    0x75: _UTIL + "Vector",
    0x76: _UTIL + "Stack",
    0x78: _UTIL + "ArrayDeque",
    0x63: _UTIL + "IdentityHashMap",
}
ENUM_SET: Final = 0x6A
ENUM_MAP: Final = 0x6C
COPIES: Final = 0x7B
#: The collections that follow a count.
COLLECTIONS: Final = {
    **COUNTED,
    ENUM_SET: _UTIL + "EnumSet$SerializationProxy",
    ENUM_MAP: _UTIL + "EnumMap",
    COPIES: _HELPERS + "CopiesList",
}
#: Objects that are an id and the values of these fields. If the fields have the same value, it is written once.
SINGLE_FIELDS: Final[dict[int, tuple[str, tuple[tuple[str, ...], ...]]]] = {
    0x5C: (_HELPERS + "SingletonList", (("element",),)),
    0x5D: (_HELPERS + "EmptyList", ()),
    0x61: (_HELPERS + "SingletonSet", (("element",),)),
    0x62: (_HELPERS + "EmptySet", ()),
    0x68: (_HELPERS + "SingletonMap", (("k",), ("v",))),
    0x69: (_HELPERS + "EmptyMap", ()),
    0x79: (_HELPERS + "ReverseComparator", ()),
    0x7A: (_HELPERS + "ReverseComparator2", (("cmp",),)),
    0x7C: (_HELPERS + "UnmodifiableCollection", (("c",),)),
    0x7D: (_HELPERS + "UnmodifiableList", (("c", "list"),)),
    0x7E: (_HELPERS + "UnmodifiableMap", (("m",),)),
    0x7F: (_HELPERS + "UnmodifiableSet", (("c",),)),
    0x80: (_HELPERS + "UnmodifiableSortedSet", (("c", "ss"),)),
    0x81: (_HELPERS + "UnmodifiableSortedMap", (("m", "sm"),)),
}
#: Classes with an id whose objects are written like those of any class.
CREATED_AS_OBJECTS: Final = {
    0x73: "java.util.concurrent.CopyOnWriteArrayList",
    0x74: "java.util.concurrent.CopyOnWriteArraySet",
}

#: The class with which java.time writes its values.
TIMES: Final = "java.time.Ser"

#: By id of a java.lang.Class: the class that it describes.
CLASS_OF_ID: Final[dict[int, str]] = {
    0x14: "java.lang.String",
    CLASS_CLASS: "java.lang.Class",
    OBJECT_CLASS: "java.lang.Object",
    0x17: "java.lang.Enum",
    **{code: "[" + element for code, element in ARRAYS.items()},
    **{code: PRIMITIVE_NAMES[element] for code, element in PRIMITIVES.items()},
    0x28: "void",
    # In the order of the primitive types.
    0x29: "java.lang.Boolean",
    **{0x2A + place: name for place, (name, _) in enumerate(BOXED.values())},
    0x31: "java.lang.Void",
    0x6B: _UTIL + "EnumSet",
    0x6D: _UTIL + "AbstractCollection",
    0x6E: _UTIL + "AbstractSet",
    0x6F: _UTIL + "AbstractList",
    0x70: _UTIL + "AbstractQueue",
    0x71: _UTIL + "AbstractSequentialList",
    **COLLECTIONS,
    **{code: name for code, (name, _) in SINGLE_FIELDS.items()},
    **CREATED_AS_OBJECTS,
    # No longer written: classes of earlier versions of the protocol.
    0x5E: _UTIL + "HashSet",
    0x5F: _UTIL + "LinkedHashSet",
    0x60: _UTIL + "TreeSet",
    0x64: _UTIL + "HashMap",
    0x65: _UTIL + "Hashtable",
    0x66: _UTIL + "LinkedHashMap",
    0x67: _UTIL + "TreeMap",
    0x72: "java.util.concurrent.ConcurrentHashMap",
}
_NOT_WRITTEN = (0x5E, 0x5F, 0x60, 0x64, 0x65, 0x66, 0x67, 0x72)
ID_OF_CLASS: Final = {name: code for code, name in CLASS_OF_ID.items() if code not in _NOT_WRITTEN}
