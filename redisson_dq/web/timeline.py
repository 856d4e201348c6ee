"""The timeline: how many items of a queue are due in each span, from seconds to years."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

import attrs

from redisson_dq import Client
from redisson_dq.admin import Admin, AdminQueue
from redisson_dq.admin.entries import DueSpans
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.times import from_ms
from redisson_dq.web.classes import ClassMark, ClassPart, ClassSample, sample_classes
from redisson_dq.web.masks import Masks
from redisson_dq.web.ticks import TimeTick, ticks
from redisson_dq.web.times import moment_ms

__all__ = ["MOST_SPANS", "DueSpan", "TimelineView", "Zoom", "timeline"]

#: The most spans that a script counts, each by two ZCOUNTs. Six more count the rest.
MOST_SPANS = 56
#: How many values are read for their classes, and how many bytes of each.
MOST_SHOWN, HEAD = 224, 256
_S, _M, _H, _D = 1000, 60_000, 3_600_000, 86_400_000
#: Widths of spans in ms.
_WIDTHS = (
    *(_S, 2 * _S, 5 * _S, 10 * _S, 15 * _S, 30 * _S),
    *(_M, 2 * _M, 5 * _M, 10 * _M, 15 * _M, 30 * _M),
    *(_H, 2 * _H, 3 * _H, 6 * _H, 12 * _H, _D, 2 * _D, 7 * _D, 14 * _D, 30 * _D, 91 * _D, 365 * _D, 3650 * _D),
)
_ZOOMS = (
    ("1 minute", _M),
    ("10 minutes", 10 * _M),
    ("1 hour", _H),
    ("1 day", _D),
    ("1 week", 7 * _D),
    ("30 days", 30 * _D),
    ("1 year", 365 * _D),
    ("10 years", 3650 * _D),
)
# By default at least this much is shown.
_LEAST = _M
_LAST_MS = 253402300799999


@attrs.frozen(kw_only=True)
class DueSpan:
    """The items that are due from ``start`` on and before ``end``. ``height`` is a share of the largest, 0 to 100.

    ``is_overdue``: their time has passed. ``is_now``: the span contains the present, and ``overdue`` of them are
    already due. ``from_ms`` and ``to_ms`` are the ends as the items page takes them. ``parts`` has the classes in a
    sample of its values, empty if none is known.
    """

    start: datetime
    end: datetime
    from_ms: int
    to_ms: int
    count: int
    overdue: int
    height: float
    is_overdue: bool
    is_now: bool
    parts: tuple[ClassPart, ...] = ()


@attrs.frozen(kw_only=True)
class Zoom:
    """A selectable range, relative to now, with ``from`` and ``to`` for the query."""

    label: str
    from_: str
    to: str
    is_current: bool


@attrs.frozen(kw_only=True)
class TimelineView:
    """The spans of a queue from ``start`` to ``end``, of ``step`` each.

    ``overdue`` counts all items whose time has passed, wherever the range is, and ``late_by`` is how long the first one
    has been due. ``before`` counts the items before the range, ``later`` those after it, ``total`` all. ``first`` and
    ``last`` are the first and the last due time, None without items. ``from_ms``, ``to_ms`` and ``now_ms`` are the
    range and Redis's clock in epoch ms. ``earlier`` and ``next`` are the ranges beside this one, as pairs of ``from``
    and ``to``; ``wider`` and ``closer`` those around it and in its middle. ``from_`` and ``to`` are the query's texts.
    ``ticks`` are whole hours, days or the like. ``classes`` are the marks of the classes in the spans, by ``sampled``
    values of them. ``has_unknown``: the class of some values is not known.
    """

    queue: str
    now: datetime
    start: datetime
    end: datetime
    step: timedelta
    now_ms: int
    from_ms: int
    to_ms: int
    step_ms: int
    from_: str
    to: str
    spans: tuple[DueSpan, ...]
    largest: int
    overdue: int
    late_by: timedelta
    before: int
    later: int
    total: int
    first: datetime | None
    last: datetime | None
    zooms: tuple[Zoom, ...]
    earlier: tuple[int, int]
    next: tuple[int, int]
    wider: tuple[int, int]
    closer: tuple[int, int]
    ticks: tuple[TimeTick, ...]
    classes: tuple[ClassMark, ...]
    sampled: int
    has_unknown: bool


def timeline(
    client: Client, queue: str, partitions: int | None, masks: Masks, from_: str = "", to: str = ""
) -> TimelineView:
    """The view. ``from_`` and ``to`` are epoch ms, ISO 8601, or spans from now on such as ``-1h``, ``now``, ``+30d``.

    By default the range has all future items, and overdue items of a period of the same length. One read-only script
    for each partition, and one more without ``to``. It also reads the first bytes of some values, whose classes colour
    the spans.

    Raises ArgumentError, RedisConnectionError, RedisReplyError.
    """
    admin = Admin(client)
    parts = admin.parts(queue, partitions)
    first = None if to and not _is_relative(from_, to) else _counted(admin, parts, ())
    now_ms = 0 if first is None else first.now_us // 1000
    start = moment_ms(from_, now_ms) if from_ else now_ms
    if to:
        end = moment_ms(to, now_ms)
    else:
        assert first is not None
        # Up to the last item, with some room after it.
        end = max(start + _LEAST, math.ceil(_in_calendar(first.last_ms)) + 1)
        if not from_ and first.first_ms is not None:
            start = _with_overdue(first, now_ms, end)
    start, end = max(0, start), min(end, _LAST_MS)
    if end <= start:
        raise ArgumentError(f"a timeline ends after its beginning, and {to!r} is not after {from_!r}")
    width = next((each for each in _WIDTHS if _count(start, end, each) <= MOST_SPANS), None)
    if width is None:
        width = -(-(end - start) // (MOST_SPANS - 1))
    begin = start // width * width
    edges = [begin + i * width for i in range(_count(start, end, width) + 1)]
    found = _counted(admin, parts, edges)
    return _view(queue, edges, width, found, sample_classes(masks.reader(), found.shown, found.counts), from_, to)


def _with_overdue(found: DueSpans, now_ms: int, end: int) -> int:
    """The beginning of the range. An item that is months overdue must leave room for future items."""
    first, last = math.floor(_in_calendar(found.first_ms)), _in_calendar(found.last_ms)
    return min(now_ms, first if last <= now_ms else max(first, now_ms - max(end - now_ms, _H)))


def _in_calendar(ms: float | None) -> float:
    """The nearest time within the calendar's range. A score may be infinite."""
    return max(0.0, min(ms or 0.0, _LAST_MS))


