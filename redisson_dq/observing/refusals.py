"""The tasks of a client that are tried again by themselves and fail at present, each with its error."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable

from redisson_dq.items import Problem
from redisson_dq.scheduling.clock import Clock

__all__ = ["Refusals"]

# An error that recurs within this many seconds is not logged again, though its part seemed well in between. On a busy
# machine a refusal comes late.
_LULL = 5.0


def _never() -> bool:
    return False


class Refusals:
    """The problems of one client, each from a part's failure until that part succeeds or tries no more."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._mutex = threading.RLock()
        self._problems: dict[Hashable, tuple[Problem, Callable[[], bool]]] = {}
        # When each of them was last reported.
        self._told: dict[Hashable, float] = {}

    def began(
        self,
        part: Hashable,
        queue: str,
        what: str,
        error: BaseException,
        is_over: Callable[[], bool] = _never,
        *,
        only_late: bool = False,
    ) -> bool:
        """A part cannot do its work for the queue with this key. ``is_over`` detects an end that no call reports.

        Returns whether to log it: a part that is refused for hours logs each error once.
        """
        now = self._clock.monotonic()
        problem = Problem(queue=queue, what=what, error=error, only_late=only_late)
        with self._mutex:
            known = self._problems.get(part)
            self._problems = {**self._problems, part: (problem, is_over)}
            lull, self._told[part] = now - self._told.get(part, now), now
        return known is None or str(known[0].error) != str(error) or (lull > _LULL and known[1]())

    def ended(self, part: Hashable) -> None:
        """A part has done its work, or has none any more."""
        # Nearly always true, and called after each reply.
        if part not in self._problems:
            return
        with self._mutex:
            self._problems = {name: each for name, each in self._problems.items() if name != part}
            self._told.pop(part, None)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All of them."""
        return tuple(problem for problem, is_over in self._problems.values() if not is_over())
