"""Java types as fields declare them, and how they are written in Java source."""

from __future__ import annotations

import re
from collections import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

import attrs

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.java.arrays import component_code

if TYPE_CHECKING:
    from redisson_dq.java.date_patterns import DatePattern

__all__ = [
    "OBJECT",
    "JavaType",
    "Signature",
    "array_signature",
    "boxed",
    "is_class_name",
    "with_arguments",
    "with_variables",
]

_NAME = re.compile(r"(?!\d)[\w$]+(\.(?!\d)[\w$]+)*")
_PRIMITIVES = frozenset(("boolean", "byte", "char", "short", "int", "long", "float", "double"))


@attrs.frozen(cache_hash=True)
class Signature:
    """A Java type as a field declares it.

    ``name`` is a primitive's name, a class's binary name, or an array's as in Class.getName (``[I``). ``arguments`` are
    its type arguments. ``variable`` is the name of the type variable; ``name`` is then its erasure. ``component`` is
    the type of an array's elements. It is set only where it says more than the name, as in ``T[]``.
    """

    name: str
    arguments: tuple[Signature, ...] = ()
    variable: str | None = None
    component: Signature | None = None
    #: ``extends`` or ``super`` for the wildcards ``? extends Order`` and ``? super Order``. The other fields then
    #: describe the bound.
    wildcard: str = ""
    #: For codecs of JSON: the pattern of a field's dates and times.
    pattern: DatePattern | None = None
    #: For codecs of JSON: whether numbers are written as texts.
    as_text: bool = False

    @property
    def source(self) -> str:
        """The type with its arguments, as messages show it."""
        name = f"? {self.wildcard} {self.name}" if self.wildcard else self.name
        return name + (f"<{', '.join(part.source for part in self.arguments)}>" if self.arguments else "")


OBJECT = Signature("java.lang.Object")


@attrs.frozen
class JavaType:
    """The Java type of a field, if the annotation would select another one.

    Example: ``Annotated[..., JavaType("java.util.LinkedList<java.lang.String>")]``. The name is written as in Java
    source, nested classes with ``$``. If it has no type arguments, those of the annotation are used:
    ``Annotated[list[str], JavaType("java.util.LinkedList")]``.
    """

    source: str = attrs.field()
    signature: Signature = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "signature", _parse(self.source))

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """The schema of the annotation. Pydantic has none for a Collection, and can read an Iterable only once."""
        if get_origin(source) in (abc.Collection, abc.Iterable):
            element = get_args(source)[0]
            return handler.generate_schema(Union[list[element], set[element]])  # type: ignore[valid-type]
        return handler(source)


_TOKEN = re.compile(r"\s*([\w$.]+|[<>,?&]|\[\])")


def _parse(source: str) -> Signature:
    if not isinstance(source, str):
        raise ArgumentError(f"a Java type must be a text such as 'java.util.List<com.acme.Order>', not {shown(source)}")
    tokens = _TOKEN.findall(source)
    if "".join(tokens) != "".join(source.split()) or not tokens:
        raise ArgumentError(f"{shown(source)} is not a Java type")
    signature, rest = _parse_type(tokens, source)
    if rest:
        raise ArgumentError(f"{shown(source)} is not a Java type: {rest[0]!r} is too much")
    return signature


def _parse_type(tokens: list[str], source: str) -> tuple[Signature, list[str]]:
    if not tokens:
        raise ArgumentError(f"{shown(source)} is not a Java type: it ends too early")
    name, tokens = tokens[0], tokens[1:]
    if name == "?":
        if tokens and tokens[0] in ("extends", "super"):
            bound, rest = _parse_type(tokens[1:], source)
            return attrs.evolve(bound, wildcard=tokens[0]), rest
        return OBJECT, tokens
    if not is_class_name(name):
        raise ArgumentError(f"{shown(source)} is not a Java type: {name!r} is not a name")
    arguments: list[Signature] = []
    if tokens and tokens[0] == "<":
        while tokens and tokens[0] in "<,":
            argument, tokens = _parse_type(tokens[1:], source)
            arguments.append(argument)
        if not tokens or tokens[0] != ">":
            raise ArgumentError(f"{shown(source)} is not a Java type: a > is missing")
        tokens = tokens[1:]
    signature = Signature(name, tuple(arguments))
    while tokens and tokens[0] == "[]":
        signature, tokens = array_signature(signature), tokens[1:]
    return signature, tokens


def is_class_name(text: str) -> bool:
    """Whether the text is a valid name of a Java class, packages included."""
    return _NAME.fullmatch(text) is not None


def array_signature(component: Signature) -> Signature:
    """The type of an array whose elements have the given type."""
    said = component.pattern or component.as_text
    more = component.arguments or component.variable or component.component or said
    return Signature("[" + component_code(component.name), component=component if more else None)


def with_arguments(signature: Signature, arguments: Mapping[str, Signature]) -> Signature:
    """The type with type variables replaced. ``arguments`` maps a variable's name to its replacement."""
    if signature.variable is not None:
        found = arguments.get(signature.variable, signature)
        return attrs.evolve(found, wildcard=signature.wildcard) if signature.wildcard else found
    if signature.component is not None:
        return array_signature(with_arguments(signature.component, arguments))
    if not signature.arguments:
        return signature
    return attrs.evolve(
        signature, arguments=tuple(with_arguments(argument, arguments) for argument in signature.arguments)
    )


def with_variables(signature: Signature, variables: Mapping[str, Signature]) -> Signature:
    """The type with the type parameters that a JavaType names in it."""
    if signature.component is not None:
        return array_signature(with_variables(signature.component, variables))
    arguments = tuple(with_variables(argument, variables) for argument in signature.arguments)
    variable = variables.get(signature.name)
    if variable is not None:
        return attrs.evolve(variable, wildcard=signature.wildcard)
    return attrs.evolve(signature, arguments=arguments)


_BOXES = {
    **{name: f"java.lang.{name.capitalize()}" for name in _PRIMITIVES},
    "int": "java.lang.Integer",
    "char": "java.lang.Character",
}


def boxed(signature: Signature) -> Signature:
    return Signature(_BOXES[signature.name]) if signature.name in _BOXES else signature
