"""Java's order of the values that sorted collections hold: their ``compareTo``, and the comparators of java.util."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import pairwise
from typing import Any
from uuid import UUID

from redisson_dq.java import numbers, time_numbers
from redisson_dq.java.registry import declaration_for

__all__ = ["Comparator", "Unsortable", "sorted_by", "sorted_strictly"]

_Key = Callable[[Any], Any]


class Comparator(Enum):
    """The comparators of java.util that a sorted collection may carry; the value is the Java class."""

    #: ``Comparator.naturalOrder()``; a collection made without a comparator has None.
    NATURAL_ORDER = "java.util.Comparators$NaturalOrderComparator"
    REVERSE_ORDER = "java.util.Collections$ReverseComparator"
    #: ``String.CASE_INSENSITIVE_ORDER``
    CASE_INSENSITIVE_ORDER = "java.lang.String$CaseInsensitiveComparator"


class Unsortable(Exception):
    """Python cannot sort the values as Java does. ``in_java`` says that Java cannot sort them either."""

    def __init__(self, message: str, *, in_java: bool = False) -> None:
        super().__init__(message)
        self.in_java = in_java


# The keys that sort values as their compareTo does


def _text_key(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _uuid_key(value: UUID) -> tuple[int, int]:
    return _signed(value.int >> 64), _signed(value.int & (1 << 64) - 1)


def _float_key(number: float) -> tuple[bool, float, bool]:
    """NaN is the largest, and -0.0 is less than 0.0."""
    is_nan = number != number
    return is_nan, 0.0 if is_nan else number, str(float(number))[0] != "-"


_URI = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?:(?P<opaque>[^/#][^#]*)(?=#|$))?)?"
    r"(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?",
    re.DOTALL,
)
#: A later JDK 17 compares the digits of an escape in any case, as its equals() does.
_SMALL_ESCAPE = re.compile("%(?:[a-f]|[0-9A-F][a-f])")
_SERVER = re.compile(
    r"(?:(?P<user>[^@]*)@)?(?P<host>(?:[0-9]{1,3}\.){3}[0-9]{1,3}|"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?::(?P<port>[0-9]*))?"
)


def _optional(text: str | None) -> tuple[bytes, ...]:
    """A missing value comes first."""
    return () if text is None else (_text_key(text),)


def _uri_key(text: str) -> tuple[Any, ...]:
    parts = _URI.fullmatch(text)
    if _SMALL_ESCAPE.search(text) is not None:
        raise Unsortable(f"the order of {text[:80]!r} among URIs is not known: JDKs differ in escapes such as %2f")
    if parts is None:
        raise Unsortable(f"the order of {text[:80]!r} among URIs is not known")
    scheme = _optional(None if parts["scheme"] is None else parts["scheme"].lower())
    if parts["opaque"] is not None:
        return scheme, True, _text_key(parts["opaque"]), _optional(parts["fragment"])
    authority: tuple[Any, ...] = ()
    if parts["authority"]:
        server = _SERVER.fullmatch(parts["authority"])
        if server is None:
            raise Unsortable(f"the order of {text[:80]!r} among URIs is not known: it names no plain host")
        authority = _optional(server["user"]), server["host"].lower(), int(server["port"] or -1)
    rest = _text_key(parts["path"]), _optional(parts["query"]), _optional(parts["fragment"])
    return (scheme, False, authority, *rest)


def _local(value: Any) -> tuple[int, ...]:
    return *time_numbers.date_parts(value), *time_numbers.time_parts(value)


def _moment(value: Any) -> tuple[int, int]:
    """Epoch second and nanosecond of a date and time with an offset, in any year."""
    year, month, day, hour, minute, second, nano = _local(value)
    cycles, year = divmod(year, 400)
    days = date(year + 400, month, day).toordinal() + 146_097 * cycles
    return days * 86_400 + hour * 3_600 + minute * 60 + second - time_numbers.offset_of(value), nano


def _offset_time_key(value: time) -> tuple[int, tuple[int, ...]]:
    hour, minute, second, nano = parts = time_numbers.time_parts(value)
    seconds = hour * 3_600 + minute * 60 + second - time_numbers.offset_of(value)
    return seconds * 1_000_000_000 + nano, parts


#: By Java class: the sort key of its objects. None means that Python compares them in the same way.
_KEYS: dict[str, _Key | None] = {
    **dict.fromkeys(("java.lang.String", "java.lang.Character"), _text_key),
    **dict.fromkeys(("java.lang.StringBuilder", "java.lang.StringBuffer"), _text_key),
    **dict.fromkeys(("java.lang.Float", "java.lang.Double"), _float_key),
    **dict.fromkeys(f"java.lang.{name}" for name in ("Boolean", "Byte", "Short", "Integer", "Long")),
    **dict.fromkeys(("java.math.BigInteger", "java.math.BigDecimal")),
    "java.util.UUID": _uuid_key,
    "java.net.URI": _uri_key,
    "java.time.LocalDate": time_numbers.date_parts,
    "java.time.LocalTime": time_numbers.time_parts,
    "java.time.LocalDateTime": _local,
    "java.time.Instant": time_numbers.instant_parts,
    "java.time.Duration": time_numbers.duration_parts,
    "java.time.OffsetTime": _offset_time_key,
    "java.time.OffsetDateTime": lambda value: (_moment(value), _local(value)),
    "java.time.ZonedDateTime": lambda value: (
        *(_moment(value), _local(value)),
        _text_key(time_numbers.zone_of(value)),
    ),
    "java.time.Year": None,
    "java.time.YearMonth": lambda value: (value.year, value.month),
    "java.time.MonthDay": lambda value: (value.month, value.day),
    "java.time.ZoneOffset": lambda value: -value.seconds,
    **dict.fromkeys(("java.util.Date", "java.sql.Date", "java.sql.Time"), time_numbers.millis_of),
    "java.sql.Timestamp": time_numbers.instant_parts,
    "java.util.GregorianCalendar": lambda value: time_numbers.millis_of(value.time),
}
_DATES = frozenset(("java.util.Date", "java.sql.Date", "java.sql.Time"))
_TIMESTAMP = "java.sql.Timestamp"

#: By Python type: the Java class of its values, for types that do not name it themselves.
_CLASSES: dict[type, str] = {
    bool: "java.lang.Boolean",
    float: "java.lang.Double",
    str: "java.lang.String",
    Decimal: "java.math.BigDecimal",
    UUID: "java.util.UUID",
    numbers.BigInteger: "java.math.BigInteger",
    **{
        kind: f"java.lang.{kind.__name__}"
        for kind in (
            *(numbers.Byte, numbers.Short, numbers.Integer, numbers.Long, numbers.Float, numbers.Double),
            numbers.Character,
        )
    },
}


def _class_of(value: Any) -> str:
    """The Java class of a value of a sorted collection; empty for one that has no order here."""
    named = getattr(value, "java_name", None)
    if isinstance(named, str):
        return named
    if isinstance(value, Enum):
        return ""
    for base in type(value).__mro__:
        if base in _CLASSES:
            return _CLASSES[base]
        if base in (datetime, date, time, timedelta):
            return time_numbers.java_time_name(value)
        if base is int:
            if numbers.INT_MIN <= value <= numbers.INT_MAX:
                return "java.lang.Integer"
            return "java.lang.Long" if numbers.LONG_MIN <= value <= numbers.LONG_MAX else "java.math.BigInteger"
    return ""


def _is_unknown(kind: type) -> bool:
    """Whether the order of a type that :func:`_class_of` does not know is unknown."""
    return not issubclass(kind, Enum) or declaration_for(kind) is None


def _natural_key(values: list[Any]) -> _Key | None:
    """What sorts all of these as Java does. Raises Unsortable."""
    kinds = {type(value) for value in values}
    enums = {declaration_for(kind) for kind in kinds if issubclass(kind, Enum)}
    if len(kinds) == 1 and (declaration := next(iter(enums), None)) is not None:
        return declaration.members.index
    names = {_class_of(value) for value in values if not isinstance(value, Enum)}
    names |= {"" if found is None else found.name for found in enums}
    shown = " and ".join(sorted(names - {""}))
    if "" in names:
        kind = next(kind for kind in (type(value) for value in values if not _class_of(value)) if _is_unknown(kind))
        alone = sorted(name for name in names if name in _KEYS or name in {found.name for found in enums if found})
        if alone:  # these only compare objects of their own class, whatever a declared class compares
            raise Unsortable(f"Java compares no {alone[0]} and {kind.__qualname__} with each other", in_java=True)
        raise Unsortable(f"Java's order of {kind.__qualname__} is not known")
    if names <= _DATES:
        return time_numbers.millis_of
    if len(names) > 1:
        raise Unsortable(f"Java compares no {shown} with each other", in_java=not names <= _DATES | {_TIMESTAMP})
    name = next(iter(names))
    if name not in _KEYS:
        raise Unsortable(f"Java's order of {name} is not known")
    return _KEYS[name]


# Comparators


def _same_case(text: str) -> bytes:
    """The text as ``String.CASE_INSENSITIVE_ORDER`` compares it."""
    if text.isascii():
        return _text_key(text.lower())
    folded = []
    for char in text:
        upper = char.upper()
        lower = upper.lower() if len(upper) == 1 else ""
        if len(lower) != 1 or (char > "\u052f" and lower != char) or char > "\ud7ff":
            raise Unsortable(f"the place of {char!r} in String.CASE_INSENSITIVE_ORDER is not known")
        folded.append(lower)
    return _text_key("".join(folded))


def sorted_strictly(comparator: Comparator | None, items: list[Any], key: _Key, *, twice: bool = False) -> list[Any]:
    """The elements of a sorted collection, or the entries of a sorted map, in Java's order. ``key`` gives the
    part that is compared.

    Raises Unsortable if the order is not known, or if Java takes two for one and not ``twice``. O(n log n)
    """
    values = [key(item) for item in items]
    if not items:
        return items
    by: _Key | None
    if comparator is Comparator.CASE_INSENSITIVE_ORDER:
        names = {_class_of(value) or type(value).__qualname__ for value in values}
        if names != {"java.lang.String"}:
            shown = " and ".join(sorted(names - {"java.lang.String"}))
            raise Unsortable(f"String.CASE_INSENSITIVE_ORDER compares no {shown}", in_java=True)
        by = _same_case
    else:
        by = _natural_key(values)
    try:
        keys = values if by is None else [by(value) for value in values]
        places = sorted(range(len(items)), key=keys.__getitem__, reverse=comparator is Comparator.REVERSE_ORDER)
    except (
        TypeError,
        ValueError,
        ArithmeticError,
    ) as error:  # an offset that Java lacks, a NaN
        raise Unsortable(f"they have no order in Java: {error}") from error
    for place, after in pairwise(() if twice else places):
        if keys[place] == keys[after]:
            raise Unsortable(f"Java takes {values[place]!r:.80} and {values[after]!r:.80} for one", in_java=True)
    return [items[place] for place in places]


def sorted_by(comparator: Comparator | None, items: list[Any], key: _Key) -> list[Any]:
    """The items in the comparator's order. Their order stays unchanged if Java's is not known."""
    try:
        return sorted_strictly(comparator, items, key, twice=True)
    except Unsortable:
        return items
