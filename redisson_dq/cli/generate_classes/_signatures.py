"""Reads the types that a class file writes as text: ``Ljava/util/List<Ljava/lang/String;>;``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from redisson_dq.cli.generate_classes._classfile import BadClass

__all__ = ["OBJECT", "PRIMITIVES", "ClassSignature", "TypeUse", "class_signature", "field_type"]

_MAX_DEPTH = 100
_PRIMITIVES = {
    "Z": "boolean",
    "B": "byte",
    "C": "char",
    "S": "short",
    "I": "int",
    "J": "long",
    "F": "float",
    "D": "double",
}
#: The names of the primitive types.
PRIMITIVES = frozenset(_PRIMITIVES.values())
_NAME = re.compile(r"[^.;\[<>:]+")


@attrs.frozen
class TypeUse:
    """A type where it is used: ``int``, a class with type arguments, a type variable; an array of one of these.

    ``wildcard`` is ``extends`` or ``super`` where the type is the bound of a type argument ``? extends Order``.
    """

    name: str
    arguments: tuple[TypeUse, ...] = ()
    is_variable: bool = False
    dimensions: int = 0
    wildcard: str = ""

    def parts(self) -> Iterator[TypeUse]:
        """The type itself, and its arguments with theirs."""
        yield self
        for argument in self.arguments:
            yield from argument.parts()

    def within(self, parameters: Mapping[str, Any], erased: TypeUse) -> TypeUse:
        """The type with these parameters of its class as its only variables; those of an enclosing class are erased."""
        if self.is_variable:
            return self if self.name in parameters else erased
        return attrs.evolve(self, arguments=tuple(each.within(parameters, OBJECT) for each in self.arguments))

    def replaced(self, given: Mapping[str, TypeUse]) -> TypeUse:
        """The type with these instead of the variables of their names."""
        if self.is_variable:
            known = given.get(self.name, OBJECT)
            return attrs.evolve(known, dimensions=known.dimensions + self.dimensions)
        return attrs.evolve(self, arguments=tuple(each.replaced(given) for each in self.arguments))


OBJECT = TypeUse("java.lang.Object")


@attrs.frozen
class ClassSignature:
    """The head of a generic class: its type parameters, each with its first bound, and its superclass and
    interfaces."""

    parameters: dict[str, TypeUse]
    superclass: TypeUse
    interfaces: tuple[TypeUse, ...]


def field_type(text: str) -> TypeUse:
    """The type of a field, from its signature or its descriptor. Raises BadClass."""
    parser = _SignatureParser(text)
    use = parser.type()
    parser.end()
    return use


def class_signature(text: str) -> ClassSignature:
    """The head of a class, from its signature. Raises BadClass."""
    parser = _SignatureParser(text)
    parameters = {}
    if parser.accept("<"):
        while not parser.accept(">"):
            name, bounds = parser.name(), []
            while parser.accept(":"):
                if not parser.looking_at(":"):  # the bound that is a class may be missing before those that are not
                    bounds.append(parser.type())
            parameters[name] = bounds[0] if bounds else OBJECT
    superclass = parser.type()
    interfaces = []
    while not parser.looking_at(""):
        interfaces.append(parser.type())
    parser.end()
    return ClassSignature(parameters, superclass, tuple(interfaces))


class _SignatureParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def looking_at(self, char: str) -> bool:
        """Whether this comes next; nothing (``""``) does at the end."""
        return self._text[self._at : self._at + 1] == char

    def accept(self, char: str) -> bool:
        """Move on if this comes next."""
        here = self.looking_at(char)
        self._at += here
        return here

    def name(self) -> str:
        match = _NAME.match(self._text, self._at)
        if match is None:
            raise self._bad()
        self._at = match.end()
        return match[0]

    def type(self, depth: int = 0) -> TypeUse:
        if depth > _MAX_DEPTH:
            raise self._bad()
        dimensions = 0
        while self.accept("["):
            dimensions += 1
        kind = self._text[self._at : self._at + 1]
        self._at += 1
        if kind in _PRIMITIVES:
            return TypeUse(_PRIMITIVES[kind], dimensions=dimensions)
        if kind == "T":
            name = self.name()
            self._expect(";")
            return TypeUse(name, is_variable=True, dimensions=dimensions)
        if kind != "L":
            raise self._bad()
        name, arguments = self.name(), self._arguments(depth)
        while self.accept("."):  # a class nested in a generic one; the arguments of the outer do not matter
            name, arguments = f"{name}${self.name()}", self._arguments(depth)
        self._expect(";")
        return TypeUse(name.replace("/", "."), arguments, dimensions=dimensions)

    def end(self) -> None:
        if self._at != len(self._text):
            raise self._bad()

    def _arguments(self, depth: int) -> tuple[TypeUse, ...]:
        arguments = []
        if self.accept("<"):
            while not self.accept(">"):
                arguments.append(self._argument(depth + 1))
        return tuple(arguments)

    def _argument(self, depth: int) -> TypeUse:
        if self.accept("*"):
            return OBJECT
        for sign, word in (("+", "extends"), ("-", "super")):
            if self.accept(sign):
                return attrs.evolve(self.type(depth), wildcard=word)
        return self.type(depth)

    def _expect(self, char: str) -> None:
        if not self.accept(char):
            raise self._bad()

    def _bad(self) -> BadClass:
        return BadClass(f"it has a type that cannot be read: {self._text[:80]!r}")
