"""Finds one item by its id, wherever it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

from redisson_dq.admin import Admin
from redisson_dq.admin.entries import Found, LeaseRecord
from redisson_dq.browsing.holders import client_rows, holder_of
from redisson_dq.browsing.pages import MOST_ROWS, browse, listed_page, names_of_parts
from redisson_dq.browsing.rows import STATES, SeenIn, SeenItem, held_row
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.times import from_ms, from_optional_ms

if TYPE_CHECKING:
    from redisson_dq import Client

__all__ = ["TooFar", "find_row"]

_AT = re.compile(r"([a-z-]+)@(\d{1,9})")
_HEX = re.compile("[0-9a-f]{16}(?:[0-9a-f]{2}){0,16}")
#: The script's names of states, by the names used for pages.
_STATES: dict[str, SeenIn] = {"leased": "in-flight", "ready": "ready", "dead": "dead"}


class TooFar(Exception):
    """A walk has read this many of all entries without finding the id."""

    def __init__(self, looked: int, count: int, after: str) -> None:
        super().__init__(f"not found among {looked:,} of {count:,}")
        self.looked, self.count, self.after = looked, count, after


def find_row(
    client: Client,
    queue: str,
    id: str,
    *,
    partitions: int | None = None,
    dead_letter: str | None = None,
    head: int = 1 << 20,
    told: Callable[[int, int], None] | None = None,
    most: int | None = None,
    after: str | None = None,
) -> SeenItem | None:
    """The item with an id that a page has shown, or with the id of an offer or a recurring offer. None if there is
    none.

    ``head`` is how many bytes of its value are included. An id such as ``ready@3`` is the place in a list. Example::

        row = find_row(client, "orders", "order-42")

    Costs one round trip for each partition. A hex id takes two more, which find leases, retries and items with a
    record. After that the recurring offers are searched. Only an entry without any record, as Redisson writes it, takes
    a walk through all waiting items. ``told`` is called with how many were examined and how many there are. With
    ``most`` the walk ends after this many entries and raises TooFar, which has the cursor for ``after``. Raises
    ArgumentError, RedisConnectionError, RedisReplyError, WrongTypeError.
    """
    place = _AT.fullmatch(id)
    if place is not None:
        for state in STATES:
            if state == place[1] and state != "parked":
                return _at(client, queue, state, int(place[2]), partitions, dead_letter, head)
    options: dict[str, Any] = {"partitions": partitions, "dead_letter": dead_letter}
    if after is not None:
        return _walked(client, queue, "waiting", id, head, told, most, options, after)
    names = names_of_parts(client, queue, partitions)
    is_hex = _HEX.fullmatch(id) is not None
    for name in names:
        row = _found(client, name, id, id, dead_letter, head)
        if row is None and is_hex:
            row = _indexed(client, name, id, dead_letter, head)
        if row is not None:
            return row
    offer = _walked(client, queue, "recurring", id, head, None, None, options)
    if offer is not None or not is_hex:
        return offer
    states: list[SeenIn] = ["waiting"]
    if any(_is_letter(client, name, id, dead_letter) for name in names):
        states.insert(0, "dead")
    return next(
        (row for state in states if (row := _walked(client, queue, state, id, head, told, most, options))), None
    )


def _found(
    client: Client,
    name: str,
    id: str,
    target: str | bytes,
    dead_letter: str | None,
    head: int,
    due_ms: int | None = None,
) -> SeenItem | None:
    page = Admin(client).queue(name, dead_letter).find(target, head, due_ms)
    if not page.found:
        return None
    row = _row(name, id, page.found[0], page.now_us)
    if row.state != "in-flight":
        return row
    # The lease says which client has it, and since when.
    held = browse(client, name, "in-flight", limit=MOST_ROWS, head=1)
    lease = next((each for each in held.rows if each.source == id and each.due == row.due), None)
    return row if lease is None else attrs.evolve(row, at=lease.at, holder=lease.holder)


def _indexed(client: Client, name: str, id: str, dead_letter: str | None, head: int) -> SeenItem | None:
    """The item whose entry or lease has this hex id, found through the zset of leases and the records."""
    entry = bytes.fromhex(id)
    part = Admin(client).queue(name)
    deadline = part.deadline_of(entry)
    if deadline is not None:
        # The page begins with the leases that end in that millisecond.
        behind = (b"%d" % (deadline - 1), b"\xff" * 64)
        page = part.held(behind, MOST_ROWS, head)
        for row in page.rows:
            held = held_row(name, from_ms(page.now_us // 1000), row)
            if held.id == id:
                return attrs.evolve(held, holder=holder_of(client_rows(client), id))
    return _found(client, name, id, entry, dead_letter, head, deadline)


def _is_letter(client: Client, name: str, id: str, dead_letter: str | None) -> bool:
    return Admin(client).queue(name, dead_letter).has_letter(bytes.fromhex(id))


def _row(queue: str, id: str, found: Found, now_us: int) -> SeenItem:
    state, record = _STATES.get(found.state, "waiting"), found.record or LeaseRecord()
    return SeenItem(
        queue=queue,
        state=state,
        id=id,
        now=from_ms(now_us // 1000),
        due=from_optional_ms(found.due_ms),
        size=len(found.data) if found.size is None else found.size,
        data=found.data,
        attempts=found.attempts,
        reason=record.reason or ("" if found.state in ("waiting", *_STATES) else found.state),
        context=record.context,
        cursor=record.cursor,
    )


def _at(
    client: Client,
    queue: str,
    state: SeenIn,
    index: int,
    partitions: int | None,
    dead_letter: str | None,
    head: int,
) -> SeenItem | None:
    if partitions is not None:
        raise ArgumentError(f"{state}@{index} is a place in one list: name the partition as the queue")
    rows = listed_page(client, queue, state, dead_letter, index, 1, head)
    return rows[0] if rows else None


def _walked(
    client: Client,
    queue: str,
    state: SeenIn,
    id: str,
    head: int,
    told: Callable[[int, int], None] | None,
    most: int | None,
    options: dict[str, Any],
    after: str | None = None,
) -> SeenItem | None:
    looked = 0
    while True:
        page = browse(client, queue, state, after=after, limit=MOST_ROWS, head=0, **options)
        looked += len(page.rows)
        for i, row in enumerate(page.rows):
            if row.id == id or (state != "recurring" and row.id.endswith(f"-{id}")):
                again = browse(client, queue, state, after=after, limit=min(i + 1, MOST_ROWS), head=head, **options)
                return next((each for each in again.rows if each.id == row.id), None)
        if told is not None:
            told(looked, page.count)
        if page.next is None:
            return None
        if most is not None and looked >= most:
            raise TooFar(looked, page.count, page.next)
        after = page.next
