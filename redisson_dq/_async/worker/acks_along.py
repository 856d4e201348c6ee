"""Acks of one queue that go along with its next receive, in the same call."""

from __future__ import annotations

from collections.abc import Callable

from redisson_dq._async.runtime import Runtime
from redisson_dq._async.worker.intake import Intake
from redisson_dq._async.worker.settling import Settler
from redisson_dq._concurrency import AsyncMutex
from redisson_dq.calls.endings import Ack
from redisson_dq.calls.settling import Settling
from redisson_dq.errors import RedissonDQError
from redisson_dq.wire.lease_source import MOST_AT_ONCE
from redisson_dq.wire.leases import Leased
from redisson_dq.working.ends import Settlement, doubt

__all__ = ["AcksAlong"]

# How long such a call may take. A stop waits no longer than that for a server that hangs.
_LONGEST_CALL = 1.0
# The pause, in seconds, after no connection was idle for such a call.
_NO_CONNECTION = 1.0


class AcksAlong:
    """Collects acks while more values are ready, and sends them with the receive of these.

    While nothing is ready, each ack is sent by itself: it never waits for a value that may not come.
    """

    def __init__(self, runtime: Runtime, settler: Settler, intake: Intake, wake: Callable[[], object]) -> None:
        """``wake`` is called when an ack was collected while the fetcher sleeps."""
        self._runtime = runtime
        self._settler = settler
        self._intake = intake
        self._wake = wake
        # Guards the three fields below.
        self._mutex = AsyncMutex()
        self._collects = self._sleeps = False
        self._collected: list[Settlement] = []
        self._settling: Settling | None = None
        # When the next call may carry acks.
        self._from = 0.0

    @property
    def is_possible(self) -> bool:
        """Whether a receive of the queue may carry acks just now."""
        return self._intake.reception.acks_along and (not self._from or self._runtime.clock.monotonic() >= self._from)

    def put(self, settlement: Settlement) -> None:
        """A handling acks."""
        with self._mutex:
            collects, sleeps = self._collects, self._sleeps
            if collects:
                self._collected.append(settlement)
        if not collects:
            self._settler.send(settlement)
        elif sleeps:
            self._wake()

    def begin(self) -> bool:
        """Collects acks from now on, where the next receive may carry them, as more values are ready."""
        if self.is_possible:
            self._collects, self._sleeps = True, False
            return True
        return False

    def end(self) -> None:
        """Collects no more. Acks are sent by themselves, also those that were collected."""
        if not self._collects:
            return
        with self._mutex:
            self._collects = False
            left, self._collected = self._collected, []
        if left:
            self._settler.take_over(left)

    def pass_on(self) -> None:
        """Sends the collected acks: the fetcher sleeps now, as no value is wanted. The next ack wakes it."""
        with self._mutex:
            self._sleeps = True
            left, self._collected = self._collected, []
        if left:
            self._settler.take_over(left)

    async def receive(self, wanted: int) -> list[Leased]:
        """Sends the collected acks, and takes ready values, in one call. Empty where nothing was ready.

        Also where Redis declines, or fails. Then the acks are collected still.
        """
        ((_, source),) = self._intake.reception.sources.values()
        with self._mutex:
            self._sleeps = False
            carried, self._collected = self._collected[:MOST_AT_ONCE], self._collected[MOST_AT_ONCE:]
        if self._settling is None or self._settling.source is not source:
            self._settling = Settling(source, self._intake.sides[0].name)
        both, again = source.ack_and_receive([each.lease.leased.id for each in carried], wanted)
        told = self._settler.settling(Ack.name, carried)
        try:
            done = await self._runtime.connections.run(both, within=_LONGEST_CALL, at_hand=True)
        except BaseException as error:
            if doubt(carried, error):
                # Otherwise nothing was sent, and the acks are sent by themselves.
                if told is not None:
                    told.end(error)
                self._runtime.receivers.of(source).recover(again())
            self._give_back(carried)
            if not isinstance(error, RedissonDQError):
                raise
            # The wait reports what is wrong, and goes on.
            return []
        if done is None:
            self._from = self._runtime.clock.monotonic() + _NO_CONNECTION
            self._give_back(carried)
            return []
        outcomes, leased = done
        if told is not None:
            told.end_settling(outcomes)
        self._settler.answered(carried, outcomes)
        return leased

    def _give_back(self, carried: list[Settlement]) -> None:
        with self._mutex:
            self._collected[:0] = carried
