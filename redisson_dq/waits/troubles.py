"""What a wait does when values have to go back, and when Redis refuses or is away. Straight code without I/O.

These are generators whose steps are in ``steps.py``. The pumper of a source with a connection of its own carries the
steps out (``engine.py``). For a source whose connection others share, the clerk does (``watched.py``).
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from typing import Final

from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Line, Waiter
from redisson_dq.waits.steps import Backs, Bell, Diagnose, Do, Pause, StepFailed, StepRefused, Steps
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["Troubles"]

logger = logging.getLogger("redisson_dq")

# The pauses before Redis is tried again.
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0


class Troubles:
    """The troubles of one source. The mutex of the line guards everything here."""

    def __init__(self, line: Line, source: Source, debts: Debts, backs: Backs, clock: Callable[[], float]) -> None:
        self.line, self.source, self.debts, self.backs = line, source, debts, backs
        self._clock = clock
        backs.again = self.put_away
        #: The name under which it reports an outage.
        self.part = f"wait {id(self)}"
        #: Why nothing can be taken just now.
        self.trouble: RedisConnectionError | None = None
        # Whether Redis has answered then, and refused for a while. A new connection to it shows nothing.
        self._refuses = False
        #: Redis has carried something out since the driver has looked here last.
        self.has_answered = False
        #: When it has chosen its work last.
        self.chose = 0.0
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        # Whether Redis has answered nothing since the last pause.
        self._paused = False

    def put_away(self, values: list[Taken]) -> None:
        """Has values put back where they came from, in the order in which they were taken."""
        if values:
            self.backs.add(values)
            self._has_work()

    def recover(self, request: Request[list[Taken]]) -> None:
        """Has a repeatable request sent again. Its sender does not wait for the reply any more."""
        self.debts.owe(request)
        self._has_work()

    def _put_back(self) -> Steps:
        """Puts values back where they came from."""
        if (yield Do.PUT_BACK):
            self._answered()
        else:
            yield from self._retry()

    def _repeat(self) -> Steps:
        """After the close: sends a request with a lost reply again, so that its values go back."""
        values = yield Do.REPEAT
        if values is None:
            yield from self._retry()
        elif values:
            self._give(values)

    def _failed(self, error: BaseException) -> Steps:
        """Closes the connection and asks Redis for the cause. Waits for an outage to end, or fails the callers."""
        cause = error.error if isinstance(error, StepFailed) else error
        request = error.request if isinstance(error, StepRefused) else None
        logger.debug("queue %r: a wait broke: %r", self.source.key, cause)
        # No caller gets "nothing is there" for an answer before another command was sent.
        self.line.broke()
        self._drop()
        with contextlib.suppress(StepFailed):
            yield Do.DISCONNECT
        while True:
            try:
                reason, is_refusal = yield Diagnose(cause, request)
                break
            except StepFailed as failure:
                # The end of a loop cancels a connection that is being made, also for a diagnosis.
                self.line.broke()
                cause, request = failure.error, None
        if reason is None:
            return
        self.suffer(reason, is_refusal=is_refusal)
        if not isinstance(reason, RedisConnectionError):
            # A debt may be left, for which nobody waits any more.
            yield from self._retry()
            return
        if self._clock() - self.chose > _LONGEST_PAUSE:
            # Redis could be reached since the last trouble. Nothing came, so no reply has shown it.
            self._pauses.reset()
        try:
            yield Pause(self._next_pause(), reason)
        except StepFailed:
            self.line.broke()

    def suffer(self, reason: RedissonDQError, *, is_refusal: bool = False) -> None:
        """Redis cannot be reached, or refuses: for a while (``is_refusal``) or everything."""
        if not isinstance(reason, RedisConnectionError):
            self.line.fail(reason)
            self._served()
            return
        self.trouble, self._refuses = reason, is_refusal
        if reason.maybe_done:
            self.line.doubt()
        self.line.answer_expired(reason)

    def _retry(self) -> Steps:
        """Waits before values or requests are sent again. A bell that rings for a caller ends it."""
        try:
            rung = yield Bell(self.backs.pause_of(self._next_pause()))
        except StepFailed:
            return
        if isinstance(rung, Waiter):
            self.line.admit(rung)

    def _next_pause(self) -> float:
        self._paused = True
        return self._pauses.next()

    def _answered(self) -> None:
        """Redis has carried something out."""
        self.has_answered, self.trouble = True, None
        if self._paused:
            self._paused = False
            self._pauses.reset()

    # -- what a subclass does ----------------------------------------------------------------------------------------

    def _has_work(self) -> None:
        """Something goes back, or is owed."""
        raise NotImplementedError

    def _give(self, values: list[Taken]) -> None:
        """Hands out values. Those that nobody waits for go back."""
        self.backs.add(self.line.give(values))

    def _served(self) -> None:
        """Callers have had their answers."""

    def _drop(self) -> None:
        """Forgets the connection, so that nothing is sent on it any more."""
        raise NotImplementedError
