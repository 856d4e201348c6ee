"""One page of the items of a queue in one state, and the cursor of the next page."""

from __future__ import annotations

import base64
import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

import attrs

from redisson_dq._common.texts import nearest
from redisson_dq.admin import Admin, AdminQueue
from redisson_dq.browsing.holders import client_rows, holder_of
from redisson_dq.browsing.rows import (
    STATES,
    SeenIn,
    SeenItem,
    SeenOn,
    dead_row,
    held_row,
    listed_row,
    parked_row,
    recurring_row,
    waiting_row,
)
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.times import from_ms

if TYPE_CHECKING:
    from redisson_dq import Client

__all__ = ["HEAD", "MOST_ROWS", "SeenPage", "browse", "cursor_at", "listed_page", "names_of_parts"]

#: How many bytes of a value are included in a page by default.
HEAD = 256
MOST_ROWS = 1000

#: Where a page of one queue begins: after a score and the first bytes of a member, or at an index.
_Place = tuple[bytes, bytes] | int | None
_LISTS: dict[SeenIn, str] = {
    "ready": "ready",
    "quarantined": "quarantine",
    "undecodable": "undecodable",
    "expired": "expired",
}
# A score as Redis writes it.
_SCORE = re.compile(r"-?(?:inf|\d{1,40}(?:\.\d{1,40})?(?:e[+-]?\d{1,4})?)", re.ASCII)
# The most members or elements that a key can have.
_MOST_PLACES = 2**32
_BY_DUE = ("waiting", "in-flight", "recurring")
# The script that lists a state, and the function that makes rows of its results.
_LOOKS = {"waiting": waiting_row, "parked": parked_row, "in-flight": held_row}


@attrs.frozen(kw_only=True)
class SeenPage:
    """Some items, and the number of all items. ``next`` is the cursor of the next page, or None at the end."""

    rows: tuple[SeenItem, ...]
    count: int
    next: str | None
    now: datetime


@attrs.frozen(kw_only=True)
class _PartPage:
    """The page of one partition. ``places`` has, for each row, the place at which a page after it begins."""

    rows: list[SeenItem]
    count: int
    following: _Place
    now_us: int


def browse(
    client: Client,
    queue: str,
    state: SeenOn = "waiting",
    *,
    partitions: int | None = None,
    dead_letter: str | None = None,
    after: str | None = None,
    limit: int = 50,
    head: int = HEAD,
) -> SeenPage:
    """At most ``limit`` items of a queue in a state: by due time or deadline, or in the order of the list.

    ``after`` is ``next`` of the previous page. A page may be shorter than ``limit``, or even empty, while ``next`` is
    not None: one call reads at most 500 entries. ``head`` is how many bytes of each value are included. With
    ``partitions`` the partitions of a queue are shown as one queue. If values are taken from a list meanwhile, its
    other items move up. Example::

        page = browse(client, "orders", "waiting", limit=10)
        for row in page.rows:
            print(row.id, row.due, row.data)

    One round trip for each partition, and one more for the holders of values in flight. Raises ArgumentError,
    RedisConnectionError, RedisReplyError, WrongTypeError.
    """
    if state not in STATES:
        known = nearest(str(state), STATES)
        raise ArgumentError(f"there is no state {state!r}{f'; did you mean {known}?' if known else ''}")
    if type(limit) is not int or not 1 <= limit <= MOST_ROWS:
        raise ArgumentError(f"a page has 1 to {MOST_ROWS} rows, not {limit!r}")
    names = names_of_parts(client, queue, partitions)
    cursor = _Cursor.read(after, state, len(names))
    if state == "parked" or state in _BY_DUE:
        page = _merged(client, names, state, cursor, limit, head)
        return _with_holders(client, page) if state == "in-flight" and page.rows and head else page
    return _in_turn(client, names, state, dead_letter, cursor, limit, head)


