"""The commands of a take beside the blocking one: looks, requests that are owed, and more of what is ready.

They are generators like the whole engine (``engine.py``), and parts of it.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Callable, Generator
from typing import Any, Final

from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import WAKE, Entrance, Line
from redisson_dq.waits.steps import Ask, Backs, Behind, Block, Pause, StepFailed, StepRefused, Steps, WaitStep
from redisson_dq.waits.troubles import Troubles
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["Asking"]

logger = logging.getLogger("redisson_dq")

# The pumper does not look again within this many seconds of a reply that left nothing.
_EMPTY: Final = 0.005
# A pop that took at most this much longer than a round trip did not wait. There was a value, and there may be more.
_AT_ONCE: Final = 0.001
# Pauses between two looks while the server has no memory for a blocking command.
_FIRST_WHEN_FULL, _LONGEST_WHEN_FULL = 0.05, 1.0


class Asking(Troubles):
    """Takes from one source for the callers of one line. The mutex of the line guards everything here."""

    def __init__(
        self, line: Line, source: Source, debts: Debts, backs: Backs, bell: Entrance, clock: Callable[[], float]
    ) -> None:
        super().__init__(line, source, debts, backs, clock)
        self.bell = bell
        self._sets_aside = source.sets_aside
        #: The connection, from the step that makes it until it is given up.
        self.connection: Any = None
        #: Connections that were given up and have to be closed.
        self.retired: list[Any] = []
        #: The blocking command that is on its way or in Redis.
        self.blocked: Block | None = None
        #: How many of them were sent. It distinguishes the next one from this.
        self.number = 0
        # Whether the source has a look, as far as is known.
        self._looks = True
        # When the last reply came that left nothing.
        self._emptied = -math.inf
        # The shortest time that a reply took on this connection.
        self._round_trip = 0.0
        self._when_full = Pauses(_FIRST_WHEN_FULL, _LONGEST_WHEN_FULL)
        # Whether it has paused for that since values came last.
        self._has_rested = False
        #: Whether Redis had no memory for the last command that would have blocked.
        self.is_full = False

    def _look(self) -> Generator[WaitStep, Any, list[Taken]]:
        """Takes the values that are ready, without blocking, for all callers that wait. It also pays a debt."""
        line, debts = self.line, self.debts
        count, request = line.claim(self._clock()), debts.first
        is_new = request is None
        try:
            if request is None and (debts.look or (count and self._clock() - self._emptied >= _EMPTY)):
                request = self.source.look(count)
                self._looks = request is not None
            if request is None:
                return []
            line.asked()
            values = yield from self._ask(request)
        except StepRefused as error:
            if not error.passes:
                # Redis would refuse it again. A value that was set aside comes with the next look of any caller.
                debts.look, error.request = False, request
            raise
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
            # One that is repeated may have taken values before. A refusal that passes does not show that.
            if not (is_repeated and error.passes):
                debts.paid(request)
            raise
        debts.paid(request)
        return values

    def _may_block(self) -> bool:
        """Whether a caller needs the blocking command, after another one.

        Nothing blocks while values have to go back, or a debt is left: they may have come meanwhile.
        """
        if self.backs.are_left or self.debts:
            return False
        # A replica that refuses to pop answers a look that finds nothing. So the look proves nothing.
        return (self.trouble is not None and self._refuses) or self.line.is_unserved(self._clock())

    def _read_behind(self, request: Request[list[Taken]]) -> Generator[WaitStep, Any, list[Taken]]:
        """The values of the request that was sent after the blocking command."""
        try:
            values: list[Taken] = yield Behind(request)
            if not values:
                # The next command may block without another look.
                self._emptied = self._clock()
        except StepRefused as error:
            # A look follows where a value has come. It may be sent with the script's text, and it can find out why
            # values are missing.
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
            # Redis will refuse the next blocking pop as well, and that one can find out why.
            return []
        finally:
            line.unclaim(count)

    def _rest(self, refusal: StepRefused) -> Steps:
        """Waits: a full server refuses a blocking command that would move a value. It refuses no look."""
        self._answered()
        self.is_full = self._has_rested = True
        # A value may have come since the look. No caller gets "nothing is there" for an answer before the next one.
        self.line.broke()
        seconds = self._when_full.next()
        logger.debug("queue %r: waiting again in %.2f s: %s", self.source.key, seconds, refusal.error)
        with contextlib.suppress(StepFailed):
            yield Pause(seconds, refusal.error, is_trouble=False)

    def admit(self) -> bool:
        """Takes callers into the line, where no other background task does. Returns whether the bell rang."""
        if self.bell is self.line.inbox:
            return self.line.admit()
        # Somebody else reads the inbox, and would miss the callers that this one took from it.
        rang = False
        while self.bell.poll() is not None:
            rang = True
        return rang

    def _served(self) -> None:
        # The reader of the inbox also waits until the waits end.
        if self.bell is not self.line.inbox:
            self.line.inbox.put(WAKE)

    def _drop(self) -> None:
        if self.connection is not None:
            self.retired.append(self.connection)
            self.connection = None
