"""The queues of one fetcher, and which of them have something to do, found without a look through all of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Generic

from redisson_dq.scheduling.clock import Clock
from redisson_dq.wire.lease_source import MOST_AT_ONCE
from redisson_dq.working.assigning import Assigner
from redisson_dq.working.queue_wait import Along, In, QueueWait, State, WaitAnswer

__all__ = ["FetchedQueues"]

logger = logging.getLogger("redisson_dq")


class FetchedQueues(Generic[In, Along]):
    """The queues of one fetcher. Only its thread or task calls this, except for :meth:`freed`."""

    def __init__(
        self,
        clock: Clock,
        assigner: Assigner,
        put: Callable[[WaitAnswer[In, Along] | QueueWait[In, Along]], object],
        wait_of: Callable[[In], QueueWait[In, Along]],
        *,
        is_alone: bool,
        is_limited: bool,
    ) -> None:
        """``put`` gets the answers of waits, and a queue whose pause ends before its time. ``wait_of`` makes a wait.

        ``is_alone``: it has one queue for ever. ``is_limited``: several queues share the slots.
        """
        self._clock = clock
        self._assigner = assigner
        self._put = put
        self._wait_of = wait_of
        self._is_alone = is_alone
        self._is_limited = is_limited
        self.waits: dict[str, QueueWait[In, Along]] = {}
        #: Waits whose queue was taken off, until their waiters are out of the line.
        self.leaving: set[QueueWait[In, Along]] = set()
        #: Those that are looked at before the next wait for them.
        self.stocked: dict[str, QueueWait[In, Along]] = {}
        #: The queues of which values are wanted again.
        self.freed: dict[str, None] = {}
        # The queues that are reviewed before the next wait.
        self._dirty: dict[str, None] = {}
        # Those that wanted nothing when they were reviewed last, where slots are limited over all queues.
        self._unmet: dict[str, None] = {}
        # When the pauses of the queues end that Redis refuses.
        self._pausing: dict[QueueWait[In, Along], float] = {}

    def take(self, intakes: Mapping[str, In]) -> None:
        """Receives from these queues from now on."""
        for name, wait in list(self.waits.items()):
            if intakes.get(name) is not wait.intake:
                self._give_up(wait)
        for name, intake in intakes.items():
            if name not in self.waits:
                wait = self.waits[name] = self._wait_of(intake)
                intake.acked = wait.along.put if self._is_alone else None
                if self._is_limited:
                    self.now(wait, State.STOCKED)
            self._dirty[name] = None

    def _give_up(self, wait: QueueWait[In, Along]) -> None:
        del self.waits[wait.intake.name]
        self.leaving.add(wait)
        if wait.state in (State.WAITING, State.LEAVING):
            if wait.state is State.WAITING:
                wait.withdraw()
            self.now(wait, State.PARTING)
        else:
            self.now(wait, State.GONE)

    def collect_no_more(self) -> None:
        """Each ack is sent by itself from now on."""
        for wait in (*list(self.waits.values()), *list(self.leaving)):
            wait.along.end()

    def forget(self) -> None:
        """Nothing is received any more."""
        for wait in (*self.waits.values(), *self.leaving):
            wait.forget()

    # -- how many values are wanted ----------------------------------------------------------------------------------

    def review(self) -> None:
        """Finds out how many values are wanted of the queues that may have changed."""
        if self._is_alone and self.stocked:
            # The look that follows finds out.
            self.freed.clear()
            self._dirty.clear()
            return
        if self.freed:
            # A slot of any queue may be for the only one.
            self._dirty.update(dict.fromkeys(self.waits) if self._is_alone else self._unmet)
            while self.freed:
                self._dirty[self.freed.popitem()[0]] = None
        dirty, self._dirty = self._dirty, {}
        for name in dirty:
            self._unmet.pop(name, None)
            wait = self.waits.get(name)
            if wait is None:
                continue
            wanted = self.wanted(wait)
            if wait.state is State.WAITING:
                # Where slots are limited over all queues, one value more is turned round sooner than all waiters are.
                is_less = wanted < wait.limit and not self._is_limited
                if is_less or wait.waits_elsewhere:
                    # Another waiter enters when this one has its answer.
                    wait.withdraw()
                    self.now(wait, State.LEAVING)
            elif wanted <= 0:
                if self._is_limited:
                    self._unmet[name] = None
            elif wait.state is State.RESTING:
                self.now(wait, State.WAITING)
                wait.enter(1 if self._is_limited else wanted, self._put)

    def wanted(self, wait: QueueWait[In, Along]) -> int:
        """How many values of a queue are wanted."""
        return min(self._assigner.wanted(wait.intake), MOST_AT_ONCE)

    @property
    def takes_all(self) -> bool:
        """Whether a waiter is in line at the only queue. A slot that is free is no news to it then."""
        return self._is_alone and any(wait.state is State.WAITING for wait in self.waits.values())

    # -- what happens to a queue -------------------------------------------------------------------------------------

    def now(self, wait: QueueWait[In, Along], state: State) -> None:
        """Notes the state of a queue. One that is to be left is gone when its waiter has been answered."""
        if wait.state is State.PARTING:
            state = State.GONE
        wait.state = state
        name = wait.intake.name
        if state is State.STOCKED:
            self.stocked[name] = wait
            return
        wait.along.end()
        if self.stocked.get(name) is wait:
            del self.stocked[name]
        if state is State.RESTING:
            self._dirty[name] = None
        elif state is State.GONE:
            self._pausing.pop(wait, None)
            self.leaving.discard(wait)
            wait.forget()

    def broke(self, wait: QueueWait[In, Along], error: BaseException) -> None:
        """A defect. Values that were handed over already come again at the deadlines of their leases."""
        logger.exception("worker: receiving from %s failed", [wait.intake.name])
        self.failed(wait, error, is_told=False)

    def failed(self, wait: QueueWait[In, Along], error: BaseException, *, is_told: bool = True) -> None:
        """Receiving from a queue has failed. It pauses."""
        wait.failed(error, is_told=is_told)
        self.now(wait, State.PAUSING)
        if wait.state is State.PAUSING:
            self._pausing[wait] = self._clock.monotonic() + wait.pause(partial(self._put, wait))

    # -- pauses ------------------------------------------------------------------------------------------------------

    def go_on(self, waits: Iterable[QueueWait[In, Along]]) -> None:
        """The pauses of these queues are over."""
        for wait in waits:
            if self._pausing.pop(wait, None) is not None:
                wait.tries_again()
                self.now(wait, State.RESTING)

    def end_pauses(self) -> None:
        """Goes on with the queues whose pauses are over by now."""
        if self._pausing:
            now = self._clock.monotonic()
            self.go_on([wait for wait, moment in self._pausing.items() if moment <= now])

    @property
    def patience(self) -> float | None:
        """For how many seconds nothing has to be done."""
        if self._dirty or self.freed:
            return 0.0
        moment = min(self._pausing.values(), default=None)
        return None if moment is None else max(0.0, moment - self._clock.monotonic())
