"""Enums of the JDK that occur in values. They are declared like a user's enums."""

from __future__ import annotations

from enum import Enum

from redisson_dq.java.declare import java_class

__all__ = ["ChronoUnit", "DayOfWeek", "Month", "RoundingMode", "TimeUnit"]


@java_class("java.time.DayOfWeek")
class DayOfWeek(Enum):
    """``java.time.DayOfWeek``"""

    MONDAY = 1
    TUESDAY = 2
    WEDNESDAY = 3
    THURSDAY = 4
    FRIDAY = 5
    SATURDAY = 6
    SUNDAY = 7


@java_class("java.time.Month")
class Month(Enum):
    """``java.time.Month``"""

    JANUARY = 1
    FEBRUARY = 2
    MARCH = 3
    APRIL = 4
    MAY = 5
    JUNE = 6
    JULY = 7
    AUGUST = 8
    SEPTEMBER = 9
    OCTOBER = 10
    NOVEMBER = 11
    DECEMBER = 12


@java_class("java.util.concurrent.TimeUnit")
class TimeUnit(Enum):
    """``java.util.concurrent.TimeUnit``; the value is its length in nanoseconds."""

    NANOSECONDS = 1
    MICROSECONDS = 1_000
    MILLISECONDS = 1_000_000
    SECONDS = 1_000_000_000
    MINUTES = 60_000_000_000
    HOURS = 3_600_000_000_000
    DAYS = 86_400_000_000_000


@java_class("java.time.temporal.ChronoUnit")
class ChronoUnit(Enum):
    """``java.time.temporal.ChronoUnit``"""

    NANOS = "NANOS"
    MICROS = "MICROS"
    MILLIS = "MILLIS"
    SECONDS = "SECONDS"
    MINUTES = "MINUTES"
    HOURS = "HOURS"
    HALF_DAYS = "HALF_DAYS"
    DAYS = "DAYS"
    WEEKS = "WEEKS"
    MONTHS = "MONTHS"
    YEARS = "YEARS"
    DECADES = "DECADES"
    CENTURIES = "CENTURIES"
    MILLENNIA = "MILLENNIA"
    ERAS = "ERAS"
    FOREVER = "FOREVER"


@java_class("java.math.RoundingMode")
class RoundingMode(Enum):
    """``java.math.RoundingMode``"""

    UP = "UP"
    DOWN = "DOWN"
    CEILING = "CEILING"
    FLOOR = "FLOOR"
    HALF_UP = "HALF_UP"
    HALF_DOWN = "HALF_DOWN"
    HALF_EVEN = "HALF_EVEN"
    UNNECESSARY = "UNNECESSARY"
