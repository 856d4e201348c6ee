"""The state of queues as metrics: reads Redis at each scrape."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, Protocol, Union

import attrs
from prometheus_client.metrics_core import Metric

from redisson_dq._common.texts import shown
from redisson_dq.calls.inspecting import figures_together
from redisson_dq.errors import ArgumentError, RedissonDQError
from redisson_dq.prometheus.families import family
from redisson_dq.stats import QueueStats
from redisson_dq.wire.names import exact_name
from redisson_dq.wire.partitions import whole_of

__all__ = ["Collector", "Queues"]

logger = logging.getLogger("redisson_dq")

#: How many queues share one round trip.
_AT_ONCE = 100
# The interval between two scans for names, in seconds.
_RESCAN = 60.0


class _Looking(Protocol):
    """A client, for threads or for asyncio."""

    def stats(self, *queues: Any, return_exceptions: bool) -> Any: ...


#: A queue is a name, a pattern, or a handle. A function is called at each scrape.
Queues = Union[str, Iterable[Any], Callable[[], Any]]


@attrs.frozen
class _Scrape:
    """The figures of one scrape. ``is_up`` is true if Redis answered every request."""

    is_up: bool
    queues: Mapping[str, QueueStats]
    left_out: int = 0
    #: The names of the partitions of each queue, or its own.
    parts: Mapping[str, Sequence[str]] = attrs.field(factory=dict)


_NOTHING = _Scrape(False, {})


class Collector:
    """Metrics of queues for a registry of prometheus_client. This process need not work on these queues.

    - ``client``: a client for threads or for asyncio; for asyncio, create the collector in a coroutine
    - ``queues``: names, patterns such as ``"orders*"``, and handles; or a function that returns them at each scrape. A
      handle of a partitioned queue shows the sums of its partitions. A queue named ``q[1]`` is written ``q\\[1\\]``
    - ``timeout``: how many seconds a scrape waits for Redis
    - ``most``: the largest number of queues to show

    Example::

        registry.register(Collector(client, ["orders", "bills"]))

    A scrape is one round trip for each 100 queues and node. Names that match a pattern are searched once a minute, by
    SCAN. A scrape never raises. When Redis does not answer in time, ``redisson_dq_up`` is 0. Raises ArgumentError.
    """

    def __init__(self, client: _Looking, queues: Queues, *, timeout: float = 5.0, most: int = 1000) -> None:
        if not callable(getattr(client, "stats", None)):
            raise ArgumentError(f"Collector() takes a client of this library, not {shown(client)}")
        if not callable(queues):
            if not isinstance(queues, Iterable):
                raise ArgumentError(f"Collector(): queues= are names of queues, or their handles, not {shown(queues)}")
            queues = [queues] if isinstance(queues, str) else list(queues)
            if not queues or "" in queues:
                raise ArgumentError("Collector(): queues= names no queue")
        if not isinstance(timeout, (int, float)) or not 0 < timeout < math.inf:
            raise ArgumentError(f"Collector(): timeout= must be a number of seconds above 0, not {shown(timeout)}")
        if not isinstance(most, int) or most < 1:
            raise ArgumentError(f"Collector(): most= must be a whole number from 1 on, not {shown(most)}")
        self._client: Any = client
        self._queues = queues
        self._timeout, self._most = timeout, most
        self._mutex = threading.Lock()
        #: The running request to Redis, shared by all scrapes that begin meanwhile.
        self._look: Future[_Scrape] | None = None
        self._patterns: dict[str, tuple[float, Sequence[str]]] = {}
        #: The figures of the last request, and when it ended.
        self._last, self._looked = _NOTHING, float("-inf")
        self._has_told = False
        self._loop: asyncio.AbstractEventLoop | None = None
        if inspect.iscoroutinefunction(inspect.unwrap(client.stats)):
            try:
                self._loop = asyncio.get_running_loop()
            except RuntimeError:
                raise ArgumentError("Collector(): make it in a coroutine, as its client belongs to a loop") from None

    # -- for the registry --------------------------------------------------------------------------------------------

    def describe(self) -> Iterable[Metric]:
        """The families without samples. A registration asks Redis nothing."""
        return _families(_NOTHING)

    def collect(self) -> Iterable[Metric]:
        """The families with the current figures."""
        return _families(self._found())

    def figures(self) -> Mapping[str, tuple[QueueStats, Sequence[str]]]:
        """The current figures of each queue, and the names of its partitions, or its own."""
        found = self._found()
        return {name: (stats, found.parts[name]) for name, stats in found.queues.items()}

    async def refresh(self) -> None:
        """Reads the figures from Redis for a scrape that follows in the client's event loop.

        Such a scrape cannot wait in the loop. A scrape in another thread, such as that of ``start_http_server``, needs
        no refresh. Never raises. Example::

            await collector.refresh()
            page = prometheus_client.generate_latest(registry)
        """
        try:
            await asyncio.wait_for(asyncio.wrap_future(self._shared()), self._timeout)
        except asyncio.TimeoutError:
            self._tell("Redis has not answered within %g s", self._timeout)

    def _found(self) -> _Scrape:
        if self._is_in_loop():
            if time.monotonic() - self._looked <= self._timeout:
                return self._last
            self._tell("a coroutine awaits collector.refresh() before it makes the page")
            return _NOTHING
        try:
            return self._shared().result(self._timeout)
        # Both names are needed: up to Python 3.10 they are two classes.
        except (TimeoutError, FutureTimeout):
            self._tell("Redis has not answered within %g s", self._timeout)
            return _NOTHING

    def _is_in_loop(self) -> bool:
        try:
            return self._loop is not None and asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    # -- looking at Redis --------------------------------------------------------------------------------------------

    def _shared(self) -> Future[_Scrape]:
        """The running request, or a new one. It never raises."""
        with self._mutex:
            if self._look is None or self._look.done():
                self._look = Future()
                # A scrape that waits for it must not cancel it for the others.
                self._look.set_running_or_notify_cancel()
                self._begin(self._look)
            return self._look

    def _begin(self, look: Future[_Scrape]) -> None:
        loop = self._loop
        try:
            if loop is None:
                # A daemon thread: the end of the program does not wait for Redis.
                threading.Thread(target=self._run, args=(look,), name="redisson_dq-metrics", daemon=True).start()
            else:
                run = self._read(look)
                try:
                    asyncio.run_coroutine_threadsafe(run, loop)
                except RuntimeError:
                    run.close()
                    raise
        except RuntimeError as error:
            # No thread is available, or the loop is closed.
            logger.warning("metrics: Redis cannot be asked: %s", error)
            look.set_result(_NOTHING)

    def _run(self, look: Future[_Scrape]) -> None:
        # With a client for threads nothing is awaited, so the first step is the only one.
        with contextlib.suppress(StopIteration):
            self._read(look).send(None)

    async def _read(self, look: Future[_Scrape]) -> None:
        found = _NOTHING
        try:
            found = await self._asked()
        except Exception as error:
            traceback = None if isinstance(error, RedissonDQError) else error
            self._tell("Redis cannot be asked: %s", error, error=traceback)
        self._last, self._looked = found, time.monotonic()
        if found.is_up:
            self._has_told = False
        look.set_result(found)

    def _tell(self, text: str, *arguments: object, error: BaseException | None = None) -> None:
        """Logs the first failure of several that follow one another."""
        if not self._has_told:
            self._has_told = True
            logger.warning("metrics: " + text, *arguments, exc_info=error)

    async def _answer(self, call: Any) -> Any:
        """The result of a call of the client, or of the user's function."""
        return await call if self._loop is not None and inspect.isawaitable(call) else call

    async def _asked(self) -> _Scrape:
        named = await self._answer(self._queues()) if callable(self._queues) else self._queues
        wanted: dict[Any, None] = {}
        for each in [named] if isinstance(named, str) else named:
            name = exact_name(each) if isinstance(each, str) else each
            if name is None:
                wanted.update(dict.fromkeys(await self._matching(each)))
            else:
                wanted[name] = None
        asked = list(wanted)[: self._most]
        told: dict[str, QueueStats | RedissonDQError] = {}
        for start in range(0, len(asked), _AT_ONCE):
            told.update(await self._stats(*asked[start : start + _AT_ONCE]))
        found: dict[str, list[QueueStats]] = {}
        is_up = True
        for name, each in told.items():
            if isinstance(each, RedissonDQError):
                is_up = False
                self._tell("queue %r cannot be asked for its figures: %s", name, each)
            else:
                # Patterns also match partitions, which share one label.
                whole = whole_of(name, self._client.runtime.options.name_mapper)
                found.setdefault(name if whole is None else whole[0], []).append(each)
        together = {
            name: some[0] if some[0].name == name and len(some) == 1 else figures_together(name, some)
            for name, some in found.items()
        }
        parts = {name: [each.name for each in some] for name, some in found.items()}
        return _Scrape(is_up, together, len(wanted) - len(asked), parts)

    async def _stats(self, *queues: Any) -> dict[str, QueueStats | RedissonDQError]:
        found: dict[str, QueueStats | RedissonDQError]
        found = await self._answer(self._client.stats(*queues, return_exceptions=True))
        return found

    async def _matching(self, pattern: str) -> Sequence[str]:
        known, names = self._patterns.get(pattern, (float("-inf"), ()))
        if time.monotonic() - known >= _RESCAN:
            if "[" in pattern and _is_used((await self._stats(pattern))[pattern]):
                # A queue with exactly this name exists.
                names = [pattern]
            else:
                found = self._client.queue_names(pattern)
                names = sorted([name async for name in found] if isinstance(found, AsyncIterator) else found)
            self._patterns[pattern] = time.monotonic(), names
        return names


