"""Leasing waiting values by their due times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from redisson_dq.scheduling.clock import Clock
from redisson_dq.wire.calls.leases import LeaseKeys, call_with_dead, leased_rows
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.leases import Leased
from redisson_dq.wire.request import Request, Word

__all__ = ["Due", "DueRange", "lease_due", "occurrences"]


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


def lease_due(
    keys: LeaseKeys,
    clock: Clock,
    envelope: Envelope,
    nonce: bytes,
    visible_us: int,
    delivery_limit: int,
    wanted: DueRange,
    remember_ms: int,
) -> Request[Due]:
    """Takes the values under leases. The same request again gives the same leases, as long as they are held.

    ``nonce`` is as for :func:`receive`.
    """

    def parsed(reply: list[Any]) -> Due:
        buried, rows, set_aside, expired, now_us, come = reply
        leased = leased_rows(keys.queue, now_us, clock.now_us(), rows)
        return Due(set_aside, expired, now_us, occurrences(come), buried, leased)

    args = (envelope.value, nonce, visible_us, delivery_limit, *wanted.words, remember_ms)
    return call_with_dead("lease_due", keys, args, parsed)


def occurrences(come: Sequence[bytes]) -> tuple[tuple[str, str, int], ...]:
    """Recurring offers whose occurrence has come: id, definition and due time of each."""
    rows = zip(come[::3], come[1::3], come[2::3], strict=True)
    return tuple(
        (name.decode(errors="backslashreplace"), definition.decode(errors="replace"), whole_ms(due) or 0)
        for name, definition, due in rows
    )
