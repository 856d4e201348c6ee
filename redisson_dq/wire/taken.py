"""A value that was popped."""

from __future__ import annotations

import itertools

import attrs

__all__ = ["Taken"]

_numbers = itertools.count()


# Instances are never changed. The class is not frozen, as a frozen object takes three times as long to make.
@attrs.define(kw_only=True, unsafe_hash=True)
class Taken:
    """The bytes of one value, and the key they came from. A value that was taken later has a higher number.

    ``left`` is how many values were left in the list then, after it and those that came with it. None: Redis has not
    reported.
    """

    key: str
    data: bytes
    left: int | None = attrs.field(default=None, eq=False, repr=False)
    number: int = attrs.field(factory=_numbers.__next__, init=False, eq=False, repr=False)
