"""From nodes to values: the parsed tree of a format, with the names of classes that Redisson's Jackson writes.

Nothing is looked up by name but the tables below and the declared classes; any other class is refused, and named.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from redisson_dq import java
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed, shorten
from redisson_dq.codecs.jackson.node import CLASS, Number, Object, Typed
from redisson_dq.codecs.jackson.types import Dialect, constants, element_of, key_and_value_of, properties
from redisson_dq.errors import ArgumentError
from redisson_dq.java.arrays import array_of, component_of
from redisson_dq.java.collections import COLLECTIONS, map_of, set_of
from redisson_dq.java.declare import OBJECT, Declaration, Signature, declaration_of
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, decoded_big_integer, decoded_long
from redisson_dq.java.times import java_date, timestamp

__all__ = ["value_of"]

_NON_FINITE = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
_THROWABLE = Signature("java.lang.Throwable")
_THROWABLES = Signature("[Ljava.lang.Throwable;")


def value_of(node: Any, dialect: Dialect, slot: Signature = OBJECT) -> Any:
    """The value of a whole node that is declared as ``slot``. Raises Malformed. O(size)."""
    return _Reader(dialect).read(node, slot, 1)


# Scalars: each function gives None for a node that is no such value.


def _whole(least: int, most: int, make: Callable[[int], Any]) -> Callable[[Any], Any]:
    return lambda node: make(node) if type(node) is int and least <= node <= most else None


def _double(node: Any) -> float | None:
    if type(node) is str:
        return float(_NON_FINITE[node]) if node in _NON_FINITE else None
    try:
        return float(node) if type(node) in (int, Number, float, java.Float, Decimal) else None
    except OverflowError:
        return float("inf" if node > 0 else "-inf")


def _float(node: Any) -> java.Float | None:
    number = _double(node)
    if number is None:
        return None
    try:
        return java.Float(number)
    except ArgumentError:
        return java.Float(float("-inf" if number < 0 else "inf"))


def _primitive_float(node: Any) -> float | None:
    number = _float(node)
    return None if number is None else float(number)


def _big_decimal(node: Any) -> Decimal | None:
    if type(node) is float:
        node = repr(node)
    elif type(node) not in (int, Number, Decimal):
        return None
    try:
        value = Decimal(node)
    except InvalidOperation:
        return None
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not INT_MIN <= -exponent <= INT_MAX:
        return None
    return value if value else value.copy_abs()


def _byte_array(node: Any) -> bytes | None:
    if type(node) is bytes:
        return node
    try:
        return base64.b64decode(node, validate=True) if type(node) is str else None
    except ValueError:
        return None


def _char_array(node: Any) -> java.CharArray | None:
    if type(node) is not str:
        return None
    units = node.encode("utf-16-le", "surrogatepass")
    return java.CharArray([chr(units[i] | units[i + 1] << 8) for i in range(0, len(units), 2)])


def _character(node: Any) -> java.Character | None:
    return java.Character(node) if type(node) is str and len(node) == 1 and node <= "\uffff" else None


def _uuid(node: Any) -> UUID | None:
    if type(node) is bytes and len(node) == 16:
        return UUID(bytes=node)
    if type(node) is not str or _UUID.fullmatch(node) is None:
        return None
    return UUID(node)


_UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_LOCALE = re.compile(r"([A-Za-z]*)(?:_([A-Za-z0-9]*)(?:_([^#]+?))?)?(?:_#([A-Z][a-z]{3})?(?:_?([a-z0-9]-.+))?)?")
_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d\d):?(\d\d))?)?", re.ASCII
)
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)", re.ASCII)


def _locale(node: Any) -> java.Locale | None:
    match = _LOCALE.fullmatch(node) if type(node) is str else None
    return None if match is None else java.Locale(*(part or "" for part in match.groups()))


def _moment(node: Any) -> datetime | None:
    """A date as Java's text of it, ISO 8601."""
    match = _DATE.fullmatch(node)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, sign, hours, minutes = match.groups(default="0")
    micro = int(fraction.ljust(6, "0")[:6])
    shift = timedelta(hours=int(hours), minutes=int(minutes))
    try:
        found = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), micro, timezone.utc)
        return found + shift if sign == "-" else found - shift
    except (ValueError, OverflowError):
        return None


