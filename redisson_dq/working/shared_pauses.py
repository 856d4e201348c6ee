"""The pauses of queues that Redis refuses to give anything, for the fetcher of a worker. No I/O.

Queues that are refused for one cause share one pause, which grows. When it is over a few of them try again. When one of
these is refused again, the next pause begins, and others try after it. When none is refused, all go on. So a lasting
refusal costs a few tries at each end of a pause, however many queues it is about.

Times are in seconds of any clock that never steps.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from redisson_dq.scheduling.pauses import Pauses

__all__ = ["ACCEPTED", "PAUSES", "SharedPauses"]

Q = TypeVar("Q", bound=Hashable)

#: Between two tries: the first pause, and the longest.
PAUSES: Final = (1.0, 5.0)
#: A wait that lasts for this many seconds was not refused.
ACCEPTED: Final = 1.0
# A quarter of the queues try at the end of a pause, but no more than _MOST.
_EVERY, _MOST = 4, 8


class _SharedPause(Generic[Q]):
    """The pause of one cause, and the queues that share it."""

    def __init__(self) -> None:
        self.lengths = Pauses(*PAUSES)
        #: When the pause is over, or the queues that try have not been refused.
        self.until = 0.0
        self.rests = True
        #: Those that rest, the one that is to try first before the others.
        self.resting: dict[Q, None] = {}
        self.trying: dict[Q, None] = {}

    def begin(self, now: float) -> None:
        self.rests, self.until = True, now + self.lengths.next()


class SharedPauses(Generic[Q]):
    """The queues of one fetcher that are refused."""

    def __init__(self) -> None:
        self._pauses: dict[Hashable, _SharedPause[Q]] = {}
        self._causes: dict[Q, Hashable] = {}

    def failed(self, queue: Q, cause: Hashable, now: float) -> None:
        """A queue is refused, and rests until :meth:`due` gives it."""
        known = self._pauses.get(cause)
        if known is not None and not known.rests and not known.resting and now >= known.until:
            # All of its queues have gone on in the meantime.
            self._drop(cause)
        if self._causes.get(queue, cause) != cause:
            self.forget(queue)
        pause = self._pauses.get(cause)
        if pause is None:
            pause = self._pauses[cause] = _SharedPause()
            pause.begin(now)
        elif queue in pause.trying and not pause.rests:
            pause.begin(now)
        pause.trying.pop(queue, None)
        pause.resting[queue] = None
        self._causes[queue] = cause

    def went_well(self, queue: Q) -> list[Q]:
        """A queue has given values. Gives those that shared its pause, and go on too."""
        cause = self._causes.get(queue)
        if cause is None:
            return []
        return [each for each in self._drop(cause) if each is not queue]

    def forget(self, queue: Q) -> None:
        """A queue is received from no more."""
        cause = self._causes.pop(queue, None)
        if cause is not None:
            pause = self._pauses[cause]
            pause.resting.pop(queue, None)
            pause.trying.pop(queue, None)
            if not pause.resting and not pause.trying:
                del self._pauses[cause]

    def due(self, now: float) -> list[Q]:
        """The queues that try again by now."""
        found: list[Q] = []
        for cause, pause in list(self._pauses.items()):
            if now < pause.until:
                continue
            if not pause.rests:
                found += self._drop(cause)
                continue
            # Those that are left of the last try were not refused.
            for queue in list(pause.trying):
                self.forget(queue)
            count = min(_MOST, math.ceil(len(pause.resting) / _EVERY))
            for queue in list(pause.resting)[:count]:
                del pause.resting[queue]
                pause.trying[queue] = None
                found.append(queue)
            pause.rests, pause.until = False, now + ACCEPTED
        return found

    @property
    def next_moment(self) -> float | None:
        """When something is due next."""
        return min((pause.until for pause in self._pauses.values()), default=None)

    def _drop(self, cause: Hashable) -> list[Q]:
        """Nobody rests for this cause any more. Gives those that have rested."""
        pause = self._pauses.pop(cause)
        for queue in (*pause.resting, *pause.trying):
            del self._causes[queue]
        return list(pause.resting)
