"""How many at a time: limits and rates by key, and the capacity of a queue. Counted is only what is certain."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from tests.proof.operations import NEVER, Admission, Happened, Operation
from tests.proof.order import out_of_order

__all__ = ["broken_bounds"]

_ENDS = ("take", "receive", "cancel", "look")


def broken_bounds(found: Happened) -> Iterator[tuple[str, str, str, str]]:
    """Of each bound that was exceeded: the kind of the finding, the queue, the item, and what happened."""
    for (queue, key), admissions in found.admitted.items():
        # A clock that was set counts no time.
        if not found.is_set:
            admissions = sorted(admissions, key=lambda each: each.since)
            # A cancelled lease may have given up its place.
            kept = [each for each in admissions if not _is_cancelled(found.queues[queue][each.item])]
            for kind, item, text in (*_held_beyond(kept, found.let_go), *_begun_beyond(admissions)):
                yield kind, queue, item, f"{text}: key {key}"
            # The order is not known where the first lease of an item may have been one that nobody knows of.
            if queue not in found.unsure:
                of_key = {each.item: found.queues[queue][each.item] for each in admissions}
                for item, text in out_of_order(of_key, by_server=True):
                    yield "order", queue, item, f"{text}: key {key}"
    for queue, capacities in found.capacities.items():
        for item, text in _offered_beyond(found.queues[queue], capacities):
            yield "capacity", queue, item, text


def _is_cancelled(operations: Sequence[Operation]) -> bool:
    return any(op.steps[0].f == "cancel" for op in operations)


def _held_beyond(admissions: Sequence[Admission], let_go: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
    """Leases that lasted at one moment, more than the limit."""
    held: list[int] = []
    for each in admissions:
        # It was made in this ms of the server's clock. What lasts longer than that lasted with it.
        until = each.since + 1000
        held = [end for end in held if end > until]
        held.append(min(each.deadline, let_go.get(each.lease, NEVER)))
        count = sum(end > until for end in held)
        if each.limit and count > each.limit:
            yield "limit", each.item, f"{count} were leased at a time, and {each.limit} may be"


def _begun_beyond(admissions: Sequence[Admission]) -> Iterator[tuple[str, str, str]]:
    """Leases that were begun when the bucket had no token, although it was full in the beginning."""
    tokens = last = 0.0
    is_first = True
    for each in admissions:
        if each.rate is None:
            continue
        count, per_us, most = each.rate
        tokens = most if is_first else min(most, tokens + (each.since - last) * count / per_us)
        tokens, last, is_first = tokens - 1, each.since, False
        # Times are whole ms, so the first may have been one earlier.
        if tokens < -1001 * count / per_us:
            yield "rate", each.item, f"it began {-tokens:.2f} tokens too early"
            tokens = 0.0


def _offered_beyond(
    items: Mapping[str, Sequence[Operation]], capacities: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    """Items that were let in although as many as the capacity were certainly there."""
    offers = {}
    came, left = [], []
    for item, operations in items.items():
        offer = next((op for op in operations if op.steps[0][:2] == ("offer", "offered") and op.ended != NEVER), None)
        if offer is not None:
            offers[item] = offer
            came.append(offer.ended)
            left.append(min((op.began for op in operations if op.steps[0].f in _ENDS), default=NEVER))
    came.sort()
    left.sort()
    for item, capacity in capacities.items():
        if (offer := offers.get(item)) is not None:
            # Those that came before it began, less all that may have left before it had ended.
            there = bisect_left(came, offer.began) - bisect_left(left, offer.ended)
            if there >= capacity:
                yield item, f"it was let in beside {there} items, and there is room for {capacity}"
