"""Reads the items of a queue together with everything that the queue knows of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import attrs

from redisson_dq.errors import EnvelopeError
from redisson_dq.migrating.contents import DeliveryText, LetterText, digest_of, item_of, key_of
from redisson_dq.migrating.sites import Content, QueueSite
from redisson_dq.wire.envelope import Envelope, unwrap, wrap

__all__ = ["KINDS", "SourceItem", "SourceReader"]

#: The kinds of items, in the order in which a migration moves them, and the part of the queue that each stands in.
KINDS = {
    "ready": "ready",
    "waiting": "timeout",
    "dead": "dead",
    "undecodable": "undecodable",
    "quarantined": "quarantine",
    "expired": "expired",
    "newer": "newer",
}
# A list of envelopes in which one entry is looked for.
_SHORT = 1000


@attrs.frozen(kw_only=True)
class SourceItem:
    """One item, and every content of the queue that is about it."""

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
        """The bytes by which it is found again in its list or sorted set."""
        return self.contents[0][1][0]


class SourceReader:
    """Reads one queue. Some contents may change before they are taken: the script that takes them compares them all."""

    def __init__(self, site: QueueSite) -> None:
        self.site = site
        #: Of each kind the items that stay where they are.
        self.refused: dict[str, set[bytes]] = {kind: set() for kind in KINDS}
        # Of each kind how many items that stay stand in front of all others.
        self._front = dict.fromkeys(KINDS, 0)

    def items(self, kind: str, most: int, wanted: Callable[[SourceItem], bool] = lambda item: True) -> list[SourceItem]:
        """The next items of a kind, without those that are refused or not wanted."""
        found, passed, start = list[SourceItem](), 0, self._front[kind]
        for page in self.pages(kind, start):
            for item in page:
                if item.mark not in self.refused[kind] and wanted(item):
                    found.append(item)
                elif not found:
                    passed += 1
            if len(found) >= most:
                break
        self._front[kind] = start + passed
        if not found and start:
            # Others have taken some that stood in front.
            self._front[kind] = 0
            return self.items(kind, most, wanted)
        return self._with_known(found[:most]) if found else found

    def pages(self, kind: str, start: int = 0) -> Iterator[list[SourceItem]]:
        """All items of a kind, without the contents that are known beside them."""
        if kind == "waiting":
            return chain(self._listed(start), self._alone())
        part = KINDS[kind]
        if kind == "expired":
            return ([_expired(content) for content in page] for page in self.site.pages(part, start=start))
        has_value = kind in ("ready", "dead")
        return (
            [
                SourceItem(kind=kind, value=content[0] if has_value else None, contents=[(part, content)])
                for content in page
            ]
            for page in self.site.pages(part, start=start)
        )

    def _listed(self, start: int) -> Iterator[list[SourceItem]]:
        """Entries in the order of the offers. Those that stand in the list alone are none."""
        for page in self.site.pages("envelopes", start=start):
            members = [content[0] for content in page]
            scores = self.site.scores("timeout", members)
            yield [
                _entry(member, score, listed=True)
                for member, score in zip(members, scores, strict=True)
                if score is not None
            ]

    def _alone(self) -> Iterator[list[SourceItem]]:
        """Entries that stand in the zset alone, by due times, without leases.

        An entry that should stand in the list too is looked for there while the list is short.
        """
        is_short = int(self.site.ask("envelopes", "LLEN")) <= _SHORT
        for page in self.site.pages("timeout"):
            entries = [_entry(member, score, listed=False) for member, score in page]
            held = self.site.scores("leases", [each.entry_id or b"" for each in entries])
            fresh = [each for each, lease in zip(entries, held, strict=True) if lease is None]
            maybe_listed = [each for each in fresh if each.entry_id is None or len(each.entry_id) == 8]
            if not is_short:
                yield [each for each in fresh if each.entry_id is not None and len(each.entry_id) != 8]
                continue
            places = self.site.ask_all([self.site.request("envelopes", "LPOS", each.mark) for each in maybe_listed])
            listed = {each.mark for each, at in zip(maybe_listed, places, strict=True) if at is not None}
            yield [each for each in fresh if each.mark not in listed]

    def in_flight(self) -> int:
        """How many values receivers hold."""
        leases, arrivals = self.site.ask_all(
            [self.site.request("leases", "ZCARD"), self.site.request("arrivals", "LLEN")]
        )
        return int(leases) + int(arrivals)

    # -- records of items --------------------------------------------------------------------------------------------

    def _with_known(self, items: list[SourceItem]) -> list[SourceItem]:
        kind = items[0].kind
        if kind == "waiting":
            return self._waiting_known(items)
        if kind == "ready":
            return self._ready_known(items)
        return self._dead_known(items) if kind == "dead" else items

    def _waiting_known(self, items: list[SourceItem]) -> list[SourceItem]:
        known = self.known([each.entry_id for each in items if each.entry_id is not None])
        return [self._joined(each, known.get(each.entry_id or b"", [])) for each in items]

    def _ready_known(self, items: list[SourceItem]) -> list[SourceItem]:
        """Each ready value with the oldest record that belongs to the next delivery of such a value."""
        if not self.site.ask("histories", "EXISTS"):
            return items
        digests = list(dict.fromkeys(digest_of(each.value or b"") for each in items))
        ranges = self.site.ask_all(
            [
                self.site.request("histories", "ZRANGEBYLEX", b"[" + digest, b"[" + digest + b"\xff", "LIMIT", 0, 500)
                for digest in digests
            ]
        )
        free = {digest: list(members) for digest, members in zip(digests, ranges, strict=True)}
        chosen: list[bytes | None] = []
        for item in items:
            members = free[digest_of(item.value or b"")]
            while members and self._stands(members[0][40:], item.value or b""):
                members.pop(0)
            chosen.append(members.pop(0)[40:] if members else None)
        known = self.known([entry_id for entry_id in chosen if entry_id is not None])
        return [
            item if entry_id is None else self._joined(item, known.get(entry_id, []))
            for item, entry_id in zip(items, chosen, strict=True)
        ]

    def _stands(self, entry_id: bytes, value: bytes) -> bool:
        if not 8 <= len(entry_id) <= 10:
            return False
        members = [wrap(Envelope.CURRENT, entry_id, value)]
        if len(entry_id) == 8:
            members.append(wrap(Envelope.LEGACY, entry_id, value))
        return any(score is not None for score in self.site.scores("timeout", members))

    def _dead_known(self, items: list[SourceItem]) -> list[SourceItem]:
        digests = list(dict.fromkeys(digest_of(each.value or b"") for each in items))
        ranges = self.site.ask_all(
            [
                self.site.request("dead_index", "ZRANGEBYLEX", b"[" + digest, b"[" + digest + b"\xff", "LIMIT", 0, 500)
                for digest in digests
            ]
        )
        free = {digest: list(members) for digest, members in zip(digests, ranges, strict=True)}
        made = []
        for item in items:
            members = free[digest_of(item.value or b"")]
            made.append(self._letter(item, members.pop(0)) if members else item)
        return made

    def _letter(self, item: SourceItem, member: bytes) -> SourceItem:
        entry_id = member[40:]
        text = self.site.ask("dead_info", "HGET", entry_id)
        letter = LetterText.parse(text)
        (score,) = self.site.scores("dead_index", [member])
        if letter is None or score is None or letter.value != item.value:
            return item
        contents: list[tuple[str, Content]] = [("dead_info", (entry_id, text)), ("dead_index", (member, score))]
        delivery = DeliveryText.parse(letter.record)
        name = item_of(delivery.context) if delivery else None
        return self._joined(item, contents + (self.known([name]).get(name, []) if name else []))

    @staticmethod
    def _joined(item: SourceItem, contents: list[tuple[str, Content]]) -> SourceItem:
        key = next((key_of(each[1]) for part, each in contents if part == "records" and each[0][:1] == b"e"), b"")
        return attrs.evolve(item, contents=item.contents + contents, key=key)

    def known(self, ids: list[bytes]) -> dict[bytes, list[tuple[str, Content]]]:
        """By the id of an entry or a delivery, the contents of the side tables that are about it."""
        site = self.site
        parts = ("records", "deliveries", "forget", "recurring")
        there = site.ask_all([site.request(part, "EXISTS") for part in parts]) if ids else [0]
        if not any(there):
            return {}
        texts = site.ask("deliveries", "HMGET", *ids)
        owners: dict[bytes, list[bytes]] = {}
        found: dict[bytes, list[tuple[str, Content]]] = {each: [] for each in ids}
        places: list[tuple[bytes, bytes]] = []
        for entry_id, text in zip(ids, texts, strict=True):
            owners[entry_id] = [entry_id]
            delivery = DeliveryText.parse(text)
            if text is not None:
                found[entry_id].append(("deliveries", (entry_id, text)))
            if delivery is not None:
                places.append((entry_id, delivery.place(entry_id)))
                item = item_of(delivery.context)
                if item is not None and item != entry_id:
                    owners[entry_id].append(item)
        for part in ("histories", "history_ends"):
            for (entry_id, member), score in zip(
                places, site.scores(part, [member for _, member in places]), strict=True
            ):
                if score is not None:
                    found[entry_id].append((part, (member, score)))
        names = list(dict.fromkeys(chain.from_iterable(owners.values())))
        records = self._records(names)
        rules = self._rules()
        for entry_id, owned in owners.items():
            for each in owned:
                found[entry_id] += records.get(each, []) + rules.get(each, [])
        return found

    def _records(self, names: list[bytes]) -> dict[bytes, list[tuple[str, Content]]]:
        site = self.site
        fields = [kind + name for name in names for kind in (b"e", b"p", b"v", b"n", b"c")]
        texts = site.ask("records", "HMGET", *fields)
        found: dict[bytes, list[tuple[str, Content]]] = {name: [] for name in names}
        keys: list[tuple[bytes, bytes]] = []
        for number, (field, text) in enumerate(zip(fields, texts, strict=True)):
            if text is not None:
                found[names[number // 5]].append(("records", (field, text)))
                if field[:1] == b"e" and key_of(text):
                    keys.append((names[number // 5], key_of(text)))
        if keys:
            ids = site.ask("records", "HMGET", *(key for _, key in keys))
            for (name, key), entry_id in zip(keys, ids, strict=True):
                if entry_id == name:
                    found[name].append(("records", (key, entry_id)))
        for name, score in zip(names, site.scores("forget", names), strict=True):
            if score is not None:
                found[name].append(("forget", (name, score)))
        return found

    def _rules(self) -> dict[bytes, list[tuple[str, Content]]]:
        """By the entry of the occurrence that waits, the rule of a recurring offer."""
        site = self.site
        fields = {content[0]: content[1] for page in site.pages("recurring") for content in page}
        rules: dict[bytes, list[tuple[str, Content]]] = {}
        for field, entry_id in fields.items():
            if field[:1] == b"e":
                name = field[1:]
                contents: list[tuple[str, Content]] = [
                    ("recurring", (kind + name, fields[kind + name]))
                    for kind in (b"d", b"v", b"e")
                    if kind + name in fields
                ]
                (score,) = site.scores("recurring_due", [name])
                if score is not None:
                    contents.append(("recurring_due", (name, score)))
                rules[entry_id] = contents
        return rules

    # -- the rest ----------------------------------------------------------------------------------------------------

    def leftovers(self) -> Iterator[list[tuple[str, Content]]]:
        """The records of items that are gone, in groups that belong together."""
        for page in self.site.pages("records"):
            names = [field[1:] for field, _ in page if field[:1] == b"e"]
            if names:
                yield from filter(None, self._records(names).values())
        for part in ("forget", "handled"):
            for page in self.site.pages(part):
                yield [(part, content) for content in page]
        yield from filter(None, self._rules().values())

    def expiries(self, parts: Iterable[str]) -> dict[str, int]:
        """Until when the parts live that have a time to live, in epoch ms."""
        listed = list(parts)
        lefts = self.site.ask_all([self.site.request(part, "PTTL") for part in listed])
        now_ms = self.site.now_ms()
        return {part: now_ms + int(left) for part, left in zip(listed, lefts, strict=True) if int(left) > 0}


def _entry(member: bytes, score: bytes, *, listed: bool) -> SourceItem:
    contents: list[tuple[str, Content]] = [("timeout", (member, score))]
    if listed:
        contents.append(("envelopes", (member,)))
    try:
        entry_id, value = unwrap(member)
    except EnvelopeError:
        return SourceItem(kind="waiting", value=None, contents=contents, score=score)
    return SourceItem(kind="waiting", value=value, contents=contents, entry_id=entry_id, score=score)


def _expired(content: Content) -> SourceItem:
    value = content[0].partition(b" ")[2]
    return SourceItem(kind="expired", value=value, contents=[("expired", content)])
