"""Recurring offers."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from redisson_dq.wire.calls.base import call
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["Advanced", "RecurringRow", "advance", "recurring"]


@attrs.frozen
class RecurringRow:
    """One recurring offer as it is stored in Redis."""

    id: str
    #: None where another program gave it a time that never comes.
    due_ms: int | None
    definition: str
    value: bytes


@attrs.frozen
class Advanced:
    """Whether the call put the next occurrence in, rather than another process's; how many missed ones it passed or
    offered, and how many of these it offered.
    """

    done: bool
    missed: int
    offered: int


def advance(
    keys: QueueKeys,
    envelope: Envelope,
    name: str,
    definition: str,
    come_ms: int,
    next_ms: int | None,
    *,
    late_ms: int | None = None,
    remember_ms: int = 0,
    missed: int = 0,
    last_ms: int = 0,
    made_up: Sequence[int] = (),
) -> Request[Advanced]:
    """Puts the next occurrence in, and the missed ones that are ``made_up``. It is lean if the last one was.

    One that may be ``late_ms`` late at most is dropped later than that.
    """
    args = (
        *(envelope.value, name, definition, come_ms, "" if next_ms is None else next_ms),
        *("" if late_ms is None else late_ms, remember_ms, missed, last_ms, *made_up),
    )
    return call("advance", keys, args, lambda reply: Advanced(bool(reply[0]), reply[1], reply[2]))


def recurring(keys: QueueKeys, start: int, stop: int) -> Request[list[RecurringRow]]:
    """Recurring offers from index ``start`` to ``stop``."""
    return call("recurring", keys, (start, stop), _recurring_rows)


def _recurring_rows(reply: list[list[bytes]]) -> list[RecurringRow]:
    how = "backslashreplace"
    return [
        RecurringRow(name.decode(errors=how), whole_ms(due), definition.decode(errors=how), value)
        for name, due, definition, value in reply
    ]
