"""The view of the items of a queue in one state: a page of rows, each with the beginning of its value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import attrs

from redisson_dq import Client
from redisson_dq.admin import Admin
from redisson_dq.browsing import STATES, DecodedValue, Filter, SeenItem, SeenOn, browse, cursor_at
from redisson_dq.browsing.values import CLASS
from redisson_dq.errors import ArgumentError
from redisson_dq.web.actions import ActionChoice
from redisson_dq.web.masks import HIDDEN, Masks
from redisson_dq.web.plain import json_text
from redisson_dq.web.times import LAST_MS, in_words

__all__ = ["PREVIEW", "ShownItem", "ItemsView", "StateTab", "items"]

#: A row shows this many bytes of a value at most.
PREVIEW = 256
_ROWS, _MOST_ROWS = 50, 100
# How many bytes of each value are decoded: for a row, and if a filter uses fields.
_HEAD, _FILTER_HEAD = 1024, 16_384
# How many items a filter examines in one page of Redis, and for how many seconds for one response.
_LOOKED_AT_ONCE, _PATIENCE = 500, 1.0
_REASON = 300
_OF_ITEMS = ("id", "due", "late", "attempts", "size", "class", "reason", "queue", "holder", "held")
_MOST_FIELDS = 60


@attrs.frozen(kw_only=True)
class StateTab:
    """A state with the number of its items. ``count`` is None if unknown."""

    state: str
    count: int | None
    is_current: bool


@attrs.frozen(kw_only=True)
class ShownItem:
    """One item.

    ``queue`` is the partition it is in, or the queue. ``due`` is the due time, or the deadline of an item in flight;
    ``due_in_words`` is that time relative to now. ``late_by`` is how long an item that waits has been due, else None.
    ``at`` is when it was received or died. ``preview`` is the value in 256 bytes of JSON or hex at most; ``is_cut``
    says that there is more of it. ``codec`` and ``sure`` (``certain``, ``likely``, ``possible``, ``given``) say how it
    was read, and ``error`` why it was not. ``java_class`` is its class, without quotes; often empty. ``size`` is in
    bytes. It is None if fields are masked, as it would reveal the length of one. ``every`` is the rule of a recurring
    offer. ``held_by`` is the process that has an item in flight.
    """

    id: str
    state: str
    queue: str
    due: datetime | None
    due_in_words: str
    late_by: timedelta | None
    at: datetime | None
    attempts: int | None
    reason: str
    held_by: str
    every: str
    envelope: str
    size: int | None
    codec: str
    sure: str
    java_class: str
    preview: str
    is_cut: bool
    error: str


@attrs.frozen(kw_only=True)
class ItemsView:
    """One page of the items of a queue in a state.

    ``count`` is how many there are in that state, read by the same script as the rows. ``looked`` is how many items a
    filter has examined for this page. ``next`` is the cursor of the next page, or empty at the end. With a filter a
    page may have few rows, or none, while ``next`` goes on. ``fields`` are names for the completion of filters, and
    ``classes`` the classes seen. ``filter_error`` says why the filter cannot be read, and ``filter_position`` where.
    ``from_ms`` and ``to_ms`` are the span of due times that is shown, None without one. ``is_masked``: fields are
    hidden, so no codec can be chosen. ``actions`` are those that the user may start on these items.
    """

    queue: str
    partitions: int | None
    state: str
    states: tuple[StateTab, ...]
    rows: tuple[ShownItem, ...]
    count: int
    looked: int
    filter: str
    filter_error: str
    filter_position: int | None
    codec: str
    cursor: str
    next: str
    from_ms: int | None
    to_ms: int | None
    now: datetime | None
    fields: tuple[str, ...]
    classes: tuple[str, ...]
    is_masked: bool
    actions: tuple[ActionChoice, ...]


def items(
    client: Client,
    queue: str,
    masks: Masks,
    *,
    state: str = "waiting",
    filter: str = "",
    codec: str = "",
    cursor: str = "",
    from_ms: int | None = None,
    to_ms: int | None = None,
    limit: int = _ROWS,
    partitions: int | None = None,
    actions: tuple[ActionChoice, ...] = (),
) -> ItemsView:
    """The view. A filter searches for at most a second, and the next page continues after the last examined item.

    One round trip for each partition and 500 items, and one for the numbers in the other states. Raises ArgumentError,
    RedisConnectionError, RedisReplyError.
    """
    if state not in STATES:
        raise ArgumentError(f"there is no state {state!r}: {', '.join(STATES)}")
    wanted, error, position = _filter(filter, masks)
    from_ms, to_ms = _in_calendar(from_ms), _in_calendar(to_ms)
    reader = masks.reader(codec or None)
    look = _PageReader(client, queue, state, partitions, masks, reader)
    after = cursor or None
    if after is None and from_ms is not None and state in ("waiting", "in-flight"):
        after = cursor_at(state, from_ms, partitions)
    look.read(after, wanted, min(limit, _MOST_ROWS) if not error else 0, to_ms)
    shown = [_row(row, decoded, is_masked=bool(masks)) for row, decoded in look.found]
    fields = _fields(decoded for _, decoded in look.found)
    classes = {decoded.java_class for _, decoded in look.found if decoded.java_class}
    return ItemsView(
        queue=queue,
        partitions=partitions,
        state=state,
        states=_tabs(client, queue, partitions, state, look.count),
        rows=tuple(shown),
        count=look.count,
        looked=look.looked,
        filter=filter,
        filter_error=error,
        filter_position=position,
        codec=codec,
        cursor=cursor,
        next=look.next or "",
        from_ms=from_ms,
        to_ms=to_ms,
        now=look.now,
        fields=(*(each for each in _OF_ITEMS if not masks or each != "size"), *sorted(fields)),
        classes=tuple(sorted(classes)),
        is_masked=bool(masks),
        actions=actions,
    )


def _in_calendar(ms: int | None) -> int | None:
    return None if ms is None else max(0, min(ms, LAST_MS))


def _filter(text: str, masks: Masks) -> tuple[Filter | None, str, int | None]:
    if not text.strip():
        return None, "", None
    from redisson_dq.browsing import FilterError

    try:
        return masks.filter_of(text), "", None
    except FilterError as error:
        return None, str(error), error.position


class _PageReader:
    """Reads pages until enough rows were found, the time is over, or the span ends."""

    def __init__(
        self, client: Client, queue: str, state: SeenOn, partitions: int | None, masks: Masks, reader: Any
    ) -> None:
        self._client, self._queue, self._partitions = client, queue, partitions
        self._state: SeenOn = state
        self._masks, self._reader = masks, reader
        self.found: list[tuple[SeenItem, DecodedValue]] = []
        self.count = self.looked = 0
        self.next: str | None = None
        self.now: datetime | None = None

    def read(self, after: str | None, wanted: Filter | None, limit: int, to_ms: int | None) -> None:
        clock = Admin(self._client).clock
        until = clock.monotonic() + _PATIENCE
        # With masks, a value that was not read completely shows nothing. To keep these few, longer heads are read: a
        # short head would reveal sizes.
        head = _FILTER_HEAD if self._masks or (wanted is not None and wanted.needs_value) else _HEAD
        most = limit if wanted is None else _LOOKED_AT_ONCE
        self.next = after
        while True:
            begin = self.next
            page = self._page(begin, max(1, most), head)
            self.count, self.now, self.next = page.count, page.now, page.next
            for i, row in enumerate(page.rows):
                if to_ms is not None and row.due is not None and row.due.timestamp() * 1000 >= to_ms:
                    self.next = None
                    return
                # A filter may be long, and a value large.
                if len(self.found) >= limit or (self.looked and clock.monotonic() > until):
                    # The next page begins with this row.
                    self.next = begin if i == 0 else self._page(begin, i, 0).next
                    return
                self.looked += 1
                self._judge(row, wanted)
            if self.next is None or len(self.found) >= limit or clock.monotonic() > until:
                return

    def _page(self, after: str | None, limit: int, head: int) -> Any:
        return browse(
            self._client,
            self._queue,
            self._state,
            partitions=self._partitions,
            after=after,
            limit=limit,
            head=head,
        )

    def _judge(self, row: SeenItem, wanted: Filter | None) -> None:
        seen, decoded = self._masks.seen(row, self._reader)
        if wanted is None or wanted(seen, decoded):
            self.found.append((seen, decoded))


def _row(row: SeenItem, decoded: DecodedValue, *, is_masked: bool) -> ShownItem:
    preview, is_cut = _preview(row, decoded)
    return ShownItem(
        id=row.id,
        state=row.state,
        queue=row.queue,
        due=row.due,
        due_in_words=in_words(row.due, row.now),
        late_by=row.late,
        at=row.at,
        attempts=row.attempts,
        reason=_in_one_line(row.reason),
        held_by=str(row.holder or ""),
        every=row.every,
        envelope=row.envelope,
        size=None if is_masked else row.size,
        codec=decoded.codec,
        sure=str(decoded.sure),
        java_class=decoded.java_class,
        preview=preview,
        is_cut=is_cut,
        error=decoded.error[:_REASON],
    )


def _in_one_line(text: str) -> str:
    """The most informative line: the last line of a traceback, which has the error."""
    lines = text.strip().splitlines() or [""]
    line = lines[-1 if lines[0].startswith("Traceback ") else 0].strip()
    return line if len(line) <= _REASON else f"{line[:_REASON]}…"


def _preview(row: SeenItem, decoded: DecodedValue) -> tuple[str, bool]:
    """The value in at most this many bytes, and whether it was cut."""
    if decoded.error:
        if decoded.value == HIDDEN:
            return HIDDEN, False
        return _readable(row.data[:PREVIEW]), row.size > PREVIEW
    value = decoded.value
    if isinstance(value, Mapping) and decoded.java_class and value.get(CLASS) == decoded.java_class:
        # The row shows the class separately.
        value = {name: part for name, part in value.items() if name != CLASS}
    text = value if isinstance(value, str) else json_text(value)
    data = text.encode(errors="backslashreplace")
    return data[:PREVIEW].decode(errors="ignore"), len(data) > PREVIEW or not row.is_whole


def _readable(data: bytes) -> str:
    """Text if most of the bytes are text, otherwise hex."""
    text = data.decode(errors="replace")
    odd = sum(not each.isprintable() or each == "\ufffd" for each in text)
    if odd * 8 <= len(text):
        return "".join(each if each.isprintable() else "·" for each in text)
    return data[: PREVIEW // 2].hex()


def _fields(values: Iterable[DecodedValue]) -> set[str]:
    """The names of fields, two levels deep, as used in a filter."""
    found: set[str] = set()
    for decoded in values:
        if isinstance(decoded.value, Mapping) and not decoded.error:
            for name, part in decoded.value.items():
                found.add(f"value.{name}" if name in _OF_ITEMS or name == "state" else name)
                if isinstance(part, Mapping):
                    found.update(f"{name}.{each}" for each in part)
        if len(found) > _MOST_FIELDS:
            break
    return {each for each in found if len(each) < 80}


_COUNTS: dict[str, Callable[[Any], int]] = {
    "waiting": lambda stats: stats.waiting,
    "parked": lambda stats: stats.parked,
    "ready": lambda stats: stats.ready,
    "in-flight": lambda stats: stats.in_flight,
    "dead": lambda stats: stats.dead,
    "quarantined": lambda stats: stats.quarantined,
    "undecodable": lambda stats: stats.undecodable,
    "recurring": lambda stats: stats.recurring,
}


def _tabs(client: Client, queue: str, partitions: int | None, state: str, count: int) -> tuple[StateTab, ...]:
    stats = client.stats(queue, partitions=partitions)[queue]
    told = {name: get(stats) for name, get in _COUNTS.items()} | {state: count}
    return tuple(StateTab(state=each, count=told.get(each), is_current=each == state) for each in STATES)
