"""Moves the items of a queue to another one, while producers and consumers run.

Items go in batches of 200 or 1 MB. Within one server, and in a cluster within one slot, a batch is one script. It takes
exactly these contents out of the one queue and puts them into the other. Between servers or slots a batch goes through
four states. The journal has each of them on the disk before the next step:

=========  =========================  ===========================  =================================================
state      holding key of the source  mark of the target           after a kill here, the next run
=========  =========================  ===========================  =================================================
planned    may have the batch         below the batch's number     finds what is held; writes and drops that, or
                                                                   reads the queue anew where nothing is held
held       has the batch              below the batch's number     writes the batch, then drops it
written    has the batch              the batch's number           drops it: the script of the target does nothing
dropped    has nothing of it          the batch's number           goes on with the next batch
=========  =========================  ===========================  =================================================

- From *planned* to *held* one script moves each item from the source's keys into its hash ``redisson_dq_migrating``.
- From *held* to *written* one script puts them into the target's keys, and notes the batch's number there.
- From *written* to *dropped* the fields of the hash are deleted.

So an item stands in one place at any time, and nowhere twice. An item that falls due while it is held becomes ready at
the target with the script that writes it. It is late by the time from *held* to *written*: one round trip, or until the
migration is resumed. Due items of the source are moved to its ready list meanwhile, and ready values go first.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol

import attrs
from redis.crc import key_slot

from redisson_dq.errors import ArgumentError, RedisConnectionError
from redisson_dq.migrating.contents import DeliveryText, LetterText
from redisson_dq.migrating.journal import Journal
from redisson_dq.migrating.reading import KINDS, SourceItem, SourceReader
from redisson_dq.migrating.recoding import ConversionError, Recoding, in_place
from redisson_dq.migrating.sites import PARTS, QueueSite
from redisson_dq.wire import calls
from redisson_dq.wire.calls import DoneMark, ExchangeStep
from redisson_dq.wire.request import Request

__all__ = ["STATES", "Migrated", "Migration"]

#: The states of a batch between servers or slots, in their order.
STATES = ("planned", "held", "written", "dropped")

_BATCH, _BATCH_BYTES = 200, 1_000_000
_HELD = "held"
# So many batches of ready values go before one of another kind.
_READY_FIRST = 50
#: Errors of the connection are waited out for so many seconds.
_PATIENCE = 60.0


@attrs.frozen(kw_only=True)
class Migrated:
    """The figures of a migration."""

    #: By kind how many items were moved.
    moved: dict[str, int]
    #: By kind how many items are still in the source, and by reason how many could not be converted.
    left: dict[str, int]
    refused: dict[str, int]


class _HeldWriter(Protocol):
    """A place that held items are written to."""

    @property
    def name(self) -> str:
        """The name by which held items tell it from others."""
        ...

    def write(self, migration: str, batch: int, items: Sequence[Mapping[str, Any]]) -> None:
        """Puts a batch in, once, however often it is called."""

    def forget(self, migration: str) -> None:
        """Removes the note of the last batch."""


@attrs.frozen
class _ToQueue:
    """Another queue, at any server."""

    site: QueueSite

    @property
    def name(self) -> str:
        return self.site.raw

    def write(self, migration: str, batch: int, items: Sequence[Mapping[str, Any]]) -> None:
        site = self.site
        puts = [[_step(site, each) for each in item["puts"]] for item in items]
        mark = DoneMark(key=site.keys.migrating, name=f"migrate {migration}", number=batch)
        site.run(calls.exchange(site.types, puts, mark=mark, timeout=site.keys.timeout, channel=site.keys.channel))

    def forget(self, migration: str) -> None:
        self.site.ask("migrating", "HDEL", f"migrate {migration}")


class Migration:
    """Moves all items of some queues, the partitions of one among them, to others."""

    def __init__(
        self,
        sources: Sequence[QueueSite],
        recoding: Recoding,
        *,
        journal: Journal | None = None,
        to_file: _HeldWriter | None = None,
        progress: Callable[[str, int], None] | None = None,
        on_state: Callable[[str, int], None] | None = None,
    ) -> None:
        """``progress`` is called with a kind and how many items of it were moved, ``on_state`` with the state of each
        batch and its number. Nothing is sent before :meth:`run`.
        """
        self._readers = [SourceReader(site) for site in sources]
        self._recoding = recoding
        self._journal = journal
        self._id = journal.migration if journal else secrets.token_hex(4)
        self._batch = journal.last if journal else 0
        self._writers: list[_HeldWriter] = [to_file] if to_file else [_ToQueue(site) for site in recoding.targets]
        self._to_file = to_file
        self._progress = progress or (lambda kind, count: None)
        self._on_state = on_state or (lambda state, batch: None)
        self._in_place = not to_file and [site.raw for site in sources] == [each.raw for each in recoding.targets]
        self._in_place = self._in_place and all(
            site.client is each.client for site, each in zip(sources, recoding.targets, strict=True)
        )
        # Of each source that is a target too, as where a queue gets more partitions, its number among the targets.
        self._own = (
            {}
            if to_file
            else {
                reader: number
                for reader in self._readers
                for number, site in enumerate(recoding.targets)
                if site.raw == reader.site.raw and site.client is reader.site.client
            }
        )
        self._clock = sources[0].client.runtime.clock
        self.moved: Counter[str] = Counter()
        #: By reason how many values could not be converted.
        self.reasons: Counter[str] = Counter()

    # -- the whole ---------------------------------------------------------------------------------------------------

    def run(self, *, quiet: float = 1.0, follow: bool = False) -> Migrated:
        """Moves everything, until nothing has come for ``quiet`` seconds and no receiver holds a value any more.

        With ``follow`` it goes on forwarding until it is interrupted. It may be interrupted at any point, and killed.
        Raises the errors of Redis; a connection that is lost is waited for up to a minute.
        """
        self._check()
        opened = self._start_movers()
        try:
            self._again(self._recover)
            self._again(self._settings)
            idle = failing = 0.0
            while follow or idle < quiet or self._in_flight():
                try:
                    count = self._round()
                    failing = 0.0
                except RedisConnectionError:
                    failing += 1.0
                    if failing > _PATIENCE:
                        raise
                    self._clock.sleep(1.0)
                    self._again(self._recover)
                    continue
                if self._in_place and not count:
                    break
                idle = 0.0 if count else idle + 0.1
                if not count:
                    self._clock.sleep(0.1)
        except KeyboardInterrupt:
            if not follow:
                raise
        finally:
            for handle in opened:
                handle.destroy()
        self._again(self._finish)
        return Migrated(moved=dict(self.moved), left=self._left(), refused=dict(self.reasons))

    def _check(self) -> None:
        sites = [reader.site for reader in self._readers]
        for site in (*sites, *self._recoding.targets):
            if site.ask("capacity", "EXISTS"):
                raise ArgumentError(
                    f"queue {site.name!r}: it is bounded ({site.key('capacity')!r} counts its room), and room cannot "
                    "move along with values; delete that key first, and set the size of the new queue at the end"
                )
        for site in sites:
            for other in self._recoding.targets:
                if not self._to_file and site.client is not other.client and _is_same(site, other):
                    raise ArgumentError(
                        f"queue {site.name!r}: the other URL leads to the same queue; leave --to-url out"
                    )
            for held in self._held(site):
                to = held[3][0]["to"]
                if to not in [writer.name for writer in self._writers]:
                    raise ArgumentError(
                        f"queue {site.name!r}: {site.keys.migrating!r} holds items of a migration to {to!r}; "
                        "end that one first, by --resume and its journal or by its own arguments"
                    )

    def _start_movers(self) -> list[Any]:
        """Due items become ready meanwhile, in the source and in the target."""
        places = [reader.site for reader in self._readers]
        places += [] if self._to_file or self._in_place else list(self._recoding.targets)
        handles = [site.client.delayed_queue(site.name) for site in places]
        for handle in handles:
            handle.start_moving()
        return handles

    def _again(self, step: Callable[[], Any]) -> Any:
        """Carries out a step that may safely be repeated, and waits for a connection that is lost."""
        left = _PATIENCE
        while True:
            try:
                return step()
            except RedisConnectionError:
                left -= 1.0
                if left < 0:
                    raise
                self._clock.sleep(1.0)

    def _round(self) -> int:
        """Ready values as long as there are some, and one batch of each other kind."""
        count = 0
        for reader in self._readers:
            if self._in_place:
                count += self._move(reader, "waiting")
                continue
            for kind in KINDS:
                # Those that become due meanwhile go behind them.
                for _ in range(_READY_FIRST):
                    moved = self._move(reader, "ready")
                    count += moved
                    if not moved:
                        break
                if kind != "ready":
                    count += self._move(reader, kind)
        return count

    def _in_flight(self) -> int:
        return 0 if self._in_place else sum(reader.in_flight() for reader in self._readers)

    def _left(self) -> dict[str, int]:
        left: Counter[str] = Counter()
        if not self._in_place:
            for reader in self._readers:
                if reader in self._own:
                    continue
                sizes = reader.site.sizes()
                for kind, part in KINDS.items():
                    left[kind] += sizes.get(part, 0) - (sizes.get("leases", 0) if kind == "waiting" else 0)
        return {kind: count for kind, count in left.items() if count > 0}

    # -- batches -----------------------------------------------------------------------------------------------------

    def _move(self, reader: SourceReader, kind: str) -> int:
        """Moves one batch of a kind. Gives how many items were moved."""
        recoding = self._recoding
        wanted = (lambda item: not recoding.fits(item)) if self._in_place else (lambda item: True)
        groups: dict[int, list[tuple[SourceItem, list[ExchangeStep], list[ExchangeStep]]]] = {}
        size = 0
        for item in reader.items(kind, _BATCH, wanted):
            try:
                value = recoding.value(item)
            except ConversionError as error:
                reader.refused[kind].add(item.mark)
                self.reasons[f"{kind}: {error}"[:200]] += 1
                continue
            target = 0 if self._to_file else recoding.target(item, value)
            if not self._in_place and reader in self._own and (not item.key or target == self._own[reader]):
                # It is in a queue of the targets already. Only a name says which of them it belongs to.
                reader.refused[kind].add(item.mark)
                continue
            takes, puts = recoding.steps(reader.site, item, value, target)
            groups.setdefault(target, []).append((item, takes, puts))
            size += sum(len(first) for _, _, first, _ in takes if isinstance(first, bytes))
            if size > _BATCH_BYTES:
                break
        count = 0
        for target, group in groups.items():
            count += (
                self._one_script(reader, target, group)
                if self._shares(reader.site, target)
                else self._by_states(reader, target, group)
            )
        if count:
            self._progress(kind, count)
        return count

    def _shares(self, source: QueueSite, target: int) -> bool:
        """Whether one script reaches both queues."""
        if self._to_file:
            return False
        site = self._recoding.targets[target]
        if site.client is not source.client:
            return False
        is_cluster = source.client.runtime.connections.is_cluster
        return not is_cluster or key_slot(source.keys.timeout.encode()) == key_slot(site.keys.timeout.encode())

    def _one_script(
        self, reader: SourceReader, target: int, group: list[tuple[SourceItem, list[ExchangeStep], list[ExchangeStep]]]
    ) -> int:
        source, site = reader.site, self._recoding.targets[target]
        number = self._note("planned", items=len(group), to=site.raw)
        if self._in_place:
            items = [in_place(takes, puts) for _, takes, puts in group]
        else:
            items = [[*takes, *puts] for _, takes, puts in group]
        items += self._lives(reader, site, [puts for _, _, puts in group])
        request = calls.exchange(
            {**source.types, **site.types}, items, timeout=site.keys.timeout, channel=site.keys.channel
        )
        done = (source.run(request) or [])[: len(group)]
        self._note("dropped", number, moved=sum(done))
        self.moved[group[0][0].kind] += sum(done)
        return sum(done)

    def _by_states(
        self, reader: SourceReader, target: int, group: list[tuple[SourceItem, list[ExchangeStep], list[ExchangeStep]]]
    ) -> int:
        source, writer = reader.site, self._writers[target]
        number = self._note("planned", items=len(group), to=writer.name)
        site = None if self._to_file else self._recoding.targets[target]
        items = []
        for place, (item, takes, puts) in enumerate(group):
            held: dict[str, Any] = {"to": writer.name, "kind": item.kind}
            if site is None:
                held |= {"puts": [], **_shown(source, item)}
            else:
                steps = [*puts, *chain.from_iterable(self._lives(reader, site, [puts]))]
                held["puts"] = _told(site, steps)
            field = f"{_HELD} {self._id} {number} {place}"
            text = json.dumps(held, separators=(",", ":")).encode()
            items.append([*takes, ("+h", source.keys.migrating, field, text)])
        done = source.run(calls.exchange(source.types, items)) or []
        if any(done):
            self._note("held", number)
        return self._write(source, self._id, number, _ours(self._held(source), self._id, number))

    def _write(
        self, source: QueueSite, migration: str, number: int, held: tuple[list[bytes], list[Mapping[str, Any]]]
    ) -> int:
        """Writes a batch that is held, and drops it. Gives how many items it has."""
        fields, items = held
        if not items:
            return 0
        writer = next(each for each in self._writers if each.name == items[0]["to"])
        writer.write(migration, number, items)
        self._note("written", number)
        source.ask("migrating", "HDEL", *fields)
        self._note("dropped", number)
        for item in items:
            self.moved[item["kind"]] += 1
        return len(items)

    def _note(self, state: str, number: int | None = None, **more: Any) -> int:
        if number is None:
            self._batch += 1
            number = self._batch
        if self._journal is not None:
            self._journal.note(state, number, **more)
        self._on_state(state, number)
        return number

    def _held(self, source: QueueSite) -> Iterator[tuple[str, int, list[bytes], list[Mapping[str, Any]]]]:
        """The batches that a queue holds: migration, number, fields, items in their order."""
        found: dict[tuple[int, str], list[tuple[int, bytes, bytes]]] = {}
        for page in source.pages("migrating"):
            for field, text in page:
                words = field.decode(errors="replace").split(" ")
                if words[0] == _HELD and len(words) == 4:
                    found.setdefault((int(words[2]), words[1]), []).append((int(words[3]), field, text))
        for (number, migration), rows in sorted(found.items()):
            rows.sort()
            yield migration, number, [field for _, field, _ in rows], [json.loads(text) for _, _, text in rows]

    def _recover(self) -> None:
        """Ends the batches that an earlier run, or a lost connection, has left."""
        for reader in self._readers:
            for migration, number, fields, items in list(self._held(reader.site)):
                self._batch = max(self._batch, number if migration == self._id else 0)
                # The note of another migration stays: its process may stand still, and write the batch later.
                self._write(reader.site, migration, number, (fields, items))
        if self._journal is None or self._to_file:
            return
        # A number that a target has seen is not used again.
        for site in self._recoding.targets:
            seen = site.ask("migrating", "HGET", f"migrate {self._id}")
            self._batch = max(self._batch, int(seen or 0))

    # -- beside the items --------------------------------------------------------------------------------------------

    def _settings(self) -> None:
        """A paused queue is paused under its new name before anything comes there."""
        if self._in_place or self._to_file:
            return
        for reader in self._readers:
            settings = [content for page in reader.site.pages("settings") for content in page]
            for site in self._recoding.targets:
                puts: list[list[ExchangeStep]] = [
                    [("+n", site.key("settings"), field, value)] for field, value in settings
                ]
                site.run(calls.exchange(site.types, puts))

    def _finish(self) -> None:
        """Moves the records of items that are gone, and the settings. Removes the notes."""
        for reader in self._readers:
            if not (self._in_place or self._to_file or reader in self._own):
                self._leftovers(reader)
                settings = [content for page in reader.site.pages("settings") for content in page]
                takes: list[list[ExchangeStep]] = [
                    [("-h", reader.site.key("settings"), field, value)] for field, value in settings
                ]
                reader.site.run(calls.exchange(reader.site.types, takes))
        for writer in self._writers:
            writer.forget(self._id)

    def _leftovers(self, reader: SourceReader) -> None:
        for contents in reader.leftovers():
            item = SourceItem(kind="remembered", value=None, contents=contents, key=_key_in(contents))
            target = self._recoding.target(item, b"")
            takes, puts = self._recoding.steps(reader.site, item, b"", target)
            group = [(item, takes, puts)]
            if self._shares(reader.site, target):
                self._one_script(reader, target, group)
            else:
                self._by_states(reader, target, group)

    def _lives(self, reader: SourceReader, site: QueueSite, puts: list[list[ExchangeStep]]) -> list[list[ExchangeStep]]:
        """The steps that let the other queue's keys live as long as those of this one."""
        keys = {key for steps in puts for _, key, _, _ in steps}
        parts = [part for part in PARTS if PARTS[part] in ("hash", "zset") and site.key(part) in keys]
        parts = [part for part in parts if part != "timeout"]
        if not parts:
            return []
        return [[("+t", site.key(part), at_ms, b"")] for part, at_ms in reader.expiries(parts).items()]


