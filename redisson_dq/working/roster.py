"""All handlers of a worker that runs: their queues, the number of wanted values, and the ends of batches and pauses.

``post_table.py`` has the decisions for one handler. ``post.py`` has its slots and its batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from redisson_dq.working.handlers import Handler
from redisson_dq.working.post import Post, PostAction, Slots
from redisson_dq.working.post_table import Trigger

__all__ = ["Roster"]

# More than any worker begins at a time.
_ANY: Final = 1 << 30


class Roster:
    """Decides for all handlers of a worker. Not thread-safe: its driver calls it under a mutex.

    ``total`` is how many handlings may go on at a time over all queues, None: any number.
    """

    def __init__(self, total: int | None = None) -> None:
        self._total = total
        #: Whether slots are limited over all queues.
        self.is_limited = total is not None
        self._slots = Slots()
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
            found = self._posts[handler] = Post(handler, self._slots)
        return found

    def handlers(self, queue: str) -> list[Handler]:
        """The handlers that get values of a queue."""
        return [post.handler for post in self._queues.get(queue, ())]

    def employ(self, queue: str, handlers: Sequence[Handler], now: float) -> list[PostAction]:
        """These handlers have the queue from now on. Handlers that were taken off end the handlings they have begun."""
        posts = self._queues[queue] = [self.post(handler) for handler in handlers]
        self._clear()
        for post in posts:
            post.is_alone = len(posts) == 1
        trigger = Trigger.ALONE if len(posts) == 1 else Trigger.SHARED
        return [action for post in posts for action in post.happened(trigger, now)]

    def close(self, queue: str, handlers: Sequence[Handler], now: float) -> list[PostAction]:
        """These handlers, the last ones of a queue, get no values any more. Their batches that have not begun go back.

        Others may have the queue by now, as it was opened again.
        """
        if self.handlers(queue) == list(handlers):
            self._queues.pop(queue, None)
        others = self._queues.get(queue, ())
        posts = [post for post in self._posts.values() if post.handler.queue == queue and post not in others]
        actions = [action for post in posts for action in post.happened(Trigger.DROPPED, now)]
        self._clear()
        return actions

    def drop(self, now: float) -> list[PostAction]:
        """The batches of all handlers that have not begun go back."""
        return [action for post in self._posts.values() for action in post.happened(Trigger.DROPPED, now)]

    @property
    def queues(self) -> set[str]:
        """The queues of all handlers that were declared, or have not ended."""
        return {*self._queues, *(handler.queue for handler in self._posts)}

    @property
    def free(self) -> int | None:
        """How many handlings more may begin over all queues; None: any number."""
        if self._total is None:
            return None
        return self._total - self._slots.taken

    def wanted(self, queue: str) -> int:
        """How many values every handler of a queue can take, as nobody knows whose the next one is.

        Handlers that are passed do not count.
        """
        free = self.free
        if free is None:
            free = _ANY
        posts = self._queues.get(queue, ())
        return min((post.wanted(free) for post in posts if not post.is_passed), default=0)

    def due(self, now: float) -> list[PostAction]:
        """All that is to be done by this time."""
        actions: list[PostAction] = []
        for post in list(self._posts.values()):
            if post.moment is not None and post.moment <= now:
                actions += post.happened(Trigger.DUE, now)
        return actions

    def moments(self) -> Iterable[float]:
        """The times at which something may be due."""
        return (post.moment for post in self._posts.values() if post.moment is not None)

    def _clear(self) -> None:
        """Forgets handlers that were taken off, and have ended all their handlings."""
        declared = {post.handler for posts in self._queues.values() for post in posts}
        for handler, post in list(self._posts.items()):
            if handler not in declared and not post.running and not post.gathered:
                del self._posts[handler]
