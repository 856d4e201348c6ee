"""How protostuff writes the values of a declared type, and the fields of a class by number."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import attrs

from redisson_dq.codecs.protostuff.jdk import JDK
from redisson_dq.codecs.protostuff.scalars import ARRAY_IDS, NAMES, SCALARS
from redisson_dq.errors import ArgumentError
from redisson_dq.java.arrays import Array
from redisson_dq.java.collections import COLLECTIONS, map_of, set_of
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.facts import ZEROS
from redisson_dq.java.fields import attributes_of
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.signatures import OBJECT, Signature

__all__ = [
    "ARRAY",
    "ARRAY_ENUM",
    "ARRAY_POJO",
    "ARRAY_SCALAR",
    "COLLECTION",
    "ENUM",
    "FILLED",
    "MAP",
    "POJO",
    "MessageField",
    "allowed_in",
    "array_name",
    "collected",
    "collection_made_for",
    "element_type",
    "entry_types",
    "family",
    "is_boxed",
    "is_map",
    "kind_of",
    "message_fields",
]

#: The numbers that precede a value whose type is not declared, except scalars.
ARRAY, ENUM, COLLECTION, MAP = 15, 24, 25, 26
ARRAY_SCALAR, ARRAY_ENUM, ARRAY_POJO, POJO = 33, 34, 35, 127

_UTIL = "java.util."
_CONCURRENT = "java.util.concurrent."

_LISTS = "ArrayList LinkedList Vector Stack ArrayDeque PriorityQueue"
_SETS = "HashSet LinkedHashSet TreeSet"
_MAPS = "HashMap LinkedHashMap TreeMap WeakHashMap IdentityHashMap Hashtable Properties"
_CONCURRENT_ONES = (
    "CopyOnWriteArrayList ConcurrentLinkedQueue ConcurrentLinkedDeque LinkedBlockingQueue LinkedBlockingDeque "
    "PriorityBlockingQueue CopyOnWriteArraySet ConcurrentSkipListSet ConcurrentHashMap ConcurrentSkipListMap"
)
#: By the name in the bytes: the collections that Java can read back.
FILLED: dict[str, str] = {
    **{name: _UTIL + name for name in f"{_LISTS} {_SETS} {_MAPS}".split()},
    **{name: _CONCURRENT + name for name in _CONCURRENT_ONES.split()},
    # Protostuff has no short name for this one.
    _CONCURRENT + "LinkedTransferQueue": _CONCURRENT + "LinkedTransferQueue",
}

#: By declared type: the collection that Java makes.
_BEHIND: dict[str, str] = {
    **{name: name for name in FILLED.values()},
    **dict.fromkeys((_UTIL + "Collection", _UTIL + "List"), _UTIL + "ArrayList"),
    _UTIL + "Set": _UTIL + "HashSet",
    **dict.fromkeys((_UTIL + "SortedSet", _UTIL + "NavigableSet"), _UTIL + "TreeSet"),
    **dict.fromkeys((_UTIL + "Queue", _UTIL + "Deque"), _UTIL + "LinkedList"),
    _CONCURRENT + "BlockingQueue": _CONCURRENT + "LinkedBlockingQueue",
    _CONCURRENT + "BlockingDeque": _CONCURRENT + "LinkedBlockingDeque",
    _UTIL + "Map": _UTIL + "LinkedHashMap",  # a HashMap in Java; a dict keeps the order
    **dict.fromkeys((_UTIL + "SortedMap", _UTIL + "NavigableMap"), _UTIL + "TreeMap"),
    _CONCURRENT + "ConcurrentMap": _CONCURRENT + "ConcurrentHashMap",
    _CONCURRENT + "ConcurrentNavigableMap": _CONCURRENT + "ConcurrentSkipListMap",
}

_ANYTHING = frozenset((*NAMES, ARRAY, ENUM, COLLECTION, MAP, ARRAY_SCALAR, ARRAY_ENUM, ARRAY_POJO, POJO))
#: By declared type: the numbers of the types that Java accepts.
_ALLOWED: dict[str, frozenset[int]] = {
    **dict.fromkeys(("java.lang.Object", "java.lang.Comparable", "java.io.Serializable"), _ANYTHING),
    "java.lang.Iterable": frozenset((COLLECTION, POJO)),
    "java.lang.Number": frozenset((2, 4, 5, 6, 7, 8, 12, 13)),
    "java.lang.CharSequence": frozenset((9,)),
    "java.time.ZoneId": frozenset((POJO,)),
}
_OF_A_CLASS = frozenset((ENUM, POJO))


_Kind = Literal["scalar", "enum", "jdk", "class", "map", "array", "list", "any", "none"]


def kind_of(name: str) -> _Kind:
    """How a value of this declared Java type is written. O(1).

    A ``scalar`` and an ``enum`` are written as one field. A ``jdk``, a ``class``, a ``map`` and an ``array`` are
    written as a group. A ``list`` is one field or group for each element. ``any`` is a group with its type's number.
    ``none`` is not written, because Java could not read it back. An undeclared class is assumed to be an interface or
    an abstract class.
    """
    if name in SCALARS:
        return "scalar"
    if name in JDK:
        return "jdk"
    if name in _ALLOWED:
        return "any"
    if name in _BEHIND:
        return "map" if is_map(_BEHIND[name]) else "list"
    if name.startswith("["):
        return "array"
    declaration = declaration_of(name)
    if declaration is None:
        return "none" if name.startswith(("java.", "javax.")) else "any"
    if declaration.kind == "enum":
        return "enum"
    if declaration.kind in ("record", "collection"):
        return "none"
    return "any" if _is_abstract(declaration.python) else "class"


def _is_abstract(python: type) -> bool:
    return ABC in python.__bases__ or inspect.isabstract(python)


def is_boxed(component: str) -> bool:
    """Whether an array of this component is an array of boxed primitives."""
    return 8 <= ARRAY_IDS.get(component, 0) < 16


def array_name(value: Any) -> str | None:
    """The Java class of an array. None for any other value."""
    if isinstance(value, Array):
        return value.java_name
    return "[B" if isinstance(value, (bytes, bytearray, memoryview)) else None


def is_map(name: str) -> bool:
    """Whether this collection class is a map."""
    return issubclass(COLLECTIONS[name], dict)


def family(name: str) -> type:
    """Whether this collection class is a list, a set or a dict."""
    kind = COLLECTIONS[name]
    return dict if issubclass(kind, dict) else list if issubclass(kind, list) else set


def collected(name: str, items: list[Any]) -> Any:
    """A collection of that class with these elements, or with these pairs if it is a map. O(size)."""
    kind = COLLECTIONS[name]
    if issubclass(kind, dict):
        return map_of(name, kind, items)
    return kind(items) if issubclass(kind, list) else set_of(name, kind, items)


def collection_made_for(name: str) -> str:
    """The class of the collection that Java makes for a declared list or map."""
    return _BEHIND[name]


def allowed_in(name: str) -> frozenset[int]:
    """The numbers that may precede a value whose declared type is this one, of the kind ``any``."""
    return _ALLOWED.get(name, _OF_A_CLASS)


def element_type(declared: Signature) -> Signature:
    """The type with which the elements of a declared list are written."""
    return _plain(declared.arguments[0]) if len(declared.arguments) == 1 else OBJECT


def entry_types(declared: Signature) -> tuple[Signature, Signature]:
    """The types with which the keys and the values of a declared map are written."""
    if len(declared.arguments) != 2:
        return OBJECT, OBJECT
    key, value = map(_plain, declared.arguments)
    kind = kind_of(key.name)
    if kind == "any":
        return OBJECT, OBJECT
    return key, OBJECT if kind == "array" else value


def _plain(argument: Signature) -> Signature:
    """A type argument as protostuff sees it: only a class without arguments."""
    is_class = not argument.arguments and argument.variable is None and kind_of(argument.name) not in ("list", "map")
    return argument if is_class else OBJECT


@attrs.frozen
class MessageField:
    """A field of a class.

    ``absent`` makes the attribute's value if the bytes have none: the default of ``__init__``, or if ``__init__``
    requires the argument (``required``), zero, an empty collection or None.
    """

    name: str
    attribute: str
    type: Signature
    is_list: bool
    required: bool
    absent: Callable[[], Any]


@lru_cache(maxsize=1024)
def message_fields(declaration: Declaration) -> dict[int, MessageField]:
    """The fields of a class by number. O(fields).

    Raises ArgumentError for annotations that are not Java types, and for a field that hides one of the superclass,
    which protostuff would not write.
    """
    defaults = _defaults(declaration.python)
    names = [field.name for field in declaration.all_fields]
    hidden = {name for name in names if names.count(name) > 1}
    if hidden:
        raise ArgumentError(f"{declaration.name} has two fields {min(hidden)}, of which protostuff writes one")
    found = {}
    for number, field in enumerate(declaration.all_fields, 1):
        is_list = field.type.name in _BEHIND and not is_map(_BEHIND[field.type.name])
        default = defaults.get(field.attribute)
        absent = default or _zero(field.type.name, is_list)
        found[number] = MessageField(field.name, field.attribute, field.type, is_list, default is None, absent)
    return found


def _zero(name: str, is_list: bool) -> Callable[[], Any]:
    if is_list:
        return lambda: collected(_BEHIND[name], [])
    return lambda: ZEROS.get(name)


def _defaults(python: type) -> dict[str, Callable[[], Any]]:
    """By attribute: the function that makes its default value."""
    return {one.name: one.default for one in attributes_of(python) if one.default is not None}
