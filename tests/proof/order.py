"""Promises beyond the order of an item's own steps: the order of items, and that nothing is late."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence

from tests.proof.operations import NEVER, Operation

__all__ = ["late", "out_of_order"]

_GIVES = ("take", "receive")


def out_of_order(items: Mapping[str, Sequence[Operation]], *, by_server: bool = False) -> Iterator[tuple[str, str]]:
    """Items that left after one that was due later, although they had been offered when that one was moved.

    Of a queue with one consumer, from which nothing is given back. Items of one due time leave in the order of their
    offers. ``by_server``: of any consumers, as far as the server's clock tells the order of their leases.
    """
    rows = []
    for item, operations in items.items():
        offer = next((op for op in operations if op.steps[0].f == "offer" and op.ended != NEVER), None)
        left = next((op for op in operations if op.steps[0].f in _GIVES and op.ended != NEVER), None)
        if offer is not None and left is not None and offer.steps[0].until:
            rows.append((offer.steps[0].until, offer.began, offer, left, item))
    rows.sort(key=lambda row: row[:2])
    dues = [(due, began) for due, began, *_ in rows]
    went = [(left.low, left.high) if by_server else (left.began, left.ended) for *_, left, _ in rows]
    # The earliest end of a take among this item and all that are due later.
    earliest: list[tuple[int, str]] = [(NEVER, "")] * (len(rows) + 1)
    for i in range(len(rows) - 1, -1, -1):
        earliest[i] = min(earliest[i + 1], (went[i][1], rows[i][-1]))
    for (due, _, offer, _, item), (began, _) in zip(rows, went, strict=True):
        # What is due then, or later than this item was in, was moved with it or after it.
        since = (due, offer.ended + 1) if offer.high <= due else (offer.high, 0)
        ended, other = earliest[bisect_left(dues, since)]
        if ended < began:
            yield item, f"{other} is due later, and left before it"


def late(operations: Sequence[Operation], within: float, renewed: Collection[str]) -> tuple[str, str] | None:
    """What was not done in time, where somebody waits all the time: a delivery, or the renewal of a lease."""
    offer = next((op for op in operations if op.steps[0].f == "offer" and op.ended != NEVER), None)
    came = next((op for op in operations if op.steps[0].f in (*_GIVES, "cancel", "look") and op.ended != NEVER), None)
    if offer is not None and came is not None:
        due = max(offer.steps[0].until or offer.low + offer.steps[0].delay, offer.low)
        if came.high - due > within * 1_000_000 and came.steps[0] != ("look", "gone", "", 0, 0, False):
            return "late", f"it came {(came.high - due) / 1e6:.1f} s after its time, or not at all"
    for op in operations:
        if op.steps[0].outcome == "lost" and op.steps[0].lease in renewed and op.ended != NEVER:
            return "renewal", "its lease ended, though its receiver had it renewed"
    return None
