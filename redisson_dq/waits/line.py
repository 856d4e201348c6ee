"""The line of callers that wait for values, in the order in which they came, and each caller's hold on its place.

A caller puts its :class:`Waiter` into the inbox of the line. It says when its time is over. It keeps the values that it
was given. Each of the three is one step that no signal handler can split. A pumper does everything else, under the
mutex of the :class:`Line`. That is a background task, which nothing interrupts.

A caller may vanish at any moment: cancelled, interrupted, interrupted again while it cleans up. It holds a
:class:`Lifeline`, to which the background tasks have a weak reference. A lifeline that is dropped without ``keep()`` is
reported, and the values of its waiter go back.

Time comes in as an argument, in seconds of any clock that never steps (``now``). Mutex, inbox and promises come in as
well: threads and tasks have different ones.

The mutexes have an order. That of a line comes first, then that of a lookout or of a clerk, then that of the beginner.
Nobody takes one of them while it has a later one.
"""

from __future__ import annotations

import math
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, Union

from redisson_dq.errors import ClosedError, RedissonDQError
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["SOON", "WAKE", "Answer", "Answering", "Entrance", "Farewell", "Lifeline", "Line", "Waiter"]

Answer = Union[list[Taken], RedissonDQError]

# One command is for no further callers once those before want this many values.
_ENOUGH = 1000
# Bytes a second that Redis, the network and this process manage together, also where they have other things to do.
_RATE = 20_000_000
# How long after its time a caller may still be given something, in seconds. It waits a little longer than that.
_GRACE = 0.1
#: Wakes a background task that waits for callers.
WAKE = "wake"
#: In these last seconds of a caller's time, no blocking command is sent for it after a look.
SOON = 0.002


class Answering(Protocol):
    """One answer that a caller waits for."""

    @property
    def filled(self) -> bool: ...

    @property
    def value(self) -> Answer: ...

    def fill(self, value: Answer) -> None: ...


class Entrance(Protocol):
    """Where callers put themselves. Anything else in it wakes the background task that reads it."""

    @property
    def qsize(self) -> Callable[[], int]:
        """How many entries nobody has read yet."""
        ...

    def poll(self) -> Waiter | str | None: ...

    def put(self, event: Waiter | str, /) -> None: ...


class Waiter:
    """One caller's place. The caller reads its answer, and says when it leaves. All else belongs to background tasks.

    Its life has no single state, as several tasks change it at a time. The caller keeps its answer (``farewell``) in
    one step that no signal handler can split, or puts a notice that it leaves. Background tasks note the rest under the
    mutex of the line: that it is in line (``number``), that its time is over, and that it is gone.

    ``notify`` puts a notice into the inbox of the background task that serves the callers of ``owner``, the receiver.
    """

    def __init__(
        self,
        limit: int,
        deadline: float,
        answer: Answering,
        notify: Callable[[Any], None],
        owner: Any = None,
        lifeline: Lifeline | None = None,
    ) -> None:
        self.limit = limit
        self.deadline = deadline
        self.answer = answer
        self.notify = notify
        self.owner = owner
        #: The request that the caller has sent itself. Until the reply has filled the answer, it may have taken values.
        self.request: Request[list[Taken]] | None = None
        #: Reports that the caller is gone; None once the caller has kept its answer.
        self.farewell: Farewell | None = None
        #: Its number in the order of coming, 0 until a background task has seen it.
        self.number = 0
        self.is_expired = False
        #: The caller has said that it leaves. ``is_gone`` follows when a background task has handled that.
        self.is_leaving = False
        self.is_gone = False
        self._forgotten: set[int] = set()
        if lifeline is not None:
            # The last steps: an interruption before them leaves a waiter that nobody knows.
            lifeline.waiter = self
            self.farewell = Farewell(lifeline, self)

    @property
    def given(self) -> list[Taken]:
        """The values that it was given, without those that have gone elsewhere."""
        if not self.answer.filled or not isinstance(self.answer.value, list):
            return []
        return [taken for taken in self.answer.value if taken.number not in self._forgotten]

    @property
    def is_settled(self) -> bool:
        """Whether its caller has kept the answer, or has gone."""
        return self.farewell is None or self.is_gone

    def leave(self) -> None:
        """The caller leaves. A background task handles that, and puts back the values that it was given."""
        self.is_leaving = True
        self.notify(self)

    def forget(self, values: list[Taken]) -> None:
        """These of its values have gone elsewhere."""
        self._forgotten.update(taken.number for taken in values)


