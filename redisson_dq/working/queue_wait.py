"""One queue of a fetcher, and the wait for its values."""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar

from redisson_dq._redis import refusal_of
from redisson_dq.errors import RedissonDQError
from redisson_dq.observing.refusals import Refusals
from redisson_dq.scheduling.clock import Clock
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.scheduling.tries import ACCEPTED, Tries, commands_of_a_wait
from redisson_dq.waits.line import Answer, Answering, Lifeline
from redisson_dq.wire.blocking import Waitable
from redisson_dq.wire.leases import Leased
from redisson_dq.working.ends import Settlement
from redisson_dq.working.incoming import QueueIntake, page

__all__ = ["Along", "In", "QueueWait", "State", "WaitAnswer"]

logger = logging.getLogger("redisson_dq")

# Between two tries: the first pause, and the longest.
_PAUSES = 1.0, 5.0


class _Enters(Protocol):
    """A receiver of either flavour: the line of those that wait for one list, or several."""

    def enter(self, limit: int, lifeline: Lifeline, answer: Answering, /) -> None: ...

    def withdraw(self, lifeline: Lifeline, /) -> None: ...


class _Collects(Protocol):
    """The acks of either flavour that go along with a receive."""

    def put(self, settlement: Settlement, /) -> None: ...

    def end(self) -> None: ...


#: The queue of either flavour, and its acks that go along.
In = TypeVar("In", bound=QueueIntake)
Along = TypeVar("Along", bound=_Collects)


class State(enum.Enum):
    """The state of a wait.

    A waiter that leaves the line may still be answered with values. They count like any others. Values for a waiter
    that was to leave for good go back, and the end waits for its answer.
    """

    RESTING = "no waiter in line"
    STOCKED = "no waiter in line, and values may be ready: a look finds out before a waiter enters"
    WAITING = "a waiter is in line: the queue is known to be empty"
    LEAVING = "the waiter was asked to leave the line, as fewer values are wanted"
    PAUSING = "receiving failed, it is tried again later"
    PARTING = "the waiter was asked to leave the line for good"
    GONE = "nothing is received any more"


class WaitAnswer(Generic[In, Along]):
    """The answer to one wait. It may come in any thread."""

    def __init__(self, wait: QueueWait[In, Along], notify: Callable[[WaitAnswer[In, Along]], object]) -> None:
        self.wait = wait
        self.filled = False
        self.value: Answer = []
        self._notify = notify

    def fill(self, value: Answer) -> None:
        self.value, self.filled = value, True
        self._notify(self)

    @property
    def more(self) -> bool:
        """Whether more values were in the list after those that came."""
        last: Any = self.value[-1] if isinstance(self.value, list) and self.value else None
        # Values that were only seen may all have to wait. Others may follow them.
        return last is not None and (not isinstance(last, Leased) or bool(last.left))


class QueueWait(Generic[In, Along]):
    """One queue of a fetcher. Only the fetcher calls it, except for :attr:`is_well`."""

    def __init__(
        self,
        intake: In,
        along: Along,
        clock: Clock,
        refusals: Refusals,
        tries: Tries,
        receiver_of: Callable[[Waitable], _Enters],
    ) -> None:
        """``along`` has the acks that its receives may carry."""
        self.intake = intake
        self.along = along
        self.state = State.RESTING
        #: The hold on the values that come.
        self.lifeline = Lifeline()
        #: How many values are wanted.
        self.limit = 0
        self.has_failed = False
        # Why it has failed last.
        self._cause: Hashable = None
        self._pauses = Pauses(*_PAUSES)
        self._clock = clock
        self._refusals, self._tries = refusals, tries
        self._receiver_of = receiver_of
        self._receiver: _Enters | None = None
        self._waitable: Waitable | None = None
        self._entered = 0.0

    # -- the wait ----------------------------------------------------------------------------------------------------

    def enter(self, wanted: int, notify: Callable[[WaitAnswer[In, Along]], object]) -> None:
        """Sends a waiter for ``wanted`` values into the line. ``notify`` is called with its answer."""
        self.limit, self.lifeline = wanted, Lifeline()
        self.intake.note_limits()
        reception = self.intake.reception
        self._waitable, self._entered = reception.waitable, self._clock.monotonic()
        most = page(wanted, sorts=reception.sorts) if reception.sees_first else wanted
        answer = WaitAnswer(self, notify)
        try:
            self._receiver = self._receiver_of(self._waitable)
            self._receiver.enter(most, self.lifeline, answer)
        except RedissonDQError as error:
            answer.fill(error)

    def withdraw(self) -> None:
        """Ends the wait."""
        # Without a receiver, as the client is closed, the answer has come already.
        if self._receiver is not None:
            self._receiver.withdraw(self.lifeline)

    @property
    def waits_elsewhere(self) -> bool:
        """Whether the handlers have changed, so that values come in another way than the waiter waits for."""
        return self._waitable != self.intake.reception.waitable

    # -- refusals ----------------------------------------------------------------------------------------------------

    def failed(self, error: BaseException, *, is_told: bool) -> None:
        """Receiving has failed. The first of several failures is logged, where ``is_told``."""
        if self._has_waited:
            self._pauses.reset()
        self.has_failed = True
        self._cause = refusal_of(error)
        key = next(iter(self.intake.reception.sources), "")
        what = "values are not received"
        is_news = self._refusals.began(self, key, what, error, lambda: self._has_waited)
        if is_news and is_told and self.state is not State.PARTING:
            logger.error("worker: cannot receive from %s: %s", [self.intake.name], error)

    def is_well_now(self) -> None:
        """Receiving has not failed."""
        if self.has_failed:
            self.has_failed = False
            self._pauses.reset()
            self._refusals.ended(self)
            self._tries.succeeded(self)

    def pause(self, go_on: Callable[[], object]) -> float:
        """For how many seconds it pauses after it has failed. ``go_on`` ends the pause before its time."""
        commands = commands_of_a_wait(len(self.intake.reception.sources))
        return self._tries.refused(self, self._cause, self._pauses.next(), go_on, commands)

    def tries_again(self) -> None:
        """Its pause is over."""
        self._tries.begins(self)

    def forget(self) -> None:
        """It takes no further values."""
        self._refusals.ended(self)
        self._tries.forget(self)

    @property
    def is_well(self) -> bool:
        """Whether Redis does not refuse."""
        return not self.has_failed or self._has_waited

    @property
    def _has_waited(self) -> bool:
        """Whether it has waited for this long that Redis has not refused the wait."""
        return self.state is State.WAITING and self._clock.monotonic() - self._entered > ACCEPTED
