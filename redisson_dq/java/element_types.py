"""The types of the elements of a collection, from a declared type and the class of the collection."""

from __future__ import annotations

from redisson_dq.java.declaration import Declaration
from redisson_dq.java.generics import variables_in
from redisson_dq.java.hierarchy import is_assignable
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.signatures import OBJECT, Signature, with_arguments

__all__ = ["declared_elements", "element_types", "matters", "may_hold"]


def matters(signature: Signature) -> bool:
    """Whether a place of this type has to look at its values."""
    return signature.name != OBJECT.name and signature.wildcard != "super"


def declared_elements(declared: Signature) -> tuple[Signature, ...]:
    """The types of the elements, or of keys and values, of a collection in a place of the type ``declared``."""
    declaration = declaration_of(declared.name)
    if declaration is None or not declaration.extends:
        return declared.arguments
    return _elements_with(declaration, declared.arguments)


def element_types(declaration: Declaration, declared: Signature) -> tuple[Signature, ...]:
    """The types of the elements, or of keys and values, of a subclass of a collection in such a place."""
    if declared.name == declaration.name:
        return _elements_with(declaration, declared.arguments)
    # List<Order> determines T in Tags<T>.
    found = variables_in(declaration.elements, declared_elements(declared))
    return _elements_with(declaration, tuple(found.get(name, OBJECT) for name in declaration.parameters))


def _elements_with(declaration: Declaration, arguments: tuple[Signature, ...]) -> tuple[Signature, ...]:
    given = dict(zip(declaration.parameters, arguments, strict=False))
    return tuple(with_arguments(part, given) for part in declaration.elements)


def may_hold(declared: Signature, own: Signature) -> bool:
    """Whether elements of the type that a class gives them are of the type that is declared for them."""
    if own.variable is not None or not matters(declared):
        return True
    if own.name != declared.name:
        return is_assignable(own.name, declared.name)
    return all(map(may_hold, declared.arguments, own.arguments))