class Lifeline:
    """A caller's hold on its waiter."""

    waiter: Waiter | None = None
    is_withdrawn = False

    def keep(self) -> None:
        """The values are the caller's, unless it calls :meth:`let_go`. A value that has not come yet is never kept."""
        if self.waiter is not None and self.waiter.answer.filled:
            self.waiter.farewell = None

    def let_go(self) -> None:
        """The caller leaves. The values that it was given go back, kept or not."""
        if self.waiter is not None:
            self.waiter.leave()


class Farewell(weakref.ref[Lifeline]):
    """Reports that a lifeline was dropped. The reference itself comes into the inbox, and no bytecode runs for it."""

    # No __init__ of its own: that of a weak reference takes any two arguments, and does nothing.
    __slots__ = ("waiter",)
    waiter: Waiter

    def __new__(cls, lifeline: Lifeline, waiter: Waiter) -> Farewell:
        made = super().__new__(cls, lifeline, waiter.notify)
        made.waiter = waiter
        return made


class Line:
    """Callers of one receiver. The caller that has waited longest is served first."""

    def __init__(self, name: str, inbox: Entrance, mutex: AbstractContextManager[Any]) -> None:
        """``mutex`` guards everything but ``inbox``, and the fields of the pumps. No caller takes it."""
        self.name = name
        self.inbox = inbox
        self.mutex = mutex
        self.closed = False
        #: Whether every wait was ended with an error. Who tries next with care may reset it.
        self.is_refused = False
        # An OrderedDict, as a caller may leave from anywhere in the line. In a plain dict that lost its first
        # thousands, finding the first key is O(n).
        self.waiting: OrderedDict[Waiter, None] = OrderedDict()
        #: Those in line whose time is over.
        self.expired: dict[Waiter, None] = {}
        #: How many values all callers in line want together.
        self.wanted = 0
        self._endless = 0
        self._latest = -math.inf
        self._last_number = 0
        # The number of the last caller for whom a command was sent that has not failed.
        self._asked_number = 0
        # The number of the last one for whom any command was sent, and for whom one may have taken values unheard.
        self._sent_number = self._doubtful_number = 0
        self._coming = 0
        # The size in bytes of the largest value that was taken last.
        self._size = 0
        # Callers who were given values and may not have kept them yet.
        self._served: deque[Waiter] = deque()

    # -- under the mutex, unless a docstring says otherwise ----------------------------------------------------------

    def admit(self, first: Waiter | str | None = None) -> bool:
        """Takes callers from the inbox into the line. Returns whether the inbox had anything."""
        inbox, came = self.inbox, first is not None
        if first is not None:
            self._admit(first)
        while inbox.qsize():
            came = True
            if (caller := inbox.poll()) is not None:
                self._admit(caller)
        return came

    def _admit(self, waiter: Waiter | str) -> None:
        if not isinstance(waiter, Waiter) or waiter.is_gone or waiter.answer.filled:
            return
        if self.closed:
            waiter.answer.fill(ClosedError(f"queue {self.name!r}: the handle is closed"))
            return
        if not self.waiting:
            self._latest = -math.inf
        self._last_number += 1
        waiter.number = self._last_number
        self.waiting[waiter] = None
        self.wanted += waiter.limit
        if waiter.is_expired:
            self.expired[waiter] = None
        if waiter.deadline == math.inf:
            self._endless += 1
        else:
            self._latest = max(self._latest, waiter.deadline)

    @property
    def count(self) -> int:
        """How many wait, those that are still in the inbox among them. May be read without the mutex."""
        return len(self.waiting) + self.inbox.qsize()

    @property
    def is_waited_on(self) -> bool:
        """Whether any caller is in line, or about to be. May be read without the mutex."""
        return len(self.waiting) > len(self.expired) or self.inbox.qsize() > 0

    @property
    def anyone(self) -> bool:
        """Whether a caller waits whose time is not over."""
        return len(self.waiting) > len(self.expired)

    def patience(self, now: float) -> float:
        """For how many seconds more the most patient caller waits, or infinity. Never too short."""
        return math.inf if self._endless else self._latest - now

    def is_unserved(self, now: float) -> bool:
        """Whether a command has to be sent for a caller that waits."""
        if not self.waiting:
            return False
        anyone = len(self.waiting) > len(self.expired)
        return self._last_number > self._asked_number or (anyone and self.patience(now) >= SOON)

    @property
    def wants_many(self) -> bool:
        """Whether the next caller wants more than one value."""
        return bool(self.waiting) and next(iter(self.waiting)).limit > 1

    def asked(self) -> None:
        """Notes that a command is sent for everybody who waits now, or that none is needed."""
        self._asked_number = self._sent_number = self._last_number

    def broke(self) -> None:
        """Notes that a command has failed. It proves to no caller that the queue is empty."""
        self._asked_number = 0

    def doubt(self) -> None:
        """Notes that the outcome of the command that was sent last is unknown."""
        self._doubtful_number = self._sent_number

    @property
    def is_in_doubt(self) -> bool:
        """Whether such a command was sent for somebody who still waits."""
        return bool(self.waiting) and next(iter(self.waiting)).number <= self._doubtful_number

    def claim(self, now: float, in_hand: int = 0) -> int:
        """How many values are still to be taken.

        Until :meth:`unclaim` no other background task takes for the same callers.
        """
        wanted = self.wanted
        if wanted > _ENOUGH:
            wanted = 0
            for waiter in self.waiting:
                wanted += waiter.limit
                if wanted >= _ENOUGH:
                    break
        count = max(0, int(min(wanted, self.affordable(self.patience(now)))) - self._coming - in_hand)
        self._coming += count
        return count

    def affordable(self, seconds: float) -> float:
        """How many values of the last ones' size arrive within that time; one at least.

        Further values would arrive after the caller has left, and be put back. May be read without the mutex.
        """
        size = self._size
        return max(1, int((max(0.0, seconds) + _GRACE) * _RATE / size)) if size and seconds < math.inf else math.inf

    def took(self, values: list[Taken]) -> None:
        """Notes the size of the largest value that came."""
        if len(values) == 1:
            self._size = len(values[0].data)
        elif values:
            self._size = max(len(taken.data) for taken in values)

    def unclaim(self, count: int) -> None:
        """Gives up a claim: the values have come, or will not come."""
        self._coming -= count

    def give(self, values: list[Taken]) -> list[Taken]:
        """Hands out values. Returns those that nobody waits for."""
        while values and self.waiting:
            waiter = next(iter(self.waiting))
            self._remove(waiter)
            served = self._served
            while served and (served[0].farewell is None or served[0].is_gone):
                served.popleft()
            served.append(waiter)
            waiter.answer.fill(values[: waiter.limit])
            values = values[waiter.limit :]
        return values

    def answer_expired(self, answer: Answer | None = None) -> None:
        """Answers callers whose time is over.

        Without an ``answer`` they get no values, and only if a command was sent for them that has not failed.
        """
        for waiter in list(self.expired):
            if answer is not None or waiter.number <= self._asked_number:
                self._remove(waiter)
                waiter.answer.fill([] if answer is None else answer)

    def fail(self, error: RedissonDQError) -> None:
        """Ends every wait with an error."""
        self.is_refused = True
        for waiter in list(self.waiting):
            self._remove(waiter)
            waiter.answer.fill(error)

    def shut(self) -> None:
        """Ends every wait, and those to come, with ClosedError."""
        self.closed = True
        self.admit()
        self.fail(ClosedError(f"queue {self.name!r}: closed while waiting"))

    def expire(self, waiter: Waiter) -> None:
        """Notes that a caller's time is over."""
        waiter.is_expired = True
        if waiter in self.waiting:
            self.expired[waiter] = None

    def withdraw(self, waiter: Waiter) -> None:
        """Ends one wait, begun or not, with ClosedError, unless it has an answer already."""
        self._remove(waiter)
        if not waiter.answer.filled:
            waiter.answer.fill(ClosedError(f"queue {self.name!r}: the wait was given up"))

    def leave(self, waiter: Waiter) -> list[Taken]:
        """Takes a caller out of the line. Returns the values that it was given."""
        self._remove(waiter)
        if waiter.is_gone:
            return []
        waiter.is_gone = True
        waiter.farewell = None
        return waiter.given

    @property
    def is_at_rest(self) -> bool:
        """Whether every caller has kept its values. May be read without the mutex."""
        return all(waiter.is_settled for waiter in list(self._served))

    @property
    def are_leaving(self) -> bool:
        """Whether values that callers leave, and had not kept, are about to go back. May be read without the mutex."""
        return any(waiter.is_leaving and not waiter.is_gone for waiter in list(self._served))

    def _remove(self, waiter: Waiter) -> None:
        if waiter in self.waiting:
            del self.waiting[waiter]
            self.expired.pop(waiter, None)
            self.wanted -= waiter.limit
            if waiter.deadline == math.inf:
                self._endless -= 1
