"""One queue of many, and the waiter that a fetcher has in its line."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq._async.runtime import Runtime
from redisson_dq._async.worker.handing_over import page
from redisson_dq._async.worker.intake import Intake
from redisson_dq.errors import RedissonDQError
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waiting.line import Answer, Lifeline
from redisson_dq.wire.blocking import Waitable
from redisson_dq.wire.leases import Leased
from redisson_dq.working.fetch_plan import ACCEPTED, PAUSES
from redisson_dq.working.queue_wait_table import QueueWaitTable, State

__all__ = ["QueueWait", "WaitAnswer"]

logger = logging.getLogger("redisson_dq")


class WaitAnswer:
    """The answer to one waiter. It may come in any thread."""

    def __init__(self, wait: QueueWait, notify: Callable[[WaitAnswer], object]) -> None:
        self.wait = wait
        self.filled = False
        self.value: Answer = []
        self._notify = notify

    def fill(self, value: Answer) -> None:
        self.value, self.filled = value, True
        self._notify(self)

    @property
    def more(self) -> bool:
        """Whether more values stood behind those that came."""
        last: Any = self.value[-1] if isinstance(self.value, list) and self.value else None
        # Values that were only seen may all have to wait. Others may stand behind them.
        return last is not None and (not isinstance(last, Leased) or bool(last.left))


class QueueWait:
    """One queue of many. The fetcher alone calls it, but for :attr:`is_well`."""

    def __init__(self, runtime: Runtime, intake: Intake, *, is_stocked: bool) -> None:
        """``is_stocked`` is as with :class:`QueueWaitTable`."""
        self.intake = intake
        self.table = QueueWaitTable(is_stocked=is_stocked)
        self.receiver: Receiver | None = None
        #: The waiter's.
        self.lifeline = Lifeline()
        #: How many values the waiter takes.
        self.limit = 0
        self.has_failed = False
        #: The pauses behind rounds that failed.
        self.pauses = Pauses(*PAUSES)
        self._runtime = runtime
        self._waitable: Waitable | None = None
        self._entered = 0.0

    # -- the waiter --------------------------------------------------------------------------------------------------

    def enter(self, wanted: int, notify: Callable[[WaitAnswer], object]) -> None:
        """Sends a waiter into the line. ``notify`` is called with its answer."""
        answer = WaitAnswer(self, notify)
        self.limit, self.lifeline = wanted, Lifeline()
        reception = self.intake.reception
        self._waitable, self._entered = reception.waitable, self._runtime.clock.monotonic()
        try:
            self.receiver = self._runtime.receivers.of(self._waitable)
            self.receiver.enter(page(wanted) if reception.sees_first else wanted, self.lifeline, answer)
        except RedissonDQError as error:
            answer.fill(error)

    @property
    def waits_elsewhere(self) -> bool:
        """Whether the handlers have changed, so that values come in another way than the waiter waits for."""
        return self._waitable != self.intake.reception.waitable

    # -- refusals ----------------------------------------------------------------------------------------------------

    def failed(self, error: BaseException, *, is_told: bool) -> None:
        """Receiving has failed. The log is told of the first of several times, where ``is_told``."""
        self.has_failed = True
        if self._has_waited:
            self.pauses.reset()
        key = next(iter(self.intake.reception.sources), "")
        what = "values are not received"
        is_news = self._runtime.connections.refusals.began(self, key, what, error, lambda: self._has_waited)
        if is_news and is_told and not self.table.ends:
            logger.error("worker: cannot receive from %s: %s", [self.intake.name], error)

    def is_well_now(self) -> None:
        """Receiving has not failed."""
        self.has_failed = False
        self.pauses.reset()
        self._runtime.connections.refusals.ended(self)

    def forget(self) -> None:
        """It takes no further values."""
        self._runtime.connections.refusals.ended(self)

    @property
    def is_well(self) -> bool:
        """Whether Redis does not refuse."""
        return not self.has_failed or self._has_waited

    @property
    def _has_waited(self) -> bool:
        """Whether it has waited for so long that Redis has not refused the wait."""
        return self.table.state is State.WAITING and self._runtime.clock.monotonic() - self._entered > ACCEPTED
