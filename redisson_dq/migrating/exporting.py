"""Writes everything that a queue has in Redis to a file."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import attrs
from redis import Redis
from redis.exceptions import RedisError, WatchError

from redisson_dq._operations.files import is_ours, opened_alone
from redisson_dq._version import __version__
from redisson_dq.errors import ArgumentError
from redisson_dq.migrating.file import VERSION, check_expiry, content_of, header_of, line_of, lines_of
from redisson_dq.migrating.sites import PARTS, PASSING, Content, QueueSite

__all__ = ["Exported", "OnProgress", "check_free", "export"]

#: A function that is called with the number of written contents, and the number at the beginning.
OnProgress = Callable[[int, int], None]
_TRIES = 5


@attrs.frozen(kw_only=True)
class Exported:
    """The figures of a finished export."""

    queue: str
    counts: dict[str, int]
    lines: int
    sha256: str
    #: Whether nothing of the queue changed meanwhile, as observed by Redis.
    exact: bool


def export(place: QueueSite, path: Path, *, pause: bool = False, progress: OnProgress | None = None) -> Exported:
    """Writes a queue into a file of JSON lines, whose form is in ``migrating/file.py``.

    ``path`` must not exist. The lines are written to ``path`` plus ``.part``, which is renamed at the end. An
    interrupted export continues there. ``pause`` pauses delivery, and tries a few times to find a moment without
    changes. Meanwhile a file ``path`` plus ``.paused`` exists. If a killed export has left it, the next one ends the
    pause.

    The result is ``exact`` if no key of the queue changed between the first line and the last, which a ``WATCH`` on all
    keys verifies. Otherwise each content that stayed in its key is in the file once. A content that was added, removed
    or moved to another key meanwhile may be there once, twice or not at all.

    It sends reads, WATCH and EXEC, with ``pause`` also HSET and HDEL of the settings. A page is 500 contents or 1 MB.

    Raises ArgumentError if ``path`` exists, FileError for a part of another queue's export, and the errors of Redis.
    """
    check_free(place, path)
    part = path.with_name(path.name + ".part")
    note = path.with_name(path.name + ".paused")
    with _paused(place, note) if pause or note.exists() else _as_it_is() as own_pause:
        written = _write(place, part, own_pause, progress)
        for _ in range(_TRIES - 1 if pause else 0):
            if written.exact:
                break
            part.unlink()
            written = _write(place, part, own_pause, progress)
    if path.exists():
        # Another export may have ended meanwhile.
        raise ArgumentError(
            f"queue {place.name!r}: the file {str(path)!r} exists by now, and {str(part)!r} has the export"
        )
    part.rename(path)
    return written


def check_free(place: QueueSite, path: Path) -> None:
    """Raises ArgumentError if the file of an export exists."""
    if path.exists() or path.is_symlink():
        raise ArgumentError(f"queue {place.name!r}: the file {str(path)!r} exists; an export replaces none")


@contextmanager
def _as_it_is() -> Iterator[bool]:
    yield False


@contextmanager
def _paused(place: QueueSite, note: Path) -> Iterator[bool]:
    """Pauses delivery during the block. An existing pause stays. Yields whether the pause is ours.

    The note is made before the pause, and removed after it. So a pause left by a killed export is recognised as ours.
    """
    delayed = place.client.delayed_queue(place.name, transfer=False)
    was_left = note.exists()
    with opened_alone(note, "ab") as file:
        if not is_ours(file):
            raise ArgumentError(f"queue {place.name!r}: another export has paused it and still runs: {str(note)!r}")
        ours = delayed.pause() or was_left
        try:
            yield ours
        finally:
            if ours:
                delayed.resume()
            file.close()
            note.unlink()


def _write(place: QueueSite, path: Path, own_pause: bool, progress: OnProgress | None) -> Exported:
    sizes = place.sizes()
    total = sum(sizes.get(part, 0) for part in PARTS)
    with _watched(place) as is_unchanged, opened_alone(path, "a+b") as file:
        if not is_ours(file):
            raise ArgumentError(f"queue {place.name!r}: another export writes the file {str(path)!r}")
        lines = _ExportLines(place, path, file)
        # Other clients may have made changes between the two runs.
        exact = not lines.resumed
        lines.own_pause = own_pause
        if not lines.count:
            lines.add(json.dumps(_header(place), separators=(",", ":")))
        for part in PARTS:
            for page in lines.missing(part):
                for content in page:
                    lines.add_content(part, content)
                if progress is not None:
                    progress(lines.contents, max(total, lines.contents))
            lines.add_expiry(part)
        exact = is_unchanged() and exact
        return lines.finish(exact)


def _header(place: QueueSite) -> dict[str, Any]:
    info = place.queue.server_info()
    version = next((line[14:] for line in info.decode().splitlines() if line.startswith("redis_version:")), "")
    return {
        "redisson_dq_export": VERSION,
        "queue": place.name,
        "raw": place.raw,
        "server_time_ms": place.now_ms(),
        "redis": version,
        "redisson_dq": __version__,
    }


class _ExportLines:
    """The lines of one file, starting where an earlier run ended."""

    def __init__(self, place: QueueSite, path: Path, file: BinaryIO) -> None:
        self._place = place
        self._file = file
        self._digest = hashlib.sha256()
        self._counts: Counter[str] = Counter()
        self._seen: set[bytes] = set()
        self._last: tuple[str, Content | None] = ("", None)
        self.count = 0
        self.own_pause = False
        whole = 0
        for line, fields in lines_of(path):
            if "end" in fields:
                break
            if not self.count and header_of(path, fields)["raw"] != place.raw:
                raise ArgumentError(
                    f"queue {place.name!r}: the file {str(path)!r} is the part of an export of {fields['queue']!r}"
                )
            if self.count and "expires_ms" not in fields:
                part, content = content_of(fields)
                self._note(part, content)
            elif self.count:
                check_expiry(fields)
                self._last = (fields["in"], None)
            self._digest.update(line)
            self.count += 1
            whole += len(line)
        self.resumed = bool(self.count)
        # A line that was cut by a kill is removed.
        file.truncate(whole)

    def _note(self, part: str, content: Content) -> None:
        if self._last[0] != part:
            self._seen.clear()
        self._last = (part, content)
        self._counts[part] += 1
        if PARTS[part] == "hash":
            self._seen.add(content[0])

    @property
    def contents(self) -> int:
        """How many contents have been written."""
        return sum(self._counts.values())

    def missing(self, part: str) -> Iterator[list[Content]]:
        """Yields the pages of a part that are not in the file yet."""
        order = list(PARTS)
        before, last = self._last
        if (before and order.index(part) < order.index(before)) or (before == part and last is None):
            return iter(())
        if before != part:
            return self._place.pages(part)
        if PARTS[part] == "string":
            return iter(())
        seen = frozenset(self._seen)
        pages = self._place.pages(part, last, self._counts[part])
        return ([each for each in page if each[0] not in seen] for page in pages) if PARTS[part] == "hash" else pages

    def add(self, text: str) -> None:
        """One more line."""
        line = text.encode() + b"\n"
        self._file.write(line)
        self._digest.update(line)
        self.count += 1

    def add_content(self, part: str, content: Content) -> None:
        """Writes the line of one content. A pause made by the export itself is not part of the queue."""
        if self.own_pause and part == "settings" and content[0] == b"paused":
            return
        self._note(part, content)
        self.add(line_of(part, content))

    def add_expiry(self, part: str) -> None:
        """Writes the line of a key's time to live, after its contents."""
        if self._last[0] == part and self._last[1] is not None:
            left = self._place.ask(part, "PTTL")
            if left > 0:
                self.add(json.dumps({"in": part, "expires_ms": self._place.now_ms() + left}, separators=(",", ":")))

    def finish(self, exact: bool) -> Exported:
        """Writes the last line. The file is on disk when this returns."""
        digest, lines = self._digest.hexdigest(), self.count
        end = {
            "counts": dict(self._counts),
            "lines": lines,
            "sha256": digest,
            "exact": exact,
            "server_time_ms": self._place.now_ms(),
        }
        self.add(json.dumps({"end": end}, separators=(",", ":")))
        self._file.flush()
        os.fsync(self._file.fileno())
        return Exported(queue=self._place.name, counts=dict(self._counts), lines=lines, sha256=digest, exact=exact)


@contextmanager
def _watched(place: QueueSite) -> Iterator[Callable[[], bool]]:
    """Yields a function that says whether all keys of the queue are unchanged. Redis itself detects each change."""
    watching = Redis(connection_pool=place.queue.pool()).pipeline()
    keys = [place.key(part) for part in PARTS if part not in PASSING]
    can_tell = True

    def is_unchanged() -> bool:
        try:
            watching.multi()
            watching.exists(place.keys.ready)
            watching.execute()
        except (WatchError, RedisError):
            return False
        return can_tell

    try:
        try:
            watching.watch(*keys)
        except RedisError:
            # The user may not WATCH.
            can_tell = False
        yield is_unchanged
    except BaseException:
        # A server that hangs would not answer an UNWATCH. The watch ends with the connection.
        if watching.connection is not None:
            watching.connection.disconnect()
        watching.watching = False
        raise
    finally:
        with suppress(RedisError):
            watching.reset()
