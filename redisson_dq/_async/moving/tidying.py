"""Drops records beyond their time, also where nothing is moved any more."""

from __future__ import annotations

import logging
from collections.abc import Callable

from redisson_dq._async.connecting.connections import Connections
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.timer import Timer
from redisson_dq.wire import calls
from redisson_dq.wire.keys import QueueKeys

__all__ = ["Tidying"]

logger = logging.getLogger("redisson_dq")

# The pause between two calls where there is more than one drops, and after a refusal, in us.
_MORE_US, _AGAIN_US = 50_000, 300_000_000


class Tidying:
    """Knows when the records of one queue are over.

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
