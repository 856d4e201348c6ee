"""Which values a worker begins, and which have to wait: slots, batches and parking, decided without any I/O.

Theory of operation. A worker that runs has a :class:`Post` for each handler that was declared. A post knows how many
slots of its handler are taken, and the values of the batch that is being gathered. The driver feeds triggers into the
:class:`Roster`, and carries out the actions that it returns.

* A value came. It begins a handling, joins a batch, or is turned away when no slot is free.
* A batch is full, or its time is over. It begins.
* A slot was freed. Values are wanted again.
* The worker stops, or the queue is closed. The values of a batch that has not begun go back.

Nobody knows whose value the next one in a queue is, and Redis gives no value out of its order. So a handler without a
free slot holds up the others of its queue. After a moment they pass it: the worker receives for them, and turns away
the values of the full handler. These are parked: they wait like delayed items, and come again. The pause grows with
the time for which the handler has been full. When many are parked, the last one comes late. The full handler then
holds up the others again until that time is near.

A batch that is being gathered holds a slot. So a post that gathers is never full. Only a value that has failed before
its handler was called may take a slot beyond the limit: it is handled by itself, while the others wait for more.

Time comes in as an argument, in seconds of any clock that never steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import attrs

from redisson_dq._tables import TableEnum
from redisson_dq.working.handlers import Handler

__all__ = ["TRANSITIONS", "Action", "Do", "Post", "Roster", "State", "Trigger"]


class State(TableEnum):
    """Whether a handler can take the next value."""

    FREE = "a slot is free"
    GATHERING = "a batch is being gathered, and holds a slot"
    FULL = "no slot is free: the other handlers of the queue are held up"
    PASSED = "no slot has been free for a while: the others go on"


class Trigger(TableEnum):
    """An event of a handler's post."""

    CAME = "a value came, for itself"
    JOINED = "a value came, for a batch"
    FILLED = "a value came: the batch is full"
    UNADMITTED = "a value came that is not let in"
    TAKEN = "last slot taken: others share the queue"
    TAKEN_ALONE = "last slot taken: nobody shares the queue"
    SHARED = "another handler shares the queue"
    FREED = "slot freed"
    EASED = "slot beyond the limit freed"
    DUE = "the moment has come"
    FAR = "parked values come late"
    DROPPED = "batches are given up"


class Do(TableEnum):
    """An order to the driver."""

    GATHER = "keep the value"
    BEGIN = "begin a handling"
    TURN_AWAY = "turn the value away"
    ARM = "arm the watch"
    FETCH = "have values fetched again"
    RECOUNT = "have fewer values fetched"
    RETURN = "return the batch"
    EXPIRE = "end a handling"


@attrs.frozen
class Action:
    """One thing to do for a post.

    ``values`` belong to ``BEGIN`` and ``RETURN``, ``moment`` to ``ARM``, and ``handling`` to ``EXPIRE``.
    """

    do: Do
    post: Post
    values: Sequence[Any] = ()
    moment: float = math.inf
    handling: Any = None


_Row = tuple[State, tuple[Do, ...]]


def _stay(state: State, *to_do: Do) -> _Row:
    return state, to_do


