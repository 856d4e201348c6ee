"""The items that a walk finds, as rows of :mod:`redisson_dq.browsing`: whole values, with the ids of their entries."""

from __future__ import annotations

from datetime import datetime

from redisson_dq.admin.entries import Aside, AsideKind, LeaseRecord, Met, Quarantined, unwrap, whole_ms
from redisson_dq.browsing.rows import SeenItem, time_of
from redisson_dq.errors import EnvelopeError
from redisson_dq.items import item_id
from redisson_dq.scheduling.times import from_optional_ms

__all__ = ["aside_row", "waiting_row"]


def waiting_row(queue: str, met: Met, now: datetime) -> SeenItem:
    """The row of a waiting item. Retried and parked items wait too."""
    entry, data = unwrap(met.member)
    item = met.item or entry
    key = met.record.split(b" ", 4)[4] if met.record.count(b" ") >= 4 else b""
    offered = met.record.split(b" ", 2)[1] if met.record else b""
    if key.startswith(b"i"):
        id = key[1:].decode(errors="replace")
    else:
        id = item_id(int(offered) if offered.isdigit() else whole_ms(met.score) or 0, item)
    return SeenItem(
        queue=queue,
        state="waiting",
        id=id,
        entry_id=item.hex(),
        now=now,
        due=time_of(met.score),
        size=len(data),
        data=data,
        attempts=met.attempts if met.delivery else None,
        reason=LeaseRecord.parse(met.delivery).reason if met.delivery else "",
    )


def aside_row(queue: str, kind: AsideKind, aside: Aside, now: datetime) -> SeenItem:
    """The row of a dead letter, a quarantined entry or an undecodable value."""
    if kind == "dead":
        return _letter_row(queue, aside, now)
    if kind == "undecodable":
        return SeenItem(queue=queue, state=kind, id="", now=now, size=len(aside.element), data=aside.element)
    kept = Quarantined.parse(aside.element)
    try:
        entry = unwrap(kept.member)[0].hex()
    except EnvelopeError:
        entry = ""
    return SeenItem(
        queue=queue,
        state="quarantined",
        id="",
        entry_id=entry,
        now=now,
        due=None if kept.score is None else time_of(kept.score),
        size=len(kept.member),
        data=kept.member,
    )


def _letter_row(queue: str, aside: Aside, now: datetime) -> SeenItem:
    at, _, rest = aside.info.partition(b" ")
    name_size, _, rest = rest.partition(b" ")
    size, _, rest = rest.partition(b" ")
    known = at.isdigit() and name_size.isdigit() and size.isdigit()
    start = int(name_size) if known else 0
    record = LeaseRecord.parse(rest[start : start + int(size)]) if known else LeaseRecord()
    return SeenItem(
        queue=queue,
        state="dead",
        id=record.offer_id or aside.id.hex(),
        entry_id=aside.id.hex(),
        now=now,
        due=from_optional_ms(record.due_ms),
        at=from_optional_ms(int(at)) if known else None,
        size=len(aside.element),
        data=aside.element,
        attempts=record.attempt if known else None,
        reason=record.reason,
        source=rest[:start].decode(errors="replace") if known else "",
        context=record.context,
    )
