"""Ends leases that receivers hold, such as those of a process that is gone or hangs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from redisson_dq.admin import AdminQueue
from redisson_dq.admin.entries import Aside, Mended
from redisson_dq.browsing.rows import SeenItem
from redisson_dq.mending.acting import Acting, MendCounts, act_in_batches
from redisson_dq.mending.queue import MendedQueue
from redisson_dq.mending.selection import MendBatch, Selection
from redisson_dq.scheduling.times import from_ms, from_optional_ms

__all__ = ["ack", "release", "select_held"]

# How many leases are read at once.
_PAGE = 250


def select_held(queue: MendedQueue, wanted: Callable[[SeenItem], bool] | None = None) -> Selection:
    """Selects values that receivers hold. The due time of a row is the deadline of its lease."""
    selection = Selection(queue, "in-flight")
    with selection.unless_it_fails():
        for part in queue.parts:
            for row, chosen in _held(part):
                selection.met += 1
                if wanted is None or wanted(row):
                    selection.add(part, chosen)
    return selection


def release(selection: Selection, acting: Acting | None = None) -> MendCounts:
    """Ends the selected leases. Their values are ready again at once, and count as a crash of the receiver.

    A receiver that still handles such a value gets the outcome that its lease is lost, so the value may be handled
    twice. A lease that has ended meanwhile is skipped.
    """

    def act(batch: MendBatch, nonce: bytes) -> Mended:
        ids = [each.id for each in batch.chosen if isinstance(each, Aside)]
        released = batch.part.release(nonce, ids)
        return Mended(now_us=0, outcomes=tuple("done" if each else "gone" for each in released))

    return act_in_batches(selection, "release", 0, act, acting or Acting())


def ack(selection: Selection, acting: Acting | None = None) -> MendCounts:
    """Acks the selected leases: their values are done, and nobody receives them again. It cannot be undone.

    A receiver that still handles such a value gets the outcome that its lease is lost. A lease that has ended meanwhile
    is skipped.
    """

    def act(batch: MendBatch, nonce: bytes) -> Mended:
        ids = [each.id for each in batch.chosen if isinstance(each, Aside)]
        return batch.part.ack(nonce, ids)

    return act_in_batches(selection, "ack", 0, act, acting or Acting())


def _held(part: AdminQueue) -> Iterator[tuple[SeenItem, Aside]]:
    start: int | None = 0
    while start is not None:
        leases, following = part.leases(start, start + _PAGE - 1)
        for lease in leases:
            record = lease.record
            row = SeenItem(
                queue=part.name,
                state="in-flight",
                id=record.offer_id or lease.id.hex(),
                entry_id=lease.id.hex(),
                now=from_ms(lease.now_us // 1000),
                due=from_ms(lease.deadline_ms),
                at=from_optional_ms(record.received_ms),
                size=len(lease.data),
                data=lease.data,
                attempts=record.attempt or 1,
                reason=record.reason,
                context=record.context,
            )
            # An undo needs the deadline and the record.
            yield row, Aside(element=lease.data, id=lease.id, info=b"%d %b" % (lease.deadline_ms, lease.text))
        start = following if following is not None else start + _PAGE if len(leases) == _PAGE else None
