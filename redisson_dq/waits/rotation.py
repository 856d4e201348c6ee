"""The order in which several sources serve one line, and how many values each of them is asked for."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

__all__ = ["Rotation", "Stock", "evenly", "needs_sizes", "share_out"]

S = TypeVar("S", bound=Hashable)


class Rotation(Generic[S]):
    """Sources in the order in which they are asked. A source that gave values becomes the last one."""

    def __init__(self, sources: Sequence[S] = ()) -> None:
        self._order = list(sources)

    @property
    def order(self) -> Sequence[S]:
        """The source that is asked first comes first."""
        return self._order

    def add(self, source: S) -> None:
        """Adds a source, as the last one."""
        self._order.append(source)

    def gave(self, source: S) -> None:
        """A source gave values. The one after it is first now."""
        if len(self._order) > 1:
            behind = self._order.index(source) + 1
            self._order = self._order[behind:] + self._order[:behind]


class Stock(NamedTuple):
    """A source that may give values."""

    #: How many values it had at its last reply; None where that is not known.
    left: int | None
    #: Whether a request has to be sent again.
    owes: bool


def evenly(wanted: int, count: int) -> list[int]:
    """Shares out ``wanted`` values among ``count`` sources. The first ones give one more."""
    return [wanted // count + (rank < wanted % count) for rank in range(count)]


def needs_sizes(stocks: Sequence[Stock]) -> bool:
    """Whether each source is first asked how many values it has. A single source is asked for values at once."""
    return len(stocks) > 1 and any(stock.left is None for stock in stocks)


def share_out(wanted: int, stocks: Sequence[Stock]) -> list[int | None]:
    """How many of the wanted values each source is asked for; None for one that yields to the others.

    A source that owes, or that had nothing left, is asked in any case. Asked for no value, it replies how many it has.
    """
    giving = [rank for rank, stock in enumerate(stocks) if stock.left or len(stocks) == 1][:wanted]
    given = dict(zip(giving, evenly(wanted, len(giving)), strict=True))
    shares = [given.get(rank, 0) for rank in range(len(stocks))]
    return [
        share if share or stock.owes or not stock.left else None for share, stock in zip(shares, stocks, strict=True)
    ]
