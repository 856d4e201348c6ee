"""The undo file: JSON lines that record each batch before an action changes it, and the outcome.

Each line is one JSON object. Its ``sum`` is the CRC32 of the other fields, dumped with sorted keys and no spaces.

============================================  =========================================================================
``{"redisson_dq_undo": 1, "queue": ...}``     the first line: the file's version, the queue and its partitions, the
                                              action, the server, when it began
``{"batch": 1, "nonce": ..., ...}``           written before the script acts: its entries with everything that is known
                                              of them, bytes in base64
``{"acted": 1, "left": {"2": "gone"}}``       written when the script has answered: entries that it left, by their index
``{"undone": 1, "left": {"2": "again"}}``     written by ``undo``, likewise
``{"ended": true}``                           the action went through to its end
============================================  =========================================================================

A batch is changed only after its line was fsynced. So a killed process leaves a complete file, except for a last line
that may be cut. The batch of a cut line was not changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import attrs

from redisson_dq._operations.files import is_ours
from redisson_dq.errors import RedissonDQError
from redisson_dq.mending.entries import entry_from, entry_line
from redisson_dq.mending.queue import MendedQueue
from redisson_dq.mending.selection import Chosen

__all__ = ["VERSION", "DoneBatch", "UndoFile", "UndoFileError", "UndoWriter"]

VERSION = 1


class UndoFileError(RedissonDQError):
    """An undo file cannot be written, is not an undo file, is broken, or belongs to another queue or version."""

    exit_code = 65


@attrs.define(kw_only=True)
class DoneBatch:
    """One batch in an undo file: ``count`` entries, in the line that begins at byte ``at``.

    ``left`` has the outcomes of skipped entries, by index; it is None if the action was killed before it received them.
    ``undone`` has the outcomes of the undo, and is None before it.
    """

    number: int
    part: str
    nonce: bytes
    kind: str
    action: str
    ms: int
    at_ms: int
    count: int
    at: int
    left: Mapping[int, str] | None = None
    undone: Mapping[int, str] | None = None


class UndoWriter:
    """Appends to an undo file, each line fsynced."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self._file = file
        self._batches = 0

    @classmethod
    def new(cls, path: Path, queue: MendedQueue, action: str, at: str, version: str) -> UndoWriter:
        """Creates a file that does not exist yet. Raises UndoFileError."""
        try:
            # Values may be secrets: only the owner may read the file.
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        except FileExistsError:
            raise UndoFileError(f"undo file {str(path)!r} exists already; name another by --undo-file") from None
        except OSError as error:
            raise UndoFileError(
                f"undo file {str(path)!r} cannot be written: {error.strerror}; nothing was changed"
            ) from error
        made = cls(path, os.fdopen(handle, "ab", buffering=0))
        try:
            is_ours(made._file)
            _fsync_folder(path)
            made._write(
                {
                    "redisson_dq_undo": VERSION,
                    "queue": queue.name,
                    "partitions": queue.partitions,
                    "parts": [part.keys.ready for part in queue.parts],
                    "dead_letter": queue.dead_letter,
                    "action": action,
                    "server": queue.where,
                    "at": at,
                    "made_by": f"redisson-dq {version}",
                }
            )
        except BaseException:
            # Nothing was done. A file without its header would not be an undo file.
            with contextlib.suppress(OSError):
                made.close()
            path.unlink(missing_ok=True)
            raise
        return made

    @classmethod
    def appending(cls, found: UndoFile) -> UndoWriter:
        """Continues a file that was read. A cut last line is removed.

        Raises UndoFileError, also while the action or another undo still runs, or if the file was changed since.
        """
        try:
            flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
            file = os.fdopen(os.open(found.path, flags), "ab", buffering=0)
        except OSError as error:
            raise UndoFileError(f"undo file {str(found.path)!r} cannot be written: {error.strerror}") from error
        try:
            if not is_ours(file):
                raise UndoFileError(
                    f"undo file {str(found.path)!r} is written by a process that still runs; end that one first"
                )
            if os.fstat(file.fileno()).st_size != found.size:
                raise UndoFileError(f"undo file {str(found.path)!r} was changed since it was read; call undo again")
            os.ftruncate(file.fileno(), found.whole)
        except BaseException:
            file.close()
            raise
        return cls(found.path, file)

    def __enter__(self) -> UndoWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def about_to(
        self, part: str, nonce: bytes, kind: str, action: str, ms: int, at_ms: int, entries: Sequence[Chosen]
    ) -> int:
        """Records a batch before it is changed, and the server's time. Returns its number."""
        self._batches += 1
        self._write(
            {
                "batch": self._batches,
                "part": part,
                "nonce": nonce.hex(),
                "kind": kind,
                "action": action,
                "ms": ms,
                "at_ms": at_ms,
                "entries": [entry_line(each) for each in entries],
            }
        )
        return self._batches

    def acted(self, number: int, outcomes: Sequence[str]) -> None:
        """Records the outcomes of a batch."""
        self._write({"acted": number, "left": _left(outcomes)})

    def undone(self, number: int, left: Mapping[int, str]) -> None:
        """Records that a batch was undone, and which of its entries were not restored."""
        self._write({"undone": number, "left": {str(index): why for index, why in left.items()}})

    def ended(self) -> None:
        """Records that the action is complete."""
        self._write({"ended": True})

    def _write(self, line: dict[str, Any]) -> None:
        try:
            # The file is unbuffered: a line that does not fit on the disk would otherwise be written again at close.
            left = memoryview(_dumped({**line, "sum": _sum(line)}) + b"\n")
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise UndoFileError(
                f"undo file {str(self.path)!r} cannot be written: {error.strerror}; nothing more was changed"
            ) from error


