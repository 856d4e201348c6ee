"""What the demo offers: values and delays, the same at every run."""

from __future__ import annotations

import random

import attrs

__all__ = ["OfferPlan", "make_plan"]

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
