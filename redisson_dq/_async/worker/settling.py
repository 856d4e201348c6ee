"""Ends leases in batches: all that ended while the last batch was under way go in one round trip.

Acks may go along with the next receive of their queue instead, in the same call. Where values wait for slots, it also
looks for free ones (:mod:`redisson_dq.working.slot_looks`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.worker.repeating import LAST_ANSWER
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncInbox
from redisson_dq.calls.delivery import DeliveryFacts, lease_of
from redisson_dq.calls.endings import Ack, Ending, Nack
from redisson_dq.calls.settling import Settling
from redisson_dq.errors import ClosedError, DurabilityError, RedisConnectionError, RedissonDQError
from redisson_dq.items import SettleOutcome
from redisson_dq.observing.operations import OperationKind, Under
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.request import Request
from redisson_dq.working.ends import Settlement, Tell, doubt
from redisson_dq.working.hooks import Hooks
from redisson_dq.working.slot_looks import NextLooks

__all__ = ["Settler", "call_up_more"]

logger = logging.getLogger("redisson_dq")

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
# One script call ends this many.
_AT_ONCE = 1000
# Its name in an outage.
_PART = "settling"
# Between two checks whether the last outcomes are sent.
_CHECK = 0.05


# Nothing more comes.
_END: Any = object()
# A look for a slot is to follow.
_LOOK: Any = object()
# Why a settlement is lost that comes after the end.
_ENDED = "the worker has stopped"


class Settler:
    """Sends acks and nacks of all queues of a worker. One that Redis does not take is tried until the lease ends."""

    def __init__(self, connections: Connections, hooks: Hooks) -> None:
        self._connections = connections
        self._hooks = hooks
        self._settlements: AsyncInbox[Settlement] = AsyncInbox(connections.clock)
        self._looks = NextLooks(connections.clock)
        self._gives_up = False
        self._is_refused = False
        # Those that Redis is asked to note just now, or has not taken.
        self._pending: list[Settlement] = []
        self._has_ended = False
        #: Whether the event loop ends, so that nothing more is sent. Its end cancels every task, handlers among them.
        self.is_torn_away = False
        self._worker = AsyncBackgroundTask(self._run, "redisson_dq-settling", on_end=self._tear_away)

    def put(
        self,
        delivery: DeliveryFacts[Any],
        how: Ending,
        tell: Tell,
        acked: Callable[[Settlement], object] | None = None,
    ) -> None:
        """Ends a lease soon. From here on it is renewed no more. ``acked`` gets an ack that a receive may carry.

        Values that go to the head of their queue are put last one first. So they are in order, however many go in one
        batch.
        """
        lease = lease_of(delivery)
        lease.begin_ending()
        settlement = Settlement(lease, how, tell)
        if acked is not None and isinstance(how, Ack):
            acked(settlement)
        else:
            self.send(settlement)

    def send(self, settlement: Settlement) -> None:
        """Sends a settlement that no receive carries."""
        self.take_over([settlement])

    def take_over(self, settlements: Iterable[Settlement]) -> None:
        """Sends settlements that no receive carries."""
        for settlement in settlements:
            self._settlements.put(settlement)
        if self._has_ended:
            self._lose_rest()

    def look_again(self, source: LeaseSource, next_slot_ms: int) -> None:
        """Looks for a free slot when one may be there; ``next_slot_ms`` is as in a reply."""
        if self._looks.note(source, next_slot_ms):
            self._settlements.put(_LOOK)

    def settling(self, call: str, settlements: Sequence[Settlement]) -> Under | None:
        """Notifies interceptors that leases of one queue are about to be ended. None where nobody asks."""
        operations = self._connections.operations
        if not operations or not settlements:
            return None
        leases = [each.lease for each in settlements]
        count = None if len(leases) == 1 else len(leases)
        return operations.begin(OperationKind.SETTLE, call, leases[0].name, leases=leases, count=count, of_worker=True)

    def answered(self, settlements: Sequence[Settlement], outcomes: Sequence[SettleOutcome]) -> None:
        """Notes the outcomes that Redis gives."""
        # Mostly nobody asks about values that are done.
        acked = SettleOutcome.ACKED if not self._hooks.hears_acks else None
        for settlement, outcome in zip(settlements, outcomes, strict=True):
            if outcome is acked:
                settlement.lease.outcome = outcome
            else:
                self._answered(settlement, outcome)

    def _answered(self, settlement: Settlement, outcome: SettleOutcome) -> None:
        if outcome is SettleOutcome.LOST and settlement.is_in_doubt and settlement.lease.left > 0:
            # Before its deadline nobody else has ended it. So the call whose reply is lost has.
            outcome = settlement.how.done
        self.tell(settlement, outcome)

    def tell(self, settlement: Settlement, outcome: SettleOutcome) -> None:
        """Notes the outcome of an end, and calls the function that waits for it."""
        settlement.lease.settled(outcome)
        try:
            settlement.tell(outcome)
        except Exception:
            logger.exception(
                "queue %r: the follow-up of the end of the lease of %s failed",
                settlement.lease.name,
                settlement.lease.display_name,
            )

    def abandon(self) -> None:
        """Ends it before anything was settled."""
        self._settlements.put(_END)

    async def aclose(self, timeout: float, timeout_away: float) -> None:
        """Sends the settlements that are left, within ``timeout`` seconds, and ``timeout_away`` while Redis is away."""
        self._settlements.put(_END)
        began = self._connections.clock.monotonic()
        while not await self._worker.join(_CHECK):
            passed = self._connections.clock.monotonic() - began
            if passed > (min(timeout, timeout_away) if self._connections.outage.is_going_on else timeout):
                self._gives_up = True
                # Wakes it from its pause.
                self._settlements.put(_END)
                await self._worker.stop(LAST_ANSWER)
                break
        if not self._has_ended:
            self._tell_of_doubt()

    def _tell_of_doubt(self) -> None:
        """Its thread is in a hook, or Redis hangs. Both may go on, and the process may end before."""
        behind = list(iter(self._settlements.poll, None))
        for settlement in behind:
            self._settlements.put(settlement)
        doubtful = [each for each in (*self._pending, *behind) if each not in (_END, _LOOK) and not each.lease.is_over]
        logger.warning(
            "worker: stopping before Redis has confirmed the ends of these leases, so their values may be delivered "
            "again: %s",
            ", ".join(each.lease.display_name for each in doubtful),
        )

    def _tear_away(self) -> None:
        self.is_torn_away = True

    async def _run(self) -> None:
        try:
            await self._send_all()
        finally:
            # From here on nobody reads the inbox. A settlement that still comes finds that, or is found here.
            self._has_ended = True
            pending, self._pending = self._pending, []
            for settlement in pending:
                self._lose(settlement, _ENDED)
            self._lose_rest()
            self._connections.outage.gave_up(_PART)

    async def _send_all(self) -> None:
        """Sends until nothing is left after the last settlement."""
        ends = False
        pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        while self._pending or not ends:
            first = await self._settlements.next(pauses.next() if self._pending else self._looks.wait)
            while first is not None:
                if first is _END:
                    ends = True
                elif first is not _LOOK:
                    self._pending.append(first)
                first = self._settlements.poll()
            if not ends and not self._pending:
                await self._look()
            if self._pending:
                try:
                    self._pending = await self._send(self._pending)
                except Exception:
                    # A defect. These values come again at their deadlines.
                    logger.exception("worker: %d leases cannot be ended", len(self._pending))
                    self._pending = []
                if not self._pending:
                    pauses.reset()
                    if self._connections.outage.is_going_on:
                        # Nothing is sent again, so no later answer would end the outage.
                        self._connections.outage.gave_up(_PART)

    async def _look(self) -> None:
        """Calls up values for slots that have become free without notice."""
        for source in self._looks.due():
            if source.call_up() is None:
                self._looks.forget(source)
            else:
                await call_up_more(self._connections, source)

    async def _send(self, settlements: list[Settlement]) -> list[Settlement]:
        """One round trip. Returns the ones that Redis did not take, and whose leases still run."""
        groups: dict[tuple[Settling, Ending], list[Settlement]] = {}
        for settlement in settlements:
            groups.setdefault((settlement.lease.settling, settlement.how), []).append(settlement)
        batches = [
            (settling, how, _as_sent(how, some[start : start + _AT_ONCE]))
            for (settling, how), some in groups.items()
            for start in range(0, len(some), _AT_ONCE)
        ]
        requests = []
        for settling, how, batch in batches:
            request = how.request(settling, [settlement.lease.id for settlement in batch])
            requests.append(settling.durably(request, None))
        # A slot may be free now.
        sources = dict.fromkeys(settling.source for settling, _ in groups)
        looks = [(source, look) for source in sources if (look := source.call_up()) is not None]
        results: list[Any]
        called_up: list[Any] = []
        told = [self.settling(how.name, batch) for _, how, batch in batches]
        tried = self._connections.clock.monotonic()
        try:
            if len(requests) + len(looks) == 1:
                results = [await self._connections.run(requests[0])]
            else:
                together: list[Request[Any]] = [*requests, *(look for _, look in looks)]
                results = await self._connections.run_many(together, transaction=False)
                results, called_up = results[: len(requests)], results[len(requests) :]
        except RedissonDQError as error:
            results = [error] * len(requests)
        for settles, result in zip(told, results, strict=True):
            if settles is not None:
                settles.end_settling(result)
        # Each batch has its own error: one node of a cluster may be away, and another one refuse.
        failed: dict[Settlement, RedissonDQError] = {}
        for (settling, how, batch), result in zip(batches, results, strict=True):
            if isinstance(result, DurabilityError):
                logger.warning("queue %r: done, but not confirmed in time: %s", batch[0].lease.name, result)
                result = [how.done] * len(batch)
            if isinstance(result, RedissonDQError):
                failed.update(dict.fromkeys(batch, result))
                doubt(batch, result)
                self._refused(settling.source.key, result)
                continue
            self._connections.refusals.ended((_PART, settling.source.key))
            self.answered(batch, result)
        self._failed(failed.values(), tried)
        for (source, _), count in zip(looks, called_up, strict=False):
            if count and not isinstance(count, RedissonDQError):
                await call_up_more(self._connections, source)
        # In the order in which they were put.
        return [each for each in settlements if each in failed and self._still(each, failed[each])]

    def _failed(self, errors: Iterable[RedissonDQError], tried: float) -> None:
        """Notes the errors of a round trip that began at ``tried``."""
        away = refusal = None
        for error in errors:
            if isinstance(error, RedisConnectionError):
                away = error
            elif not isinstance(error, ClosedError):
                refusal = error
        if away is not None:
            self._connections.outage.began(_PART, away, tried)
        else:
            self._connections.outage.ended(_PART)
        if refusal is not None and not self._is_refused:
            logger.error("worker: Redis refuses to end leases; retrying: %s", refusal)
        if refusal is not None or away is None:
            self._is_refused = refusal is not None

    def _refused(self, key: str, error: RedissonDQError) -> None:
        if not isinstance(error, (RedisConnectionError, ClosedError)):
            what = "ends of leases are not recorded, so their values are delivered again"
            self._connections.refusals.began((_PART, key), key, what, error, lambda: not self._pending)

    def _still(self, settlement: Settlement, error: RedissonDQError) -> bool:
        """Whether the settlement is worth another try. One whose lease has ended is reported as lost."""
        ends = self._gives_up or isinstance(error, ClosedError)
        if settlement.lease.left > 0 and not ends:
            return True
        self._lose(settlement, error)
        return False

    def _lose_rest(self) -> None:
        """Loses the settlements that came too late."""
        while (settlement := self._settlements.poll()) is not None:
            if settlement not in (_END, _LOOK):
                self._lose(settlement, _ENDED)

    def _lose(self, settlement: Settlement, reason: object) -> None:
        logger.warning(
            "queue %r: the outcome of %s was not recorded, and it is delivered again: %s",
            settlement.lease.name,
            settlement.lease.display_name,
            reason,
        )
        self.tell(settlement, SettleOutcome.LOST)


def _as_sent(how: Ending, batch: list[Settlement]) -> list[Settlement]:
    """One call puts values that go to the head back in their order. They were put last one first."""
    return batch[::-1] if isinstance(how, Nack) and how.is_to_head else batch


async def call_up_more(connections: Connections, source: LeaseSource) -> None:
    """Checks the values that a call has just called up.

    Programs that take without a lease, such as Redisson's ``take()``, may have been faster than the receives. Then the
    next values are called up, until one stays or none waits. Raises nothing of this library: a wait that begins later
    calls up as well.
    """
    try:
        count = 1
        while count and (request := source.call_up()) is not None:
            count = await connections.run(request)
    except RedissonDQError as error:
        logger.debug("list %r: no further value is called up: %s", source.key, error)
