"""Where Redisson's Jackson writes the name of a value's class, and the properties of a declared class.

This depends on the type that a field, an array or a collection declares. Redisson's default typing (NON_FINAL) names
the class of every value whose declared type is not final.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import attrs

from redisson_dq import java
from redisson_dq.codecs.jackson.naming import NAMINGS
from redisson_dq.codecs.jackson.text_numbers import as_text
from redisson_dq.errors import ArgumentError
from redisson_dq.java.arrays import PRIMITIVE_CODES, component_of
from redisson_dq.java.date_patterns import DatePattern
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.element_types import declared_elements, element_types
from redisson_dq.java.facts import ZEROS
from redisson_dq.java.fields import attributes_of
from redisson_dq.java.hierarchy import is_assignable
from redisson_dq.java.jackson import Json
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.signatures import OBJECT, Signature, array_signature, with_arguments

__all__ = [
    "HELD",
    "REFERENCES",
    "ContainerType",
    "Property",
    "declared_component",
    "element_of",
    "held_by",
    "in_pattern",
    "json_of",
    "key_and_value_of",
    "missing_values",
    "names_class",
    "parts_of",
    "properties",
    "without_wildcards",
]

_FINAL = frozenset(
    (
        *("boolean", "byte", "char", "short", "int", "long", "float", "double", "java.util.UUID"),
        *(f"java.lang.{name}" for name in ("Boolean", "Byte", "Character", "Short", "Integer", "Float", "Double")),
        *(f"java.lang.{name}" for name in ("String", "StringBuilder", "StringBuffer", "Class", "StackTraceElement")),
        *(f"java.time.{name}" for name in ("Instant", "LocalDate", "LocalTime", "LocalDateTime", "OffsetTime")),
        *(f"java.time.{name}" for name in ("OffsetDateTime", "ZonedDateTime", "Duration", "Period", "ZoneOffset")),
        *("java.time.Year", "java.time.YearMonth", "java.time.MonthDay"),
        *("java.util.OptionalInt", "java.util.OptionalLong", "java.util.OptionalDouble"),
        "kotlin.collections.ArrayDeque",
        *("java.util.Locale", "java.util.Currency", "java.util.regex.Pattern", "java.net.URI", "java.net.URL"),
    )
)


def names_class(name: str, *, long_is_final: bool) -> bool:
    """Whether default typing names the class of a value with this declared type. ``name`` is as from Class.getName."""
    if name.startswith("["):
        name = component_of("[" + name.lstrip("["))  # the component type of the innermost arrays
    if name in _FINAL:
        return False
    if name == "java.lang.Long":
        return not long_is_final
    declaration = declaration_of(name)
    return declaration is None or not declaration.final


#: By Java name: the classes whose values are written as their content, where they are declared.
REFERENCES: dict[str, Any] = {
    kind.java_name: kind
    for kind in (java.AtomicReference, java.Optional, java.OptionalInt, java.OptionalLong, java.OptionalDouble)
}
#: Those with contents of a fixed type. Only these may be written with their names.
HELD = {
    java.OptionalInt.java_name: Signature("int"),
    java.OptionalLong.java_name: Signature("long"),
    java.OptionalDouble.java_name: Signature("double"),
}


def held_by(declared: Signature) -> Signature:
    """The type of the content of one of REFERENCES, by its declared type."""
    return HELD.get(declared.name) or element_of(declared)


def element_of(declared: Signature) -> Signature:
    """The type of a collection's elements, by its declared type."""
    return declared.arguments[0] if len(declared.arguments) == 1 else OBJECT


def declared_component(name: str, declared: Signature) -> Signature:
    """The element type of an array of the class ``name`` in a place of the type ``declared``."""
    return (
        declared.component
        if declared.component is not None and declared.name == name
        else Signature(component_of(name))
    )


def key_and_value_of(declared: Signature) -> tuple[Signature, Signature]:
    """The types of a map's keys and values, by its declared type."""
    return (declared.arguments[0], declared.arguments[1]) if len(declared.arguments) == 2 else (OBJECT, OBJECT)


class ContainerType(Signature):
    """The type of a field that is a collection or a map.

    In a field of type List<Object>, Jackson names the class of each element, even if the object's class extends
    ArrayList<Color>. Elsewhere, as in a list of lists, only the object's class decides.
    """

    __slots__ = ()


def parts_of(
    declaration: Declaration, declared: Signature, names: Callable[[Signature], bool]
) -> tuple[Signature, bool]:
    """The collection type by which Jackson writes an object of a collection's subclass in a place of the type
    ``declared``.

    The second result says whether the place declares other elements than the class. ``names`` says whether the values
    of a type are written with the names of their classes.
    """
    own = tuple(map(without_wildcards, element_types(declaration, declared)))
    if type(declared) is ContainerType:
        *_, part = map(without_wildcards, (OBJECT, *declared_elements(declared)))
        if names(part):
            own = own or (OBJECT,) * (1 + is_assignable(declaration.extends, "java.util.Map"))
            if own[-1].name in REFERENCES and own[-1].name not in HELD:
                part = Signature(own[-1].name, (part,))
            return Signature(declaration.extends, (*own[:-1], part)), own[-1] != part
    return Signature(declaration.extends, own), False


@attrs.frozen
class Property:
    """A field of a class whose type arguments are known.

    ``missing`` is the attribute's value if the bytes have none, unless the Python class has a default.
    """

    name: str
    attribute: str
    type: Signature
    required: bool
    #: Whether the field of a new object is not null.
    is_filled: bool
    #: Further names under which the field is read.
    aliases: tuple[str, ...] = ()
    #: Whether the field is written even if it is null.
    writes_null: bool = False
    #: The field's name in Java.
    java_name: str = ""

    @property
    def is_written(self) -> bool:
        """Whether the field is written whatever its value is."""
        return self.writes_null or self.type.name in PRIMITIVE_CODES

    @property
    def missing(self) -> Any:
        """The value of the field in Java before anything is assigned."""
        return ZEROS.get(self.type.name)


