"""The journal of a migration: one line for each state of each batch, on disk before the next step."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal

from redisson_dq._operations.files import is_ours, opened_alone
from redisson_dq.errors import ArgumentError

__all__ = ["Journal"]


class Journal:
    """A file of JSON lines. The first one has the migration's id and its plan."""

    def __init__(self, path: Path, migration: str, plan: Mapping[str, Any], last: int, file: BinaryIO) -> None:
        self.path = path
        self.migration = migration
        self.plan = plan
        #: The number of the last planned batch.
        self.last = last
        #: How many items the completed runs have moved, by kind.
        self.moved: Counter[str] = Counter()
        #: Whether nothing has happened since the last completed run.
        self.is_ended = False
        # Whether this run created the file, and it has no batch yet.
        self._is_blank = False
        self._file = file

    @classmethod
    def begun(cls, path: Path, migration: str, plan: Mapping[str, Any]) -> Journal:
        """A new journal. Raises ArgumentError if the file exists and is not empty."""
        file = _opened(path, "ab")
        # A kill may have left an empty file.
        if file.tell():
            file.close()
            raise ArgumentError(f"the journal {str(path)!r} exists: resume it, or name another one")
        made = cls(path, migration, plan, 0, file)
        try:
            made._write({"migration": migration, "plan": dict(plan)})
        except OSError:
            file.close()
            raise
        made._is_blank = True
        return made

    @classmethod
    def resumed(cls, path: Path) -> Journal:
        """The journal of an interrupted migration.

        Raises ArgumentError for a file that is not a journal, and for the journal of a running migration.
        """
        try:
            file = _opened(path, "r+b")
        except OSError as error:
            raise ArgumentError(f"{str(path)!r} is not a journal of a migration: {error}") from error
        head: dict[str, Any] | None = None
        last = whole = 0
        moved, is_ended = Counter[str](), False
        try:
            for line in file.read().splitlines(keepends=True):
                if not line.endswith(b"\n"):
                    break
                fields = json.loads(line)
                head = head or fields
                last = max(last, fields.get("batch", 0))
                is_ended = "moved_in_all" in fields
                moved = Counter(fields["moved_in_all"]) if is_ended else moved
                whole += len(line)
            if head is None:
                raise ValueError("it is empty")
            migration, plan = head["migration"], head["plan"]
            if type(migration) is not str or not migration.isascii() or type(plan) is not dict or type(last) is not int:
                raise ValueError("it has no plan")
            if not all(type(count) is int for count in moved.values()):
                raise ValueError("its counts are not numbers")
        except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            file.close()
            raise ArgumentError(f"{str(path)!r} is not a journal of a migration: {error}") from error
        # A line that a kill has cut goes.
        file.truncate(whole)
        file.seek(0, os.SEEK_END)
        made = cls(path, migration, plan, last, file)
        made.moved, made.is_ended = moved, is_ended
        return made

    def note(self, state: str, batch: int, **more: Any) -> None:
        """Records the state of a batch. It is on disk when this returns."""
        self.last = max(self.last, batch)
        self._write({"batch": batch, "state": state, **more})
        self.is_ended = False

    def note_end(self, moved: Counter[str]) -> None:
        """Records how many items of each kind all runs have moved, before the counts in Redis are removed."""
        self._write({"moved_in_all": dict(moved)})
        self.moved, self.is_ended = Counter(moved), True

    def _write(self, fields: Mapping[str, Any]) -> None:
        self._is_blank = False
        self._file.write(json.dumps(fields, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_blank and isinstance(error, ArgumentError):
            # The migration was refused before it began. The next attempt would take this file for an existing
            # migration's.
            self.path.unlink()
        self._file.close()


def _opened(path: Path, mode: Literal["ab", "r+b"]) -> BinaryIO:
    file = opened_alone(path, mode)
    if is_ours(file):
        return file
    # Two migrations with the same batch numbers would take each other's batches for written.
    file.close()
    raise ArgumentError(f"the migration of the journal {str(path)!r} still runs; end that process first")
