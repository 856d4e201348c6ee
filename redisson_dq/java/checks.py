"""Validators of the attributes of Java's values. They raise ArgumentError for a value that Java could not hold."""

from __future__ import annotations

from typing import Any

from redisson_dq.errors import ArgumentError

__all__ = ["number_between", "of_type"]


def number_between(least: int, most: int, *, empty: bool = False) -> Any:
    """A validator: Java holds no other number there. With ``empty``, there may be none."""

    def check(owner: object, attribute: Any, value: Any) -> None:
        if value is None and empty:
            return
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            kind = type(owner).__name__
            raise ArgumentError(
                f"{attribute.name} of {kind} is a whole number from {least} to {most}, not {value!r:.80}"
            )

    return check


def of_type(*kinds: type) -> Any:
    """A validator: the value is of one of these Python types."""

    def check(owner: object, attribute: Any, value: Any) -> None:
        if not isinstance(value, kinds):
            names = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
            raise ArgumentError(f"{attribute.name} of {type(owner).__name__} is {names}, not {value!r:.80}")

    return check
