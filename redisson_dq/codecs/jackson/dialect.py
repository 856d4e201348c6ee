"""How each of Redisson's codecs configures Jackson. The writer and the reader of nodes follow this configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from redisson_dq import java
from redisson_dq._common.texts import shown
from redisson_dq.codecs.jackson import scalar_nodes
from redisson_dq.codecs.jackson.naming import checked_naming
from redisson_dq.codecs.jackson.node import Typed
from redisson_dq.codecs.jackson.scalar_nodes import Scalar
from redisson_dq.codecs.jackson.types import REFERENCES, Property, held_by, json_of, names_class, properties
from redisson_dq.errors import ArgumentError
from redisson_dq.java.arrays import PRIMITIVE_CODES
from redisson_dq.java.date_patterns import DatePattern, PatternLike, patterns_of
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.numbers import LONG_MAX, LONG_MIN
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.signatures import OBJECT, Signature

__all__ = [
    "ION",
    "JACKSON_2",
    "JACKSON_2_BINARY",
    "JACKSON_3",
    "JACKSON_3_PLAIN",
    "Dialect",
    "with_java_time",
    "with_numbers_as_text",
    "with_patterns",
    "with_typing",
]

_UUID = "java.util.UUID"


@attrs.frozen
class Dialect:
    """One configuration of Jackson.

    ``scalars``: by type, how values without parts become nodes. ``keys``: the same for the keys of a declared map.
    ``bare``: top-level encoding of types that carry a class name only when nested. ``long_is_final``: a Long in a field
    or array of Longs has no class name, as for other final classes. ``jackson_3``: it is Jackson 3, which does not sort
    a record's properties and writes an enum's constant as its ``toString()``. Some annotations exist only in one
    Jackson. ``numbered_exceptions``: exceptions have an ``@id``. Later occurrences of the same exception refer to it.
    ``nulls``: properties that are null are written. ``typed``: values carry the names of their classes. ``typed_uuid``:
    a UUID in a field or array of UUIDs carries its class name too. Not every Redisson reads both forms. ``generic``: an
    object of a class that is not declared is read as a JavaObject. ``unwraps``: an array of Optionals has a class name
    if an array of their contents would have one. ``names_referred``: an object of a declared class in an
    AtomicReference has its class name around it. ``annotates``: the name of a class is beside its value and not in it.
    ``wraps``: the name of an object's class is in an array before it, and not in it as ``@class``. ``naming``: the
    strategy for the names of fields. ``patterns``: the forms of dates and times by Java class, and ``time_zone`` the
    zone of points in time in patterns. ``as_text``: the classes of numbers that are written as texts, and primitive
    types of fields.
    """

    scalars: Mapping[type, Scalar]
    keys: Mapping[type, Scalar]
    bare: Mapping[type, Callable[[Any], Any]]
    long_is_final: bool = False
    jackson_3: bool = False
    numbered_exceptions: bool = True
    nulls: bool = False
    typed: bool = True
    typed_uuid: bool = True
    generic: bool = False
    unwraps: bool = False
    names_referred: bool = False
    annotates: bool = False
    wraps: bool = False
    naming: str = checked_naming(None)
    patterns: Mapping[str, DatePattern] = attrs.field(factory=dict)
    time_zone: str | None = None
    as_text: frozenset[str] = frozenset()
    _primitives_as_text: frozenset[str] = frozenset()

    def pattern_of(self, name: str, declared: Signature) -> DatePattern | None:
        """The pattern for a date or time of the class ``name`` in a place of the type ``declared``."""
        if declared.pattern is not None:
            return declared.pattern
        return self.patterns.get(_SAME_PATTERN.get(name, name)) if self.patterns else None

    @property
    def renames(self) -> bool:
        """Whether fields have other names than in Java."""
        return self.naming != checked_naming(None)

    def properties(self, declaration: Declaration, arguments: tuple[Signature, ...]) -> dict[str, Property]:
        """The properties of a declared class, by their names in JSON."""
        return properties(
            declaration,
            arguments,
            jackson_3=self.jackson_3,
            naming=self.naming,
            primitives_as_text=self._primitives_as_text,
        )

    def is_text(self, declared: Signature) -> bool:
        """Whether numbers in a place of the type ``declared`` are written as texts."""
        return declared.as_text or declared.name in self.as_text

    def names(self, declared: Signature) -> bool:
        """Whether a value in a place of the type ``declared`` is written with the name of its class."""
        if declared is OBJECT:
            return self.typed
        if declared.name.startswith("["):
            while declared.component is not None:
                declared = declared.component
            element = declared.name.lstrip("[").removeprefix("L").removesuffix(";")
            if element in REFERENCES:
                held = held_by(Signature(element, declared.arguments))
                return self.names(held) if self.unwraps else self.typed and element not in _FINAL_REFERENCES
        if declared.name == _UUID:
            return self.typed_uuid
        declaration = declaration_of(declared.name)
        if declaration is not None and json_of(declaration, self.jackson_3).typed:
            return True
        return self.typed and names_class(declared.name, long_is_final=self.long_is_final)

    def names_object(self, declaration: Declaration, declared: Signature) -> bool:
        """Whether an object of a declared class is written with the name of the class.

        An object with @JsonTypeInfo is, if the declared type is an interface. Whether the interface has the annotation
        is not known; without it Java could not read the object.
        """
        if self.names(declared):
            return True
        is_of_jdk = declared.name.startswith("java.") or declared.name in PRIMITIVE_CODES
        return json_of(declaration, self.jackson_3).typed and not is_of_jdk and declaration_of(declared.name) is None

    def refuses_objects(self, declared: Signature) -> bool:
        """Whether Jackson only reads a text or a number there, although Java could assign objects of some classes."""
        return declared.name == "java.lang.CharSequence" or (declared.name == "java.lang.Number" and not self.annotates)


def _float(value: java.Float) -> Any:
    return value if value - value == 0 else Typed("java.lang.Float", value)


def _int(value: int) -> Any:
    return int(value) if LONG_MIN <= value <= LONG_MAX else Typed("java.math.BigInteger", java.BigInteger(value))


_BARE: dict[type, Callable[[Any], Any]] = {
    java.Byte: lambda value: value,
    java.Short: lambda value: value,
    java.Float: _float,
    java.Character: str.__str__,
}

#: The final classes whose values are written as their content.
_FINAL_REFERENCES = REFERENCES.keys() - {"java.util.concurrent.atomic.AtomicReference"}

JACKSON_2 = Dialect(scalar_nodes.JACKSON_2, scalar_nodes.KEYS_2, _BARE, names_referred=True)
#: The binary formats have bytes and all floats. There, these need no class name.
JACKSON_2_BINARY = attrs.evolve(
    JACKSON_2,
    bare={
        **_BARE,
        java.Float: lambda value: value,
        **dict.fromkeys((float, java.Double), float),
        **dict.fromkeys((bytes, bytearray, memoryview), bytes),
    },
)
ION = attrs.evolve(JACKSON_2_BINARY, scalars=scalar_nodes.ION, annotates=True)
JACKSON_3 = Dialect(
    scalar_nodes.JACKSON_3,
    scalar_nodes.KEYS_3,
    {**_BARE, int: _int, java.Long: lambda value: value},
    long_is_final=True,
    jackson_3=True,
    numbered_exceptions=False,
    unwraps=True,
)
#: Jackson 3's default mapper, without Redisson's settings.
JACKSON_3_PLAIN = attrs.evolve(JACKSON_3, nulls=True, typed=False)

_JAVA_TIME = {
    "refuse": scalar_nodes.JACKSON_2,
    "numbers": scalar_nodes.TIME_NUMBERS,
    "text": scalar_nodes.TIME_TEXTS,
}


def with_java_time(dialect: Dialect, java_time: str) -> Dialect:
    """A dialect of Jackson 2 with this form of java.time's classes. Raises ArgumentError for an unknown form."""
    if not isinstance(java_time, str) or java_time not in _JAVA_TIME:
        raise ArgumentError(f"java_time must be 'refuse', 'numbers' or 'text', not {shown(java_time)}")
    return attrs.evolve(dialect, scalars=_JAVA_TIME[java_time])


