"""Pauses and resumes queues; the undo file records which parts have changed."""

from __future__ import annotations

import secrets

from redisson_dq.mending.queue import MendedQueue
from redisson_dq.mending.undo_file import UndoWriter

__all__ = ["pause", "resume"]


def pause(queue: MendedQueue, undo: UndoWriter | None = None) -> int:
    """Stops delivery. Returns how many of the queue's parts were not paused before.

    Redisson's own processes know nothing of a pause.
    """
    return _each(queue, "pause", undo)


def resume(queue: MendedQueue, undo: UndoWriter | None = None) -> int:
    """Ends a pause. Returns how many of the queue's parts were paused before."""
    return _each(queue, "resume", undo)


def _each(queue: MendedQueue, action: str, undo: UndoWriter | None) -> int:
    changed = 0
    for part in queue.parts:
        is_changing = part.is_paused() != (action == "pause")
        if not is_changing:
            continue
        number = None
        if undo is not None:
            number = undo.about_to(part.name, b"m:" + secrets.token_bytes(12), "queue", action, 0, 0, [])
        if action == "pause":
            part.pause()
        else:
            part.resume()
        if undo is not None and number is not None:
            undo.acted(number, [])
        changed += 1
    if undo is not None:
        undo.ended()
    return changed
