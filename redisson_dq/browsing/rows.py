"""One item as it is shown: its id, its times, and the beginning of its value."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

import attrs

from redisson_dq.admin.entries import LeaseRecord, Quarantined, unwrap
from redisson_dq.browsing.holders import LeaseHolder
from redisson_dq.errors import EnvelopeError
from redisson_dq.items import RecurringOffer, item_id
from redisson_dq.scheduling.times import from_ms, from_optional_ms

__all__ = [
    "STATES",
    "SeenIn",
    "SeenOn",
    "SeenItem",
    "dead_row",
    "held_row",
    "listed_row",
    "parked_row",
    "recurring_row",
    "time_of",
    "waiting_row",
]

#: The states of an item. Overdue and parked items count as waiting.
SeenIn = Literal["waiting", "ready", "in-flight", "dead", "quarantined", "undecodable", "expired", "recurring"]
#: The pages of items. Parked items also wait, so they are on two pages.
SeenOn = Literal[
    "waiting", "parked", "ready", "in-flight", "dead", "quarantined", "undecodable", "expired", "recurring"
]
STATES: tuple[SeenOn, ...] = get_args(SeenOn)

# The size of an entry without its value, by the size of its id.
_AROUND = {8: "current", 9: "lean", 10: "lease"}
# The last millisecond of the year 9999.
_LAST_MS = 253402300799999


@attrs.frozen(kw_only=True)
class SeenItem:
    """One item, as Redis reported it at ``now``.

    ``id`` is the id of its offer, if it has one. Otherwise it is the id that the offer returned for a waiting item, the
    hex id of a lease or a dead letter, or ``state@index`` for an element of a list. ``entry_id`` is the hex id in its
    entry, if the item was selected for an action (``mending``). ``due`` is the due time, or the deadline of a value in
    flight. ``at`` is when it was received or parked, or when it died. ``waits_for`` is the limit by key that has parked
    it, such as ``limit customer=71``. ``data`` has the first bytes of its value, ``size`` the number of all its bytes.
    ``envelope`` is ``current``, ``lean``, ``legacy``, ``lease``, ``torn`` or ``unknown``. It is empty if the item has
    none. ``context`` is the context of its offer, if a record has it. ``holder`` is the client that has a value in
    flight, if known. ``every`` is the rule of a recurring offer, and ``missed`` how it treats missed occurrences.
    ``cursor`` is the progress that the handler of a value has saved, if any.
    """

    queue: str
    state: SeenIn
    id: str
    now: datetime
    size: int
    data: bytes = attrs.field(repr=False)
    due: datetime | None = None
    at: datetime | None = None
    attempts: int | None = None
    reason: str = ""
    source: str = ""
    envelope: str = ""
    every: str = ""
    missed: str = ""
    waits_for: str = ""
    cursor: Any = None
    entry_id: str = ""
    context: Mapping[str, str] = attrs.field(factory=dict)
    holder: LeaseHolder | None = None

    def has_id(self, ids: frozenset[str]) -> bool:
        """Whether this is one of its ids: the id given to its offer, the id that the offer returned, or the hex id of
        its entry.
        """
        return self.id in ids or self.entry_id in ids

    @property
    def is_whole(self) -> bool:
        """Whether ``data`` is the whole value."""
        return len(self.data) == self.size

    @property
    def late(self) -> timedelta | None:
        """How long ago it was due. None before that, and if it is no longer waiting."""
        if self.due is None or self.state not in ("waiting", "recurring") or self.due > self.now:
            return None
        return self.now - self.due


def time_of(score: bytes | float) -> datetime | None:
    """A score as a time, rounded up. None if it is outside the calendar's range."""
    number = float(score)
    return from_ms(-int(-number // 1)) if 0 <= number <= _LAST_MS else None


def waiting_row(queue: str, now: datetime, found: list[Any]) -> SeenItem:
    """A row of ``browse_waiting.lua``."""
    entry, score, size, data, around, key, known = found
    due = time_of(score)
    record = LeaseRecord.parse(known) if known else None
    if key.startswith(b"i"):
        id = key[1:].decode(errors="replace")
    elif record is not None and record.offer_id:
        id = record.offer_id
    elif entry and due is not None:
        id = item_id(int(due.timestamp() * 1000 + 0.5), entry)
    else:
        id = entry.hex()
    envelope = "unknown" if not entry else "legacy" if around - size == 16 else _AROUND[len(entry)]
    return SeenItem(
        queue=queue,
        state="waiting",
        id=id,
        now=now,
        due=due,
        size=size,
        data=data,
        envelope=envelope,
        attempts=None if record is None else record.attempt,
        reason="" if record is None else record.reason,
        context={} if record is None else record.context,
        cursor=None if record is None else record.cursor,
    )


def parked_row(queue: str, now: datetime, found: list[Any]) -> SeenItem:
    """A row of ``browse_parked.lua``."""
    *waiting, since, label = found
    row = waiting_row(queue, now, waiting)
    at, waits_for = from_optional_ms(int(since)), label.decode(errors="replace")
    return attrs.evolve(row, at=at, waits_for=waits_for)


def held_row(queue: str, now: datetime, found: list[Any]) -> SeenItem:
    """A row of ``browse_held.lua``."""
    lease, deadline, size, data, _, _, known = found
    record = LeaseRecord.parse(known)
    return SeenItem(
        queue=queue,
        state="in-flight",
        id=lease.hex(),
        now=now,
        due=time_of(deadline),
        at=from_optional_ms(record.received_ms),
        size=size,
        data=data,
        envelope="lease",
        attempts=record.attempt or 1,
        reason=record.reason,
        source=record.offer_id or "",
        context=record.context,
        cursor=record.cursor,
    )


def dead_row(queue: str, now: datetime, index: int, found: list[Any]) -> SeenItem:
    """A row of ``browse_dead.lua``."""
    size, data, letter, at, source, known = found
    record = LeaseRecord.parse(known)
    return SeenItem(
        queue=queue,
        state="dead",
        id=letter.hex() or f"dead@{index}",
        now=now,
        due=from_optional_ms(record.due_ms),
        at=from_optional_ms(int(at)),
        size=size,
        data=data,
        attempts=record.attempt if known else None,
        reason=record.reason,
        source=source.decode(errors="replace"),
        context=record.context,
        cursor=record.cursor,
    )


def listed_row(queue: str, now: datetime, state: SeenIn, index: int, found: list[Any]) -> SeenItem:
    """A row of ``browse_list.lua``: a ready, quarantined, undecodable or expired value."""
    size, data = found
    due, envelope, id = None, "", f"{state}@{index}"
    if state in ("quarantined", "expired"):
        before, space, rest = data.partition(b" ")
        score = _number(before)
        if space and (score is not None or (state == "quarantined" and not before)):
            size, data = size - len(before) - 1, rest
            due = None if score is None else time_of(score)
    if state == "quarantined":
        envelope = "unknown"
        try:
            unwrap(Quarantined(score=None, member=data).member)
            envelope = "torn"
        except EnvelopeError:
            pass
    return SeenItem(queue=queue, state=state, id=id, now=now, due=due, size=size, data=data, envelope=envelope)


def recurring_row(queue: str, now: datetime, offer: RecurringOffer, head: int) -> SeenItem:
    """A recurring offer, with the due time of its next occurrence."""
    return SeenItem(
        queue=queue,
        state="recurring",
        id=offer.id,
        now=now,
        due=offer.next_due,
        size=len(offer.data),
        data=offer.data[:head],
        every=str(offer.cron or offer.every),
        missed=offer.missed if offer.missed_limit is None else f"{offer.missed}, {offer.missed_limit} at most",
    )


def _number(text: bytes) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