def _date(kind: type[java.JavaDate]) -> Callable[[Any], Any]:
    def read(node: Any) -> Any:
        if type(node) is int and LONG_MIN <= node <= LONG_MAX:
            return java_date(node, kind)
        moment = _moment(node) if type(node) is str else None
        return None if moment is None else kind(moment)

    return read


def _timestamp(node: Any) -> Any:
    if type(node) is int and LONG_MIN <= node <= LONG_MAX:
        return timestamp(node // 1000, node % 1000 * 1_000_000)
    moment = _moment(node) if type(node) is str else None
    return None if moment is None else java.Timestamp(moment)


def _sql_time(node: Any) -> Any:
    match = _TIME.fullmatch(node) if type(node) is str else None
    if match is None:
        return _date(java.SqlTime)(node)
    hour, minute, second = map(int, match.groups())
    try:
        return java.SqlTime(datetime(1970, 1, 1, hour, minute, second, tzinfo=timezone.utc))
    except ValueError:
        return None


def _text(make: Callable[[str], Any]) -> Callable[[Any], Any]:
    return lambda node: make(node) if type(node) is str else None


def _truth(make: Callable[[bool], Any]) -> Callable[[Any], Any]:
    return lambda node: make(node) if type(node) is bool else None


#: By Java name: what makes a value of its node; None for the wrong kind of node.
_SCALARS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("boolean", "java.lang.Boolean"), _truth(bool)),
    "byte": _whole(-128, 127, int),
    "short": _whole(-32768, 32767, int),
    **dict.fromkeys(("int", "java.lang.Integer"), _whole(INT_MIN, INT_MAX, int)),
    "long": _whole(LONG_MIN, LONG_MAX, int),
    "float": _primitive_float,
    **dict.fromkeys(("double", "java.lang.Double"), _double),
    "char": _text(lambda node: str.__str__(node) if _character(node) is not None else None),
    "java.lang.Byte": _whole(-128, 127, java.Byte),
    "java.lang.Short": _whole(-32768, 32767, java.Short),
    "java.lang.Long": _whole(LONG_MIN, LONG_MAX, decoded_long),
    "java.math.BigInteger": lambda node: decoded_big_integer(node) if type(node) is int else None,
    "java.math.BigDecimal": _big_decimal,
    "java.lang.Float": _float,
    "java.lang.String": _text(str),
    "java.lang.Character": _character,
    "[B": _byte_array,
    "[C": _char_array,
    "java.util.UUID": _uuid,
    **{
        kind.java_name: _text(kind)
        for kind in (
            *(java.Uri, java.Url, java.Currency, java.Charset, java.TimeZone, java.StringBuilder, java.StringBuffer),
            *(java.JavaClass, java.Pattern),
        )
    },
    java.Locale.java_name: _locale,
    java.AtomicInteger.java_name: _whole(INT_MIN, INT_MAX, java.AtomicInteger),
    java.AtomicLong.java_name: _whole(LONG_MIN, LONG_MAX, java.AtomicLong),
    java.AtomicBoolean.java_name: _truth(java.AtomicBoolean),
    java.JavaDate.java_name: _date(java.JavaDate),
    java.SqlDate.java_name: _date(java.SqlDate),
    java.SqlTime.java_name: _sql_time,
    java.Timestamp.java_name: _timestamp,
    java.BitSet.java_name: lambda node: java.BitSet() if node == (("empty", True),) else None,
}
_PRIMITIVES = {"boolean": False, "char": "\0", "float": 0.0, "double": 0.0, "byte": 0, "short": 0, "int": 0, "long": 0}

