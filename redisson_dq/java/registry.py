"""The declarations of Java classes, by the Java name and by the Python class."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from redisson_dq.java.declaration import Declaration
from redisson_dq.java.declared import declared_for, note

__all__ = ["declaration_for", "declaration_of", "generation", "register"]

_by_name: dict[str, Declaration] = {}
_generation = 0


def register(declaration: Declaration) -> None:
    """Adds a declaration, or replaces the one with the same Java name."""
    global _generation
    _by_name[declaration.name] = declaration
    note(declaration)
    _generation += 1


def generation() -> int:
    """A number that changes whenever a class is declared, as a name may then stand for another class."""
    return _generation


def declaration_of(java_name: str) -> Declaration | None:
    """The declaration of a Java class, by its binary name. O(1)."""
    return _by_name.get(java_name)


#: The declaration of a Python class itself, not of its bases. O(1). The type is cast: only ``register`` adds any.
declaration_for = cast(Callable[[type], "Declaration | None"], declared_for)
