"""The history of a queue: switched on and off, and read. Nothing here does I/O.

``scripts/include/events.lua`` writes it, and says what an event consists of.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator
from datetime import datetime, timedelta
from typing import Any, Union
from urllib.parse import unquote

import attrs

from redisson_dq._common.texts import shown
from redisson_dq.calls.checks import check_count, nothing
from redisson_dq.calls.items import Target, checked_id, find_item
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import ArgumentError
from redisson_dq.items import ItemEvent, entry_id
from redisson_dq.scheduling.times import from_ms, span_ms, to_ms
from redisson_dq.wire.request import Request

__all__ = [
    "Kept",
    "LONGEST_MS",
    "MOST_EVENTS",
    "OF_AN_ITEM",
    "events_from",
    "history_of",
    "kept_history",
    "kept_in",
    "set_history",
]

#: How much of a history is kept: the events of that many items, or those of that time.
Kept = Union[int, timedelta]

#: An item that is delivered once and fails twice has this many events.
OF_AN_ITEM = 8
#: A history keeps this many events at most, for this time at most.
MOST_EVENTS, LONGEST_MS = 50_000, 30 * 86_400_000
# This many events are read in one round trip.
_PAGE = 500
_HEX = re.compile("[0-9a-f]{16}(?:[0-9a-f]{2}){0,2}")
# After these events an item still exists.
_OPEN = frozenset(
    ("offered", "rescheduled", "moved", "delivered", "failed", "returned", "lost", "parked", "redriven", "replaced")
)
_CLEARED = "cleared"


def set_history(queue: OpenQueue[Any], keep: Kept | None) -> Request[None]:
    """Begins or ends the history. Raises ArgumentError."""
    if keep is None:
        count, age_ms = 0, 0
    elif isinstance(keep, timedelta):
        count, age_ms = MOST_EVENTS, span_ms(keep, queue.name, "a history")
        if not age_ms:
            raise ArgumentError(f"queue {queue.name!r}: a history must be kept for longer than {shown(keep)}")
    else:
        count = min(OF_AN_ITEM * check_count(keep, queue.name, "a history's number of items"), MOST_EVENTS)
        age_ms = LONGEST_MS
    return queue.call("set_history", (count, min(age_ms, LONGEST_MS)), nothing)


def kept_in(setting: bytes | None) -> tuple[int, timedelta] | None:
    """How many events are kept at most, and for how long, by the setting of a queue; None for none that is known."""
    count, _, age_ms = (setting or b"").partition(b" ")
    if not (count.isdigit() and age_ms.isdigit() and max(len(count), len(age_ms)) < 15):
        return None
    return int(count), timedelta(milliseconds=int(age_ms))


def kept_history(queue: OpenQueue[Any]) -> Request[tuple[int, timedelta] | None]:
    """How many events are kept at most, and for how long; None where the queue has no history."""
    key = queue.keys.settings
    return Request(words=("HGET", key, "history"), types={key: "hash"}, parse=kept_in)


def events_from(
    queue: OpenQueue[Any], start: str, last_ms: int | str, count: int
) -> Request[tuple[int, bytes | None, list[list[bytes]]]]:
    """The server's time in epoch us, the id behind which more may follow, and events: each its id and its fields."""
    return queue.call("read_history", (start, last_ms, count), tuple)


@attrs.frozen
class _Noted:
    """An event as it is stored."""

    time_ms: int
    fields: dict[bytes, bytes]

    def text(self, field: bytes) -> str:
        return self.fields.get(field, b"").decode(errors="replace")

    @property
    def key(self) -> bytes:
        return self.fields.get(b"k", b"")

    def public(self, certain: bool) -> ItemEvent:
        host, _, pid = self.text(b"w").rpartition(":")
        due, attempt, key = self.text(b"d"), self.text(b"n"), self.text(b"k")
        return ItemEvent(
            time=from_ms(self.time_ms),
            what=self.text(b"e"),
            id=key[1:] if key.startswith("i") else None,
            host=unquote(host),
            pid=int(pid) if _is_number(pid) else None,
            lease=self.fields.get(b"l", b"").hex(),
            attempt=int(attempt) if _is_number(attempt) else 0,
            due=from_ms(int(due)) if _is_number(due) else None,
            reason=self.text(b"r"),
            certain=certain,
        )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 16


