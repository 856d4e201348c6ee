"""A value that was popped."""

from __future__ import annotations

import itertools

import attrs

__all__ = ["Taken"]

_numbers = itertools.count()


@attrs.frozen(kw_only=True)
class Taken:
    """The bytes of one value, and the key they came from. What was taken later has a higher number."""

    key: str
    data: bytes
    number: int = attrs.field(factory=_numbers.__next__, init=False, eq=False, repr=False)
