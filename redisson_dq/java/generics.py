"""Deduces the type arguments of an object's class from a declared supertype: ``Ok<Geo>`` from ``Result<Geo>``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from redisson_dq.java.declaration import Declaration
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.signatures import OBJECT, Signature, with_arguments

__all__ = ["arguments_in", "not_related", "variables_in"]


def arguments_in(declaration: Declaration, declared: Signature) -> tuple[Signature, ...] | None:
    """The type arguments of an object of this class in a place in a place of the type ``declared``.

    A raw type, or a class that is not generic, has no arguments. A parameter that the declared type does not determine
    is an Object. The result is None if the declaration does not relate the class to the declared type. It is also None
    for a type that does not match, such as ``Ok<String>`` where ``Result<Geo>`` is declared.
    """
    if declared.name == declaration.name or not declared.arguments:
        return declared.arguments
    return _deduced(declaration, declared)


def variables_in(types: Iterable[Signature], given: Iterable[Signature]) -> dict[str, Signature]:
    """The types of the type variables in ``types`` where these are ``given``: E is Order in List<E>, List<Order>."""
    found: dict[str, Signature] = {}
    for one, seen in zip(given, types, strict=False):
        _match(one, seen, found)
    return found


def not_related(declaration: Declaration, declared: Signature) -> str:
    """The error message for when ``arguments_in`` gives None."""
    return (
        f"a {declaration.name} where {declared.source} is declared: Java takes it for another type, or java_class does "
        "not say what the class implements; redisson-dq generate-classes prints that"
    )


@lru_cache(maxsize=4096)
def _deduced(declaration: Declaration, declared: Signature) -> tuple[Signature, ...] | None:
    if not declaration.parameters:
        return ()
    found: dict[str, Signature] = {}
    seen = _supertype(declaration, declared.name)
    if seen is None:
        return () if all(argument == OBJECT for argument in declared.arguments) else None
    if not all(_match(given, argument, found) for given, argument in zip(declared.arguments, seen, strict=False)):
        return None
    return tuple(found.get(name, OBJECT) for name in declaration.parameters)


def _supertype(declaration: Declaration, name: str) -> tuple[Signature, ...] | None:
    """The type arguments of the superclass or interface ``name``, expressed by the class's own parameters."""
    current: Declaration | None = declaration
    bindings: Mapping[str, Signature] | None = None
    while current is not None:
        above, above_type = current.superclass, current.superclass_type
        for supertype in (*current.interfaces, *((above_type,) if above_type is not None else ())):
            if supertype.name == name:
                arguments = supertype.arguments
                return arguments if bindings is None else tuple(with_arguments(part, bindings) for part in arguments)
        if above is not None and above_type is not None:
            arguments = above_type.arguments
            if bindings is not None:
                arguments = tuple(with_arguments(part, bindings) for part in arguments)
            # The parameters of a raw superclass are Objects.
            bindings = {
                **dict.fromkeys(above.parameters, OBJECT),
                **dict(zip(above.parameters, arguments, strict=False)),
            }
        current = above
    return None


def _match(given: Signature, seen: Signature, found: dict[str, Signature]) -> bool:
    """Whether both may be the same type. If so, ``found`` gets the types of the variables in ``seen``."""
    if seen.variable is not None:
        found[seen.variable] = given
    elif given.name == seen.name:
        for inner_given, inner_seen in zip(given.arguments, seen.arguments, strict=False):
            _match(inner_given, inner_seen, found)
    else:
        # Jackson lets Object and interfaces pass. Only a declared class is known to be neither.
        return declaration_of(given.name) is None
    return True