def with_patterns(dialect: Dialect, patterns: Mapping[str, PatternLike] | None, time_zone: str | None) -> Dialect:
    """A dialect with these forms of dates and times, by Java class. Raises ArgumentError."""
    if time_zone is not None:
        DatePattern("yyyy", time_zone)  # raises for an unknown zone
    found = patterns_of(patterns or {}, "codec")
    for name, pattern in found.items():
        if name not in _PATTERNED:
            raise ArgumentError(f"patterns names one of {', '.join(_PATTERNED)}, not {shown(name)}")
        if why := pattern.misfit(name):
            raise ArgumentError(why)
        if name in (java.JavaDate.java_name, java.Instant.java_name) and (pattern.zone or time_zone) is None:
            raise ArgumentError(
                f"the pattern of a {name} needs a zone: that of Java's mapper, or of its JVM if the mapper has none: "
                f'patterns={{"{name}": ("{pattern.text}", "Asia/Shanghai")}}'
            )
    if not found and time_zone is None:
        return dialect
    keys = {name: found[name] for name in found if name == java.JavaDate.java_name}
    return attrs.evolve(
        dialect,
        patterns=found,
        time_zone=time_zone,
        scalars=scalar_nodes.patterned(dialect.scalars, _same(found), time_zone),
        keys={**dialect.keys, **scalar_nodes.patterned(dialect.keys, _same(keys), time_zone)},
    )


