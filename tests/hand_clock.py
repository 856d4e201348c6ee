"""A clock that stops until a test moves it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from redisson_dq.scheduling.clock import SystemClock
from redisson_dq.testing._waits import Alarms, ClockOfAlarms, TimedAlarm
from tests.conftest import PATIENCE

__all__ = ["HandClock"]

# An arbitrary moment, far from zero like that of a machine.
_BEGINNING_US = 1_000_000_000_000


class HandClock(ClockOfAlarms):
    """The clock of the clients that are made inside ``with using(clock):``.

    Use it for decisions of a client by its own time: when to send a transfer, to renew a lease, to end a
    ``take(timeout=)``, to try again. ``advance`` ends such waits in the order of their times, without a sleep in the
    test. The woken threads and tasks still take real time, so a test waits for the event as always.

    It does not move Redis's clock. Due times and deadlines are times of that clock, and the client maps them to its own
    by the replies. After ``advance(3600)`` the client sends its transfer, Redis answers that nothing is due for another
    hour, and the client arms its timer again, as after any change of a clock. A test that wants the item to fall due
    also moves its score in Redis. Waits for a reply, or for the end of a thread or a task, use real time.

    A wait of less than a quarter of a second polls for something that ends by itself, such as a closing connection. It
    also ends in real time, so a client can be closed while the clock is stopped.

    A thread may read the time, and begin to wait after the time was moved. So a test expects each wait
    (``expect_wait``) before it advances the time. Between two advances, calls seem to take no time at all.
    """

    def __init__(self) -> None:
        # No time passes for a thread that waits for an event.
        super().__init__(Alarms(_BEGINNING_US, 10 * PATIENCE))

    # -- for tests ---------------------------------------------------------------------------------------------------

    def advance(self, seconds: float) -> None:
        """Moves the time, and ends the waits that are over by then, in the order of their times.

        A wait that begins meanwhile counts too.
        """
        until_us = self._alarms.now_us + round(seconds * 1_000_000)
        with self._alarms.moving:
            while (next_us := self._alarms.next_us()) is not None and next_us <= until_us:
                self._alarms.now_us = max(self._alarms.now_us, next_us)
                for alarm in self._alarms.due():
                    alarm.ring()
            self._alarms.now_us = max(self._alarms.now_us, until_us)

    def expect_wait(self, *seconds: float, within: float = 1.0) -> float:
        """Returns as soon as a wait has begun that ends in ``seconds``, give or take ``within``.

        If there are several, returns the first one found.
        """

        def left() -> list[float]:
            return [(at_us - self._alarms.now_us) / 1_000_000 for at_us, _ in self._alarms.waits()]

        def waited() -> float | None:
            return next((each for each in seconds if any(abs(one - each) <= within for one in left())), None)

        with self._alarms.changed:
            self._alarms.changed.wait_for(lambda: waited() is not None, PATIENCE)
            found = waited()
            assert found is not None, f"nobody waits for {seconds} s; waits end in {left()} s"
        return found

    # -- the clock ---------------------------------------------------------------------------------------------------

    def call_later(
        self, loop: asyncio.AbstractEventLoop, seconds: float, call: Callable[..., object], *args: Any
    ) -> TimedAlarm:
        alarm = super().call_later(loop, seconds, call, *args)
        # A test may expect the wait of this task. Nothing else is notified of it.
        self._alarms.happened()
        return alarm

    def monotonic(self) -> float:
        return self._alarms.now_us / 1_000_000

    def now_us(self) -> int:
        return self._alarms.now_us

    calendar_us = staticmethod(SystemClock.calendar_us)
    drifts = SystemClock.drifts
