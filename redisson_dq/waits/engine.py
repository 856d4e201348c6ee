"""One wait, from the first caller to the last value: straight code that asks for I/O and never does any.

:meth:`WaitEngine.run` is a generator. It yields a step (``steps.py``) and is resumed with the outcome. A driver for
threads and one for asyncio carries the steps out (``_async/receiving/pump.py``). It resumes the generator under the
mutex of the line. So what is between two ``yield`` happens at once for everybody else.

The *pumper* runs it, a background task. There is one at a time, and nobody else reads on the connection. Callers, other
tasks and the unblocker call the methods of the last section, under the same mutex. They start a pumper, ring its bell,
or end the blocking command that it is in.

Three promises:

* **Each reply is read before the next command is sent.** Any failure gives the connection up
  (:meth:`Troubles._failed`).
* **Each value is given, on its way back, or owed.** What is in hand when something fails is handed out first
  (``taking.py``). ``debts`` outlive the connection, and are sent again before anything else.
* **A pumper that leaves while there is work wakes another one.** Callers ring the bell without the mutex, and check
  after that whether somebody pumps. So a pumper that leaves is at rest first, and hears its bell once more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from typing import Any, Final

from redisson_dq.errors import RedisConnectionError
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import WAKE, Entrance, Line, Waiter
from redisson_dq.waits.steps import Backs, Bell, Block, Do, StepFailed, Steps, WaitStep
from redisson_dq.waits.taking import Taking
from redisson_dq.wire.blocking import Source

__all__ = ["LINGER", "WaitEngine"]

logger = logging.getLogger("redisson_dq")

# For how many seconds the pumper and its connection stay when nobody waits, so that a take() in a loop finds them.
LINGER: Final = 10.0
# A pop that was blocked for this many seconds has found nothing, or Redis does not respond.
_LONG: Final = 0.03


class WaitEngine(Taking):
    """Decides what the pumper does. The mutex of the line guards everything here."""

    def __init__(
        self,
        line: Line,
        source: Source,
        debts: Debts,
        backs: Backs,
        bell: Entrance,
        clock: Callable[[], float],
        *,
        start: Callable[[], None],
        unblock: Callable[[], None],
        stay: float = 0.0,
    ) -> None:
        """``start`` starts a background task that runs the engine. ``unblock`` lets others end the blocking command
        that :meth:`to_end` gives. ``stay`` is as for :class:`Taking`.
        """
        super().__init__(line, source, debts, backs, bell, clock, stay)
        self.start, self.unblock = start, unblock
        self.is_running = False
        #: Whether the pumper waits for its bell, and has nothing to do as far as is known.
        self.is_idle = False
        # Whether it waits for its bell.
        self._listens = False

    # -- the pumper --------------------------------------------------------------------------------------------------

    def run(self) -> Steps:
        """Pumps until there is nothing to do. Values go back before all else."""
        line, debts, backs = self.line, self.debts, self.backs
        # The bell has not rung for a long time. Other pumps serve the callers that still wait.
        has_lingered = False
        while True:
            if self.bell.qsize() and self.admit():
                has_lingered = False
            if self.connection is not None and self.connection.is_over:
                self._drop()
            if line.expired:
                # In an outage the last command was cut, and shows no caller that the queue is empty.
                line.answer_expired(self.trouble)
            if backs.surplus:
                backs.surplus = line.give(backs.surplus)
            now = self.chose = self._clock()
            owes = bool(debts.left or debts.requests or debts.look) and debts.admit()
            returns, is_connected = bool(backs.surplus or backs.unsure), self.connection is not None
            # As long as somebody waits, it tries to reach Redis.
            is_unserved = line.wanted > 0 and (
                line.is_unserved(now) or (self.trouble is not None and not is_connected and line.anyone)
            )
            has_work = owes or returns or (is_unserved and not has_lingered)
            try:
                if returns:
                    yield from self._put_back()
                elif line.closed and debts.has_request:
                    yield from self._repeat()
                elif line.closed or (has_lingered and not has_work):
                    if self._leaves():
                        self._drop()
                        return
                elif has_work and is_connected:
                    yield from self._take(owes=owes)
                elif has_work:
                    self._round_trip = yield Do.CONNECT
                else:
                    if self.trouble is not None:
                        self._rests()
                    has_lingered = not (yield from self._idle())
                    continue
            except Exception as error:
                yield from self._failed(error)
            has_lingered = False

    def _idle(self) -> Generator[WaitStep, Any, bool]:
        """Waits for the bell. Returns whether it rang."""
        self.is_idle = self._listens = True
        rung: Any = WAKE
        try:
            rung = yield Bell(LINGER, lingers=True)
        except StepFailed as error:
            logger.debug("queue %r: a wait for callers broke: %r", self.source.key, error.error)
        finally:
            self.is_idle = self._listens = False
        if isinstance(rung, Waiter):
            self.line.admit(rung)
        return rung is not None

    def _leaves(self) -> bool:
        """Puts the pumper to rest. False where somebody came who still found it here."""
        # In this order: a caller rings first, and then looks whether somebody pumps.
        self.is_running = False
        self.is_running = self.bell.qsize() > 0
        return not self.is_running

    def _rests(self) -> None:
        """The connection rests, and nobody needs a command. It has shown no trouble, unless Redis had refused."""
        if self.trouble is not None and not self._refuses and self.connection is not None:
            self._answered()

    # -- for others --------------------------------------------------------------------------------------------------

    def stir(self, *, ends: bool) -> None:
        """There may be work. ``ends``: a blocking command has to end for it."""
        if not self.is_running:
            self._begin()
        elif self._listens:
            # It is busy before it hears its bell. Each time the bell rings: others may have emptied the inbox since.
            self.is_idle = False
            self.bell.put(WAKE)
        elif ends and self.blocked is not None:
            self.unblock()

    def wake(self) -> None:
        """Somebody may wait, or has noted a request that has to be sent again."""
        self.stir(ends=self.owes_another())

    def end(self) -> None:
        """Nobody waits any more. The reply to a blocking command shows whether it had taken a value."""
        if self.blocked is not None:
            self.unblock()

    def _begin(self) -> None:
        self.is_running = True
        self.start()

    def met(self, trouble: RedisConnectionError) -> None:
        """Others could not reach its source. Does nothing where it is busy, and finds out by itself."""
        if not self.is_busy:
            self.trouble, self._refuses = trouble, False

    def answer_expired(self) -> None:
        """Answers the callers whose time is over, as far as no command has to end before."""
        line, blocked = self.line, self.blocked
        # Read once: the pumper ends the trouble without the mutex.
        if (trouble := self.trouble) is not None:
            line.answer_expired(trouble)
        elif self.is_idle or (blocked is not None and line.anyone):
            if blocked is not None and self._clock() - blocked.began >= _LONG:
                # There was nothing. No command is needed for callers who have come since.
                line.asked()
            line.answer_expired()

    def to_end(self) -> Block | None:
        """The blocking command that others have to end. First it is noted when somebody waits for it again."""
        block = self.blocked
        if block is None or self.connection is None:
            return None
        self.admit()
        return None if self.line.anyone and not (self.backs.are_left or self.owes_another()) else block

    def owes_another(self) -> bool:
        """Whether a request is owed that was not sent together with the blocking command."""
        self.debts.admit()
        behind = None if self.blocked is None else self.blocked.behind
        return any(request is not behind for request in self.debts.requests)

    @property
    def is_busy(self) -> bool:
        """Whether somebody pumps and has something to do."""
        return self.is_running and not self.is_idle
