"""From values to nodes: what Redisson's Jackson writes for a value, with the names of the classes.

A bare number is an Integer or a Double, a bare string a String; any other value stands with the name of its
class. As the whole value, Jackson writes whatever is of a final class without its name, and cannot read most of
it back; here it is written as inside a list, which every Redisson reads right. Only Short, Byte, Character and
Float stand bare, as Jackson has them: they come back as Integer, String and Double.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from redisson_dq import java
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Unencodable, no_java_type, type_name
from redisson_dq.codecs.floats import double_text, float_text
from redisson_dq.codecs.jackson.node import Object, Typed
from redisson_dq.codecs.jackson.types import Dialect, constants, element_of, key_and_value_of, properties
from redisson_dq.errors import ArgumentError
from redisson_dq.java.arrays import array_of, component_of
from redisson_dq.java.collections import COLLECTIONS
from redisson_dq.java.declare import OBJECT, Declaration, Signature, declaration_for
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from redisson_dq.java.times import java_time_name, millis_of

__all__ = ["node_of"]

_THROWABLE = Signature("java.lang.Throwable")
_THROWABLES = Signature("[Ljava.lang.Throwable;")


def node_of(value: Any, dialect: Dialect, slot: Signature = OBJECT) -> Any:
    """The node of a whole value that is declared as ``slot``. Raises Unencodable. O(size)."""
    if slot is OBJECT and type(value) in _BARE_ROOT and (type(value) is not java.Float or value - value == 0):
        return _BARE_ROOT[type(value)](value)
    return _Writer(dialect).write(value, slot, 1)


def _int(value: int) -> tuple[str | None, Any]:
    if INT_MIN <= value <= INT_MAX:
        return None, int(value)
    if LONG_MIN <= value <= LONG_MAX:
        return "java.lang.Long", java.Long(value)
    return "java.math.BigInteger", java.BigInteger(value)


def _double(value: float) -> tuple[str | None, Any]:
    return None if value - value == 0 else "java.lang.Double", float(value)


def _named(name: str, content: Callable[[Any], Any]) -> Callable[[Any], tuple[str | None, Any]]:
    return lambda value: (name, content(value))


def _text(value: str) -> str:
    return str.__str__(value)


def _locale(value: java.Locale) -> str:
    """``Locale.toString()``."""
    text = value.language
    known = bool(value.language or value.country)
    if value.country or (value.language and (value.variant or value.script or value.extensions)):
        text += f"_{value.country}"
    if value.variant and known:
        text += f"_{value.variant}"
    if value.script and known:
        text += f"_#{value.script}"
    if value.extensions and known:
        text += f"_{'' if value.script else '#'}{value.extensions}"
    return text


def _pattern(value: java.Pattern) -> str:
    if value.flags:
        raise Unencodable("Jackson writes a Pattern without its flags: put them into the text, as (?i)")
    return value.pattern


def _sql_time(value: java.SqlTime) -> str:
    return f"{value:%H:%M:%S}"


def _far_time(value: java.FarTime) -> tuple[str | None, Any]:
    name, parts = value.java_name, value.parts
    if name in ("java.util.Date", "java.sql.Date"):
        return name, java.Long(parts[0])
    if name == "java.sql.Timestamp":
        return name, java.Long(parts[0] * 1000 + parts[1] // 1_000_000)
    raise _no_module(name)


def _java_time(value: Any) -> tuple[str | None, Any]:
    raise _no_module(java_time_name(value))


def _unsupported(value: Any) -> tuple[str | None, Any]:
    raise _no_module(value.java_name)


def _no_module(name: str) -> Unencodable:
    advice = "; a point in time can be a java.JavaDate" if name.startswith("java.time.") else ""
    return Unencodable(f"Redisson's Jackson has no {name} (its module is not registered){advice}")


def _bit_set(value: java.BitSet) -> tuple[str | None, Any]:
    return _lost(value) if value else (value.java_name, Object((("empty", True),)))


def _lost(value: Any) -> tuple[str | None, Any]:
    raise Unencodable(f"Jackson does not write what a {value.java_name} holds")


#: By Python type: the Java name (None where a bare value tells it) and the node.
_SCALARS: dict[type, Callable[[Any], tuple[str | None, Any]]] = {
    str: lambda value: (None, value),
    int: _int,
    bool: lambda value: (None, value),
    float: _double,
    Decimal: _named("java.math.BigDecimal", lambda value: value),
    **dict.fromkeys((bytes, bytearray, memoryview), _named("[B", bytes)),
    java.Byte: _named("java.lang.Byte", lambda value: value),
    java.Short: _named("java.lang.Short", lambda value: value),
    java.Integer: lambda value: (None, int(value)),
    java.Long: _named("java.lang.Long", lambda value: value),
    java.BigInteger: _named("java.math.BigInteger", lambda value: value),
    java.Float: _named("java.lang.Float", lambda value: value),
    java.Double: _double,
    java.Character: _named("java.lang.Character", _text),
    UUID: _named("java.util.UUID", str),
    **{
        kind: _named(kind.java_name, _text)
        for kind in (
            *(java.Uri, java.Url, java.Currency, java.Charset, java.TimeZone, java.StringBuilder, java.StringBuffer),
            java.JavaClass,
        )
    },
    java.Locale: _named(java.Locale.java_name, _locale),
    java.Pattern: _named(java.Pattern.java_name, _pattern),
    java.AtomicInteger: _named(java.AtomicInteger.java_name, lambda value: value.value),
    java.AtomicLong: _named(java.AtomicLong.java_name, lambda value: java.Long(value.value)),
    java.AtomicBoolean: _named(java.AtomicBoolean.java_name, lambda value: value.value),
    **{
        kind: _named(kind.java_name, lambda value: java.Long(millis_of(value)))
        for kind in (java.JavaDate, java.SqlDate, java.Timestamp)
    },
    java.SqlTime: _named(java.SqlTime.java_name, _sql_time),
    java.FarTime: _far_time,
    **dict.fromkeys((date, time, timedelta), _java_time),
    **dict.fromkeys((java.Period, java.Year, java.YearMonth, java.MonthDay), _unsupported),
    **dict.fromkeys((java.ZoneId, java.ZoneOffset), _unsupported),
    **dict.fromkeys((java.Optional, java.OptionalInt, java.OptionalLong, java.OptionalDouble), _unsupported),
    java.BitSet: _bit_set,
    java.AtomicReference: _lost,
}

#: Those that are nodes themselves.
_NODES = frozenset((str, Decimal, java.Byte, java.Short, java.Long, java.BigInteger, java.Float))

_BARE_ROOT: dict[type, Callable[[Any], Any]] = {
    java.Byte: lambda value: value,
    java.Short: lambda value: value,
    java.Float: lambda value: value,
    java.Character: _text,
}


def _checked(kind: type) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if isinstance(value, kind) and not (kind is not bool and isinstance(value, bool)):
            return value
        raise ArgumentError("it is of another type")

    return check


#: By declared type: what makes a value of that type of a plain one.
_CASTS: dict[str, Callable[[Any], Any]] = {
    "boolean": _checked(bool),
    "byte": java.Byte,
    "short": java.Short,
    "int": java.Integer,
    "long": java.Long,
    "float": java.Float,
    "double": java.Double,
    "char": java.Character,
    "java.lang.Boolean": _checked(bool),
    "java.lang.Byte": java.Byte,
    "java.lang.Short": java.Short,
    "java.lang.Integer": java.Integer,
    "java.lang.Long": java.Long,
    "java.lang.Float": java.Float,
    "java.lang.Double": java.Double,
    "java.lang.Character": java.Character,
    "java.lang.String": _checked(str),
    "java.math.BigInteger": java.BigInteger,
    "java.math.BigDecimal": lambda value: Decimal(value) if isinstance(value, int) else _checked(Decimal)(value),
    "java.util.UUID": _checked(UUID),
    **{kind.java_name: kind for kind in (java.Uri, java.Url, java.Currency, java.Charset, java.JavaClass)},
    **{kind.java_name: kind for kind in (java.TimeZone, java.StringBuilder, java.StringBuffer)},
    **{kind.java_name: kind for kind in (java.JavaDate, java.SqlDate, java.SqlTime, java.Timestamp)},
}
_CAST_TYPES = {name: kind for name, kind in _CASTS.items() if isinstance(kind, type)}

#: What a plain list, set or dict becomes where these are declared.
_INTERFACES = {
    **dict.fromkeys(("java.util.SortedSet", "java.util.NavigableSet"), "java.util.TreeSet"),
    **dict.fromkeys(("java.util.SortedMap", "java.util.NavigableMap"), "java.util.TreeMap"),
    **dict.fromkeys(("java.util.Queue", "java.util.Deque"), "java.util.LinkedList"),
    "java.util.concurrent.ConcurrentMap": "java.util.concurrent.ConcurrentHashMap",
}
_PLAIN = {
    **dict.fromkeys((list, tuple), "java.util.ArrayList"),
    **dict.fromkeys((set, frozenset), "java.util.HashSet"),
    dict: "java.util.LinkedHashMap",
}


class _Writer:
    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._throwables = 0

    def write(self, value: Any, slot: Signature, depth: int) -> Any:
        """The node of a value that is declared as ``slot``."""
        if value is None:
            return None
        if slot.name in _CASTS:
            value = _cast(value, slot.name)
        elif slot.name.startswith("[") and isinstance(value, (list, tuple)) and not isinstance(value, java.Array):
            value = array_of(component_of(slot.name), value)
        kind = type(value)
        scalar = _SCALARS.get(kind)
        if scalar is None:
            declaration = declaration_for(kind)
            if declaration is not None:
                if isinstance(value, Enum):
                    return self._with_name(declaration.name, constants(declaration)[0][value.name], slot)
                return self._object(value, declaration, slot, depth)
            scalar = _inherited_scalar(value)
        elif kind is java.AtomicReference and slot.name == java.AtomicReference.java_name:
            return self.write(value.value, element_of(slot), depth)
        if scalar is not None:
            name, node = scalar(value)
            return node if name is None else self._with_name(name, node, slot)
        return self._container(value, slot, depth)

    def _with_name(self, name: str, node: Any, slot: Signature) -> Any:
        return Typed(name, node) if self._dialect.names(slot) else node

    def _container(self, value: Any, slot: Signature, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")
        if isinstance(value, java.Array):
            return self._array(value, slot, depth)
        if isinstance(value, java.EnumSet):
            declaration = _declared(value.element)
            names = constants(declaration)[0]
            node: Any = [names[member.name] for member in value]
            return self._with_name(f"{value.java_name}<{declaration.name}>", node, slot)
        if isinstance(value, java.EnumMap):
            name = f"{value.java_name}<{_declared(value.element).name},java.lang.Object>"
            return self._with_name(name, self._entries(value.items(), slot, depth, named_keys=True), slot)
        if isinstance(value, dict):
            return self._with_name(_java_name(value, slot), self._entries(value.items(), slot, depth), slot)
        if isinstance(value, java.Entries):
            return self._with_name(value.java_name, self._entries(value, slot, depth), slot)
        if isinstance(value, (list, tuple, set, frozenset, java.OrderedSet)):
            name = _java_name(value, slot)
            return self._with_name(name, self._items(value, element_of(slot), depth), slot)
        if isinstance(value, java.Throwable):
            return self._with_name(value.java_name, self._throwable(value, depth), slot)
        if isinstance(value, java.JavaObject):
            fields = self._pairs(((name, item, OBJECT) for name, item in value.fields.items()), depth)
            return self._with_name(value.java_name, fields, slot) if value.java_name else fields
        raise no_java_type(value)

    def _array(self, value: java.Array[Any], slot: Signature, depth: int) -> Any:
        name = value.java_name
        try:
            component_of(name)
        except ValueError as exc:
            raise Unencodable(str(exc)) from exc
        if name == "[B":
            return self._with_name(name, bytes(item & 0xFF for item in value), slot)
        if name == "[C":
            return self._with_name(name, "".join(value), slot)
        return self._with_name(name, self._items(value, Signature(value.component), depth), slot)

    def _items(self, values: Iterable[Any], slot: Signature, depth: int) -> list[Any]:
        nodes: list[Any] = []
        try:
            for item in values:
                nodes.append(self.write(item, slot, depth + 1))
        except Unencodable as exc:
            exc.inside(len(nodes))
            raise
        return nodes

    def _entries(
        self, entries: Iterable[tuple[Any, Any]], slot: Signature, depth: int, *, named_keys: bool = False
    ) -> Object:
        key_slot, value_slot = key_and_value_of(slot)
        named_keys = named_keys or key_slot.name != OBJECT.name
        pairs: list[tuple[str, Any]] = []
        key = None
        try:
            for key, item in entries:
                name = key if type(key) is str else _key(key, named_keys)
                pairs.append((name, self.write(item, value_slot, depth + 1)))
        except Unencodable as exc:
            exc.inside(key)
            raise
        return Object(pairs)

    def _pairs(self, fields: Iterable[tuple[str, Any, Signature]], depth: int) -> Object:
        pairs: list[tuple[str, Any]] = []
        name = ""
        try:
            for name, item, slot in fields:
                if item is not None:
                    pairs.append((name, self.write(item, slot, depth + 1)))
        except Unencodable as exc:
            exc.inside(name)
            raise
        return Object(pairs)

    def _object(self, value: Any, declaration: Declaration, slot: Signature, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")
        arguments = slot.arguments if slot.name == declaration.name else ()
        found = properties(declaration, arguments).values()
        try:
            fields = [(field.name, getattr(value, field.attribute), field.type) for field in found]
        except AttributeError as exc:
            raise Unencodable(f"an attribute has no value: {exc}") from exc
        return self._with_name(declaration.name, self._pairs(fields, depth), slot)

    def _throwable(self, value: java.Throwable, depth: int) -> Object:
        self._throwables += 1
        trace = [Object(_trace_element(element)) for element in value.stack_trace]
        number = ("@id", self._throwables)
        fields = {
            "cause": (value.cause, _THROWABLE),
            "localizedMessage": (value.message, OBJECT),
            "message": (value.message, OBJECT),
            "suppressed": (value.suppressed, _THROWABLES),
            **{name: (item, OBJECT) for name, item in value.fields.items()},
        }
        pairs = self._pairs(((name, *fields[name]) for name in sorted(fields)), depth)
        return Object((number, *sorted((*pairs, ("stackTrace", trace)), key=lambda pair: pair[0])))


def _trace_element(element: java.StackTraceElement) -> Iterable[tuple[str, Any]]:
    fields = {
        "classLoaderName": element.class_loader_name,
        "className": element.declaring_class,
        "fileName": element.file_name,
        "lineNumber": element.line_number,
        "methodName": element.method_name,
        "moduleName": element.module_name,
        "moduleVersion": element.module_version,
        "nativeMethod": element.line_number == -2,
    }
    return ((name, item) for name, item in fields.items() if item is not None)


def _cast(value: Any, name: str) -> Any:
    kind = _CAST_TYPES.get(name)
    if isinstance(value, java.FarTime) or (kind is not None and isinstance(value, kind)):
        return value
    try:
        return _CASTS[name](value)
    except (ArgumentError, TypeError, AttributeError) as exc:
        raise Unencodable(f"{type_name(value)} cannot be a {name}: {exc}") from exc


def _inherited_scalar(value: Any) -> Callable[[Any], tuple[str | None, Any]] | None:
    """What writes a value of a subclass: the nearest base's function."""
    if isinstance(value, Enum):
        raise no_java_type(value)
    for base in type(value).__mro__[1:]:
        if base in _SCALARS:
            return _exactly(base) if base in _NODES else _SCALARS[base]
    return None


