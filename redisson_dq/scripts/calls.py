"""One typed function per script: what it takes, and what its reply means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import attrs

from ..wire.commands import SIDES, End, whole_ms
from ..wire.envelope import Envelope
from ..wire.keys import QueueKeys
from ..wire.request import Request, Word
from .script import Script, load

__all__ = [
    "Added",
    "Found",
    "Page",
    "RecurringRow",
    "Target",
    "Transferred",
    "advance",
    "cancel",
    "cancel_recurring",
    "contains",
    "contains_ready",
    "copy",
    "dump",
    "expire",
    "find_item",
    "hand_over",
    "items",
    "memory",
    "move_bounded",
    "offer",
    "offer_bounded",
    "offer_item",
    "overdue",
    "persist",
    "poll",
    "poll_last_to",
    "read_waiting",
    "recur",
    "recurring",
    "release",
    "remove",
    "remove_ready",
    "rename",
    "reschedule",
    "restore",
    "resume",
    "set_capacity",
    "take_bounded",
    "time_to_live",
    "transfer",
]

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Transferred:
    """What one transfer did. Times are the server's: ``now_us`` in epoch us, ``next_ms`` in epoch ms.

    ``role`` says who moves the queue from now on: "alone", "mover" or "reserve", see ``scripts/include/mover.lua``.
    ``recurring`` has the id, the definition and the due time of each recurring offer whose occurrence has come.
    """

    moved: int
    set_aside: int
    expired: int
    now_us: int
    role: str
    recurring: tuple[tuple[str, str, int], ...]
    next_ms: int | None


@attrs.frozen(kw_only=True)
class Added:
    """What came of an offer: ``outcome`` is the script's word, ``count`` how many values are in.

    Of a duplicate, ``fate`` is what became of the item that stands, ``value`` its value if it waits.
    """

    outcome: str
    count: int
    entry: bytes
    due_ms: int
    now_us: int
    fate: str = ""
    value: bytes | None = None


@attrs.frozen(kw_only=True)
class Found:
    """One waiting entry: its member, due time and id of the caller's, if it has one."""

    member: bytes
    due_ms: int | None
    given_id: str | None


@attrs.frozen(kw_only=True)
class Page:
    """Waiting entries, and the server's time when they were read."""

    now_us: int
    found: tuple[Found, ...]


@attrs.frozen(kw_only=True)
class RecurringRow:
    """One recurring offer as it stands in Redis."""

    id: str
    due_ms: int
    definition: str
    value: bytes


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


@lru_cache(maxsize=4096)
def _prepared(name: str, keys: QueueKeys) -> tuple[Script, tuple[Word, ...], dict[str, str]]:
    """What is the same in every call of a script on a queue."""
    script = load(name)
    key_names = [getattr(keys, key) for key in script.keys]
    # A channel stands among KEYS for its slot only: it is no key.
    types = {key: keys.type_of(key) for key in key_names if key not in keys.channels}
    return script, (len(key_names), *key_names), types


def _call(name: str, keys: QueueKeys, args: Iterable[Word], parse: Callable[[Any], T]) -> Request[T]:
    script, head, types = _prepared(name, keys)
    return Request(script=script, words=(*head, *args), types=types, parse=parse)


def _call_to(
    name: str, keys: QueueKeys, destination: str, args: Iterable[Word], parse: Callable[[Any], T]
) -> Request[T]:
    """A script that also takes the ready list of another queue."""
    script = load(name)
    key_names = [destination if key == "destination" else getattr(keys, key) for key in script.keys]
    types = {key: keys.type_of(key) for key in key_names if key not in keys.channels}
    return Request(script=script, words=(len(key_names), *key_names, *args), types=types, parse=parse)


def _call_on(name: str, types: dict[str, str], args: Iterable[Word], parse: Callable[[Any], T]) -> Request[T]:
    """A script for any number of keys."""
    return Request(script=load(name), words=(len(types), *types, *args), types=types, parse=parse)


