"""Receives values for a worker, in one thread or task: as many as it has free slots, and no more.

A fetcher has one queue, or many. It goes in rounds: it looks which values are wanted, takes what is ready, and waits.
:mod:`redisson_dq.working.queue_wait_table` decides for each queue when a wait begins and ends.

* With one queue it waits itself. So the thread that reads a value from Redis runs its handler. While more values are
  ready, one call ends leases and takes the next values (:class:`AcksAlong`).
* With many queues, a waiter is in line at each one that values are wanted of. So the number of queues costs neither
  threads nor rounds. Where the slots of a worker are limited over all queues, values may come to more waiters at a time
  than there are slots. Those that find none go back to the head of their queue, as if they had never come. Such a queue
  is looked at when a slot is free, in the order of the worker, before its next waiter enters.
"""

from __future__ import annotations

import enum
import itertools
import logging
from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Union

from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq._async.runtime import Runtime
from redisson_dq._async.worker.acks_along import AcksAlong
from redisson_dq._async.worker.assigning import Assigner
from redisson_dq._async.worker.handing_over import Came, HandOver, page
from redisson_dq._async.worker.intake import Intake
from redisson_dq._async.worker.queue_wait import QueueWait, WaitAnswer
from redisson_dq._async.worker.settling import Settler
from redisson_dq._async.worker.starting import Turns
from redisson_dq._concurrency import AsyncFailure, AsyncInbox, async_give_way
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool, AsyncPoolWork
from redisson_dq.errors import ClosedError, RedissonDQError
from redisson_dq.waits.line import Lifeline
from redisson_dq.wire.lease_source import MOST_AT_ONCE
from redisson_dq.wire.leases import Leased
from redisson_dq.working.order import Order
from redisson_dq.working.queue_wait_table import Do, State, Trigger

__all__ = ["Fetcher"]

logger = logging.getLogger("redisson_dq")

# How many queues are asked in the first round trip of a look. Each one more asks some times as many.
_FIRST, _TIMES = 1, 8
# How long a wait that is to end may take to do so.
_PATIENCE = 0.2
# After a defect.
_PAUSE = 1.0


class _FetchTrigger(enum.Enum):
    """A change from outside."""

    QUEUES = "any queue may want other values than before"
    WANTED = "values of a queue are wanted again"
    END = "nothing is to be received any more"


