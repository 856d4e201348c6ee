"""Many rows in one test, because 20,000 separate tests take longer than their checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

__all__ = ["check_rows"]

T = TypeVar("T")

#: How many failures are reported in full; only the names of the others are shown.
_IN_FULL = 20


def check_rows(rows: Iterable[T], check: Callable[[T], None], *, name: Callable[[T], Any] = str) -> None:
    """Checks every row, even after a failure. The failure names each failed row and its error."""
    failures: list[tuple[T, BaseException]] = []
    checked = 0
    for row in rows:
        checked += 1
        try:
            check(row)
        except (Exception, pytest.fail.Exception) as error:
            failures.append((row, error))
    assert checked, "there are no rows"
    if failures:
        told = [f"{name(row)}: {type(error).__name__}: {error}" for row, error in failures[:_IN_FULL]]
        told += [str(name(row)) for row, _ in failures[_IN_FULL:]]
        raise AssertionError("\n".join([f"{len(failures)} of {checked} rows failed", *told])) from failures[0][1]
