"""Leases the values of one queue, or of all its partitions, for handles and workers."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import attrs

from redisson_dq._async.leases.delivery import Delivery, lease_of
from redisson_dq._async.receiving.receiver import time_left
from redisson_dq._async.runtime import Runtime
from redisson_dq._common.texts import shown
from redisson_dq._concurrency import AsyncCallback, async_check_callback
from redisson_dq.calls.checks import check_count, check_function
from redisson_dq.calls.lease import Lease
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.parts import Routing
from redisson_dq.calls.settling import Settling
from redisson_dq.errors import ArgumentError, DecodeError, RedisConnectionError, RedissonDQError
from redisson_dq.observing import LeaseBegan, Tally
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.scheduling.times import Delay, timeout_seconds
from redisson_dq.waits.line import Lifeline
from redisson_dq.wire.blocking import RoundRobin
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.leases import Leased
from redisson_dq.wire.request import Request

__all__ = ["Leaser", "Receiving"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")
U = TypeVar("U")

# Pause between two tries of a receive whose reply was lost.
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
# A value that comes within this time was in the list already, and more may follow it.
_AT_ONCE = 0.005
# The time left for a caller whose time is over. Zero would mean a caller that does not wait, and that hangs when the
# server is away.
_NO_TIME = 1e-6


@attrs.frozen(kw_only=True)
class Receiving(Generic[T]):
    """How ``receive()`` leases: for how long, whether that is renewed, what is called when that fails."""

    visibility_timeout: Delay = 30
    renew: bool = False
    on_lost: AsyncCallback[Delivery[T]] | None = None

    def check(self, name: str) -> None:
        """Raises ArgumentError for options that cannot be used."""
        if not isinstance(self.renew, bool):
            raise ArgumentError(f"queue {name!r}: renew= must be True or False, not {shown(self.renew)}")
        if self.on_lost is not None:
            check_function(self.on_lost, name)
            async_check_callback(self.on_lost, f"queue {name!r}: on_lost=")
            if not self.renew:
                raise ArgumentError(f"queue {name!r}: on_lost= is called when a renewal fails, so it needs renew=True")


class Leaser(Generic[T]):
    """Leases values, and makes deliveries of them."""

    def __init__(
        self, runtime: Runtime, sides: Sequence[OpenQueue[T]], check: Callable[[], object], name: str | None = None
    ) -> None:
        """``sides`` is that of the queue, or those of its partitions. ``check`` raises when the handle is closed.
        ``name`` is that of the whole, else the queue's.
        """
        self.sides = sides
        self._runtime = runtime
        self._check = check
        self._name = name
        self._routing = Routing(len(sides))
        for side in sides:
            side.owner = bytes.fromhex(runtime.connections.client)[:4]

    @property
    def name(self) -> str:
        """That of the queue, or of the whole."""
        return self.sides[0].name if self._name is None else self._name

    async def receive(
        self, limit: int | None, timeout: Delay | None, how: Receiving[T]
    ) -> Delivery[T] | list[Delivery[T]] | None:
        """The call ``receive()`` of a handle."""
        name = self._name or self.sides[0].name
        seconds = None if timeout is None else timeout_seconds(timeout, name)
        wanted = 1 if limit is None else check_count(limit, name)
        if how.renew is not False or how.on_lost is not None:
            how.check(name)
        deadline = None if seconds is None else self._runtime.clock.monotonic() + seconds
        # Values of several partitions are kept together, or go back together.
        lifelines: list[Lifeline] = []
        operations, count = self._runtime.operations, None if limit is None else 0
        receipt = operations.receiving("receive", name, count=count) if operations else None
        try:
            while True:
                self._check()
                for side in self.sides:
                    for start in side.starts:
                        start()
                # Made again each time, as the queue may be renamed meanwhile.
                sources = [side.lease_source(how.visibility_timeout) for side in self.sides]
                left = seconds
                if deadline is not None and seconds != 0:
                    left = max(_NO_TIME, deadline - self._runtime.clock.monotonic())
                leased = await self._take(sources, wanted, left, lifelines)
                deliveries = await self.opened(sources, leased, deadline if seconds else None)
                if leased and not deliveries:
                    _keep(lifelines)
                    lifelines = []
                    continue
                if how.renew and deliveries:
                    self._runtime.renewal.add(deliveries, how.on_lost)
                made = deliveries if limit is not None else deliveries[0] if deliveries else None
                if receipt is not None:
                    receipt.took(len(deliveries), leases=map(lease_of, deliveries))
                # Keeping is the last step. After an interruption before it, the values go back.
                _keep(lifelines)
                return made
        except BaseException as error:
            if isinstance(error, DecodeError):
                # Unreadable values are dead letters, and the error has the others.
                _keep(lifelines)
            else:
                # Also an interruption after the last step: the caller has no values then.
                for lifeline in lifelines:
                    lifeline.let_go()
            if receipt is not None:
                receipt.failed(error)
            raise

    async def _take(
        self, sources: list[LeaseSource], wanted: int, left: float | None, lifelines: list[Lifeline]
    ) -> list[Leased]:
        """Receives of any partition. Its lifelines come into the list before anything hangs on them."""
        if len(sources) > 1 and left != 0:
            lifelines.append(Lifeline())
            receiver = self._runtime.receivers.of(RoundRobin(tuple(sources)))
            found: list[Any] = await receiver.receive(left, wanted, lifelines[-1])
            return found
        first = self._routing.next() if len(sources) > 1 else 0
        leased: list[Leased] = []
        for source in (*sources[first:], *sources[:first]):
            if len(leased) < wanted:
                lifelines.append(Lifeline())
                leased += await self.lease(source, wanted - len(leased), left, lifelines[-1])
        return leased

    async def lease(self, source: LeaseSource, wanted: int, left: float | None, lifeline: Lifeline) -> list[Leased]:
        """Leases ready values, in the caller's own round trip where nobody is in line before it. Otherwise waits."""
        receiver, began = self._runtime.receivers.of(source), self._runtime.clock.monotonic()
        taken: list[Any] = []
        if left == 0 and not receiver.is_quiet:
            # Values of callers who are gone may be on their way back. No look finds them until they are back.
            taken = await receiver.receive(_NO_TIME, wanted, lifeline)
        if not taken and (left == 0 or (receiver.has_backlog and not receiver.line.is_waited_on)):
            taken = await receiver.look(wanted, lifeline, left)
        if not taken and left != 0:
            now = self._runtime.clock.monotonic()
            left, began = None if left is None else max(_NO_TIME, left - (now - began)), now
            taken = await receiver.receive(left, wanted, lifeline)
            receiver.has_backlog = bool(taken) and self._runtime.clock.monotonic() - began < _AT_ONCE
        return taken

    async def run_again(self, request: Request[U], lease: float, left: float | None, *, when_closed: bool = False) -> U:
        """Runs a request. When the reply is lost, sends the same words again, which give the same result.

        Gives up when the leases it may have made have ended, or when the caller's time is over. ``when_closed`` is for
        calls that are still needed after the client was closed.
        """
        until = self._runtime.clock.monotonic() + (lease if left is None else min(lease, left))
        pause, pauses = 0.0, Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        while True:
            try:
                return await self._runtime.connections.run(request, when_closed=when_closed)
            except RedisConnectionError as error:
                # A request that was sent may have been carried out, also when the next try finds no server.
                sent = error.maybe_done or pause > 0
                if not sent or (pause and self._runtime.clock.monotonic() + pause > until):
                    error.maybe_done = sent
                    raise
            await self._runtime.clock.async_sleep(pause)
            pause = pauses.next()

    async def hand_back(self, source: LeaseSource, leased: list[Leased]) -> None:
        """Hands back the values that a cancelled caller would have received."""
        if leased:
            try:
                # A second hand-back answers LOST, and changes nothing.
                back = source.hand_back(leased)
                await self.run_again(back, source.visible, None, when_closed=True)
            except RedissonDQError as error:
                logger.warning(
                    "queue %r: %d values are ready again at their deadline: %s", self.sides[0].name, len(leased), error
                )

    async def opened(
        self, sources: Sequence[LeaseSource], leased: Sequence[Leased], deadline: float | None = None
    ) -> list[Delivery[T]]:
        """The deliveries. Values that the codec cannot read go to the dead-letter list, and raise one DecodeError.

        It is raised at the caller's deadline even if Redis has not answered.
        """
        if not leased:
            return []
        opened: list[Delivery[T]] = []
        failed: DecodeError | None = None
        parts = [(self.sides[0], sources[0], leased)] if len(sources) == 1 else self._by_queue(sources, leased)
        for side, source, group in parts:
            some, error = await self.deliveries(side, source, group, deadline)
            opened += some
            if error is None:
                continue
            if side.skip(error):
                continue
            if failed is None:
                failed = error
            else:
                failed.undecodable += error.undecodable
        if failed is not None:
            failed.decoded = list(opened)
            raise failed
        return opened

    def _by_queue(
        self, sources: Sequence[LeaseSource], leased: Sequence[Leased]
    ) -> list[tuple[OpenQueue[T], LeaseSource, Sequence[Leased]]]:
        of_key = {source.key: (side, source) for side, source in zip(self.sides, sources, strict=True)}
        return [(*of_key[key], list(group)) for key, group in itertools.groupby(leased, key=lambda each: each.key)]

    async def deliveries(
        self, side: OpenQueue[T], source: LeaseSource, leased: Sequence[Leased], deadline: float | None = None
    ) -> tuple[list[Delivery[T]], DecodeError | None]:
        """The deliveries of one list, and an error for the values that the codec cannot read.

        These are dead letters then, and ``kept_in`` is set. Where Redis refused that, or has not answered in time, they
        are ready again when their lease ends, and ``__cause__`` says why.
        """
        settling = Settling(source, side.name, side.options.durable)
        values, first = side.decoded([each.data for each in leased])
        if first is None:
            return self._opened(settling, leased, values), None
        readable: list[Leased] = []
        unreadable: list[Leased] = []
        found: list[T] = []
        for each in leased:
            values, error = side.decoded([each.data])
            (readable if error is None else unreadable).append(each)
            found += values
        opened = self._opened(settling, readable, found)
        first.decoded, first.undecodable = list(opened), [each.data for each in unreadable]
        side.tell_undecodable(first, side.name)
        try:
            reason = f"undecodable: {first}"
            request = settling.reject([each.id for each in unreadable], reason)
            left = None if deadline is None else time_left(deadline, self._runtime.clock)
            await self._runtime.receivers.answered(request, left, f"redisson_dq-reject-{side.name}")
            first.kept_in = source.lease_keys.dead.dead
        except RedissonDQError as failure:
            first.__cause__ = failure
        return opened, first

    def _count(self, queue: str, opened: Sequence[Delivery[T]], tallies: Sequence[Tally]) -> None:
        # Most values are new, and have no record to read.
        records = [lease.record for lease in map(lease_of, opened) if lease.leased.text]
        repeated = sum(record.attempt > 1 for record in records)
        late_ms = [
            record.received_ms - record.due_ms
            for record in records
            if record.received_ms is not None and record.due_ms is not None
        ]
        for tally in tallies:
            tally.leased(queue, len(opened), repeated, late_ms)

    def _opened(self, settling: Settling, leased: Sequence[Leased], values: Sequence[T]) -> list[Delivery[T]]:
        connections, observers = self._runtime.connections, self._runtime.options.observers
        tells, opened = observers.heard[LeaseBegan], []
        for each, value in zip(leased, values, strict=True):
            lease = Lease(settling, each, observers)
            if tells:
                lease.begun(value)
            opened.append(Delivery(connections, lease, value))
        if observers.tallies and opened:
            self._count(settling.name, opened, observers.tallies)
        return opened


def _keep(lifelines: Sequence[Lifeline]) -> None:
    for lifeline in lifelines:
        lifeline.keep()