#: The answer to a waiter, a change, or a queue whose pause ends before its time.
_Event = Union[WaitAnswer, _FetchTrigger, QueueWait]


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
        self._hand_over = HandOver(runtime, assigner)
        self._bell: AsyncInbox[_Event] = AsyncInbox(self._clock)
        # The queues of which values are wanted again. Whoever adds one rings the bell where the fetcher sleeps.
        self._freed: deque[str] = deque()
        self._sleeps = False
        # The queues that it was told to receive from last.
        self._intakes: Sequence[Intake] = ()
        # The state of each queue is in the table of its wait. The collections below only find those that have
        # something to do, without a look through all of them.
        self._waits: dict[str, QueueWait] = {}
        # Waits whose queue was taken off, until their waiters are out of the line.
        self._leaving: set[QueueWait] = set()
        # The queues that are reviewed before the next wait.
        self._dirty: dict[str, None] = {}
        # Those that wanted nothing when they were reviewed last, where slots are limited over all queues.
        self._unmet: dict[str, None] = {}
        self._stocked: dict[str, QueueWait] = {}
        # When the pauses of the queues end that Redis refuses.
        self._pausing: dict[QueueWait, float] = {}
        self._ends = False
        self._turns = Turns(pool, self._run, self._clock)
        self._receivers: set[Receiver] = set()
        # The only queue, while this thread or task waits itself.
        self._here: QueueWait | None = None

    # -- for the crew ------------------------------------------------------------------------------------------------

    @property
    def is_well(self) -> bool:
        """Whether it receives, and Redis does not refuse that."""
        return not self._ends and all(wait.is_well for wait in list(self._waits.values()))

    def start(self) -> None:
        """Begins to receive."""
        self._begun(self._turns.begin())

    def _begun(self, waits: bool) -> None:
        if waits:
            # The next turn waits for a thread until a handler has returned. Leases and acks do not.
            self._hand_over.renew()
            for wait in list(self._waits.values()):
                wait.collects_no_more()

    def set_intakes(self, intakes: Iterable[Intake]) -> None:
        """Receives from these queues from now on."""
        self._intakes = tuple(intakes)
        for intake in self._intakes:
            intake.fetcher = self
        self._notify(_FetchTrigger.QUEUES)

    def recount(self) -> None:
        """Fewer values may be wanted than waiters were sent for."""
        self._notify(_FetchTrigger.QUEUES)

    def freed(self, queue: str) -> None:
        """Values of a queue are wanted again."""
        self._freed.append(queue)
        self._wake()

    def _wake(self) -> None:
        if self._sleeps:
            self._bell.put(_FetchTrigger.WANTED)

    def end(self) -> None:
        """Receives nothing any more."""
        self._notify(_FetchTrigger.END)

    def _notify(self, notice: _FetchTrigger) -> None:
        self._bell.put(notice)
        if (here := self._here) is not None:
            here.withdraw()

    async def has_ended(self) -> bool:
        """Waits until nothing more comes, after :meth:`end`. False while Redis has not answered."""
        if not await self._turns.ended(_PATIENCE) and (here := self._here) is not None and here.receiver is not None:
            # Redis stands still, and so does the thread or task that reads from it.
            await here.receiver.hang_up()
        # A waiter leaves its line without Redis.
        await self._turns.ended(None)
        # Values that came for waiters in leaving go back before the process may exit.
        is_quiet = await self._runtime.receivers.quiet(list(self._receivers))
        if self._is_alone:
            for receiver in self._receivers:
                receiver.stand_down()
        return is_quiet

    # -- the fetcher's thread or task --------------------------------------------------------------------------------

    async def _run(self) -> AsyncPoolWork | None:
        handlings: list[AsyncPoolWork] = []
        try:
            while not handlings and not self._is_over:
                self._hand_over.renew()
                try:
                    await self._round(handlings)
                except AsyncFailure:
                    # A defect. Values that were received already come again at their deadlines.
                    logger.exception("worker: receiving from %d queues failed", len(self._waits))
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
                self._hand_over.renew()
                for wait in (*self._waits.values(), *self._leaving):
                    wait.collects_no_more()
                    wait.forget()
                self._turns.end()
                self._pool.start_all(handlings)
        return handlings[0] if goes_on else None

    @property
    def _is_over(self) -> bool:
        """Whether it ends, and nothing more comes."""
        return self._ends and not self._waits and not self._leaving

    async def _round(self, handlings: list[AsyncPoolWork]) -> None:
        if await self._take_in(self._bell.poll(), handlings):
            return
        self._review()
        if self._is_over or (self._stocked and await self._look(handlings)):
            return
        if (here := self._entered()) is not None:
            await self._take_in(await self._wait_here(here), handlings)
            return
        self._sleeps = True
        try:
            for wait in self._stocked.values():
                wait.passes_on()
            event = await self._bell.next(self._patience())
        finally:
            self._sleeps = False
        await self._take_in(event, handlings)

    def _entered(self) -> QueueWait | None:
        """The only queue, where it is to be waited for."""
        if not self._is_alone:
            return None
        return next((wait for wait in self._waits.values() if wait.table.state is State.WAITING), None)

    async def _wait_here(self, wait: QueueWait) -> WaitAnswer | None:
        """Waits for the values of the only queue in this thread or task."""
        # The place is set first: a change finds it and ends the wait, or is seen here.
        self._here = wait
        try:
            if self._bell.count:
                wait.withdraw()
            return await wait.receive()
        except AsyncFailure as error:
            self._broke(wait, error)
            return None
        finally:
            self._here = None

    async def _take_in(self, event: _Event | None, handlings: list[AsyncPoolWork]) -> bool:
        """Sees to this event, and to all that came behind it. Whether values came."""
        answers: list[WaitAnswer] = []
        while event is not None:
            if isinstance(event, WaitAnswer):
                answers.append(event)
            elif isinstance(event, QueueWait):
                self._go_on([event])
            else:
                self._note(event)
            event = self._bell.poll()
        if self._pausing:
            now = self._clock.monotonic()
            self._go_on([wait for wait, moment in self._pausing.items() if moment <= now])
        return bool(answers) and await self._answered(answers, handlings)

    def _patience(self) -> float | None:
        """How long nothing has to be done."""
        if self._dirty or self._freed:
            return 0.0
        moment = min(self._pausing.values(), default=None)
        return None if moment is None else max(0.0, moment - self._clock.monotonic())

    def _go_on(self, waits: Iterable[QueueWait]) -> None:
        """The pauses of these queues are over."""
        for wait in waits:
            if self._pausing.pop(wait, None) is not None:
                wait.tries_again()
                self._happened(wait, Trigger.OVER)

    def _note(self, change: _FetchTrigger) -> None:
        if change is _FetchTrigger.QUEUES:
            self._take_queues()
        elif change is _FetchTrigger.END and not self._ends:
            self._ends = True
            for wait in list(self._waits.values()):
                self._give_up(wait)

    def _take_queues(self) -> None:
        intakes = {} if self._ends else {intake.name: intake for intake in self._intakes}
        for name, wait in list(self._waits.items()):
            if intakes.get(name) is not wait.intake:
                self._give_up(wait)
        for name, intake in intakes.items():
            if name not in self._waits:
                self._waits[name] = self._wait_for(intake)
            self._dirty[name] = None

    def _wait_for(self, intake: Intake) -> QueueWait:
        along = AcksAlong(self._runtime, self._settler, intake, self._wake) if self._is_alone else None
        intake.acked = None if along is None else along.put
        return QueueWait(self._runtime, intake, along, is_stocked=self._is_limited)

    def _give_up(self, wait: QueueWait) -> None:
        del self._waits[wait.intake.name]
        self._leaving.add(wait)
        self._happened(wait, Trigger.END)

    # -- decisions ---------------------------------------------------------------------------------------------------

    def _review(self) -> None:
        """Finds out how many values are wanted of the queues that may have changed."""
        if self._freed:
            # A slot of any queue may be for the only one.
            self._dirty.update(dict.fromkeys(self._waits) if self._is_alone else self._unmet)
            while self._freed:
                self._dirty[self._freed.popleft()] = None
        dirty, self._dirty = self._dirty, {}
        for name in dirty:
            self._unmet.pop(name, None)
            wait = self._waits.get(name)
            if wait is None or (self._is_alone and wait.table.state is State.STOCKED):
                # The look that follows finds out.
                continue
            wanted = min(self._assigner.wanted(wait.intake), MOST_AT_ONCE)
            if wait.table.state is State.WAITING:
                # Where slots are limited over all queues, one value more is turned round sooner than all waiters are.
                is_less = wanted < wait.limit and not self._is_limited
                if is_less or wait.waits_elsewhere:
                    self._happened(wait, Trigger.FEWER)
            elif wanted > 0:
                self._happened(wait, Trigger.WANTED, wanted)
            elif self._is_limited:
                self._unmet[name] = None

    def _happened(self, wait: QueueWait, trigger: Trigger, wanted: int = 0) -> None:
        for do in wait.table.happened(trigger):
            if do is Do.ENTER:
                wait.begin(1 if self._is_limited else wanted)
                if not self._is_alone:
                    wait.enter(self._bell.put)
                if wait.receiver is not None:
                    self._receivers.add(wait.receiver)
            elif do is Do.WITHDRAW:
                wait.withdraw()
            elif do is Do.PAUSE:
                seconds = wait.pause(partial(self._bell.put, wait))
                self._pausing[wait] = self._clock.monotonic() + seconds
            elif do is Do.FORGET:
                self._pausing.pop(wait, None)
                self._leaving.discard(wait)
                wait.forget()
        name = wait.intake.name
        if wait.table.state is State.STOCKED:
            self._stocked[name] = wait
        else:
            wait.collects_no_more()
            if self._stocked.get(name) is wait:
                del self._stocked[name]
        if wait.table.state is State.RESTING:
            self._dirty[name] = None

    # -- values ------------------------------------------------------------------------------------------------------

    async def _answered(self, answers: Sequence[WaitAnswer], handlings: list[AsyncPoolWork]) -> bool:
        """Hands over the values that came to waiters, as far as slots are free. Whether any came."""
        ranks = {
            name: rank for rank, name in enumerate(self._order.sorted([each.wait.intake.name for each in answers]))
        }
        free = self._assigner.free if self._is_limited else None
        came: list[tuple[WaitAnswer, list[Came]]] = []
        for answer in sorted(answers, key=lambda each: ranks[each.wait.intake.name]):
            opened = await self._opened(answer, has_slot=free is None or len(came) < free)
            if opened:
                came.append((answer, opened))
        # Nothing is awaited from here on.
        for answer, some in came:
            wait = answer.wait
            wait.lifeline.keep()
            self._order.took(wait.intake.name, sum(len(each.deliveries) for each in some))
            self._accept(wait, some, handlings, more=answer.more)
        return bool(came)

    def _accept(self, wait: QueueWait, came: Sequence[Came], handlings: list[AsyncPoolWork], *, more: bool) -> None:
        """Hands over the values of one queue. A defect there holds up no other queue.

        The leases of the others' values run already, and may end in a pause.
        """
        # Without acks that go along, a waiter takes what is ready as well as a look does.
        more = more and (self._is_limited or wait.collects())
        try:
            self._hand_over.accept(came, handlings.append)
        except AsyncFailure as error:
            self._broke(wait, error)
        else:
            self._happened(wait, Trigger.MORE if more else Trigger.TOOK)

    async def _opened(self, answer: WaitAnswer, *, has_slot: bool) -> list[Came]:
        """The deliveries of an answer. None, where it has no values for the worker."""
        wait, value = answer.wait, answer.value
        try:
            if isinstance(value, RedissonDQError):
                wait.lifeline.keep()
                raise value
            is_wanted = not self._is_limited or (has_slot and self._assigner.wanted(wait.intake) > 0)
            if wait.table.ends or not is_wanted:
                # The values go back. A look finds them when a slot is free.
                wait.lifeline.let_go()
                self._happened(wait, Trigger.UNWANTED)
                return []
            _, opened = await self._hand_over.received(wait.intake, value, wait.limit, wait.lifeline)
            wait.is_well_now()
            if not opened:
                wait.lifeline.keep()
                self._happened(wait, Trigger.MISSED)
            return opened
        except ClosedError as error:
            # It was withdrawn, or somebody has closed the client.
            if wait.lifeline.is_withdrawn:
                self._happened(wait, Trigger.MISSED)
            else:
                self._failed(wait, error, is_told=False)
        except RedissonDQError as error:
            self._failed(wait, error)
        except AsyncFailure as error:
            # A defect, or in a thread a class of the user's that wants to end the program when it is made.
            self._broke(wait, error)
        return []

    def _broke(self, wait: QueueWait, error: BaseException) -> None:
        """A defect. Values that were handed over already come again at the deadlines of their leases."""
        logger.exception("worker: receiving from %s failed", [wait.intake.name])
        self._failed(wait, error, is_told=False)

    def _failed(self, wait: QueueWait, error: BaseException, *, is_told: bool = True) -> None:
        wait.failed(error, is_told=is_told)
        self._happened(wait, Trigger.FAILED)

    # -- looks -------------------------------------------------------------------------------------------------------

    async def _look(self, handlings: list[AsyncPoolWork]) -> bool:
        """Takes ready values of the first queue in order that has some, of those that may. Whether one has."""
        if self._is_alone:
            return await self._look_along(handlings)
        # Most looks find values at one of the first, so it is not asked for all how many they may give.
        wanted = (name for name in self._order.sorted(list(self._stocked)) if self._wanted(name))
        idle: list[str] = []
        size = _FIRST
        while some := list(itertools.islice(wanted, size)):
            size *= _TIMES
            ready = await self._ready(some)
            for name in some:
                if name in ready and await self._look_at(self._stocked[name], idle, handlings):
                    return True
                if name not in ready:
                    self._happened(self._stocked[name], Trigger.MISSED)
                idle.append(name)
        return False

    def _wanted(self, name: str) -> int:
        wait = self._stocked.get(name)
        return 0 if wait is None else min(self._assigner.wanted(wait.intake), MOST_AT_ONCE)

    async def _ready(self, names: Sequence[str]) -> Sequence[str]:
        """Those of these queues whose lists are not empty."""
        if len(names) == 1:
            return names
        asked = [
            (name, source) for name in names for _, source in self._stocked[name].intake.reception.sources.values()
        ]
        try:
            lengths = await self._runtime.connections.run_many(
                [source.length() for _, source in asked], transaction=False
            )
        except RedissonDQError:
            # Each look tells its own error.
            return names
        return [name for (name, _), length in zip(asked, lengths, strict=True) if length != 0]

    async def _look_at(self, wait: QueueWait, idle: Sequence[str], handlings: list[AsyncPoolWork]) -> bool:
        intake, wanted = wait.intake, self._wanted(wait.intake.name)
        found: list[Leased] = []
        lifelines: list[Lifeline] = []
        try:
            for side, source in intake.reception.sources.values():
                left = wanted - len(found)
                if left > 0 and source.sees_first:
                    seen = await self._runtime.connections.run(source.peek(page(left)))
                    found += await self._hand_over.admitted(intake, side, source, seen, left)
                elif left > 0:
                    lifelines.append(Lifeline())
                    found += await intake.leaser.lease(source, left, 0.0, lifelines[-1])
            came = await self._hand_over.opened(intake, found)
        except AsyncFailure as error:
            for lifeline in lifelines:
                lifeline.let_go()
            if isinstance(error, RedissonDQError):
                self._failed(wait, error)
            else:
                self._broke(wait, error)
            return False
        wait.is_well_now()
        if not found:
            self._happened(wait, Trigger.MISSED)
            return False
        for lifeline in lifelines:
            lifeline.keep()
        self._order.took(intake.name, len(found), idle)
        self._accept(wait, came, handlings, more=bool(found[-1].left))
        return True

    async def _look_along(self, handlings: list[AsyncPoolWork]) -> bool:
        """Takes ready values of the only queue, and sends acks in the same call."""
        ((name, wait),) = self._stocked.items()
        intake, along, wanted = wait.intake, wait.along, self._wanted(name)
        if not wanted:
            return False
        if along is None or not along.is_possible:
            self._happened(wait, Trigger.MISSED)
            return False
        try:
            leased = await along.receive(wanted)
            came = await self._hand_over.opened(intake, leased)
        except RedissonDQError as error:
            self._failed(wait, error)
            return False
        except AsyncFailure as error:
            self._broke(wait, error)
            return False
        if not leased:
            self._happened(wait, Trigger.MISSED)
            return False
        wait.is_well_now()
        self._accept(wait, came, handlings, more=bool(leased[-1].left))
        return True