def _is_used(figures: QueueStats | RedissonDQError) -> bool:
    """Whether a queue has values, or clients that have it open."""
    if isinstance(figures, RedissonDQError):
        return False
    return bool(figures.subscribers or figures.expired or any(count for _, count in _states(figures)))


def _families(found: _Scrape) -> Iterable[Metric]:
    of_queue = found.queues.items()
    yield family("up", [((), float(found.is_up))])
    yield family("items", [((name, state), each) for name, stats in of_queue for state, each in _states(stats)])
    yield family(
        "overdue_oldest_seconds", [((name,), max(0.0, stats.late_by.total_seconds())) for name, stats in of_queue]
    )
    yield family("last_receipt_seconds", [((name,), _since_receipt(stats)) for name, stats in of_queue])
    yield family("expired", [((name,), stats.expired) for name, stats in of_queue])
    yield family("missed_occurrences", [((name,), stats.missed) for name, stats in of_queue])
    yield family("paused", [((name,), stats.is_paused) for name, stats in of_queue])
    known = [(name, stats.subscribers) for name, stats in of_queue if stats.subscribers is not None]
    yield family("subscribers", [((name,), subscribers) for name, subscribers in known])
    yield family("mover_known", [((name,), stats.mover is not None) for name, stats in of_queue])
    yield family("queues_left_out", [((), found.left_out)])


def _since_receipt(stats: QueueStats) -> float:
    last = stats.last_received
    return 0.0 if last is None or not stats.ready else max(0.0, (stats.server_time - last).total_seconds())


def _states(stats: QueueStats) -> Iterable[tuple[str, int]]:
    yield "ready", stats.ready
    yield "waiting", stats.waiting
    yield "parked", stats.parked
    yield "overdue", stats.overdue
    yield "in_flight", stats.in_flight
    yield "dead", stats.dead
    yield "undecodable", stats.undecodable
    yield "quarantined", stats.quarantined
    yield "recurring", stats.recurring
