"""How Java's types are written as annotations."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import attrs

from redisson_dq import java
from redisson_dq.cli.generate_classes._facts import DeclaredClass
from redisson_dq.cli.generate_classes._initial import Constant, Initial, NewObject
from redisson_dq.cli.generate_classes._names import attribute_names, literal
from redisson_dq.cli.generate_classes._signatures import OBJECT, TypeUse
from redisson_dq.cli.generate_classes._supertypes import java_name_of
from redisson_dq.codecs.floats import float_text
from redisson_dq.java.collections import COLLECTIONS, INTERFACES
from redisson_dq.java.sets import OrderedSet

__all__ = [
    "ALIASES",
    "ENUM_NAMES",
    "IMPORTED",
    "OTHER_IMPORTS",
    "STANDARD_IMPORTS",
    "Annotations",
    "Default",
    "alias_of",
    "collection_names",
]

#: Names that an Enum has a use of its own for.
ENUM_NAMES = frozenset(("mro", "name", "value"))

#: The imports that a module may have: by name, the line that brings it, in the order of the lines.
STANDARD_IMPORTS = {
    "dt": "import datetime as dt",
    "ABC": "from abc import",
    "abc": "from collections import abc",
    **dict.fromkeys(("dataclass", "field"), "from dataclasses import"),
    "Decimal": "from decimal import Decimal",
    "Enum": "from enum import Enum",
    **dict.fromkeys(("Annotated", "Any", "Generic", "TypeVar"), "from typing import"),  # with all names on it
    "UUID": "from uuid import UUID",
}
OTHER_IMPORTS = {
    "attrs": "import attrs",
    **dict.fromkeys(("BaseModel", "ConfigDict", "Field"), "from pydantic import"),
    "java": "from redisson_dq import java",
    **dict.fromkeys(("java_class", "kotlin"), "from redisson_dq.java import"),
}
IMPORTED = STANDARD_IMPORTS.keys() | OTHER_IMPORTS.keys()

#: Java's primitive types: the annotation, and the value in a new object.
_PRIMITIVES = {
    "boolean": ("bool", "False"),
    "byte": ("java.byte", "0"),
    "char": ("java.char", '"\\0"'),
    "short": ("java.short", "0"),
    "int": ("int", "0"),
    "long": ("java.long", "0"),
    "float": ("java.float", "0.0"),
    "double": ("float", "0.0"),
}


@attrs.frozen
class _Known:
    """A class of Java's own: its Python class, and how many type parameters that takes."""

    python: str
    parameters: int = 0


#: A box is the annotation of its primitive where None is allowed, and as a type argument: a plain int does for it.
_NATURAL = {
    "java.lang.Object": _Known("Any"),
    "java.lang.Boolean": _Known("bool"),
    "java.lang.Integer": _Known("int"),
    "java.lang.Double": _Known("float"),
    "java.lang.String": _Known("str"),
    "java.lang.Byte": _Known("java.byte"),
    "java.lang.Short": _Known("java.short"),
    "java.lang.Long": _Known("java.long"),
    "java.lang.Float": _Known("java.float"),
    "java.lang.Character": _Known("java.char"),
    "java.lang.Throwable": _Known("java.Throwable"),
    "java.math.BigDecimal": _Known("Decimal"),
    "java.util.UUID": _Known("UUID"),
    "java.time.LocalDate": _Known("dt.date"),
    "java.time.LocalTime": _Known("dt.time"),
    "java.time.Duration": _Known("dt.timedelta"),
    "java.util.List": _Known("list", 1),
    "java.util.Set": _Known("set", 1),
    "java.util.Map": _Known("dict", 2),
}

#: Types for which the Python class would mean another Java type; a module that needs one of these gives it a name.
ALIASES = {
    "java.lang.CharSequence": _Known("str"),
    "java.math.BigInteger": _Known("int"),
    "java.time.Instant": _Known("dt.datetime"),
    "java.time.LocalDateTime": _Known("dt.datetime"),
    "java.time.OffsetDateTime": _Known("dt.datetime"),
    "java.time.ZonedDateTime": _Known("dt.datetime"),
    "java.time.OffsetTime": _Known("dt.time"),
    "java.time.ZoneId": _Known("java.ZoneId | java.ZoneOffset"),
    "java.lang.Iterable": _Known("abc.Iterable", 1),
    "java.util.Collection": _Known("abc.Collection", 1),
    **dict.fromkeys(
        (
            *("java.util.ArrayList", "java.util.Queue", "java.util.Deque"),
            *("java.util.concurrent.BlockingQueue", "java.util.concurrent.BlockingDeque"),
        ),
        _Known("list", 1),
    ),
    "java.util.HashSet": _Known("set", 1),
    **dict.fromkeys(("java.util.SortedSet", "java.util.NavigableSet"), _Known("java.OrderedSet", 1)),
    **dict.fromkeys(
        (
            *("java.util.LinkedHashMap", "java.util.SortedMap", "java.util.NavigableMap"),
            "java.util.concurrent.ConcurrentMap",
        ),
        _Known("dict", 2),
    ),
}


