"""The connections that get no reply before a fault ends. So time can pass while a server is frozen."""

from __future__ import annotations

import weakref
from typing import Protocol

__all__ = ["Holder", "announce", "are_any", "held_at", "is_behind", "passed"]


class Holder(Protocol):
    """An object between clients and their server that may hold back replies. Addresses are those of clients."""

    def passed(self, address: object) -> tuple[int, bool] | None:
        """How many replies of a connection went through, and whether none does at present. None for an unknown
        connection.
        """
        ...


_holders: weakref.WeakSet[Holder] = weakref.WeakSet()


def announce(holder: Holder) -> None:
    """Registers a holder for as long as it lives."""
    _holders.add(holder)


def are_any() -> bool:
    """Whether any holder is registered."""
    return len(_holders) > 0


def is_behind(address: object) -> bool:
    """Whether this connection goes through a holder."""
    return bool(_all(address))


def passed(address: object) -> int:
    """How many replies of this connection went through a holder."""
    return next((found[0] for found in _all(address)), 0)


def held_at(address: object) -> int | None:
    """After how many replies this connection is held. None when it is not."""
    return next((count for count, is_held in _all(address) if is_held), None)


def _all(address: object) -> list[tuple[int, bool]]:
    found = (holder.passed(address) for holder in list(_holders))
    return [each for each in found if each is not None]
