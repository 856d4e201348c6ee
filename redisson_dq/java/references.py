"""Java's values that hold one other value: the Optionals, and the atomic variables."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

import attrs

from redisson_dq.errors import ArgumentError
from redisson_dq.java.checks import number_between, of_type
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN

__all__ = [
    "AtomicBoolean",
    "AtomicInteger",
    "AtomicLong",
    "AtomicReference",
    "Optional",
    "OptionalDouble",
    "OptionalInt",
    "OptionalLong",
]

T = TypeVar("T")


@attrs.frozen
class Optional(Generic[T]):
    """``java.util.Optional``; an empty one holds None."""

    java_name: ClassVar[str] = "java.util.Optional"
    value: T | None = None


def _double(value: Any) -> Any:
    """A whole number as the double that Java makes of it. Any other value is checked later."""
    try:
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    except OverflowError as error:
        raise ArgumentError(f"{value!r:.80} is beyond a double") from error


@attrs.frozen
class OptionalInt:
    """``java.util.OptionalInt``; an empty one holds None."""

    java_name: ClassVar[str] = "java.util.OptionalInt"
    value: int | None = attrs.field(default=None, validator=number_between(INT_MIN, INT_MAX, empty=True))


@attrs.frozen
class OptionalLong:
    """``java.util.OptionalLong``; an empty one holds None."""

    java_name: ClassVar[str] = "java.util.OptionalLong"
    value: int | None = attrs.field(default=None, validator=number_between(LONG_MIN, LONG_MAX, empty=True))


@attrs.frozen
class OptionalDouble:
    """``java.util.OptionalDouble``; an empty one holds None."""

    java_name: ClassVar[str] = "java.util.OptionalDouble"
    value: float | None = attrs.field(default=None, converter=_double, validator=of_type(float, type(None)))


@attrs.define
class AtomicInteger:
    """``java.util.concurrent.atomic.AtomicInteger``"""

    java_name: ClassVar[str] = "java.util.concurrent.atomic.AtomicInteger"
    value: int = attrs.field(default=0, validator=number_between(INT_MIN, INT_MAX))


@attrs.define
class AtomicLong:
    """``java.util.concurrent.atomic.AtomicLong``"""

    java_name: ClassVar[str] = "java.util.concurrent.atomic.AtomicLong"
    value: int = attrs.field(default=0, validator=number_between(LONG_MIN, LONG_MAX))


@attrs.define
class AtomicBoolean:
    """``java.util.concurrent.atomic.AtomicBoolean``"""

    java_name: ClassVar[str] = "java.util.concurrent.atomic.AtomicBoolean"
    value: bool = attrs.field(default=False, validator=of_type(bool))


@attrs.define
class AtomicReference(Generic[T]):
    """``java.util.concurrent.atomic.AtomicReference``"""

    java_name: ClassVar[str] = "java.util.concurrent.atomic.AtomicReference"
    value: T | None = None
