"""One wait, from the first caller to the last value: straight code that asks for I/O and never does any.

:meth:`WaitEngine.run` is a generator. It yields a step (``steps.py``) and is resumed with the outcome. A driver for
threads and one for asyncio carries the steps out (``_async/receiving/pump.py``). It resumes the generator under the
mutex of the line. So what is between two ``yield`` happens at once for everybody else.

The *pumper* runs it, a background task. There is one at a time, and nobody else reads on the connection. Other tasks
call the methods "for others", under the same mutex. They start a pumper, ring its bell, or end the blocking command
that it is in. Callers only put notices for these tasks into inboxes.

Three promises:

* **All replies of a step are read before the next command is sent.** Any failure gives the connection up
  (:meth:`Troubles._failed`).
* **Each value is given, on its way back, or owed.** What is in hand when something fails is handed out first
  (:class:`_Saved`). ``debts`` outlive the connection, and are sent again before anything else.
* **No pumper leaves while there is work.** Callers ring the bell without the mutex, and check
  after that whether somebody pumps. So a pumper that leaves is at rest first, and hears its bell once more.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Generator
from typing import Any, Final

from redisson_dq.errors import RedisConnectionError
from redisson_dq.waits.asking import Asking
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import SOON, WAKE, Entrance, Line, Waiter
from redisson_dq.waits.steps import Backs, Bell, Block, Do, Follow, StepFailed, StepRefused, Steps, WaitStep
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.taken import Taken

__all__ = ["LINGER", "WaitEngine"]

logger = logging.getLogger("redisson_dq")

# The server ends a pop this much before the caller's time is over. So the pop has ended when the caller checks.
_HEAD_START: Final = 0.0015
# For how many seconds the pumper and its connection stay when nobody waits, so that a take() in a loop finds them.
LINGER: Final = 10.0
_LINGERS: Final = Bell(LINGER, lingers=True)
# A pop that was blocked for this many seconds has found nothing, or Redis does not respond.
_LONG: Final = 0.03


class WaitEngine(Asking):
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
        stay: float = 0.0,
    ) -> None:
        """A pop goes on for ``stay`` seconds when the last caller's time is over."""
        super().__init__(line, source, debts, backs, bell, clock)
        self._stay = stay
        self.is_running = False
        #: Whether the pumper waits for its bell, and has nothing to do as far as is known.
        self.is_idle = False
        # The same, but until the pumper goes on: others may ring several times.
        self._listens = False

    # -- the pumper --------------------------------------------------------------------------------------------------

    def run(self) -> Steps:
        """Pumps until there is nothing to do. Values go back before all else."""
        line, debts, backs = self.line, self.debts, self.backs
        # Whether the bell has not rung for a long time. Other pumps serve the callers that still wait then.
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

    def _take(self, *, owes: bool) -> Steps:
        """Takes once for all waiting callers: the ready values, or else the next ones to come.

        ``owes``: a debt is left.
        """
        values: list[Taken] = []
        failure: Exception | None = None
        try:
            if self._looks or owes:
                values = yield from self._look()
                if not values and not self._may_block():
                    return
            if not values:
                values = yield from self._block()
        except _Saved as error:
            values, failure = error.values, error.error
        if not values:
            return
        if self._has_rested:
            self._has_rested = False
            self._when_full.reset()
        self._emptied = self._clock() if values[-1].left == 0 else -math.inf
        try:
            after = self.source.after(values, self.backs.answered)
            if after is not None:
                yield Follow(after)
        finally:
            self._give(values)
        self.has_answered = True
        if self._paused or self.trouble is not None:
            self._answered()
        if failure is not None:
            logger.debug("queue %r: a wait broke behind values: %r", self.source.key, failure)
            self.line.broke()
            self._drop()
            yield Do.DISCONNECT
        # The callers that were given values may be back in line already.
        yield Do.GIVE_WAY

    def _block(self) -> Generator[WaitStep, Any, list[Taken]]:
        """Waits in Redis. Returns the values that came, without any where others have to go first.

        Redis does not report that a command has begun to block. So after a trouble a command comes first that does not
        block.
        """
        line, debts, source = self.line, self.debts, self.source
        is_unsure = self.trouble is not None
        while True:
            block = self._begins(hurries=is_unsure)
            values: list[Taken] = []
            reply: Any = None
            refusal: StepRefused | None = None
            try:
                reply = yield block
            except StepRefused as error:
                refusal = error
            finally:
                self.blocked = None
            took = self._clock() - block.began
            self.is_full = self.is_full and refusal is not None
            if block.behind is not None:
                values = yield from self._read_behind(block.behind)
            elif reply is not None:
                values = source.taken(reply)
            is_aside = reply is not None and not values
            # A value that is set aside is found by the next look.
            debts.look = self._sets_aside and not values and (is_aside or refusal is not None)
            try:
                if block.is_pinged:
                    yield Do.READ
                if refusal is not None and not values:
                    if not (refusal.is_full and self._sets_aside):
                        raise refusal
                    yield from self._rest(refusal)
                    return []
                if reply is not None:
                    self._round_trip = min(self._round_trip, took)
                if values:
                    if line.wanted > len(values) or self.bell.qsize():
                        values = values + (yield from self._more(values, took))
                    return values
            except Exception as error:
                if not values:
                    raise
                raise _Saved(values, error) from error
            was_well = self.trouble is None
            self._answered()
            if is_aside:
                return (yield from self._look())
            if was_well:
                return []
            # The command that did not block was allowed. So the next one may block.
            is_unsure = False
            if not self._may_block():
                return []

    def _begins(self, *, hurries: bool) -> Block:
        """The blocking command that is about to be sent, and the debt when its reply is lost."""
        now, anyone = self._clock(), self.line.anyone
        # For how many seconds it may block; infinity without an end.
        span = self.line.patience(now) - _HEAD_START + (self._stay if anyone else 0.0)
        # A caller whose time is over, and whose command has failed, has one that does not block.
        blocks = not hurries and span > SOON and anyone
        behind = self.source.behind() if blocks and self._sets_aside else None
        block = Block(now, span if blocks else 0.0, behind)
        self.line.asked()
        self.number += 1
        if blocks:
            self.blocked = block
        if behind is not None:
            self.debts.owe(behind)
        elif self._sets_aside:
            self.debts.look = True
        return block

    def _give(self, values: list[Taken]) -> None:
        if self.bell.qsize():
            self.admit()
        self.line.took(values)
        if left := self.line.give(values):
            self.backs.add(left)
        if self.bell is not self.line.inbox:
            self._served()

    # -- beside the takes --------------------------------------------------------------------------------------------

    def _idle(self) -> Generator[WaitStep, Any, bool]:
        """Waits for the bell. Returns False if it has not rung for a long time."""
        self.is_idle = self._listens = True
        rung: Any = WAKE
        try:
            rung = yield _LINGERS
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
            self.is_running = True
            self.start()
        elif self._listens:
            # It is busy before it hears its bell. Each time the bell rings: others may have emptied the inbox since.
            self.is_idle = False
            self.bell.put(WAKE)
        elif ends and self.blocked is not None:
            self.unblock()

    def _has_work(self) -> None:
        self.stir(ends=True)

    def wake(self) -> None:
        """Somebody may wait, or has noted a request that has to be sent again."""
        self.stir(ends=self.owes_another())

    def end(self) -> None:
        """Nobody waits any more. The reply to a blocking command shows whether it had taken a value."""
        if self.blocked is not None:
            self.unblock()

    def met(self, trouble: RedisConnectionError) -> None:
        """Others could not reach its source. Does nothing where it is busy, and finds out by itself."""
        if not self.is_busy:
            self.trouble, self._refuses = trouble, False

    def answer_expired(self) -> None:
        """Answers the callers whose time is over, as far as no command has to end before."""
        line, blocked = self.line, self.blocked
        if self.trouble is not None:
            line.answer_expired(self.trouble)
        elif self.is_idle or (blocked is not None and line.anyone):
            if blocked is not None and self._clock() - blocked.began >= _LONG:
                # There was nothing. No command is needed for callers who have come since.
                line.asked()
            line.answer_expired()

    def to_end(self) -> Block | None:
        """The blocking command that others have to end. None where a caller, also one that has just come, needs it."""
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

    # -- what a driver does ------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts a background task that runs the engine."""
        raise NotImplementedError

    def unblock(self) -> None:
        """Lets others end the blocking command that :meth:`to_end` gives."""
        raise NotImplementedError


class _Saved(Exception):
    """Something failed after values had come."""

    def __init__(self, values: list[Taken], error: Exception) -> None:
        super().__init__()
        self.values, self.error = values, error
