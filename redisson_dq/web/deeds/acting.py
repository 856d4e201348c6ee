"""Carries out an action, batch by batch, and undoes it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from redisson_dq._version import __version__
from redisson_dq.errors import ArgumentError
from redisson_dq.mending import (
    Acting,
    MendedQueue,
    UndoFile,
    UndoWriter,
    ack,
    check_file,
    mend_aside,
    mend_waiting,
    pause,
    release,
    resume,
    undo,
)
from redisson_dq.web.deeds.kinds import OF_QUEUE, WebDeed
from redisson_dq.web.times import moment_ms, span_ms

__all__ = ["act", "new_undo_file", "put_back", "when"]


def act(deed: WebDeed, queue: MendedQueue, writer: UndoWriter | None) -> None:
    """Acts on the selected items, or on the queue. The deed has the progress.

    Raises RedisConnectionError, RedisReplyError, UndoFileError.
    """
    if deed.state == OF_QUEUE:
        deed.done = (pause if deed.kind.name == "pause" else resume)(queue, writer)
        return
    selection = deed.selection
    assert selection is not None

    def told(dealt: int) -> None:
        deed.done = dealt

    acting = Acting(undo=writer, told=told, stop=deed.stop)
    if deed.state == "waiting":
        action, ms = when(deed, queue)
        counts = mend_waiting(selection, action, ms, acting)
    elif deed.state == "in-flight":
        counts = (ack if deed.kind.name == "ack" else release)(selection, acting)
    else:
        counts = mend_aside(selection, "purge" if deed.kind.name == "purge" else "redrive", acting)
    deed.done, deed.left = counts.done, dict(counts.left)


def when(deed: WebDeed, queue: MendedQueue | None = None) -> tuple[Any, int]:
    """The action on waiting items, and its time in ms. Raises ArgumentError."""
    now_ms = 0 if queue is None else queue.now_ms()
    if deed.kind.name == "cancel":
        return "cancel", 0
    if deed.kind.name == "run-now":
        return "to", now_ms
    if not deed.when:
        raise ArgumentError("reschedule takes a moment such as 2026-11-25T09:00:00Z, or a span such as +5m or -5m")
    if deed.when[:1] in ("+", "-"):
        return "by", span_ms(deed.when)
    return "to", moment_ms(deed.when, now_ms)


def new_undo_file(deed: WebDeed, queue: MendedQueue, folder: Path) -> UndoWriter:
    """A new undo file. Raises UndoFileError."""
    name = re.sub("[^A-Za-z0-9_.-]+", "_", deed.queue)[:60]
    path = folder / f"undo-{deed.kind.name}-{name}-{deed.id}.jsonl"
    writer = UndoWriter.new(path, queue, deed.kind.name, deed.at.isoformat(timespec="seconds"), __version__)
    deed.undo_file = path
    return writer


def put_back(deed: WebDeed, queue: MendedQueue) -> None:
    """Restores the changed items. Raises RedisConnectionError, RedisReplyError, UndoFileError."""
    assert deed.undo_file is not None
    found = UndoFile.read(deed.undo_file)
    check_file(queue, found)
    result = undo(queue, found, stop=deed.stop)
    deed.undone, deed.left = result.done + result.before, dict(result.left)
