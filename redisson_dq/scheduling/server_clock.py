"""When to send a transfer: how far the server's clock is from this machine's, and how long before that the timer fires.

Both are learned. No I/O, and times are arguments.

Each answer holds the server's time when the command ran. The command ran at some moment between sending and reading:

    server's time - time of reading  <=  difference of the clocks  <=  server's time - time of sending

The upper end is too high by the time that the command took to the server, and by nothing else. So the lowest of the
last upper ends belongs to the fastest way, and a slow answer changes nothing. That figure says when to send a command
for a due time. The command runs at the due time, or as much later as its own way is slower than the fastest one.
"""

from __future__ import annotations

from collections import deque
from typing import Final

__all__ = ["HeadStart", "ServerClock"]

# The fastest of this many answers counts. About one answer in as many is faster still, and its command runs too early.
_ANSWERS: Final = 64
# Clocks drift apart. So an answer counts as higher by 15 us for each second since, and no more after a minute.
_OLDEST_US: Final = 60_000_000
_DRIFT_SHARE: Final = 1 << 16

# An answer whose way was slower than the fastest one by more than this is ignored.
_SLOW_US: Final = 20_000

# The head start of a timer: at first, at least and at most; and how many ways are remembered.
_FIRST_US: Final = 200
_LEAST_US: Final = 50
_MOST_US: Final = 2_000
_WAYS: Final = 32


class ServerClock:
    """Learns from answers when to send. Not thread-safe: the driver of the engines calls it from one place."""

    def __init__(self, *, drifts: bool = True) -> None:
        #: Whether the two clocks run at slightly different rates.
        self.drifts = drifts
        #: The server's time when a command runs there, minus this machine's time when it is sent. None before the
        #: first answer.
        self.ahead_us: int | None = None
        #: When this machine's clock was last compared with the server's.
        self.learned_us = 0
        # Upper ends, each with the time of its reading.
        self._answers: deque[tuple[int, int]] = deque(maxlen=_ANSWERS)

    def learn(self, server_us: int, sent_us: int, read_us: int) -> None:
        """A command that was sent at ``sent_us`` ran at ``server_us``, and its answer was read at ``read_us``."""
        highest_us, lowest_us = server_us - sent_us, server_us - read_us
        answers = self._answers
        while answers and read_us - answers[0][1] > _OLDEST_US:
            answers.popleft()
        known_us = min((highest + (read_us - at_us) // _DRIFT_SHARE for highest, at_us in answers), default=highest_us)
        if lowest_us > known_us:
            # A clock was set, or has drifted: the earlier estimate cannot be right any more.
            answers.clear()
            known_us = highest_us
        if highest_us - known_us <= _SLOW_US:
            answers.append((highest_us, read_us))
            self.ahead_us, self.learned_us = min(highest_us, known_us), read_us


class HeadStart:
    """How long before a transfer is sent its timer fires. ``busy_wait`` is whether a wait can end to the microsecond.

    A way lasts from the time that the timer was set for to the moment when everything is ready to be sent. It includes
    the timer's thread, the driver and a connection. A transfer that is ready early waits for the rest.

    With ``busy_wait`` it aims at the 90th percentile: nine of ten transfers are ready in time, and wait. Without it a
    wait costs more than it saves, so the aim is the 10th percentile.
    """

    def __init__(self, *, busy_wait: bool) -> None:
        self.us = _FIRST_US
        self._busy_wait = busy_wait
        self._ways: deque[int] = deque(maxlen=_WAYS)

    def learn(self, way_us: int) -> None:
        """A timer that was to fire ``way_us`` ago led to a transfer that can be sent now."""
        self._ways.append(way_us)
        ordered = sorted(self._ways)
        in_time = ordered[len(ordered) * (9 if self._busy_wait else 1) // 10]
        self.us = max(_LEAST_US, min(_MOST_US, in_time))