#: (state, trigger) -> (next state, actions). A pair that is not listed cannot occur.
TRANSITIONS: Final[dict[tuple[State, Trigger], _Row]] = {
    (State.FREE, Trigger.CAME): _stay(State.FREE, Do.BEGIN),
    (State.FREE, Trigger.JOINED): (State.GATHERING, (Do.GATHER, Do.ARM)),
    (State.FREE, Trigger.FILLED): _stay(State.FREE, Do.GATHER, Do.BEGIN),
    (State.FREE, Trigger.UNADMITTED): _stay(State.FREE, Do.TURN_AWAY),
    (State.FREE, Trigger.TAKEN): (State.FULL, (Do.ARM,)),
    (State.FREE, Trigger.TAKEN_ALONE): (State.FULL, ()),
    (State.FREE, Trigger.FREED): _stay(State.FREE, Do.FETCH),
    (State.FREE, Trigger.SHARED): _stay(State.FREE),
    (State.FREE, Trigger.DROPPED): _stay(State.FREE),
    # A value of a batch handler that has failed already is handled by itself.
    (State.GATHERING, Trigger.CAME): _stay(State.GATHERING, Do.BEGIN),
    (State.GATHERING, Trigger.JOINED): _stay(State.GATHERING, Do.GATHER),
    (State.GATHERING, Trigger.FILLED): (State.FREE, (Do.GATHER, Do.BEGIN)),
    (State.GATHERING, Trigger.UNADMITTED): _stay(State.GATHERING, Do.TURN_AWAY),
    # The fetcher may wait for as many values as the batch lacked.
    (State.GATHERING, Trigger.DUE): (State.FREE, (Do.BEGIN, Do.RECOUNT)),
    (State.GATHERING, Trigger.FREED): _stay(State.GATHERING, Do.FETCH),
    (State.GATHERING, Trigger.EASED): _stay(State.GATHERING, Do.FETCH),
    (State.GATHERING, Trigger.SHARED): _stay(State.GATHERING),
    (State.GATHERING, Trigger.DROPPED): (State.FREE, (Do.RETURN,)),
    # The next value in the queue may be another handler's, and waits all the same.
    (State.FULL, Trigger.CAME): _stay(State.FULL, Do.TURN_AWAY),
    (State.FULL, Trigger.JOINED): _stay(State.FULL, Do.TURN_AWAY),
    (State.FULL, Trigger.FILLED): _stay(State.FULL, Do.TURN_AWAY),
    (State.FULL, Trigger.UNADMITTED): _stay(State.FULL, Do.TURN_AWAY),
    (State.FULL, Trigger.DUE): (State.PASSED, (Do.FETCH,)),
    (State.FULL, Trigger.FREED): (State.FREE, (Do.FETCH,)),
    (State.FULL, Trigger.EASED): _stay(State.FULL, Do.FETCH),
    (State.FULL, Trigger.SHARED): _stay(State.FULL, Do.ARM),
    (State.FULL, Trigger.DROPPED): _stay(State.FULL),
    # Values of this handler come only because others are wanted.
    (State.PASSED, Trigger.CAME): _stay(State.PASSED, Do.TURN_AWAY),
    (State.PASSED, Trigger.JOINED): _stay(State.PASSED, Do.TURN_AWAY),
    (State.PASSED, Trigger.FILLED): _stay(State.PASSED, Do.TURN_AWAY),
    (State.PASSED, Trigger.UNADMITTED): _stay(State.PASSED, Do.TURN_AWAY),
    (State.PASSED, Trigger.FAR): (State.FULL, (Do.ARM,)),
    (State.PASSED, Trigger.FREED): (State.FREE, (Do.FETCH,)),
    (State.PASSED, Trigger.EASED): _stay(State.PASSED, Do.FETCH),
    (State.PASSED, Trigger.SHARED): _stay(State.PASSED),
    (State.PASSED, Trigger.DROPPED): _stay(State.PASSED),
}

# A handler that is full for a shorter time holds up the others of its queue. Nothing is parked then.
_PATIENCE: Final = 0.05
# A parked value comes again after a quarter of the time for which its handler has been full, within these bounds ...
_SHORTEST: Final = 0.1
_LONGEST: Final = 1.0
# ... and so much later than the one that was parked before it. So at most 100 values a second come again.
_APART: Final = 0.01
# When the last one is to come later than that, the handler holds up the others again: they stand far behind.
_FARTHEST: Final = 10.0
# More than any worker begins at a time.
_ANY: Final = 1 << 30


class _Slots:
    """How many slots are taken over all queues: by handlings, and by batches that are being gathered."""

    def __init__(self) -> None:
        self.taken = 0


class Post:
    """One handler in a worker that runs. The posts of a worker count their slots together, in one object."""

    def __init__(self, handler: Handler, slots: _Slots | None = None) -> None:
        self.handler = handler
        self._slots = _Slots() if slots is None else slots
        self.state = State.FREE
        #: Whether no other handler has the queue.
        self.is_alone = True
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
        # It follows the end of each handling.
        self._fetch = Action(Do.FETCH, self)

    @property
    def is_passed(self) -> bool:
        """Whether others of the queue go on while it is full."""
        return self.state is State.PASSED

    @property
    def has_room(self) -> bool:
        """Whether the next value begins a handling, or joins a batch."""
        return self.state in (State.FREE, State.GATHERING)

    def wanted(self, free: int) -> int:
        """How many values it can take, where the worker may begin ``free`` handlings more."""
        gathers = self.state is State.GATHERING
        slots = max(0, min(self.handler.concurrency - self.running - gathers, free))
        if self.handler.batch is None:
            return slots
        return slots * self.handler.batch + (self.handler.batch - len(self.gathered) if gathers else 0)

    def came(self, value: Any, now: float, *, fails: bool = False, is_admitted: bool = True) -> tuple[Action, ...]:
        """A value came. One that ``fails`` is not for the handler's function any more.

        One that is not admitted was let past a limit, or came when no slot was free, even if one is free by now.
        """
        if not is_admitted:
            return self.happened(Trigger.UNADMITTED, now)
        if self.handler.batch is None or fails:
            return self.happened(Trigger.CAME, now, value)
        fills = len(self.gathered) + 1 >= self.handler.batch
        return self.happened(Trigger.FILLED if fills else Trigger.JOINED, now, value)

    def freed(self, now: float) -> tuple[Action, ...]:
        """A handling has freed its slot."""
        self.running -= 1
        self._slots.taken -= 1
        return self.happened(Trigger.FREED if self.running < self.handler.concurrency else Trigger.EASED, now)

    def parked(self, count: int, now: float) -> tuple[float, tuple[Action, ...]]:
        """The seconds after which so many values that were turned away come again, and the actions that follow.

        The time is 0 where others are held up: nobody passes then, and the values go back to the head.
        """
        if self.state is not State.PASSED or self.full_since is None:
            return 0.0, ()
        pause = min(_LONGEST, max(_SHORTEST, (now - self.full_since) / 4))
        self.last_parked = max(now + pause, self.last_parked) + count * _APART
        is_far = self.last_parked - now > _FARTHEST
        return self.last_parked - now, self.happened(Trigger.FAR, now) if is_far else ()

    def happened(self, trigger: Trigger, now: float, value: Any = None) -> tuple[Action, ...]:
        """Any trigger. ``value`` is the one that came."""
        actions: tuple[Action, ...] = ()
        following: Trigger | None = trigger
        while following is not None:
            gathered = self.state is State.GATHERING
            self.state, to_do = TRANSITIONS[self.state, following]
            self._slots.taken += (self.state is State.GATHERING) - gathered
            if self.state is State.FREE:
                self.full_since = self.moment = None
            elif self.state is State.PASSED:
                self.moment = None
            for do in to_do:
                actions += (self._fetch if do is Do.FETCH else self._action(do, following, now, value),)
            # The last slot is taken as soon as a handling or a batch begins.
            is_taken = self.state is State.FREE and self.running >= self.handler.concurrency
            following = (Trigger.TAKEN_ALONE if self.is_alone else Trigger.TAKEN) if is_taken else None
        return actions

    def _action(self, do: Do, trigger: Trigger, now: float, value: Any) -> Action:
        if do is Do.GATHER:
            self.gathered.append(value)
        elif do is Do.BEGIN:
            self.running += 1
            self._slots.taken += 1
            return Action(do, self, [value] if trigger is Trigger.CAME else self._taken())
        elif do is Do.RETURN:
            return Action(do, self, self._taken())
        elif do is Do.ARM:
            if self.state is State.FULL and self.full_since is None:
                self.full_since = now
            if self.moment is None:
                is_full = self.state is State.FULL
                self.moment = (
                    max(now + _PATIENCE, self.last_parked - _FARTHEST) if is_full else now + self.handler.within
                )
            return Action(do, self, moment=self.moment)
        return Action(do, self)

    def _taken(self) -> list[Any]:
        taken, self.gathered = self.gathered, []
        return taken


