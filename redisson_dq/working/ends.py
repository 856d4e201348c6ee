"""The ends of a worker's leases, on their way to Redis."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import attrs

from redisson_dq.calls.delivery import DeliveryFacts, lease_of
from redisson_dq.calls.endings import Ack, Ending
from redisson_dq.calls.lease import Lease
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.items import SettleOutcome
from redisson_dq.observing.operations import OperationKind, Operations, Under
from redisson_dq.observing.outage import Outage
from redisson_dq.observing.refusals import Refusals
from redisson_dq.scheduling.clock import Clock
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.working.hooks import Hooks
from redisson_dq.working.slot_looks import NextLooks

__all__ = ["END", "ENDED", "LOOK", "PART", "EndsLeases", "Settlement", "Tell", "doubt"]

logger = logging.getLogger("redisson_dq")

#: In the inbox: nothing more comes.
END: Any = object()
#: In the inbox: a look for a slot is to follow.
LOOK: Any = object()
#: Why a settlement is lost that comes after the end.
ENDED = "the worker has stopped"
#: The name of the settler in an outage.
PART = "settling"

#: A function that gets the outcome.
Tell = Callable[[SettleOutcome], object]


@attrs.define(eq=False)
class Settlement:
    """The end of one lease, on its way to Redis. ``tell`` reports to hooks and observers how it ended."""

    lease: Lease
    how: Ending
    tell: Tell
    #: Whether the reply to a call that was to end the lease is lost. Redis may have carried that call out.
    is_in_doubt: bool = False


def doubt(settlements: Iterable[Settlement], error: BaseException) -> bool:
    """Notes whether Redis may have carried out the call that failed so, which was to end these leases. Returns that."""
    maybe_done: bool = getattr(error, "maybe_done", not isinstance(error, RedissonDQError))
    if maybe_done:
        for settlement in settlements:
            settlement.is_in_doubt = True
    return maybe_done


class _EndsInbox(Protocol):
    """The inbox of either flavour."""

    def put(self, event: Any, /) -> None: ...

    def poll(self) -> Any: ...


class EndsLeases:
    """The ends of leases of all queues of a worker: those that wait, and those that Redis has noted.

    ``_async/worker/settling.py`` sends them.
    """

    def __init__(
        self,
        inbox: _EndsInbox,
        clock: Clock,
        hooks: Hooks,
        outage: Outage,
        refusals: Refusals,
        operations: Operations,
    ) -> None:
        self._settlements = inbox
        self._clock = clock
        self._hooks = hooks
        self._outage = outage
        self._refusals = refusals
        self._operations = operations
        self._looks = NextLooks(clock)
        self._gives_up = False
        self._is_refused = False
        # Those that Redis is asked to note just now, or has not taken.
        self._pending: list[Settlement] = []
        self._has_ended = False
        #: Whether the event loop ends, so that nothing more is sent. Its end cancels every task, handlers among them.
        self.is_torn_away = False

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
            self._settlements.put(LOOK)

    def settling(self, call: str, settlements: Sequence[Settlement]) -> Under | None:
        """Notifies interceptors that leases of one queue are about to be ended. None where nobody asks."""
        operations = self._operations
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
        self._settlements.put(END)

    def _tell_of_doubt(self) -> None:
        """Its thread is in a hook, or Redis hangs. Both may go on, and the process may end before."""
        behind = list(iter(self._settlements.poll, None))
        for settlement in behind:
            self._settlements.put(settlement)
        doubtful = [each for each in (*self._pending, *behind) if each not in (END, LOOK) and not each.lease.is_over]
        logger.warning(
            "worker: stopping before Redis has confirmed the ends of these leases, so their values may be delivered "
            "again: %s",
            ", ".join(each.lease.display_name for each in doubtful),
        )

    def _tear_away(self) -> None:
        self.is_torn_away = True

    def _failed(self, errors: Iterable[RedissonDQError], tried: float) -> None:
        """Notes the errors of a round trip that began at ``tried``."""
        away = refusal = None
        for error in errors:
            if isinstance(error, RedisConnectionError):
                away = error
            elif not isinstance(error, ClosedError):
                refusal = error
        if away is not None:
            self._outage.began(PART, away, tried)
        else:
            self._outage.ended(PART)
        if refusal is not None and not self._is_refused:
            logger.error("worker: Redis refuses to end leases; retrying: %s", refusal)
        if refusal is not None or away is None:
            self._is_refused = refusal is not None

    def _refused(self, key: str, error: RedissonDQError) -> None:
        if not isinstance(error, (RedisConnectionError, ClosedError)):
            what = "ends of leases are not recorded, so their values are delivered again"
            self._refusals.began((PART, key), key, what, error, lambda: not self._pending)

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
            if settlement not in (END, LOOK):
                self._lose(settlement, ENDED)

    def _lose(self, settlement: Settlement, reason: object) -> None:
        logger.warning(
            "queue %r: the outcome of %s was not recorded, and it is delivered again: %s",
            settlement.lease.name,
            settlement.lease.display_name,
            reason,
        )
        self.tell(settlement, SettleOutcome.LOST)
