"""Java's lists and queues: Python lists that know their class in java.util."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, TypeVar

from redisson_dq.java.orders import Comparator

__all__ = [
    "ArrayAsList",
    "ArrayDeque",
    "ConcurrentLinkedDeque",
    "ConcurrentLinkedQueue",
    "CopiesList",
    "CopyOnWriteArrayList",
    "EmptyList",
    "LinkedBlockingDeque",
    "LinkedBlockingQueue",
    "LinkedTransferQueue",
    "LinkedList",
    "ListOf",
    "PriorityBlockingQueue",
    "PriorityQueue",
    "SingletonList",
    "Stack",
    "Vector",
]

T = TypeVar("T")

_UTIL = "java.util."
_CONCURRENT = "java.util.concurrent."
_IMMUTABLE = "java.util.ImmutableCollections$"
_HELPERS = "java.util.Collections$"


class LinkedList(list[T]):
    """``java.util.LinkedList``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _UTIL + "LinkedList"


class _Vector(list[T]):
    """``capacity`` and ``increment`` describe the array behind the Vector. Java's serialization writes both."""

    __slots__ = ("__weakref__", "capacity", "increment")

    def __init__(self, items: Iterable[T] = (), capacity: int | None = None, increment: int = 0) -> None:
        super().__init__(items)
        self.capacity = capacity
        self.increment = increment


class Vector(_Vector[T]):
    """``java.util.Vector``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "Vector"


class Stack(_Vector[T]):
    """``java.util.Stack``; the last element is its top."""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "Stack"


class ArrayDeque(list[T]):
    """``java.util.ArrayDeque``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _UTIL + "ArrayDeque"


class CopyOnWriteArrayList(list[T]):
    """``java.util.concurrent.CopyOnWriteArrayList``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _CONCURRENT + "CopyOnWriteArrayList"


class ConcurrentLinkedQueue(list[T]):
    """``java.util.concurrent.ConcurrentLinkedQueue``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentLinkedQueue"


class ConcurrentLinkedDeque(list[T]):
    """``java.util.concurrent.ConcurrentLinkedDeque``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentLinkedDeque"


class LinkedTransferQueue(list[T]):
    """``java.util.concurrent.LinkedTransferQueue``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _CONCURRENT + "LinkedTransferQueue"


class LinkedBlockingQueue(list[T]):
    """``java.util.concurrent.LinkedBlockingQueue``; ``capacity`` is None for one without a bound."""

    __slots__ = ("__weakref__", "capacity")
    java_name: ClassVar[str] = _CONCURRENT + "LinkedBlockingQueue"

    def __init__(self, items: Iterable[T] = (), capacity: int | None = None) -> None:
        super().__init__(items)
        self.capacity = capacity


class LinkedBlockingDeque(list[T]):
    """``java.util.concurrent.LinkedBlockingDeque``; ``capacity`` is None for one without a bound."""

    __slots__ = ("__weakref__", "capacity")
    java_name: ClassVar[str] = _CONCURRENT + "LinkedBlockingDeque"

    def __init__(self, items: Iterable[T] = (), capacity: int | None = None) -> None:
        super().__init__(items)
        self.capacity = capacity


class PriorityQueue(list[T]):
    """``java.util.PriorityQueue``, in the order of Java's iterator (its heap), not sorted."""

    __slots__ = ("__weakref__", "comparator")
    java_name: ClassVar[str] = _UTIL + "PriorityQueue"

    def __init__(self, items: Iterable[T] = (), comparator: Comparator | None = None) -> None:
        super().__init__(items)
        self.comparator = comparator


class PriorityBlockingQueue(PriorityQueue[T]):
    """``java.util.concurrent.PriorityBlockingQueue``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "PriorityBlockingQueue"


class ArrayAsList(list[T]):
    """``Arrays.asList(...)``; ``component`` is the type of the array behind it."""

    __slots__ = ("__weakref__", "component")
    java_name: ClassVar[str] = _UTIL + "Arrays$ArrayList"

    def __init__(self, items: Iterable[T] = (), component: str = "java.lang.Object") -> None:
        super().__init__(items)
        self.component = component


class ListOf(list[T]):
    """``List.of(...)``. With ``nulls=True`` it is the list of ``Stream.toList()``, which may hold None."""

    __slots__ = ("__weakref__", "_class", "nulls")

    def __init__(self, items: Iterable[T] = (), *, nulls: bool = False) -> None:
        super().__init__(items)
        self.nulls = nulls
        self._class = ""

    @property
    def java_name(self) -> str:
        """Java has three classes: for one or two elements, for all other sizes, and for a part of a list."""
        few = 0 < len(self) < 3 and not self.nulls and not any(item is None for item in self)
        return _IMMUTABLE + (self._class or ("List12" if few else "ListN"))

    def of_class(self, java_name: str) -> None:
        """Note the class that was read, if it is not the usual class of a list of this size."""
        if java_name != self.java_name:
            self._class = java_name[len(_IMMUTABLE) :]


class CopiesList(list[T]):
    """``Collections.nCopies(n, x)``: one object n times. ``element`` keeps the object when the list is empty."""

    __slots__ = ("__weakref__", "element")
    java_name: ClassVar[str] = _HELPERS + "CopiesList"

    def __init__(self, items: Iterable[T] = (), element: T | None = None) -> None:
        super().__init__(items)
        self.element = element


class EmptyList(list[T]):
    """``Collections.emptyList()``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _HELPERS + "EmptyList"


class SingletonList(list[T]):
    """``Collections.singletonList(x)``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _HELPERS + "SingletonList"
