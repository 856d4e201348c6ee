"""The handlers of a worker that runs: the slots that each holds, its batch, and when parked values come again.

* A value came. It begins a handling, joins a batch, or is turned away when no slot is free.
* A batch is full, or its time is over. It begins.
* The worker stops, or the queue is closed. The values of a batch that has not begun go back.

The next value in a queue may be for any handler, and Redis returns values only in order. So a handler without a free
slot holds up the others of its queue. After a moment they pass it: the worker receives for them, and turns away the
values of the full handler. These are parked: they wait like delayed items, and come again. The pause grows with the
time for which the handler has been full. When many are parked, the last one comes late. The full handler then holds up
the others again until that time is near.

A batch that is being gathered holds a slot. So a handler that gathers is never full. Only a value that has failed
before its handler was called may take a slot beyond the limit: it is handled by itself, while the others wait for more.

Time comes in as an argument, in seconds of any clock that never steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from redisson_dq.working.handlers import Handler

__all__ = ["Post", "Roster"]

# More than any worker begins at a time.
_ANY: Final = 1 << 30
# A handler that is full for a shorter time holds up the others of its queue. Nothing is parked then.
_PATIENCE: Final = 0.05
# A parked value comes again after a quarter of the time for which its handler has been full, within these bounds ...
_SHORTEST: Final = 0.1
_LONGEST: Final = 1.0
# ... and by this much later than the one that was parked before it. So at most 100 values a second come again.
_APART: Final = 0.01
# When the last one is to come later than that, the handler holds up the others again: they are far down the list.
_FARTHEST: Final = 10.0
# Beyond this many seconds, and this many times the longest of the last handlings, a handling takes unusually long.
_USUAL: Final = 30.0
_TIMES: Final = 3
# The longest handling is forgotten bit by bit with each one that is shorter.
_FADES: Final = 0.9


class Post:
    """One handler in a worker that runs. Like its roster it is called under a mutex."""

    def __init__(self, handler: Handler, roster: Roster) -> None:
        self.handler = handler
        self._roster = roster
        #: Whether its function is called with only the value and the event, and nothing around it.
        self.is_plain = False
        #: Whether no other handler has the queue.
        self.is_alone = True
        #: Whether the others of the queue go on, as no slot of it has been free for a while.
        self.is_passed = False
        #: How many handlings hold a slot of it.
        self.running = 0
        #: The values of the batch that is being gathered.
        self.gathered: list[Any] = []
        #: When the batch begins, or others pass. None: nothing happens at a time.
        self.moment: float | None = None
        #: Since when no slot has been free, where others share the queue.
        self.full_since: float | None = None
        #: When the last parked value comes again.
        self.last_parked = -math.inf
        #: When a handling began or ended last.
        self.last_change = 0.0
        # About how long the longest of the last handlings took; 0 before the first end.
        self._longest = 0.0

    @property
    def has_room(self) -> bool:
        """Whether the next value begins a handling, or joins a batch."""
        return self.running < self.handler.concurrency or bool(self.gathered)

    def wanted(self, free: int) -> int:
        """How many values it can take, where the worker may begin ``free`` handlings more."""
        batch, gathers = self.handler.batch, bool(self.gathered)
        slots = max(0, min(self.handler.concurrency - self.running - gathers, free))
        return slots if batch is None else slots * batch + (batch - len(self.gathered) if gathers else 0)

    def takes(self, now: float) -> bool:
        """Whether a single value begins a handling at once. Then it has a slot."""
        if self.running >= self.handler.concurrency or self.handler.batch is not None:
            return False
        self.running += 1
        self.last_change = now
        self._roster.taken += 1
        if not self.is_alone:
            self.changed(now)
        return True

    def came(self, value: Any, now: float, *, fails: bool = False) -> list[Any] | None:
        """A value came. One that ``fails`` is not for the handler's function any more.

        Returns the values of a handling that begins; none while a batch is gathered. None: the value is turned away.
        """
        begun: list[Any] = [value]
        if not self.has_room:
            return None
        if self.handler.batch is not None and not fails:
            if not self.gathered:
                self._roster.taken += 1
            self.gathered.append(value)
            if len(self.gathered) < self.handler.batch:
                return []
            begun = self._batch()
        self._begin(now)
        return begun

    def wait_for_more(self, now: float) -> None:
        """All values of a receive have come. The batch that is being gathered begins after ``within``."""
        if self.moment is None:
            self.moment = now + self.handler.within

    def freed(self, now: float, seconds: float = 0.0) -> None:
        """A handling has freed its slot after this many seconds."""
        self.last_change = now
        self._longest = seconds if seconds > self._longest else max(seconds, _FADES * self._longest)
        self.running -= 1
        self._roster.taken -= 1
        if self.full_since is not None:
            self.changed(now)

    def due(self, now: float) -> list[Any]:
        """Its moment has come: the values of its batch, which begins; or none, and others pass it."""
        if not self.gathered:
            self.is_passed, self.moment = True, None
            return []
        begun = self._batch()
        self._begin(now)
        return begun

    def drop(self, now: float) -> list[Any]:
        """Its batch does not begin."""
        dropped = self._batch() if self.gathered else []
        self.changed(now)
        return dropped

    def parked(self, count: int, now: float) -> float:
        """The seconds after which this many values that were turned away come again.

        0 where others are held up: nobody passes then, and the values go back to the head.
        """
        if not self.is_passed or self.full_since is None:
            return 0.0
        pause = min(_LONGEST, max(_SHORTEST, (now - self.full_since) / 4))
        self.last_parked = max(now + pause, self.last_parked) + count * _APART
        pause = self.last_parked - now
        if pause > _FARTHEST:
            self.is_passed = False
            self.changed(now)
        return pause

    def patience(self, default: float) -> float:
        """For how many seconds a handling may go on before it is unusual. ``default`` holds before the first end."""
        timeout = self.handler.timeout
        if not self._longest:
            return default if timeout is None else timeout
        usual = max(_TIMES * self._longest, min(_USUAL, default))
        return usual if timeout is None else min(usual, timeout)

    def changed(self, now: float) -> None:
        """Its slots, its batch, or the other handlers of its queue have changed."""
        if self.has_room or self.is_alone:
            self.is_passed = False
            if not self.gathered:
                self.moment = None
            if self.has_room:
                self.full_since = None
        elif not self.is_passed and self.moment is None:
            self.full_since = now if self.full_since is None else self.full_since
            self.moment = max(now + _PATIENCE, self.last_parked - _FARTHEST)

    def _begin(self, now: float) -> None:
        self.running += 1
        self.last_change = now
        self._roster.taken += 1
        if not self.is_alone:
            self.changed(now)

    def _batch(self) -> list[Any]:
        taken, self.gathered, self.moment = self.gathered, [], None
        self._roster.taken -= 1
        return taken


class Roster:
    """All handlers of a worker. Not thread-safe: its driver calls it under a mutex.

    ``total`` is how many handlings may go on at a time over all queues, None: any number.
    """

    def __init__(self, total: int | None = None) -> None:
        self._total = total
        #: Whether slots are limited over all queues.
        self.is_limited = total is not None
        #: How many slots are taken over all queues: by handlings, and by batches that are being gathered.
        self.taken = 0
        # The posts of the handlers that were declared for each queue.
        self._queues: dict[str, list[Post]] = {}
        # All posts, also of handlers that were taken off and have not ended.
        self._posts: dict[Handler, Post] = {}

    @property
    def running(self) -> int:
        """How many handlings hold a slot."""
        return sum(post.running for post in self._posts.values())

    def post(self, handler: Handler) -> Post:
        """The post of a handler."""
        found = self._posts.get(handler)
        if found is None:
            found = self._posts[handler] = Post(handler, self)
        return found

    def handlers(self, queue: str) -> list[Handler]:
        """The handlers that get values of a queue."""
        return [post.handler for post in self._queues.get(queue, ())]

    def employ(self, queue: str, handlers: Sequence[Handler], now: float) -> None:
        """These handlers have the queue from now on. Handlers that were taken off end the handlings they have begun."""
        posts = self._queues[queue] = [self.post(handler) for handler in handlers]
        self._clear()
        for post in posts:
            post.is_alone = len(posts) == 1
            post.changed(now)

    def close(self, queue: str, handlers: Sequence[Handler], now: float) -> list[Any]:
        """These handlers, the last ones of a queue, get no values any more. Returns those of batches that have not
        begun.

        Others may have the queue by now, as it was opened again.
        """
        if self.handlers(queue) == list(handlers):
            self._queues.pop(queue, None)
        others = self._queues.get(queue, ())
        posts = [post for post in self._posts.values() if post.handler.queue == queue and post not in others]
        dropped = [value for post in posts for value in post.drop(now)]
        self._clear()
        return dropped

    def drop(self, now: float) -> list[Any]:
        """Returns the values of all batches that have not begun."""
        return [value for post in self._posts.values() for value in post.drop(now)]

    @property
    def queues(self) -> set[str]:
        """The queues of all handlers that were declared, or have not ended."""
        return {*self._queues, *(handler.queue for handler in self._posts)}

    @property
    def free(self) -> int | None:
        """How many handlings more may begin over all queues; None: any number."""
        return None if self._total is None else self._total - self.taken

    def wanted(self, queue: str) -> int:
        """How many values every handler of a queue can take, as nobody knows whose the next one is.

        Handlers that are passed do not count.
        """
        free, least = _ANY if self._total is None else self._total - self.taken, -1
        for post in self._queues.get(queue, ()):
            if not post.is_passed:
                wanted = post.wanted(free)
                least = wanted if least < 0 or wanted < least else least
        return max(0, least)

    def gathering(self, queue: str) -> list[Post]:
        """The posts of a queue whose batches are being gathered, also of handlers that were taken off."""
        return [post for post in self._posts.values() if post.gathered and post.handler.queue == queue]

    def due(self, now: float) -> list[Post]:
        """The posts whose moment has come."""
        return [post for post in self._posts.values() if post.moment is not None and post.moment <= now]

    def moments(self) -> Iterable[float]:
        """The times at which something may be due."""
        return (post.moment for post in self._posts.values() if post.moment is not None)

    def _clear(self) -> None:
        """Forgets handlers that were taken off, and have ended all their handlings."""
        declared = {post.handler for posts in self._queues.values() for post in posts}
        for handler, post in list(self._posts.items()):
            if handler not in declared and not post.running and not post.gathered:
                del self._posts[handler]
