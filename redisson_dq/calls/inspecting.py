"""The requests that describe a queue, in full or only its figures, and the sum of several results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from redisson_dq.inspection import QueueInspection
from redisson_dq.scheduling.times import from_ms, from_optional_ms
from redisson_dq.stats import KeyInspection, Mover, QueueStats
from redisson_dq.wire.calls.base import call, prepared
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.forms import FORMS
from redisson_dq.wire.keys import LeaseKeys
from redisson_dq.wire.request import Request

__all__ = ["figures", "figures_together", "inspection", "together"]

T = TypeVar("T", bound=QueueStats)
_Told = dict[str, Any]

# The keys that hold the queue's own values. The other keys come and go, and the library sets their times to live.
_VALUES = ("ready", "timeout", "envelopes", "capacity")

_MOVER = re.compile(rb"(\S+) (\d+) (\d+)")

# Counts that are the sizes of keys.
_SIZES = {
    "ready": "ready",
    "dead": "dead",
    "undecodable": "undecodable",
    "quarantined": "quarantine",
    "recurring": "recurring_due",
}
# A queue in partitions has the sums of these.
_COUNTS = (*_SIZES, "waiting", "parked", "lean", "overdue", "in_flight", "expired", "missed")
# Those that only an inspection has, and counts that its script returns under these names.
_MORE_SIZES = {
    "mirrored": "envelopes",
    "arrivals": "arrivals",
    "newer": "newer",
    "remembered": "forget",
    "histories": "histories",
    "handled": "handled",
}
_MORE_TOLD = ("turns", "waiting_for_slots", "slots")


def figures(name: str, keys: LeaseKeys) -> Request[QueueStats]:
    """The figures of a queue. ``name`` is that before the name mapper."""
    return _asked("stats", keys, lambda *found: QueueStats(**_figures(name, *found)))


def inspection(name: str, keys: LeaseKeys) -> Request[QueueInspection]:
    """All about a queue. ``name`` is that before the name mapper."""
    return _asked("inspect", keys, lambda *found: _inspection(name, *found))


def _asked(name: str, keys: LeaseKeys, made: Callable[[int, tuple[KeyInspection, ...], _Told], T]) -> Request[T]:
    """``made`` is called with the server's time in us, the keys that are there, and figures by their names in the
    script. A figure is missing where it is unknown. ``stats`` gives neither the memory nor the ends of keys.
    """
    script, (_, *names), _, type_of = prepared(name, keys)
    # The channel has no type.
    types = [type_of.get(str(key), "") for key in names]

    def parsed(reply: list[Any]) -> T:
        now_us, rows, told = reply
        found = []
        for number, kind, size, *more in rows:
            # The time at which it vanishes, and its bytes in memory: below zero for none.
            vanishes_ms, memory = (None if each < 0 else each for each in more or (-1, -1))
            found.append(
                KeyInspection(
                    role=script.keys[number - 1],
                    key=str(names[number - 1]),
                    type=kind.decode(),
                    expected=types[number - 1],
                    size=size,
                    expires=from_optional_ms(vanishes_ms),
                    memory=memory,
                )
            )
        figures = {name.decode(): figure for name, figure in zip(told[::2], told[1::2], strict=True)}
        return made(now_us, tuple(found), figures)

    return call(name, keys, types, parsed)


def figures_together(name: str, found: Sequence[QueueStats]) -> QueueStats:
    """The figures of a queue, or of all its partitions."""
    if _is_whole(name, found):
        return found[0]
    return QueueStats(**_sums(name, found, _COUNTS))


def together(name: str, found: Sequence[QueueInspection]) -> QueueInspection:
    """The result for a queue, or for all its partitions."""
    if _is_whole(name, found):
        return found[0]
    sums = _sums(name, found, (*_COUNTS, *_MORE_SIZES, *_MORE_TOLD))
    return QueueInspection(
        **sums,
        next_deadline=_first(found, lambda each: each.next_deadline),
        next_recurring=_first(found, lambda each: each.next_recurring),
        ready_since=_first(found, lambda each: each.ready_since),
        remembered_until=max(_known(each.remembered_until for each in found), default=None),
        expires=_first(found, lambda each: each.expires),
        entry_kinds=tuple(sorted({kind for each in found for kind in each.entry_kinds})),
        newer_forms=tuple(sorted({form for each in found for form in each.newer_forms})),
        memory=_memory(sums["keys"]),
        partitions=tuple(found),
    )


def _is_whole(name: str, found: Sequence[QueueStats]) -> bool:
    # A partition has a name of its own.
    return len(found) == 1 and found[0].name == name


def _sums(name: str, found: Sequence[QueueStats], counts: Iterable[str]) -> dict[str, Any]:
    # Partitions may share one list of dead letters.
    keys = {key.key: key for each in found for key in each.keys}
    return {
        "name": name,
        "server_time": min(each.server_time for each in found),
        **{count: sum(getattr(each, count) for each in found) for count in counts},
        "dead": sum(key.size for key in keys.values() if key.role == "dead"),
        "last_received": max(_known(each.last_received for each in found), default=None),
        "next_due": _first(found, lambda each: each.next_due),
        "late_by": max(each.late_by for each in found),
        "is_paused": any(each.is_paused for each in found),
        "subscribers": min(_known(each.subscribers for each in found), default=None),
        "keys": tuple(keys.values()),
    }


def _first(found: Sequence[T], time_of: Callable[[T], datetime | None]) -> datetime | None:
    return min(_known(map(time_of, found)), default=None)


def _known(values: Any) -> list[Any]:
    return [value for value in values if value is not None]


def _memory(keys: Sequence[KeyInspection]) -> int | None:
    known = _known(key.memory for key in keys)
    return sum(known) if len(known) == len(keys) else None


def _figures(name: str, now_us: int, keys: tuple[KeyInspection, ...], told: _Told) -> dict[str, Any]:
    size_of = {key.role: key.size for key in keys}
    is_wrong = {key.role for key in keys if key.is_wrong}
    held = told.get("held", 0)
    waiting = max(0, size_of.get("timeout", 0) - held)
    head_ms = _score(told.get("head"))
    # A time before 1970 is not a valid due time, and may be too early for a timedelta.
    late_us = 0 if head_ms is None else max(0, now_us - max(0, head_ms) * 1000)
    return {
        "name": name,
        "server_time": from_ms(0) + timedelta(microseconds=now_us),
        **{count: size_of.get(role, 0) for count, role in _SIZES.items()},
        "waiting": waiting,
        # Whatever waits is in both keys, or is lean.
        "lean": 0 if "envelopes" in is_wrong else max(0, waiting - size_of.get("envelopes", 0)),
        "parked": told.get("parked", 0),
        "overdue": told.get("overdue", 0),
        "in_flight": held,
        "last_received": _moment(told.get("last_receipt")),
        "expired": _number(told.get("expired")) or 0,
        "missed": _number(told["missed"].split(b" ")[0]) or 0 if "missed" in told else 0,
        "next_due": _moment(told.get("next")),
        "late_by": timedelta(microseconds=late_us),
        "is_paused": "paused" in told,
        "subscribers": told.get("subscribers"),
        "mover": _mover(told.get("mover"), told.get("mover_until", -1)),
        "keys": keys,
    }


def _inspection(name: str, now_us: int, keys: tuple[KeyInspection, ...], told: _Told) -> QueueInspection:
    base = _figures(name, now_us, keys, told)
    by_role = {key.role: key for key in base["keys"]}
    more = {count: by_role[role].size for count, role in _MORE_SIZES.items() if role in by_role}
    more |= {count: told.get(count, 0) for count in _MORE_TOLD}
    ends = [by_role[role].expires for role in _VALUES if role in by_role]
    return QueueInspection(
        **base,
        **more,
        next_deadline=_moment(told.get("deadline")),
        next_recurring=_moment(told.get("recurring")),
        ready_since=_moment(told.get("since")),
        remembered_until=_moment(told.get("remembered_until")),
        expires=min(_known(ends), default=None),
        max_size=_number(told.get("max_size")),
        remaining_capacity=_number(told.get("room")),
        entry_kinds=tuple(sorted(kind.decode() for kind in told.get("kinds", ()))),
        newer_forms=_newer_forms(told),
        memory=_memory(base["keys"]),
    )


def _score(score: bytes | int | None) -> int | None:
    return None if score is None else whole_ms(b"%d" % score if isinstance(score, int) else score)


def _moment(score: bytes | int | None) -> datetime | None:
    return from_optional_ms(_score(score))


def _number(text: bytes | None) -> int | None:
    """The number in a text; None where another program wrote the text."""
    return int(text) if text is not None and re.fullmatch(rb"-?\d{1,18}", text) else None


def _mover(text: bytes | None, until_ms: int) -> Mover | None:
    read = None if text is None else _MOVER.fullmatch(text)
    if read is None:
        return None
    until = None if until_ms < 0 else from_ms(until_ms)
    return Mover(client=read[1].decode(errors="replace"), moved=from_ms(int(read[2]) // 1000), until=until)


def _newer_forms(told: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    met = told.get("newer", ())
    forms = {role.decode(): int(form) for role, form in zip(met[::2], met[1::2], strict=True)}
    try:
        form = json.loads(told.get("rule", b"{}")).get("v", 1)
    except (ValueError, AttributeError):
        # Another program wrote it.
        form = 1
    if isinstance(form, int) and form > FORMS["recurring"].reads:
        forms["recurring"] = form
    return tuple(sorted(forms.items()))
