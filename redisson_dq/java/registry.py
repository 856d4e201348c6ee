"""The declarations of Java classes, by the Java name and by the Python class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redisson_dq.java.fields import type_origin

if TYPE_CHECKING:
    from redisson_dq.java.declaration import Declaration

__all__ = ["declaration_for", "declaration_of", "declared_in", "generation", "register"]

_by_name: dict[str, Declaration] = {}
_by_python: dict[type, Declaration] = {}
_generation = 0


def register(declaration: Declaration) -> None:
    """Adds a declaration, or replaces the one with the same Java name."""
    global _generation
    _by_name[declaration.name] = _by_python[declaration.python] = declaration
    _generation += 1


def generation() -> int:
    """Another number whenever a class was declared: what was found by a name before may not be what it is now."""
    return _generation


def declaration_of(java_name: str) -> Declaration | None:
    """The declaration of a Java class, by its binary name. O(1)."""
    return _by_name.get(java_name)


def declaration_for(python: type) -> Declaration | None:
    """The declaration of a Python class itself, not of its bases. O(1)."""
    found = _by_python.get(python)
    return found if found is not None else _by_python.get(type_origin(python))


def declared_in(module: str) -> dict[str, type]:
    """The declared Python classes of a module, by their names."""
    return {python.__name__: python for python in _by_python if python.__module__ == module}