# -- the delayed side ------------------------------------------------------------------------------------------------


def _written(envelope: Envelope, lean: bool) -> str:
    """What a script that offers is told to write. Lean entries have the current envelope."""
    return "lean" if lean else envelope.value


def offer(
    keys: QueueKeys, envelope: Envelope, dues_and_values: Iterable[Word], *, lean: bool = False
) -> Request[Added]:
    """``dues_and_values`` alternates due times (see ``_times.due_word``) and encoded values."""
    return _call("offer", keys, (_written(envelope, lean), *dues_and_values), _offered)


def _offered(reply: list[Any]) -> Added:
    count, entry, due_ms, now_us = reply
    return Added(outcome="offered" if count else "full", count=count, entry=entry, due_ms=due_ms, now_us=now_us)


def offer_item(
    keys: QueueKeys,
    envelope: Envelope,
    due: str,
    value: bytes,
    *,
    key: Word,
    on_duplicate: str,
    lateness_ms: int | None,
    duplicate_ms: int,
    remember_ms: int,
    lean: bool = False,
) -> Request[Added]:
    """``key`` is "i" and an id of the caller's, "h" and a hash of the payload, or empty."""
    lateness = "" if lateness_ms is None else lateness_ms
    args = (_written(envelope, lean), due, value, key, on_duplicate, lateness, duplicate_ms, remember_ms)
    return _call("offer_item", keys, args, _offered_item)


def _offered_item(reply: list[Any]) -> Added:
    outcome, entry, due_ms, now_us, *duplicate = reply
    return Added(
        outcome=outcome.decode(),
        count=int(outcome in (b"offered", b"replaced")),
        entry=entry,
        due_ms=due_ms,
        now_us=now_us,
        fate=duplicate[0].decode() if duplicate else "",
        value=duplicate[1] if len(duplicate) > 1 else None,
    )


def transfer(keys: QueueKeys, limit: int, remember_ms: int, caller: str, *, cluster: bool) -> Request[Transferred]:
    """Moves at most ``limit`` values that are due, unless another client is the mover. Safe to repeat."""
    return _call("transfer", keys, (limit, remember_ms, caller, "cluster" if cluster else "one"), _transferred)


def _transferred(reply: list[Any]) -> Transferred:
    # Redis ends an array at its first nil: no head, no last element.
    moved, set_aside, expired, now_us, role, come, *head = reply
    rows = zip(come[::3], come[1::3], come[2::3], strict=True)
    return Transferred(
        moved=moved,
        set_aside=set_aside,
        expired=expired,
        now_us=now_us,
        role=role.decode(),
        recurring=tuple(
            (name.decode(), definition.decode(errors="replace"), int(due)) for name, definition, due in rows
        ),
        next_ms=whole_ms(head[0]) if head else None,
    )


def hand_over(keys: QueueKeys, caller: str) -> Request[bool]:
    """Whether the caller was the mover. Another client goes on."""
    return _call("hand_over", keys, (caller,), bool)


def poll(keys: QueueKeys, limit: int) -> Request[tuple[list[bytes], int]]:
    """At most ``limit`` values, in offer order and then the lean ones; how many members were set aside on the way."""
    return _call("poll", keys, (limit,), lambda reply: (reply[0], reply[1]))


def poll_last_to(keys: QueueKeys, destination: str) -> Request[tuple[bytes | None, int]]:
    """The last value in that order, now first in ``destination``; how many members were set aside on the way."""
    return _call_to(
        "poll_last_to", keys, destination, (), lambda reply: (reply[1] if len(reply) > 1 else None, reply[0])
    )


def read_waiting(keys: QueueKeys, start: int, stop: int) -> Request[list[bytes]]:
    """The entries from index ``start`` to ``stop`` (-1: to the end), in the order of ``poll``."""
    return _call("read_waiting", keys, (start, stop), list)


