"""Serves the callers of one line from several sources, in turns."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from redisson_dq._async.receiving.shared_pump import LATE, SharedPump
from redisson_dq.waiting.line import Line
from redisson_dq.waiting.watch_table import State, Trigger

__all__ = ["Turns"]


class Turns:
    """The sources from which the callers of one line are served, in turns. One line often has one source alone."""

    def __init__(self, line: Line) -> None:
        self.line = line
        #: The one whose turn it is comes first.
        self.order: list[SharedPump] = []
        #: Whether callers whose time is over have had a command sent for them.
        self.answers = False

    @property
    def are_many(self) -> bool:
        """Whether there are several."""
        return len(self.order) > 1

    def add(self, pump: SharedPump) -> None:
        """One source more."""
        self.order.append(pump)

    def ask(self, called: Collection[SharedPump], now: float) -> Sequence[SharedPump]:
        """Shares out how many values each of them is asked for. Gives those that are asked."""
        self.line.admit()
        # One that was called twice may have been asked since.
        here = [pump for pump in self.order if pump in called and pump.engine.state is State.CALLED]
        wanting = [pump for pump in here if pump.wants()]
        if not wanting:
            return ()
        # Where several may give values, each is asked how many it has before it is asked for its share.
        sizing = len(wanting) > 1 and any(pump.engine.left is None for pump in wanting)
        wanted = 0 if sizing else self.line.claim(now)
        giving = wanting if len(wanting) == 1 else [pump for pump in wanting if pump.engine.left][:wanted]
        shares = {pump: wanted // len(giving) + (place < wanted % len(giving)) for place, pump in enumerate(giving)}
        self.line.unclaim(wanted - sum(shares.values()))
        self.line.asked()
        asked = []
        for pump in wanting:
            share = shares.get(pump, 0)
            if share or pump.engine.debts or not pump.engine.left:
                pump.ask(share)
                asked.append(pump)
            else:
                pump.tell(Trigger.YIELDS)
        if not asked:
            # The lookout of another node takes for all that wait. Its node may stand still.
            wanting[0].later(self._stop_waiting, LATE)
        return asked

    async def _stop_waiting(self) -> None:
        """Others may take for callers whose values have been asked for a while ago. A value too many goes back."""
        with self.line.mutex:
            for pump in self.order:
                pump.forgo_late_claim()
        self.free()

    def settle(self, asked: Sequence[SharedPump]) -> int:
        """All replies have come that were asked for in a round: hands out the values. Gives how many came."""
        with self.line.mutex:
            self.line.admit()
            self.answers = False
            taken = [each for pump in asked for each in pump.settle()]
            left = self.line.give(taken)
            for pump in asked if left else ():
                pump.put_away([each for each in left if each.key in pump.source.keys])
            if self.answers:
                self.line.answer_expired()
        for pump in asked:
            pump.is_well()
        return len(taken)

    def pass_on(self, pump: SharedPump) -> None:
        """This source gave values. All others come before it now."""
        if self.are_many:
            behind = self.order.index(pump) + 1
            self.order = self.order[behind:] + self.order[:behind]

    def free(self) -> None:
        """A round is over that had claimed for the line: sources that waited for their turn may have it."""
        if self.are_many:
            with self.line.mutex:
                for pump in self.order:
                    if pump.engine.state is State.YIELDED:
                        pump.tell(Trigger.FREED)
