"""How Kryo uses the type arguments in a class's declaration.

A field of type ``List<String>`` tells the list that its elements are Strings. String is a final class, so they are
written without their class. Kryo passes the arguments from a field to its collection, map or object, and from a
collection to its elements, but through nothing else. When an object of a generic class is read or written with
arguments, its type variables are bound to their classes, which applies to everything inside the object.
"""

from __future__ import annotations

from typing import Protocol, Union

import attrs

from redisson_dq.codecs.faults import Unencodable
from redisson_dq.codecs.kryo5.class_serializer import ClassSerializer
from redisson_dq.java.arrays import component_code
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.signatures import Signature

__all__ = [
    "NO_VARIABLES",
    "STRING",
    "Argument",
    "Arguments",
    "Scope",
    "Variable",
    "Variables",
    "argument_of",
    "bind",
    "generics_hierarchy",
]

#: The class that declares a type variable, and the variable's name.
Variable = tuple[str, str]
#: The classes of the type variables, by Java name.
Variables = dict[Variable, str]
#: The variables outside of objects of generic classes.
NO_VARIABLES: Variables = {}


class Scope(Protocol):
    """A reader or a writer, with the type variables of the current object."""

    variables: Variables

    def final(self, name: str) -> ClassSerializer | None: ...


@attrs.frozen
class Argument:
    """A declared type with its own arguments. It is a Java class, or a variable with its erasure."""

    name: str
    variable: Variable | None = None
    arguments: tuple[Argument, ...] = ()
    dimensions: int = 0  # dimensions of an array of the variable; Kryo uses T[] as T, except in a field
    lower: bool = False  # of ``? super Order``
    found: bool = False  # the class that Kryo finds in the superclasses; it may belong to another variable

    @property
    def is_open(self) -> bool:
        """Whether Java may have a value of another class in this place, which it then cannot write."""
        return self.variable is not None or self.lower or self.found

    def resolve(self, scope: Scope) -> str | None:
        """The class. None for a variable without a class here."""
        return self.name if self.variable is None else scope.variables.get(self.variable)

    def final(self, scope: Scope) -> ClassSerializer | None:
        """The class, if it is final."""
        name = self.name if self.variable is None else scope.variables.get(self.variable)
        found = None if name is None else scope.final(name)
        if found is None or not self.dimensions:
            return found
        return scope.final("[" * self.dimensions + component_code(found.name))

    def refuse_arrays(self, scope: Scope, most: int) -> None:
        """Refuse an array of a variable with more than ``most`` dimensions, which Java reads as something else."""
        if self.dimensions > most and self.final(scope) is not None:
            raise Unencodable(
                f"an array of {self.resolve(scope)}, whose declaration names a type variable: Java's Kryo reads it as "
                "something else. Declare it without the variable, or as a list"
            )


Arguments = tuple[Argument, ...]
#: The argument of ``List<String>``: a single object, so that readers and writers recognize it quickly.
STRING = Argument("java.lang.String")


def argument_of(signature: Signature, declaring: Declaration, of: Declaration) -> Argument:
    """A type as ``declaring`` declares it, seen from its subclass ``of`` (or itself)."""
    if signature.component is not None:
        component = argument_of(signature.component, declaring, of)
        name = "[" + component_code(component.name)
        return Argument(name, component.variable, dimensions=component.dimensions + (component.variable is not None))
    lower = signature.wildcard == "super"
    if signature.variable is None:
        # For a wildcard Kryo uses the bound without its arguments, even a lower bound.
        parts = () if signature.wildcard else signature.arguments
        arguments = tuple(argument_of(part, declaring, of) for part in parts)
        if signature.name == STRING.name and not lower:
            return STRING
        return Argument(signature.name, None, arguments, lower=lower)
    found = _resolve((declaring.name, signature.variable), declaring, of, first=True)
    if isinstance(found, str):
        return Argument(found, lower=lower, found=True)
    return Argument(signature.name, found, lower=lower)


def _resolve(variable: Variable, declaring: Declaration, of: Declaration, *, first: bool) -> Union[str, Variable]:
    """GenericsUtil.resolveTypeVariable: the class to which the classes from ``declaring`` down to ``of`` bind the
    variable."""
    base, base_type = of.superclass, of.superclass_type
    if base is None or base_type is None or not base_type.arguments:
        return variable
    if base is not declaring:
        found = _resolve(variable, declaring, base, first=False)
        if isinstance(found, str):
            return found
        variable = found
    for name, argument in zip(base.parameters, base_type.arguments, strict=False):
        if name == variable[1]:
            if argument.variable is None:
                return argument.name
            return variable if first else (of.name, argument.variable)
    return variable


def generics_hierarchy(declaration: Declaration) -> list[list[Variable]]:
    """Generics.GenericsHierarchy: each type parameter of the class and its superclasses, with its name in each of
    them."""
    found = []
    current: Declaration | None = declaration
    while current is not None:
        for name in current.parameters:
            chain = [(current.name, name)]
            lower = current
            while lower.superclass is not None and lower.superclass_type is not None:
                arguments = lower.superclass_type.arguments
                if not arguments:
                    break
                for parameter, argument in zip(lower.superclass.parameters, arguments, strict=False):
                    if argument.variable == chain[-1][1]:
                        # Kryo continues with this variable, which differs from all other arguments of this class.
                        chain.append((lower.superclass.name, parameter))
                        break
                lower = lower.superclass
            found.append(chain)
        current = current.superclass
    return found


def bind(chains: list[list[Variable]], own: int, arguments: Arguments, scope: Scope) -> Variables | None:
    """The variables inside an object with ``own`` parameters and these arguments. None: unchanged."""
    if not chains or not own <= len(arguments) <= len(chains):
        return None
    bound = dict(scope.variables)
    names = [variable for chain in chains for variable in chain]
    start = 0
    for argument, chain in zip(arguments, chains, strict=False):
        name = argument.resolve(scope)
        if name is not None:
            bound.update(dict.fromkeys(names[start : start + len(chain)], name))
            start += len(chain)
    return bound