def contains(keys: QueueKeys, values: Sequence[bytes]) -> Request[bool]:
    """Whether each of the values waits."""
    return _call("contains", keys, values, bool)


def remove(keys: QueueKeys, which: str, values: Sequence[bytes], remember_ms: int) -> Request[int]:
    """``which`` is "first", "all" or "others"; gives how many waiting values were taken out."""
    return _call("remove", keys, (which, remember_ms, *values), int)


def cancel(keys: QueueKeys, target: Target, remember_ms: int) -> Request[str]:
    """The script's word for what came of it."""
    return _call("cancel", keys, (*target.words(), remember_ms), bytes.decode)


def reschedule(keys: QueueKeys, target: Target, due: str, remember_ms: int) -> Request[tuple[str, int, int]]:
    """The script's word for what came of it, the due time, the server's time in us."""
    return _call("reschedule", keys, (*target.words(), due, remember_ms), _outcome_and_due)


def _outcome_and_due(reply: list[Any]) -> tuple[str, int, int]:
    outcome, due_ms, now_us = reply
    return outcome.decode(), int(due_ms), now_us


def find_item(keys: QueueKeys, target: Target) -> Request[Page]:
    """A page of one entry, or of none."""
    return _call("find_item", keys, target.words(), _found_item)


def _found_item(reply: list[Any]) -> Page:
    now_us, *rest = reply
    if not rest:
        return Page(now_us=now_us, found=())
    member, due_ms, key = rest
    given_id = key[1:].decode() if key.startswith(b"i") else None
    return Page(now_us=now_us, found=(Found(member=member, due_ms=due_ms, given_id=given_id),))


def items(keys: QueueKeys, by: str, start: int, stop: int) -> Request[Page]:
    """Entries from index ``start`` to ``stop`` in the order of ``by``: "due" or "offer"."""
    return _call("items", keys, (by, start, stop), _page)


def _page(reply: list[Any]) -> Page:
    now_us, members, dues, given = reply
    found = (
        Found(member=member, due_ms=whole_ms(due) if due else None, given_id=key.decode() if key else None)
        for member, due, key in zip(members, dues, given, strict=True)
    )
    return Page(now_us=now_us, found=tuple(found))


def overdue(keys: QueueKeys) -> Request[tuple[int, int, int | None]]:
    """The server's time in us, how many entries are due, and the due time of the first entry."""
    return _call("overdue", keys, (), _overdue)


def _overdue(reply: list[Any]) -> tuple[int, int, int | None]:
    now_us, count, *head = reply
    return now_us, count, whole_ms(head[0]) if head else None


def resume(keys: QueueKeys) -> Request[bool]:
    """Whether delivery was paused."""
    return _call("resume", keys, (), bool)


# -- recurring offers ------------------------------------------------------------------------------------------------


def recur(
    keys: QueueKeys,
    envelope: Envelope,
    name: str,
    definition: str,
    value: bytes,
    due_ms: int,
    *,
    lean: bool = False,
) -> Request[tuple[str, int, int]]:
    """The script's word for what came of it, the due time of what waits, the server's time in us."""
    args = (_written(envelope, lean), name, definition, value, due_ms)
    return _call("recur", keys, args, _outcome_and_due)


def advance(
    keys: QueueKeys, envelope: Envelope, name: str, definition: str, come_ms: int, next_ms: int | None
) -> Request[bool]:
    """Whether this call put the next occurrence in, rather than another process's. Lean if the last one was."""
    due = "" if next_ms is None else next_ms
    return _call("advance", keys, (envelope.value, name, definition, come_ms, due), bool)


def cancel_recurring(keys: QueueKeys, name: str) -> Request[bool]:
    """Whether there was one."""
    return _call("cancel_recurring", keys, (name,), bool)


