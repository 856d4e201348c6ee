"""Actions on many entries at once, each as a walk has met it, and their undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs

from redisson_dq.wire.calls.base import call
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import LeaseKeys, QueueKeys
from redisson_dq.wire.request import Request, Word

__all__ = [
    "ALONE",
    "ASIDE_ACTIONS",
    "Aside",
    "AsideAction",
    "AsideKind",
    "FoundAnywhere",
    "Mended",
    "Met",
    "MetPart",
    "UNKNOWN_PLACE",
    "WaitingAction",
    "mend",
    "mend_ack",
    "mend_aside",
    "mend_find",
    "mend_letters",
    "mend_walk",
    "unmend",
    "unmend_aside",
    "unrelease",
]

WaitingAction = Literal["cancel", "to", "by"]
AsideKind = Literal["dead", "quarantine", "undecodable"]
AsideAction = Literal["purge", "redrive", "values", "add"]
ASIDE_ACTIONS: tuple[AsideAction, ...] = ("purge", "redrive", "values", "add")

#: The place of an entry that is only in the timeout zset, and of one whose place is unknown.
ALONE, UNKNOWN_PLACE = -1, -2


@attrs.frozen
class Met:
    """One waiting entry as a walk has met it, with the texts that are known of it.

    ``score`` is the due time as Redis returns it. ``item`` is the id of the entry that the item was offered with.
    ``record`` and ``delivery`` are the records of item and delivery, ``deadline`` that of a lease that is over.
    ``value`` is the value by which a side table knows the item.
    """

    member: bytes
    score: bytes
    place: int
    item: bytes = b""
    state: str = "waiting"
    attempts: int = 0
    record: bytes = b""
    delivery: bytes = b""
    deadline: bytes = b""
    value: bytes = b""


@attrs.frozen
class MetPart:
    """The entries of one call of a walk. ``cursor`` is for the next call, and empty at the end."""

    now_us: int
    cursor: bytes
    met: tuple[Met, ...]


@attrs.frozen
class FoundAnywhere:
    """Where one item is, and since or until when. ``met`` is its entry, if it waits."""

    now_us: int
    state: str
    due_ms: int
    met: Met | None


@attrs.frozen
class Mended:
    """The script's word for each entry, and how far entries are before the places that a walk reported."""

    now_us: int
    outcomes: tuple[str, ...]
    shift: int = 0


@attrs.frozen(kw_only=True)
class Aside:
    """One dead letter with its id and its record, one quarantined element, or one undecodable value."""

    element: bytes
    id: bytes = b""
    info: bytes = b""


def mend_letters(keys: LeaseKeys, values: Sequence[tuple[str, int]]) -> Request[list[tuple[bytes, bytes]]]:
    """Id and record of dead letters, each given by the digest of its value, and how many equal ones are before it."""
    args = [word for pair in values for word in pair]
    return call("mend_letters", keys, args, lambda reply: [(id, info) for id, info in reply])


def mend_walk(keys: QueueKeys, cursor: bytes) -> Request[MetPart]:
    """A part of a walk through all waiting items; ``cursor`` is empty at the beginning."""
    return call("mend_walk", keys, (cursor,), _met_part)


def _met_part(reply: list[Any]) -> MetPart:
    now_us, cursor, rows, told = reply
    known = {number: texts for number, *texts in zip(*[iter(told)] * 8, strict=True)}
    met = []
    for number, (member, score, place) in enumerate(zip(*[iter(rows)] * 3, strict=True)):
        item, state, *more = known.get(number, (b"", b"waiting"))
        met.append(Met(member, score, place, item, state.decode(), *more))
    return MetPart(now_us, cursor, tuple(met))


def mend_find(keys: LeaseKeys, item: tuple[Word, Word, Word], remember_ms: int) -> Request[FoundAnywhere]:
    """One item, wherever it is. ``item`` are the words of a ``Target``."""
    return call("mend_find", keys, (*item, remember_ms), _found)


def _found(reply: list[Any]) -> FoundAnywhere:
    now_us, state, due, *rest = reply
    met = None
    if rest:
        member, score, item, *more = rest
        met = Met(member, score, UNKNOWN_PLACE, item, state.decode(), *more)
    return FoundAnywhere(now_us, state.decode(), int(due), met)


def mend(
    keys: LeaseKeys,
    nonce: bytes,
    action: WaitingAction,
    ms: int,
    remember_ms: int,
    entries: Sequence[Met],
    shift: int = 0,
) -> Request[Mended]:
    """Cancels entries, or gives them the due time ``ms``, or one that is ``ms`` later. Safe to repeat."""
    args: list[Word] = [nonce, action, ms, remember_ms, shift]
    for each in entries:
        args += (each.member, each.score, each.place)
    return call("mend", keys, args, _mended, repeatable=True)


def unmend(
    keys: QueueKeys, nonce: bytes, action: WaitingAction, remember_ms: int, entries: Sequence[tuple[Met, str]]
) -> Request[Mended]:
    """Takes ``mend`` back; each entry is given with its score after ``mend``. Safe to repeat."""
    args: list[Word] = [nonce, "cancel" if action == "cancel" else "due", remember_ms]
    for met, given in entries:
        entry, _ = unwrap(met.member)
        is_listed = met.place >= 0 or (met.place == UNKNOWN_PLACE and len(entry) == 8 and not met.deadline)
        args += (met.member, met.score, given, 1 if is_listed else 0, met.item or entry)
        args += (met.record, met.delivery, met.deadline, met.value)
    return call("unmend", keys, args, _mended)


def mend_aside(
    keys: LeaseKeys, nonce: bytes, kind: AsideKind, action: AsideAction, remember_ms: int, elements: Sequence[Aside]
) -> Request[Mended]:
    """Purges elements that are set aside, or gives them to the queue again. "add" sets ready values aside as
    undecodable. Safe to repeat."""
    args: list[Word] = [nonce, kind, action, remember_ms]
    for each in elements:
        args += (each.element, each.id)
    return call("mend_aside", keys, args, _mended, repeatable=True)


def unmend_aside(
    keys: LeaseKeys, nonce: bytes, kind: AsideKind, action: AsideAction, elements: Sequence[Aside]
) -> Request[Mended]:
    """Takes ``mend_aside`` back. Safe to repeat."""
    args: list[Word] = [nonce, kind, action]
    for each in elements:
        args += (each.element, each.id, each.info)
    return call("unmend_aside", keys, args, _mended, repeatable=True)


def mend_ack(keys: LeaseKeys, nonce: bytes, ids: Sequence[bytes]) -> Request[Mended]:
    """Ends leases of any holder for good. The request may be repeated: it is done once."""
    return call("mend_ack", keys, (nonce, *ids), _mended, repeatable=True)


def unrelease(keys: QueueKeys, nonce: bytes, leases: Sequence[tuple[bytes, int, bytes, bytes]]) -> Request[Mended]:
    """Holds leases again that were given back: id, deadline in ms, record and value of each. Done once per nonce."""
    args: list[Word] = [nonce]
    for lease in leases:
        args += lease
    return call("unrelease", keys, args, _mended)


def _mended(reply: list[Any]) -> Mended:
    now_us, outcomes, *shift = reply
    return Mended(now_us, tuple(each.decode() for each in outcomes), *shift)
