"""The order in which several sources serve one line, and how many values each of them is asked for."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

from redisson_dq.waits.line import Line
from redisson_dq.waits.watched import State, WatchedSource
from redisson_dq.wire.taken import Taken

__all__ = ["CalledSources", "Rotation", "SharedSources", "Stock", "evenly", "needs_sizes", "share_out"]

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


class SharedSources:
    """The watched sources of one line. Often there is only one."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self._rotation: Rotation[WatchedSource] = Rotation()

    @property
    def all(self) -> Sequence[WatchedSource]:
        """They, in the order in which they are asked."""
        return self._rotation.order

    def add(self, pump: WatchedSource) -> None:
        """Adds a source."""
        pump.sources = self
        self._rotation.add(pump)

    def wake(self) -> None:
        """Somebody may wait. All sources take part, as only some of them would give out of turn."""
        for pump in self._rotation.order:
            if not pump.is_replaced:
                pump.wake()

    def ask(self, called: Collection[WatchedSource], now: float) -> Sequence[WatchedSource]:
        """Chooses the commands for those of the called ones that take their next step. Returns those that are asked."""
        self.line.admit()
        # One that was called twice may have been asked since.
        here = [pump for pump in self._rotation.order if pump in called and pump.state is State.CALLED]
        wanting = [pump for pump in here if pump.wants()]
        if not wanting:
            return ()
        stocks = [Stock(pump.left, bool(pump.debts)) for pump in wanting]
        wanted = 0 if needs_sizes(stocks) else self.line.claim(now)
        shares = share_out(wanted, stocks)
        self.line.unclaim(wanted - sum(share or 0 for share in shares))
        self.line.asked()
        asked = []
        for pump, share in zip(wanting, shares, strict=True):
            if share is None:
                # Others take for all that wait.
                pump.state = State.YIELDED
            else:
                pump.ask(share, now)
                asked.append(pump)
        if not asked:
            # The lookout of another node takes for all that wait. Its node may hang.
            wanting[0].lookouts.free_late(self, now)
        return asked

    def forgo_late_claims(self, now: float) -> None:
        """Others may take for callers whose values have been asked for a while ago. A value too many goes back."""
        for pump in self._rotation.order:
            pump.forgo_late_claim(now)
        self._free()

    def settle(self, asked: Sequence[WatchedSource]) -> int:
        """All replies have come that were asked for in a round: hands out the values. Returns how many came."""
        with self.line.mutex:
            self.line.admit()
            answers = any(pump.is_fresh for pump in asked)
            gave: list[WatchedSource] = []
            values: list[Taken] = []
            for pump in asked:
                if taken := pump.settle():
                    self._rotation.gave(pump)
                    values += taken
                    gave.append(pump)
            count = len(values)
            values = self.line.give(values)
            for pump in gave:
                pump.put_away([each for each in values if each.key in pump.source.keys])
            # Values that are left anywhere are taken by the next round.
            if answers and not any(pump.left for pump in self._rotation.order):
                self.line.answer_expired()
        return count

    def free(self) -> None:
        """A round is over that had claimed for the line: sources that have yielded may be asked."""
        if len(self.all) > 1:
            with self.line.mutex:
                self._free()

    def _free(self) -> None:
        for pump in self._rotation.order:
            if pump.state is State.YIELDED:
                pump.wake()


class CalledSources:
    """The sources that have called one lookout: those whose keys it watches, and those that it asks next.

    Only the background task of the lookout uses it.
    """

    def __init__(self) -> None:
        self._of_key: dict[bytes, dict[WatchedSource, None]] = {}
        self._next: dict[WatchedSource, None] = {}

    def add(self, pump: WatchedSource) -> None:
        """A source has called. It is asked in the next round."""
        self._of_key.setdefault(pump.source.key.encode(), {})[pump] = None
        self._next[pump] = None

    def take_next(self) -> Collection[WatchedSource]:
        """Those that are asked now, in the order of their calls."""
        taken, self._next = self._next, {}
        return taken.keys()

    @property
    def are_waiting(self) -> bool:
        """Whether any is to be asked."""
        return bool(self._next)

    @property
    def keys(self) -> int:
        """How many keys the sources have."""
        return len(self._of_key)

    def of(self, key: bytes | None) -> list[WatchedSource]:
        """Those of one key, or all of them."""
        if key is not None:
            return list(self._of_key.get(key, ()))
        return [pump for pumps in self._of_key.values() for pump in pumps]

    def forget(self, pump: WatchedSource) -> None:
        """A source calls no more."""
        key = pump.source.key.encode()
        pumps = self._of_key[key]
        del pumps[pump]
        if not pumps:
            del self._of_key[key]

    def forget_all(self) -> list[WatchedSource]:
        """Forgets them and their calls. Returns all of them."""
        pumps = self.of(None)
        self._of_key, self._next = {}, {}
        return pumps
