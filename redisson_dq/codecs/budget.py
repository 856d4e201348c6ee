"""The memory that a compressed value may take: one limit for all its layers.

The decompressed bytes of each layer count, and so does the value that the innermost codec makes of its bytes. The
outermost codec sets the limit. The dashboard and other pages of values set a lower one.

Before a value is read, its memory is estimated from its bytes (``memory_of``). If the bytes of a codec do not show how
many objects they become, and these could exceed the limit, the codec counts the objects while it reads
(:func:`counting_budget`). So an ordinary value costs nothing.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from redisson_dq.codecs.faults import Malformed

__all__ = [
    "COUNTED_FROM",
    "PLACE",
    "Budget",
    "OverBudget",
    "budget_of",
    "counting_budget",
    "current_budget",
    "memory_of_text",
]

_current: ContextVar[Budget | None] = ContextVar("redisson_dq_budget", default=None)
#: The memory for each comma and bracket in a text such as JSON. ``[]`` and ``{}`` take the most.
_FOR_EACH_PART = 80
# For each colon, which separates a name from its value in an object.
_FOR_EACH_NAME = 30
#: Values of fewer bytes are not counted.
COUNTED_FROM = 4096
#: The slot of an element in a growing list.
PLACE = 16
# The largest object that one byte may become.
_FOR_EACH_BYTE = 320
# A small object, such as a number or a short text, and the slot that holds it.
_SCALAR = 40
_SCALARS = frozenset((int, str, float, bool, bytes, type(None)))
_CONTAINERS = frozenset((list, dict, set, frozenset, tuple))
# The greatest depth of objects that a reader makes inside others without a separate call.
_DEPTH = 8


class OverBudget(Malformed):
    """The value takes more memory than is left in the budget."""


class Budget:
    """The memory that is left for a value, of ``size`` bytes.

    ``is_unsaid`` is set if a value being written has elements without bytes: then its bytes do not show its memory.
    """

    __slots__ = ("is_unsaid", "left", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.left = size
        self.is_unsaid = False

    def check(self, cost: int, offset: int | None = None) -> None:
        """Raises OverBudget if the value takes more memory than is left."""
        if cost > self.left:
            raise OverBudget(
                f"some {self.size - self.left + cost} bytes of memory after decompression, {self.size} are allowed: "
                "the max_size of the codec, or less where a value is only shown",
                offset,
            )

    def spend(self, cost: int, offset: int | None = None) -> None:
        """Account for a new object. Raises OverBudget if it takes more memory than is left."""
        self.check(cost, offset)
        self.left -= cost

    def made(self, value: Any, offset: int | None = None, *, depth: int = _DEPTH) -> None:
        """Account for a new value, without its elements, which are accounted for already.

        Includes the values of an object's attributes, down to ``depth``.
        """
        self.spend(_SCALAR if type(value) in _SCALARS else _memory_of_object(value, depth), offset)


@contextmanager
def budget_of(size: int) -> Iterator[Budget]:
    """The budget of the value that is being read or written, or a new one of ``size`` bytes."""
    found = _current.get()
    if found is not None:
        yield found
        return
    found = Budget(size)
    token = _current.set(found)
    try:
        yield found
    finally:
        _current.reset(token)


def memory_of_text(data: bytes) -> int:
    """An upper estimate of the memory that the lists, dicts and scalars of a JSON text take, in bytes. O(size)."""
    parts = data.count(b",") + data.count(b"[") + data.count(b"{")
    return 2 * len(data) + _FOR_EACH_PART * parts + _FOR_EACH_NAME * data.count(b":")


def current_budget() -> Budget | None:
    """The budget of the value that is being read or written, if it has one."""
    return _current.get()


def counting_budget(data: bytes | str) -> Budget | None:
    """The budget that counts the objects in these bytes. None if they cannot take more memory than is left."""
    found = _current.get()
    return found if found is not None and _FOR_EACH_BYTE * len(data) > found.left else None


def _memory_of_object(value: Any, depth: int) -> int:
    found = sys.getsizeof(value) + _SCALAR
    if type(value) in _CONTAINERS or not depth:
        return found
    kind: Any = type(value)
    parts = [getattr(value, name, None) for name in _slots_of(kind)]
    attributes = getattr(value, "__dict__", None)
    if attributes is not None:
        found += sys.getsizeof(attributes)
        parts += attributes.values()
    return found + sum([_memory_of_object(each, depth - 1) for each in parts if type(each) not in _SCALARS])


@functools.lru_cache(maxsize=1024)
def _slots_of(kind: Any) -> tuple[str, ...]:
    found = (vars(each).get("__slots__", ()) for each in kind.__mro__)
    names = (name for each in found for name in ((each,) if isinstance(each, str) else each))
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))
