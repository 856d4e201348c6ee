"""Acts on a selection, batch by batch: each batch is recorded in the undo file, then one script changes or skips its
entries.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable

import attrs

from redisson_dq.admin.entries import Aside, AsideAction, Mended, Met, WaitingAction
from redisson_dq.mending.selection import MendBatch, Selection
from redisson_dq.mending.undo_file import UndoWriter

__all__ = ["Acting", "MendCounts", "act_in_batches", "batch_size", "mend_aside", "mend_waiting"]

# With a rate, batches are sent this often per second, so that the load on Redis is even.
_BATCHES_A_SECOND = 10


@attrs.define(kw_only=True)
class MendCounts:
    """The outcome of an action on a selection. ``left`` counts the skipped entries by reason. ``stopped`` is true if
    the action ended early.

    Reasons: "gone" (moved, taken, cancelled or put off meanwhile), "newer" (a newer version wrote its record),
    "unreadable" (a quarantined entry in no known format).
    """

    wanted: int
    done: int = 0
    left: Counter[str] = attrs.field(factory=Counter)
    stopped: bool = False


@attrs.frozen(kw_only=True)
class Acting:
    """Controls an action: ``rate`` limits the entries a second, ``told`` is called with the number of processed
    entries, and ``stop`` ends the action between two batches.
    """

    undo: UndoWriter | None = None
    rate: float | None = None
    told: Callable[[int], None] | None = None
    stop: Callable[[], bool] | None = None


def mend_waiting(selection: Selection, action: WaitingAction, ms: int, acting: Acting | None = None) -> MendCounts:
    """Cancels the selected items, sets their due time to ``ms`` ("to"), or delays them by ``ms`` ("by").

    An item that was moved, taken or rescheduled since it was selected is skipped. Raises RedisConnectionError,
    UndoFileError; the undo file has everything done until then.
    """
    shifts: Counter[str] = Counter()

    def act(batch: MendBatch, nonce: bytes) -> Mended:
        entries = [each for each in batch.chosen if isinstance(each, Met)]
        name = batch.part.name
        mended = batch.part.change(nonce, action, ms, entries, shifts[name])
        shifts[name] = mended.shift
        return mended

    return act_in_batches(selection, action, ms, act, acting or Acting())


def mend_aside(selection: Selection, action: AsideAction, acting: Acting | None = None) -> MendCounts:
    """Purges the selected elements, returns them to the queue ("redrive"), delivers quarantined entries as values
    ("values"), or sets ready values aside ("add").
    """
    kind = selection.kind
    assert kind != "waiting"
    assert kind != "in-flight"

    def act(batch: MendBatch, nonce: bytes) -> Mended:
        elements = [each for each in batch.chosen if isinstance(each, Aside)]
        return batch.part.change_aside(nonce, kind, action, elements)

    return act_in_batches(selection, action, 0, act, acting or Acting())


def act_in_batches(
    selection: Selection, action: str, ms: int, act: Callable[[MendBatch, bytes], Mended], acting: Acting
) -> MendCounts:
    """Acts on a selection, batch by batch. Each batch is recorded in the undo file first. ``act`` gets a batch and its
    nonce.
    """
    counts = MendCounts(wanted=selection.count)
    clock = selection.queue.admin.clock
    batches = selection.batches() if acting.rate is None else selection.batches(batch_size(acting.rate))
    began, dealt, now_ms = clock.monotonic(), 0, 0
    if acting.undo is not None and selection.count:
        now_ms = selection.queue.now_ms()
    for batch in batches:
        rest = batch
        while rest.chosen:
            if acting.stop is not None and acting.stop():
                counts.stopped = True
                return counts
            if acting.rate is not None:
                clock.sleep(max(0.0, began + dealt / acting.rate - clock.monotonic()))
            mended = _noted(selection, rest, action, ms, now_ms, act, acting)
            now_ms, outcomes = mended.now_us // 1000, mended.outcomes
            later = tuple(each for each, outcome in zip(rest.chosen, outcomes, strict=True) if outcome == "later")
            counts.done += outcomes.count("done")
            counts.left.update(each for each in outcomes if each not in ("done", "later"))
            dealt += len(rest.chosen) - len(later)
            if acting.told is not None:
                acting.told(dealt)
            rest = attrs.evolve(rest, chosen=later)
    if acting.undo is not None:
        acting.undo.ended()
    return counts


def _noted(
    selection: Selection,
    batch: MendBatch,
    action: str,
    ms: int,
    at_ms: int,
    act: Callable[[MendBatch, bytes], Mended],
    acting: Acting,
) -> Mended:
    # A prefix of two letters distinguishes it from the nonces of undos.
    nonce = b"m:" + secrets.token_bytes(12)
    if acting.undo is None:
        return act(batch, nonce)
    number = acting.undo.about_to(batch.part.name, nonce, selection.kind, action, ms, at_ms, batch.chosen)
    mended = act(batch, nonce)
    acting.undo.acted(number, mended.outcomes)
    return mended


def batch_size(rate: float) -> int:
    """How many entries a batch has at this rate per second."""
    return max(1, min(250, int(rate / _BATCHES_A_SECOND)))
