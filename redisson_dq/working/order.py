"""Which queue is asked first when a worker's slots are fewer than its queues could fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Union

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.working.handlers import positive

__all__ = ["AnyOrder", "Order", "Strict", "order_of"]

#: The names of queues, the first one first; or their weights.
AnyOrder = Union[Sequence[str], Mapping[str, int]]


class Order:
    """While all queues have values, each gives its share: equal ones, or by weights.

    The queue that was served longest ago, for its weight, is asked first.
    """

    def __init__(self, weights: Mapping[str, int] | None = None) -> None:
        self._weights = {
            name: positive(weight, f"order=: the weight of {name!r}") for name, weight in (weights or {}).items()
        }
        # How many values each queue gave, divided by its weight.
        self._served: dict[str, float] = {}

    def sorted(self, names: Sequence[str]) -> list[str]:
        """The queues in the order in which they are asked."""
        new = [name for name in names if name not in self._served]
        if new:
            # A queue that is new, or was empty for a long time, does not catch up on missed shares.
            self._served.update(dict.fromkeys(new, min(self._served.values(), default=0.0)))
        return sorted(names, key=lambda name: self._served[name])

    def took(self, name: str, count: int, idle: Sequence[str] = ()) -> None:
        """Notes that a queue gave this many values, and that others had none."""
        self._served[name] = self._served.get(name, 0.0) + count / self._weights.get(name, 1)
        for each in idle:
            self._served[each] = max(self._served.get(each, 0.0), self._served[name])


class Strict(Order):
    """A queue is asked when the queues before it are empty. Queues that are not named come last."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._ranks = {name: rank for rank, name in enumerate(names)}

    def sorted(self, names: Sequence[str]) -> list[str]:
        last = len(self._ranks)
        return sorted(names, key=lambda name: self._ranks.get(name, last))


def order_of(given: AnyOrder | None) -> Order:
    """Reads ``order=``. Raises ArgumentError."""
    if given is None:
        return Order()
    if isinstance(given, Mapping):
        return Order(given)
    if isinstance(given, (list, tuple)) and all(isinstance(name, str) for name in given):
        return Strict(given)
    raise ArgumentError(f"order= must be a list of queue names, or a dict of their weights, not {shown(given)}")
