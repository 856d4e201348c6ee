"""Finds one item by its id, wherever it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from redisson_dq._times import from_ms, from_optional_ms
from redisson_dq.browsing.pages import MOST_ROWS, browse, listed_page, names_of_parts
from redisson_dq.browsing.rows import STATES, SeenIn, SeenItem
from redisson_dq.errors import ArgumentError
from redisson_dq.items import entry_id
from redisson_dq.requests.inner.ready_side import ReadySide
from redisson_dq.wire import calls
from redisson_dq.wire.calls import Target
from redisson_dq.wire.calls.items import Found

if TYPE_CHECKING:
    from redisson_dq import Client

__all__ = ["find_row"]

_AT = re.compile(r"([a-z-]+)@(\d{1,9})")
_HEX = re.compile("[0-9a-f]{16}(?:[0-9a-f]{2}){0,16}")
#: The script's words for states, by those of pages.
_STATES: dict[str, SeenIn] = {"leased": "in-flight", "ready": "ready", "dead": "dead"}


def find_row(
    client: Client,
    queue: str,
    id: str,
    *,
    partitions: int | None = None,
    dead_letter: str | None = None,
    head: int = 1 << 20,
) -> SeenItem | None:
    """The item with an id that a page has shown, or the id of its offer. None where there is none.

    ``head`` is how many bytes of its value come along. An id such as ``ready@3`` is the place in a list. Costs one
    round trip for each partition, and for the id of a lease, an entry or a dead letter in hex a walk through pages.
    Raises ArgumentError, RedisConnectionError, RedisReplyError, WrongTypeError.
    """
    place = _AT.fullmatch(id)
    if place is not None:
        for state in STATES:
            if state == place[1]:
                return _at(client, queue, state, int(place[2]), partitions, dead_letter, head)
    made = entry_id(id)
    target = Target(given_id=id) if made is None else Target(entry=made[1], due_ms=made[0])
    for name in names_of_parts(client, queue, partitions):
        side = ReadySide[Any](name, None, client.runtime.options, dead_letter=dead_letter)
        page = client.runtime.connections.run(calls.find_item(side.lease_keys, target))
        for found in page.found:
            return _row(name, id, found, page.now_us, head)
    if _HEX.fullmatch(id):
        states: tuple[SeenIn, ...] = ("in-flight", "dead", "waiting")
        for state in states:
            row = _walked(client, queue, state, id, partitions, dead_letter, head)
            if row is not None:
                return row
    return None


def _row(queue: str, id: str, found: Found, now_us: int, head: int) -> SeenItem:
    state = _STATES.get(found.state, "waiting")
    return SeenItem(
        queue=queue,
        state=state,
        id=id,
        now=from_ms(now_us // 1000),
        due=from_optional_ms(found.due_ms),
        size=len(found.data),
        data=found.data[:head],
        attempts=found.attempts,
        reason="" if found.state in ("waiting", *_STATES) else found.state,
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
    client: Client, queue: str, state: SeenIn, id: str, partitions: int | None, dead_letter: str | None, head: int
) -> SeenItem | None:
    after: str | None = None
    while True:
        options: dict[str, Any] = {"partitions": partitions, "dead_letter": dead_letter}
        page = browse(client, queue, state, after=after, limit=MOST_ROWS, head=0, **options)
        for i, row in enumerate(page.rows):
            if row.id == id or row.id.endswith(f"-{id}"):
                again = browse(client, queue, state, after=after, limit=min(i + 1, MOST_ROWS), head=head, **options)
                return next((each for each in again.rows if each.id == row.id), None)
        if page.next is None:
            return None
        after = page.next
