"""The moment at which one transfer is sent."""

from __future__ import annotations

from redisson_dq._concurrency import async_stand_back
from redisson_dq.scheduling.clock import Clock

__all__ = ["Departure"]

# The longest wait before a sending. A timer that was armed again meanwhile may have set a later time.
_LONGEST_WAIT_US = 2_500


class Departure:
    """Waits for the time at which a transfer is to be sent, and notes when it was sent.

    ``alarm_us`` is the time that the timer was set for, where there is a timer for it.
    """

    def __init__(
        self, clock: Clock, departs_us: int = 0, alarm_us: int | None = None, *, busy_wait: bool = False
    ) -> None:
        self._clock = clock
        self.sent_us = 0
        self._departs_us = departs_us
        self._alarm_us = alarm_us
        self._busy_wait = busy_wait
        self._ready_us: int | None = None

    @property
    def way_us(self) -> int | None:
        """The time from the alarm to the moment when the transfer was ready to be sent."""
        return None if self._ready_us is None or self._alarm_us is None else self._ready_us - self._alarm_us

    async def wait(self) -> None:
        """Waits until the time of departure, when only the sending is left. A repeated sending waits again."""
        at_us = self._clock.now_us()
        if self._ready_us is None:
            self._ready_us = at_us
        if self._departs_us - at_us <= _LONGEST_WAIT_US:
            await self._clock.async_sleep_until(self._departs_us, busy=self._busy_wait)
        self.sent_us = self._clock.now_us()

    async def stand_back(self) -> None:
        """Lets the consumer of the moved value read its reply first, which comes at the same time."""
        if self._alarm_us is not None:
            await async_stand_back()
