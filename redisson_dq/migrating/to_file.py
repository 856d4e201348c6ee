"""Writes items to a file of JSON lines, for items that leave Redis entirely."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redisson_dq._operations.files import is_ours, opened_alone
from redisson_dq.errors import ArgumentError

__all__ = ["ToFile"]


class ToFile:
    """A file of JSON lines, one for each item.

    A line has ``queue``, ``kind``, ``id`` (the caller's, or null) and ``due_ms`` of an item that waits. An item that
    expires has ``expires_ms``, after which it must not be delivered. ``bytes`` are base64. ``value`` is decoded, or
    null with an ``error``. ``batch`` is the migration and the number of the batch. If known, a line has ``attempts``,
    ``first_received_ms``, ``reason`` and ``context`` of deliveries, and the rule of a ``recurring`` offer.
    """

    def __init__(self, path: Path, decode: Callable[[bytes], Any]) -> None:
        self._path = path
        self._decode = decode

    @property
    def name(self) -> str:
        """The name that identifies it in held items."""
        return f"file {self._path.name}"

    @contextmanager
    def alone(self) -> Iterator[ToFile]:
        """Keeps other migrations from writing the file until the block ends. Raises ArgumentError if another one is
        writing.
        """
        with opened_alone(self._path, "ab") as file:
            if not is_ours(file):
                raise ArgumentError(
                    f"the file {str(self._path)!r} is written by a migration that still runs: name another file"
                )
            yield self

    def write(self, migration: str, batch: int, items: Sequence[Mapping[str, Any]]) -> None:
        """Appends a batch, unless it is there completely. The lines are on disk when this returns."""
        mark = f"{migration} {batch}"
        lines = [self._line(mark, item) for item in items]
        with opened_alone(self._path, "a+b") as file:
            # Only the last batch can have been cut by a kill.
            begun, whole = self._end(file, mark)
            if begun == len(lines):
                return
            file.truncate(whole)
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())

    @staticmethod
    def _end(file: Any, mark: str) -> tuple[int, int]:
        """How many lines of a batch are at the end of the file, and where the lines before them end."""
        size = file.seek(0, os.SEEK_END)
        back, text = 0, b""
        while back < size:
            back = min(size, max(1_000_000, 2 * back))
            file.seek(size - back)
            text = file.read(back)
            if back == size or _others_in(text, mark):
                break
        lines = text.splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            size -= len(lines.pop())
        count = 0
        while lines and _is_of(lines[-1], mark):
            size -= len(lines.pop())
            count += 1
        return count, size

    def _line(self, mark: str, item: Mapping[str, Any]) -> bytes:
        told = {name: each for name, each in item.items() if name not in ("to", "puts")}
        try:
            told["value"] = self._decode(base64.b64decode(item["bytes"]))
        except Exception as error:
            told |= {"value": None, "error": str(error)}
        text = json.dumps(told | {"batch": mark}, default=str, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace") + b"\n"

    def seen(self, migration: str) -> int:
        """Only the journal has the number. A batch that is written again is recognised by its lines."""
        return 0

    def forget(self, migration: str) -> None:
        """The file keeps its lines."""


def _is_of(line: bytes, mark: str) -> bool:
    return line.endswith(f'"batch":"{mark}"}}\n'.encode())


def _others_in(text: bytes, mark: str) -> bool:
    """Whether there is a complete line of another batch after the first line break."""
    return any(not _is_of(line, mark) for line in text.splitlines(keepends=True)[1:] if line.endswith(b"\n"))
