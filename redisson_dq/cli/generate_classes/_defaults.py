"""The field values of a new object: by its constructor without arguments, and the constructors that this one calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from redisson_dq.cli.generate_classes import _classfile as flags
from redisson_dq.cli.generate_classes._classfile import ClassFile
from redisson_dq.cli.generate_classes._initial import Initial, Parameter

__all__ = ["initial_values"]

_NO_ARGUMENTS = "()V"
#: Constructors that call one another.
_MAX_DEPTH = 50

_Find = Callable[[str], ClassFile | None]


def initial_values(java: ClassFile, find: _Find) -> dict[tuple[str, str], Initial]:
    """By class and field, inherited ones too: the values that are known."""
    found: dict[tuple[str, str], Initial] = {}
    _run(java, _NO_ARGUMENTS, (), find, found, _MAX_DEPTH)
    return found


def _run(
    java: ClassFile,
    descriptor: str,
    given: Sequence[Initial | None],
    find: _Find,
    found: dict[tuple[str, str], Initial],
    depth: int,
) -> None:
    made = java.constructors.get(descriptor)
    if made is None or not depth:
        return
    owner, called = made.calls
    above = java if owner == java.name else find(owner)
    if above is not None:
        arguments = [given[one.place] if isinstance(one, Parameter) else one for one in made.given]
        _run(above, called, arguments, find, found, depth - 1)
    for name, value in made.fields.items():
        key = _holder(java, name, find), name
        known = given[value.place] if isinstance(value, Parameter) else value
        found.pop(key, None)
        if known is not None:
            found[key] = known


def _holder(java: ClassFile, field: str, find: _Find) -> str:
    """The class that has the field: Java names the class in whose code it is assigned."""
    current: ClassFile | None = java
    for _ in range(_MAX_DEPTH):
        if current is None:
            break
        if any(one.name == field and not one.flags & flags.STATIC for one in current.fields):
            return current.name
        current = find(current.superclass) if current.superclass is not None else None
    return java.name
