"""Patterns of dates and times, as ``@JsonFormat(pattern=)``, ``setDateFormat`` and ``ofPattern`` take them.

Only numbers are supported. Names of months and days depend on the language of a JVM.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any, Union

import attrs

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.java import time_numbers
from redisson_dq.java.calendars import FarTime
from redisson_dq.java.times import Instant, JavaDate, LocalDateTime, SqlDate, Timestamp, is_in_gap
from redisson_dq.java.zones import fixed_offset, time_zone_id, zone_info

__all__ = ["COMMON", "DATES", "DatePattern", "PatternLike", "pattern_for", "patterns_of"]

#: A pattern, or a pattern and the zone in which a point in time is shown.
PatternLike = Union[str, tuple[str, str]]

#: The classes that SimpleDateFormat formats. The others are formatted by java.time.
DATES: dict[str, type[JavaDate | Timestamp]] = {kind.java_name: kind for kind in (JavaDate, Timestamp, SqlDate)}
#: The patterns that are seen most, for advice.
COMMON = ("yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss.SSS", "yyyy-MM-dd HH:mm", "HH:mm:ss", "yyyyMMdd")

_TOKEN = re.compile(r"'((?:[^']|'')*)'|(([A-Za-z])\3*)|([^A-Za-z'])")
_DAY, _HOUR, _REST = frozenset("yMd"), "H", ("m", "s", "S")
#: By class: the letters that a pattern must have, and those that it may have.
_LETTERS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    **dict.fromkeys(DATES, (_DAY, frozenset("HmsSZX"))),
    Instant.java_name: (_DAY | {_HOUR}, frozenset(_REST)),
    LocalDateTime.java_name: (_DAY | {_HOUR}, frozenset(_REST)),
    "java.time.LocalDate": (_DAY, frozenset()),
    "java.time.LocalTime": (frozenset(_HOUR), frozenset(_REST)),
}
_RUNS = {"y": ("yyyy",), "X": ("XXX",), "Z": ("Z",), **{one: (one * 2,) for one in "MdHms"}}
#: java.util.TimeZone leaves out the changes of a region before that year.
_FIRST_OF_REGIONS = 1900
#: The calendar of java.util.Date is another one before.
_GREGORIAN = datetime(1582, 10, 15)
_OFFSETS = {"XXX": r"(Z|[+-]\d\d:\d\d)", "Z": r"([+-]\d\d\d\d)"}


@attrs.frozen
class DatePattern:
    """A pattern such as ``yyyy-MM-dd HH:mm:ss``, and perhaps the zone in which it shows points in time.

    Raises ArgumentError for letters that have other forms than numbers, and for a zone that Java lacks.
    """

    text: str
    zone: str | None = None

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.text, str) or len(self.text) > 100:
            raise ArgumentError(f"a pattern must be a text such as 'yyyy-MM-dd HH:mm:ss', not {shown(self.text)}")
        if not isinstance(self.zone, (str, type(None))):
            raise ArgumentError(f"the zone of a pattern must be an id such as 'Asia/Shanghai', not {shown(self.zone)}")
        _parsed(self.text)
        if self.zone is not None:
            _zone(self.zone)

    def misfit(self, name: str) -> str:
        """Why Java cannot write and read this class by the pattern; empty if it can."""
        letters = _parsed(self.text).letters
        if name not in _LETTERS:
            return f"patterns are not supported for {name}"
        needed, optional = _LETTERS[name]
        if missing := sorted(needed - letters.keys()):
            return f"the pattern {self.text!r} has no {missing[0]}, and Java could not read a {name} without it"
        if other := sorted(letters.keys() - needed - optional):
            return f"a {name} has nothing for {letters[other[0]]} in the pattern {self.text!r}"
        if any(one in letters for one in _REST) and _HOUR not in letters:
            return f"the pattern {self.text!r} has no H"
        if name in DATES and (letters.get("S", "SSS") != "SSS" or letters["y"] != "yyyy"):
            return f"the pattern {self.text!r} of a {name} has milliseconds as SSS, and years as yyyy"
        if name not in DATES and any(one in self.text for one in "[]{}#"):
            return f"the pattern {self.text!r} has one of []{{}}#, which mean something else there"
        return ""

    def fits(self, text: str, name: str) -> bool:
        """Whether the text may be a value of that class in this pattern."""
        return not self.misfit(name) and _parsed(self.text).regex.fullmatch(text) is not None

    def written(self, value: Any, name: str, zone: str | None) -> str:
        """The text of a value of that class. ``zone`` is that of the mapper. Raises ValueError for a value that Java
        would read as another one.
        """
        if self.misfit(name):
            raise ValueError(self.misfit(name))
        parsed, at, offset = _parsed(self.text), value, 0
        if isinstance(value, FarTime):
            raise ValueError(f"a {name} beyond the years 1 to 9999 has no form by the pattern {self.text!r}")
        if name in DATES or name == Instant.java_name:
            info = _zone(self.zone or zone or "UTC")
            at = value.astimezone(info)
            if name in DATES:
                at = at.replace(microsecond=at.microsecond // 1000 * 1000)
            _check_time(at, name, info)
            offset = int((at.utcoffset() or timedelta()).total_seconds())
        nano = time_numbers.time_parts(at)[3] if name != "java.time.LocalDate" else 0
        numbers = {key: getattr(at, _ATTRIBUTES[key]) for key in parsed.letters if key in _ATTRIBUTES}
        text = "".join(_text(part, numbers, nano, offset) if is_run else part for part, is_run in parsed.parts)
        if self.read(text, name, zone) != _comparable(value, name):
            raise ValueError(
                f"the pattern {self.text!r} has no place for a part of {value}: Java would read {text}, another time"
            )
        return text

    def read(self, text: str, name: str, zone: str | None) -> Any:
        """The value of a text. Raises ValueError for another text, and for a class that has no such pattern."""
        match = _parsed(self.text).regex.fullmatch(text) if not self.misfit(name) else None
        if match is None:
            raise ValueError(f"not of the pattern {self.text!r}")
        found = match.groupdict()
        nano = int((found.get("S") or "").ljust(9, "0"))
        hour, minute, second = (int(found.get(key) or 0) for key in "Hms")
        at = time_numbers.local_time(hour, minute, second, nano)
        if name == "java.time.LocalTime":
            return at
        day = time_numbers.local_date(int(found["y"]), int(found["M"]), int(found["d"]))
        if name == "java.time.LocalDate":
            return day
        local = time_numbers.local_date_time(day, at)
        if name == LocalDateTime.java_name or not isinstance(local, datetime):
            return local
        if found.get("X") or found.get("Z"):
            info: tzinfo = _offset(found.get("X") or found["Z"])
        else:
            info = _zone(self.zone or zone or "UTC")
        # Of an hour that comes twice, Java takes the first one for java.time, and the second one for a Date.
        shown_there = datetime.combine(local.date(), local.time(), info).replace(fold=int(name in DATES))
        if is_in_gap(shown_there):
            raise ValueError("a time that the clocks of that zone leave out")
        _check_time(shown_there, name, info)
        if name in DATES:
            utc = shown_there.astimezone(timezone.utc).replace(fold=0)
            return DATES[name](utc)
        seconds = (shown_there.replace(microsecond=0) - _EPOCH) // timedelta(seconds=1)
        return time_numbers.instant(seconds, nano)


_ATTRIBUTES = {"y": "year", "M": "month", "d": "day", "H": "hour", "m": "minute", "s": "second"}
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@attrs.frozen
class _Parsed:
    """A pattern: its runs of letters and its other characters, the runs by letter, and the texts that it stands for."""

    parts: tuple[tuple[str, bool], ...]
    letters: Mapping[str, str]
    regex: re.Pattern[str]


@functools.lru_cache(maxsize=256)
def _parsed(pattern: str) -> _Parsed:
    parts: list[tuple[str, bool]] = []
    letters: dict[str, str] = {}
    regex, end = "", 0
    for match in _TOKEN.finditer(pattern):
        if match.start() != end:
            break
        end = match.end()
        quoted, run, letter, other = match.groups()
        if run is None:
            literal = other if other is not None else (quoted.replace("''", "'") or "'")
            parts.append((literal, False))
            regex += re.escape(literal)
            continue
        kind = "y" if run == "uuuu" else letter
        is_known = run == "uuuu" or run in _RUNS.get(kind, ()) or (kind == "S" and len(run) <= 9)
        if kind in letters or not is_known:
            raise ArgumentError(
                f"{run} in the pattern {shown(pattern)} is not supported: yyyy, uuuu, MM, dd, HH, mm, ss, S, XXX and Z "
                "are, each once"
            )
        letters[kind] = run
        parts.append((run, True))
        regex += _OFFSETS[run].replace("(", f"(?P<{kind}>", 1) if run in _OFFSETS else rf"(?P<{kind}>\d{{{len(run)}}})"
    if end != len(pattern):
        raise ArgumentError(f"the pattern {shown(pattern)} has a quote without an end")
    return _Parsed(tuple(parts), letters, re.compile(regex, re.ASCII))


def _text(run: str, numbers: Mapping[str, int], nano: int, offset: int) -> str:
    kind = run[0]
    if kind == "S":
        return f"{nano:09d}"[: len(run)]
    if kind in "XZ":
        if not offset and kind == "X":
            return "Z"
        hours, minutes = divmod(abs(offset) // 60, 60)
        return f"{'-' if offset < 0 else '+'}{hours:02d}{':' if kind == 'X' else ''}{minutes:02d}"
    return f"{numbers['y' if kind == 'u' else kind]:0{len(run)}d}"


def _offset(text: str) -> timezone:
    digits = text.replace(":", "")
    if digits == "Z":
        return timezone.utc
    found = timedelta(hours=int(digits[1:3]), minutes=int(digits[3:]))
    return timezone(-found if digits[0] == "-" else found)


@functools.lru_cache(maxsize=256)
def _zone(zone: str) -> tzinfo:
    """The zone of Java's TimeZone of that id. Raises ArgumentError for one that Java or this machine lacks."""
    try:
        known = time_zone_id(zone)
    except ArgumentError as error:
        message = f"{shown(zone)} is not a java.util.TimeZone: take one such as Europe/Berlin or GMT+02:00"
        raise ArgumentError(message) from error
    fixed = fixed_offset(known.removeprefix("GMT") or "Z") if known.startswith("GMT") else None
    if fixed is not None or known in ("UTC", "GMT"):
        return timezone(timedelta(seconds=fixed or 0))
    info = zone_info(known)
    if info is None:
        raise ArgumentError(
            f"{shown(zone)} is not in the time zones of this machine: install tzdata, or give an offset"
        )
    return info


