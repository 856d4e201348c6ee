"""Writes all that a queue has in Redis into a file."""

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
from redisson_dq.migrating.file import VERSION, content_of, header_of, line_of, lines_of
from redisson_dq.migrating.sites import PARTS, PASSING, Content, QueueSite

__all__ = ["Exported", "OnProgress", "check_free", "export"]

#: A function that is called with the number of contents that are written, and how many there were at the beginning.
OnProgress = Callable[[int, int], None]
_TRIES = 5


@attrs.frozen(kw_only=True)
class Exported:
    """The figures of a finished export."""

    queue: str
    counts: dict[str, int]
    lines: int
    sha256: str
    #: Whether nothing of the queue changed meanwhile, as Redis itself tells.
    exact: bool


def export(place: QueueSite, path: Path, *, pause: bool = False, progress: OnProgress | None = None) -> Exported:
    """Writes a queue into a file of JSON lines, whose form is in ``migrating/file.py``.

    ``path`` must not exist. The lines go to ``path`` with ``.part`` behind it, which is renamed at the end. An export
    that was ended goes on there. ``pause`` pauses delivery, and tries a few times to find a moment without changes.
    The file with ``.paused`` behind it says so. Where it is left by a killed export, the next one ends the pause.

    The result is ``exact`` where no key of the queue changed from the first line to the last. A ``WATCH`` on all of
    them tells that. Otherwise each content that stood in one key all the time is in the file once. One that came, went
    or moved from one key to another meanwhile may be there once, twice or not at all.

    It sends reads, WATCH and EXEC, with ``pause`` also HSET and HDEL of the settings. A page is 500 contents or 1 MB.

    Raises ArgumentError where ``path`` exists, FileError for a part of another queue's export, and the errors of Redis.
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
        # One that ended meanwhile.
        raise ArgumentError(
            f"queue {place.name!r}: the file {str(path)!r} exists by now, and {str(part)!r} has the export"
        )
    part.rename(path)
    return written


def check_free(place: QueueSite, path: Path) -> None:
    """Raises ArgumentError where the file of an export exists."""
    if path.exists() or path.is_symlink():
        raise ArgumentError(f"queue {place.name!r}: the file {str(path)!r} exists; an export replaces none")


@contextmanager
def _as_it_is() -> Iterator[bool]:
    yield False


@contextmanager
def _paused(place: QueueSite, note: Path) -> Iterator[bool]:
    """Delivery stands still meanwhile. A pause that was there before stays. Gives whether the pause is ours.

    The note is made before the pause, and goes after it. So a pause that a killed export has left is known as ours.
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
        # Other clients may have changed something between the two runs.
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
    """The lines of one file, from where an earlier run has ended."""

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
                self._last = (fields["in"], None)
            self._digest.update(line)
            self.count += 1
            whole += len(line)
        self.resumed = bool(self.count)
        # A line that a kill has cut goes.
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
        """How many contents are written."""
        return sum(self._counts.values())

    def missing(self, part: str) -> Iterator[list[Content]]:
        """The pages of a part that are not in the file yet."""
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
        """The line of one content. The pause that the export itself has made is none of the queue's."""
        if self.own_pause and part == "settings" and content[0] == b"paused":
            return
        self._note(part, content)
        self.add(line_of(part, content))

    def add_expiry(self, part: str) -> None:
        """The line of a key's time to live, behind its contents."""
        if self._last[0] == part and self._last[1] is not None:
            left = self._place.ask(part, "PTTL")
            if left > 0:
                self.add(json.dumps({"in": part, "expires_ms": self._place.now_ms() + left}, separators=(",", ":")))

    def finish(self, exact: bool) -> Exported:
        """The last line. The file is on the disk when this returns."""
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
    """Gives a function that says whether no key of the queue has changed since. Redis itself notices each change."""
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
        # A server that stands still would not answer an UNWATCH. It ends the watch with the connection.
        if watching.connection is not None:
            watching.connection.disconnect()
        watching.watching = False
        raise
    finally:
        with suppress(RedisError):
            watching.reset()
