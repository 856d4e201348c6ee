"""One wait, from the first caller to the last value: straight code that asks for I/O and never does any.

:meth:`WaitEngine.run` is a generator. It yields a step (``steps.py``), and is resumed with the outcome. A driver for
threads and one for asyncio carries the steps out (``_async/receiving/pump.py``). It resumes the generator under the
mutex of the line. So what stands between two ``yield`` happens at once for everybody else.

Who runs it is the *pumper*: a background task, or a caller that stands in for one while it waits. There is one at a
time, and nobody else reads on the connection. Callers, other tasks and the unblocker call the methods of the last
section, under the same mutex. They start a pumper, ring its bell, or end the blocking command that it is in.

Three promises:

* **Each reply is read before the next command is sent.** Any failure gives the connection up
  (:meth:`WaitEngine._failed`).
* **Each value is given, on its way back, or owed.** What is in hand when something fails is handed out first
  (:meth:`WaitEngine._take`). ``debts`` outlive the connection, and are sent again before anything else.
* **A pumper that leaves work behind wakes another one.** Callers ring the bell without the mutex, and look after that
  whether somebody pumps. So a pumper that leaves is at rest first, and hears its bell once more.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Callable, Generator
from typing import Any, Final, Protocol

from redisson_dq.errors import RedisConnectionError
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import SOON, WAKE, Entrance, Line, Waiter
from redisson_dq.waits.steps import (
    Ask,
    Behind,
    Bell,
    Block,
    Diagnose,
    Do,
    Explain,
    Follow,
    Pause,
    StepFailed,
    StepRefused,
    Steps,
    WaitStep,
)
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["LINGER", "Backs", "SourceLink", "WaitEngine"]

logger = logging.getLogger("redisson_dq")

# For how many seconds the pumper and its connection stay when nobody waits, so that a take() in a loop finds them.
LINGER: Final = 10.0
# The server ends a pop this much before the caller's time is over. So the pop has ended when the caller checks.
_HEAD_START: Final = 0.0015
# A pop that was blocked for this many seconds has found nothing, or Redis does not respond.
_LONG: Final = 0.03
# A stand-in does not look again within this many seconds of a reply that said that nothing is left.
_EMPTY: Final = 0.005
# A pop that took at most this much longer than a round trip did not wait. There was a value, and there may be more.
_AT_ONCE: Final = 0.001
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
# Pauses between two looks while the server has no memory for a blocking command.
_FIRST_WHEN_FULL, _LONGEST_WHEN_FULL = 0.05, 1.0


class SourceLink(Protocol):
    """The connection of a source."""

    @property
    def is_over(self) -> bool:
        """Whether it leads to the wrong server by now."""
        ...


class Backs(Protocol):
    """Values on their way back to where they came from."""

    #: Those that are still to be sent, in the order in which they were taken.
    surplus: list[Taken]
    #: By key, the nonce of the last request that Redis has answered.
    answered: dict[str, bytes]

    @property
    def are_left(self) -> bool: ...

    def add(self, values: list[Taken], /) -> None: ...

    def pause_of(self, seconds: float, /) -> float: ...


class WaitEngine:
    """Takes from one source for the callers of one line. The mutex of the line guards everything here."""

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
        that :meth:`to_end` gives. A pop goes on for ``stay`` seconds when the last caller's time is over.
        """
        self.line, self.source, self.debts, self.backs, self.bell = line, source, debts, backs, bell
        self._clock, self.start, self.unblock, self._stay = clock, start, unblock, stay
        self._sets_aside = source.sets_aside
        #: The connection, from the step that makes it until it is given up.
        self.connection: Any = None
        #: Connections that were given up and have to be closed.
        self.retired: list[Any] = []
        self.is_running = False
        #: Whether the pumper waits for its bell, and has nothing to do as far as is known.
        self.is_idle = False
        # Whether it waits for its bell.
        self._listens = False
        #: The blocking command that is on its way or in Redis.
        self.blocked: Block | None = None
        #: The number of the last one.
        self.number = 0
        #: Whether callers pump when they can. A background task then has nobody to stay for.
        self.by_callers = False
        self._caller_pumps = False
        #: Why nothing can be taken just now.
        self.trouble: RedisConnectionError | None = None
        # Whether Redis has answered then, and refused for a while. A new connection to it shows nothing.
        self._refuses = False
        #: Redis has carried something out since the driver has looked here last.
        self.has_answered = False
        #: When the pumper has chosen its work last.
        self.chose = 0.0
        # Whether the source has a look, as far as is known.
        self._looks = True
        # When a reply told last that nothing is left.
        self._emptied = -math.inf
        # The shortest time that a reply took on this connection.
        self._round_trip = 0.0
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        # Whether Redis has answered nothing since the last pause.
        self._paused = False
        self._when_full = Pauses(_FIRST_WHEN_FULL, _LONGEST_WHEN_FULL)

    # -- the pumper --------------------------------------------------------------------------------------------------

    def run(self, caller: Waiter | None = None) -> Steps:
        """Pumps until there is nothing to do; ``caller``: until it has its answer. Values go back before all else."""
        line, debts, backs = self.line, self.debts, self.backs
        # Nobody has rung for long. So others see to the callers that wait.
        has_lingered = False
        while True:
            if self.bell.qsize() and self.admit():
                has_lingered = False
            if self.connection is not None and self.connection.is_over:
                self._drop()
            if line.expired:
                # In an outage the last command was cut, and has not told that there is nothing.
                line.answer_expired(self.trouble)
            if backs.surplus:
                backs.surplus = line.give(backs.surplus)
            now = self.chose = self._clock()
            owes, returns, is_connected = debts.admit(), backs.are_left, self.connection is not None
            # As long as somebody waits, it tries to reach Redis.
            is_unserved = line.wanted > 0 and (
                line.is_unserved(now) or (self.trouble is not None and not is_connected and line.anyone)
            )
            has_work = owes or returns or (is_unserved and not has_lingered)
            try:
                if caller is not None and (caller.answer.filled or returns or not is_connected):
                    # What may take long is for a background task.
                    self._hand_over(has_work or line.closed)
                    return
                if returns:
                    if (yield Do.PUT_BACK):
                        self._answered()
                    else:
                        yield from self._retry()
                elif line.closed and debts.has_request:
                    yield from self._repeat()
                elif line.closed or (has_lingered and not has_work):
                    if self._leaves():
                        self._drop()
                        return
                elif has_work and is_connected:
                    yield from self._take(caller)
                elif has_work:
                    self._round_trip = yield Do.CONNECT
                elif self.by_callers:
                    if self._leaves():
                        self._rests()
                        return
                else:
                    self._rests()
                    has_lingered = not (yield from self._idle())
                    continue
            except Exception as error:
                yield from self._failed(error, caller)
            has_lingered = False

    def _idle(self) -> Generator[WaitStep, Any, bool]:
        """Waits for the bell. Gives whether it rang."""
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

    def _hand_over(self, has_work: bool) -> None:
        """The caller pumps no more."""
        self.is_running = self._caller_pumps = False
        if has_work or self.bell.qsize():
            self._begin()
        else:
            self._rests()

    def _leaves(self) -> bool:
        """Puts the pumper to rest. False where somebody came who still found it here."""
        # In this order: a caller rings first, and then looks whether somebody pumps.
        self.is_running = False
        if not self.bell.qsize():
            self._caller_pumps = False
            return True
        if self._caller_pumps:
            self._caller_pumps = False
            self._begin()
            return True
        self.is_running = True
        return False

    def _rests(self) -> None:
        """The connection rests, and nobody needs a command. It has shown no trouble, unless Redis had refused."""
        if self.trouble is not None and not self._refuses and self.connection is not None:
            self._answered()

    def _answered(self) -> None:
        """Redis has carried something out."""
        self.has_answered, self.trouble = True, None
        if self._paused:
            self._paused = False
            self._pauses.reset()

    def _next_pause(self) -> float:
        self._paused = True
        return self._pauses.next()

    def _drop(self) -> None:
        """Gives the connection up. From here on nobody finds it any more."""
        if self.connection is not None:
            self.retired.append(self.connection)
            self.connection = None

    # -- taking ------------------------------------------------------------------------------------------------------

    def _take(self, caller: Waiter | None) -> Steps:
        """Takes once for all callers that wait: what is ready, or what comes while somebody waits."""
        values: list[Taken] = []
        failure: Exception | None = None
        try:
            if self._looks or self.debts:
                values = yield from self._look(knows=caller is not None and self.was_just_emptied())
                if not values and not self._may_block(is_unsure=self.trouble is not None):
                    return
            if not values:
                values = yield from self._block(caller)
        except _Saved as error:
            values, failure = error.values, error.error
        if not values:
            return
        self._when_full.reset()
        self._emptied = self._clock() if values[-1].left == 0 else -math.inf
        try:
            after = self.source.after(values, self.backs.answered)
            if after is not None:
                yield Follow(after)
        finally:
            self._give(values)
        self._answered()
        if failure is not None:
            logger.debug("queue %r: a wait broke behind values: %r", self.source.key, failure)
            self.line.broke()
            self._drop()
            yield Do.DISCONNECT
        if not self.by_callers:
            # The callers that were given values may be back in line already.
            yield Do.GIVE_WAY

    def _give(self, values: list[Taken]) -> None:
        """Hands out values. Those that nobody waits for go back."""
        if self.bell.qsize():
            self.admit()
        self.line.took(values)
        if left := self.line.give(values):
            self.backs.add(left)
        self._served()

    def _served(self) -> None:
        # The reader of the inbox also waits until the waits end.
        if self.bell is not self.line.inbox:
            self.line.inbox.put(WAKE)

    def _look(self, *, knows: bool = False) -> Generator[WaitStep, Any, list[Taken]]:
        """Takes the values that are ready, without blocking, for all callers that wait. It also pays a debt.

        ``knows``: nothing is ready.
        """
        line, debts = self.line, self.debts
        count, request = line.claim(self._clock()), debts.first
        is_new = request is None
        try:
            if request is None and (debts.look or (count and not knows)):
                request = self.source.look(count)
                self._looks = request is not None or not count
            if request is None:
                return []
            line.asked()
            values = yield from self._ask(request)
        except StepRefused as error:
            if error.passes or request is None:
                raise
            # Redis would refuse it again at once. A value that was set aside comes with the next look of any caller.
            debts.look = False
            # The error may be about a key that only this request uses. A plain look at the keys tells which one.
            raise StepFailed((yield Explain(request, error.error))) from error.error
        finally:
            line.unclaim(count)
        if is_new:
            debts.look = False
        return values

    def _ask(self, request: Request[list[Taken]]) -> Generator[WaitStep, Any, list[Taken]]:
        """Sends one request. A repeatable one is owed until its reply has been read."""
        debts = self.debts
        is_repeated = request in debts.requests
        if request.repeatable:
            debts.owe(request)
        try:
            values: list[Taken] = yield Ask(request)
        except StepRefused as error:
            # One that is repeated may have taken values before. A refusal that passes does not tell.
            if not (is_repeated and error.passes):
                debts.paid(request)
            raise
        debts.paid(request)
        return values

    def _block(self, caller: Waiter | None) -> Generator[WaitStep, Any, list[Taken]]:
        """Waits in Redis. Gives the values that came, without any where others have to go first.

        Nothing tells that a command has begun to block. So one that does not block comes first, where Redis was not
        well.
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
                    yield from self._rest(refusal, caller)
                    return []
                if reply is not None:
                    self._round_trip = min(self._round_trip, took)
                if values:
                    self._answered()
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
            if not self._may_block(is_unsure=False):
                return []

    def _may_block(self, *, is_unsure: bool) -> bool:
        """Whether a caller needs the blocking command, after another one.

        Nothing blocks while values have to go back, or a debt is left: they may have come meanwhile.
        """
        if self.backs.are_left or self.debts:
            return False
        # A replica that refuses to pop answers a look that finds nothing. So the look proves nothing.
        return (is_unsure and self._refuses) or self.line.is_unserved(self._clock())

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

    def _read_behind(self, request: Request[list[Taken]]) -> Generator[WaitStep, Any, list[Taken]]:
        """The values of the request that was sent behind the blocking command."""
        try:
            values: list[Taken] = yield Behind(request)
        except StepRefused as error:
            # A look follows where a value has come. It may be sent with the script's text, and it can tell why not.
            logger.debug("queue %r: refused behind a blocking pop: %s", self.source.key, error.error)
            values = []
        self.debts.paid(request)
        return values

    def _more(self, values: list[Taken], took: float) -> Generator[WaitStep, Any, list[Taken]]:
        """Further values for the callers that wait, by one command that does not block."""
        line = self.line
        if values[-1].left == 0:
            return []
        if self.bell.qsize():
            self.admit()
        if line.wanted <= len(values):
            return []
        line.took(values)
        if not (took < self._round_trip + _AT_ONCE or line.wants_many):
            return []
        count = line.claim(self._clock(), len(values))
        try:
            request = self.source.more(count) if count else None
            return [] if request is None else (yield from self._ask(request))
        except StepRefused:
            # Redis will refuse the next blocking pop as well, and that one can tell why.
            return []
        finally:
            line.unclaim(count)

    def _rest(self, refusal: StepRefused, caller: Waiter | None) -> Steps:
        """Waits: a full server refuses a blocking command that would move a value. It refuses no look."""
        self._answered()
        seconds = self._when_full.next()
        logger.debug("queue %r: waiting again in %.2f s: %s", self.source.key, seconds, refusal.error)
        try:
            yield Pause(seconds)
        except StepFailed:
            if caller is not None:
                raise

    # -- failures, and the end ---------------------------------------------------------------------------------------

    def _failed(self, error: BaseException, caller: Waiter | None) -> Steps:
        """Gives the connection up. A background task asks Redis for the cause, and outlasts it or fails the callers."""
        cause = error.error if isinstance(error, StepFailed) else error
        logger.debug("queue %r: a wait broke: %r", self.source.key, cause)
        # No caller may be told that nothing is there before another command was sent.
        self.line.broke()
        self._drop()
        with contextlib.suppress(StepFailed):
            yield Do.DISCONNECT
        if caller is not None:
            return
        while True:
            try:
                reason, is_refusal = yield Diagnose(cause)
                break
            except StepFailed as failure:
                # The end of a loop cancels a connection that is being made, also for a diagnosis.
                self.line.broke()
                cause = failure.error
        if reason is None:
            return
        if not isinstance(reason, RedisConnectionError):
            self.line.fail(reason)
            self._served()
            # A debt may be left, for which nobody waits any more.
            yield from self._retry()
            return
        self.trouble, self._refuses = reason, is_refusal
        if reason.maybe_done:
            self.line.doubt()
        self.line.answer_expired(reason)
        if self._clock() - self.chose > _LONGEST_PAUSE:
            # Redis could be reached since the last trouble: nothing has come, so nothing has told.
            self._pauses.reset()
        try:
            yield Pause(self._next_pause(), reason)
        except StepFailed:
            self.line.broke()

    def _repeat(self) -> Steps:
        """After the close: sends a request with a lost reply again, so that its values go back."""
        values = yield Do.REPEAT
        if values is None:
            yield from self._retry()
        elif values:
            self._give(values)

    def _retry(self) -> Steps:
        """Waits before values or requests are sent again. A caller that comes does not wait for that."""
        try:
            rung = yield Bell(self.backs.pause_of(self._next_pause()))
        except StepFailed:
            return
        if isinstance(rung, Waiter):
            self.line.admit(rung)

    # -- for others --------------------------------------------------------------------------------------------------

    def admit(self) -> bool:
        """Takes callers into the line, where no other background task does. Gives whether the bell rang."""
        if self.bell is self.line.inbox:
            return self.line.admit()
        # Somebody else reads the inbox, and would miss the callers that this one took from it.
        rang = False
        while self.bell.poll() is not None:
            rang = True
        return rang

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
        """Nobody waits any more. The reply to a blocking command tells whether it had taken a value."""
        if self.blocked is not None:
            self.unblock()

    def _begin(self) -> None:
        self.is_running = True
        self.start()

    def stand_in(self) -> bool:
        """Lets a caller pump from now on. False where somebody else pumps, or no connection is there."""
        self.by_callers = True
        if self.is_running or self.connection is None:
            return False
        self.is_running = self._caller_pumps = True
        return True

    def stand_down(self) -> None:
        """Callers do not pump any more. The connection goes when nobody has waited for a while."""
        if self.by_callers and not self._caller_pumps:
            self.by_callers = False
            self.stir(ends=False)

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

    def was_just_emptied(self) -> bool:
        """Whether a reply has just told that nothing is left, and nothing is owed."""
        return not self.debts and self._clock() - self._emptied < _EMPTY

    @property
    def is_busy(self) -> bool:
        """Whether somebody pumps and has something to do."""
        return self.is_running and not self.is_idle


class _Saved(Exception):
    """Something failed behind values that came."""

    def __init__(self, values: list[Taken], error: Exception) -> None:
        super().__init__()
        self.values, self.error = values, error