def _exactly(base: type) -> Callable[[Any], tuple[str | None, Any]]:
    """A node's type is exact."""
    return lambda value: _SCALARS[base](_text(value) if base is str else base(value))


def _java_name(value: Any, slot: Signature) -> str:
    name = getattr(value, "java_name", None)
    if isinstance(name, str):
        return name
    if slot.name in COLLECTIONS:
        return slot.name
    named = _INTERFACES.get(slot.name)
    if named is not None:
        return named
    for base in type(value).__mro__:
        if base in _PLAIN:
            return _PLAIN[base]
    return "java.util.LinkedHashSet"


def _declared(element: type) -> Declaration:
    declaration = declaration_for(element)
    if declaration is None:
        raise Unencodable(f"{element.__qualname__} is not declared: give it its Java name with java_class")
    return declaration


def _key(key: Any, declared: bool) -> str:
    if isinstance(key, str) and not isinstance(key, Enum):
        return _text(key)
    if declared:
        if isinstance(key, Enum):
            return constants(_declared(type(key)))[0][key.name]
        if isinstance(key, bool):
            return "true" if key else "false"
        if isinstance(key, int):
            return int.__repr__(key)
        if isinstance(key, float):
            return float_text(key) if isinstance(key, java.Float) else double_text(key)
        if isinstance(key, UUID):
            return str(key)
    raise Unencodable(f"a key of type {type_name(key)}: keys are str, Java reads back nothing else")
