"""Java arrays: lists that know the type of their elements."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar

from redisson_dq.errors import ArgumentError

__all__ = [
    "PRIMITIVE_CODES",
    "PRIMITIVE_NAMES",
    "Array",
    "BooleanArray",
    "CharArray",
    "DoubleArray",
    "FloatArray",
    "IntArray",
    "LongArray",
    "ObjectArray",
    "PrimitiveArray",
    "ShortArray",
    "StringArray",
    "array_of",
    "component_code",
    "component_of",
]

T = TypeVar("T")

#: The code of each primitive type in the names of arrays, as Class.getName writes them.
PRIMITIVE_CODES = {
    "boolean": "Z",
    "byte": "B",
    "char": "C",
    "short": "S",
    "int": "I",
    "long": "J",
    "float": "F",
    "double": "D",
}
PRIMITIVE_NAMES = {code: name for name, code in PRIMITIVE_CODES.items()}


class Array(list[T]):
    """A Java array other than ``byte[]``, which is bytes: ``Array("com.acme.Order", [order])``.

    ``component`` is the type of its elements as Class.getName gives it: ``int``, ``java.lang.String``, ``[I`` for an
    array of ``int[]``. It compares as a list: the component type is ignored.
    """

    __slots__ = ("__weakref__", "component")

    def __init__(self, component: str, items: Iterable[T] = ()) -> None:
        if not isinstance(component, str) or not component:
            raise ArgumentError("Array takes the Java name of its elements' type first")
        super().__init__(items)
        self.component = component

    @property
    def java_name(self) -> str:
        """The array's class as Class.getName gives it: ``[I``, ``[Ljava.lang.String;``."""
        return "[" + component_code(self.component)

    def __repr__(self) -> str:
        return f"Array({self.component!r}, {list.__repr__(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return array_of, (self.component, list(self))


class _Fixed(Array[T]):
    """An array class of one component type."""

    __slots__ = ()
    _component: ClassVar[str]

    def __init__(self, items: Iterable[T] = ()) -> None:
        super().__init__(self._component, items)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list.__repr__(self)})"


class PrimitiveArray(_Fixed[T]):
    """An array of a primitive type; its elements are plain Python values."""

    __slots__ = ()


class BooleanArray(PrimitiveArray[bool]):
    """``boolean[]``"""

    __slots__ = ()
    _component = "boolean"


class CharArray(PrimitiveArray[str]):
    """``char[]``: strings of one UTF-16 unit each. A text becomes its units, as Java's toCharArray gives them."""

    __slots__ = ()
    _component = "char"

    def __init__(self, items: Iterable[str] = ()) -> None:
        if isinstance(items, str) and not items.isascii():
            units = items.encode("utf-16-le", "surrogatepass")
            items = [chr(units[at] | units[at + 1] << 8) for at in range(0, len(units), 2)]
        super().__init__(items)


class ShortArray(PrimitiveArray[int]):
    """``short[]``"""

    __slots__ = ()
    _component = "short"


class IntArray(PrimitiveArray[int]):
    """``int[]``"""

    __slots__ = ()
    _component = "int"


class LongArray(PrimitiveArray[int]):
    """``long[]``"""

    __slots__ = ()
    _component = "long"


class FloatArray(PrimitiveArray[float]):
    """``float[]``"""

    __slots__ = ()
    _component = "float"


class DoubleArray(PrimitiveArray[float]):
    """``double[]``"""

    __slots__ = ()
    _component = "double"


class StringArray(_Fixed["str | None"]):
    """``String[]``"""

    __slots__ = ()
    _component = "java.lang.String"


class ObjectArray(_Fixed[Any]):
    """``Object[]``"""

    __slots__ = ()
    _component = "java.lang.Object"


_CLASSES: dict[str, type[_Fixed[Any]]] = {
    kind._component: kind
    for kind in (
        BooleanArray,
        CharArray,
        ShortArray,
        IntArray,
        LongArray,
        FloatArray,
        DoubleArray,
        StringArray,
        ObjectArray,
    )
}


def array_of(component: str, items: Iterable[Any]) -> Array[Any]:
    """An array of that component type, of the subclass for that type if there is one. O(size)."""
    kind = _CLASSES.get(component)
    return Array(component, items) if kind is None else kind(items)


def component_code(name: str) -> str:
    """The code of a type in an array's class name: ``I``, ``Ljava.lang.String;``, ``[I``."""
    return PRIMITIVE_CODES.get(name) or (name if name.startswith("[") else f"L{name};")


_MOST_DIMENSIONS = 255
#: Longer names are not cached.
_LONGEST_CACHED = 512


def component_of(java_name: str) -> str:
    """The component type of an array class's name: ``[[I`` -> ``[I``, ``[Lcom.acme.A;`` -> ``com.acme.A``.

    Raises ValueError if the name is not that of an array class. O(length).
    """
    return _cached_component(java_name) if len(java_name) <= _LONGEST_CACHED else _component(java_name)


def _component(java_name: str) -> str:
    code = java_name.lstrip("[")
    dimensions = len(java_name) - len(code)
    is_class = code[:1] == "L" and code[-1:] == ";" and len(code) > 2 and code[1] != "["
    if 0 < dimensions <= _MOST_DIMENSIONS and (is_class or code in PRIMITIVE_NAMES):
        if dimensions > 1:
            return java_name[1:]
        return code[1:-1] if is_class else PRIMITIVE_NAMES[code]
    raise ValueError(f"no array class has the name {java_name[:80]!r}")


_cached_component = functools.lru_cache(maxsize=1024)(_component)
