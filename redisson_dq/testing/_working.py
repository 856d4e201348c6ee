"""Runs workers in tests: until no work is left, or one value at a time without a server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import attrs

from redisson_dq._common.texts import shown
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool
from redisson_dq._concurrency.layers import async_perform, perform
from redisson_dq.errors import ArgumentError
from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.clock import SYSTEM, current
from redisson_dq.testing._clock import TestClock
from redisson_dq.testing._waits import NoRestError
from redisson_dq.working.happenings import GivenUp, Unreadable
from redisson_dq.working.routing import choose

__all__ = ["MadeEvent", "handle_one", "make_event", "run_until_idle"]

# The interval of checks without a test clock, in seconds.
_LOOK = 0.02
_EPOCH = datetime(2000, 1, 1, tzinfo=timezone.utc)


# -- one value -------------------------------------------------------------------------------------------------------


@attrs.define(kw_only=True)
class MadeEvent:
    """The event of a handler that is called without a worker. Made by :func:`make_event`."""

    value: Any = None
    queue: str = "test"
    id: str = "test"
    offer_id: str | None = None
    attempt: int = 1
    failures: int = 0
    crashes: int = 0
    reason: str = ""
    due: datetime | None = None
    lateness: timedelta | None = None
    context: dict[str, str] = attrs.field(factory=dict)
    deadline: datetime = _EPOCH
    cancelled: bool = False
    #: The extensions that the handler has requested.
    extended: list[Any] = attrs.field(factory=list)

    def extend(self, visibility_timeout: Any) -> Any:
        """Records the extension. A coroutine awaits it, as with a worker."""
        self.extended.append(visibility_timeout)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return SettleOutcome.ACKED
        done: asyncio.Future[SettleOutcome] = asyncio.get_running_loop().create_future()
        done.set_result(SettleOutcome.ACKED)
        return done


def make_event(value: Any = None, **facts: Any) -> MadeEvent:
    """An event without a worker: ``make_event("order-42", attempt=2, reason="timeout")``. Raises ArgumentError."""
    known = {field.name for field in attrs.fields(MadeEvent)}
    if unknown := sorted(facts.keys() - known):
        raise ArgumentError(f"an event has no {', '.join(unknown)}; it has {', '.join(sorted(known))}")
    return MadeEvent(value=value, **facts)


def handle_one(
    worker: Any, value: Any, *, queue: str | None = None, given: Mapping[str, Any] | None = None, **event: Any
) -> Any:
    """Passes one value to the worker's handler, and returns its result. Needs no server. For an aio worker it is
    awaited.

    The handler is chosen as in the worker, among those of ``queue`` if it has several queues. ``given`` has values for
    dependencies by name: it is required for ``client`` and those of ``per_worker``, as no worker runs, and optional for
    others. Further arguments set attributes of the event.

    For example::

        handle_one(worker, "order-42", attempt=2, given={"database": FakeDatabase()})

    Raises the handler's error. Raises ArgumentError if no handler takes the value, or the queue is ambiguous.
    """
    _check_worker("handle_one", worker)
    names = [queue] if queue is not None else list(worker.queues)
    if len(names) != 1:
        raise ArgumentError(f"handle_one() needs queue=, as the worker has the queues {', '.join(names)}")
    handlers = [each for each in worker.handlers if each.queue == names[0]]
    handler = choose(handlers, value)
    if handler is None:
        raise ArgumentError(f"queue {names[0]!r}: no handler takes {value!r}")
    made, replaced = make_event(value, queue=names[0], **event), dict(given or {})
    layers = [each for each in worker._layers_of(handler) if each.name not in replaced or not each.name]
    needs = {name for shape in (handler.shape, *(each.shape for each in layers)) for name in shape.needs}
    if missing := sorted(needs - replaced.keys() - {each.name for each in layers}):
        raise ArgumentError(
            f"queue {names[0]!r}: handle_one() makes no {', '.join(missing)}, as no worker runs: "
            f"give it another one by given={{{missing[0]!r}: ...}}"
        )
    placed: list[Any] = [value] if handler.batch is None else [[value]]
    about: Any = made if handler.batch is None else [made]
    if handler.shape.takes_event:
        placed.append(about)
    if type(worker).__module__.startswith("redisson_dq._sync"):
        return perform(None, handler.function, handler.awaits, placed, about, handler.shape.needs, layers, replaced)
    return _awaited(handler, placed, about, layers, replaced)


async def _awaited(handler: Any, placed: list[Any], about: Any, layers: list[Any], given: Mapping[str, Any]) -> Any:
    pool = AsyncHandlerPool("handler")
    try:
        return await async_perform(
            pool, handler.function, handler.awaits, placed, about, handler.shape.needs, layers, given
        )
    finally:
        await pool.aclose(1.0)


# -- until nothing is left -------------------------------------------------------------------------------------------


def run_until_idle(worker: Any, *, timeout: float = 10.0, clock: TestClock | None = None) -> Any:
    """Runs a worker until its queues have no work left. For an aio worker it is awaited.

    Recurring offers may go on. With a ``clock`` time jumps over delays and back-offs. Without one they pass in real
    time. A worker that does not run is started, and stopped at the end.

    Raises the error of the first value that was given up, or that the codec cannot read. Raises NoRestError after
    ``timeout`` seconds of real time; it lists the values that are left, and when the next one is due.
    """
    _check_worker("run_until_idle", worker)
    idle = _Idle(worker, timeout, clock)
    if type(worker).__module__.startswith("redisson_dq._sync"):
        return idle.run()
    return idle.async_run()


def _check_worker(call: str, worker: Any) -> None:
    if not (hasattr(worker, "handlers") and hasattr(worker, "queues")):
        raise ArgumentError(f"{call}() takes the Worker first, not {shown(worker)}")


class _Idle:
    """One run of a worker."""

    def __init__(self, worker: Any, timeout: float, clock: TestClock | None) -> None:
        if clock is None and current() is not SYSTEM:
            raise ArgumentError(
                "run_until_idle(): the test's clock stands still, and without clock= delays pass in real time: "
                "run_until_idle(worker, clock=clock)"
            )
        self._worker = worker
        self._timeout = timeout
        self._clock = clock
        self._deadline = SYSTEM.monotonic() + timeout
        self._errors: list[BaseException] = []
        # Seconds for handlers to return at the end. None uses the worker's own setting.
        self._grace: float | None = None
        # A value that cannot be decoded reaches no handler, and is not delivered again.
        for kind in (GivenUp, Unreadable):
            worker.on(kind)(lambda happening: self._errors.append(happening.error))

    def run(self) -> None:
        starts = not self._worker.is_running
        if starts:
            self._worker.start()
        try:
            while not self._is_over(self._figures()):
                self._step()
        except NoRestError:
            self._wait_for_no_handler()
            raise
        finally:
            if starts:
                self._worker.stop(self._grace)

    def _wait_for_no_handler(self) -> None:
        # A grace period follows the test clock, which stands still.
        self._grace = 0.0

    def _figures(self) -> Mapping[str, Any]:
        if self._clock is not None:
            self._clock.settle()
        found: Mapping[str, Any] = self._worker.stats()
        return found

    def _step(self) -> None:
        if self._clock is None:
            time.sleep(_LOOK)
        else:
            self._clock.step()

    async def async_run(self) -> None:
        starts = not self._worker.is_running
        if starts:
            await self._worker.start()
        try:
            while True:
                if self._clock is not None:
                    await self._clock.aio.settle()
                if self._is_over(await self._worker.stats()):
                    return
                await (asyncio.sleep(_LOOK) if self._clock is None else self._stepped(self._clock))
        except NoRestError:
            self._wait_for_no_handler()
            raise
        finally:
            if starts:
                await self._worker.stop(self._grace)

    @staticmethod
    async def _stepped(clock: TestClock) -> None:
        await clock.aio.step()

    def _is_over(self, figures: Mapping[str, Any]) -> bool:
        if self._errors:
            raise self._errors[0]
        left = [
            f"queue {each.name!r}: {each.ready} ready, {each.in_flight} in flight, {each.waiting} waiting, "
            f"next due {each.next_due}"
            for each in figures.values()
            if each.ready + each.in_flight + each.waiting - each.recurring > 0
        ]
        if left and SYSTEM.monotonic() > self._deadline:
            raise NoRestError(f"the worker is not idle after {self._timeout:g} s: {'; '.join(left)}")
        return not left