def _of_the_library() -> dict[str, _Known]:
    """The classes of redisson_dq.java that stand for one class of Java's, or of Kotlin's library."""
    found = {}
    for module, prefix in ((java, "java"), (java.kotlin, "kotlin")):
        for name in module.__all__:
            python = getattr(module, name)
            java_name = java_name_of(python) if isinstance(python, type) else None
            if java_name is not None:
                bases = vars(python).get("__orig_bases__", ())
                parameters = {each for base in bases for each in getattr(base, "__parameters__", ())}
                found[java_name] = _Known(f"{prefix}.{name}", len(parameters))
    return found


_KNOWN = {**_of_the_library(), **_NATURAL}


def _known(java_name: str) -> _Known | None:
    return ALIASES.get(java_name) or _KNOWN.get(java_name)


_SET, _MAP = "java.util.Set", "java.util.Map"

#: The Python base of a class whose superclass is one of these, where a field has another annotation.
_BASES = {
    "java.util.ArrayList": _Known("list", 1),
    "java.util.HashSet": _Known("java.HashSet", 1),
    "java.util.LinkedHashMap": _Known("java.LinkedHashMap", 2),
}


def collection_names(java_name: str) -> set[str]:
    """The names that a class has already whose superclass is that collection."""
    return {*dir(COLLECTIONS[java_name]), "table", "comparator", "capacity", "increment"}


@attrs.frozen
class Default:
    """The default of a field: a value, or a factory that makes one for each object."""

    code: str
    is_factory: bool = False


_WHOLE = {"byte", "short", "int", "long", *(f"java.lang.{name}" for name in ("Byte", "Short", "Integer", "Long"))}
_FLOATING = {"float", "double", "java.lang.Float", "java.lang.Double"}
_TEXTS = {"java.lang.String", "java.lang.CharSequence"}


def _constant(java_name: str, value: int | float | str) -> str | None:
    """The Python expression of a constant in a field of that type."""
    if isinstance(value, str):
        return literal(value) if java_name in _TEXTS else None
    if java_name in ("boolean", "java.lang.Boolean") and isinstance(value, int):
        return str(bool(value))
    if java_name in ("char", "java.lang.Character") and isinstance(value, int):
        return literal(chr(value)) if value else _PRIMITIVES["char"][1]
    if java_name in _WHOLE and isinstance(value, int):
        return str(value)
    if java_name in _FLOATING and isinstance(value, float) and value - value == 0:
        if java_name.rpartition(".")[2].lower() == "double" or float(float_text(java.Float(value))) == value:
            return repr(value)
        return f"java.Float({float_text(java.Float(value))})"
    return None


def _factory(java_name: str, new: str) -> str | None:
    """The Python class of a new object of the class ``new`` in a field of that type: an empty collection."""
    kind = COLLECTIONS.get(new)
    if kind is None:
        return None
    known = _known(java_name)
    plain = known.python if known is not None else ""
    if plain in ("list", "dict", "set"):
        return plain if issubclass(kind, (OrderedSet, set) if plain == "set" else (list, dict)) else None
    if plain in ("abc.Iterable", "abc.Collection"):
        return "list" if issubclass(kind, list) else "set"
    if plain == "java.OrderedSet":
        return "java.TreeSet"
    return plain if java_name == new else None


def alias_of(use: TypeUse, declared: Collection[str]) -> str | None:
    """The Java class for which the module needs a name of its own to write this type; None for most."""
    if use.is_variable or use.name in _PRIMITIVES or use.name in declared:
        return None
    if use.name in ALIASES:
        return use.name
    return None if use.name in _KNOWN or _says_more(use) else use.name


