"""Receives values for a worker, in one thread or task: as many as it has free slots, and no more.

A fetcher has one queue, or many. It goes in rounds: it looks which values are wanted, takes what is ready, and waits.

* With one queue, one call ends leases and takes the next values, while more are ready (:class:`AcksAlong`).
* With many queues, a waiter is in line at each one that values are wanted of. So the number of queues costs neither
  threads nor rounds. Where the slots of a worker are limited over all queues, values may come to more waiters at a time
  than there are slots. Those that find none go back to the head of their queue, as if they had never come. Such a queue
  is looked at when a slot is free, in the order of the worker, before its next waiter enters.
"""

from __future__ import annotations

import enum
import itertools
import logging
from collections.abc import Iterable, Sequence
from typing import Any, Union

from redisson_dq._async.leases.delivery import Delivery
from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq._async.runtime import Runtime
from redisson_dq._async.worker.acks_along import AcksAlong
from redisson_dq._async.worker.intake import Came, Intake
from redisson_dq._async.worker.settling import Settler
from redisson_dq._async.worker.starting import Turns
from redisson_dq._concurrency import AsyncFailure, AsyncInbox, async_give_way
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool, AsyncPoolWork
from redisson_dq.calls.delivery import lease_of
from redisson_dq.errors import ClosedError, RedissonDQError
from redisson_dq.waits.line import Lifeline
from redisson_dq.wire.blocking import Waitable
from redisson_dq.wire.leases import Leased
from redisson_dq.working.assigning import Assigner
from redisson_dq.working.incoming import page
from redisson_dq.working.order import Order
from redisson_dq.working.queue_wait import QueueWait, State, WaitAnswer
from redisson_dq.working.queues import FetchedQueues

__all__ = ["Fetcher"]

logger = logging.getLogger("redisson_dq")

# How many queues are asked in the first round trip of a look. Each further round trip asks several times as many.
_FIRST, _TIMES = 1, 8
# After a defect.
_PAUSE = 1.0


class _FetchTrigger(enum.Enum):
    """A change from outside."""

    QUEUES = "any queue may want other values than before"
    WANTED = "values of a queue are wanted again"
    END = "nothing is to be received any more"


_Wait = QueueWait[Intake, AcksAlong]
_Answer = WaitAnswer[Intake, AcksAlong]
#: The answer to a waiter, a change, or a queue whose pause ends before its time.
_Event = Union[_Answer, _FetchTrigger, _Wait]