def recurring(keys: QueueKeys, start: int, stop: int) -> Request[list[RecurringRow]]:
    """Recurring offers from index ``start`` to ``stop``."""
    return _call("recurring", keys, (start, stop), _recurring_rows)


def _recurring_rows(reply: list[list[bytes]]) -> list[RecurringRow]:
    return [
        RecurringRow(id=name.decode(), due_ms=int(due), definition=definition.decode(), value=value)
        for name, due, definition, value in reply
    ]


# -- the ready side --------------------------------------------------------------------------------------------------


def contains_ready(keys: QueueKeys, values: Sequence[bytes]) -> Request[bool]:
    """Whether each of the values is ready."""
    return _call("contains_ready", keys, values, bool)


def remove_ready(keys: QueueKeys, which: str, values: Sequence[bytes]) -> Request[int]:
    """``which`` is "all" or "others"; gives how many ready values were taken out."""
    return _call("remove_ready", keys, (which, *values), int)


def set_capacity(keys: QueueKeys, capacity: int) -> Request[bool]:
    """Whether it was set now; it was set before otherwise."""
    return _call("set_capacity", keys, (capacity,), bool)


def offer_bounded(keys: QueueKeys, values: Sequence[bytes]) -> Request[int]:
    """1 if the values are in, 0 if there was no room, -1 if the capacity was never set."""
    return _call("offer_bounded", keys, values, int)


def take_bounded(keys: QueueKeys, how: str, args: Sequence[Word], parse: Callable[[Any], T]) -> Request[T]:
    """``how`` is "poll", "remove", "retain", "trim" or "clear"; gives the values that were polled, else a number."""
    return _call("take_bounded", keys, (how, *args), parse)


def move_bounded(keys: QueueKeys, destination: str, from_end: End, to_end: End) -> Request[bytes | None]:
    """The value that was moved."""
    return _call_to("move_bounded", keys, destination, (SIDES[from_end], SIDES[to_end]), lambda reply: reply)


def release(keys: QueueKeys, count: int) -> Request[int]:
    """How much room there is now; a negative ``count`` takes room for a value that goes back."""
    return _call("release", keys, (count,), int)


# -- objects of one key or more --------------------------------------------------------------------------------------


def expire(types: dict[str, str], kind: str, ms: int, when: str) -> Request[bool]:
    """``kind`` is "in" or "at", ``when`` "always", "set", "not_set", "greater" or "less"."""
    return _call_on("expire", types, (kind, ms, when), bool)


def persist(types: dict[str, str]) -> Request[bool]:
    """Whether any key had a time to live."""
    return _call_on("persist", types, (), bool)


def time_to_live(types: dict[str, str]) -> Request[tuple[int, int]]:
    """The time to live in ms (-1: for ever, -2: no key), and its end in epoch ms."""
    return _call_on("time_to_live", types, (), lambda reply: (reply[0], reply[1]))


def memory(types: dict[str, str]) -> Request[int]:
    """How many bytes of memory the keys take."""
    return _call_on("memory", types, (), int)


def rename(types: dict[str, str], when: str, channel: str) -> Request[int]:
    """``types`` has the old keys, then as many new ones. 1 if renamed, 0 if a name is taken, -1 if nothing is there."""
    return _call_on("rename", types, (when, channel), int)


def copy(types: dict[str, str], when: str, channel: str) -> Request[bool]:
    """``types`` has the old keys, then as many new ones."""
    return _call_on("copy", types, (when, channel), bool)


def dump(types: dict[str, str]) -> Request[list[bytes]]:
    """One dump for each key, empty for one that is not there."""
    return _call_on("dump", types, (), list)


def restore(types: dict[str, str], when: str, ttl_ms: int, channel: str, dumps: Sequence[bytes]) -> Request[bool]:
    """``types`` has the keys, then as many names that are used meanwhile."""
    return _call_on("restore", types, (when, ttl_ms, channel, *dumps), bool)
