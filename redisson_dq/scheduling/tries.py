"""The next tries of those parts of a client that Redis refuses. No I/O.

A part that was refused pauses, longer each time. Where many are refused for one cause, their next tries come one after
the other. So all of them together send a few commands a second, however many they are. A try that is not refused lets
two more parts try at once, each of these two more, and so on. So all of them go on soon after the end of a refusal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Final

import attrs

from redisson_dq.scheduling.clock import Clock

__all__ = ["ACCEPTED", "Tries", "commands_of_a_wait"]

#: A try that lasts for this many seconds was not refused.
ACCEPTED: Final = 1.0
# How many commands a second the tries of one cause may send.
_RATE: Final = 4.0
# A try with more commands than this, as one for many queues, delays the tries of others no longer.
_MANY: Final = 8
# The tries with more commands come at half of that rate, in addition to the others, and at least once in this time.
_LONGEST: Final = 60.0
# How many parts try at once after a try that was not refused.
_MORE: Final = 2


def commands_of_a_wait(queues: int) -> int:
    """About how many commands a try to wait for this many queues sends."""
    # Those of a new connection, a look for the cause, and two for each queue.
    return 4 + 2 * queues


@attrs.frozen
class _Pausing:
    """The pause of a part: until when, and what ends it before."""

    until: float
    go_on: Callable[[], object]
    #: The seconds that it would last without the others, and those that each of them may add.
    seconds: float
    each: float


class _RefusedParts:
    """The parts that are refused for one cause."""

    def __init__(self) -> None:
        #: When the next of them may try, and when one may whose try has many commands.
        self.free_at = self.many_at = float("-inf")
        #: Those that pause, in the order of their tries.
        self.resting: dict[Hashable, _Pausing] = {}
        #: Those that try, and since when.
        self.trying: dict[Hashable, float] = {}

    def leave(self, part: Hashable) -> None:
        self.resting.pop(part, None)
        self.trying.pop(part, None)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.resting) + len(self.trying)


class Tries:
    """Spaces the tries of one client's parts. Any thread may call its methods, with no lock that ``go_on`` takes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # A signal handler that closes the client may find its own thread inside.
        self._mutex = threading.RLock()
        self._lines: dict[Hashable, _RefusedParts] = {}
        #: The parts that were refused, each with the cause.
        self.parts: dict[Hashable, Hashable] = {}

    def refused(
        self, part: Hashable, cause: Hashable, seconds: float, go_on: Callable[[], object], commands: float = 1
    ) -> float:
        """For how many seconds a part pauses that has failed, and that would pause for ``seconds`` without the others.

        ``cause`` is the same for all parts that are refused together. None where the connection has failed: the pause
        is not changed then, as the parts share the pauses between the tries to connect. ``go_on`` ends the pause before
        its time. ``commands`` is about how many commands a try sends.
        """
        if cause is None:
            return seconds
        now = self._clock.monotonic()
        with self._mutex:
            if self.parts.get(part, cause) != cause:
                self._leave(part)
            line = self._lines.setdefault(cause, _RefusedParts())
            line.leave(part)
            # Those that have left the line delay nobody, and the only part in its line is not behind its own last try.
            others = line.count
            apart = _MANY / _RATE
            moment = max(now + seconds, min(line.free_at, now + others * apart))
            if commands > _MANY:
                apart = min(2 * commands / _RATE, _LONGEST)
                moment = max(moment, min(line.many_at, now + (others + 1) * apart))
                line.many_at = moment + apart
            line.free_at = moment + min(commands, _MANY) / _RATE
            line.resting[part] = _Pausing(moment, go_on, seconds, apart)
            self.parts[part] = cause
        return moment - now

    def begins(self, part: Hashable) -> None:
        """The pause of a part is over, and it tries again."""
        if part not in self.parts:
            return
        now = self._clock.monotonic()
        with self._mutex:
            line = self._lines.get(self.parts.get(part), _RefusedParts())
            line.resting.pop(part, None)
            line.trying[part] = now
            accepted = [each for each, since in line.trying.items() if now - since >= ACCEPTED]
        for each in accepted:
            self.succeeded(each)

    def succeeded(self, part: Hashable) -> None:
        """A part was not refused. Others may follow at once."""
        # Nearly always true, and called after each reply.
        if part not in self.parts:
            return
        now = self._clock.monotonic()
        with self._mutex:
            line = self._leave(part)
            # The last of the line, so that the next of the others still tries soon.
            some = list(line.resting.items())[-_MORE:]
            for each, _ in some:
                del line.resting[each]
                line.trying[each] = now
        for _, rest in some:
            rest.go_on()

    def forget(self, part: Hashable) -> None:
        """A part does not try any more. The last of the others tries at once where it pauses because of such parts."""
        if part not in self.parts:
            return
        now = self._clock.monotonic()
        with self._mutex:
            line = self._leave(part)
            last, rest = next(reversed(line.resting.items()), (None, None))
            if rest is None or rest.until <= now + rest.seconds + line.count * rest.each:
                return
            del line.resting[last]
            line.trying[last] = now
        rest.go_on()

    def _leave(self, part: Hashable) -> _RefusedParts:
        cause = self.parts.pop(part, None)
        line = self._lines.get(cause, _RefusedParts())
        line.leave(part)
        if not (line.resting or line.trying):
            self._lines.pop(cause, None)
        return line
