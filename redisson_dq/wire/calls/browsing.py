"""The calls that show one page of items in some state, each with the number of all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from redisson_dq.wire.calls.base import call, call_on
from redisson_dq.wire.keys import LeaseKeys, QueueKeys
from redisson_dq.wire.request import Request

__all__ = [
    "DueSpans",
    "FoundPage",
    "Timeline",
    "browse_dead",
    "browse_held",
    "browse_list",
    "browse_parked",
    "browse_waiting",
    "due_spans",
    "timeline",
]


@attrs.frozen
class FoundPage:
    """The reply: the server's time, how many there are in all, the rows as the script returns them.

    ``following`` is where the next page begins: (score, beginning of a member), or an index. None at the end.
    """

    now_us: int
    count: int
    rows: list[list[Any]]
    following: tuple[bytes, bytes] | int | None


@attrs.frozen
class Timeline:
    """Entries that wait by their due times: overdue, within each span after the one before, later.

    ``late_ms`` is the lateness of the overdue ones at 50, 90, 99 and 100 percent. It is empty where none is overdue.
    """

    now_us: int
    counts: tuple[int, ...]
    late_ms: tuple[int, ...]


@attrs.frozen
class DueSpans:
    """How many entries wait: in all, overdue, before the first edge, in each span, from the last edge on.

    ``first_ms`` and ``last_ms`` are the scores of the first and the last entry, a lease's deadline among them.
    ``shown`` are some entries: the index of the span, the size of the value, its first bytes.
    """

    now_us: int
    total: int
    overdue: int
    before: int
    counts: tuple[int, ...]
    later: int
    first_ms: float | None
    last_ms: float | None
    shown: tuple[tuple[int, int, bytes], ...] = ()


def _by_score(reply: list[Any]) -> FoundPage:
    now_us, count, rows, score, member = reply
    return FoundPage(now_us, count, rows, None if score is None else (score, member))


def _by_index(reply: list[Any]) -> FoundPage:
    return FoundPage(*reply)


def browse_waiting(keys: QueueKeys, behind: tuple[bytes, bytes] | None, most: int, head: int) -> Request[FoundPage]:
    """At most ``most`` entries that wait after the entry ``behind``, with at most ``head`` bytes of each value."""
    return call("browse_waiting", keys, (*(behind or (b"", b"")), most, head), _by_score)


def browse_parked(keys: QueueKeys, behind: tuple[bytes, bytes] | None, most: int, head: int) -> Request[FoundPage]:
    """At most ``most`` values that limits by key have parked, after the one ``behind``, the longest parked first."""
    return call("browse_parked", keys, (*(behind or (b"", b"")), most, head), _by_score)


def browse_held(keys: QueueKeys, behind: tuple[bytes, bytes] | None, most: int, head: int) -> Request[FoundPage]:
    """At most ``most`` leases after the lease ``behind``, with at most ``head`` bytes of each value."""
    return call("browse_held", keys, (*(behind or (b"", b"")), most, head), _by_score)


def browse_list(key: str, first: int, most: int, head: int) -> Request[FoundPage]:
    """At most ``most`` elements of a list from the index ``first``, with at most ``head`` bytes of each."""
    return call_on("browse_list", {key: "list"}, (first, most, head), _by_index)


def browse_dead(keys: LeaseKeys, first: int, most: int, head: int) -> Request[FoundPage]:
    """At most ``most`` dead letters from the index ``first``, with at most ``head`` bytes of each value."""
    return call("browse_dead", keys, (first, most, head), _by_index)


def timeline(keys: QueueKeys, spans_ms: Iterable[int]) -> Request[Timeline]:
    """How many entries are due within each span from now on. ``spans_ms`` are their ends, ascending."""
    return call("timeline", keys, spans_ms, lambda reply: Timeline(reply[0], tuple(reply[1]), tuple(reply[2])))


def due_spans(
    keys: QueueKeys, edges_ms: Iterable[int], *, shown: int = 0, head: int = 0, turn: int = 0
) -> Request[DueSpans]:
    """How many entries are due from each edge on and before the next one. Edges are epoch ms, ascending.

    At most ``shown`` entries are shown, with ``head`` bytes of each value. Where more spans than that have entries,
    every n-th of them is shown, and ``turn`` says the first one.
    """
    return call("due_spans", keys, (shown, head, turn, *edges_ms), _due_spans)


def _due_spans(reply: list[Any]) -> DueSpans:
    now_us, total, overdue, counts, first, last, shown = reply
    before, *spans, later = counts or (0, 0)
    first_ms, last_ms = (None if score is None else float(score) for score in (first, last))
    entries = tuple((span - 1, size, data) for span, size, data in zip(*[iter(shown)] * 3, strict=True))
    return DueSpans(now_us, total, overdue, before, tuple(spans), later, first_ms, last_ms, entries)