class _EventsOf:
    """Chooses the events of one item, in their order."""

    def __init__(self, id: str | None) -> None:
        made = None if id is None else entry_id(id)
        self._is_any = id is None
        self._key = b"" if id is None or made is not None else b"i" + id.encode()
        # Commands also show the id of an entry or of a lease by itself.
        is_hex = id is not None and _HEX.fullmatch(id) is not None
        self._entry = made[1] if made is not None else bytes.fromhex(id or "") if is_hex else b""
        self._digest = b""
        self._leases: set[bytes] = set()
        self._last: tuple[_Noted, bool] | None = None

    def certainty(self, event: _Noted) -> bool | None:
        """Whether the event is certainly of the item; None if it is not. Events come in their order."""
        is_of_all = event.text(b"e") == _CLEARED and not self._is_any
        certain = self._cleared(event) if is_of_all else self._certainty(event)
        if certain is not None:
            self._last = event, certain
        return certain

    def _cleared(self, event: _Noted) -> bool | None:
        """Whether the item was among all that waited, or all that were ready, when these were cleared at once."""
        last, certain = self._last or (None, False)
        if last is None or last.text(b"e") not in _OPEN - {"delivered"}:
            return None
        due = last.text(b"d")
        is_waiting = _is_number(due)
        # Redisson moves items as well, and notes nothing.
        is_ready = not is_waiting or int(due) <= event.time_ms
        return certain if (is_ready if event.text(b"r") == "ready" else is_waiting) else None

    def _certainty(self, event: _Noted) -> bool | None:
        if self._is_any:
            return True
        if self._key and event.key == self._key:
            return True
        if not self._entry:
            return None
        if self._entry in (event.fields.get(b"i"), event.fields.get(b"l")):
            self._digest = event.fields.get(b"v") or self._digest
            return True
        # A value without a name is known by its bytes once it has left its entry.
        lease, digest = event.fields.get(b"l", b""), event.fields.get(b"v", b"")
        if self._digest and digest == self._digest and not event.fields.get(b"i"):
            self._leases.add(lease)
            return False
        return False if lease and lease in self._leases else None


def history_of(
    queue: OpenQueue[Any],
    id: str | None,
    since: datetime | None,
    until: datetime | None,
    what: str | None,
    limit: int,
) -> Generator[Request[Any], Any, list[ItemEvent]]:
    """The last ``limit`` events that are wanted, oldest first. A generator of requests: each is sent the result of the
    one before. Raises ArgumentError.
    """
    name = queue.name
    check_count(limit, name)
    if id is not None:
        checked_id(queue, id)
    if what is not None and not isinstance(what, str):
        raise ArgumentError(f"queue {name!r}: what= must be the name of an event, such as 'failed', not {shown(what)}")
    first = 0 if since is None else max(0, to_ms(since, name, "since="))
    last = None if until is None else max(0, to_ms(until, name, "until="))
    return _read(queue, id, first, last, what, limit)


def _read(
    queue: OpenQueue[Any], id: str | None, first: int, last: int | None, what: str | None, limit: int
) -> Generator[Request[Any], Any, list[ItemEvent]]:
    kept = yield kept_history(queue)
    if kept is None:
        return []
    # This comes first, as later events may show how the item left.
    target = None if id is None or entry_id(id) is not None else Target(given_id=id)
    page = None if target is None else (yield find_item(queue.lease_keys, target, 0))
    wanted, found, latest = _EventsOf(id), deque[ItemEvent](maxlen=limit), None
    start, last_ms = str(first), "" if last is None else last
    # Another program may have written more events than are kept.
    left = min(kept[0], MOST_EVENTS)
    while start and left > 0:
        now_us, behind, entries = yield events_from(queue, start, last_ms, min(_PAGE, left))
        first = max(first, now_us // 1000 - int(kept[1].total_seconds() * 1000))
        left -= len(entries)
        start = f"({behind.decode()}" if behind else ""
        for entry, *fields in entries:
            event = _Noted(int(entry.partition(b"-")[0]), dict(zip(fields[::2], fields[1::2], strict=True)))
            certain = wanted.certainty(event) if event.time_ms >= first else None
            if certain is None:
                continue
            latest = event.public(certain)
            if what in (None, latest.what):
                found.append(latest)
    if page is not None and not page.found and latest is not None and last is None and what in (None, "gone"):
        seen = from_ms(page.now_us // 1000)
        if latest.what in _OPEN and latest.time < seen:
            found.append(attrs.evolve(latest, time=seen, what="gone", host="", pid=None, lease="", due=None, reason=""))
    return list(found)