@attrs.define(kw_only=True)
class UndoFile:
    """An undo file that was read. ``whole`` is the size of its complete lines, ``size`` that of the whole file.

    ``is_cut`` is true if its last line is cut.
    """

    path: Path
    header: dict[str, Any]
    batches: list[DoneBatch]
    whole: int
    size: int
    is_cut: bool
    ended: bool

    @classmethod
    def read(cls, path: Path) -> UndoFile:
        """Raises UndoFileError for a file that is not an undo file, or is broken before its last line."""
        lines = _lines(path)
        first = next(lines, None)
        header = None if first is None else first[1]
        if header is None or "redisson_dq_undo" not in header:
            raise UndoFileError(f"{str(path)!r} is not an undo file of redisson-dq")
        if header["redisson_dq_undo"] != VERSION:
            raise UndoFileError(
                f"undo file {str(path)!r} has version {header['redisson_dq_undo']}, and this redisson-dq reads "
                f"{VERSION}: use the version that made it ({header.get('made_by')})"
            )
        if not _is_header(header):
            raise UndoFileError(f"undo file {str(path)!r} is broken: its first line has other fields")
        found = cls(path=path, header=header, batches=[], whole=0, size=0, is_cut=False, ended=False)
        found.whole = found.size = first[0] if first else 0
        for end, line in lines:
            found.size = end
            if line is None:
                found.is_cut = True
                break
            found._take(line, found.whole)
            found.whole = end
        return found

    def entries(self, batch: DoneBatch) -> tuple[Chosen, ...]:
        """The entries of a batch, read from the file."""
        with self.path.open("rb") as file:
            file.seek(batch.at)
            line = _parsed(file.readline())
        if line is None:
            raise UndoFileError(f"undo file {str(self.path)!r} has changed while it was read")
        return tuple(entry_from(each) for each in line["entries"])

    def _take(self, line: dict[str, Any], at: int) -> None:
        try:
            if "batch" in line:
                for name, kind in _OF_BATCHES.items():
                    if type(line[name]) is not kind or (kind is str and not _is_text(line[name])):
                        raise ValueError(name)
                self.batches.append(
                    DoneBatch(
                        number=line["batch"],
                        part=line["part"],
                        nonce=bytes.fromhex(line["nonce"]),
                        kind=line["kind"],
                        action=line["action"],
                        ms=line["ms"],
                        at_ms=line["at_ms"],
                        count=len([entry_from(each) for each in line["entries"]]),
                        at=at,
                    )
                )
            elif "acted" in line:
                self.batches[_index(line["acted"])].left = {int(key): why for key, why in line["left"].items()}
            elif "undone" in line:
                self.batches[_index(line["undone"])].undone = {int(key): why for key, why in line["left"].items()}
            else:
                self.ended = self.ended or bool(line.get("ended"))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise UndoFileError(f"undo file {str(self.path)!r} is broken: {error!r}") from error


_OF_BATCHES = {"batch": int, "part": str, "kind": str, "action": str, "ms": int, "at_ms": int, "entries": list}


def _is_header(line: dict[str, Any]) -> bool:
    """Whether the first line has the fields that an undo uses, each with the right type."""
    parts = line.get("parts")
    return (
        {"partitions", "dead_letter"} <= line.keys()
        and all(_is_text(line.get(name)) for name in ("queue", "action", "server"))
        and type(parts) is list
        and bool(parts)
        and all(map(_is_text, parts))
        and (line.get("partitions") is None or type(line["partitions"]) is int)
        and (line["dead_letter"] is None or _is_text(line["dead_letter"]))
    )


def _is_text(value: Any) -> bool:
    """Whether it is a text that UTF-8 can encode, as names in Redis are."""
    return isinstance(value, str) and not any("\ud800" <= each <= "\udfff" for each in value)


def _index(number: Any) -> int:
    """The index of a batch. Raises ValueError."""
    if type(number) is not int or number < 1:
        raise ValueError(f"batch {number!r}")
    return number - 1


def _left(outcomes: Sequence[str]) -> dict[str, str]:
    return {str(index): outcome for index, outcome in enumerate(outcomes) if outcome != "done"}


def _dumped(line: dict[str, Any]) -> bytes:
    return json.dumps(line, sort_keys=True, separators=(",", ":")).encode()


def _sum(line: dict[str, Any]) -> int:
    return zlib.crc32(_dumped(line))


def _lines(path: Path) -> Any:
    """The end of each line and its object. The last one is None if it was cut."""
    end = 0
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                end += len(raw)
                line = _parsed(raw)
                if line is None and number > 1 and (raw.endswith(b"\n") and file.peek(1)):
                    raise UndoFileError(
                        f"undo file {str(path)!r} is broken at line {number}; the lines before it can be undone when "
                        f"that line and all behind it are taken off: head -n {number - 1}"
                    )
                yield end, line
    except OSError as error:
        raise UndoFileError(f"undo file {str(path)!r} cannot be read: {error.strerror}") from error


def _parsed(raw: bytes) -> dict[str, Any] | None:
    if not raw.endswith(b"\n"):
        return None
    try:
        line = json.loads(raw)
        told = line.pop("sum")
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return None
    return line if isinstance(line, dict) and told == _sum(line) else None


def _fsync_folder(path: Path) -> None:
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
