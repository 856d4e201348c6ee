"""The ids of Java's time zones.

``zones.txt`` lists the regions of JDK 25. Older JDKs lack some of them. A region that the list lacks, and that this
machine's tz database has, may be one of a later JDK.
"""

from __future__ import annotations

import functools
import re
import zoneinfo
from importlib import resources

from redisson_dq.errors import ArgumentError

__all__ = ["ReadZone", "fixed_offset", "no_java_zone", "read_time_zone", "time_zone_id", "zone_id", "zone_info"]

#: Zones of the tz database that Java lacks, and those that it reads as others.
_NOT_IN_JAVA = frozenset(
    ("EST", "HST", "MST", "Factory", "ROC", "localtime", "posixrules", "GMT+0", "GMT-0", "UTC+0", "UTC-0")
)
#: The ids that only java.util.TimeZone has.
_SHORT = frozenset(
    (
        *("ACT", "AET", "AGT", "ART", "AST", "BET", "BST", "CAT", "CNT", "CST", "CTT", "EAT", "ECT", "EST", "HST"),
        *("IET", "IST", "JST", "MIT", "MST", "NET", "NST", "PLT", "PNT", "PRT", "PST", "SST", "VST"),
    )
)
#: UTC and an offset, as ZoneId.of reads it.
_PREFIXED = re.compile(r"(UTC|GMT|UT)([+-])(\d|\d\d(?::?[0-5]\d(?::[0-5]\d)?)?|\d\d[0-5]\d[0-5]\d)")
#: GMT and an offset, as TimeZone.getTimeZone reads it.
_CUSTOM = re.compile(r"GMT([+-])(\d|[01]\d|2[0-3])(?::?([0-5]\d))?")
_MOST_SECONDS = 18 * 3600
_FIXED = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d\d?)(?::(\d\d)(?::(\d\d))?)?")
#: The longest has three parts of 14 characters. Python looks for the parts as directories, and as packages of tzdata.
_REGION = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,31}(/[A-Za-z0-9_+-]{1,32}){0,2}")


class ReadZone(str):
    """The id of a java.util.TimeZone that no JVM has by itself. A Java program made that zone."""

    __slots__ = ()


@functools.cache
def _regions() -> frozenset[str]:
    return frozenset(resources.files("redisson_dq.java").joinpath("zones.txt").read_text("utf-8").split())


@functools.cache
def _regions_of_this_machine() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones()) - _NOT_IN_JAVA


def _is_region(zone: str) -> bool:
    return zone in _regions() or zone in _regions_of_this_machine()


def no_java_zone(zone: str) -> str:
    """Why no JVM has a region of that id; empty if one may. O(1)."""
    if zone in ("UTC", "GMT", "UT") or (zone not in _NOT_IN_JAVA and _is_region(zone)):
        return ""
    return f"{zone[:80]!r} is not a time zone in Java: take one such as Europe/Berlin or Etc/GMT+5, or an offset"


def zone_id(zone: str) -> str:
    """The id of a ``java.time.ZoneId`` that is no offset, as Java writes it. Raises ArgumentError if no JVM has it."""
    if zone == "Z" or zone.startswith(("+", "-")):
        raise ArgumentError(f"{zone[:80]!r} is an offset: make it a java.ZoneOffset")
    why = no_java_zone(zone)
    if not why:
        return zone
    found = None if zone in _NOT_IN_JAVA else _PREFIXED.fullmatch(zone)
    if found is None:
        raise ArgumentError(why)
    prefix, sign, digits = found.groups()
    digits = digits.replace(":", "").zfill(2).ljust(6, "0")
    hours, minutes, seconds = digits[:2], digits[2:4], digits[4:]
    total = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    if total > _MOST_SECONDS:
        raise ArgumentError(f"{zone[:80]!r} is not a time zone in Java: an offset is at most 18 hours")
    if not total:
        return prefix
    return f"{prefix}{sign}{hours}:{minutes}" + (f":{seconds}" if seconds != "00" else "")


def time_zone_id(zone: str) -> str:
    """The id of a ``java.util.TimeZone``, as Java writes it. Raises ArgumentError if no JVM has it.

    Java uses GMT for an unknown id.
    """
    if zone in _SHORT or (zone not in _NOT_IN_JAVA and _is_region(zone)):
        return zone
    found = _CUSTOM.fullmatch(zone)
    if found is None:
        raise ArgumentError(f"{zone[:80]!r} is not a java.util.TimeZone: take one such as Europe/Berlin or GMT+02:00")
    sign, hours, minutes = found.groups()
    return f"GMT{sign}{hours.zfill(2)}:{minutes or '00'}"


def read_time_zone(zone: str) -> str:
    """The id of a ``java.util.TimeZone`` that Java wrote."""
    try:
        return zone if time_zone_id(zone) == zone else ReadZone(zone)
    except ArgumentError:
        return ReadZone(zone)


def fixed_offset(zone: str) -> int | None:
    """The seconds of a zone that is an offset: ``Z``, ``+02:00``, ``UTC+02:00``. None for any other."""
    if zone == "Z":
        return 0
    found = _FIXED.fullmatch(zone)
    if found is None:
        return None
    seconds = int(found[2]) * 3600 + int(found[3] or 0) * 60 + int(found[4] or 0)
    return -seconds if found[1] == "-" else seconds


def zone_info(zone: str) -> zoneinfo.ZoneInfo | None:
    """The time zone of that id. None if this machine's tz database does not have it."""
    if _REGION.fullmatch(zone) is None:
        return None
    try:
        return zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None
