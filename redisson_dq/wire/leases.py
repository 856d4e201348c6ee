"""The scripts' answers about a received value: its lease, and the record of its deliveries."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import Any

import attrs

from redisson_dq.items import SettleOutcome
from redisson_dq.wire.forms import newer_form
from redisson_dq.wire.taken import Taken

__all__ = ["CURSOR", "NAMED", "OUTCOMES", "Leased", "Letter", "LeaseRecord", "outcomes_of"]

#: The first word of a context where the item has a name.
NAMED = "redisson_dq.item"
#: The last word of a context, where the work on the value has noted how far it has come.
CURSOR = "redisson_dq.cursor"

#: The word that scripts have for each outcome.
OUTCOMES = {outcome.value.encode(): outcome for outcome in SettleOutcome}
# The numbers and the digest of a record, before the reason and the context.
_FIELDS = 10


@attrs.frozen
class LeaseRecord:
    """The record of one delivery. Times are epoch ms on the server's clock, None where none is known.

    ``failures`` are the deliveries that ended with ``nack``, ``crashes`` those that ended by their deadline.
    """

    attempt: int = 0
    failures: int = 0
    crashes: int = 0
    first_ms: int | None = None
    received_ms: int | None = None
    offered_ms: int | None = None
    due_ms: int | None = None
    reason: str = ""
    context: dict[str, str] = attrs.field(factory=dict)
    #: The ``id=`` of the offer, if it had one.
    offer_id: str | None = None
    #: How far the work on the value has come, as the last receiver saved it.
    cursor: Any = None

    @classmethod
    def parse(cls, text: bytes) -> LeaseRecord:
        """Reads a record as ``scripts/include/delivery_record.lua`` writes it. A record that another program wrote
        counts as empty.
        """
        parts = text.split(b" ", _FIELDS)
        try:
            *numbers, size = [int(part) for part in (*parts[:8], parts[9])]
            rest = parts[10]
        except (ValueError, IndexError):
            return cls()
        attempt, failures, crashes, *times, _ = numbers
        offer_id, cursor, context = _named(rest[size:])
        reason = rest[:size].decode(errors="replace")
        first_ms, received_ms, offered_ms, due_ms = (each or None for each in times)
        return cls(
            attempt, failures, crashes, first_ms, received_ms, offered_ms, due_ms, reason, context, offer_id, cursor
        )


def _named(text: bytes) -> tuple[str | None, Any, dict[str, str]]:
    """The id of the offer, the cursor, and the context. ``named.lua`` in ``scripts/include/``
    and ``extend.lua`` write the first two.
    """
    if not text:
        return None, None, {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None, None, {}
    if not isinstance(found, dict):
        return None, None, {}
    cursor = _cursor(found.pop(CURSOR)) if CURSOR in found else None
    item, _, rest = str(found.pop(NAMED, "")).partition(" ")
    key = rest.partition(" ")[2]
    offer_id = key[1:] if item and key.startswith("i") else None
    return offer_id, cursor, {str(key): str(value) for key, value in found.items()}


def _cursor(text: object) -> Any:
    try:
        return json.loads(urlsafe_b64decode(str(text) + "=="))
    except (ValueError, RecursionError):
        # Another program wrote it.
        return None


@attrs.define(kw_only=True, unsafe_hash=True)
class Leased(Taken):
    """The bytes of a value that was received, under a lease with this id until ``deadline_ms``.

    ``now_us`` is the server's time when it was reported, ``read_us`` the client's clock then. ``text`` is the record,
    empty for a value that has just been received for the first time.
    """

    id: bytes
    deadline_ms: int
    text: bytes
    now_us: int
    read_us: int

    @property
    def record(self) -> LeaseRecord:
        """The record of this delivery. It is read again each time."""
        # A record in a newer form cannot be read here.
        if self.text and newer_form(self.text) is None:
            return LeaseRecord.parse(self.text)
        now_ms = self.now_us // 1000
        return LeaseRecord(attempt=1, first_ms=now_ms, received_ms=now_ms)


def outcomes_of(words: list[bytes]) -> list[SettleOutcome]:
    """The outcome of each lease that a call has ended, or has not found."""
    return list(map(OUTCOMES.__getitem__, words))


@attrs.frozen
class Letter:
    """One element of a dead-letter list. An element from another program has an empty ``id`` and no record."""

    id: bytes
    at_ms: int | None
    source: str
    record: LeaseRecord
    data: bytes
