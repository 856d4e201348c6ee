"""The plan of a fetcher: classifies events, finds their rows in the tables of fetching, and collects acks.

``fetch_table.py`` has the states and the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import attrs

from redisson_dq.working import fetch_table
from redisson_dq.working.fetch_table import Count, Do, Standing, State, Trigger

__all__ = ["ACCEPTED", "PAUSES", "FetchAction", "FetchPlan"]

#: Between two tries, when Redis refuses to give anything: the first pause, and the longest.
PAUSES: Final = (1.0, 5.0)
#: A wait that has lasted for so many seconds was not refused.
ACCEPTED: Final = 1.0


@attrs.frozen
class FetchAction:
    """One thing to do. ``acks`` belong to ``SEND`` and ``PASS_ON``."""

    do: Do
    acks: Sequence[Any] = ()


@lru_cache
def _alike(to_do: tuple[Do, ...]) -> tuple[FetchAction, ...]:
    """Actions without acks are made once."""
    return tuple(FetchAction(do) for do in to_do)


class FetchPlan:
    """Decides for the fetcher of one queue. Not thread-safe: its driver calls it under a mutex."""

    def __init__(self) -> None:
        self.state = State.BETWEEN
        self.count = Count.FRESH
        self.standing = Standing.WELL
        # The other fields are no states: a property of the queue, times, and the acks themselves.
        self._can_join = False
        #: When one call may ack and receive again.
        self.joins_from = 0.0
        self._waits_since = 0.0
        #: Acks for the next call.
        self.collected: list[Any] = []
        # Acks of the call that is under way.
        self._carried: list[Any] = []

    @property
    def ends(self) -> bool:
        """Whether no further round begins."""
        return self.state in (State.ENDING, State.ENDED)

    @property
    def is_stale(self) -> bool:
        """Whether other values may be wanted than at the beginning of the round."""
        return self.count is Count.STALE

    @property
    def has_failed(self) -> bool:
        """Whether the last round failed."""
        return self.standing is Standing.FAILED

    def has_waited(self, now: float) -> bool:
        """Whether it has waited for so long that Redis has not refused the wait."""
        return self.state is State.WAITING and now - self._waits_since > ACCEPTED

    def is_well(self, now: float) -> bool:
        """Whether it receives, and Redis does not refuse that."""
        return not self.ends and (self.has_waited(now) or not self.has_failed)

    # -- rounds ------------------------------------------------------------------------------------------------------

    def new_round(self) -> None:
        """A round begins. A change from here on counts as a change in the round."""
        self._note(Trigger.BEGINS)

    def counted(self, is_wanted: bool, now: float) -> tuple[FetchAction, ...]:
        """Whether values are wanted. That was counted after :meth:`new_round`."""
        self._waits_since = now
        if not is_wanted:
            return self._step(Trigger.NOTHING)
        return self._step(Trigger.JOINS if self.state is State.COLLECTING and self._joins(now) else Trigger.WANTED)

    def carried(self, most: int) -> list[Any]:
        """The acks for the call that is under way, at most so many."""
        self._carried, self.collected = self.collected[:most], self.collected[most:]
        return self._carried

    def noted(self) -> None:
        """The call has ended the leases of the acks that it carried."""
        self._carried = []

    def took(self, more: bool, now: float) -> tuple[FetchAction, ...]:
        """The call is over, with values or without. ``more`` stand behind the values in their queue."""
        return self._step(Trigger.MORE if more and self._joins(now) else Trigger.DRAINED)

    def missed(self, now: float, *, declined_until: float = 0.0) -> tuple[FetchAction, ...]:
        """No value came. The acks that were carried are not noted. None is carried before ``declined_until``."""
        self._give_back()
        self.joins_from = max(self.joins_from, declined_until)
        self._waits_since = now
        return self._step(Trigger.STALE if self.is_stale else Trigger.MISSED)

    def failed(self) -> tuple[FetchAction, ...]:
        """The round failed."""
        self._give_back()
        self._note(Trigger.FAILED)
        return self._step(Trigger.FAILED)

    def went_well(self) -> None:
        """Values came, and were handed over."""
        self._note(Trigger.WENT_WELL)

    def withdrawn(self) -> tuple[FetchAction, ...]:
        """The wait was ended, or has not begun, by a change in this round or at the end of the one before."""
        return self._step(Trigger.STALE)

    def happened(self, trigger: Trigger) -> tuple[FetchAction, ...]:
        """Any trigger without details: ``OVER`` and ``SHORT``."""
        return self._step(trigger)

    def gone(self) -> tuple[FetchAction, ...]:
        """The last round is over."""
        self._give_back()
        return self._step(Trigger.GONE)

    # -- from outside ------------------------------------------------------------------------------------------------

    def acked(self, ack: Any) -> tuple[FetchAction, ...]:
        """A handling acks."""
        actions = self._step(Trigger.ACKED)
        if actions[0].do is Do.COLLECT:
            self.collected.append(ack)
            return actions
        return (FetchAction(actions[0].do, [ack]), *actions[1:])

    def changed(self, *, can_join: bool | None = None) -> tuple[FetchAction, ...]:
        """Other values may be wanted. ``can_join`` tells whether the queue's receives may carry acks from now on."""
        if can_join is not None:
            self._can_join = can_join
        self._note(Trigger.CHANGED)
        return self._step(Trigger.CHANGED)

    def freed(self) -> tuple[FetchAction, ...]:
        """Values are wanted again."""
        return self._step(Trigger.FREED)

    def end(self) -> tuple[FetchAction, ...]:
        """Nothing is to be received any more."""
        self._note(Trigger.END)
        return self._step(Trigger.END)

    def _joins(self, now: float) -> bool:
        return self._can_join and now >= self.joins_from

    def _note(self, trigger: Trigger) -> None:
        """Finds the row of a trigger in the smaller tables. Those of acks and free slots stand in neither."""
        self.count = fetch_table.COUNTS.get((self.count, trigger), self.count)
        self.standing = fetch_table.STANDINGS.get((self.standing, trigger), self.standing)

    def _step(self, trigger: Trigger) -> tuple[FetchAction, ...]:
        self.state, to_do = fetch_table.TRANSITIONS[self.state, trigger]
        if Do.PASS_ON not in to_do:
            return _alike(to_do)
        return tuple(FetchAction(do, self._passed_on() if do is Do.PASS_ON else ()) for do in to_do)

    def _passed_on(self) -> list[Any]:
        passed_on, self.collected = self.collected, []
        return passed_on

    def _give_back(self) -> None:
        self.collected, self._carried = [*self._carried, *self.collected], []
