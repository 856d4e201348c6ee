"""Imports the file of an export into a queue, each content once, however often the import is restarted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import attrs

from redisson_dq.admin.entries import DoneMark, ExchangeStep, unwrap
from redisson_dq.errors import ArgumentError, EnvelopeError, RedisReplyError
from redisson_dq.migrating.contents import renamed
from redisson_dq.migrating.file import Checked, checked, content_of, lines_of
from redisson_dq.migrating.sites import NOTED, PARTS, PASSING, Content, QueueSite

__all__ = ["Imported", "import_file"]

_BATCH, _BATCH_BYTES = 500, 1_000_000
_PUT = {"list": "+l", "zset": "+z", "hash": "+h", "string": "+s"}


@attrs.frozen(kw_only=True)
class Imported:
    """The figures of a finished import."""

    queue: str
    counts: dict[str, int]
    #: How many lines an earlier run had imported.
    resumed_at: int
    #: Entries of an inexact export that were in only one of the two keys: put into both keys, or left out.
    mended: int


def import_file(
    place: QueueSite, path: Path, *, merge: bool = False, progress: Callable[[int, int], None] | None = None
) -> Imported:
    """Imports the contents of an export into a queue, after checking the digest of the whole file.

    The queue has to be empty, unless ``merge``. Then values are added after the existing ones, and an existing entry is
    not added again. ``place`` may have another name or server. A batch is 500 contents or 1 MB, written by one script,
    which also records the progress of the import. So an interrupted import continues after its last batch when it is
    called again, and adds nothing twice. The record is removed at the end.

    Entries become due only when everything else is there: their zset is written last.

    Raises FileError, ArgumentError if the queue is not empty, and the errors of Redis.
    """
    file = checked(path)
    mark = DoneMark(key=place.keys.migrating, name=f"import {file.digest}", number=0)
    # Two simultaneous imports of one file share the record. If it is gone, the other import has ended.
    is_first = place.ask("migrating", "HSETNX", mark.name, 0)
    start = int(place.ask("migrating", "HGET", mark.name) or 0)
    there = {part: size for part, size in place.sizes().items() if part != "migrating"}
    if not start and not merge and there:
        if is_first:
            place.ask("migrating", "HDEL", mark.name)
        kinds = ", ".join(f"{size} in {place.key(part)!r}" for part, size in there.items())
        raise ArgumentError(f"queue {place.name!r}: it is not empty ({kinds}); name another one, or merge")
    target = _Importing(place, file, path, merge)
    total = file.end["lines"]
    lines = enumerate(lines_of(path))
    for _ in islice(lines, start):
        pass
    number = start
    for batch in _batches(lines, total):
        number = batch[-1][0] + 1
        try:
            steps = [each for _, fields in batch for each in target.steps(fields)]
            target.put(steps, attrs.evolve(mark, number=batch[0][0]), number)
        except (ArgumentError, RedisReplyError):
            if is_first and batch[0][0] == start:
                # Nothing was imported, so there is nothing to continue.
                place.ask("migrating", "HDEL", mark.name)
            raise
        if progress is not None:
            progress(number, total)
    target.finish(attrs.evolve(mark, number=total))
    return Imported(queue=place.name, counts=file.end["counts"], resumed_at=start, mended=target.mended)


def _batches(
    lines: Iterator[tuple[int, tuple[bytes, dict[str, Any]]]], total: int
) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    batch: list[tuple[int, dict[str, Any]]] = []
    size = 0
    for number, (line, fields) in lines:
        if number >= total:
            break
        batch.append((number, fields))
        size += len(line)
        if len(batch) >= _BATCH or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Importing:
    """The queue into which a file is imported."""

    def __init__(self, place: QueueSite, file: Checked, path: Path, merge: bool) -> None:
        self._place = place
        self._merge = merge
        self._types = place.types
        self._old, self._is_other = file.header["raw"], file.header["raw"] != place.raw
        self.mended = 0
        self._torn = _Torn(path) if not file.end["exact"] else None

    def steps(self, fields: dict[str, Any]) -> list[list[ExchangeStep]]:
        """The steps that add the content of one line."""
        if "redisson_dq_export" in fields:
            return []
        if "expires_ms" in fields:
            return (
                []
                if self._is_left_out(fields["in"])
                else [[("+t", self._place.key(fields["in"]), int(fields["expires_ms"]), b"")]]
            )
        part, content = content_of(fields)
        if self._is_left_out(part) or (self._is_left_out("capacity") and (part, content[0]) in NOTED):
            return []
        if self._is_other:
            content = renamed(part, content, self._old, self._place.raw)
        if self._torn is not None and part in ("envelopes", "timeout"):
            return self._mended(part, content)
        return [[self._put(part, content)]]

    def _is_left_out(self, part: str) -> bool:
        # An existing bounded queue keeps its own count of free places.
        return (self._is_other and part in PASSING) or (self._merge and part == "capacity")

    def _mended(self, part: str, content: Content) -> list[list[ExchangeStep]]:
        """Repairs an entry of an inexact export: it goes into both keys, or into none."""
        assert self._torn is not None
        if part == "envelopes":
            if self._torn.is_alone(content[0]):
                self.mended += 1
                return []
            return [[self._put(part, content)]]
        if self._torn.is_missing(content[0]):
            self.mended += 1
            return [[("+e", self._place.key("timeout"), content[0], content[1])]]
        return [[self._put(part, content)]]

    def _put(self, part: str, content: Content) -> ExchangeStep:
        kind = "+o" if part == "envelopes" else "+n" if part == "settings" else _PUT[PARTS[part]]
        return (kind, self._place.key(part), content[0], content[1] if len(content) > 1 else b"")

    def put(self, items: list[list[ExchangeStep]], before: DoneMark, number: int) -> None:
        """Writes a batch, and records the progress of the import. ``before`` is the expected earlier record.

        Raises ArgumentError if another import of the file has ended meanwhile.
        """
        keys, mark = self._place.keys, attrs.evolve(before, number=number)
        stands: ExchangeStep = ("=h", before.key, before.name, str(before.number))
        done = self._place.queue.exchange(
            self._types,
            [[stands, *steps] for steps in items],
            mark=mark,
            timeout=keys.timeout,
            channel=keys.channel,
        )
        if done is not None and not all(done):
            self.finish(mark)
            raise ArgumentError(
                f"queue {self._place.name!r}: another import of this file has ended, and all of it is there"
            )

    def finish(self, mark: DoneMark) -> None:
        """Removes the note."""
        note: ExchangeStep = ("-h", self._place.keys.migrating, mark.name, str(mark.number))
        self._place.queue.exchange(self._types, [[note]])


class _Torn:
    """The mirrored entries that an inexact export has in only one of the two keys.

    It keeps 16 bytes of each entry in memory.
    """

    def __init__(self, path: Path) -> None:
        self._waiting: set[bytes] = set()
        self._listed: set[bytes] = set()
        self._leases: set[bytes] = set()
        found = {"timeout": self._waiting, "envelopes": self._listed}
        for _, fields in lines_of(path):
            if "expires_ms" in fields:
                continue
            if fields.get("in") in found:
                part, content = content_of(fields)
                found[part].add(_digest(content[0]))
            elif fields.get("in") == "leases":
                self._leases.add(content_of(fields)[1][0])

    def is_alone(self, member: bytes) -> bool:
        """Whether an element of the list is not in the zset."""
        return _digest(member) not in self._waiting

    def is_missing(self, member: bytes) -> bool:
        """Whether a member of the zset should also be in the list, but is not."""
        try:
            entry_id, _ = unwrap(member)
        except EnvelopeError:
            return False
        # A lease in the legacy form has an id of eight bytes too.
        return len(entry_id) == 8 and entry_id not in self._leases and _digest(member) not in self._listed


def _digest(member: bytes) -> bytes:
    return hashlib.blake2b(member, digest_size=16).digest()