class Roster:
    """Decides for all handlers of a worker. Not thread-safe: its driver calls it under a mutex.

    ``total`` is how many handlings may go on at a time over all queues, None: any number.
    """

    def __init__(self, total: int | None = None) -> None:
        self._total = total
        self._slots = _Slots()
        # The posts of the handlers that were declared for each queue.
        self._queues: dict[str, list[Post]] = {}
        # All posts, also of handlers that were taken off and have not ended.
        self._posts: dict[Handler, Post] = {}
        # When the time of each handling is over, where it has a time.
        self._deadlines: dict[Any, float] = {}

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

    def employ(self, queue: str, handlers: Sequence[Handler], now: float) -> list[Action]:
        """These handlers have the queue from now on. Handlers that were taken off end the handlings they have begun."""
        posts = self._queues[queue] = [self.post(handler) for handler in handlers]
        self._clear()
        for post in posts:
            post.is_alone = len(posts) == 1
        return [action for post in posts if not post.is_alone for action in post.happened(Trigger.SHARED, now)]

    def close(self, queue: str, handlers: Sequence[Handler], now: float) -> list[Action]:
        """These handlers, the last ones of a queue, get no values any more. Their batches that have not begun go back.

        Others may have the queue by now, as it was opened anew.
        """
        if self.handlers(queue) == list(handlers):
            self._queues.pop(queue, None)
        others = self._queues.get(queue, ())
        posts = [post for post in self._posts.values() if post.handler.queue == queue and post not in others]
        actions = [action for post in posts for action in post.happened(Trigger.DROPPED, now)]
        self._clear()
        return actions

    @property
    def is_limited(self) -> bool:
        """Whether slots are limited over all queues."""
        return self._total is not None

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

    def limit(self, handling: Any, deadline: float) -> None:
        """A handling ends by then."""
        self._deadlines[handling] = deadline

    def deadline(self, handling: Any) -> float | None:
        """When the time of a handling is over, or None."""
        return self._deadlines.get(handling)

    def ended(self, handling: Any) -> None:
        """A handling needs no deadline any more."""
        self._deadlines.pop(handling, None)

    def due(self, now: float) -> list[Action]:
        """All that is to be done by this time."""
        late = [handling for handling, deadline in self._deadlines.items() if deadline <= now]
        actions = []
        for handling in late:
            del self._deadlines[handling]
            actions.append(Action(Do.EXPIRE, handling.post, handling=handling))
        for post in list(self._posts.values()):
            if post.moment is not None and post.moment <= now:
                actions += post.happened(Trigger.DUE, now)
        return actions

    def moments(self) -> Iterable[float]:
        """The times at which something may be due."""
        yield from self._deadlines.values()
        yield from (post.moment for post in self._posts.values() if post.moment is not None)

    def _clear(self) -> None:
        """Forgets handlers that were taken off, and have ended all their handlings."""
        declared = {post.handler for posts in self._queues.values() for post in posts}
        for handler, post in list(self._posts.items()):
            if handler not in declared and not post.running and not post.gathered:
                del self._posts[handler]
