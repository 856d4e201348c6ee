"""Recurring offers."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from redisson_dq.wire.calls.base import call
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["Advanced", "advance"]


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
