"""The states, triggers and orders of decision tables."""

from __future__ import annotations

import enum
from typing import TypeVar

__all__ = ["TableEnum", "stays"]

S = TypeVar("S", bound=enum.Enum)
T = TypeVar("T", bound=enum.Enum)


class TableEnum(enum.Enum):
    """An enum whose members are looked up in a table again and again.

    ``Enum`` hashes a member's name, in Python. The member itself is as good, and is hashed in C.
    """

    __hash__ = object.__hash__


def stays(state: S, *triggers: T) -> dict[tuple[S, T], tuple[S, tuple[()]]]:
    """Rows of a table in which nothing changes, and nothing is done."""
    return {(state, trigger): (state, ()) for trigger in triggers}
