"""Single waiting items: found, listed, cancelled, given another due time."""

from __future__ import annotations

from typing import Any

import attrs

from redisson_dq.wire.calls.base import call
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request, Word

__all__ = ["Found", "Page", "Target", "cancel", "find_item", "items", "outcome_and_due", "reschedule"]


@attrs.frozen(kw_only=True)
class Found:
    """One waiting entry: its member, due time and id of the caller's, if it has one."""

    member: bytes
    due_ms: int | None
    given_id: str | None


@attrs.frozen(kw_only=True)
class Page:
    """Waiting entries, and the server's time when they were read.

    ``is_cut``: more stand behind them in the wanted page, which is too large for one reply.
    """

    now_us: int
    found: tuple[Found, ...]
    is_cut: bool = False


@attrs.frozen(kw_only=True)
class Target:
    """The item a call names: by the caller's id, or by the entry's id and a due time.

    That is the due time it was offered with, or any later one: a record tells where a rescheduled entry is.
    """

    given_id: str | None = None
    entry: bytes = b""
    due_ms: int | None = None

    def words(self) -> tuple[Word, Word, Word]:
        """The first three arguments of a script that looks for it."""
        key = "" if self.given_id is None else f"i{self.given_id}"
        return key, self.entry, "" if self.due_ms is None else self.due_ms


def cancel(keys: QueueKeys, target: Target, remember_ms: int) -> Request[str]:
    """The script's word for what came of it."""
    return call("cancel", keys, (*target.words(), remember_ms), bytes.decode)


def reschedule(keys: QueueKeys, target: Target, due: Word, remember_ms: int) -> Request[tuple[str, int, int]]:
    """The script's word for what came of it, the due time, the server's time in us."""
    return call("reschedule", keys, (*target.words(), due, remember_ms), outcome_and_due)


def outcome_and_due(reply: list[Any]) -> tuple[str, int, int]:
    outcome, due_ms, now_us = reply
    return outcome.decode(), int(due_ms), now_us


def find_item(keys: QueueKeys, target: Target) -> Request[Page]:
    """A page of one entry, or of none."""
    return call("find_item", keys, target.words(), _found_item)


def _found_item(reply: list[Any]) -> Page:
    now_us, *rest = reply
    if not rest:
        return Page(now_us=now_us, found=())
    member, due_ms, key = rest
    given_id = key[1:].decode() if key.startswith(b"i") else None
    return Page(now_us=now_us, found=(Found(member=member, due_ms=due_ms, given_id=given_id),))


def items(keys: QueueKeys, by: str, start: int, stop: int, *, part: bool = False) -> Request[Page]:
    """Entries from index ``start`` to ``stop`` in the order of ``by``: "due" or "offer".

    With ``part`` they are some 1 MB at most.
    """
    return call("items", keys, (by, start, stop, "part" if part else ""), _page)


def _page(reply: list[Any]) -> Page:
    now_us, members, dues, given, is_cut = reply
    found = (
        Found(member=member, due_ms=whole_ms(due) if due else None, given_id=key.decode() if key else None)
        for member, due, key in zip(members, dues, given, strict=True)
    )
    return Page(now_us=now_us, found=tuple(found), is_cut=bool(is_cut))
