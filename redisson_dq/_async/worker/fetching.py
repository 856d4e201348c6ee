"""Receives the values of one queue for a worker: as many as it has free slots, and no more.

:mod:`redisson_dq.working.fetch_table` decides how a round goes. This module carries that out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq._async.receiving.receivers import Receivers
from redisson_dq._async.runtime import Runtime
from redisson_dq._async.worker.assigning import Assigner
from redisson_dq._async.worker.handing_over import Came, HandOver, page
from redisson_dq._async.worker.intake import Intake
from redisson_dq._async.worker.settling import Settlement, Settler, doubt
from redisson_dq._async.worker.starting import Turns
from redisson_dq._concurrency import AsyncFailure, AsyncMutex, AsyncSwitch, async_give_way
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool, AsyncPoolWork
from redisson_dq.calls.endings import Ack
from redisson_dq.calls.settling import Settling
from redisson_dq.errors import ClosedError, RedissonDQError
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waiting.line import Lifeline
from redisson_dq.wire.blocking import Waitable
from redisson_dq.wire.lease_source import MOST_AT_ONCE
from redisson_dq.wire.leases import Leased
from redisson_dq.working.fetch_plan import PAUSES, FetchAction, FetchPlan
from redisson_dq.working.fetch_table import Do, Trigger

__all__ = ["Fetcher"]

logger = logging.getLogger("redisson_dq")

# How long a wait that is to end may take to do so.
_PATIENCE = 0.2
# How long a call that acks and receives may take. A stop waits no longer than that for a server that stands still.
_LONGEST_CALL = 1.0
# No connection was idle for such a call. For so long none is tried.
_NO_CONNECTION = 1.0


class Fetcher:
    """Receives from one queue, and hands the values over."""

    def __init__(self, runtime: Runtime, assigner: Assigner, pool: AsyncHandlerPool, settler: Settler) -> None:
        self._runtime = runtime
        self._clock = runtime.clock
        self._assigner = assigner
        self._pool = pool
        self._settler = settler
        self._hand_over = HandOver(runtime, assigner)
        self._plan = FetchPlan()
        self._pauses = Pauses(*PAUSES)
        # Guards the plan.
        self._mutex = AsyncMutex()
        # On when the fetcher is not to sleep.
        self._changed = AsyncSwitch(self._clock)
        self._turns = Turns(pool, self._run, self._clock)
        self._wait: tuple[Receiver, Lifeline] | None = None
        #: All that it has waited at.
        self._receivers: dict[Receiver, Receivers] = {}

    @property
    def is_well(self) -> bool:
        """Whether it receives, and Redis does not refuse that."""
        return self._plan.is_well(self._clock.monotonic())

    def start(self) -> None:
        """Begins to receive."""
        self._begun(self._turns.begin())

    def _begun(self, waits: bool) -> None:
        if waits:
            # The next turn waits for a thread until a handler has returned. Leases and acks do not.
            self._hand_over.renew()
            self._decide(lambda: self._plan.happened(Trigger.SHORT))

    def set_intakes(self, intakes: Iterable[Intake]) -> None:
        """Receives from this queue from now on, the only one."""
        (self._intake,) = intakes
        self._intake.fetcher, self._intake.acked = self, self._acked
        self._decide(lambda: self._plan.changed(can_join=self._intake.reception.acks_along))

    def recount(self) -> None:
        """Fewer values may be wanted than the wait was begun for."""
        self._decide(self._plan.changed)

    def freed(self, queue: str) -> None:
        """Values of the queue are wanted again."""
        with self._mutex:
            actions = self._plan.freed()
        self._carry_out(actions)

    def end(self) -> None:
        """Receives nothing any more."""
        self._decide(self._plan.end)

    async def has_ended(self) -> bool:
        """Waits until nothing more comes, after :meth:`end`. False while Redis has not answered."""
        if not await self._turns.ended(_PATIENCE) and (wait := self._wait) is not None:
            # Redis stands still, and so does the thread or task that reads from it.
            await wait[0].hang_up()
        await self._turns.ended(None)
        # A wait that was ended may have received values. They go back before the process may exit.
        is_quiet = True
        for receiver, receivers in self._receivers.items():
            is_quiet = await receivers.quiet([receiver]) and is_quiet
            receiver.stand_down()
        return is_quiet

    # -- actions -----------------------------------------------------------------------------------------------------

    def _acked(self, settlement: Settlement) -> None:
        with self._mutex:
            actions = self._plan.acked(settlement)
        self._carry_out(actions)

    def _decide(self, decide: Callable[[], Iterable[FetchAction]]) -> Do | None:
        """Carries out the actions that the plan decides on. Gives the one that takes time, for its round."""
        with self._mutex:
            actions = decide()
        return self._carry_out(actions)

    def _carry_out(self, actions: Iterable[FetchAction]) -> Do | None:
        step = None
        for action in actions:
            if action.do is Do.WAKE:
                self._changed.on()
            elif action.do is Do.WITHDRAW:
                if (wait := self._wait) is not None:
                    receiver, lifeline = wait
                    receiver.withdraw(lifeline)
            elif action.do is Do.SEND or action.do is Do.PASS_ON:
                self._settler.take_over(action.acks)
            elif action.do is Do.FINISH:
                self._runtime.connections.refusals.ended(self)
                self._turns.end()
            elif action.do is not Do.COLLECT:
                step = action.do
        return step

    # -- the fetcher's thread or task --------------------------------------------------------------------------------

    async def _run(self) -> AsyncPoolWork | None:
        handlings: list[AsyncPoolWork] = []
        try:
            while not handlings and not self._plan.ends:
                self._hand_over.renew()
                await self._receive(handlings)
                if not handlings:
                    # Handlers begin before the next wait does.
                    await async_give_way()
        finally:
            goes_on = bool(handlings) and not self._plan.ends
            if goes_on:
                # This thread becomes a handler's, and another one receives.
                self._begun(self._turns.next(handlings[1:]))
            else:
                self._hand_over.renew()
                self._decide(self._plan.gone)
                # Nobody who waits for the end of the turns waits for a handler.
                self._pool.start_all(handlings)
        return handlings[0] if goes_on else None

    async def _receive(self, handlings: list[AsyncPoolWork]) -> None:
        """One round. Never raises."""
        with self._mutex:
            self._plan.new_round()
        self._changed.off()
        wanted = self._assigner.wanted(self._intake)
        step = self._decide(lambda: self._plan.counted(wanted > 0, self._clock.monotonic()))
        while step is not None:
            try:
                step = await self._taken(step, wanted, handlings)
            except ClosedError:
                # Somebody has closed the client.
                step = self._decide(self._plan.failed)
            except RedissonDQError as error:
                step = self._failed(error)
            except AsyncFailure as error:
                # A defect, or in a thread a class of the user's that wants to end the program when it is made. Values
                # that were received already come again at their deadlines.
                logger.exception("worker: receiving from %s failed", [self._intake.name])
                step = self._failed(error, is_told=False)

    async def _taken(self, step: Do, wanted: int, handlings: list[AsyncPoolWork]) -> Do | None:
        """Takes one step of a round. Gives the next one, None at the end of the round."""
        if step is Do.JOIN:
            return await self._ack_and_receive(wanted, handlings)
        if step is Do.WAIT:
            return await self._wait_for(wanted, handlings)
        if not handlings:
            await self._changed.wait(self._pauses.next() if step is Do.PAUSE else None)
        return self._decide(lambda: self._plan.happened(Trigger.OVER))

    def _failed(self, error: BaseException, *, is_told: bool = True) -> Do | None:
        key = next(iter(self._intake.reception.sources), "")
        if self._has_waited():
            self._pauses.reset()
        what = "values are not received"
        is_news = self._runtime.connections.refusals.began(self, key, what, error, self._has_waited)
        if is_news and is_told:
            logger.error("worker: cannot receive from %s: %s", [self._intake.name], error)
        return self._decide(self._plan.failed)

    def _went_well(self) -> None:
        self._plan.went_well()
        self._pauses.reset()
        self._runtime.connections.refusals.ended(self)

    def _has_waited(self) -> bool:
        return self._plan.has_waited(self._clock.monotonic())

    def _missed(self, declined_for: float = 0.0) -> Do | None:
        now = self._clock.monotonic()
        return self._decide(lambda: self._plan.missed(now, declined_until=now + declined_for if declined_for else 0.0))

    def _took(self, leased: Sequence[Leased] = ()) -> Do | None:
        # Values stood behind those that were leased last.
        more = bool(leased) and bool(leased[-1].left)
        return self._decide(lambda: self._plan.took(more, self._clock.monotonic()))

    async def _ack_and_receive(self, wanted: int, handlings: list[AsyncPoolWork]) -> Do | None:
        """Sends the acks that came meanwhile, if any, and takes ready values, in one call."""
        ((side, source),) = self._intake.reception.sources.values()
        with self._mutex:
            carried = self._plan.carried(MOST_AT_ONCE)
        settling = Settling(source, side.name)
        both, again = settling.ack_and_receive([each.lease.id for each in carried], min(wanted, MOST_AT_ONCE))
        settles = self._settler.settling(Ack.name, carried)
        try:
            done = await self._runtime.connections.run(both, within=_LONGEST_CALL, at_hand=True)
        except BaseException as error:
            if doubt(carried, error):
                # Otherwise nothing was sent, and the acks go another way.
                if settles is not None:
                    settles.end(error)
                self._receiver(source).recover(again())
            if not isinstance(error, RedissonDQError):
                raise
            # The wait says what is wrong, and outlasts it.
            return self._missed()
        if done is None:
            return self._missed(_NO_CONNECTION)
        outcomes, leased = done
        if settles is not None:
            settles.end_settling(outcomes)
        with self._mutex:
            self._plan.noted()
        for settlement, outcome in zip(carried, outcomes, strict=True):
            self._settler.answered(settlement, outcome)
        if not leased:
            return self._missed()
        step = self._took(leased)
        self._accept(await self._hand_over.opened(self._intake, leased), handlings)
        return step

    async def _wait_for(self, wanted: int, handlings: list[AsyncPoolWork]) -> Do | None:
        """Waits until the queue has something."""
        intake, reception = self._intake, self._intake.reception
        wanted = min(wanted, MOST_AT_ONCE)
        receiver = self._receiver(reception.waitable)
        lifeline = Lifeline()
        # The place is set first: a change finds it and ends the wait, or is seen here.
        self._wait = receiver, lifeline
        try:
            if self._plan.is_stale:
                return self._decide(self._plan.withdrawn)
            limit = page(wanted) if reception.sees_first else wanted
            taken = await receiver.receive(None, limit, lifeline, stands_in=True)
        except ClosedError:
            # A change may belong to the round before, and end this wait all the same.
            if not lifeline.is_withdrawn:
                raise
            return self._decide(self._plan.withdrawn)
        finally:
            self._wait = None
        is_over = self._plan.ends and reception.sees_first
        leased, came = await self._hand_over.received(intake, [] if is_over else taken, wanted, lifeline)
        lifeline.keep()
        # Handlers may end before the next round begins.
        step = self._took(leased)
        self._accept(came, handlings)
        return step

    def _receiver(self, waitable: Waitable) -> Receiver:
        receivers = self._runtime.receivers
        receiver = receivers.of(waitable)
        self._receivers[receiver] = receivers
        return receiver

    def _accept(self, came: Sequence[Came], handlings: list[AsyncPoolWork]) -> None:
        """Gives the deliveries to the worker."""
        self._hand_over.accept(came, handlings.append)
        self._went_well()
