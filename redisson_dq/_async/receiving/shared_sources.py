"""The sources from which the callers of one line are served over shared connections."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from redisson_dq._async.receiving.shared_pump import SharedPump
from redisson_dq.waits.line import Line
from redisson_dq.waits.rotation import Rotation, Stock, needs_sizes, share_out
from redisson_dq.waits.watched import LATE, State
from redisson_dq.wire.taken import Taken

__all__ = ["SharedSources"]


class SharedSources:
    """The shared pumps of one line. Often it is one alone."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self._rotation: Rotation[SharedPump] = Rotation()

    @property
    def are_many(self) -> bool:
        """Whether there are several."""
        return len(self._rotation.order) > 1

    def add(self, pump: SharedPump) -> None:
        """One source more."""
        self._rotation.add(pump)

    def wake(self) -> None:
        """Somebody may wait. All sources take part, as some alone would give out of turn."""
        for pump in self._rotation.order:
            if not pump.is_replaced:
                pump.wake()

    def ask(self, called: Collection[SharedPump], now: float) -> Sequence[SharedPump]:
        """Chooses the commands for those of the called ones that take their next step. Gives those that are asked."""
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
                pump.yields()
            else:
                pump.ask(share, now)
                asked.append(pump)
        if not asked:
            # The lookout of another node takes for all that wait. Its node may stand still.
            wanting[0].lookouts.later(partial(self._stop_waiting, now + LATE), LATE)
        return asked

    async def _stop_waiting(self, now: float) -> None:
        """Others may take for callers whose values have been asked for a while ago. A value too many goes back."""
        with self.line.mutex:
            for pump in self._rotation.order:
                pump.forgo_late_claim(now)
            self._free()

    def settle(self, asked: Sequence[SharedPump]) -> int:
        """All replies have come that were asked for in a round: hands out the values. Gives how many came."""
        with self.line.mutex:
            self.line.admit()
            answers = any(pump.is_fresh for pump in asked)
            gave: list[SharedPump] = []
            values: list[Taken] = []
            for pump in asked:
                if taken := pump.settle():
                    self._rotation.gave(pump)
                    values += taken
                    gave.append(pump)
            count = len(values)
            values = self.line.give(values)
            for pump in gave if values else ():
                pump.put_away([each for each in values if each.key in pump.source.keys])
            # Values that are left anywhere are taken by the next round.
            if answers and not any(pump.left for pump in self._rotation.order):
                self.line.answer_expired()
        for pump in asked:
            pump.tell_answered()
        return count

    def free(self) -> None:
        """A round is over that had claimed for the line: sources that have yielded may be asked."""
        if self.are_many:
            with self.line.mutex:
                self._free()

    def _free(self) -> None:
        for pump in self._rotation.order:
            pump.is_freed()