#: setDateFormat applies to these, but not to a java.sql.Date.
_SAME_PATTERN = {java.Timestamp.java_name: java.JavaDate.java_name}
#: The classes for which a mapper can have patterns: by setDateFormat, or by the serializers of JavaTimeModule.
_PATTERNED = (
    *(java.JavaDate.java_name, java.LocalDateTime.java_name, "java.time.LocalDate", "java.time.LocalTime"),
    java.Instant.java_name,
)


def _same(patterns: Mapping[str, DatePattern]) -> dict[str, DatePattern]:
    return {**patterns, **{name: patterns[other] for name, other in _SAME_PATTERN.items() if other in patterns}}


#: Java writes a ``long[]`` with another serializer, so the primitive type is only about fields.
_TEXT_NUMBERS = frozenset(("java.lang.Long", "java.math.BigInteger", "java.math.BigDecimal"))


def with_numbers_as_text(dialect: Dialect, names: Iterable[str]) -> Dialect:
    """A dialect of a mapper with ToStringSerializer for these classes. Raises ArgumentError for other classes."""
    listed = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    known = ("long", *sorted(_TEXT_NUMBERS))
    if not all(isinstance(name, str) and name in known for name in listed):
        raise ArgumentError(f"as_text is a list of names, of {', '.join(map(repr, known))}; not {shown(names)}")
    found = frozenset(listed)
    # Java would read such a text as a String if it is the whole value.
    bare = {kind: make for kind, make in dialect.bare.items() if kind not in (int, java.Long) or not found}
    return attrs.evolve(dialect, as_text=found & _TEXT_NUMBERS, primitives_as_text=found - _TEXT_NUMBERS, bare=bare)


def with_typing(dialect: Dialect, typing: str | None) -> Dialect:
    """A dialect without the names of classes, changed to Jackson's own default typing NON_FINAL.

    Redisson's JsonJacksonCodec has its own typing, which also names a Long. Raises ArgumentError unless ``typing`` is
    "wrapper_array" or "property".
    """
    if typing is None:
        return dialect
    if not isinstance(typing, str) or typing not in ("wrapper_array", "property"):
        raise ArgumentError(f"typing is None, 'wrapper_array' or 'property', not {shown(typing)}")
    bare = {**_BARE, int: _int, java.Long: lambda value: value}
    return attrs.evolve(
        dialect, typed=True, wraps=typing == "wrapper_array", bare=bare, long_is_final=True, unwraps=True
    )
