"""Checks of arguments that several calls have. Each raises ArgumentError and names the queue."""

from __future__ import annotations

from typing import TypeVar

from redisson_dq._common.signatures import answers, takes
from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.wire.commands import End

__all__ = ["check_condition", "check_count", "check_end", "check_function", "check_index", "check_page", "limit_of"]
__all__ += ["nothing"]

U = TypeVar("U")


def check_count(value: object, name: str, what: str = "a limit") -> int:
    """Raises ArgumentError for anything but a positive int."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ArgumentError(f"queue {name!r}: {what} must be a positive int, not {shown(value)}")
    return value


def limit_of(number: tuple[int, ...], limit: int | None, timeout: object, name: str) -> int | None:
    """The limit of a call that may also wait.

    Raises ArgumentError for a bare number: it may be a limit or a timeout.
    """
    if not number:
        return limit
    first, *others = number
    if others or limit is not None:
        given = shown(number if limit is None else (*number, limit))
        raise ArgumentError(
            f"queue {name!r}: expected one limit, not {given}; write limit= for the number of values, and timeout= "
            "to wait: seconds or a timedelta, without a unit"
        )
    if timeout is None:
        raise ArgumentError(
            f"queue {name!r}: {shown(first)} may be a limit or a timeout; write limit= for the number of values, or "
            "timeout= for the seconds to wait for one"
        )
    return first


def check_function(value: U, name: str) -> U:
    """Raises ArgumentError for an object that cannot be called with one value."""
    if not (callable(value) and takes(value, 1)):
        raise ArgumentError(f"queue {name!r}: expected a function of one value, not {shown(value)}")
    return value


def check_condition(value: U, name: str) -> U:
    """Raises ArgumentError for a coroutine or generator function: its result is always true."""
    if not answers(check_function(value, name)):  # type: ignore[arg-type]
        raise ArgumentError(f"queue {name!r}: expected a plain function that returns its answer, not {shown(value)}")
    return value


def check_index(value: object, name: str) -> int:
    """Raises ArgumentError for anything but an int."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentError(f"queue {name!r}: an index must be an int, not {shown(value)}")
    return value


def nothing(result: object) -> None:
    """Replaces a result without information by None."""


def check_end(end: object, name: str) -> End:
    """Raises ArgumentError for anything but "first" and "last"."""
    if end == "first":
        return "first"
    if end == "last":
        return "last"
    raise ArgumentError(f"queue {name!r}: an end must be 'first' or 'last', not {shown(end)}")


def check_page(
    start: int, stop: int, largest: int, name: str, what: str = "a page", of: str = "elements"
) -> tuple[int, int]:
    """The indexes of a page. Raises ArgumentError below zero, and for more than ``largest`` of them."""
    start, stop = check_index(start, name), check_index(stop, name)
    if start < 0 or stop < max(0, start - 1) or stop - start >= largest:
        raise ArgumentError(
            f"queue {name!r}: {what} has indexes from 0 on and at most {largest} {of}, "
            f"not {shown(start)} to {shown(stop)}"
        )
    return start, stop
