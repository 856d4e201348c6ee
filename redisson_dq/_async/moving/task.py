"""The state of one queue that a client moves: its next transfer, and its records that are over."""

from __future__ import annotations

import logging
from collections.abc import Callable

import attrs

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.moving.arrivals import Arrivals
from redisson_dq._concurrency import async_stand_back
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.observing.transfer_record import TransferRecord
from redisson_dq.scheduling.clock import Clock
from redisson_dq.scheduling.engine import Action
from redisson_dq.scheduling.timer import Timer
from redisson_dq.wire import calls
from redisson_dq.wire.keys import QueueKeys

__all__ = ["Decided", "Departure", "Task", "Tidying"]

logger = logging.getLogger("redisson_dq")

# The longest wait before a sending. A timer that was armed again meanwhile may have set a later time.
_LONGEST_WAIT_US = 2_500
# The pause between two calls where there is more than one drops, and after a refusal, in us.
_MORE_US, _AGAIN_US = 50_000, 300_000_000


@attrs.frozen
class Decided:
    """Actions of an engine, and the time at which it decided."""

    actions: tuple[Action, ...] = ()
    at_us: int = 0


@attrs.define(eq=False)
class Departure:
    """Waits for the time at which a transfer is to be sent, and notes when it was sent."""

    clock: Clock
    departs_us: int = 0
    #: The time that the timer was set for, where there is a timer for it.
    alarm_us: int | None = None
    busy_wait: bool = False
    sent_us: int = 0
    #: When only the sending was left.
    ready_us: int | None = None

    @property
    def way_us(self) -> int | None:
        """The time from the alarm to the moment when the transfer was ready to be sent."""
        return None if self.ready_us is None or self.alarm_us is None else self.ready_us - self.alarm_us

    async def wait(self) -> None:
        """Waits until the time of departure, when only the sending is left. A repeated sending waits again."""
        at_us = self.clock.now_us()
        if self.ready_us is None:
            self.ready_us = at_us
        if self.departs_us - at_us <= _LONGEST_WAIT_US:
            await self.clock.async_sleep_until(self.departs_us, busy=self.busy_wait)
        self.sent_us = self.clock.now_us()

    async def stand_back(self) -> None:
        """Lets the consumer of the moved value read its reply first, which comes at the same time."""
        if self.alarm_us is not None:
            await async_stand_back()


class Tidying:
    """Drops records of one queue beyond their time, also where nothing is moved any more.

    Each transfer may leave records. So a call comes ``soon_us`` after a transfer. The call's answer says when the next
    thing is over. Where nothing is remembered, and nothing is moved, no call follows.
    """

    def __init__(
        self, keys: QueueKeys, connections: Connections, timer: Timer, soon_us: int, ring: Callable[[], None]
    ) -> None:
        """``ring`` is called by the timer when :meth:`tidy` is to be called."""
        self._keys = keys
        self._connections = connections
        self._timer = timer
        self._soon_us = soon_us
        self._ring = ring
        self._name = f"tidy {keys.channel}"
        self._at_us: int | None = None

    def moved(self) -> None:
        """A transfer was made."""
        self._arm(self._soon_us)

    async def tidy(self) -> None:
        """Drops as much as one call may take, and has the timer armed for the rest."""
        self._at_us = None
        try:
            await self._connections.check_pause(self._keys.timeout)
            left_ms = await self._connections.run(calls.tidy(self._keys))
        except ClosedError:
            return
        except RedissonDQError as error:
            level = logging.DEBUG if isinstance(error, RedisConnectionError) else logging.WARNING
            logger.log(level, "queue %r: finished records are not removed yet: %s", self._keys.ready, error)
            self._arm(_AGAIN_US)
            return
        if left_ms is not None:
            # Records that expire a little later are dropped by the same call.
            self._arm(left_ms * 1000 + self._soon_us if left_ms else _MORE_US)

    def postpone(self) -> None:
        """The queue cannot be moved now, and so not be tidied either."""
        self._at_us = None
        self._arm(_AGAIN_US)

    def close(self) -> None:
        """Nothing is dropped here any more."""
        self._timer.disarm(self._name)

    def _arm(self, delay_us: int) -> None:
        at_us = self._connections.clock.now_us() + delay_us
        if self._at_us is None or at_us < self._at_us:
            self._at_us = at_us
            self._timer.arm(self._name, delay_us, self._ring)


@attrs.define(eq=False)
class Task(TransferRecord):
    """The state of one queue's transfers. Only the driver's background task uses it."""

    tidying: Tidying
    #: Handles and workers that need it.
    holders: set[object] = attrs.field(factory=set)
    #: Whether a look at the head is already in the inbox.
    looking: bool = False
    #: Values moved to a receiver and not leased yet.
    arrivals: Arrivals = attrs.field(default=attrs.Factory(lambda task: Arrivals(task.keys), takes_self=True))
    #: The departure of the transfer that the timer leads to, where its time is known to the microsecond.
    departure: Departure | None = None

    def closed(self) -> None:
        self.tidying.close()
        super().closed()
