"""One item or element as a filter sees it: plain values, with the bytes of its value."""

from __future__ import annotations

import attrs

from redisson_dq.errors import EnvelopeError
from redisson_dq.items import item_id
from redisson_dq.wire.calls.mending import Aside, AsideKind, Met
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.envelope import Quarantined, unwrap
from redisson_dq.wire.leases import LeaseRecord

__all__ = ["ItemRow", "aside_row", "waiting_row"]


@attrs.frozen(kw_only=True)
class ItemRow:
    """One item: where it is, its id, its due time, and the bytes of its value.

    ``entry_id`` is the id inside its entry in hex. ``id`` is the id of its offer, or else the one that an offer made.
    ``source`` is the raw name of the queue that a dead letter came from.
    ``due_ms`` is its due time, and None where none is known. ``at_ms`` is when a dead letter came. ``now_ms`` is the
    server's time when it was met.
    """

    queue: str
    state: str
    id: str
    entry_id: str
    due_ms: int | None
    data: bytes
    now_ms: int
    attempts: int = 0
    at_ms: int | None = None
    reason: str = ""
    source: str = ""

    def has_id(self, ids: frozenset[str]) -> bool:
        """Whether one of these ids names it: the id of its offer, the made one, or the hex id of its entry."""
        return self.id in ids or self.entry_id in ids


def waiting_row(queue: str, met: Met, now_ms: int) -> ItemRow:
    """The row of a waiting item."""
    entry, data = unwrap(met.member)
    due_ms = whole_ms(met.score)
    item = met.item or entry
    key = met.record.split(b" ", 4)[4] if met.record.count(b" ") >= 4 else b""
    offered = met.record.split(b" ", 2)[1] if met.record else b""
    made = item_id(int(offered) if offered.isdigit() else due_ms or 0, item)
    return ItemRow(
        queue=queue,
        state=met.state,
        id=key[1:].decode(errors="replace") if key.startswith(b"i") else made,
        entry_id=item.hex(),
        due_ms=due_ms,
        data=data,
        now_ms=now_ms,
        attempts=met.attempts,
    )


def aside_row(queue: str, kind: AsideKind, aside: Aside, now_ms: int) -> ItemRow:
    """The row of a dead letter, a quarantined entry or an undecodable value."""
    if kind == "dead":
        return _letter_row(queue, aside, now_ms)
    if kind == "undecodable":
        return ItemRow(queue=queue, state=kind, id="", entry_id="", due_ms=None, data=aside.element, now_ms=now_ms)
    kept = Quarantined.parse(aside.element)
    try:
        entry = unwrap(kept.member)[0].hex()
    except EnvelopeError:
        entry = ""
    due_ms = None if kept.score is None else whole_ms(str(kept.score).encode())
    return ItemRow(
        queue=queue, state="quarantined", id="", entry_id=entry, due_ms=due_ms, data=kept.member, now_ms=now_ms
    )


def _letter_row(queue: str, aside: Aside, now_ms: int) -> ItemRow:
    at, _, rest = aside.info.partition(b" ")
    name_size, _, rest = rest.partition(b" ")
    size, _, rest = rest.partition(b" ")
    known = at.isdigit() and name_size.isdigit() and size.isdigit()
    start = int(name_size) if known else 0
    record = LeaseRecord.parse(rest[start : start + int(size)]) if known else LeaseRecord()
    return ItemRow(
        queue=queue,
        state="dead",
        id=record.offer_id or aside.id.hex(),
        entry_id=aside.id.hex(),
        due_ms=record.due_ms,
        data=aside.element,
        now_ms=now_ms,
        attempts=record.attempt,
        at_ms=int(at) if known else None,
        reason=record.reason,
        source=rest[:start].decode(errors="replace") if known else "",
    )
