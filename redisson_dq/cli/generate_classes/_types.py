"""How Java's types are written as annotations."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import attrs

from redisson_dq import java
from redisson_dq.java.declare import declaration_for

from ._closure import JavaClass
from ._names import literal
from ._signatures import OBJECT, TypeUse

__all__ = ["ALIASES", "IMPORTED", "OTHER_IMPORTS", "STANDARD_IMPORTS", "Annotations", "alias_of"]

#: What a module may import: by name, the line that brings it, in the order of the lines.
STANDARD_IMPORTS = {
    "dt": "import datetime as dt",
    "abc": "from collections import abc",
    "dataclass": "from dataclasses import dataclass",
    "Decimal": "from decimal import Decimal",
    "Enum": "from enum import Enum",
    **dict.fromkeys(("Annotated", "Any", "Generic", "TypeVar"), "from typing import"),  # with all names on it
    "UUID": "from uuid import UUID",
}
OTHER_IMPORTS = {
    "attrs": "import attrs",
    "java": "from redisson_dq import java",
    "java_class": "from redisson_dq.java import java_class",
}
IMPORTED = STANDARD_IMPORTS.keys() | OTHER_IMPORTS.keys()

#: Java's primitive types: the annotation, and what a new object has there.
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


_NATURAL = {
    "java.lang.Object": _Known("Any"),
    "java.lang.Boolean": _Known("bool"),
    "java.lang.Integer": _Known("int"),
    "java.lang.Double": _Known("float"),
    "java.lang.String": _Known("str"),
    "java.lang.Byte": _Known("java.Byte"),
    "java.lang.Short": _Known("java.Short"),
    "java.lang.Long": _Known("java.Long"),
    "java.lang.Float": _Known("java.Float"),
    "java.lang.Character": _Known("java.Character"),
    "java.lang.Throwable": _Known("java.Throwable"),
    "java.math.BigInteger": _Known("java.BigInteger"),
    "java.math.BigDecimal": _Known("Decimal"),
    "java.util.UUID": _Known("UUID"),
    "java.time.LocalDate": _Known("dt.date"),
    "java.time.LocalTime": _Known("dt.time"),
    "java.time.Duration": _Known("dt.timedelta"),
    "java.util.List": _Known("list", 1),
    "java.util.Set": _Known("set", 1),
    "java.util.Map": _Known("dict", 2),
}

#: Where the Python class alone would say another Java type; a module that needs one of these gives it a name.
ALIASES = {
    "java.lang.CharSequence": _Known("str"),
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
    """The classes of redisson_dq.java that stand for one class of Java's."""
    found = {}
    for name in java.__all__:
        python = getattr(java, name)
        if isinstance(python, type):
            declared = declaration_for(python)
            java_name = declared.name if declared else getattr(python, "java_name", None)
            if isinstance(java_name, str):
                bases = vars(python).get("__orig_bases__", ())
                parameters = {parameter for base in bases for parameter in base.__parameters__}
                found[java_name] = _Known(f"java.{name}", len(parameters))
    return found


_KNOWN = {**_of_the_library(), **_NATURAL}


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


class Annotations:
    """Writes types. ``names`` has the Python names of the declared classes and of what has an alias, by Java name;
    ``variables`` those of the type variables, by their own name and the class that they are erased to.
    """

    def __init__(
        self, declared: Mapping[str, JavaClass], names: Mapping[str, str], variables: Mapping[tuple[str, str], str]
    ) -> None:
        self._declared, self._names, self._variables = declared, names, variables
        #: The modules and names that what was written so far has to import.
        self.imports: set[str] = set()

    def field(self, use: TypeUse, owner: JavaClass) -> tuple[str, str]:
        """The annotation of a field, and its value in an object that nobody has given one."""
        if use.name in _PRIMITIVES and not use.dimensions:
            annotation, value = _PRIMITIVES[use.name]
            return self.importing(annotation), value
        annotation = self.reference(use, owner)
        return annotation if annotation == "Any" else f"{annotation} | None", "None"

    def reference(self, use: TypeUse, owner: JavaClass, later: Collection[str] = ()) -> str:
        """A type that is no primitive, as it is when not null. Of the classes ``later`` none is defined yet, and what
        is written here is evaluated at once."""
        if use.dimensions:
            return self._array(attrs.evolve(use, dimensions=use.dimensions - 1), owner, later)
        if use.is_variable:
            return self._variables[use.name, owner.parameters[use.name]]
        if use.name in later:
            return self.importing("Annotated") + f'["{self._names[use.name]}", {self.java_type(use.name)}]'
        if use.name in self._declared:
            return self._subscripted(self._names[use.name], len(self._declared[use.name].parameters), use, owner, later)
        if use.name in ALIASES:
            return self._subscripted(self._names[use.name], ALIASES[use.name].parameters, use, owner, later)
        if use.name in _KNOWN:
            known = _KNOWN[use.name]
            return self._subscripted(self.importing(known.python), known.parameters, use, owner, later)
        if _says_more(use):
            return self.importing("Annotated[Any, ") + self.java_type(self._source(use, owner)) + "]"
        return self._names[use.name]

    def java_type(self, source: str) -> str:
        """The marker that says a Java type."""
        return self.importing("java.JavaType") + f"({literal(source)})"

    def importing(self, code: str) -> str:
        """The code. What it has to import is noted; it has no names but those and builtins."""
        self.imports.update(IMPORTED.intersection(re.findall(r"\w+", code)))
        return code

    def _array(self, element: TypeUse, owner: JavaClass, later: Collection[str]) -> str:
        if not element.dimensions and not element.is_variable:
            if element.name == "byte":
                return "bytes"
            if element.name in _PRIMITIVES:
                return self.importing(f"java.{element.name.capitalize()}Array")
            if element.name in ("java.lang.String", "java.lang.Object"):
                return self.importing(f"java.{element.name.rpartition('.')[2]}Array")
        return self.importing("java.Array") + f"[{self.reference(element, owner, later)}]"

    def _subscripted(self, name: str, count: int, use: TypeUse, owner: JavaClass, later: Collection[str]) -> str:
        if not count:
            return name
        if len(use.arguments) == count:
            arguments = [self.reference(argument, owner, later) for argument in use.arguments]
        else:  # a raw type
            arguments = [self.importing("Any")] * count
        return f"{name}[{', '.join(arguments)}]"

    def _source(self, use: TypeUse, owner: JavaClass) -> str:
        """The type as Java writes it."""
        name = self._variables[use.name, owner.parameters[use.name]] if use.is_variable else use.name
        arguments = ", ".join(self._source(argument, owner) for argument in use.arguments)
        return name + (f"<{arguments}>" if arguments else "") + "[]" * use.dimensions