def _check_time(at: datetime, name: str, info: tzinfo) -> None:
    if name in DATES and at.replace(tzinfo=None) < _GREGORIAN:
        raise ValueError(f"a {name} before October 1582, when Java counts in another calendar")
    if not isinstance(info, timezone) and at.year < _FIRST_OF_REGIONS:
        raise ValueError(f"a {name} before {_FIRST_OF_REGIONS}, when Java knows no changes of a zone's clocks")


def _comparable(value: Any, name: str) -> Any:
    """The value as ``read`` gives it."""
    return DATES[name](value.replace(microsecond=value.microsecond // 1000 * 1000)) if name in DATES else value


def pattern_for(said: Any, where: str) -> DatePattern:
    """The pattern of an argument: a text, or a text and a zone. Raises ArgumentError."""
    if isinstance(said, str):
        return DatePattern(said)
    if isinstance(said, tuple) and len(said) == 2:
        return DatePattern(*said)
    raise ArgumentError(
        f"{where} must be a pattern such as 'yyyy-MM-dd HH:mm:ss', or a pair of it and a zone, not {shown(said)}"
    )


def patterns_of(said: Any, where: str) -> dict[str, DatePattern]:
    """The patterns of an argument ``patterns=``. Raises ArgumentError."""
    if not isinstance(said, Mapping) or not all(isinstance(key, str) for key in said):
        raise ArgumentError(f"{where}: patterns must be a dict from names to patterns, not {shown(said)}")
    return {key: pattern_for(one, f"{where}: patterns[{key!r}]") for key, one in said.items()}