class Fetcher:
    """Receives from its queues, and hands the values over."""

    def __init__(
        self,
        runtime: Runtime,
        assigner: Assigner,
        order: Order,
        pool: AsyncHandlerPool,
        settler: Settler,
        *,
        is_alone: bool,
    ) -> None:
        """``is_alone``: it will have one queue for ever."""
        self._runtime = runtime
        self._clock = runtime.clock
        self._assigner = assigner
        self._order = order
        self._pool = pool
        self._settler = settler
        self._is_alone = is_alone
        # Whether several queues share the slots.
        self._is_limited = assigner.is_limited and not is_alone
        # Deliveries that were handed over, and are not renewed yet.
        self._handed_over: list[Delivery[Any]] = []
        self._bell: AsyncInbox[_Event] = AsyncInbox(self._clock)
        # Whether it waits for its bell. Whoever frees a slot rings then.
        self._sleeps = False
        self._queues = FetchedQueues[Intake, AcksAlong](
            self._clock, assigner, self._bell.put, self._wait_of, is_alone=is_alone, is_limited=self._is_limited
        )
        # Those in whose lines it has waited.
        self._receivers: set[Receiver] = set()
        # The queues that it was last given to receive from.
        self._intakes: Sequence[Intake] = ()
        self._ends = False
        self._turns = Turns(pool, self._run, self._clock)

    # -- for the crew ------------------------------------------------------------------------------------------------

    @property
    def is_well(self) -> bool:
        """Whether it receives, and Redis does not refuse that."""
        return not self._ends and all(wait.is_well for wait in list(self._queues.waits.values()))

    def start(self) -> None:
        """Begins to receive."""
        self._begun(self._turns.begin())

    def _begun(self, waits: bool) -> None:
        if waits:
            # The next turn waits for a thread until a handler has returned. Leases and acks do not.
            self._renew()
            self._queues.collect_no_more()

    def set_intakes(self, intakes: Iterable[Intake]) -> None:
        """Receives from these queues from now on."""
        self._intakes = tuple(intakes)
        for intake in self._intakes:
            intake.fetcher = self
        self._bell.put(_FetchTrigger.QUEUES)

    def recount(self) -> None:
        """Fewer values may be wanted than waiters were sent for."""
        self._bell.put(_FetchTrigger.QUEUES)

    def freed(self, queue: str) -> None:
        """Values of a queue are wanted again."""
        self._queues.freed[queue] = None
        if self._sleeps:
            self._bell.put(_FetchTrigger.WANTED)

    def _wait_of(self, intake: Intake) -> _Wait:
        along, connections = AcksAlong(self._runtime, self._settler, intake, self._wake), self._runtime.connections
        return QueueWait(intake, along, self._clock, connections.refusals, connections.tries, self._receiver_of)

    def _receiver_of(self, waitable: Waitable) -> Receiver:
        receiver = self._runtime.receivers.of(waitable)
        self._receivers.add(receiver)
        return receiver

    def _wake(self) -> None:
        if self._sleeps:
            self._bell.put(_FetchTrigger.WANTED)

    def _renew(self) -> None:
        """Begins to renew the leases of values that are not done yet. Handlers begin before that."""
        leased, self._handed_over = [each for each in self._handed_over if not lease_of(each).is_ending], []
        if leased:
            try:
                self._runtime.renewal.add(leased, self._assigner.lose)
            except Exception:
                # A defect. It ends no receiving.
                logger.exception("worker: the leases of %d values are not renewed", len(leased))

    def end(self) -> None:
        """Receives nothing any more."""
        self._bell.put(_FetchTrigger.END)

    async def has_ended(self) -> bool:
        """Waits until nothing more comes, after :meth:`end`. False while Redis has not answered."""
        # A waiter leaves its line without Redis.
        await self._turns.ended()
        # Values that came for waiters in leaving go back before the process may exit.
        return await self._runtime.receivers.quiet(list(self._receivers))

    # -- the fetcher's thread or task --------------------------------------------------------------------------------

    async def _run(self) -> AsyncPoolWork | None:
        handlings: list[AsyncPoolWork] = []
        try:
            while not handlings and not self._is_over:
                self._renew()
                try:
                    await self._round(handlings)
                except AsyncFailure:
                    # A defect. Values that were received already come again at their deadlines.
                    logger.exception("worker: receiving from %d queues failed", len(self._queues.waits))
                    if not handlings:
                        await self._clock.async_sleep(_PAUSE)
                if not handlings:
                    # Handlers begin before the next wait does.
                    await async_give_way()
        finally:
            goes_on = bool(handlings) and not self._is_over
            if goes_on:
                # This thread becomes a handler's, and another one receives.
                self._begun(self._turns.next(handlings[1:]))
            else:
                self._ends = True
                self._renew()
                self._queues.collect_no_more()
                self._queues.forget()
                self._turns.end()
                self._pool.start_all(handlings)
        return handlings[0] if goes_on else None

    @property
    def _is_over(self) -> bool:
        """Whether it ends, and nothing more comes."""
        return self._ends and not self._queues.waits and not self._queues.leaving

    async def _round(self, handlings: list[AsyncPoolWork]) -> None:
        event = self._bell.poll()
        if event is not None and await self._take_in(event, handlings):
            return
        self._queues.end_pauses()
        self._queues.review()
        if self._is_over or (self._queues.stocked and await self._look(handlings)):
            return
        self._sleeps = not self._queues.takes_all
        try:
            if self._is_alone:
                for wait in self._queues.stocked.values():
                    wait.along.pass_on()
            event = await self._bell.next(self._queues.patience)
        finally:
            self._sleeps = False
        await self._take_in(event, handlings)

    async def _take_in(self, event: _Event | None, handlings: list[AsyncPoolWork]) -> bool:
        """Handles this event, and all that came after it. Returns whether values came."""
        answers: list[_Answer] = []
        while event is not None:
            if isinstance(event, WaitAnswer):
                answers.append(event)
            elif isinstance(event, QueueWait):
                self._queues.go_on([event])
            else:
                self._note(event)
            event = self._bell.poll()
        return bool(answers) and await self._answered(answers, handlings)

    def _note(self, change: _FetchTrigger) -> None:
        self._ends = self._ends or change is _FetchTrigger.END
        if change is not _FetchTrigger.WANTED:
            self._queues.take({} if self._ends else {intake.name: intake for intake in self._intakes})

    # -- values ------------------------------------------------------------------------------------------------------

    async def _answered(self, answers: Sequence[_Answer], handlings: list[AsyncPoolWork]) -> bool:
        """Hands over the values that came to waiters, as far as slots are free. Returns whether any came."""
        ranks = {
            name: rank for rank, name in enumerate(self._order.sorted([each.wait.intake.name for each in answers]))
        }
        free = self._assigner.free if self._is_limited else None
        came: list[tuple[_Answer, list[Came]]] = []
        for answer in sorted(answers, key=lambda each: ranks[each.wait.intake.name]):
            opened = await self._opened(answer, has_slot=free is None or len(came) < free)
            if opened:
                came.append((answer, opened))
        # Nothing is awaited from here on.
        for answer, some in came:
            wait = answer.wait
            wait.lifeline.keep()
            self._order.took(wait.intake.name, sum(len(deliveries) for deliveries, _ in some))
            self._accept(wait, some, handlings, more=answer.more)
        return bool(came)

    def _accept(self, wait: _Wait, came: Sequence[Came], handlings: list[AsyncPoolWork], *, more: bool) -> None:
        """Hands over the values of one queue. A defect there holds up no other queue.

        The leases of the others' values run already, and may end in a pause. Values that could not be handed over come
        again at their deadlines.
        """
        # Without acks that go along, a waiter takes what is ready as well as a look does.
        more = more and (self._is_limited or (self._is_alone and wait.along.begin()))
        try:
            for deliveries, error in came:
                if error is not None:
                    self._assigner.reports.unreadable(wait.intake.name, error)
                self._assigner.accept(wait.intake, deliveries, handlings.append)
                self._handed_over += deliveries
        except AsyncFailure as error:
            self._queues.broke(wait, error)
        else:
            self._queues.now(wait, State.STOCKED if more else State.RESTING)

    async def _opened(self, answer: _Answer, *, has_slot: bool) -> list[Came]:
        """The deliveries of an answer. None, where it has no values for the worker."""
        wait, value = answer.wait, answer.value
        try:
            if isinstance(value, RedissonDQError):
                wait.lifeline.keep()
                raise value
            is_wanted = not self._is_limited or (has_slot and self._assigner.wanted(wait.intake) > 0)
            if wait.state is State.PARTING or not is_wanted:
                # The values go back. A look finds them when a slot is free.
                wait.lifeline.let_go()
                self._queues.now(wait, State.STOCKED)
                return []
            try:
                opened = await wait.intake.opened(await wait.intake.leased(value, wait.limit))
            except BaseException:
                wait.lifeline.let_go()
                raise
            wait.is_well_now()
            if not opened:
                wait.lifeline.keep()
                self._queues.now(wait, State.RESTING)
            return opened
        except ClosedError as error:
            # It was withdrawn, or somebody has closed the client.
            if wait.lifeline.is_withdrawn:
                self._queues.now(wait, State.RESTING)
            else:
                self._queues.failed(wait, error, is_told=False)
        except RedissonDQError as error:
            self._queues.failed(wait, error)
        except AsyncFailure as error:
            # A defect, or in a thread a class of the user's that wants to end the program when it is made.
            self._queues.broke(wait, error)
        return []

    # -- looks -------------------------------------------------------------------------------------------------------

    async def _look(self, handlings: list[AsyncPoolWork]) -> bool:
        """Takes ready values of the first allowed queue, in order, that has some. Returns whether one has."""
        stocked, idle = self._queues.stocked, list[str]()
        if self._is_alone:
            (wait,) = stocked.values()
            count = self._queues.wanted(wait)
            return count > 0 and await self._look_at(wait, count, idle, handlings)
        # Most looks find values at one of the first, so it is not asked for all how many they may give.
        wanted = (
            name
            for name in self._order.sorted(list(stocked))
            if name in stocked and self._queues.wanted(stocked[name]) > 0
        )
        size = _FIRST
        while some := list(itertools.islice(wanted, size)):
            size *= _TIMES
            ready = await self._ready(some)
            for name in some:
                wait = stocked[name]
                if name not in ready:
                    self._queues.now(wait, State.RESTING)
                elif await self._look_at(wait, self._queues.wanted(wait), idle, handlings):
                    return True
                idle.append(name)
        return False

    async def _ready(self, names: Sequence[str]) -> Sequence[str]:
        """Those of these queues whose lists are not empty."""
        if len(names) == 1:
            return names
        asked = [
            (name, source)
            for name in names
            for _, source in self._queues.stocked[name].intake.reception.sources.values()
        ]
        try:
            lengths = await self._runtime.connections.run_many([source.length() for _, source in asked])
        except RedissonDQError:
            # Each look reports its own error.
            return names
        return [name for (name, _), length in zip(asked, lengths, strict=True) if length != 0]

    async def _look_at(self, wait: _Wait, wanted: int, idle: Sequence[str], handlings: list[AsyncPoolWork]) -> bool:
        """Takes ready values of one queue. Returns whether there were any."""
        lifelines: list[Lifeline] = []
        try:
            if not self._is_alone:
                found = await self._leased_now(wait.intake, wanted, lifelines)
            else:
                found = await wait.along.receive(wanted) if wait.along.is_possible else []
            came = await wait.intake.opened(found)
        except AsyncFailure as error:
            for lifeline in lifelines:
                lifeline.let_go()
            if isinstance(error, RedissonDQError):
                self._queues.failed(wait, error)
            else:
                self._queues.broke(wait, error)
            return False
        if not self._is_alone or found:
            # Where the call has failed, no values came with it either.
            wait.is_well_now()
        if not found:
            self._queues.now(wait, State.RESTING)
            return False
        for lifeline in lifelines:
            lifeline.keep()
        if not self._is_alone:
            self._order.took(wait.intake.name, len(found), idle)
        self._accept(wait, came, handlings, more=bool(found[-1].left))
        return True

    async def _leased_now(self, intake: Intake, wanted: int, lifelines: list[Lifeline]) -> list[Leased]:
        """Leases ready values of one of many queues."""
        found: list[Leased] = []
        for key, (_, source) in intake.reception.sources.items():
            left = wanted - len(found)
            if left > 0 and source.sees_first:
                seen = await self._runtime.connections.run(source.peek(page(left, sorts=intake.reception.sorts)))
                found += await intake.admitted(key, seen, left)
            elif left > 0:
                lifelines.append(Lifeline())
                found += await intake.leaser.lease(source, left, 0.0, lifelines[-1])
        return found
