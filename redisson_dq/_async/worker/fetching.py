"""Receives values for a worker: as many as it has free slots, and no more.

:mod:`redisson_dq.working.fetch_plan` decides how a round goes. This module carries that out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from redisson_dq._async.leases.delivery import Delivery, lease_of
from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq._async.receiving.receivers import Receivers
from redisson_dq._async.runtime import Runtime
from redisson_dq._async.worker.assigning import Assigner
from redisson_dq._async.worker.intake import Intake
from redisson_dq._async.worker.settling import Settlement, Settler
from redisson_dq._async.worker.starting import Starter
from redisson_dq._concurrency import AsyncFailure, AsyncMutex, AsyncSwitch, async_give_way
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool
from redisson_dq.errors import ClosedError, DecodeError, RedisConnectionError, RedissonDQError
from redisson_dq.requests.inner.endings import Ack
from redisson_dq.requests.inner.leased_side import LeasedSide
from redisson_dq.requests.inner.settling import Settling
from redisson_dq.waiting.line import Lifeline
from redisson_dq.wire.blocking import RoundRobin, Waitable
from redisson_dq.wire.lease_source import MOST_AT_ONCE, LeaseSource
from redisson_dq.wire.leases import Leased
from redisson_dq.working.fetch_plan import PAUSE, Action, Do, FetchPlan, Trigger
from redisson_dq.working.order import Order

__all__ = ["Fetcher"]

logger = logging.getLogger("redisson_dq")

# How long a wait that is to end may take to do so.
_PATIENCE = 0.2


class Fetcher:
    """Receives from some queues, one of them in most workers, and hands the values over."""

    def __init__(
        self, runtime: Runtime, assigner: Assigner, order: Order, pool: AsyncHandlerPool, settler: Settler
    ) -> None:
        self._runtime = runtime
        self._clock = runtime.clock
        self._assigner = assigner
        self._order = order
        self._pool = pool
        self._settler = settler
        self._intakes: list[Intake] = []
        self._plan = FetchPlan()
        # Guards the plan.
        self._mutex = AsyncMutex()
        # On when the receiver is not to sleep.
        self._changed = AsyncSwitch(self._clock)
        self._ended = AsyncSwitch(self._clock)
        self._wait: tuple[Receiver, Lifeline] | None = None
        # Deliveries that were handed over, and are not renewed yet.
        self._handed_over: list[Delivery[Any]] = []
        #: All that it has waited at.
        self._receivers: dict[Receiver, Receivers] = {}

    @property
    def is_well(self) -> bool:
        """Whether it receives, and Redis does not refuse that."""
        return self._plan.is_well(self._clock.monotonic())

    def start(self) -> None:
        """Begins to receive."""
        if self._pool.start(self._run).waits:
            # It waits for a thread until a handler has returned. Leases and acks do not.
            self._renew()
            self._decide(lambda: self._plan.happened(Trigger.SHORT))

    def set_intakes(self, intakes: Iterable[Intake]) -> None:
        """Receives from these queues from now on."""
        self._intakes = list(intakes)
        for intake in self._intakes:
            intake.acked = self._acked
        can_join = len(self._intakes) == 1 and self._intakes[0].acks_along
        self._decide(lambda: self._plan.changed([intake.name for intake in self._intakes], can_join=can_join))

    def recount(self) -> None:
        """Fewer values may be wanted than the wait was begun for."""
        self._decide(self._plan.changed)

    def freed(self, queue: str) -> None:
        """Values of a queue are wanted again."""
        self._decide(lambda: self._plan.freed(queue))

    def end(self) -> None:
        """Receives nothing any more."""
        self._decide(self._plan.end)

    async def has_ended(self) -> bool:
        """Waits until nothing more comes, after :meth:`end`. False while Redis has not answered."""
        if not await self._ended.wait(_PATIENCE) and (wait := self._wait) is not None:
            # Redis stands still, and so does who reads from it.
            await wait[0].hang_up()
        await self._ended.wait(None)
        # A wait that was ended may have received values. They go back before the process may exit.
        is_quiet = True
        for receiver, receivers in self._receivers.items():
            is_quiet = await receivers.quiet([receiver]) and is_quiet
            receiver.stand_down()
        return is_quiet

    # -- actions -----------------------------------------------------------------------------------------------------

    def _acked(self, settlement: Settlement) -> None:
        self._decide(lambda: self._plan.acked(settlement))

    def _decide(self, decide: Callable[[], Iterable[Action]]) -> Do | None:
        """Carries out the actions that the plan decides on. Gives the one that takes time, for the receiver."""
        with self._mutex:
            actions = decide()
        step = None
        for action in actions:
            if action.do is Do.WAKE:
                self._changed.on()
            elif action.do is Do.WITHDRAW:
                if (wait := self._wait) is not None:
                    receiver, lifeline = wait
                    receiver.withdraw(lifeline)
            elif action.do in (Do.SEND, Do.PASS_ON):
                self._settler.take_over(action.acks)
            elif action.do is Do.FINISH:
                self._runtime.connections.refusals.ended(self)
                self._ended.on()
            elif action.do is not Do.KEEP:
                step = action.do
        return step

    # -- the receiver ------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        first = None
        try:
            while first is None and not self._plan.ends:
                self._renew()
                starter = Starter(self._pool)
                await self._receive(starter)
                first = starter.first
                if first is None:
                    # Handlers begin before the next wait does.
                    await async_give_way()
        finally:
            if first is None:
                self._renew()
                self._decide(self._plan.gone)
            else:
                # This thread becomes a handler, and another one receives.
                self.start()
        if first is not None:
            await self._pool.run(first)

    def _renew(self) -> None:
        """Begins to renew the leases of values that are not done yet. Handlers begin before that."""
        kept, self._handed_over = [each for each in self._handed_over if not lease_of(each).is_ending], []
        if kept:
            try:
                self._runtime.renewal.add(kept, self._assigner.lose)
            except Exception:
                # A defect. It ends no receiving.
                logger.exception("worker: the leases of %d values are not renewed", len(kept))

    async def _receive(self, starter: Starter) -> None:
        """One round. Never raises."""
        with self._mutex:
            self._plan.turn()
        self._changed.off()
        counts = {intake: count for intake in self._intakes if (count := self._assigner.wanted(intake)) > 0}
        wanted = [intake.name for intake in counts]
        step = self._decide(lambda: self._plan.begin(wanted, self._clock.monotonic()))
        is_well = True
        while step is not None:
            try:
                step = await self._taken(step, counts, starter)
            except ClosedError:
                is_well = False
                step = self._decide(self._plan.closed)
            except RedissonDQError as error:
                if not self._plan.is_refused:
                    logger.error("worker: cannot receive from %s: %s", wanted, error)
                is_well, step = False, self._refused(counts, error)
            except AsyncFailure as error:
                # A defect, or in a thread a class of the user's that wants to end the program when it is made. Values
                # that were received already come again at their deadlines.
                logger.exception("worker: receiving from %s failed", wanted)
                is_well, step = False, self._refused(counts, error)
        if is_well:
            self._plan.is_refused = False
            self._runtime.connections.refusals.ended(self)

    async def _taken(self, step: Do, counts: Mapping[Intake, int], starter: Starter) -> Do | None:
        """Takes one step of a round. Gives the next one, None at the end of the round."""
        if step is Do.JOIN:
            return await self._ack_and_receive(counts, starter)
        if step is Do.LOOK:
            return await self._look(list(counts), starter)
        if step is Do.WAIT:
            return await self._wait_for(counts, starter)
        await self._changed.wait(PAUSE if step is Do.PAUSE else None)
        return self._decide(lambda: self._plan.happened(Trigger.OVER))

    def _refused(self, intakes: Iterable[Intake], error: BaseException) -> Do | None:
        key = next((key for intake in intakes for key in intake.sources), "")
        what = "values are not received"
        self._runtime.connections.refusals.began(self, key, what, error, self._has_waited)
        return self._decide(self._plan.refused)

    def _has_waited(self) -> bool:
        return self._plan.has_waited(self._clock.monotonic())

    def _missed(self, refused_for: float = 0.0) -> Do | None:
        now = self._clock.monotonic()
        return self._decide(lambda: self._plan.missed(now, refused_until=now + refused_for if refused_for else 0.0))

    def _took(self, leased: Sequence[Leased] = ()) -> Do | None:
        # Values stood behind those that were leased last.
        more = bool(leased) and bool(leased[-1].left)
        return self._decide(lambda: self._plan.took(more, self._clock.monotonic()))

    async def _ack_and_receive(self, counts: Mapping[Intake, int], starter: Starter) -> Do | None:
        """Sends the acks that came meanwhile, if any, and takes ready values, in one call."""
        ((intake, wanted),) = counts.items()
        ((side, source),) = intake.sources.values()
        with self._mutex:
            carried = self._plan.carried(MOST_AT_ONCE)
        settling = Settling(source, side.name)
        both, receive = settling.ack_and_receive([each.lease.id for each in carried], min(wanted, MOST_AT_ONCE))
        settles = self._settler.settling(Ack.name, carried)
        try:
            # A stop waits no longer than that for a server that stands still.
            done = await self._runtime.connections.run(both, within=PAUSE, at_hand=True)
        except BaseException as error:
            if not isinstance(error, RedissonDQError) or (isinstance(error, RedisConnectionError) and error.maybe_done):
                # Otherwise nothing was sent, and the acks go another way.
                if settles is not None:
                    settles.end(error)
                self._receiver(source).recover(receive)
            if not isinstance(error, RedissonDQError):
                raise
            # The wait says what is wrong, and outlasts it.
            return self._missed()
        if done is None:
            return self._missed(PAUSE)
        outcomes, leased = done
        if settles is not None:
            settles.end_settling(outcomes)
        with self._mutex:
            self._plan.noted()
        for settlement, outcome in zip(carried, outcomes, strict=True):
            self._settler.tell(settlement, outcome)
        if not leased:
            return self._missed()
        step = self._took(leased)
        await self._hand_over([intake], leased, [], starter)
        return step

    async def _look(self, intakes: Sequence[Intake], starter: Starter) -> Do | None:
        """Takes the ready values of the first queue in order that has some."""
        by_name = {intake.name: intake for intake in intakes}
        idle: list[str] = []
        for name in self._order.sorted(list(by_name)):
            intake = by_name[name]
            wanted = min(self._assigner.wanted(intake), MOST_AT_ONCE)
            if self._plan.ends or wanted < 1:
                return self._took()
            found: list[Leased] = []
            lifelines: list[Lifeline] = []
            for side, source in intake.sources.values():
                if len(found) < wanted and source.sees_first:
                    seen = await self._runtime.connections.run(source.peek(_page(wanted - len(found))))
                    found += await self._admit(intake, side, source, seen, wanted - len(found))
                elif len(found) < wanted:
                    lifelines.append(Lifeline())
                    found += await intake.leaser.lease(source, wanted - len(found), 0.0, lifelines[-1])
            if found:
                step = self._took(found)
                await self._hand_over([intake], found, lifelines, starter)
                self._order.took(name, len(found), idle)
                return step
            idle.append(name)
        return self._missed()

    async def _wait_for(self, counts: Mapping[Intake, int], starter: Starter) -> Do | None:
        """Waits until one of the queues has something."""
        sources = [source for intake in counts for _, source in intake.sources.values()]
        # One value of several queues: the next look goes by the queues' order again.
        wanted = min(*counts.values(), MOST_AT_ONCE) if len(counts) == 1 else 1
        receiver = self._receiver(sources[0] if len(sources) == 1 else RoundRobin(tuple(sources)))
        lifeline = Lifeline()
        # The place is set first: a change finds it and ends the wait, or is seen here.
        self._wait = receiver, lifeline
        try:
            if self._plan.is_stale:
                return self._decide(self._plan.closed)
            sees = any(source.sees_first for source in sources)
            taken = await receiver.receive(None, _page(wanted) if sees else wanted, lifeline, stands_in=True)
        finally:
            self._wait = None
        found = [each for each in taken if isinstance(each, Leased)]
        for intake in counts:
            for key, (side, source) in intake.sources.items():
                seen = [each.data for each in taken if each.key == key and not isinstance(each, Leased)]
                if seen:
                    found += await self._admit(intake, side, source, seen, wanted)
        # Handlers may end before the next round begins.
        step = self._took(found)
        await self._hand_over(list(counts), found, [lifeline], starter)
        if len(counts) > 1 and found:
            key = found[0].key
            self._order.took(next(intake.name for intake in counts if key in intake.sources), len(found))
        return step

    def _receiver(self, waitable: Waitable) -> Receiver:
        receivers = self._runtime.receivers
        receiver = receivers.of(waitable)
        self._receivers[receiver] = receivers
        return receiver

    async def _admit(
        self, intake: Intake, side: LeasedSide[Any], source: LeaseSource, seen: Sequence[bytes], wanted: int
    ) -> list[Leased]:
        """Leases those of the values that were seen whose turn it is, at most so many."""
        if not seen or self._plan.ends:
            return []
        request = source.admit(wanted, *intake.admission_of(seen, side))
        admitted = await intake.leaser.run_again(request, source.visible, None)
        for data in admitted.dropped:
            self._assigner.duplicate(intake, data)
        intake.admitting.leased(admitted.leased)
        return admitted.leased

    async def _hand_over(
        self, intakes: Sequence[Intake], leased: list[Leased], lifelines: Sequence[Lifeline], starter: Starter
    ) -> None:
        """Gives the deliveries to the worker."""
        came: list[tuple[Intake, list[Delivery[Any]], DecodeError | None]] = []
        try:
            for intake in intakes:
                for key, (side, source) in intake.sources.items():
                    mine = [each for each in leased if each.key == key]
                    if mine:
                        came.append((intake, *await intake.leaser.deliveries(side, source, mine)))
        except BaseException:
            for lifeline in lifelines:
                lifeline.let_go()
            raise
        for lifeline in lifelines:
            lifeline.keep()
        for intake, deliveries, error in came:
            self._handed_over += deliveries
            if error is not None:
                self._assigner.unreadable(intake, error)
            # The end of the receiver may not wait for a handler. So its thread becomes none any more.
            self._assigner.accept(intake, deliveries, self._pool if self._plan.ends else starter)


def _page(wanted: int) -> int:
    """How many values are looked at where so many may be leased: some may have to wait, and others come behind them."""
    return min(MOST_AT_ONCE, 4 * wanted + 28)
