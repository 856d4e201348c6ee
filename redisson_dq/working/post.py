"""One handler of a worker that runs: the slots that it holds, its batch, and when parked values come again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from redisson_dq.working import post_table
from redisson_dq.working.handlers import Handler
from redisson_dq.working.post_table import Do, State, Trigger
from redisson_dq.working.usual import UsualTime

__all__ = ["PostAction", "Post", "Slots"]

# A handler that is full for a shorter time holds up the others of its queue. Nothing is parked then.
_PATIENCE: Final = 0.05
# A parked value comes again after a quarter of the time for which its handler has been full, within these bounds ...
_SHORTEST: Final = 0.1
_LONGEST: Final = 1.0
# ... and by this much later than the one that was parked before it. So at most 100 values a second come again.
_APART: Final = 0.01
# When the last one is to come later than that, the handler holds up the others again: they are far down the list.
_FARTHEST: Final = 10.0


class PostAction(NamedTuple):
    """One thing to do for a post. Each value makes one, and a named tuple is made fastest.

    ``values`` belong to ``BEGIN`` and ``RETURN``, and ``moment`` to ``ARM``.
    """

    do: Do
    post: Post
    values: Sequence[Any] = ()
    moment: float = math.inf


class Slots:
    """How many slots are taken over all queues: by handlings, and by batches that are being gathered."""

    def __init__(self) -> None:
        self.taken = 0


class Post:
    """One handler in a worker that runs. The posts of a worker count their slots together, in one object."""

    def __init__(self, handler: Handler, slots: Slots | None = None) -> None:
        self.handler = handler
        self._slots = Slots() if slots is None else slots
        self.state = State.FREE
        #: Whether its function is called with only the value and the event, and nothing around it.
        self.is_plain = False
        #: Whether no other handler has the queue.
        self.is_alone = True
        #: How many handlings hold a slot of it.
        self.running = 0
        self.usual = UsualTime()
        #: The values of the batch that is being gathered.
        self.gathered: list[Any] = []
        #: When the batch begins, or others pass. None: nothing happens at a time.
        self.moment: float | None = None
        #: Since when no slot has been free, where others share the queue.
        self.full_since: float | None = None
        #: When the last parked value comes again.
        self.last_parked = -math.inf
        #: The actions after nearly each end of a handling.
        self.fetch = (PostAction(Do.FETCH, self),)

    @property
    def is_passed(self) -> bool:
        """Whether others of the queue go on while it is full."""
        return self.state is State.PASSED

    @property
    def has_room(self) -> bool:
        """Whether the next value begins a handling, or joins a batch."""
        return self.state in (State.FREE, State.GATHERING)

    def wanted(self, free: int) -> int:
        """How many values it can take, where the worker may begin ``free`` handlings more."""
        gathers = self.state is State.GATHERING
        slots = max(0, min(self.handler.concurrency - self.running - gathers, free))
        if self.handler.batch is None:
            return slots
        return slots * self.handler.batch + (self.handler.batch - len(self.gathered) if gathers else 0)

    def takes(self, now: float) -> bool:
        """Whether a single value begins a handling at once. Then it has a slot."""
        if self.state is not State.FREE or self.handler.batch is not None:
            return False
        self.running += 1
        self.usual.last_change = now
        self._slots.taken += 1
        if self.running >= self.handler.concurrency:
            self.happened(Trigger.TAKEN_ALONE, now)
        return True

    def came(self, value: Any, now: float, *, fails: bool = False, is_admitted: bool = True) -> tuple[PostAction, ...]:
        """A value came. One that ``fails`` is not for the handler's function any more.

        One that is not admitted was let past a limit, or came when no slot was free, even if one is free by now.
        """
        if not is_admitted:
            return self.happened(Trigger.UNADMITTED, now)
        if self.handler.batch is None or fails:
            return self.happened(Trigger.CAME, now, value)
        fills = len(self.gathered) + 1 >= self.handler.batch
        return self.happened(Trigger.FILLED if fills else Trigger.JOINED, now, value)

    def freed(self, now: float, seconds: float = 0.0) -> tuple[PostAction, ...]:
        """A handling has freed its slot after this many seconds."""
        self.usual.ended(now, seconds)
        self.running -= 1
        self._slots.taken -= 1
        if self.state is State.FREE:
            return self.fetch
        return self.happened(Trigger.FREED if self.running < self.handler.concurrency else Trigger.EASED, now)

    def parked(self, count: int, now: float) -> tuple[float, tuple[PostAction, ...]]:
        """The seconds after which this many values that were turned away come again, and the actions that follow.

        The time is 0 where others are held up: nobody passes then, and the values go back to the head.
        """
        if self.state is not State.PASSED or self.full_since is None:
            return 0.0, ()
        pause = min(_LONGEST, max(_SHORTEST, (now - self.full_since) / 4))
        self.last_parked = max(now + pause, self.last_parked) + count * _APART
        is_far = self.last_parked - now > _FARTHEST
        return self.last_parked - now, self.happened(Trigger.FAR, now) if is_far else ()

    def happened(self, trigger: Trigger, now: float, value: Any = None) -> tuple[PostAction, ...]:
        """Any trigger. ``value`` is the one that came."""
        actions: tuple[PostAction, ...] = ()
        following: Trigger | None = trigger
        while following is not None:
            gathered = self.state is State.GATHERING
            self.state, to_do = post_table.TRANSITIONS[self.state, following]
            self._slots.taken += (self.state is State.GATHERING) - gathered
            if self.state is State.FREE:
                self.full_since = self.moment = None
            elif self.state is State.PASSED or (self.state is State.FULL and self.is_alone):
                self.moment = None
            for do in to_do:
                actions += self.fetch if do is Do.FETCH else (self._action(do, following, now, value),)
            # The last slot is taken as soon as a handling or a batch begins. Nothing more follows that.
            is_full = self.state is State.FREE and self.running >= self.handler.concurrency
            is_taken = is_full and following is trigger
            following = (Trigger.TAKEN_ALONE if self.is_alone else Trigger.TAKEN) if is_taken else None
        return actions

    def _action(self, do: Do, trigger: Trigger, now: float, value: Any) -> PostAction:
        if do is Do.GATHER:
            self.gathered.append(value)
        elif do is Do.BEGIN:
            self.running += 1
            self.usual.last_change = now
            self._slots.taken += 1
            return PostAction(do, self, [value] if trigger is Trigger.CAME else self._taken())
        elif do is Do.RETURN:
            return PostAction(do, self, self._taken())
        elif do is Do.ARM:
            if self.state is State.FULL and self.full_since is None:
                self.full_since = now
            if self.moment is None:
                is_full = self.state is State.FULL
                self.moment = (
                    max(now + _PATIENCE, self.last_parked - _FARTHEST) if is_full else now + self.handler.within
                )
            return PostAction(do, self, moment=self.moment)
        return PostAction(do, self)

    def _taken(self) -> list[Any]:
        taken, self.gathered = self.gathered, []
        return taken
