"""The commands that change items."""

from __future__ import annotations

from typing import Literal, TypedDict

from redisson_dq.browsing.rows import SeenIn
from redisson_dq.cli.documents.common import ItemFields
from redisson_dq.mending.by_id import IdProblem

__all__ = [
    "AsideItem",
    "AsideListDocument",
    "AsideShowDocument",
    "MendDocument",
    "PauseDocument",
    "PausedQueue",
    "UndoDocument",
]


class MendDocument(TypedDict):
    """The outcome of a change of items."""

    queue: str
    action: str
    dry_run: bool
    """Whether --dry-run was given."""
    wanted: int
    """How many items were selected."""
    done: int
    """How many of them were changed."""
    left: dict[str, int]
    """How many were skipped, by reason: gone, newer or unreadable."""
    problems: list[IdProblem]
    """The ids that name no such item."""
    torn: int
    """How many other entries are in only one key, and were not selected."""
    unknown: int
    """How many other entries are in no known format, and were not selected."""
    stopped: bool
    """Whether Ctrl-C or SIGTERM ended it early."""
    undo_file: str | None
    """The file for undo, or null where none was written."""


class AsideItem(ItemFields):
    """An element that was set aside."""

    entry_id: str | None
    """The id in its entry, in hex."""
    bytes: bytes
    """The whole element as it is stored in Redis."""


class AsideListDocument(TypedDict):
    """One page of elements, the oldest first."""

    queue: str
    state: SeenIn
    items: list[AsideItem]
    looked: int
    """How many elements were examined."""
    next: str | None
    """The number for --after, or null at the end."""


class AsideShowDocument(TypedDict):
    """The elements with these ids. The exit code is 1 if an id names none."""

    queue: str
    state: SeenIn
    items: list[AsideItem]


class PausedQueue(TypedDict):
    """One queue."""

    queue: str
    parts: int
    """How many partitions it has. 1: it has none."""
    changed: int
    """How many partitions were changed. 1 for a queue without partitions."""
    undo_file: str | None
    """The file for undo, or null where none was written."""


class PauseDocument(TypedDict):
    """The queues that were paused or resumed: none with --dry-run, or if the answer was no."""

    action: Literal["pause", "resume"]
    dry_run: bool
    """Whether --dry-run was given."""
    queues: list[PausedQueue]


class UndoDocument(TypedDict):
    """The outcome of an undo."""

    queue: str
    action: str
    """The action that was undone."""
    dry_run: bool
    """Whether --dry-run was given."""
    wanted: int
    """How many entries the action had changed."""
    done: int
    """How many of them were restored now."""
    before: int
    """How many an earlier undo of the file had restored."""
    left: dict[str, int]
    """How many were skipped, by reason: there, again, gone, ended, lined or unsure."""
    warnings: list[str]
    stopped: bool
    """Whether Ctrl-C or SIGTERM ended it early."""
