"""How much memory a compressed value may take: one number for all its layers.

The bytes of each layer after decompression count, and so does the value that the innermost codec makes of its bytes.
The outermost codec sets the number. The reader of a page allows less.

Before a value is read, its memory is estimated by its bytes (``memory_of``). A codec whose bytes do not say how many
objects they become counts these while it reads them, if they could take more than is left (:func:`counting_budget`).
So an ordinary value costs nothing.
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
#: The memory of a value in a text such as JSON, for each comma and bracket. ``[]`` and ``{}`` take the most.
_FOR_EACH_PART = 80
# A colon, as in an object, whose parts have names.
_FOR_EACH_NAME = 30
#: Fewer bytes need no count.
COUNTED_FROM = 4096
#: The place of an element in a list that grows.
PLACE = 16
# The most memory of an object that one byte may become.
_FOR_EACH_BYTE = 320
# An object of few bytes, such as a number or a short text, and the place that holds it.
_SCALAR = 40
_SCALARS = frozenset((int, str, float, bool, bytes, type(None)))
_CONTAINERS = frozenset((list, dict, set, frozenset, tuple))
# The greatest depth of objects that a reader makes inside others without a separate call.
_DEPTH = 8


class OverBudget(Malformed):
    """The value takes more memory than is left."""


class Budget:
    """The memory that is left for a value, of ``size`` bytes.

    ``is_unsaid`` is set where a value that is being written has elements without bytes: its bytes do not say what it
    takes.
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
        """Takes the memory of a new object. Raises OverBudget if it is more than is left."""
        self.check(cost, offset)
        self.left -= cost

    def made(self, value: Any, offset: int | None = None, *, depth: int = _DEPTH) -> None:
        """Takes the memory of a new value, without its elements, which were taken before.

        The values of an object's attributes are included, down to this depth.
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
    """About how many bytes of memory the lists, dicts and scalars of a JSON text take, at most. O(size)."""
    parts = data.count(b",") + data.count(b"[") + data.count(b"{")
    return 2 * len(data) + _FOR_EACH_PART * parts + _FOR_EACH_NAME * data.count(b":")


def current_budget() -> Budget | None:
    """The budget of the value that is being read or written, if it has one."""
    return _current.get()


def counting_budget(data: bytes | str) -> Budget | None:
    """The budget by which the objects in these bytes are counted. None if they cannot take more than is left."""
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