def _with_holders(client: Client, page: SeenPage) -> SeenPage:
    clients = client_rows(client)
    return attrs.evolve(page, rows=tuple(attrs.evolve(row, holder=holder_of(clients, row.id)) for row in page.rows))


def names_of_parts(client: Client, queue: str, partitions: int | None) -> list[str]:
    """The names of the partitions of a queue, or its own name if it has none."""
    return [part.name for part in Admin(client).parts(queue, partitions)]


def cursor_at(state: SeenOn, due_ms: int, partitions: int | None) -> str:
    """The cursor of the page that begins with the items that are due at ``due_ms`` or later.

    ``partitions`` is the number that is passed to :func:`browse` with this cursor. Raises ArgumentError for a state
    without due times.
    """
    if state not in ("waiting", "in-flight"):
        raise ArgumentError(f"items that are {state} are not ordered by due time")
    # A page begins after a place, so this place is just before that time.
    return _Cursor(state=state, places=[(f"{due_ms - 1}.999".encode(), b"")] * (partitions or 1)).text


# -- pages of several partitions -------------------------------------------------------------------------------------


def _merged(client: Client, names: list[str], state: SeenOn, cursor: _Cursor, limit: int, head: int) -> SeenPage:
    """The rows of all partitions by their times. A row is returned once no partition can have an earlier one."""
    found: list[tuple[int, _PartPage]] = []
    for i, name in enumerate(names):
        # A partition that has been read to its end is only asked for its number of items.
        place = cursor.places[i]
        most = limit if place != -1 else 1
        part = _part(client, name, state, None if place == -1 else place, most, head)
        found.append((i, attrs.evolve(part, rows=[], following=-1) if place == -1 else part))
    count = sum(part.count for _, part in found)
    ends = [_sorted_by(part.rows[-1]) if part.rows else 0.0 for _, part in found if part.following not in (None, -1)]
    until = min(ends, default=float("inf"))
    rows = [(_sorted_by(row), i, k, row) for i, part in found for k, row in enumerate(part.rows)]
    chosen = sorted(row for row in rows if row[0] <= until)[:limit]
    places = list(cursor.places)
    for i, part in found:
        taken = sum(1 for each in chosen if each[1] == i)
        if taken == len(part.rows):
            places[i] = -1 if part.following is None else part.following
        elif taken:
            # The page of this partition is read again from after its last row that was shown.
            places[i] = _part(client, names[i], state, cursor.places[i], taken, 0).following
    now = max((part.now_us for _, part in found), default=0)
    following = None if all(place == -1 for place in places) else attrs.evolve(cursor, places=places).text
    return SeenPage(rows=tuple(row for *_, row in chosen), count=count, next=following, now=from_ms(now // 1000))


def _sorted_by(row: SeenItem) -> float:
    moment = row.at if row.waits_for else row.due
    return float("inf") if moment is None else moment.timestamp()


def _in_turn(
    client: Client,
    names: list[str],
    state: SeenIn,
    dead_letter: str | None,
    cursor: _Cursor,
    limit: int,
    head: int,
) -> SeenPage:
    """The rows of one partition after the other."""
    rows: list[SeenItem] = []
    places, count, now = list(cursor.places), 0, 0
    for i, name in enumerate(names):
        place, most = places[i], limit - len(rows)
        part = _listed(
            client, name, state, dead_letter, place if isinstance(place, int) and place >= 0 else 0, most, head
        )
        count, now = count + part.count, max(now, part.now_us)
        if place != -1 and most > 0:
            rows += part.rows
            places[i] = -1 if part.following is None else part.following
    following = None if all(place == -1 for place in places) else attrs.evolve(cursor, places=places).text
    return SeenPage(rows=tuple(rows), count=count, next=following, now=from_ms(now // 1000))


# -- a page of one queue ---------------------------------------------------------------------------------------------


def _part(client: Client, name: str, state: SeenOn, place: _Place, most: int, head: int) -> _PartPage:
    queue = Admin(client).queue(name)
    if state == "recurring":
        return _recurring(client, queue, place if isinstance(place, int) else 0, most, head)
    behind = place if isinstance(place, tuple) else None
    looks = {"waiting": queue.waiting, "parked": queue.parked, "in-flight": queue.held}
    page, made = looks[state](behind, most, head), _LOOKS[state]
    now = from_ms(page.now_us // 1000)
    rows = [made(name, now, row) for row in page.rows]
    return _PartPage(rows=rows, count=page.count, following=page.following, now_us=page.now_us)


def _recurring(client: Client, queue: AdminQueue, first: int, most: int, head: int) -> _PartPage:
    name, offers = queue.name, queue.recurring(first, first + most - 1)
    stats = client.stats(name)[name]
    now, count = stats.server_time, stats.recurring
    rows = [recurring_row(name, now, each, head) for each in offers]
    following = first + most if first + most < count else None
    return _PartPage(rows=rows, count=count, following=following, now_us=round(now.timestamp() * 1_000_000))


def listed_page(
    client: Client, queue: str, state: SeenIn, dead_letter: str | None, first: int, most: int, head: int
) -> list[SeenItem]:
    """Rows of one queue from an index on, in the order of the list, or by due time."""
    if state in _BY_DUE:
        raise ArgumentError(f"an item that is {state} has no place in a list: take its id")
    return _listed(client, queue, state, dead_letter, first, most, head).rows


def _listed(
    client: Client, name: str, state: SeenIn, dead_letter: str | None, first: int, most: int, head: int
) -> _PartPage:
    queue = Admin(client).queue(name, dead_letter)
    if state == "dead":
        page = queue.letters(first, most, head)
        now = from_ms(page.now_us // 1000)
        rows = [dead_row(name, now, first + i, row) for i, row in enumerate(page.rows)]
    else:
        # Some values are stored with a due time before them.
        more = 32 if state in ("quarantined", "expired") else 0
        page = queue.listed(getattr(queue.keys, _LISTS[state]), first, most, head + more)
        now = from_ms(page.now_us // 1000)
        rows = [listed_row(name, now, state, first + i, row) for i, row in enumerate(page.rows)]
        rows = [attrs.evolve(row, data=row.data[:head]) for row in rows]
    return _PartPage(rows=rows, count=page.count, following=page.following, now_us=page.now_us)


# -- cursors ---------------------------------------------------------------------------------------------------------


def _place(found: Any) -> _Place:
    """Parses a place in a cursor. Raises ValueError, TypeError or AttributeError for anything else."""
    if found is None:
        return None
    if type(found) is int and -1 <= found < _MOST_PLACES:
        return found
    score, member = found  # pyright: ignore[reportGeneralTypeIssues]
    if _SCORE.fullmatch(score) is None:
        raise ValueError(score)
    return score.encode(), bytes.fromhex(member)


@attrs.frozen(kw_only=True)
class _Cursor:
    """Where the next page begins in each partition. -1 means the end of a partition."""

    state: SeenOn
    places: list[_Place]

    @classmethod
    def read(cls, text: str | None, state: SeenOn, parts: int) -> _Cursor:
        if text is None:
            return cls(state=state, places=[None] * parts)
        try:
            of, *places = json.loads(base64.urlsafe_b64decode(text.encode()))
            read = [_place(each) for each in places]
        # An object has names, so an index raises KeyError.
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise ArgumentError(f"{text!r} is not a cursor: use the one at the end of the previous page") from None
        if of != state or len(read) != parts:
            raise ArgumentError(f"the cursor belongs to items that are {of!r}, or to another number of partitions")
        return cls(state=state, places=read)

    @property
    def text(self) -> str:
        places = [[place[0].decode(), place[1].hex()] if isinstance(place, tuple) else place for place in self.places]
        return base64.urlsafe_b64encode(json.dumps([self.state, *places], separators=(",", ":")).encode()).decode()