#: What holds the elements of a declared interface where no class is named.
_INTERFACES = {
    **dict.fromkeys(("Collection", "List", "Iterable"), "java.util.ArrayList"),
    "Set": "java.util.HashSet",
    "Map": "java.util.LinkedHashMap",
    **dict.fromkeys(("SortedSet", "NavigableSet"), "java.util.TreeSet"),
    **dict.fromkeys(("SortedMap", "NavigableMap"), "java.util.TreeMap"),
    **dict.fromkeys(("Queue", "Deque"), "java.util.LinkedList"),
    "concurrent.ConcurrentMap": "java.util.concurrent.ConcurrentHashMap",
}
_NATURAL = frozenset(("java.lang.Number", "java.lang.CharSequence", "java.lang.Comparable", "java.io.Serializable"))
_VIEW = re.compile(
    r"java\.util\.Collections\$(?:Unmodifiable|Synchronized)"
    r"(?:(Collection|List|RandomAccessList)|((?:Sorted|Navigable)?Set)|((?:Sorted|Navigable)?Map))"
)
_ENUMS = re.compile(r"java\.util\.Enum(?:(Set)<([^<>,]+)>|Map<([^<>,]+),[^<>,]+>)")


class _Reader:
    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._throwables: dict[int, Any] = {}

    def read(self, node: Any, slot: Signature, depth: int) -> Any:
        """The value of a node that is declared as ``slot``."""
        if node is None:
            return _PRIMITIVES.get(slot.name)
        kind = type(node)
        if kind is Typed:
            return self._of_class(node.name, node.content, slot, depth)
        if not self._dialect.names(slot):
            if slot.name == "java.util.UUID" and kind is list and len(node) == 2 and node[0] == slot.name:
                node = node[1]
            return self._declared_as(node, slot, depth)
        if kind is list:
            if len(node) != 2 or type(node[0]) is not str:
                raise Malformed("an array without the name of its Java type (Java could not read it either)")
            return self._of_class(node[0], node[1], slot, depth)
        if kind is Object:
            name, fields = _class_of(node)
            if name is not None:
                return self._of_class(name, fields, slot, depth)
            if self._dialect.generic and depth > 1:
                return java.JavaObject("", self._fields(node, depth))
            raise Malformed("an object without @class (Java could not read it either)")
        if slot.name == _THROWABLE.name and kind is int:
            return self._same_throwable(node)
        if slot.name in _SCALARS or declaration_of(slot.name) is not None:
            return self._declared_as(node, slot, depth)
        return _natural(node)

    def _declared_as(self, node: Any, slot: Signature, depth: int) -> Any:
        """The value of a node that stands without the name of its class."""
        name = slot.name
        if name == OBJECT.name or name in _NATURAL:
            return self._untyped(node, depth)
        if name == java.AtomicReference.java_name:
            return java.AtomicReference(self.read(node, element_of(slot), depth))
        if name.startswith("java.util."):
            name = _INTERFACES.get(name[len("java.util.") :], name)
            if name == "java.util.EnumSet":
                name = f"{name}<{element_of(slot).name}>"
            elif name == "java.util.EnumMap":
                name = f"{name}<{key_and_value_of(slot)[0].name},java.lang.Object>"
        return self._of_class(name, node, slot, depth)

    def _untyped(self, node: Any, depth: int) -> Any:
        kind = type(node)
        if kind is list:
            return self._items(node, OBJECT, depth)
        if kind is Object:
            return dict(self._entries(node, OBJECT, OBJECT, depth))
        return _natural(node)

    def _of_class(self, name: str, node: Any, slot: Signature, depth: int) -> Any:
        """The value of a node whose class is known."""
        scalar = _SCALARS.get(name)
        if scalar is not None:
            value = scalar(node)
            if value is None:
                raise _wrong(name)
            return value
        if name == OBJECT.name:
            return self._untyped(node, depth)
        if depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP)
        kind = COLLECTIONS.get(name)
        if kind is not None:  # no function in between, to nest as deep as Python's stack allows
            if issubclass(kind, dict):
                pairs = self._entries(_object_node(name, node), *key_and_value_of(slot), depth)
                # Of two entries with one key, Java keeps the last.
                return map_of(name, kind, list(dict(pairs).items()))
            items = self._items(_array_node(name, node), element_of(slot), depth)
            if kind is list:
                return items
            return kind(items) if issubclass(kind, list) else set_of(name, kind, items)
        declaration = declaration_of(name)
        if declaration is not None:
            return self._declared(declaration, node, slot, depth)
        if name.startswith("["):
            return self._array(name, node, depth)
        return self._other(name, node, slot, depth)

    def _other(self, name: str, node: Any, slot: Signature, depth: int) -> Any:
        view = _VIEW.fullmatch(name)
        if view is not None:
            is_list, is_set, _ = view.groups()
            if is_list:
                return java.ListView(name, self._of_class("java.util.ArrayList", node, slot, depth))
            inner = "java.util.Tree" if "Sorted" in name or "Navigable" in name else "java.util.LinkedHash"
            if is_set:
                return java.SetView(name, self._of_class(f"{inner}Set", node, slot, depth))
            return java.MapView(name, self._of_class(f"{inner}Map", node, slot, depth))
        enums = _ENUMS.fullmatch(name)
        if enums is not None:
            is_set, element, key = enums.groups()
            return self._enums(name, element or key, bool(is_set), node, slot, depth)
        if name.startswith("sun.nio.cs.") and type(node) is str:
            return java.Charset(node)
        if type(node) is Object:
            if any(key == "stackTrace" for key, _ in node):
                return self._throwable(name, node, depth)
            if self._dialect.generic:
                return java.JavaObject(name, self._fields(node, depth))
        raise _unknown(name)

    def _enums(self, name: str, element: str, is_set: bool, node: Any, slot: Signature, depth: int) -> Any:
        declaration = declaration_of(element)
        if declaration is None or declaration.kind != "enum":
            raise _unknown(element)
        if is_set:
            members = self._items(_array_node(name, node), Signature(element), depth, _Reader._declared_as)
            return java.EnumSet(declaration.python, members)
        pairs = self._entries(_object_node(name, node), Signature(element), key_and_value_of(slot)[1], depth)
        return java.EnumMap(declaration.python, pairs)

    def _array(self, name: str, node: Any, depth: int) -> Any:
        try:
            component = component_of(name)
            if component.startswith("["):
                component_of(component)
        except ValueError as exc:
            raise _unknown(name) from exc
        return array_of(component, self._items(_array_node(name, node), Signature(component), depth))

    def _declared(self, declaration: Declaration, node: Any, slot: Signature, depth: int) -> Any:
        name = declaration.name
        if declaration.kind == "enum":
            if type(node) is list and len(node) == 2 and node[0] == name:  # of an enum whose constants have bodies
                node = node[1]
            members = constants(declaration)[1]
            if type(node) is not str or node not in members:
                raise _wrong(name)
            return members[node]
        _object_node(name, node)
        known = properties(declaration, slot.arguments if slot.name == name else ())
        values = {field.attribute: field.missing for field in known.values() if field.required}
        key = ""
        try:
            for key, item in node:
                field = known.get(key)
                if field is not None:
                    values[field.attribute] = self.read(item, field.type, depth + 1)
        except Malformed as exc:
            exc.inside(key)
            raise
        try:
            return declaration.make(values)
        except ValueError as exc:
            raise Malformed(str(exc), near=name) from exc

    def _throwable(self, name: str, node: Object, depth: int) -> java.Throwable:
        fields: dict[str, Any] = {}
        slots = {"cause": _THROWABLE, "suppressed": _THROWABLES}
        trace: list[java.StackTraceElement] = []
        key = ""
        try:
            for key, item in node:
                if key == "stackTrace":
                    trace = [_trace_element(element) for element in _array_node(key, item)]
                else:
                    fields[key] = self.read(item, slots.get(key, OBJECT), depth + 1)
        except Malformed as exc:
            exc.inside(key)
            raise
        number, message, cause = fields.pop("@id", None), fields.pop("message", None), fields.pop("cause", None)
        fields.pop("localizedMessage", None)
        suppressed = fields.pop("suppressed", None) or []
        others = [] if cause is None else [cause]
        if not isinstance(message, (str, type(None))) or not isinstance(suppressed, list):
            raise _wrong(name)
        if not all(isinstance(other, java.Throwable) for other in (*others, *suppressed)):
            raise _wrong(name)
        made = java.Throwable(name, message, cause=cause, stack_trace=trace, suppressed=suppressed, fields=fields)
        if type(number) is int:
            self._throwables[number] = made
        return made

    def _same_throwable(self, number: int) -> Any:
        if number not in self._throwables:
            raise Malformed(f"there is no exception with the @id {shorten(str(number), 20)} before its use")
        return self._throwables[number]

    def _fields(self, node: Object, depth: int) -> dict[str, Any]:
        return dict(self._entries(node, OBJECT, OBJECT, depth))

    def _items(
        self,
        nodes: list[Any],
        slot: Signature,
        depth: int,
        read: Callable[[Any, Any, Signature, int], Any] | None = None,
    ) -> list[Any]:
        if depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP)
        read = read or _Reader.read
        values: list[Any] = []
        try:
            for node in nodes:
                values.append(read(self, node, slot, depth + 1))
        except Malformed as exc:
            exc.inside(len(values))
            raise
        return values

    def _entries(
        self, node: Iterable[tuple[str, Any]], key_slot: Signature, value_slot: Signature, depth: int
    ) -> list[tuple[Any, Any]]:
        if depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP)
        plain = key_slot.name == OBJECT.name
        pairs = []
        key = ""
        try:
            for key, item in node:
                pairs.append((key if plain else _key(key, key_slot.name), self.read(item, value_slot, depth + 1)))
        except Malformed as exc:
            exc.inside(key)
            raise
        return pairs


