"""The worker: its handlers by queue, its start and its stop."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from redisson_dq._async.client import Client
from redisson_dq._async.connect import unopened
from redisson_dq._async.worker.beside import figures_of, inspections, return_leases
from redisson_dq._async.worker.changing import LifeChanges
from redisson_dq._async.worker.clients import Clients
from redisson_dq._async.worker.crew import Crew
from redisson_dq._async.worker.declaring import Declarations
from redisson_dq._async.worker.event import current_event
from redisson_dq._common.signatures import options_of, with_options_of
from redisson_dq._concurrency import AsyncSwitch, async_finish
from redisson_dq._concurrency.blocks import AsyncWrongWith
from redisson_dq._concurrency.handler_pools import AsyncBridge
from redisson_dq._concurrency.layers import AsyncResources
from redisson_dq._concurrency.stop_signals import async_signals
from redisson_dq._redisson_config import RedissonConfig
from redisson_dq._redisson_config.given import names_server
from redisson_dq.errors import ArgumentError, ClosedError
from redisson_dq.inspection import QueueInspection
from redisson_dq.items import Problem
from redisson_dq.scheduling.clock import current
from redisson_dq.scheduling.times import Delay, seconds_of
from redisson_dq.stats import QueueStats
from redisson_dq.working.handlers import CLIENT, Handler
from redisson_dq.working.order import AnyOrder
from redisson_dq.working.settings import WorkerOptions, is_importing

__all__ = ["Worker"]

logger = logging.getLogger("redisson_dq")

Self = TypeVar("Self", bound="Worker")

if TYPE_CHECKING:
    # Type checkers know this module even when it is not installed.
    from typing_extensions import Unpack

    from redisson_dq.working.settings import WorkerOptionNames


class Worker(Declarations, AsyncWrongWith):
    """Receives values and gives them to handlers, at least once each.

    Built on ``queue.receive()``: a value is gone when its handler returned, and ready again when this process dies.
    ``client`` is a :class:`Client`; :meth:`connect` makes one.

    - ``concurrency``: how many handlings run at a time over all queues
    - ``order``: which queue comes first then: a list of names (strict priority), or a dict of weights
    - ``visibility_timeout``: for how long a value is leased; renewed while the handler runs
    - ``transfer``: False if this process only consumes, and others move due items
    - ``grace``: how long handlers may continue at a stop
    - ``stalled_after``: when :attr:`problems` reports a handler that hangs, until it has returned once; then its usual
      time decides
    - ``chance``: the source of random numbers for backoffs, for tests

    >>> worker = Worker(client)
    >>> @worker.handler("orders")
    ... async def handle(order, event):
    ...     print(order, "attempt", event.attempt)
    """

    @with_options_of(WorkerOptions)
    def __init__(self, client: Client, **options: Unpack[WorkerOptionNames]) -> None:
        # connect() passes the clients of its own.
        self._clients = client if isinstance(client, Clients) else Clients.of(client)
        self._options = given = WorkerOptions(**options)
        super().__init__(given.of_queues())
        self._chance = random.Random() if given.chance is None else given.chance
        # It remembers which queue was served when, from one start to the next.
        self._order = given.asking_order()
        #: Four bytes that the ids of its leases begin with. A supervisor sets them before the start. It can hand the
        #: leases back (:meth:`_return_leases`) when this process has died.
        self._owner = b""
        self._resources: AsyncResources | None = None
        self._crew: Crew | None = None
        # The process in which it was started last, if it was.
        self._process: int | None = None
        self._bridge: AsyncBridge | None = None
        self._changed = AsyncSwitch(current())
        self._asked_to_stop = 0
        self._changes = LifeChanges()

    @classmethod
    def connect(
        cls: type[Self],
        url: str | None = None,
        *,
        concurrency: int | None = None,
        order: AnyOrder | None = None,
        visibility_timeout: Delay = 30,
        transfer: bool = True,
        grace: Delay = 30,
        stalled_after: Delay = 300,
        chance: random.Random | None = None,
        **client_options: Any,
    ) -> Self:
        """A worker with a client of its own, which it makes when it starts and closes when it stops.

        ``url`` and ``client_options`` are those of :func:`connect`, and the others those of :class:`Worker`. Nothing is
        sent before the start, so a worker may be made when its module is imported. Where nothing names a server yet,
        ``redisson-dq worker --url`` may do so.
        """
        clients: Any = Clients(None, url, client_options)
        made = cls(
            clients,
            concurrency=concurrency,
            order=order,
            visibility_timeout=visibility_timeout,
            transfer=transfer,
            grace=grace,
            stalled_after=stalled_after,
            chance=chance,
        )
        # A wrong option raises at once.
        some_url = url if names_server(url, client_options) else "redis://localhost"
        unopened(some_url, client_options, f"{cls.__name__}.connect", options_of(Worker.connect))
        return made

    # -- its life ----------------------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether it was started, and not stopped since."""
        return self._crew is not None

    @property
    def is_consuming(self) -> bool:
        """Whether it runs, and receives ready values, or would as soon as a slot is free. For health probes.

        False before the start, while it stops, while Redis cannot be reached, and while there are :attr:`problems` that
        keep values away.
        """
        crew = self._crew
        return crew is not None and not self._is_forked and crew.is_consuming

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The tasks that cannot be done at present for its queues, though Redis can be reached. Empty when all is well.

        Each problem names the queue, the error and the remedy, and ends by itself. Other queues of the client do not
        count. A handler that makes no progress while values wait is a :class:`Stall`, with its stack. Example::

            for problem in worker.problems:
                print(problem)
        """
        crew = self._crew
        return () if crew is None else crew.problems

    @property
    def handling_for(self) -> dict[str, timedelta]:
        """For how long the oldest handling of each queue has gone on. Queues without one are left out."""
        crew = self._crew
        return {} if crew is None else crew.handling_for

    @property
    def running(self) -> int:
        """How many handlings are running."""
        crew = self._crew
        return 0 if crew is None else crew.running

    async def start(self) -> None:
        """Begins to receive, and returns. May be called twice. While the worker stops, it waits for the end of that.

        Raises ArgumentError for an undeclared dependency. Errors of the worker's dependencies are raised too. If Redis
        cannot be reached, nothing is raised: the worker waits.
        """
        if is_importing.get():
            raise ArgumentError(
                "worker: its module starts it on import, so the import never ends: start it below "
                'if __name__ == "__main__":'
            )
        if self._is_forked:
            raise ClosedError(
                f"the worker was started in process {self._process}, and this is process {os.getpid()}; make a new one "
                "after fork()"
            )
        if not await self._changes.begin(lambda: self._crew is None):
            return
        try:
            await self._start()
        finally:
            self._changes.end()

    @property
    def _is_forked(self) -> bool:
        """Whether it runs in another process, from which this one was forked off."""
        return self._crew is not None and self._process != os.getpid()

    async def _start(self) -> None:
        if not self._handlers:
            raise ArgumentError(
                'a worker without handlers receives nothing: declare them with @worker.handler("orders"), or import '
                "the modules that do, before it starts"
            )
        self._process = os.getpid()
        self._check_names()
        self.check_dependencies()
        self._bridge = AsyncBridge()
        self._layers_found.clear()
        client = self._clients.begin()
        self._hooks.observers = client.runtime.options.observers
        self._resources = AsyncResources({CLIENT: client})
        try:
            for layer in self._resources_declared:
                await self._resources.enter(layer)
            self._crew = Crew(
                client,
                total=self._options.concurrency,
                order=self._order,
                settings=self._settings_of,
                layers=self._layers_of,
                given=self._resources.given,
                hooks=self._hooks,
                chance=self._chance,
                owner=self._owner,
                stalled_after=self._options.stalled_seconds(),
            )
        except BaseException:
            # A dependency has failed, or the system gives no thread.
            await self._end_resources()
            raise
        try:
            with self._mutex:
                self._crew.employ(self._handlers)
        except BaseException:
            await async_finish(self._end(self._crew, 0.0, self._asked_to_stop))
            raise

    async def stop(self, grace: Delay | None = None) -> None:
        """Receives no more, and gives handlers ``grace`` (seconds or a timedelta; else the worker's) to return.

        The values of handlers that have not returned by then are handed back, uncounted and ready at once. Nothing is
        lost. :meth:`run` returns then. May be called twice; a call of :meth:`request_stop` while it waits ends the
        grace. Raises ArgumentError in a handler, in a hook and in a function per worker, for which it would wait.
        """
        await self._stop(grace, self._asked_to_stop)

    def request_stop(self) -> None:
        """Makes :meth:`run` end, at once if it has not begun. A second call ends the grace of a stop that is under way.

        It only asks, so a handler, another thread or a signal handler may call it.
        """
        self._asked_to_stop += 1
        bridge = self._bridge
        if bridge is not None:
            bridge.soon(self._check_end)

    def _check_end(self) -> None:
        self._changed.on()
        if self._crew is not None:
            self._crew.check_end()

    async def run(self, grace: Delay | None = None) -> None:
        """Starts, and ends at SIGTERM, SIGINT, :meth:`request_stop` or :meth:`stop`. Another signal ends the ``grace``.

        Signals are for the main thread; in another one only these calls end it.
        """
        with async_signals(self.request_stop):
            await self.start()
            try:
                while not self._is_to_end:
                    self._changed.off()
                    if not self._is_to_end:
                        await self._changed.wait(None)
            finally:
                # It stops because of the first request. Each one more ends the grace.
                await self._stop(grace, min(1, self._asked_to_stop))

    @property
    def _is_to_end(self) -> bool:
        return self._asked_to_stop > 0 or self._crew is None

    async def __aenter__(self: Self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    # -- from outside ------------------------------------------------------------------------------------------------

    @property
    def grace(self) -> float:
        """How many seconds handlers have at a stop without a ``grace`` of its own."""
        return self._options.grace_seconds()

    def set_url(self, url: str) -> None:
        """Connects to another server from the next start on. Only a worker of :meth:`connect` can."""
        self._clients.set_server(url, None)

    def set_redisson_config(self, redisson_config: RedissonConfig) -> None:
        """Connects by a file of Redisson's settings from the next start on. Only a worker of :meth:`connect` can."""
        self._clients.set_server(None, redisson_config)

    async def check(self) -> list[QueueInspection]:
        """Connects, and inspects every queue that it would receive from. Nothing is received.

        ``error`` of a result says why that queue cannot be used. An undeclared dependency is found by
        :meth:`check_dependencies`. Raises RedisConnectionError when Redis cannot be reached.
        """
        client = self._clients.make()
        try:
            await client.open()
            return await inspections(client, {name: self._settings_of(name) for name in self.queues})
        finally:
            await self._clients.done_with(client)

    async def stats(self) -> dict[str, QueueStats]:
        """Connects, and returns the figures of this worker's queues, as ``client.stats()`` does.

        Raises RedisConnectionError when Redis cannot be reached.
        """
        client = self._clients.make()
        try:
            return await figures_of(client, {name: self._settings_of(name) for name in self.queues})
        finally:
            await self._clients.done_with(client)

    # -- inside ------------------------------------------------------------------------------------------------------

    async def _return_leases(self, owner: bytes, queues: Sequence[str] = ()) -> int:
        """Returns the leases of a dead worker process, for the supervisor: its values are ready at once, and that is a
        crash.

        ``owner`` is the ``_owner`` of that worker, ``queues`` its queues if they differ from this worker's. Returns how
        many values came back. A value that another receiver holds by now is not touched.
        """
        names = dict.fromkeys([*self.queues, *queues])
        client = self._clients.make()
        try:
            return sum([await return_leases(client, name, self._settings_of(name), owner) for name in names])
        finally:
            await self._clients.done_with(client)

    def _handlers_changed(self, before: list[Handler]) -> None:
        if (crew := self._crew) is None:
            return
        given = () if self._resources is None else self._resources.given
        self._check_dependencies([each for each in self._handlers if each not in before], given)
        try:
            crew.employ(self._handlers)
        except BaseException:
            # The queues as they were. All of those are open.
            crew.employ(before)
            raise

    async def _stop(self, grace: Delay | None, asked: int) -> None:
        seconds = self.grace if grace is None else seconds_of(grace, "worker: grace=")
        if self._is_forked:
            # Nothing runs here, and the connections are those of the other process.
            return
        if current_event() is not None:
            raise ArgumentError("worker: stop() waits for the handlers, so call request_stop() in a handler instead")
        if self._hooks.is_telling_here:
            raise ArgumentError(
                "worker: stop() waits for hooks and observers, so call request_stop() in a hook instead"
            )
        if await self._changes.begin(lambda: self._crew is not None):
            await async_finish(self._stopped(seconds, asked))
        elif self._process is None:
            logger.warning("worker: stop() before start() or run() stops nothing: a run() that follows goes on")

    async def _stopped(self, grace: float, asked: int) -> None:
        self._changes.pass_on()
        try:
            if self._crew is not None:
                await self._end(self._crew, grace, asked)
        finally:
            self._changes.end()

    async def _end(self, crew: Crew, grace: float, asked: int) -> None:
        try:
            await crew.aclose(grace, lambda: self._asked_to_stop > asked)
            await self._end_resources()
        finally:
            self._crew = None
            self._asked_to_stop = 0
            self._changed.on()

    async def _end_resources(self) -> None:
        resources, self._resources = self._resources, None
        try:
            if resources is not None:
                await resources.aclose()
        finally:
            await self._clients.end()
