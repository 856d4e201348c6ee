"""Receives values for a worker: as many as it has free slots, and no more."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from redisson_dq._async.leases.delivery import Delivery, lease_of
from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq._async.receiving.receivers import Receivers
from redisson_dq._async.receiving.waiters import Lifeline
from redisson_dq._async.runtime import Runtime
from redisson_dq._async.worker.assigning import Assigner
from redisson_dq._async.worker.intake import Intake
from redisson_dq._async.worker.settling import Along, Settler
from redisson_dq._async.worker.starting import Starter
from redisson_dq._concurrency import AsyncFailure, AsyncSwitch, async_give_way
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool
from redisson_dq.errors import ClosedError, DecodeError, RedisConnectionError, RedissonDQError
from redisson_dq.requests.inner.leased_side import LeasedSide
from redisson_dq.requests.inner.settling import Settling
from redisson_dq.wire.blocking import RoundRobin, Waitable
from redisson_dq.wire.lease_source import MOST_AT_ONCE, LeaseSource
from redisson_dq.wire.leases import Leased
from redisson_dq.working.order import Order

__all__ = ["Fetcher"]

logger = logging.getLogger("redisson_dq")

# Between two tries, when Redis refuses to give anything.
_PAUSE = 1.0
# How long a wait that is to end may take to do so.
_PATIENCE = 0.2


class Fetcher:
    """Receives from some queues, one of them in most workers, and hands over what came."""

    def __init__(
        self, runtime: Runtime, assigner: Assigner, order: Order, pool: AsyncHandlerPool, settler: Settler
    ) -> None:
        self._runtime = runtime
        self._intakes: list[Intake] = []
        self._assigner = assigner
        self._order = order
        self._pool = pool
        self._settler = settler
        self._changed = AsyncSwitch(runtime.clock)
        #: Acks that go along with the next receive, where it receives from one queue alone.
        self._along = Along(self._changed.on, settler.take_over)
        # Whether more was ready when it received last.
        self._has_backlog = False
        # When it may try again to ack and receive in one call, on the monotonic clock.
        self._joins_from = 0.0
        # What was handed over, and is not renewed yet.
        self._handed_over: list[Delivery[Any]] = []
        self._ends = False
        self._is_refused = False
        self._waits_since = 0.0
        # Whether what the next wait is for may have changed.
        self._stale = False
        self._wait: tuple[Receiver, Lifeline] | None = None
        #: All that it has waited at.
        self._receivers: dict[Receiver, Receivers] = {}
        self._waits_for: frozenset[str] = frozenset()
        self._is_started = False
        self._ended = AsyncSwitch(runtime.clock)

    @property
    def is_well(self) -> bool:
        """Whether it receives, and Redis does not refuse that."""
        return self._is_started and not self._ends and (self._waits() or not self._is_refused)

    def _waits(self) -> bool:
        """Whether a wait goes on for so long that Redis has not refused it."""
        return self._wait is not None and self._runtime.clock.monotonic() - self._waits_since > _PAUSE

    def start(self) -> None:
        """Begins to receive."""
        self._is_started = True
        if self._pool.start(self._run).waits:
            # It waits for a thread until a handler has returned. Leases and acks do not.
            self._renew()
            self._along.close()

    def set_intakes(self, intakes: Iterable[Intake]) -> None:
        """Is told which queues it receives from, from now on."""
        self._intakes = list(intakes)
        for intake in self._intakes:
            intake.along = self._along
        self._wake()

    def recount(self) -> None:
        """Is told that fewer values may be wanted than the wait was begun for."""
        self._wake()

    def freed(self, queue: str) -> None:
        """Is told that values of a queue are wanted again."""
        self._stale = self._stale or len(self._intakes) > 1
        self._changed.on()
        if self._wait is not None and queue not in self._waits_for:
            self._wake()

    def end(self) -> None:
        """Receives nothing any more."""
        self._ends = True
        self._wake()

    async def has_ended(self) -> None:
        """Waits until nothing more comes, after :meth:`end`."""
        if self._is_started:
            if not await self._ended.wait(_PATIENCE) and (wait := self._wait) is not None:
                # Redis stands still, and so does who reads from it.
                await wait[0].hang_up()
            await self._ended.wait(None)
        # What a wait that was ended has received yet goes back before the process may exit.
        for receiver, receivers in self._receivers.items():
            await receivers.quiet([receiver])
            receiver.stand_down()

    def _wake(self) -> None:
        self._stale = True
        self._changed.on()
        wait = self._wait
        if wait is not None:
            receiver, lifeline = wait
            receiver.withdraw(lifeline)

    # -- the worker --------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        first = None
        try:
            while first is None and not self._ends:
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
                self._along.close()
                self._runtime.connections.refusals.ended(self)
                self._ended.on()
            else:
                # Who has received becomes a handler, and somebody else receives.
                self.start()
        if first is not None:
            await self._pool.run(first)

    def _renew(self) -> None:
        """Has the leases renewed of what is not done yet. Handlers begin before that."""
        kept, self._handed_over = [each for each in self._handed_over if not lease_of(each).is_ending], []
        if kept:
            try:
                self._runtime.renewal.add(kept, self._assigner.lose)
            except Exception:
                # A defect. It ends no receiving.
                logger.exception("worker: the leases of %d values are not renewed", len(kept))

    async def _receive(self, starter: Starter) -> None:
        """Receives once, or waits until there is something to do. Never raises."""
        # Whatever changes from here on is seen before the wait begins, or ends it.
        self._stale = False
        self._changed.off()
        joins = self._joins
        if joins:
            self._along.open()
        else:
            self._along.close()
        intakes = [intake for intake in self._intakes if self._assigner.wanted(intake) > 0]
        try:
            if self._ends:
                return
            if not intakes:
                # An ack that comes from here on wakes it.
                self._along.flush()
                await self._changed.wait(None)
            elif len(intakes) == 1:
                wanted = min(self._assigner.wanted(intakes[0]), MOST_AT_ONCE)
                if not (joins and await self._ack_and_receive(intakes[0], wanted, starter)):
                    await self._wait_for(intakes, wanted, starter)
            elif not await self._look(intakes, starter):
                # One value: the next look goes by the queues' order again.
                await self._wait_for(intakes, 1, starter)
        except ClosedError:
            # Woken; or the client was closed by somebody else.
            if not self._stale:
                self._is_refused = True
                await self._pause()
        except RedissonDQError as error:
            if not self._is_refused:
                logger.error("worker: cannot receive from %s: %s", [intake.name for intake in intakes], error)
            self._refused(intakes, error)
            await self._pause()
        except AsyncFailure as error:
            # A defect, or in a thread a class of the user's that wants to end the program when it is made. What it had
            # received comes again at its deadline.
            logger.exception("worker: receiving from %s failed", [intake.name for intake in intakes])
            self._refused(intakes, error)
            await self._pause()
        else:
            self._is_refused = False
            self._runtime.connections.refusals.ended(self)

    def _refused(self, intakes: Sequence[Intake], error: BaseException) -> None:
        self._is_refused = True
        key = next((key for intake in intakes for key in intake.sources), "")
        what = "values are not received"
        self._runtime.connections.refusals.began(self, key, what, error, self._waits)

    async def _pause(self) -> None:
        self._along.close()
        await self._changed.wait(_PAUSE)

    @property
    def _joins(self) -> bool:
        """Whether acks may go along with the next receive. That is for one queue, in which more was ready."""
        if not self._has_backlog or len(self._intakes) != 1 or self._runtime.clock.monotonic() < self._joins_from:
            return False
        return self._intakes[0].acks_along

    async def _ack_and_receive(self, intake: Intake, wanted: int, starter: Starter) -> bool:
        """Sends the acks that came meanwhile, if any, and takes what is ready, in one call. False: it took nothing."""
        self._has_backlog = False
        ((side, source),) = intake.sources.values()
        carried = self._along.take()
        self._settler.take_over(carried[MOST_AT_ONCE:])
        carried = carried[:MOST_AT_ONCE]
        settling = Settling(source, side.name)
        both, receive = settling.ack_and_receive([each.lease.id for each in carried], wanted)
        try:
            # Whoever stops the worker waits no longer than that for a server that stands still.
            done = await self._runtime.connections.run(both, within=_PAUSE, at_hand=True)
        except BaseException as error:
            self._settler.take_over(carried)
            if not isinstance(error, RedissonDQError) or (isinstance(error, RedisConnectionError) and error.maybe_done):
                receivers = self._runtime.receivers
                receiver = receivers.of(source)
                self._receivers[receiver] = receivers
                receiver.recover(receive)
            if not isinstance(error, RedissonDQError):
                raise
            # The wait says what is wrong, and outlasts it.
            return False
        if done is None:
            self._settler.take_over(carried)
            self._joins_from = self._runtime.clock.monotonic() + _PAUSE
            return False
        outcomes, leased = done
        for settlement, outcome in zip(carried, outcomes, strict=True):
            self._settler.tell(settlement, outcome)
        self._has_backlog = _has_more(leased)
        return await self._hand_over([intake], leased, [], starter) > 0

    async def _look(self, intakes: list[Intake], starter: Starter) -> bool:
        """Takes what is ready of the first queue in order that has something."""
        by_name = {intake.name: intake for intake in intakes}
        idle: list[str] = []
        for name in self._order.sorted(list(by_name)):
            intake = by_name[name]
            wanted = min(self._assigner.wanted(intake), MOST_AT_ONCE)
            if self._ends or wanted < 1:
                return True
            found: list[Leased] = []
            lifelines: list[Lifeline] = []
            for side, source in intake.sources.values():
                if len(found) < wanted and source.sees_first:
                    seen = await self._runtime.connections.run(source.peek(_page(wanted - len(found))))
                    found += await self._admit(intake, side, source, seen, wanted - len(found))
                elif len(found) < wanted:
                    lifelines.append(Lifeline())
                    found += await intake.leaser.lease(source, wanted - len(found), 0.0, lifelines[-1])
            if await self._hand_over([intake], found, lifelines, starter):
                self._order.took(name, len(found), idle)
                return True
            idle.append(name)
        return False

    async def _wait_for(self, intakes: Sequence[Intake], wanted: int, starter: Starter) -> None:
        """Waits until one of the queues has something."""
        self._along.close()
        sources = [source for intake in intakes for _, source in intake.sources.values()]
        waitable: Waitable = sources[0] if len(sources) == 1 else RoundRobin(tuple(sources))
        receivers = self._runtime.receivers
        receiver, lifeline = receivers.of(waitable), Lifeline()
        self._receivers[receiver] = receivers
        # The place first: who wakes either finds it, or is seen here.
        self._waits_for = frozenset(intake.name for intake in intakes)
        self._waits_since = self._runtime.clock.monotonic()
        self._wait = receiver, lifeline
        try:
            if self._stale:
                return
            sees = any(source.sees_first for source in sources)
            taken = await receiver.receive(None, _page(wanted) if sees else wanted, lifeline, stands_in=True)
        finally:
            self._wait = None
        found = [each for each in taken if isinstance(each, Leased)]
        for intake in intakes:
            for key, (side, source) in intake.sources.items():
                seen = [each.data for each in taken if each.key == key and not isinstance(each, Leased)]
                if seen:
                    found += await self._admit(intake, side, source, seen, wanted)
        self._has_backlog = _has_more(found)
        if self._joins:
            # Handlers may end before the next receive begins.
            self._along.open()
        count = await self._hand_over(intakes, found, [lifeline], starter)
        if len(intakes) > 1 and count:
            key = found[0].key
            self._order.took(next(intake.name for intake in intakes if key in intake.sources), count)

    async def _admit(
        self, intake: Intake, side: LeasedSide[Any], source: LeaseSource, seen: Sequence[bytes], wanted: int
    ) -> list[Leased]:
        """Leases those of the values that were seen whose turn it is, at most so many."""
        if not seen or self._ends:
            return []
        request = source.admit(wanted, *intake.admission_of(seen, side))
        admitted = await intake.leaser.run_again(request, source.visible, None)
        for data in admitted.dropped:
            self._assigner.duplicate(intake, data)
        intake.admitting.leased(admitted.leased)
        return admitted.leased

    async def _hand_over(
        self, intakes: Sequence[Intake], leased: list[Leased], lifelines: Sequence[Lifeline], starter: Starter
    ) -> int:
        """Gives the deliveries to the worker. Tells how many values came."""
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
            # Whoever waits for the end waits for no handler. So the one who receives does not become one any more.
            self._assigner.accept(intake, deliveries, self._pool if self._ends else starter)
        return len(leased)


def _has_more(leased: Sequence[Leased]) -> bool:
    """Whether values stood behind those that were leased last."""
    return bool(leased) and bool(leased[-1].left)


def _page(wanted: int) -> int:
    """How many values are looked at where so many may be leased: some may have to wait, and others come behind them."""
    return min(MOST_AT_ONCE, 4 * wanted + 28)
