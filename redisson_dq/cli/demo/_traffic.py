"""The demo's producer and consumer, through the library's public API: in two threads, or as two tasks.

What happens is reported, in any thread; times are ``time.perf_counter()`` seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from time import perf_counter
from typing import Any, Protocol

import attrs

from redisson_dq import aio, connect
from redisson_dq.cli.demo._plan import OfferPlan
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError

__all__ = ["TaskTraffic", "Report", "Aborted", "Offered", "ThreadTraffic", "Arrived", "Traffic"]

_PATIENCE = 10.0  # seconds for threads to end


@attrs.frozen(kw_only=True)
class Offered:
    """These values were offered by one call, between ``sent`` and ``done``."""

    values: tuple[str, ...]
    sent: float
    done: float


@attrs.frozen(kw_only=True)
class Arrived:
    """``take()`` returned this value at that time."""

    value: str
    at: float


@attrs.frozen(kw_only=True)
class Aborted:
    """The producer or the consumer ended with this error."""

    error: BaseException


Report = Offered | Arrived | Aborted
_Emit = Callable[[Report], None]


class Traffic(Protocol):
    """Offers and takes in the background from ``start`` to ``stop``."""

    def start(self) -> None:
        """Connect and begin. Raises what connecting raises."""

    def stop(self) -> None:
        """End everything and wait for it; harmless before ``start`` and a second time."""


class ThreadTraffic:
    """One thread offers, another takes."""

    def __init__(self, url: str, name: str, plan: OfferPlan, emit: _Emit) -> None:
        self._url, self._name, self._plan, self._emit = url, name, plan, emit
        self._stack = contextlib.ExitStack()

    def start(self) -> None:
        """Connect and begin. Raises what connecting raises."""
        client = connect(self._url, codec=StringCodec())
        queue = client.blocking_queue(self._name)
        delayed = client.delayed_queue(queue)
        threads = [
            threading.Thread(target=self._consume, args=(queue,), name="demo-consumer", daemon=True),
            threading.Thread(target=self._produce, args=(delayed,), name="demo-producer", daemon=True),
        ]
        for thread in threads:
            self._stack.callback(thread.join, _PATIENCE)
        self._stack.enter_context(client)  # closed first: that ends take()
        for thread in threads:
            thread.start()

    def stop(self) -> None:
        """Close the client, which ends both threads, and wait for them."""
        self._stack.close()

    def _produce(self, delayed: Any) -> None:
        with _reporting(self._emit):
            for value, delay in self._plan.items.items():
                sent = perf_counter()
                delayed.offer(value, delay=delay)
                self._emit(Offered(values=(value,), sent=sent, done=perf_counter()))
            if self._plan.bulk:
                sent = perf_counter()
                delayed.offer_all(list(self._plan.bulk.items()))
                self._emit(Offered(values=tuple(self._plan.bulk), sent=sent, done=perf_counter()))

    def _consume(self, queue: Any) -> None:
        with _reporting(self._emit):
            while True:
                value = queue.take()
                self._emit(Arrived(value=value, at=perf_counter()))


class TaskTraffic:
    """An event loop in a thread of its own; one task offers, another takes."""

    def __init__(self, url: str, name: str, plan: OfferPlan, emit: _Emit) -> None:
        self._url, self._name, self._plan, self._emit = url, name, plan, emit
        self._thread = threading.Thread(target=self._run, name="demo-asyncio", daemon=True)
        self._stop: Callable[[], object] | None = None
        self._opened: Future[None] = Future()

    def start(self) -> None:
        """Connect and begin. Raises what connecting raises."""
        self._thread.start()
        self._opened.result()

    def stop(self) -> None:
        """Cancel both tasks, close the client and wait for it."""
        if self._stop is not None:
            self._stop()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:
            if self._opened.done():
                self._emit(Aborted(error=error))
            else:
                self._opened.set_exception(error)

    async def _main(self) -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()

        def stop() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                loop.call_soon_threadsafe(stopped.set)

        self._stop = stop
        async with aio.connect(self._url, codec=StringCodec()) as client:
            queue = client.blocking_queue(self._name)
            delayed = client.delayed_queue(queue)
            async with _cancelled_at_end(
                asyncio.create_task(self._consume(queue)), asyncio.create_task(self._produce(delayed))
            ):
                self._opened.set_result(None)
                await stopped.wait()

    async def _produce(self, delayed: Any) -> None:
        with _reporting(self._emit):
            for value, delay in self._plan.items.items():
                sent = perf_counter()
                await delayed.offer(value, delay=delay)
                self._emit(Offered(values=(value,), sent=sent, done=perf_counter()))
            if self._plan.bulk:
                sent = perf_counter()
                await delayed.offer_all(list(self._plan.bulk.items()))
                self._emit(Offered(values=tuple(self._plan.bulk), sent=sent, done=perf_counter()))

    async def _consume(self, queue: Any) -> None:
        with _reporting(self._emit):
            while True:
                value = await queue.take()
                self._emit(Arrived(value=value, at=perf_counter()))


@contextlib.contextmanager
def _reporting(emit: _Emit) -> Iterator[None]:
    try:
        yield
    except ClosedError:
        pass  # that is how stop() ends a wait
    except Exception as error:
        emit(Aborted(error=error))


@contextlib.asynccontextmanager
async def _cancelled_at_end(*tasks: asyncio.Task[None]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
