"""When a queue is looked at again for a free slot, while values wait for slots and nothing else reports one.

Most slots become free by a call, which calls up the next value. No call reports that a holder has died, or that another
program has taken the value that was called up. So the next look is when the first lease with a slot ends, and soon.
"""

from __future__ import annotations

import threading

from redisson_dq.scheduling.clock import Clock, client_parts
from redisson_dq.wire.lease_source import LeaseSource

__all__ = ["NextLooks"]

# The longest time between two looks, in seconds.
_EVERY = 2.0
# The value of a lease that has ended takes the slot itself, if it is there by then.
_AFTER = 0.1


class NextLooks:
    """The moments of the next looks. Any thread may call it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._every = client_parts(clock).housekeeping(_EVERY)
        self._mutex = threading.RLock()
        self._moments: dict[LeaseSource, float] = {}

    def note(self, source: LeaseSource, next_slot_ms: int) -> bool:
        """Notes when a look is to follow; ``next_slot_ms`` is as in a reply. Returns whether it is the first of this
        queue.
        """
        if next_slot_ms < 0 and not self._moments:
            return False
        with self._mutex:
            is_first = next_slot_ms >= 0 and source not in self._moments
            if next_slot_ms < 0:
                self._moments.pop(source, None)
            else:
                wait = next_slot_ms / 1000 + _AFTER if next_slot_ms else self._every
                moment = self._clock.monotonic() + min(wait, self._every)
                # Waits begin again and again, and put no look off.
                self._moments[source] = moment if next_slot_ms else min(self._moments.get(source, moment), moment)
        return is_first

    @property
    def wait(self) -> float | None:
        """For how many seconds no look is due; None: until further notice."""
        with self._mutex:
            moment = min(self._moments.values(), default=None)
        return None if moment is None else max(0.0, moment - self._clock.monotonic())

    def due(self) -> list[LeaseSource]:
        """The sources that are to be looked at now. Without an answer they are due again after the longest wait."""
        now = self._clock.monotonic()
        with self._mutex:
            found = [source for source, moment in self._moments.items() if moment <= now]
            self._moments.update(dict.fromkeys(found, now + self._every))
        return found

    def forget(self, source: LeaseSource) -> None:
        """It has no limit of slots any more."""
        with self._mutex:
            self._moments.pop(source, None)