def _count(start: int, end: int, width: int) -> int:
    return -(-(end - start // width * width) // width)


def _is_relative(from_: str, to: str) -> bool:
    return not from_ or from_[:1] in "+-n" or to[:1] in "+-n"


def _counted(admin: Admin, queues: Sequence[AdminQueue], edges: Sequence[int]) -> DueSpans:
    """The sums of all partitions."""
    shown = -(-MOST_SHOWN // len(queues))
    parts = admin.due_spans(queues, edges, shown, HEAD)
    firsts = [each.first_ms for each in parts if each.first_ms is not None]
    lasts = [each.last_ms for each in parts if each.last_ms is not None]
    return DueSpans(
        now_us=max(each.now_us for each in parts),
        total=sum(each.total for each in parts),
        overdue=sum(each.overdue for each in parts),
        before=sum(each.before for each in parts),
        counts=tuple(map(sum, zip(*(each.counts for each in parts), strict=True))),
        later=sum(each.later for each in parts),
        first_ms=min(firsts, default=None),
        last_ms=max(lasts, default=None),
        shown=tuple(each for part in parts for each in part.shown),
    )


def _view(
    queue: str, edges: list[int], width: int, found: DueSpans, classes: ClassSample, from_: str, to: str
) -> TimelineView:
    now_ms = found.now_us // 1000
    largest = max(found.counts, default=0)
    spans = []
    # The overdue items that are not in the spans before the current one.
    left = found.overdue - found.before
    for i, (begin, end, count) in enumerate(zip(edges[:-1], edges[1:], found.counts, strict=True)):
        is_now = begin <= now_ms < end
        overdue = count if end <= now_ms else max(0, min(count, left)) if is_now else 0
        left -= count
        spans.append(
            DueSpan(
                start=from_ms(begin),
                end=from_ms(end),
                from_ms=begin,
                to_ms=end,
                count=count,
                overdue=overdue,
                height=round(100 * count / largest, 2) if largest else 0.0,
                is_overdue=end <= now_ms,
                is_now=is_now,
                parts=classes.parts.get(i, ()),
            )
        )
    start, end = edges[0], edges[-1]
    size = end - start
    zooms = [Zoom(label="all", from_="", to="", is_current=not from_ and not to)]
    for label, ms in _ZOOMS:
        text = f"+{ms // 1000}s"
        zooms.append(Zoom(label=label, from_="now", to=text, is_current=from_ == "now" and to == text))
    first, late = found.first_ms, timedelta(0)
    if first is not None and first <= now_ms:
        late = timedelta(milliseconds=now_ms - max(0, first))
    return TimelineView(
        queue=queue,
        now=from_ms(now_ms),
        start=from_ms(start),
        end=from_ms(min(end, _LAST_MS)),
        step=timedelta(milliseconds=width),
        now_ms=now_ms,
        from_ms=start,
        to_ms=end,
        step_ms=width,
        from_=from_,
        to=to,
        spans=tuple(spans),
        largest=largest,
        overdue=found.overdue,
        late_by=late,
        before=found.before,
        later=found.later,
        total=found.total,
        first=_time(found.first_ms),
        last=_time(found.last_ms),
        zooms=tuple(zooms),
        earlier=_range(start - size, end - size),
        next=_range(start + size, end + size),
        wider=_range(start - size // 2, end + size // 2),
        closer=_range(start + size // 4, max(end - size // 4, start + size // 4 + 1000)),
        ticks=ticks(start, end),
        classes=classes.marks,
        sampled=classes.count,
        has_unknown=any(each.count and not (each.parts and all(part.number for part in each.parts)) for each in spans),
    )


def _range(start: int, end: int) -> tuple[int, int]:
    start = max(0, min(start, _LAST_MS - 1))
    return start, max(start + 1, min(end, _LAST_MS))


def _time(ms: float | None) -> datetime | None:
    """None for a time outside the calendar's range."""
    return None if ms is None or not 0 <= ms <= _LAST_MS else datetime.fromtimestamp(ms / 1000, timezone.utc)
