"""The demo's producer and consumer, through the public API: in two threads, or as two tasks of an event loop.

Both report each step, in their own thread. Times are ``time.perf_counter()`` seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import attrs

from redisson_dq import aio, connect
from redisson_dq.cli.demo._board import OfferPlan
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError

__all__ = ["Aborted", "Arrived", "Offered", "Report", "TaskTraffic", "ThreadTraffic"]

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


class ThreadTraffic:
    """One thread offers, another takes, from ``start`` to ``stop``."""

    def __init__(self, url: str, name: str, plan: OfferPlan, emit: _Emit) -> None:
        self._url, self._name, self._plan, self._emit = url, name, plan, emit
        self._stack = contextlib.ExitStack()

    def start(self) -> None:
        """Connects and begins. Raises the errors of connecting."""
        client = connect(self._url, codec=StringCodec())
        queue = client.blocking_queue(self._name)
        works = (partial(self._consume, queue), partial(self._produce, client.delayed_queue(queue)))
        threads = [threading.Thread(target=work, name="demo", daemon=True) for work in works]
        for thread in threads:
            self._stack.callback(thread.join, _PATIENCE)
        # It is closed first, which ends take().
        self._stack.enter_context(client)
        for thread in threads:
            thread.start()

    def stop(self) -> None:
        """Closes the client, which ends both threads, and waits for them. May be called before and twice."""
        self._stack.close()

    def _produce(self, delayed: Any) -> None:
        with _reporting(self._emit):
            for values, offer in _offers(self._plan, delayed):
                sent = perf_counter()
                offer()
                self._emit(Offered(values=values, sent=sent, done=perf_counter()))

    def _consume(self, queue: Any) -> None:
        with _reporting(self._emit):
            while True:
                value = queue.take()
                self._emit(Arrived(value=value, at=perf_counter()))


class TaskTraffic:
    """An event loop in a thread of its own, where one task offers and another takes, from ``start`` to ``stop``."""

    def __init__(self, url: str, name: str, plan: OfferPlan, emit: _Emit) -> None:
        self._url, self._name, self._plan, self._emit = url, name, plan, emit
        self._thread = threading.Thread(target=self._run, name="demo", daemon=True)
        self._begun = threading.Event()
        self._cancel: Callable[[], object] = bool

    def start(self) -> None:
        """Begins. An error of connecting is reported."""
        self._thread.start()
        self._begun.wait()

    def stop(self) -> None:
        """Cancels both tasks, and waits until the client is closed. May be called before and twice."""
        with contextlib.suppress(RuntimeError):  # the loop has ended by itself
            self._cancel()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)

    def _run(self) -> None:
        with _reporting(self._emit), contextlib.suppress(asyncio.CancelledError):
            asyncio.run(self._main())

    async def _main(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        self._begun.set()
        async with aio.connect(self._url, codec=StringCodec()) as client:
            queue = client.blocking_queue(self._name)
            await asyncio.gather(self._consume(queue), self._produce(client.delayed_queue(queue)))

    async def _produce(self, delayed: Any) -> None:
        for values, offer in _offers(self._plan, delayed):
            sent = perf_counter()
            await offer()
            self._emit(Offered(values=values, sent=sent, done=perf_counter()))

    async def _consume(self, queue: Any) -> None:
        while True:
            value = await queue.take()
            self._emit(Arrived(value=value, at=perf_counter()))


def _offers(plan: OfferPlan, delayed: Any) -> Iterator[tuple[tuple[str, ...], Callable[[], Any]]]:
    """The calls of the producer, each with the values that it offers."""
    for value, delay in plan.items.items():
        yield (value,), partial(delayed.offer, value, delay=delay)
    if plan.bulk:
        yield tuple(plan.bulk), partial(delayed.offer_all, list(plan.bulk.items()))


@contextlib.contextmanager
def _reporting(emit: _Emit) -> Iterator[None]:
    try:
        yield
    except ClosedError:
        pass  # that is how stop() ends a wait
    except Exception as error:
        emit(Aborted(error=error))
