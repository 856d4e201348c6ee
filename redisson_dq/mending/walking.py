"""Walks through the items of a queue, in scripts and commands that take Redis some milliseconds at most."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator

import attrs

from redisson_dq.admin import AdminQueue
from redisson_dq.admin.entries import Aside, AsideKind, Met
from redisson_dq.browsing.rows import SeenItem
from redisson_dq.mending.queue import MendedQueue
from redisson_dq.mending.rows import aside_row, waiting_row
from redisson_dq.scheduling.times import from_ms

__all__ = ["all_aside", "all_ready", "all_waiting", "aside_rows"]

# Elements are read in pages of at most this many elements and bytes, each in one command. The first page has one
# element.
_PAGE, _PAGE_BYTES = 500, 500_000


def all_waiting(part: AdminQueue) -> Iterator[tuple[SeenItem, Met]]:
    """All waiting items of a part, in the order of offers, then those that are only in the zset.

    Each item that keeps its place is found once. A lean item whose due time changes meanwhile may be found twice or not
    at all.
    """
    cursor = b""
    while True:
        found = part.walk(cursor)
        now = from_ms(found.now_us // 1000)
        for met in found.met:
            yield waiting_row(part.name, met, now), met
        cursor = found.cursor
        if not cursor:
            return


def all_aside(queue: MendedQueue, kind: AsideKind) -> Iterator[tuple[AdminQueue, SeenItem, Aside]]:
    """All elements of one kind that a queue has set aside, oldest first in each list, with their parts.

    From a dead-letter list shared with other queues, only the letters of this queue and those without a record.
    """
    if kind != "dead" or queue.dead_letter is None:
        for part in queue.parts:
            for row, aside in _elements(part, kind):
                yield part, row, aside
        return
    by_raw_name = {part.keys.ready: part for part in queue.parts} | {"": queue.parts[0]}
    for row, aside in _elements(queue.parts[0], kind):
        if row.source in by_raw_name:
            home = by_raw_name[row.source]
            yield home, attrs.evolve(row, queue=home.name), aside


def all_ready(queue: MendedQueue, most: int) -> Iterator[tuple[AdminQueue, SeenItem, Aside]]:
    """The first ready values of a queue, this many of each part, as elements that may be set aside."""
    for part in queue.parts:
        now = from_ms(part.time_ms())
        values = (value for page in _pages(part, part.keys.ready) for value in page)
        for number, value in enumerate(itertools.islice(values, most)):
            id = f"ready@{number}"
            row = SeenItem(queue=part.name, state="ready", id=id, now=now, size=len(value), data=value)
            yield part, row, Aside(element=value)


def _pages(part: AdminQueue, key: str) -> Iterator[list[bytes]]:
    start, count = 0, 1
    while elements := part.elements(key, start, start + count - 1):
        yield elements
        start += len(elements)
        size = 1 + sum(map(len, elements)) // len(elements)
        count = max(1, min(_PAGE, 16 * count, _PAGE_BYTES // size))


def _elements(part: AdminQueue, kind: AsideKind) -> Iterator[tuple[SeenItem, Aside]]:
    keys = part.keys
    key = {"dead": part.dead.dead, "quarantine": keys.quarantine, "undecodable": keys.undecodable}[kind]
    now = from_ms(part.time_ms())
    # Letters with equal values are distinguished by their order.
    met: Counter[str] = Counter()
    for elements in _pages(part, key):
        found = _letters(part, elements, met) if kind == "dead" else [Aside(element=each) for each in elements]
        for aside in found:
            yield aside_row(part.name, kind, aside, now), aside


def _letters(part: AdminQueue, elements: list[bytes], met: Counter[str]) -> list[Aside]:
    digests = []
    for element in elements:
        digest = hashlib.sha1(element).hexdigest()[:32]
        digests.append((digest, met[digest]))
        met[digest] += 1
    records = part.records_of_letters(digests)
    return [Aside(element=element, id=id, info=info) for element, (id, info) in zip(elements, records, strict=True)]


def aside_rows(queue: MendedQueue, kind: AsideKind, limit: int | None = None) -> Iterator[SeenItem]:
    """The rows of a list, oldest first in each part, at most this many."""
    rows = (row for _, row, _ in all_aside(queue, kind))
    return rows if limit is None else itertools.islice(rows, limit)
