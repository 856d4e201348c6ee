"""The Python classes that are declared as Java classes. A declaration is known here by its protocol.

A declaration looks up other declarations: those of its superclass and of the types of its fields. So the table is in a
lower layer than the declarations, and there are no circular imports. The codecs ask :mod:`redisson_dq.java.registry`,
which knows the declarations themselves.
"""

from __future__ import annotations

from typing import Protocol

from redisson_dq.java.fields import type_origin

__all__ = ["Declared", "declared_for", "declared_in", "note"]


class Declared(Protocol):
    """A declaration: :class:`~redisson_dq.java.declaration.Declaration` describes its attributes."""

    @property
    def name(self) -> str: ...

    @property
    def python(self) -> type: ...

    @property
    def extends(self) -> str: ...


_by_python: dict[type, Declared] = {}


def note(declaration: Declared) -> None:
    """Adds a declaration, or replaces the one of the same Python class."""
    _by_python[declaration.python] = declaration


def declared_for(python: type) -> Declared | None:
    """The declaration of a Python class itself, not of its bases. O(1)."""
    found = _by_python.get(python)
    return found if found is not None else _by_python.get(type_origin(python))


def declared_in(module: str) -> dict[str, type]:
    """The declared Python classes of a module, by their names."""
    return {python.__name__: python for python in _by_python if python.__module__ == module}
