"""Reads what a queue stores besides its entries: records of items and deliveries, rules of recurring offers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from redisson_dq.migrating.contents import DeliveryText, item_of, key_of, standing_as
from redisson_dq.migrating.sites import Content, QueueSite

__all__ = ["KnownContents", "SideTables"]

#: Contents of the side tables, each with its part of the queue.
KnownContents = list[tuple[str, Content]]


class SideTables:
    """The side tables of one queue. Reading many items takes as many round trips as reading one."""

    def __init__(self, site: QueueSite) -> None:
        self.site = site

    def known(self, ids: list[bytes]) -> dict[bytes, KnownContents]:
        """The contents that belong to each entry or delivery, by its id."""
        site = self.site
        parts = ("records", "deliveries", "forget", "recurring")
        there = site.ask_all([site.command(part, "EXISTS") for part in parts]) if ids else [0]
        if not any(there):
            return {}
        texts = site.ask("deliveries", "HMGET", *ids)
        owners: dict[bytes, list[bytes]] = {}
        found: dict[bytes, KnownContents] = {each: [] for each in ids}
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

    def _records(self, names: list[bytes]) -> dict[bytes, KnownContents]:
        site = self.site
        fields = [kind + name for name in names for kind in (b"e", b"p", b"v", b"n", b"c")]
        texts = site.ask("records", "HMGET", *fields)
        found: dict[bytes, KnownContents] = {name: [] for name in names}
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

    def _rules(self) -> dict[bytes, KnownContents]:
        """The rule of each recurring offer, by the entry of its next occurrence."""
        site = self.site
        fields = {content[0]: content[1] for page in site.pages("recurring") for content in page}
        names = [field[1:] for field in fields if field[:1] == b"e"]
        rules: dict[bytes, KnownContents] = {}
        for name, score in zip(names, site.scores("recurring_due", names), strict=True):
            contents: KnownContents = [
                ("recurring", (kind + name, fields[kind + name]))
                for kind in (b"d", b"v", b"e")
                if kind + name in fields
            ]
            if score is not None:
                contents.append(("recurring_due", (name, score)))
            rules[fields[b"e" + name]] = contents
        return rules

    def leftovers(self) -> Iterator[list[KnownContents]]:
        """The records of items that no longer exist, in groups that belong together, page by page.

        An item that still waits, or that a receiver holds, keeps its records.
        """
        for page in self.site.pages("records"):
            names = [field[1:] for field, _ in page if field[:1] == b"e"]
            if names:
                records = self._records(names)
                alive = self._alive(records)
                yield [contents for name, contents in records.items() if contents and name not in alive]
        for part in ("forget", "handled"):
            for page in self.site.pages(part):
                yield [[(part, content)] for content in page]
        yield [contents for contents in self._rules().values() if contents]

    def _alive(self, records: dict[bytes, KnownContents]) -> set[bytes]:
        """The items whose entry waits, or whose delivery a receiver holds."""
        entries, leases = list[tuple[bytes, bytes]](), list[tuple[bytes, bytes]]()
        for name, contents in records.items():
            for part, content in contents:
                if part == "records" and content[0][:1] == b"v":
                    entries += [(name, member) for member in standing_as(name, content[1])]
                elif part == "records" and content[0][:1] == b"p" and content[1][:1] == b"l":
                    leases.append((name, content[1][1:]))
        alive = set[bytes]()
        for part, found in (("timeout", entries), ("leases", leases)):
            scores = self.site.scores(part, [member for _, member in found])
            alive |= {name for (name, _), score in zip(found, scores, strict=True) if score is not None}
        return alive

    def expiries(self, parts: Iterable[str]) -> dict[str, int]:
        """When the parts with a time to live expire, in epoch ms."""
        listed = list(parts)
        lefts = self.site.ask_all([self.site.command(part, "PTTL") for part in listed])
        now_ms = self.site.now_ms()
        return {part: now_ms + int(left) for part, left in zip(listed, lefts, strict=True) if int(left) > 0}
