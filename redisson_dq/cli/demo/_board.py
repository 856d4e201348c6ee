"""The values and delays that the demo offers, their arrivals, and the figures. No I/O, no clock."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable

import attrs

__all__ = ["Board", "Item", "latenesses", "percentile", "plan"]

_SHORTEST = 0.2  # seconds; so an item's line is written after its offer was answered
_BULK_WITHIN = 3.0  # seconds


def plan(*, items: int, bulk: int, seconds: float) -> Board:
    """``items`` values with delays spread up to ``seconds``, offered in another order than they fall due. ``bulk``
    more for one ``offer_all``, due within 3 seconds.
    """
    order = random.Random(7)
    return Board(
        singles=_spread("item", items, min(_SHORTEST, seconds), seconds, order),
        bulk=_spread("bulk", bulk, min(0.5, seconds / 2), min(_BULK_WITHIN, seconds), order),
    )


def _spread(kind: str, count: int, first: float, last: float, order: random.Random) -> list[Item]:
    step, width = (last - first) / max(1, count - 1), max(2, len(str(count)))
    delays = [round(last - step * number, 2) for number in range(count)]
    order.shuffle(delays)
    return [Item(value=f"{kind}-{number:0{width}}", delay=delay) for number, delay in enumerate(delays, 1)]


@attrs.define(kw_only=True)
class Item:
    """One item: its delay in seconds. The other times are epoch milliseconds of the server's clock."""

    value: str
    delay: float
    due_ms: float | None = None
    arrivals_ms: list[float] = attrs.field(factory=list)

    @property
    def lateness_ms(self) -> float | None:
        """Milliseconds from due time to first arrival; negative if early; None until both are known."""
        return self.arrivals_ms[0] - self.due_ms if self.arrivals_ms and self.due_ms is not None else None


@attrs.define(kw_only=True)
class Board:
    """The state of a run: the items that are shown one by one and those of the bulk, in the order of their offers.

    ``missing`` counts the items that have not come. ``foreign`` counts values that came and that nobody offered.
    ``last_ms`` is when the last one came. ``longest`` is the longest delay in seconds.
    """

    singles: list[Item]
    bulk: list[Item]
    foreign: int = 0
    last_ms: float = 0.0
    missing: int = attrs.field(init=False)
    longest: float = attrs.field(init=False)
    items: dict[str, Item] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.items = {item.value: item for item in (*self.singles, *self.bulk)}
        self.missing, self.longest = len(self.items), max(item.delay for item in self.items.values())

    def arrived(self, value: str, at_ms: float) -> Item | None:
        """A value was taken; its item, or None when it is none of ours."""
        item = self.items.get(value)
        if item is None:
            self.foreign += 1
            return None
        self.missing -= not item.arrivals_ms
        item.arrivals_ms.append(at_ms)
        self.last_ms = at_ms
        return item

    def early(self, *, error_ms: float) -> int:
        """How many came before their due time, by more than the clock's error."""
        return sum(late < -error_ms for late in latenesses(self.items.values()))

    @property
    def twice(self) -> int:
        """How many came more than once."""
        return sum(len(item.arrivals_ms) > 1 for item in self.items.values())

    def is_good(self, *, error_ms: float) -> bool:
        """Whether every item came exactly once, and none early."""
        return not (self.missing or self.twice or self.foreign or self.early(error_ms=error_ms))


def latenesses(items: Iterable[Item]) -> list[float]:
    """The latenesses in ms of those items that have one, smallest first."""
    return sorted(late for item in items if (late := item.lateness_ms) is not None)


def percentile(ordered: list[float], percent: float) -> float:
    """The smallest value that at least so many per cent of the values do not exceed; nan of nothing."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)] if ordered else math.nan