def _is_same(one: QueueSite, other: QueueSite) -> bool:
    """Whether two clients lead to one queue: the same server process, database and name."""
    if one.raw != other.raw or one.client.runtime.connections.database != other.client.runtime.connections.database:
        return False
    ids = [
        re.search(rb"run_id:(\w+)", each.run(Request(words=("INFO", "server"), types={each.raw: ""}, parse=bytes)))
        for each in (one, other)
    ]
    return ids[0] is not None and ids[1] is not None and ids[0][1] == ids[1][1]


def _step(site: QueueSite, told: Sequence[str]) -> ExchangeStep:
    kind, part, first, second = told
    return kind, site.key(part), base64.b64decode(first), base64.b64decode(second)


def _told(site: QueueSite, steps: Sequence[ExchangeStep]) -> list[list[str]]:
    """Steps as JSON, by the parts of the queue."""
    parts = {site.key(part): part for part in PARTS}
    return [[kind, parts[key], _text(first), _text(second)] for kind, key, first, second in steps]


def _text(word: Any) -> str:
    return base64.b64encode(word if isinstance(word, bytes) else str(word).encode()).decode()


def _shown(source: QueueSite, item: SourceItem) -> dict[str, Any]:
    """The item for a file: all that is known of it beside its value."""
    due_ms = None if item.score is None else float(item.score)
    told: dict[str, Any] = {
        "queue": source.name,
        "kind": item.kind,
        "id": item.key[1:].decode(errors="replace") if item.key[:1] == b"i" else None,
        "due_ms": None if due_ms is None or abs(due_ms) >= 2**53 else -int(-due_ms // 1),
        "bytes": _text(item.mark if item.value is None else item.value),
    }
    for part, content in item.contents:
        if part == "recurring" and content[0][:1] == b"d":
            told["recurring"] = {"id": content[0][1:].decode(errors="replace")} | json.loads(content[1])
        letter = LetterText.parse(content[1]) if part == "dead_info" else None
        delivery = DeliveryText.parse(letter.record if letter else content[1] if part == "deliveries" else None)
        if delivery is not None:
            told["attempts"] = int(delivery.numbers.split(b" ")[0])
            told["reason"] = delivery.reason.decode(errors="replace")
            told["context"] = delivery.context.decode(errors="replace")
    return told


def _ours(
    held: Iterator[tuple[str, int, list[bytes], list[Mapping[str, Any]]]], migration: str, number: int
) -> tuple[list[bytes], list[Mapping[str, Any]]]:
    return next(((each[2], each[3]) for each in held if each[:2] == (migration, number)), ([], []))


def _key_in(contents: list[tuple[str, Any]]) -> bytes:
    keys = [content[0] for part, content in contents if part == "records" and content[0][:1] in (b"i", b"h")]
    return keys[0] if keys else b""
