"""Looks for an order of an item's steps that the model allows, by Wing's and Gong's search.

Each step takes effect at one moment between its beginning and its end. A step without an answer may take effect at any
later moment, or never. The order has to be one of the server's clock, too: a later step has no earlier time.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.proof.model import ABSENT, Item, after
from tests.proof.operations import NEVER, Operation

__all__ = ["order_of"]


def order_of(operations: Sequence[Operation], *, by_clock: bool = True) -> tuple[bool, list[Operation]]:
    """Whether there is such an order; where there is none, also the longest beginning of one.

    ``by_clock``: whether the server's clock has never been set.
    """
    if _in_order_of_their_ends(operations, by_clock):
        return True, list(operations)
    ops = sorted(operations)
    ends = [op.ended for op in ops]
    needed = sum(1 << i for i, end in enumerate(ends) if end != NEVER)
    seen: set[tuple[int, Item, int]] = set()
    longest: list[int] = []
    #: States that were reached, each with the steps that led there.
    ahead: list[tuple[int, Item, int, tuple[int, ...]]] = [(0, ABSENT, 0, ())]
    while ahead:
        done, item, now, way = ahead.pop()
        if done & needed == needed:
            return True, [ops[i] for i in way]
        if (done, item, now) in seen:
            continue
        seen.add((done, item, now))
        if len(way) > len(longest):
            longest = list(way)
        # Whatever begins after another one has ended comes after it.
        first = min(end for i, end in enumerate(ends) if not done >> i & 1)
        found = []
        for i, op in enumerate(ops):
            if op.began > first:
                break
            if done >> i & 1:
                continue
            low = max(now, op.low) if by_clock else op.low
            if low > op.high:
                continue
            for step in op.steps:
                for state, at in after(item, step, low, op.high):
                    found.append((done | 1 << i, state, at if by_clock else 0, (*way, i)))
        # The step that ended first is tried first: mostly it is the right one.
        found.sort(key=lambda each: ends[each[3][-1]], reverse=True)
        ahead += found
    return False, [ops[i] for i in longest]


def _in_order_of_their_ends(operations: Sequence[Operation], by_clock: bool) -> bool:
    """Whether the answered steps alone are right in the order of their answers, which is so for nearly all items."""
    item, now = ABSENT, 0
    for op in sorted((op for op in operations if op.ended != NEVER), key=_end):
        low = max(now, op.low) if by_clock else op.low
        state = next(after(item, op.steps[0], low, op.high), None) if low <= op.high else None
        if state is None:
            return False
        item, now = state
    return True


def _end(op: Operation) -> int:
    return op.ended
