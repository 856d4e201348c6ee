"""The fields of a source's hash ``migrating``: items being moved, the run that moves them, and the counts."""

from __future__ import annotations

import base64
import json
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from redisson_dq.admin.entries import ExchangeStep
from redisson_dq.durability import Durability
from redisson_dq.errors import ArgumentError
from redisson_dq.migrating.contents import DeliveryText, LetterText, latest_of
from redisson_dq.migrating.reading import SourceItem
from redisson_dq.migrating.sites import PARTS, QueueSite

__all__ = ["HeldBatch", "SourceNotes", "as_line", "as_steps", "as_told", "held_batches", "holding"]

_HELD = "held"


@attrs.frozen(kw_only=True)
class HeldBatch:
    """A batch that a source holds: its fields in the hash, and its items in their order."""

    migration: str
    number: int
    fields: list[bytes]
    items: list[Mapping[str, Any]]

    @property
    def to(self) -> str:
        """The name of the writer for which it is held."""
        name: str = self.items[0]["to"]
        return name


def held_batches(source: QueueSite) -> list[HeldBatch]:
    """All batches that a queue holds, by number."""
    found: dict[tuple[int, str], list[tuple[int, bytes, bytes]]] = {}
    for page in source.pages("migrating"):
        for field, text in page:
            words = field.decode(errors="replace").split(" ")
            if words[0] == _HELD and len(words) == 4:
                found.setdefault((int(words[2]), words[1]), []).append((int(words[3]), field, text))
    return [
        HeldBatch(
            migration=migration,
            number=number,
            fields=[field for _, field, _ in sorted(rows)],
            items=[json.loads(text) for _, _, text in sorted(rows)],
        )
        for (number, migration), rows in sorted(found.items())
    ]


def holding(source: QueueSite, migration: str, batch: int, place: int, item: Mapping[str, Any]) -> ExchangeStep:
    """The step that puts one item into the hash."""
    text = json.dumps(item, separators=(",", ":")).encode()
    return ("+h", source.keys.migrating, f"{_HELD} {migration} {batch} {place}", text)


class SourceNotes:
    """The notes of one migration in its source queue.

    The field of ``run`` and the migration has the token of the current run. So a late script of an earlier run does
    nothing. The field of ``moved``, the migration and a kind counts the items of all runs, in the scripts that take
    them.
    """

    def __init__(self, site: QueueSite, migration: str, durable: Durability | None) -> None:
        self._site = site
        self._migration = migration
        self._durable = durable
        self._token = ""
        #: The counts of other migrations when this run began.
        self._others: dict[bytes, bytes] | None = None

    def begin(self) -> None:
        """Disables scripts of earlier runs, and scripts that were sent before a connection was lost."""
        if self._others is None:
            self._others = dict(self._counts())
        self._token = secrets.token_hex(4)
        self._site.ask("migrating", "HSET", self._run, self._token, durable=self._durable)

    def check(self) -> None:
        """Raises ArgumentError if another run has begun."""
        if self._site.ask("migrating", "HGET", self._run) != self._token.encode():
            raise ArgumentError(
                f"queue {self._site.name!r}: another run moves its items now, or has ended; see it with "
                "redisson-dq stats, and go on by --resume"
            )

    def steps(self, kind: str) -> list[ExchangeStep]:
        """The steps added to those of one item: it is moved only by this run, and counted."""
        key = self._site.keys.migrating
        return [("=h", key, self._run, self._token), ("+i", key, f"moved {self._migration} {kind}", "1")]

    def moved(self) -> Counter[str]:
        """How many items were moved, by kind."""
        before = f"moved {self._migration} "
        return Counter(
            {
                field.decode().removeprefix(before): int(count)
                for field, count in self._counts()
                if field.startswith(before.encode())
            }
        )

    def forget(self) -> None:
        """Removes the notes, and those of abandoned migrations. Nothing is held any more.

        A migration whose counts have changed since this run began is not abandoned.
        """
        others = self._others or {}
        busy = {_migration(field) for field, count in self._counts() if others.get(field) != count}
        busy.discard(self._migration.encode())
        fields = [
            field
            for page in self._site.pages("migrating")
            for field, _ in page
            if field.split(b" ")[0] in (b"run", b"moved") and _migration(field) not in busy
        ]
        if fields:
            self._site.ask("migrating", "HDEL", *fields)

    def _counts(self) -> list[tuple[bytes, bytes]]:
        return [
            (field, count)
            for page in self._site.pages("migrating")
            for field, count in page
            if field.startswith(b"moved ")
        ]

    @property
    def _run(self) -> str:
        return f"run {self._migration}"


def _migration(field: bytes) -> bytes:
    """The migration of a note."""
    return field.split(b" ")[1]


# -- items as JSON ---------------------------------------------------------------------------------------------------


def as_told(site: QueueSite, steps: Sequence[ExchangeStep]) -> list[list[str]]:
    """The steps that put an item into another queue, by the parts of that queue."""
    parts = {site.key(part): part for part in PARTS}
    return [[kind, parts[key], _text(first), _text(second)] for kind, key, first, second in steps]


def as_steps(site: QueueSite, told: Sequence[Sequence[str]]) -> list[ExchangeStep]:
    """The steps of :func:`as_told`."""
    return [
        (kind, site.key(part), base64.b64decode(first), base64.b64decode(second)) for kind, part, first, second in told
    ]


def as_line(source: QueueSite, item: SourceItem) -> dict[str, Any]:
    """The item for a file: everything that is known of it except its value."""
    due_ms = None if item.score is None else float(item.score)
    told: dict[str, Any] = {
        "queue": source.name,
        "kind": item.kind,
        "id": item.key[1:].decode(errors="replace") if item.key[:1] == b"i" else None,
        "due_ms": None if due_ms is None or abs(due_ms) >= 2**53 else -int(-due_ms // 1),
        "bytes": _text(item.mark if item.value is None else item.value),
    }
    for part, content in item.contents:
        if part == "records" and content[0][:1] == b"e" and (latest_ms := latest_of(content[1])):
            told["expires_ms"] = latest_ms
        if part == "recurring" and content[0][:1] == b"d":
            told["recurring"] = {"id": content[0][1:].decode(errors="replace")} | json.loads(content[1])
        letter = LetterText.parse(content[1]) if part == "dead_info" else None
        delivery = DeliveryText.parse(letter.record if letter else content[1] if part == "deliveries" else None)
        if delivery is not None:
            told["attempts"] = int(delivery.numbers.split(b" ")[0])
            told["first_received_ms"] = int(delivery.numbers.split(b" ")[3]) or None
            told["reason"] = delivery.reason.decode(errors="replace")
            told["context"] = delivery.context.decode(errors="replace")
    return told


def _text(word: Any) -> str:
    return base64.b64encode(word if isinstance(word, bytes) else str(word).encode()).decode()
