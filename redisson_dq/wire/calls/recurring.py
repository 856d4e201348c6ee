"""Recurring offers."""

from __future__ import annotations

import attrs

from redisson_dq.wire.calls.base import call
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["RecurringRow", "advance", "recurring"]


@attrs.frozen(kw_only=True)
class RecurringRow:
    """One recurring offer as it stands in Redis."""

    id: str
    #: None where another program gave it a time that never comes.
    due_ms: int | None
    definition: str
    value: bytes


def advance(
    keys: QueueKeys, envelope: Envelope, name: str, definition: str, come_ms: int, next_ms: int | None
) -> Request[bool]:
    """Whether this call put the next occurrence in, rather than another process's.

    The next occurrence is lean if the last one was.
    """
    due = "" if next_ms is None else next_ms
    return call("advance", keys, (envelope.value, name, definition, come_ms, due), bool)


def recurring(keys: QueueKeys, start: int, stop: int) -> Request[list[RecurringRow]]:
    """Recurring offers from index ``start`` to ``stop``."""
    return call("recurring", keys, (start, stop), _recurring_rows)


def _recurring_rows(reply: list[list[bytes]]) -> list[RecurringRow]:
    return [
        RecurringRow(
            id=name.decode(errors="backslashreplace"),
            due_ms=whole_ms(due),
            definition=definition.decode(errors="backslashreplace"),
            value=value,
        )
        for name, due, definition, value in reply
    ]
