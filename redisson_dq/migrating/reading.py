"""Reads the items of a queue together with everything that the queue stores about each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import attrs

from redisson_dq.admin import KeyCommand
from redisson_dq.admin.entries import unwrap
from redisson_dq.errors import EnvelopeError
from redisson_dq.migrating.contents import DeliveryText, LetterText, digest_of, item_of, key_of, standing_as
from redisson_dq.migrating.side_tables import KnownContents, SideTables
from redisson_dq.migrating.sites import PARTS, Content, QueueSite

__all__ = ["KINDS", "SourceItem", "SourceReader"]

#: The kinds of items, in the order in which a migration moves them, and the part of the queue that each is in.
KINDS = {
    "ready": "ready",
    "waiting": "timeout",
    "dead": "dead",
    "undecodable": "undecodable",
    "quarantined": "quarantine",
    "expired": "expired",
    "newer": "newer",
}
# The longest list of envelopes in which a single entry is searched.
_SHORT = 1000


@attrs.frozen(kw_only=True)
class SourceItem:
    """One item, and every content of the queue that belongs to it."""

    kind: str
    #: The bytes that the codec wrote, or None for contents that no codec reads.
    value: bytes | None
    contents: list[tuple[str, Content]]
    #: ``i`` and the item's id, ``h`` and the payload's hash, or nothing.
    key: bytes = b""
    entry_id: bytes | None = None
    score: bytes | None = None

    @property
    def mark(self) -> bytes:
        """The bytes that identify it in its list or sorted set."""
        return self.contents[0][1][0]


#: A page of a list or a sorted set. Each content has a place, after which a walk continues. None is not an item.
_Page = list[tuple[Any, "SourceItem | None"]]


class _EmptyingWalk:
    """A walk through one list or sorted set whose found items are removed. Contents that stay at the front are skipped
    once.
    """

    def __init__(self, pages: Callable[[Any], Iterator[_Page]]) -> None:
        self.pages = pages
        self._at: Any = None

    def next(self, most: int, wanted: Callable[[SourceItem], bool]) -> list[SourceItem]:
        """The next wanted items, possibly a few more than ``most``."""
        # Other clients may have added items behind the walk, or removed some, so it starts over once before it ends.
        for at in dict.fromkeys((self._at, None)):
            self._at = at
            found = list[SourceItem]()
            for page in self.pages(at):
                for place, item in page:
                    if item is not None and wanted(item):
                        found.append(item)
                    elif not found:
                        self._at = place
                if len(found) >= most:
                    break
            if found:
                return found
        return []


class SourceReader:
    """Reads one queue. Contents may change before they are taken: the script that takes them compares them all."""

    def __init__(self, site: QueueSite) -> None:
        self.site = site
        self.tables = SideTables(site)
        #: The items that stay in place, by kind.
        self.refused: dict[str, set[bytes]] = {kind: set() for kind in KINDS}
        self._walks = {kind: [_EmptyingWalk(pages) for pages in self._all_pages(kind)] for kind in KINDS}

    def items(self, kind: str, most: int, wanted: Callable[[SourceItem], bool] = lambda item: True) -> list[SourceItem]:
        """The next items of a kind, without those that are refused or not wanted."""
        refused = self.refused[kind]
        found = list[SourceItem]()
        for walk in self._walks[kind]:
            if len(found) < most:
                found += walk.next(most - len(found), lambda item: item.mark not in refused and wanted(item))
        return self._with_known(found[:most]) if found else found

    def pages(self, kind: str) -> Iterator[list[SourceItem]]:
        """All items of a kind, without the contents stored about them elsewhere."""
        for page in chain.from_iterable(pages(None) for pages in self._all_pages(kind)):
            yield [item for _, item in page if item is not None]

    def _all_pages(self, kind: str) -> list[Callable[[Any], Iterator[_Page]]]:
        if kind == "waiting":
            return [self._listed, self._alone]
        part = KINDS[kind]

        def pages(at: Any) -> Iterator[_Page]:
            is_list = PARTS[part] == "list"
            number = at or 0
            for page in self.site.pages(part, start=number) if is_list else self.site.pages(part, at):
                made = [_made(kind, content) for content in page]
                yield list(zip(range(number + 1, number + 1 + len(page)) if is_list else page, made, strict=True))
                number = number + len(page) if is_list else number

        return [pages]

    def _listed(self, at: int | None) -> Iterator[_Page]:
        """Entries in the order of the offers. An entry that is only in the list is not an item."""
        number = at or 0
        for page in self.site.pages("envelopes", start=number):
            members = [content[0] for content in page]
            scores = self.site.scores("timeout", members)
            yield [
                (place, None if score is None else _entry(member, score, listed=True))
                for place, (member, score) in enumerate(zip(members, scores, strict=True), number + 1)
            ]
            number += len(page)

    def _alone(self, at: Content | None) -> Iterator[_Page]:
        """Entries that are only in the zset, by due times, without leases.

        An entry that should also be in the list is searched there if the list is short.
        """
        is_short = int(self.site.ask("envelopes", "LLEN")) <= _SHORT
        for page in self.site.pages("timeout", at):
            entries = [_entry(content[0], content[1], listed=False) for content in page]
            held = self.site.scores("leases", [each.entry_id or b"" for each in entries])
            is_alone = [lease is None for lease in held]
            maybe_listed = [
                number
                for number, each in enumerate(entries)
                if is_alone[number] and (each.entry_id is None or len(each.entry_id) == 8)
            ]
            if is_short:
                places = self.site.ask_all(
                    [self.site.command("envelopes", "LPOS", entries[number].mark) for number in maybe_listed]
                )
                maybe_listed = [number for number, place in zip(maybe_listed, places, strict=True) if place is not None]
            for number in maybe_listed:
                is_alone[number] = False
            yield [
                (content, entry if alone else None)
                for content, entry, alone in zip(page, entries, is_alone, strict=True)
            ]

    def in_flight(self) -> int:
        """How many values receivers hold."""
        leases, arrivals = self.site.ask_all(
            [self.site.command("leases", "ZCARD"), self.site.command("arrivals", "LLEN")]
        )
        return int(leases) + int(arrivals)

    def vanished(self) -> int:
        """How many values are in flight although their leases have been over for a second."""
        return int(self.site.ask("leases", "ZCOUNT", "-inf", self.site.now_ms() - 1000))

    # -- with all that is known of them ------------------------------------------------------------------------------

    def _with_known(self, items: list[SourceItem]) -> list[SourceItem]:
        kind = items[0].kind
        if kind == "waiting":
            return self._waiting_known(items)
        if kind == "ready":
            return self._ready_known(items)
        return self._dead_known(items) if kind == "dead" else items

    def _waiting_known(self, items: list[SourceItem]) -> list[SourceItem]:
        known = self.tables.known([each.entry_id for each in items if each.entry_id is not None])
        return [_joined(each, known.get(each.entry_id or b"", [])) for each in items]

    def _ready_known(self, items: list[SourceItem]) -> list[SourceItem]:
        """Each ready value with the oldest record for the next delivery of such a value."""
        if not self.site.ask("histories", "EXISTS"):
            return items
        free = self._free_records(Counter(each.value or b"" for each in items))
        chosen = [free[each.value or b""].pop(0) if free[each.value or b""] else None for each in items]
        known = self.tables.known([entry_id for entry_id in chosen if entry_id is not None])
        return [
            item if entry_id is None else _joined(item, known.get(entry_id, []))
            for item, entry_id in zip(items, chosen, strict=True)
        ]

    def _free_records(self, wanted: Counter[bytes]) -> dict[bytes, list[bytes]]:
        """By value, the ids of at most this many records, oldest first, whose deliveries do not wait for a retry."""
        free: dict[bytes, list[bytes]] = {value: [] for value in wanted}
        starts = dict.fromkeys(wanted, 0)
        while starts:
            pages = self.site.ask_all(
                [
                    _of_digest(self.site, "histories", digest_of(value), start, wanted[value])
                    for value, start in starts.items()
                ]
            )
            looked = dict(zip(starts, ([member[40:] for member in page] for page in pages), strict=True))
            forms = [
                (value, entry_id, member)
                for value, ids in looked.items()
                for entry_id in ids
                for member in standing_as(entry_id, value)
            ]
            scores = self.site.scores("timeout", [member for _, _, member in forms])
            waits = {form[:2] for form, score in zip(forms, scores, strict=True) if score is not None}
            for value, ids in looked.items():
                free[value] += [entry_id for entry_id in ids if (value, entry_id) not in waits]
                starts[value] += len(ids)
                if len(free[value]) >= wanted[value] or len(ids) < wanted[value]:
                    del starts[value]
        return free

    def _dead_known(self, items: list[SourceItem]) -> list[SourceItem]:
        site = self.site
        counts = Counter(each.value or b"" for each in items)
        ranges = site.ask_all(
            [_of_digest(site, "dead_index", digest_of(value), 0, count) for value, count in counts.items()]
        )
        free = {value: list(members) for value, members in zip(counts, ranges, strict=True)}
        members = [free[each.value or b""].pop(0) if free[each.value or b""] else None for each in items]
        indexed = [member for member in members if member is not None]
        if not indexed:
            return items
        texts = dict(zip(indexed, site.ask("dead_info", "HMGET", *[each[40:] for each in indexed]), strict=True))
        scores = dict(zip(indexed, site.scores("dead_index", indexed), strict=True))
        letters = [
            _letter(item, member, texts[member], scores[member]) if member is not None else (item, None)
            for item, member in zip(items, members, strict=True)
        ]
        known = self.tables.known([name for _, name in letters if name is not None])
        return [item if name is None else _joined(item, known.get(name, [])) for item, name in letters]


def _letter(
    item: SourceItem, member: bytes, text: bytes | None, score: bytes | None
) -> tuple[SourceItem, bytes | None]:
    """A dead letter with its record, and its original entry if the record names one."""
    letter = LetterText.parse(text)
    if text is None or letter is None or score is None or letter.value != item.value:
        return item, None
    contents: KnownContents = [("dead_info", (member[40:], text)), ("dead_index", (member, score))]
    delivery = DeliveryText.parse(letter.record)
    name = item_of(delivery.context) if delivery else None
    return attrs.evolve(item, contents=item.contents + contents), name


def _of_digest(site: QueueSite, part: str, digest: bytes, start: int, most: int) -> KeyCommand:
    """Members of ``histories`` or ``dead_index`` for values with one digest, oldest first."""
    return site.command(part, "ZRANGEBYLEX", b"[" + digest, b"[" + digest + b"\xff", "LIMIT", start, most)


def _joined(item: SourceItem, contents: KnownContents) -> SourceItem:
    key = next((key_of(each[1]) for part, each in contents if part == "records" and each[0][:1] == b"e"), b"")
    return attrs.evolve(item, contents=item.contents + contents, key=key)


def _made(kind: str, content: Content) -> SourceItem:
    """An element of a list that is set aside, or of the ready list."""
    if kind == "expired":
        value: bytes | None = content[0].partition(b" ")[2]
    else:
        value = content[0] if kind in ("ready", "dead") else None
    return SourceItem(kind=kind, value=value, contents=[(KINDS[kind], content)])


def _entry(member: bytes, score: bytes, *, listed: bool) -> SourceItem:
    contents: list[tuple[str, Content]] = [("timeout", (member, score))]
    if listed:
        contents.append(("envelopes", (member,)))
    try:
        entry_id, value = unwrap(member)
    except EnvelopeError:
        return SourceItem(kind="waiting", value=None, contents=contents, score=score)
    return SourceItem(kind="waiting", value=value, contents=contents, entry_id=entry_id, score=score)
