"""Moves one batch of items at a time: by one script, or through four states.

Items go in batches of 200 or 1 MB. Within one server, and in a cluster within one slot, a batch is one script. The
script takes exactly these contents out of one queue and puts them into the other. Between servers or slots a batch goes
through four states. Each state is on disk in the journal before the next step:

=========  =========================  ===========================  =================================================
state      holding key of the source  mark of the target           after a kill here, the next run
=========  =========================  ===========================  =================================================
planned    may have the batch         below the batch's number     finds what is held; writes and drops that, or
                                                                   reads the queue again where nothing is held
held       has the batch              below the batch's number     writes the batch, then drops it
written    has the batch              the batch's number           drops it: the script of the target does nothing
dropped    has nothing of it          the batch's number           goes on with the next batch
=========  =========================  ===========================  =================================================

- From *planned* to *held* one script moves each item from the source's keys into its hash ``redisson_dq_migrating``.
- From *held* to *written* one script puts them into the target's keys, and notes the batch's number there.
- From *written* to *dropped* the fields of the hash are deleted.

So at any time an item is in exactly one place. An item that falls due while it is held becomes ready at
the target with the script that writes it. It is late by the time from *held* to *written*: one round trip, or until the
migration is resumed. Due items of the source are moved to its ready list meanwhile, and ready values go first.

A script whose reply was lost may still arrive later, if a connection was stalled. Each script requires the token of its
own run in the source, or the number of the previous batch in the target. Otherwise it does nothing.

A failover loses the writes that the replica had not received. With a ``Durability``, a state begins only when the
replicas have confirmed the previous one. The token of a run is confirmed too, and with it everything that earlier runs
have written.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import attrs
from redis.crc import key_slot

from redisson_dq.admin.entries import ExchangeStep
from redisson_dq.durability import Durability
from redisson_dq.migrating.holding import HeldBatch, SourceNotes, as_line, as_told, held_batches, holding
from redisson_dq.migrating.journal import Journal
from redisson_dq.migrating.reading import SourceItem, SourceReader
from redisson_dq.migrating.recoding import ConversionError, Recoding, in_place
from redisson_dq.migrating.sites import PARTS, QueueSite
from redisson_dq.migrating.writing import HeldWriter, ToQueue

__all__ = ["BATCH", "STATES", "BatchMover", "SourceQueue"]

#: The states of a batch between servers or slots, in their order.
STATES = ("planned", "held", "written", "dropped")

BATCH, _BATCH_BYTES = 200, 1_000_000


@attrs.frozen(kw_only=True)
class _Going:
    """An item being moved, the steps that take it, and the steps that put it."""

    item: SourceItem
    takes: list[ExchangeStep]
    puts: list[ExchangeStep]


@attrs.frozen(kw_only=True, eq=False)
class SourceQueue:
    """A queue from which items are moved: its reader and its notes."""

    reader: SourceReader
    notes: SourceNotes
    #: Its number among the targets, if it is also a target, as when a queue gets more partitions.
    own: int | None

    @property
    def site(self) -> QueueSite:
        """The queue."""
        return self.reader.site


class BatchMover:
    """Moves batches out of some queues. It counts them, and records each in the journal."""

    def __init__(
        self,
        sites: Sequence[QueueSite],
        recoding: Recoding,
        *,
        journal: Journal | None,
        to_file: HeldWriter | None,
        durable: Durability | None,
        on_state: Callable[[str, int], None],
    ) -> None:
        """Nothing is sent yet. ``on_state`` is called with the state of each batch and its number."""
        self._recoding = recoding
        self._journal = journal
        self.migration = journal.migration if journal else secrets.token_hex(4)
        self._batch = journal.last if journal else 0
        self._to_file = to_file
        self._durable = durable
        self.writers: list[HeldWriter] = [to_file] if to_file else [ToQueue(site, durable) for site in recoding.targets]
        self._on_state = on_state
        targets = [] if to_file else list(recoding.targets)
        #: Whether items only change their form.
        self.in_place = len(sites) == len(targets) and all(
            _is_one(site, target) for site, target in zip(sites, targets, strict=True)
        )
        self.sources = [
            SourceQueue(
                reader=SourceReader(site),
                notes=SourceNotes(site, self.migration, durable),
                own=next((number for number, target in enumerate(targets) if _is_one(site, target)), None),
            )
            for site in sites
        ]
        # Items that another migration held, and this one has written.
        self._taken_over: Counter[str] = Counter()
        # The items of this run. Another migration that ends may have removed the notes of one that hung.
        self._own: Counter[str] = Counter()
        #: How many values could not be converted, by reason.
        self.reasons: Counter[str] = Counter()

    # -- the beginning and the end -----------------------------------------------------------------------------------

    def recover(self) -> None:
        """Completes the batches left by an earlier run or a lost connection."""
        for source in self.sources:
            if self._journal is not None and self._journal.is_ended:
                source.notes.forget()
            source.notes.begin()
            for held in held_batches(source.site):
                self._batch = max(self._batch, held.number if held.migration == self.migration else 0)
                # The note of another migration stays: its process may hang, and write the batch later.
                written = self._write(source.site, held)
                if held.migration != self.migration:
                    self._taken_over += written
        if self._journal is not None:
            # A number that a target has recorded is not used again.
            self._batch = max(self._batch, *(writer.seen(self.migration) for writer in self.writers))

    def moved(self) -> Counter[str]:
        """By kind how many items all runs have moved."""
        moved = Counter(self._taken_over)
        if self._journal is not None:
            moved += self._journal.moved
        # The journal of a finished migration also counts the items of the notes.
        if self._journal is None or not self._journal.is_ended:
            noted = Counter[str]()
            for source in self.sources:
                noted += source.notes.moved()
            moved += noted | self._own
        return moved

    def forget(self) -> None:
        """Removes the notes, and keeps their counts in the journal."""
        if self._journal is not None:
            self._journal.note_end(self.moved())
            self._taken_over.clear()
        for source in self.sources:
            source.notes.forget()
        self._own.clear()
        for writer in self.writers:
            writer.forget(self.migration)

    # -- a batch -----------------------------------------------------------------------------------------------------

    def move(self, source: SourceQueue, kind: str) -> int:
        """Moves one batch of a kind. Returns how many items were moved."""
        recoding, reader = self._recoding, source.reader
        wanted = (lambda item: not recoding.fits(item)) if self.in_place else (lambda item: True)
        groups: dict[int, list[_Going]] = {}
        size = 0
        for item in reader.items(kind, BATCH, wanted):
            try:
                value = recoding.value(item)
            except ConversionError as error:
                reader.refused[kind].add(item.mark)
                self.reasons[f"{kind}: {error}"[:200]] += 1
                continue
            target = 0 if self._to_file else recoding.target(item, value)
            if not self.in_place and source.own is not None and (not item.key or target == source.own):
                # The item is already in one of the targets. Only an id determines the target that it belongs to.
                reader.refused[kind].add(item.mark)
                continue
            takes, puts = recoding.steps(source.site, item, value, target)
            groups.setdefault(target, []).append(_Going(item=item, takes=takes, puts=puts))
            size += sum(len(first) for _, _, first, _ in takes if isinstance(first, bytes))
            if size > _BATCH_BYTES:
                break
        count = sum(self._send(source, target, group) for target, group in groups.items())
        self._own[kind] += count
        return count

    def move_leftovers(self, source: SourceQueue) -> None:
        """Moves the records of items that are gone."""
        groups: dict[int, list[_Going]] = {}
        for page in source.reader.tables.leftovers():
            for contents in page:
                item = SourceItem(kind="remembered", value=None, contents=contents, key=_key_in(contents))
                target = self._recoding.target(item, b"")
                takes, puts = self._recoding.steps(source.site, item, b"", target)
                groups.setdefault(target, []).append(_Going(item=item, takes=takes, puts=puts))
                if len(groups[target]) >= BATCH:
                    self._send(source, target, groups.pop(target))
        for target, group in groups.items():
            self._send(source, target, group)

    def _send(self, source: SourceQueue, target: int, group: list[_Going]) -> int:
        one_script = self._shares(source.site, target)
        count = (self._one_script if one_script else self._by_states)(source, target, group)
        if not count:
            source.notes.check()
        return count

    def _shares(self, source: QueueSite, target: int) -> bool:
        """Whether one script reaches both queues."""
        if self._to_file:
            return False
        site = self._recoding.targets[target]
        if site.client is not source.client:
            return False
        is_cluster = source.queue.servers.is_cluster
        return not is_cluster or key_slot(source.keys.timeout.encode()) == key_slot(site.keys.timeout.encode())

    def _one_script(self, source: SourceQueue, target: int, group: list[_Going]) -> int:
        site = self._recoding.targets[target]
        number = self._note("planned", items=len(group), to=site.raw)
        items = [
            [
                *source.notes.steps(each.item.kind),
                *(in_place(each.takes, each.puts) if self.in_place else [*each.takes, *each.puts]),
            ]
            for each in group
        ]
        items += self._lives(source, site, group)
        done = source.site.queue.exchange(
            {**source.site.types, **site.types},
            items,
            timeout=site.keys.timeout,
            channel=site.keys.channel,
            durable=self._durable,
        )
        done = (done or [])[: len(group)]
        self._note("dropped", number, moved=sum(done))
        return sum(done)

    def _by_states(self, source: SourceQueue, target: int, group: list[_Going]) -> int:
        writer = self.writers[target]
        number = self._note("planned", items=len(group), to=writer.name)
        site = None if self._to_file else self._recoding.targets[target]
        items = []
        for place, each in enumerate(group):
            held: dict[str, Any] = {"to": writer.name, "kind": each.item.kind}
            if site is None:
                held |= {"puts": [], **as_line(source.site, each.item)}
            else:
                lives = chain.from_iterable(self._lives(source, site, [each]))
                held["puts"] = as_told(site, [*each.puts, *lives])
            step = holding(source.site, self.migration, number, place, held)
            items.append([*source.notes.steps(each.item.kind), *each.takes, step])
        done = source.site.queue.exchange(source.site.types, items, durable=self._durable) or []
        if not any(done):
            return 0
        self._note("held", number)
        # Another migration may have ended the batch meanwhile.
        for batch in held_batches(source.site):
            if (batch.migration, batch.number) == (self.migration, number):
                self._write(source.site, batch)
        return sum(done)

    def _write(self, source: QueueSite, held: HeldBatch) -> Counter[str]:
        """Writes a held batch, and drops it. Returns how many items of each kind it has."""
        writer = next(each for each in self.writers if each.name == held.to)
        writer.write(held.migration, held.number, held.items)
        self._note("written", held.number)
        source.ask("migrating", "HDEL", *held.fields)
        self._note("dropped", held.number)
        return Counter(item["kind"] for item in held.items)

    def _note(self, state: str, number: int | None = None, **more: Any) -> int:
        if number is None:
            self._batch += 1
            number = self._batch
        if self._journal is not None:
            self._journal.note(state, number, **more)
        self._on_state(state, number)
        return number

    def _lives(self, source: SourceQueue, site: QueueSite, group: list[_Going]) -> list[list[ExchangeStep]]:
        """The steps that give the other queue's keys the same time to live as this queue's."""
        keys = {key for each in group for _, key, _, _ in each.puts}
        parts = [part for part in PARTS if PARTS[part] in ("hash", "zset") and site.key(part) in keys]
        parts = [part for part in parts if part != "timeout"]
        if not parts:
            return []
        return [[("+t", site.key(part), at_ms, b"")] for part, at_ms in source.reader.tables.expiries(parts).items()]


def _is_one(site: QueueSite, other: QueueSite) -> bool:
    return site.raw == other.raw and site.client is other.client


def _key_in(contents: list[tuple[str, Any]]) -> bytes:
    keys = [content[0] for part, content in contents if part == "records" and content[0][:1] in (b"i", b"h")]
    return keys[0] if keys else b""
