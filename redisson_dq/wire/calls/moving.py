"""Calls that move due values to the ready list, or take them by their due times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from redisson_dq.wire.calls.base import call
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.leases import Leased
from redisson_dq.wire.request import Request, Word

__all__ = [
    "Due",
    "DueRange",
    "Transferred",
    "hand_over",
    "occurrences",
    "resume",
    "tidy",
    "transfer",
]


@attrs.frozen
class Transferred:
    """The result of one transfer. Times are the server's: ``now_us`` in epoch us, ``next_ms`` in epoch ms.

    ``role`` says who moves the queue from now on: "alone", "mover" or "reserve", see ``scripts/include/mover.lua``.
    ``recurring`` has the id, the definition and the due time of each recurring offer whose occurrence has come.
    ``newer`` has the name of a key and a form of each text or entry that only a newer version knows.
    ``step`` is the outcome of the call's step. ``scheduling/hints.py`` reads it, and says which step the next call
    makes.
    """

    moved: int
    set_aside: int
    expired: int
    now_us: int
    role: str
    recurring: tuple[tuple[str, str, int], ...]
    newer: tuple[tuple[str, int], ...]
    step: tuple[Any, ...]
    next_ms: int | None


def transfer(
    keys: QueueKeys,
    limit: int,
    remember_ms: int,
    caller: str,
    *,
    cluster: bool,
    listens: bool = False,
    slowness: float = 1.0,
    step: tuple[Word, Word] = ("deliver", b""),
) -> Request[Transferred]:
    """Moves at most ``limit`` values that are due, unless another client is the mover. Safe to repeat.

    ``listens``: whether the caller hears the queue's channel. ``step`` is the call's purpose
    with its arguments: to deliver by some hints, or to read and move nothing. ``slowness``: see ``scheduling/pace.py``.
    """
    place = "cluster" if cluster else "listening" if listens else "one"
    args = (limit, remember_ms, caller, place, f"{slowness:g}", *step)
    return call("transfer", keys, args, _transferred)


def _transferred(reply: list[Any]) -> Transferred:
    # Redis ends an array at its first nil: no head, no last element.
    moved, set_aside, expired, now_us, role, come, newer, step, *head = reply
    forms = tuple((name.decode(), int(form)) for name, form in zip(newer[::2], newer[1::2], strict=True))
    next_ms = whole_ms(head[0]) if head else None
    return Transferred(moved, set_aside, expired, now_us, role.decode(), occurrences(come), forms, tuple(step), next_ms)


def hand_over(keys: QueueKeys, caller: str) -> Request[bool]:
    """Lets another client go on as the mover. Returns whether the caller was the mover."""
    return call("hand_over", keys, (caller,), bool)


def tidy(keys: QueueKeys) -> Request[int | None]:
    """Drops records beyond their time. Returns in how many ms there is more to drop, or None."""
    return call("tidy", keys, (), lambda reply: None if reply is None else int(reply))


def resume(keys: QueueKeys) -> Request[bool]:
    """Whether delivery was paused."""
    return call("resume", keys, (), bool)


@attrs.frozen(kw_only=True)
class DueRange:
    """Which of the waiting values: at most ``limit`` of them, without the first ``offset``.

    They are due from ``since_ms`` on (None: from the first on) up to ``until_ms`` (None: the server's now).
    """

    since_ms: int | None
    until_ms: int | None
    offset: int
    limit: int

    @property
    def words(self) -> tuple[Word, ...]:
        """The arguments of the scripts."""
        since = "" if self.since_ms is None else self.since_ms
        until = "" if self.until_ms is None else self.until_ms
        return since, until, self.offset, self.limit


@attrs.frozen
class Due:
    """The result of such a call. ``leased`` are the values, where they were leased.

    ``set_aside`` members were in no envelope format, ``expired`` too late, ``buried`` are dead letters now.
    ``recurring`` has the id, the definition and the due time of each recurring offer whose occurrence has come.
    """

    set_aside: int
    expired: int
    now_us: int
    recurring: tuple[tuple[str, str, int], ...]
    buried: int = 0
    leased: Sequence[Leased] = ()


def occurrences(come: Sequence[bytes]) -> tuple[tuple[str, str, int], ...]:
    """Recurring offers whose occurrence has come: id, definition and due time of each."""
    rows = zip(come[::3], come[1::3], come[2::3], strict=True)
    return tuple(
        (name.decode(errors="backslashreplace"), definition.decode(errors="replace"), whole_ms(due) or 0)
        for name, definition, due in rows
    )
