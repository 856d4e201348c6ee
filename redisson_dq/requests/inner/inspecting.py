"""The request that tells all about a queue, and the sum of several results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from redisson_dq._times import from_ms, from_optional_ms
from redisson_dq.inspection import KeyInspection, Mover, QueueInspection
from redisson_dq.wire import calls
from redisson_dq.wire.calls import Inspected, LeaseKeys
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.forms import FORMS
from redisson_dq.wire.request import Request

__all__ = ["inspection", "together"]

T = TypeVar("T")

# The keys that hold the queue's own values. Others come and go, and have times to live of ours.
_VALUES = ("ready", "timeout", "envelopes", "capacity")

_MOVER = re.compile(rb"(\S+) (\d+) (\d+)")

# Counts that are the sizes of keys.
_SIZES = {
    "ready": "ready",
    "mirrored": "envelopes",
    "arrivals": "arrivals",
    "dead": "dead",
    "undecodable": "undecodable",
    "quarantined": "quarantine",
    "newer": "newer",
    "recurring": "recurring_due",
    "remembered": "forget",
    "histories": "histories",
    "handled": "handled",
}
# Counts that the script tells by these names.
_TOLD = ("overdue", "turns", "waiting_for_slots", "slots")
# A queue in partitions has the sums of these.
_COUNTS = (*_SIZES, *_TOLD, "waiting", "in_flight", "expired")


def inspection(name: str, keys: LeaseKeys) -> Request[QueueInspection]:
    """``name`` is the queue's before the name mapper."""
    return calls.inspect(keys).then(lambda found: _told(name, found))


def together(name: str, found: Sequence[QueueInspection]) -> QueueInspection:
    """The result for a queue in partitions, from the results for each partition."""
    # Partitions may share one list of dead letters.
    keys = {key.key: key for each in found for key in each.keys}
    counts: dict[str, Any] = {count: sum(getattr(each, count) for each in found) for count in _COUNTS}
    counts["dead"] = sum(key.size for key in keys.values() if key.role == "dead")
    return QueueInspection(
        name=name,
        server_time=min(each.server_time for each in found),
        **counts,
        next_due=_first(found, lambda each: each.next_due),
        late_by=max(each.late_by for each in found),
        next_deadline=_first(found, lambda each: each.next_deadline),
        next_recurring=_first(found, lambda each: each.next_recurring),
        ready_since=_first(found, lambda each: each.ready_since),
        expires=_first(found, lambda each: each.expires),
        is_paused=any(each.is_paused for each in found),
        subscribers=min(_known(each.subscribers for each in found), default=None),
        entry_kinds=tuple(sorted({kind for each in found for kind in each.entry_kinds})),
        newer_forms=tuple(sorted({form for each in found for form in each.newer_forms})),
        memory=_memory(list(keys.values())),
        keys=tuple(keys.values()),
        partitions=tuple(found),
    )


def _first(found: Sequence[QueueInspection], time_of: Callable[[QueueInspection], datetime | None]) -> datetime | None:
    return min(_known(map(time_of, found)), default=None)


def _known(values: Any) -> list[Any]:
    return [value for value in values if value is not None]


def _memory(keys: Sequence[KeyInspection]) -> int | None:
    known = _known(key.memory for key in keys)
    return sum(known) if len(known) == len(keys) else None


def _told(name: str, found: Inspected) -> QueueInspection:
    figures = found.figures
    keys = tuple(
        KeyInspection(
            role=each.role,
            key=each.key,
            type=each.found,
            expected=each.expected,
            size=each.size,
            expires=from_optional_ms(each.vanishes_ms),
            memory=each.bytes,
        )
        for each in found.keys
    )
    by_role = {key.role: key for key in keys}
    counts: dict[str, Any] = {count: by_role[role].size for count, role in _SIZES.items() if role in by_role}
    counts |= {count: figures.get(count, 0) for count in _TOLD}
    held = figures.get("held", 0)
    waiting = max(0, by_role["timeout"].size - held) if "timeout" in by_role else 0
    head_ms = _score(figures.get("head"))
    # A time before 1970 is nobody's due time, and may be too early for a timedelta.
    late_us = 0 if head_ms is None else max(0, found.now_us - max(0, head_ms) * 1000)
    ends = [by_role[role].expires for role in _VALUES if role in by_role]
    return QueueInspection(
        name=name,
        server_time=from_ms(0) + timedelta(microseconds=found.now_us),
        **counts,
        waiting=waiting,
        in_flight=held,
        expired=_number(figures.get("expired")) or 0,
        next_due=_moment(figures.get("next")),
        late_by=timedelta(microseconds=late_us),
        next_deadline=_moment(figures.get("deadline")),
        next_recurring=_moment(figures.get("recurring")),
        ready_since=_moment(figures.get("since")),
        expires=min(_known(ends), default=None),
        is_paused="paused" in figures,
        max_size=_number(figures.get("max_size")),
        remaining_capacity=_number(figures.get("room")),
        subscribers=figures.get("subscribers"),
        mover=_mover(figures.get("mover"), by_role.get("mover")),
        entry_kinds=tuple(sorted(kind.decode() for kind in figures.get("kinds", ()))),
        newer_forms=_newer_forms(figures),
        memory=_memory(keys),
        keys=keys,
    )


def _score(score: bytes | int | None) -> int | None:
    return None if score is None else whole_ms(b"%d" % score if isinstance(score, int) else score)


def _moment(score: bytes | int | None) -> datetime | None:
    return from_optional_ms(_score(score))


def _number(text: bytes | None) -> int | None:
    """The number in a text; None where something else wrote the text."""
    return int(text) if text is not None and re.fullmatch(rb"-?\d{1,18}", text) else None


def _mover(text: bytes | None, key: KeyInspection | None) -> Mover | None:
    read = None if text is None else _MOVER.fullmatch(text)
    if read is None or key is None:
        return None
    return Mover(client=read[1].decode(errors="replace"), moved=from_ms(int(read[2]) // 1000), until=key.expires)


def _newer_forms(figures: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    told = figures.get("newer", ())
    forms = {role.decode(): int(form) for role, form in zip(told[::2], told[1::2], strict=True)}
    try:
        form = json.loads(figures.get("rule", b"{}")).get("v", 1)
    except (ValueError, AttributeError):
        # Something else wrote it.
        form = 1
    if isinstance(form, int) and form > FORMS["recurring"].reads:
        forms["recurring"] = form
    return tuple(sorted(forms.items()))
