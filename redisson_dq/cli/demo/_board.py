"""The values and delays that the demo offers, the events of each item so far, and figures. No I/O, no clock."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence

import attrs

__all__ = ["Board", "Item", "OfferPlan", "Summary", "latenesses", "make_plan", "percentile"]

_SHORTEST = 0.2  # seconds; time enough to read the due time back from Redis
_BULK_WITHIN = 3.0  # seconds


@attrs.frozen(kw_only=True)
class OfferPlan:
    """``items`` and ``bulk`` map each value to its delay in seconds, in the order of the offers."""

    items: dict[str, float]
    bulk: dict[str, float]

    @property
    def delays(self) -> dict[str, float]:
        """All values and their delays in seconds."""
        return {**self.items, **self.bulk}


def make_plan(*, items: int, bulk: int, seconds: float) -> OfferPlan:
    """``items`` values with delays spread up to ``seconds``, offered in another order than they fall due. ``bulk``
    more for one ``offer_all``, due within 3 seconds.
    """
    order = random.Random(7)
    first = min(_SHORTEST, seconds)
    return OfferPlan(
        items=_named("item", _spread(items, first, seconds, order)),
        bulk=_named("bulk", _spread(bulk, min(0.5, seconds / 2), min(_BULK_WITHIN, seconds), order)),
    )


def _spread(count: int, first: float, last: float, order: random.Random) -> list[float]:
    step = (last - first) / max(1, count - 1)
    delays = [round(last - step * number, 2) for number in range(count)]
    order.shuffle(delays)
    return delays


def _named(kind: str, delays: list[float]) -> dict[str, float]:
    width = max(2, len(str(len(delays))))
    return {f"{kind}-{number:0{width}}": delay for number, delay in enumerate(delays, 1)}


@attrs.define(kw_only=True)
class Item:
    """One item. Times are epoch milliseconds of the server's clock."""

    value: str
    delay: float
    in_bulk: bool
    due_ms: float | None = None
    arrivals_ms: list[float] = attrs.field(factory=list)

    @property
    def lateness_ms(self) -> float | None:
        """Milliseconds from due time to first arrival; negative if early; None until both are known."""
        return self.arrivals_ms[0] - self.due_ms if self.arrivals_ms and self.due_ms is not None else None


@attrs.frozen(kw_only=True)
class Summary:
    """The figures of a run. ``error_ms`` is how far off each lateness can be."""

    planned: int
    taken: int
    early: int
    lost: int
    twice: int
    foreign: int
    p50: float
    p90: float
    p99: float
    worst: float
    error_ms: float

    @property
    def good(self) -> bool:
        """Every item came exactly once, and none early."""
        return not (self.early or self.lost or self.twice or self.foreign)


class Board:
    """The state of a run: every planned item, in the order of the offers."""

    def __init__(self, plan: OfferPlan) -> None:
        self.items = {
            value: Item(value=value, delay=delay, in_bulk=value in plan.bulk) for value, delay in plan.delays.items()
        }
        self.foreign = 0
        self.missing = len(self.items)

    @property
    def complete(self) -> bool:
        """Every item has arrived."""
        return not self.missing

    @property
    def singles(self) -> list[Item]:
        """The items shown one by one, as they fall due."""
        return sorted((item for item in self.items.values() if not item.in_bulk), key=lambda item: item.delay)

    @property
    def bulk(self) -> list[Item]:
        """The items counted together."""
        return [item for item in self.items.values() if item.in_bulk]

    def knows_due(self, value: str) -> bool:
        """Whether the due time of this value was set."""
        return self.items[value].due_ms is not None

    def due(self, value: str, due_ms: float) -> None:
        """The due time of a value has become known; the first word counts."""
        item = self.items.get(value)
        if item is not None and item.due_ms is None:
            item.due_ms = due_ms

    def arrived(self, value: str, at_ms: float) -> Item | None:
        """A value was taken; its item, or None when it is none of ours."""
        item = self.items.get(value)
        if item is None:
            self.foreign += 1
            return None
        self.missing -= not item.arrivals_ms
        item.arrivals_ms.append(at_ms)
        return item

    def summary(self, *, error_ms: float) -> Summary:
        """The figures so far. An item is early that came before its due time by more than the clock's error."""
        items = self.items.values()
        lateness = latenesses(items)
        return Summary(
            planned=len(self.items),
            taken=len(self.items) - self.missing,
            early=sum(late < -error_ms for late in lateness),
            lost=self.missing,
            twice=sum(len(item.arrivals_ms) > 1 for item in items),
            foreign=self.foreign,
            p50=percentile(lateness, 50),
            p90=percentile(lateness, 90),
            p99=percentile(lateness, 99),
            worst=percentile(lateness, 100),
            error_ms=error_ms,
        )


def latenesses(items: Iterable[Item]) -> list[float]:
    """The latenesses in ms of those items that have one, smallest first."""
    return sorted(late for item in items if (late := item.lateness_ms) is not None)


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The smallest value that at least so many per cent of the values do not exceed; nan of nothing."""
    if not ordered:
        return math.nan
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]