def _natural(node: Any) -> Any:
    return float(node) if type(node) is Number else node


def _array_node(name: str, node: Any) -> list[Any]:
    if type(node) is not list:
        raise _wrong(name)
    return node


def _object_node(name: str, node: Any) -> Object:
    if type(node) is not Object:
        raise _wrong(name)
    return node


def _class_of(node: Object) -> tuple[str | None, Object]:
    """The class that an object names, wherever among its properties, and the others."""
    for index, (key, name) in enumerate(node):
        if key == CLASS:
            return (name, Object(node[:index] + node[index + 1 :])) if type(name) is str else (None, node)
    return None, node


def _trace_element(node: Any) -> java.StackTraceElement:
    fields = dict(node) if type(node) is Object else {}

    def text(name: str) -> str | None:
        found = fields.get(name)
        return found if type(found) is str else None

    line = fields.get("lineNumber")
    return java.StackTraceElement(
        text("className") or "",
        text("methodName") or "",
        text("fileName"),
        line if type(line) is int else -1,
        text("classLoaderName"),
        text("moduleName"),
        text("moduleVersion"),
    )


def _key(text: str, name: str) -> Any:
    """A key of a map whose keys are declared as ``name``."""
    declaration = declaration_of(name)
    if declaration is not None and declaration.kind == "enum":
        members = constants(declaration)[1]
        if text not in members:
            raise _wrong(name)
        return members[text]
    node: Any = text
    if name in ("boolean", "java.lang.Boolean"):
        node = {"true": True, "false": False}.get(text)
    elif name in _WHOLE:
        node = int(text) if _DIGITS.fullmatch(text) else None
    elif name in ("java.lang.Double", "java.lang.Float", "java.math.BigDecimal"):
        node = text if text in _NON_FINITE else Number(text) if _NUMBER.fullmatch(text) else None
    scalar = _SCALARS.get(name)
    if scalar is None:
        return text
    value = scalar(node)
    if value is None:
        raise _wrong(name)
    return value


_WHOLE = frozenset(
    f"java.{name}" for name in ("lang.Byte", "lang.Short", "lang.Integer", "lang.Long", "math.BigInteger")
)
_DIGITS = re.compile("-?[0-9]{1,1000}")
_NUMBER = re.compile(r"-?[0-9]{1,1000}(\.[0-9]{1,1000})?([eE][+-]?[0-9]{1,9})?")


def _wrong(name: str) -> Malformed:
    return Malformed(f"a value that is no {name}", near=name)


def _unknown(name: str) -> Malformed:
    advice = "" if name.startswith(("java.", "[")) else f'; declare it: @java_class("{shorten(name, 200)}")'
    return Malformed(f"Java class {shorten(name, 200)} cannot be read{advice}", near=name)
