"""Single items: found, listed, cancelled, given another due time."""

from __future__ import annotations

from typing import Any

import attrs

from redisson_dq.errors import EnvelopeError
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import LeaseKeys, QueueKeys
from redisson_dq.wire.leases import LeaseRecord
from redisson_dq.wire.request import Request, Word

__all__ = ["Found", "Page", "Target", "find_item", "items"]


@attrs.frozen
class Found:
    """One item: id and value of its entry, due time, id of the caller's if it has one.

    ``state`` says where it is, ``attempts`` how often it was delivered.

    For an entry in no known format ``entry`` is empty, and ``data`` is all of it.
    """

    entry: bytes
    data: bytes
    due_ms: int | None
    given_id: str | None
    state: str = "waiting"
    attempts: int = 0
    #: The due time with which its entry was offered, where ``due_ms`` is that of another one.
    offered_ms: int | None = None
    #: The size of the value, of which ``data`` may be the beginning.
    size: int | None = None
    #: The record of its deliveries, where there is one and :func:`find_item` has read it.
    record: LeaseRecord | None = None


@attrs.frozen
class Page:
    """Items, and the server's time when they were read.

    ``is_cut``: more follow them in the wanted page, which is too large for one reply.
    """

    now_us: int
    found: tuple[Found, ...]
    is_cut: bool = False


@attrs.frozen(kw_only=True)
class Target:
    """The item a call names: by the caller's id, by its payload's key, or by the entry's id and a due time.

    That is the due time it was offered with, or any later one: a record says where a rescheduled entry is.
    """

    given_id: str | None = None
    entry: bytes = b""
    due_ms: int | None = None
    payload: str = ""

    def words(self) -> tuple[Word, Word, Word]:
        """The first three arguments of a script that looks for it."""
        key = self.payload if self.given_id is None else f"i{self.given_id}"
        return key, self.entry, "" if self.due_ms is None else self.due_ms


def find_item(keys: LeaseKeys, target: Target, head: int | None = None) -> Request[Page]:
    """A page of one item, or of none. ``head`` is how many bytes of its value are returned."""
    return call("find_item", keys, (*target.words(), -1 if head is None else head), _found_item)


def _text(given: bytes) -> str:
    """An id as it is stored in its item's record. Another program may have written the record."""
    return given.decode(errors="backslashreplace")


def _found_item(reply: list[Any]) -> Page:
    now_us, *rest = reply
    if not rest:
        return Page(now_us, ())
    entry, offered_ms, data, key, state, due_ms, text, size = rest
    given_id = _text(key[1:]) if key.startswith(b"i") else None
    record = LeaseRecord.parse(text) if text else None
    attempts = 0 if record is None else record.attempt
    return Page(now_us, (Found(entry, data, due_ms, given_id, state.decode(), attempts, offered_ms, size, record),))


def items(keys: QueueKeys, by: str, start: int, stop: int, *, part: bool = False) -> Request[Page]:
    """Entries from index ``start`` to ``stop`` in the order of ``by``: "due" or "offer".

    With ``part`` they are some 1 MB at most.
    """
    return call("items", keys, (by, start, stop, "part" if part else ""), _page)


def _page(reply: list[Any]) -> Page:
    now_us, members, dues, given, told, is_cut = reply
    known = {number: more for number, *more in zip(*[iter(told)] * 4, strict=True)}
    found = []
    for number, (member, due, key) in enumerate(zip(members, dues, given, strict=True)):
        try:
            entry, data = unwrap(member)
        except EnvelopeError:
            # The member blocks nothing yet: the transfer that meets it sets it aside.
            entry, data = b"", member
        item, state, attempts = known.get(number, (entry, b"waiting", 0))
        due_ms, given_id = whole_ms(due) if due else None, _text(key) if key else None
        found.append(Found(item, data, due_ms, given_id, state.decode(), attempts))
    return Page(now_us, tuple(found), bool(is_cut))
