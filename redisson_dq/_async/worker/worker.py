"""The worker: handlers by queue, and what runs them."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar, Union, overload

from redisson_dq._async.client import Client, unopened
from redisson_dq._async.worker.beside import QueueReport, report, return_leases
from redisson_dq._async.worker.crew import Crew
from redisson_dq._async.worker.event import Event, current_event
from redisson_dq._concurrency import AsyncMutex, AsyncSwitch, async_finish
from redisson_dq._handler_concurrency import (
    AsyncResources,
    AsyncSide,
    Layer,
    async_check_callable,
    async_signals,
    check_no_yield,
)
from redisson_dq._times import Delay, seconds_of
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import ArgumentError
from redisson_dq.working import happenings
from redisson_dq.working.handlers import Handler, Shape, declared, positive
from redisson_dq.working.limits import Limit, Rate
from redisson_dq.working.order import AnyOrder, order_of
from redisson_dq.working.retries import Retry
from redisson_dq.working.settings import QueueSettings

__all__ = ["Worker"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])
Self = TypeVar("Self", bound="Worker")

_DEFAULT_RETRY = Retry()

#: What a retry policy is given as: one, several of which the first that fits is used, or None for none.
_AnyRetry = Union[Retry, Sequence[Retry], None]


class Worker:
    """Receives values and gives them to handlers, at least once each.

    Built on ``queue.receive()``: a value is gone when its handler returned, and ready again when this process dies.
    ``client`` is a :class:`Client`; :meth:`connect` makes one. ``concurrency`` limits how many handlings go on at a
    time over all queues. ``order`` says which queue comes first then. It is a dict of weights, or a list of names: a
    queue is asked when those before it have nothing. ``visibility_timeout`` is for how long a value is leased. The
    lease is renewed as long as the handler runs. With ``transfer=False`` this process consumes only, and others move
    due items.

    >>> worker = Worker(client)
    >>> @worker.handler("orders")
    ... async def handle(order, event):
    ...     print(order, "attempt", event.attempt)
    """

    def __init__(
        self,
        client: Client,
        *,
        concurrency: int | None = None,
        order: AnyOrder | None = None,
        visibility_timeout: Delay = 30,
        transfer: bool = True,
        grace: Delay = 30,
        chance: random.Random | None = None,
    ) -> None:
        if not isinstance(client, Client):
            raise ArgumentError(f"a worker takes a Client, not {client!r}; Worker.connect(url) makes one")
        self._setup(lambda: client, False, concurrency, order, visibility_timeout, transfer, grace, chance)

    @classmethod
    def connect(
        cls: type[Self],
        url: str,
        *,
        concurrency: int | None = None,
        order: AnyOrder | None = None,
        visibility_timeout: Delay = 30,
        transfer: bool = True,
        grace: Delay = 30,
        chance: random.Random | None = None,
        **client_options: Any,
    ) -> Self:
        """A worker with a client of its own, which it makes when it starts and closes when it stops.

        ``client_options`` are those of :func:`connect`. Nothing is sent before the start, so a worker may be made when
        its module is imported.
        """
        made = cls.__new__(cls)
        # Raises at once what is wrong with them.
        unopened(url, client_options)
        made._setup(made._connected, True, concurrency, order, visibility_timeout, transfer, grace, chance)
        made._url = url, client_options
        return made

    def _setup(
        self,
        client: Callable[[], Client],
        owns_client: bool,
        concurrency: int | None,
        order: AnyOrder | None,
        visibility_timeout: Delay,
        transfer: bool,
        grace: Delay,
        chance: random.Random | None,
    ) -> None:
        if concurrency is not None:
            positive(concurrency, "worker: concurrency=")
        elif order is not None:
            raise ArgumentError("worker: order= says who comes first when slots are few: give concurrency= too")
        self._order = order_of(order)
        self._total = concurrency
        self._make_client, self._owns_client = client, owns_client
        self._defaults = QueueSettings(visibility_timeout=visibility_timeout, transfer=transfer)
        self._grace = seconds_of(grace, "worker: grace=")
        self._chance = random.Random() if chance is None else chance
        self._url: tuple[str, dict[str, Any]] | None = None
        #: Four bytes that the ids of its leases begin with, so that whoever started this process can hand them back
        #: (:meth:`return_leases`) when it has died. A supervisor sets it before the start.
        self.owner = b""
        self._mutex = AsyncMutex()
        self._handlers: list[Handler] = []
        self._settings: dict[str, QueueSettings] = {}
        self._layers: list[Layer] = []
        self._layers_found: dict[Handler, tuple[Layer, ...]] = {}
        self._resources_declared: list[Layer] = []
        self._hooks: list[tuple[tuple[type[happenings.Happening], ...], Callable[[Any], object]]] = []
        self._resources: AsyncResources | None = None
        self._client: Client | None = None
        self._crew: Crew | None = None
        self._side: AsyncSide | None = None
        self._changed = AsyncSwitch()
        self._asked_to_stop = 0
        self._stops = False
        self._has_stopped = AsyncSwitch()

    # -- what it does ------------------------------------------------------------------------------------------------

    def queue(
        self,
        name: str,
        *,
        codec: Codec[Any] | None = None,
        partitions: int | None = None,
        dead_letter: str | None = None,
        visibility_timeout: Delay | None = None,
        transfer: bool | None = None,
        bounded: bool | None = None,
    ) -> None:
        """Says how a queue is opened, as for :meth:`Client.blocking_queue`. Before its first handler, if at all.

        ``bounded=True`` is for a queue with a capacity: what is handled makes room in it.
        """
        if name in {handler.queue for handler in self._handlers}:
            raise ArgumentError(f"queue {name!r}: it is opened already; say how before its first handler")
        self._settings[name] = QueueSettings(
            codec=codec,
            partitions=partitions,
            dead_letter=dead_letter,
            visibility_timeout=visibility_timeout,
            transfer=transfer,
            bounded=bounded,
        )

    @overload
    def handler(
        self,
        queue: str,
        type: type[T],
        *,
        where: Mapping[str, Any] | None = None,
        when: Callable[[T], object] | None = None,
        concurrency: int = 1,
        retry: _AnyRetry = _DEFAULT_RETRY,
        timeout: Delay | None = None,
        on_failed: Callable[[T, Event, BaseException], Any] | None = None,
        crash_limit: int | None = 10,
        rate: Rate | None = None,
        limit: Limit | None = None,
        key: Callable[[T], object] | None = None,
        unique_for: Delay | None = None,
        unique_by: Callable[[T], object] | None = None,
    ) -> Callable[[Callable[Concatenate[T, P], R]], Callable[Concatenate[T, P], R]]: ...

    @overload
    def handler(
        self,
        queue: str,
        type: None = None,
        *,
        where: Mapping[str, Any] | None = None,
        when: Callable[[Any], object] | None = None,
        concurrency: int = 1,
        retry: _AnyRetry = _DEFAULT_RETRY,
        timeout: Delay | None = None,
        on_failed: Callable[[Any, Event, BaseException], Any] | None = None,
        crash_limit: int | None = 10,
        rate: Rate | None = None,
        limit: Limit | None = None,
        key: Callable[[Any], object] | None = None,
        unique_for: Delay | None = None,
        unique_by: Callable[[Any], object] | None = None,
    ) -> Callable[[F], F]: ...

    def handler(
        self,
        queue: str,
        type: type | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        when: Callable[[Any], object] | None = None,
        concurrency: int = 1,
        retry: _AnyRetry = _DEFAULT_RETRY,
        timeout: Delay | None = None,
        on_failed: Callable[[Any, Event, BaseException], Any] | None = None,
        crash_limit: int | None = 10,
        rate: Rate | None = None,
        limit: Limit | None = None,
        key: Callable[[Any], object] | None = None,
        unique_for: Delay | None = None,
        unique_by: Callable[[Any], object] | None = None,
    ) -> Callable[[Any], Any]:
        """Declares a function as the handler of a queue's values, or of some of them.

        It is called with the value, and with an :class:`Event` if it takes a second argument. Further arguments are
        dependencies by name (:meth:`per_item`, :meth:`per_worker`). Its result is ignored. When it returns, the value
        is gone. When it raises, ``retry`` says whether the value comes again. If not, ``on_failed(value, event,
        error)`` is called and the value goes to the dead-letter list.

        ``type`` is the class of its values, ``where`` maps fields of the value to what they have to be, ``when`` is a
        function of the value. A value that no handler takes goes to the dead-letter list. ``concurrency`` is how many
        run at a time in this process. ``timeout`` is for how long one may run. After ``crash_limit`` deliveries whose
        process died with the value (None: any number) it is given up too.

        The rest holds over all processes, on the server's clock. ``rate`` is a :class:`Rate`, ``limit`` a
        :class:`Limit` of handlings at a time. With ``key``, a function of the value, values of one key are handled one
        at a time and in their order, retries included. With ``unique_for`` (seconds or a timedelta) a value is dropped
        that equals one handled so shortly before: equal by its bytes, or by its class and ``unique_by(value)``.
        """

        def declare(function: F) -> F:
            self.add_handler(
                function,
                queue,
                type,
                where=where,
                when=when,
                concurrency=concurrency,
                retry=retry,
                timeout=timeout,
                on_failed=on_failed,
                crash_limit=crash_limit,
                rate=rate,
                limit=limit,
                key=key,
                unique_for=unique_for,
                unique_by=unique_by,
            )
            return function

        return declare

    @overload
    def batch_handler(
        self,
        queue: str,
        size: int,
        type: type[T],
        *,
        within: Delay = 0,
        where: Mapping[str, Any] | None = None,
        when: Callable[[T], object] | None = None,
        concurrency: int = 1,
        retry: _AnyRetry = _DEFAULT_RETRY,
        timeout: Delay | None = None,
        on_failed: Callable[[T, Event, BaseException], Any] | None = None,
        crash_limit: int | None = 10,
        rate: Rate | None = None,
        limit: Limit | None = None,
        key: Callable[[T], object] | None = None,
        unique_for: Delay | None = None,
        unique_by: Callable[[T], object] | None = None,
    ) -> Callable[[Callable[Concatenate[list[T], P], R]], Callable[Concatenate[list[T], P], R]]: ...

    @overload
    def batch_handler(
        self,
        queue: str,
        size: int,
        type: None = None,
        *,
        within: Delay = 0,
        where: Mapping[str, Any] | None = None,
        when: Callable[[Any], object] | None = None,
        concurrency: int = 1,
        retry: _AnyRetry = _DEFAULT_RETRY,
        timeout: Delay | None = None,
        on_failed: Callable[[Any, Event, BaseException], Any] | None = None,
        crash_limit: int | None = 10,
        rate: Rate | None = None,
        limit: Limit | None = None,
        key: Callable[[Any], object] | None = None,
        unique_for: Delay | None = None,
        unique_by: Callable[[Any], object] | None = None,
    ) -> Callable[[F], F]: ...

    def batch_handler(
        self,
        queue: str,
        size: int,
        type: type | None = None,
        *,
        within: Delay = 0,
        where: Mapping[str, Any] | None = None,
        when: Callable[[Any], object] | None = None,
        concurrency: int = 1,
        retry: _AnyRetry = _DEFAULT_RETRY,
        timeout: Delay | None = None,
        on_failed: Callable[[Any, Event, BaseException], Any] | None = None,
        crash_limit: int | None = 10,
        rate: Rate | None = None,
        limit: Limit | None = None,
        key: Callable[[Any], object] | None = None,
        unique_for: Delay | None = None,
        unique_by: Callable[[Any], object] | None = None,
    ) -> Callable[[Any], Any]:
        """Declares a handler of many values at once: of ``size`` at most, or those that came ``within`` a time.

        It is called with a list of values and a list of events. It returns None when all are done, or a list with one
        outcome for each. An outcome is None for done, or an exception, which counts as if a handler of that value had
        raised it. When it raises, that is the outcome of all. Otherwise like :meth:`handler`.
        """

        def declare(function: F) -> F:
            self.add_handler(
                function,
                queue,
                type,
                where=where,
                when=when,
                concurrency=concurrency,
                retry=retry,
                timeout=timeout,
                on_failed=on_failed,
                crash_limit=crash_limit,
                rate=rate,
                limit=limit,
                key=key,
                unique_for=unique_for,
                unique_by=unique_by,
                batch=size,
                within=within,
            )
            return function

        return declare

    def add_handler(
        self,
        function: Callable[..., Any],
        queue: str,
        type: type | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        when: Callable[[Any], object] | None = None,
        concurrency: int = 1,
        retry: _AnyRetry = _DEFAULT_RETRY,
        timeout: Delay | None = None,
        on_failed: Callable[[Any, Event, BaseException], Any] | None = None,
        crash_limit: int | None = 10,
        rate: Rate | None = None,
        limit: Limit | None = None,
        key: Callable[[Any], object] | None = None,
        unique_for: Delay | None = None,
        unique_by: Callable[[Any], object] | None = None,
        batch: int | None = None,
        within: Delay = 0,
    ) -> None:
        """Like :meth:`handler` and :meth:`batch_handler`, as a call. Also while the worker runs."""
        made = declared(
            function,
            queue,
            type=type,
            where=where,
            when=when,
            concurrency=concurrency,
            retry=retry,
            timeout=timeout,
            on_failed=on_failed,
            crash_limit=crash_limit,
            rate=rate,
            limit=limit,
            key=key,
            unique_for=unique_for,
            unique_by=unique_by,
            batch=batch,
            within=within,
        )
        async_check_callable(function, f"handler {made.name!r} of queue {queue!r}")
        check_no_yield(function, f"handler {made.name!r} of queue {queue!r}")
        if on_failed is not None:
            async_check_callable(on_failed, f"on_failed of handler {made.name!r}")
            check_no_yield(on_failed, f"on_failed of handler {made.name!r}")
        with self._mutex:
            self._handlers = [*self._handlers, made]
        if self._crew is not None:
            self._check_needs()
            self._crew.employ(self._handlers)

    def remove_handler(self, function: Callable[..., Any], queue: str | None = None) -> bool:
        """Takes a handler off, of all its queues or of one; True if there was one. Also while the worker runs.

        Values that it handles go on. With its last handler a queue is closed.
        """
        with self._mutex:
            kept = [each for each in self._handlers if each.function is not function or queue not in (None, each.queue)]
            found = len(kept) < len(self._handlers)
            self._handlers = kept
        if found and self._crew is not None:
            self._crew.employ(kept)
        return found

    def middleware(self, function: F) -> F:
        """Declares a function with one ``yield`` that runs around each handling. It is called with the event.

        The first that is declared is outermost. What the handler raises is raised at the ``yield``.

        >>> worker = Worker(client)
        >>> @worker.middleware
        ... async def timed(event):
        ...     print("before", event.value)
        ...     yield
        ...     print("after")
        """
        async_check_callable(function, f"middleware {function!r}")
        self._layers.append(Layer(function, "", Shape.of(function, f"middleware {function!r}", 1)))
        return function

    def per_item(self, function: F) -> F:
        """Declares a dependency that is made anew for each handling. Handlers get it by the function's name.

        What stands behind its ``yield`` runs when the handler has returned or raised, before the value is acked. Its
        own arguments are other dependencies, and ``event``.
        """
        return self._dependency(function, self._layers)

    def per_worker(self, function: F) -> F:
        """Declares a dependency that is made when the worker starts. Otherwise like :meth:`per_item`.

        What stands behind its ``yield`` runs when the worker stops.
        """
        return self._dependency(function, self._resources_declared)

    def on(self, *kinds: type[happenings.Happening]) -> Callable[[F], F]:
        """Declares a function that is called with what happens: happenings of these classes, or all.

        It is called where things happen, so it has to be quick. What it raises is logged.
        """

        def declare(function: F) -> F:
            self._hooks.append((kinds or (happenings.Happening,), function))
            return function

        return declare

    # -- its life ----------------------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether it was started, and not stopped since."""
        return self._crew is not None

    @property
    def is_consuming(self) -> bool:
        """Whether it runs, and receives what is ready or would as soon as a slot is free. For health probes.

        False before the start, while it stops, while Redis cannot be reached, and while Redis refuses to give values.
        """
        crew = self._crew
        return crew is not None and crew.is_consuming

    @property
    def running(self) -> int:
        """How many handlings go on just now."""
        crew = self._crew
        return 0 if crew is None else crew.running

    async def start(self) -> None:
        """Begins to receive, and returns. May be called twice."""
        if self._crew is not None:
            return
        self._check_needs()
        self._side = AsyncSide()
        self._layers_found.clear()
        self._client = self._make_client()
        self._resources = AsyncResources()
        try:
            for layer in self._resources_declared:
                await self._resources.enter(layer)
        except BaseException:
            await self._end_resources()
            raise
        self._crew = Crew(
            self._client,
            total=self._total,
            order=self._order,
            settings=self._settings_of,
            layers=self._layers_of,
            given=self._resources.given,
            tell=self._tell,
            chance=self._chance,
            owner=self.owner,
        )
        try:
            self._crew.employ(self._handlers)
        except BaseException:
            await async_finish(self._stopped(self._crew, 0.0, self._asked_to_stop))
            raise

    async def stop(self, grace: Delay | None = None) -> None:
        """Receives no more, and gives handlers ``grace`` seconds to return (else those of the worker).

        What has not returned by then is handed back, uncounted and ready at once. Nothing is lost. May be called twice;
        a call of :meth:`request_stop` while it waits ends the grace.
        """
        await self._stop(grace, self._asked_to_stop)

    def request_stop(self) -> None:
        """Makes :meth:`run` end. A second call ends the grace of a stop that is under way.

        It only asks, so a handler, another thread or a signal handler may call it.
        """
        self._asked_to_stop += 1
        side = self._side
        if side is not None:
            side.soon(self._changed.on)

    async def run(self, grace: Delay | None = None) -> None:
        """Starts, and stops at SIGTERM, SIGINT or :meth:`request_stop`. A second signal ends the ``grace``.

        Signals are for the main thread; in another one only :meth:`request_stop` ends it.
        """
        self._asked_to_stop = 0
        with async_signals(self.request_stop):
            await self.start()
            try:
                while not self._asked_to_stop:
                    self._changed.off()
                    if not self._asked_to_stop:
                        await self._changed.wait(None)
            finally:
                # The first request is what it stops for; each one more ends the grace.
                await self._stop(grace, min(1, self._asked_to_stop))

    async def __aenter__(self: Self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    # -- from outside ------------------------------------------------------------------------------------------------

    @property
    def queues(self) -> list[str]:
        """The names of the queues that it has handlers for."""
        return list(dict.fromkeys(handler.queue for handler in self._handlers))

    @property
    def grace(self) -> float:
        """How many seconds handlers have at a stop that says nothing else."""
        return self._grace

    @property
    def handlers(self) -> list[Handler]:
        """What was declared, in that order."""
        return list(self._handlers)

    def set_url(self, url: str) -> None:
        """Connects to another server from the next start on. Only a worker of :meth:`connect` can."""
        if self._url is None:
            raise ArgumentError("a worker over a client of yours has no URL: make it with Worker.connect(url)")
        unopened(url, self._url[1])
        self._url = url, self._url[1]

    async def check(self) -> list[QueueReport]:
        """Connects, looks at every queue that it would receive from, and tells what is there. Nothing is received.

        Raises RedisConnectionError when Redis cannot be reached.
        """
        client = self._make_client()
        try:
            await client.open()
            return [await report(client, name, self._settings_of(name)) for name in self.queues]
        finally:
            await self._done_with(client)

    async def return_leases(self, owner: bytes, queues: Sequence[str] = ()) -> int:
        """Hands the leases of a worker's process back that has died: ready at once, and counted as a crash.

        ``owner`` is what that worker had as :attr:`owner`, ``queues`` its queues where it had others than this one.
        Tells how many values came back. What somebody else has by now is left alone.
        """
        names = dict.fromkeys([*self.queues, *queues])
        client = self._make_client()
        try:
            return sum([await return_leases(client, name, self._settings_of(name), owner) for name in names])
        finally:
            await self._done_with(client)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _connected(self) -> Client:
        url, options = self._url or ("", {})
        return unopened(url, options)

    async def _done_with(self, client: Client) -> None:
        if self._owns_client:
            await client.close()

    async def _stop(self, grace: Delay | None, asked: int) -> None:
        seconds = self._grace if grace is None else seconds_of(grace, "worker: grace=")
        if current_event() is not None:
            raise ArgumentError("worker: stop() waits for its handlers, so a handler calls request_stop() instead")
        with self._mutex:
            crew = self._crew
            first, self._stops = not self._stops, True
        if crew is None:
            self._stops = False
        elif first:
            self._has_stopped.off()
            await async_finish(self._stopped(crew, seconds, asked))
        else:
            await self._has_stopped.wait(None)

    async def _stopped(self, crew: Crew, grace: float, asked: int) -> None:
        try:
            await crew.aclose(grace, lambda: self._asked_to_stop > asked, self._changed)
            await self._end_resources()
        finally:
            self._crew = None
            self._stops = False
            self._has_stopped.on()

    async def _end_resources(self) -> None:
        resources, self._resources = self._resources, None
        client, self._client = self._client, None
        try:
            if resources is not None:
                await resources.aclose()
        finally:
            if client is not None:
                await self._done_with(client)

    def _dependency(self, function: F, place: list[Layer]) -> F:
        what = f"dependency {function!r}"
        async_check_callable(function, what)
        name = getattr(function, "__name__", "")
        if not name.isidentifier():
            raise ArgumentError(f"{what}: a dependency is a function with a name")
        place.append(Layer(function, name, Shape.by_name(function, what)))
        return function

    def _check_needs(self) -> None:
        """Raises ArgumentError for a dependency that nobody declared."""
        known: set[str] = set()
        for layer in (*self._resources_declared, *self._layers):
            _check_known(layer.shape.needs, known, layer.function)
            known.add(layer.name)
        for handler in self._handlers:
            _check_known(handler.shape.needs, known, handler.function)

    def _layers_of(self, handler: Handler) -> Sequence[Layer]:
        """The middlewares, and the dependencies that they and the handler ask for."""
        found = self._layers_found.get(handler)
        if found is None:
            wanted = set(handler.shape.needs)
            chosen: list[Layer] = []
            # Whatever a layer needs was declared before it.
            for layer in reversed(self._layers):
                if not layer.name or layer.name in wanted:
                    wanted.update(layer.shape.needs)
                    chosen.insert(0, layer)
            found = self._layers_found[handler] = tuple(chosen)
        return found

    def _settings_of(self, name: str) -> QueueSettings:
        return self._settings.get(name, QueueSettings()).with_defaults(self._defaults)

    def _tell(self, happening: happenings.Happening) -> None:
        for kinds, function in self._hooks:
            if isinstance(happening, kinds):
                try:
                    function(happening)
                except Exception:
                    logger.exception("worker: a hook failed at %r", happening)


def _check_known(needs: Sequence[str], known: set[str], function: Callable[..., Any]) -> None:
    missing = [name for name in needs if name not in known]
    if missing:
        raise ArgumentError(
            f"{function!r} takes {missing}, and no dependency has that name: declare it with per_item or per_worker"
        )
