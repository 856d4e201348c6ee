"""The states, triggers and orders of decision tables."""

from __future__ import annotations

import enum

__all__ = ["TableEnum"]


class TableEnum(enum.Enum):
    """An enum whose members are looked up in a table again and again.

    ``Enum`` hashes a member's name, in Python. The member itself is as good, and is hashed in C.
    """

    __hash__ = object.__hash__