def _says_more(use: TypeUse) -> bool:
    """Whether a type has arguments that differ from those of the raw type."""
    return any(argument != OBJECT for argument in use.arguments)


def _is_wildcard(use: TypeUse) -> bool:
    """Whether a type argument is a wildcard that is not the same as its bound.

    It may differ for Kryo, which takes the bound without arguments, or for Jackson, which takes the upper bound.
    """
    return use.wildcard == "super" or bool(use.wildcard and use.arguments)


def _upper(use: TypeUse) -> TypeUse:
    """A type argument; of a wildcard its upper bound."""
    return OBJECT if use.wildcard == "super" else attrs.evolve(use, wildcard="")


def _holder(java_name: str) -> str:
    """The class of ours that holds the elements of that collection or map where Python cannot, or nothing."""
    kind = {_SET: set, _MAP: dict}.get(java_name) or COLLECTIONS.get(INTERFACES.get(java_name, java_name))
    if kind is None:
        return ""
    return "java.Elements" if issubclass(kind, (set, OrderedSet)) else "java.Entries" if issubclass(kind, dict) else ""


class Annotations:
    """Writes types. ``names`` has the Python names of the declared classes and of types with an alias, by Java name.
    ``variables`` has the Python names of the type variables, by their own name and the class that they are erased to.
    With ``validated`` a field's value has to be of its annotation, as with a model of pydantic.
    """

    def __init__(
        self,
        declared: Mapping[str, DeclaredClass],
        names: Mapping[str, str],
        variables: Mapping[tuple[str, str], str],
        *,
        validated: bool = False,
    ) -> None:
        self._declared, self._names, self._variables = declared, names, variables
        self._validated = validated
        #: The modules and names that the code written so far has to import.
        self.imports: set[str] = set()

    def field(self, use: TypeUse, owner: DeclaredClass) -> tuple[str, str]:
        """The annotation of a field, and its value in an object that nobody has given one."""
        if use.name in _PRIMITIVES and not use.dimensions:
            annotation, value = _PRIMITIVES[use.name]
            return self.importing(annotation), value
        annotation = self.reference(use, owner)
        return annotation if annotation == "Any" else f"{annotation} | None", "None"

    def initial(self, use: TypeUse, initial: Initial | None, later: Collection[str]) -> Default | None:
        """The first value of a field of that type, if Python can write it. Classes ``later`` are not defined yet."""
        if initial is None or use.dimensions or use.is_variable:
            return None
        if isinstance(initial, Constant):
            code = _constant(use.name, initial.value)
            return None if code is None else Default(self.importing(code) if "java.Float" in code else code)
        if isinstance(initial, NewObject):
            if self._holds_unhashable(use) and _holder(initial.name):
                code = self.importing(_holder(initial.name)) + f"({literal(initial.name)})"
                return Default(f"lambda: {code}", is_factory=True)
            factory = _factory(use.name, initial.name)
            return None if factory is None else Default(self.importing(factory), is_factory=True)
        declared = self._declared.get(use.name)
        if declared is None or declared.kind != "enum" or initial.owner != use.name:
            return None
        names = attribute_names(declared.constants, ENUM_NAMES)
        if initial.name not in names:
            return None
        code = f"{self._names[use.name]}.{names[initial.name]}"
        return Default(f"lambda: {code}", is_factory=True) if use.name in later else Default(code)

    def reference(self, use: TypeUse, owner: DeclaredClass, later: Collection[str] = ()) -> str:
        """A type that is no primitive, as it is when not null. Of the classes ``later`` none is defined yet, and
        this code is evaluated at once.
        """
        if any(map(_is_wildcard, use.arguments)) and not use.dimensions:
            plain = "Any"
            if use.name in self._declared or use.name in ALIASES or use.name in _KNOWN:
                plain = self.reference(attrs.evolve(use, arguments=tuple(map(_upper, use.arguments))), owner, later)
            return self.importing(f"Annotated[{plain}, ") + self.java_type(self.source(use, owner)) + "]"
        if use.dimensions:
            return self._array(attrs.evolve(use, dimensions=use.dimensions - 1), owner, later)
        if use.is_variable:
            return self._variables[use.name, owner.parameters[use.name]]
        if self._validated and use.name == owner.name and not _is_itself(use, owner):
            # Pydantic cannot make Node[Any] while Node is made.
            return self.importing("Annotated[Any, ") + self.java_type(self.source(use, owner)) + "]"
        if use.name in later:
            said = self.java_type(self.source(attrs.evolve(use, wildcard=""), owner))
            count = len(self._declared[use.name].parameters)
            whole = self._names[use.name] + (f"[{', '.join([self.importing('Any')] * count)}]" if count else "")
            return self.importing("Annotated") + f'["{whole}", {said}]'
        if self._holds_unhashable(use):
            holder = self.importing(f"Annotated[{_holder(use.name)}")
            arguments = ", ".join(self.reference(_upper(argument), owner, later) for argument in use.arguments)
            return f"{holder}[{arguments}], {self.java_type(use.name)}]"
        if use.name in self._declared:
            return self._subscripted(self._names[use.name], len(self._declared[use.name].parameters), use, owner, later)
        if use.name in ALIASES:
            return self._subscripted(self._names[use.name], ALIASES[use.name].parameters, use, owner, later)
        if use.name in _KNOWN:
            known = _KNOWN[use.name]
            return self._subscripted(self.importing(known.python), known.parameters, use, owner, later)
        if _says_more(use):
            return self.importing("Annotated[Any, ") + self.java_type(self.source(use, owner)) + "]"
        return self._names[use.name]

    def collection(self, use: TypeUse, owner: DeclaredClass, later: Collection[str]) -> str:
        """The collection of the JDK that a class extends, as the base of a Python class."""
        known = _BASES.get(use.name) or _KNOWN[use.name]
        return self._subscripted(self.importing(known.python), known.parameters, use, owner, later)

    def java_type(self, source: str) -> str:
        """The marker that says a Java type."""
        return self.importing("java.JavaType") + f"({literal(source)})"

    def importing(self, code: str) -> str:
        """The code. Its imports are noted; it has no names but those and builtins."""
        self.imports.update(IMPORTED.intersection(re.findall(r"(?<![.\w])\w+", code)))
        return code

    def _holds_unhashable(self, use: TypeUse) -> bool:
        """Whether a set or map may have elements or keys that no Python set or dict can hold, and that matters."""
        if not (self._validated and use.arguments and _holder(use.name)) or use.dimensions:
            return False
        return not self._is_hashable(_upper(use.arguments[0]))

    def _is_hashable(self, use: TypeUse, inside: tuple[str, ...] = ()) -> bool:
        if use.dimensions or use.is_variable or use == OBJECT:
            return False
        if use.name in _PRIMITIVES:
            return True
        declared = self._declared.get(use.name)
        if declared is not None and declared.kind == "record" and use.name not in inside:
            return all(self._is_hashable(field.type, (*inside, use.name)) for field in declared.fields)
        if declared is not None:
            return declared.kind == "enum"
        # A type with parameters holds other values.
        known = _known(use.name)
        return known is not None and not known.parameters and known.python != "Any"

    def _array(self, element: TypeUse, owner: DeclaredClass, later: Collection[str]) -> str:
        if not element.dimensions and not element.is_variable:
            if element.name == "byte":
                return "bytes"
            if element.name in _PRIMITIVES:
                return self.importing(f"java.{element.name.capitalize()}Array")
            if element.name in ("java.lang.String", "java.lang.Object"):
                return self.importing(f"java.{element.name.rpartition('.')[2]}Array")
        return self.importing("java.Array") + f"[{self.reference(element, owner, later)}]"

    def _subscripted(self, name: str, count: int, use: TypeUse, owner: DeclaredClass, later: Collection[str]) -> str:
        if not count:
            return name
        if len(use.arguments) == count:
            arguments = [self.reference(argument, owner, later) for argument in use.arguments]
        else:  # a raw type
            arguments = [self.importing("Any")] * count
        return f"{name}[{', '.join(arguments)}]"

    def source(self, use: TypeUse, owner: DeclaredClass) -> str:
        """The type as Java writes it."""
        name = self._variables[use.name, owner.parameters[use.name]] if use.is_variable else use.name
        arguments = ", ".join(self.source(argument, owner) for argument in use.arguments)
        if _is_wildcard(use):
            name = f"? {use.wildcard} {name}"
        return name + (f"<{arguments}>" if arguments else "") + "[]" * use.dimensions


def _is_itself(use: TypeUse, owner: DeclaredClass) -> bool:
    """Whether a class's use of itself has its own parameters as arguments."""
    return all(one.is_variable for one in use.arguments) and [one.name for one in use.arguments] == [*owner.parameters]
