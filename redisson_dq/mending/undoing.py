"""Undoes an action, using its undo file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import cast

import attrs

from redisson_dq.admin import AdminQueue
from redisson_dq.admin.entries import Aside, AsideAction, AsideKind, Mended, Met, WaitingAction
from redisson_dq.admin.names import may_be_one
from redisson_dq.mending.queue import MendedQueue
from redisson_dq.mending.selection import Chosen
from redisson_dq.mending.undo_file import DoneBatch, UndoFile, UndoFileError, UndoWriter

__all__ = ["Undone", "check_file", "undo"]

# Redis remembers the outcomes of a batch for a day. One hour of it is a margin for differing clocks.
_REMEMBERED_MS = 23 * 3_600_000
# Batches of these kinds are undone in their order, other batches in reverse order.
_IN_TURN = ("waiting", "in-flight", "queue")


@attrs.define(kw_only=True)
class Undone:
    """The outcome of an undo: ``wanted`` entries were changed by the action, ``done`` of them were restored now, and
    ``before`` by an earlier undo of this file.

    ``left`` counts the skipped entries by reason:

    - "there": it is in the queue
    - "again": its id was offered again
    - "gone": it was delivered or changed since
    - "ended": its lease would have ended since
    - "lined": it is a lease of a queue with keys or limits, whose turn went to another value
    - "unsure": the action was killed more than a day ago, and nobody can say whether it was done
    """

    wanted: int = 0
    done: int = 0
    before: int = 0
    left: Counter[str] = attrs.field(factory=Counter)
    stopped: bool = False


def check_file(queue: MendedQueue, found: UndoFile, *, allow_other_server: bool = False) -> list[str]:
    """Warnings about a file and its queue.

    Raises UndoFileError for the file of another queue. The file of another server is a warning with
    ``allow_other_server``, and otherwise an error.
    """
    header = found.header
    raw = [part.keys.ready for part in queue.parts]
    if header["queue"] != queue.name or header["parts"] != raw:
        raise UndoFileError(
            f"undo file {str(found.path)!r} is of the queue {header['queue']!r} (in Redis {header['parts'][0]!r}), not "
            f"of {queue.name!r} (in Redis {raw[0]!r}); is the name mapper another one?"
        )
    warnings = []
    if not may_be_one(header["server"], queue.where):
        told = f"the file was made on {header['server']}, and this is {queue.where}"
        if not allow_other_server:
            raise UndoFileError(
                f"queue {queue.name!r}: nothing was changed by {str(found.path)!r}: {told}; if the queue's data has "
                "moved there, or that is another address of one server, use --allow-other-server"
            )
        warnings.append(told)
    if not found.ended:
        warnings.append("the action was not finished; what it did is undone")
    if found.is_cut:
        warnings.append("the last line is cut: nothing was done of it")
    return warnings


def undo(
    queue: MendedQueue,
    found: UndoFile,
    *,
    dry_run: bool = False,
    told: Callable[[int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Undone:
    """Restores every entry that the action has changed and that is not there now, batch by batch.

    Each batch is recorded in the file. So a stopped undo continues where it ended, and a file is undone only once. With
    ``dry_run`` it counts how many entries it would restore at most, and changes nothing. Raises UndoFileError,
    RedisConnectionError.
    """
    undone, dealt = Undone(), 0
    # Values added to the end of a list are found from there, and values from its front return in their order.
    batches = found.batches if found.batches and found.batches[0].kind in _IN_TURN else reversed(found.batches)
    writer = None if dry_run else UndoWriter.appending(found)
    try:
        for batch in batches:
            if stop is not None and stop():
                undone.stopped = True
                break
            _undo_batch(queue, found, batch, writer, undone)
            dealt += batch.count
            if told is not None:
                told(dealt)
    finally:
        if writer is not None:
            writer.close()
    return undone


def _undo_batch(
    queue: MendedQueue, found: UndoFile, batch: DoneBatch, writer: UndoWriter | None, undone: Undone
) -> None:
    part = queue.part(batch.part)
    if part is None:
        raise UndoFileError(f"undo file {str(found.path)!r} names the partition {batch.part!r}, which is none")
    if batch.kind == "queue":
        _undo_pause(queue, part, batch, writer, undone)
        return
    left = batch.left
    if left is None:
        left = _told_by_redis(queue, part, batch)
    if left is None:
        # The line was written, but the script was not called, or was called more than a day ago.
        undone.left["unsure"] += batch.count
        return
    indexes = [index for index in range(batch.count) if index not in left]
    undone.wanted += len(indexes)
    if batch.undone is not None:
        undone.before += sum(1 for index in indexes if index not in batch.undone)
        undone.left.update(why for index, why in batch.undone.items() if index in indexes)
        return
    if writer is None:
        undone.done += len(indexes)
        return
    entries = found.entries(batch)
    outcomes: dict[int, str] = {}
    if indexes:
        mended = _take_back(part, batch, [entries[index] for index in indexes])
        if len(mended.outcomes) != len(indexes):
            raise UndoFileError(f"undo file {str(found.path)!r} is broken: batch {batch.number} is of no known kind")
        outcomes = dict(zip(indexes, mended.outcomes, strict=True))
    not_back = {index: why for index, why in outcomes.items() if why != "done"}
    writer.undone(batch.number, not_back)
    undone.done += len(indexes) - len(not_back)
    undone.left.update(not_back.values())


def _told_by_redis(queue: MendedQueue, part: AdminQueue, batch: DoneBatch) -> dict[int, str] | None:
    """The outcomes, from Redis, of a batch whose process was killed before it recorded them. None if Redis has
    forgotten them.
    """
    prefix, told = batch.nonce, dict[int, str]()
    notes = part.nonces()
    if prefix not in notes:
        now_ms = part.time_ms()
        return dict.fromkeys(range(batch.count), "gone") if now_ms - batch.at_ms < _REMEMBERED_MS else None
    for note in notes:
        if note.startswith(prefix) and len(note) > len(prefix):
            index = int.from_bytes(note[len(prefix) : len(prefix) + 2], "big") - 1
            told[index] = note[len(prefix) + 2 :].decode()
    return told


def _take_back(part: AdminQueue, batch: DoneBatch, entries: list[Chosen]) -> Mended:
    # The undo of a batch has its own nonce, so it is done once however often it is requested.
    nonce = b"u:" + batch.nonce[2:]
    if batch.kind == "waiting":
        action = cast(WaitingAction, batch.action)
        met = [(each, _given(each, batch)) for each in entries if isinstance(each, Met)]
        return part.change_back(nonce, action, met)
    if batch.kind == "in-flight":
        return part.lease_again(nonce, [_lease(each) for each in entries if isinstance(each, Aside)])
    kind, action_aside = cast(AsideKind, batch.kind), cast(AsideAction, batch.action)
    elements = [each for each in entries if isinstance(each, Aside)]
    return part.change_aside_back(nonce, kind, action_aside, elements)


def _lease(held: Aside) -> tuple[bytes, int, bytes, bytes]:
    deadline, _, record = held.info.partition(b" ")
    return held.id, int(deadline), record, held.element


def _given(met: Met, batch: DoneBatch) -> str:
    """The score that the action gave an entry."""
    if batch.action == "cancel":
        return ""
    return str(batch.ms if batch.action == "to" else math.ceil(float(met.score) + batch.ms))


def _undo_pause(
    queue: MendedQueue, part: AdminQueue, batch: DoneBatch, writer: UndoWriter | None, undone: Undone
) -> None:
    undone.wanted += 1
    if batch.undone is not None:
        undone.before += 1
        return
    is_paused = part.is_paused()
    if is_paused != (batch.action == "pause"):
        undone.left["there"] += 1
    else:
        undone.done += 1
        if writer is not None and is_paused:
            part.resume()
        elif writer is not None:
            part.pause()
    if writer is not None:
        writer.undone(batch.number, {})
