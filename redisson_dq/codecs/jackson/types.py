"""Where Redisson's Jackson writes the name of a value's class, and what properties a declared class has.

The type that a field, an array or a collection declares decides: Redisson's default typing (NON_FINAL) names the
class of every value whose declared type is not final, and of a Long.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any

import attrs

from redisson_dq.java.arrays import component_of
from redisson_dq.java.declare import OBJECT, Declaration, Signature, declaration_of

__all__ = ["Dialect", "Property", "constants", "element_of", "key_and_value_of", "names_class", "properties"]

_UUID = "java.util.UUID"
_FINAL = frozenset(
    (
        *("boolean", "byte", "char", "short", "int", "long", "float", "double", _UUID),
        *(f"java.lang.{name}" for name in ("Boolean", "Byte", "Character", "Short", "Integer", "Float", "Double")),
        *(f"java.lang.{name}" for name in ("String", "StringBuilder", "StringBuffer", "Class", "StackTraceElement")),
        *("java.util.Locale", "java.util.Currency", "java.util.regex.Pattern", "java.net.URI", "java.net.URL"),
    )
)
_ZEROS: dict[str, Any] = {
    "boolean": False,
    "char": "\0",
    **dict.fromkeys(("byte", "short", "int", "long"), 0),
    **dict.fromkeys(("float", "double"), 0.0),
}


@attrs.frozen
class Dialect:
    """How one codec of Redisson's sets Jackson up.

    ``typed``: values carry the names of their classes. ``typed_uuid``: a field or array of UUIDs carries it as
    well, as Redisson 4 writes it; Redisson 3 writes and reads only the text there. ``generic``: an object of a
    class that is not declared is read as a JavaObject.
    """

    typed: bool = True
    typed_uuid: bool = True
    generic: bool = False

    def names(self, slot: Signature) -> bool:
        """Whether a value that is declared as ``slot`` stands with the name of its class."""
        if slot.name == _UUID:
            return self.typed_uuid
        return self.typed and names_class(slot.name)


def names_class(name: str) -> bool:
    """Whether default typing names the class of what is declared as this Java type, by Class.getName."""
    while name.startswith("["):
        name = component_of(name)
    if name in _FINAL:
        return False
    declaration = declaration_of(name)
    return declaration is None or not declaration.final


def element_of(slot: Signature) -> Signature:
    """The type of the elements of what is declared as this."""
    return slot.arguments[0] if len(slot.arguments) == 1 else OBJECT


def key_and_value_of(slot: Signature) -> tuple[Signature, Signature]:
    """The types of the keys and the values of what is declared as this."""
    return (slot.arguments[0], slot.arguments[1]) if len(slot.arguments) == 2 else (OBJECT, OBJECT)


@attrs.frozen
class Property:
    """A field of a class whose type arguments are known.

    ``missing`` is what the attribute gets if the bytes do not have it: nothing, if the Python class has a default.
    """

    name: str
    attribute: str
    type: Signature
    required: bool

    @property
    def missing(self) -> Any:
        """What Java's field has without a value."""
        return _ZEROS.get(self.type.name)


@lru_cache(maxsize=1024)
def properties(declaration: Declaration, arguments: tuple[Signature, ...]) -> dict[str, Property]:
    """The class's properties by Java name, in Jackson's order: that of the names.

    Of two fields of one name, which Java allows in a subclass, Jackson knows the subclass's.
    """
    required = _required(declaration.python)
    found: dict[str, Property] = {}
    _collect(declaration, arguments, required, found)
    return dict(sorted(found.items(), key=lambda item: item[0].encode("utf-16-be", "surrogatepass")))


def _collect(
    declaration: Declaration,
    arguments: tuple[Signature, ...],
    required: frozenset[str],
    found: dict[str, Property],
) -> None:
    bindings = dict(zip(declaration.parameters, arguments, strict=False))
    if declaration.superclass is not None and declaration.superclass_type is not None:
        inherited = tuple(_bound(argument, bindings) for argument in declaration.superclass_type.arguments)
        _collect(declaration.superclass, inherited, required, found)
    for field in declaration.fields:
        found[field.name] = Property(
            field.name, field.attribute, _bound(field.type, bindings), field.attribute in required
        )


def _bound(signature: Signature, bindings: dict[str, Signature]) -> Signature:
    if signature.variable is not None:
        return bindings.get(signature.variable, signature)
    if not signature.arguments:
        return signature
    return Signature(signature.name, tuple(_bound(argument, bindings) for argument in signature.arguments))


def _required(python: type) -> frozenset[str]:
    """The attributes that ``__init__`` cannot do without."""
    if attrs.has(python):
        return frozenset(field.name for field in attrs.fields(python) if field.init and field.default is attrs.NOTHING)
    return frozenset(
        field.name
        for field in dataclasses.fields(python)
        if field.init and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    )


@lru_cache(maxsize=256)
def constants(declaration: Declaration) -> tuple[dict[str, str], dict[str, Any]]:
    """Of an enum: Java's names by those of the members, and the members by Java's names."""
    names = {member.name: name for member, name in zip(declaration.members, declaration.constants, strict=True)}
    return names, dict(zip(declaration.constants, declaration.members, strict=True))