@lru_cache(maxsize=1024)
def without_wildcards(signature: Signature) -> Signature:
    """The type as Jackson uses it: a wildcard becomes its upper bound."""
    if signature.wildcard == "super":
        return OBJECT
    if signature.component is not None:
        return array_signature(without_wildcards(signature.component))
    arguments = tuple(map(without_wildcards, signature.arguments))
    return attrs.evolve(signature, arguments=arguments, wildcard="")


@lru_cache(maxsize=1024)
def properties(
    declaration: Declaration,
    arguments: tuple[Signature, ...],
    *,
    jackson_3: bool,
    naming: str,
    primitives_as_text: frozenset[str],
) -> dict[str, Property]:
    """The class's properties by their names in JSON, in Jackson's order: that of the names, save for records in
    Jackson 3. ``naming``: the strategy for the names that the declaration does not give. ``primitives_as_text``: the
    primitive types of fields that are written as texts.
    """
    json = json_of(declaration, jackson_3)
    fields = _fields(declaration, arguments)
    write = NAMINGS[naming]
    known = {name: _annotated(field, name, json, write) for name, field in fields.items() if name not in json.ignored}
    for name, field in known.items():
        if field.type.name in primitives_as_text:
            known[name] = attrs.evolve(field, type=attrs.evolve(field.type, as_text=True))
    named = {field.name: field for field in known.values()}
    if declaration.kind != "record" or not jackson_3:
        named = dict(sorted(named.items(), key=lambda item: item[0].encode("utf-16-be", "surrogatepass")))
    first = {known[name].name: known[name] for name in json.order if name in known}
    return {**first, **named}


def missing_values(declaration: Declaration, arguments: tuple[Signature, ...]) -> dict[str, Any]:
    """By required attribute: its value if the bytes have none."""
    return {field.attribute: field.missing for field in _fields(declaration, arguments).values() if field.required}


@lru_cache(maxsize=1024)
def _fields(declaration: Declaration, arguments: tuple[Signature, ...]) -> dict[str, Property]:
    """The class's fields by Java name. If a subclass has a field with the same name, Jackson knows only that one."""
    found: dict[str, Property] = {}
    _collect(declaration, arguments, _required(declaration.python), _filled(declaration.python), found)
    return found


def _annotated(field: Property, java_name: str, json: Json, written: Callable[[str], str]) -> Property:
    """The property as Jackson's annotations describe it."""
    pattern, kind = json.patterns.get(java_name), field.type
    if pattern is not None:
        kind = in_pattern(kind, pattern, f"field {java_name}")
    if java_name in json.as_text:
        kind = as_text(kind, f"field {java_name}")
    return attrs.evolve(
        field,
        type=kind,
        name=str(json.names[java_name] if java_name in json.names else written(java_name)),
        java_name=java_name,
        aliases=json.aliases.get(java_name, ()),
        writes_null=java_name in json.nulls,
    )


def in_pattern(declared: Signature, pattern: DatePattern, where: str) -> Signature:
    """The type with that pattern for its dates and times: for the type itself, or for its elements or values.

    Raises ArgumentError for a type without any, and if Java could not read the pattern back.
    """
    if declared.component is not None or declared.name.startswith("["):
        return array_signature(in_pattern(declared_component(declared.name, declared), pattern, where))
    if declared.arguments:
        *before, last = declared.arguments
        return attrs.evolve(declared, arguments=(*before, in_pattern(last, pattern, where)))
    why = pattern.misfit(declared.name)
    if why:
        raise ArgumentError(f"{where}: {why}")
    return attrs.evolve(declared, pattern=pattern)


def json_of(declaration: Declaration, jackson_3: bool) -> Json:
    """The annotations of a class that are about its JSON."""
    return declaration.json3 if jackson_3 else declaration.json


def _collect(
    declaration: Declaration,
    arguments: tuple[Signature, ...],
    required: frozenset[str],
    filled: frozenset[str],
    found: dict[str, Property],
) -> None:
    bindings = dict(zip(declaration.parameters, arguments, strict=False))
    if declaration.superclass is not None and declaration.superclass_type is not None:
        inherited = tuple(with_arguments(argument, bindings) for argument in declaration.superclass_type.arguments)
        _collect(declaration.superclass, inherited, required, filled, found)
    for field in declaration.fields:
        found[field.name] = Property(
            field.name,
            field.attribute,
            _of_field(without_wildcards(with_arguments(field.type, bindings))),
            field.attribute in required,
            field.type.name in PRIMITIVE_CODES or field.attribute in filled,
        )


def _filled(python: type) -> frozenset[str]:
    """The attributes whose default is not None."""
    defaults = ((one.name, one.default) for one in attributes_of(python))
    return frozenset(name for name, default in defaults if default is not None and default() is not None)


def _of_field(signature: Signature) -> Signature:
    if signature.name in PRIMITIVE_CODES or not any(is_assignable(signature.name, kind) for kind in _CONTAINERS):
        return signature
    return ContainerType(signature.name, signature.arguments, signature.variable)


_CONTAINERS = ("java.util.Collection", "java.util.Map")


def _required(python: type) -> frozenset[str]:
    """The attributes that ``__init__`` requires."""
    return frozenset(one.name for one in attributes_of(python) if one.init_name is not None and one.required)
