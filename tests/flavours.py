"""Runs one test against both flavours: the asyncio objects, called as if they were the synchronous ones."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any

import attrs
import redis
import redis.asyncio
import redis.asyncio.sentinel
import redis.sentinel

import redisson_dq
import redisson_dq.aio.worker
import redisson_dq.worker
from redisson_dq._redis.tuning import Tuning, tuned
from redisson_dq.wire.blocking import Pop, RoundRobin, Waitable

__all__ = ["AsyncioFlavour", "Bridged", "Flavour"]

_LAST_STEPS = 10.0
_TUNING = {field.name for field in attrs.fields(Tuning)}


def _tuned(make: Callable[..., Any]) -> Callable[..., Any]:
    """Accepts the settings of :class:`Tuning` in addition to a client's options, such as ``probe_interval=0.2``."""

    @functools.wraps(make)
    def made(*args: Any, **options: Any) -> Any:
        inner = {name: options.pop(name) for name in _TUNING & options.keys()}
        with tuned(**inner):
            return make(*args, **options)

    return made


class Flavour:
    """The synchronous flavour, unchanged."""

    name = "sync"

    def __init__(self) -> None:
        self._own: list[Any] = []
        self._receivers_of: dict[str, Any] = {}

    @_tuned
    def connect(self, url: str | None, **options: Any) -> Any:
        return redisson_dq.connect(url, **options)

    @_tuned
    def client(self, url: str, *, redis_options: dict[str, Any] | None = None, **options: Any) -> Any:
        """A Client over a redis-py client that the test configures."""
        return redisson_dq.Client(self._owned(redis.Redis.from_url(url, **(redis_options or {}))), **options)

    @_tuned
    def cluster(self, url: str, **options: Any) -> Any:
        return redisson_dq.Client(self._owned(redis.RedisCluster.from_url(url)), **options)

    @_tuned
    def sentinel(self, port: int, service: str, **options: Any) -> Any:
        sentinel = redis.sentinel.Sentinel([("127.0.0.1", port)])
        self._own += sentinel.sentinels
        return redisson_dq.Client(self._owned(sentinel.master_for(service)), **options)

    def worker(self, client: Any, **options: Any) -> Any:
        """A worker over a client."""
        return redisson_dq.worker.Worker(client, **options)

    @_tuned
    def worker_of(self, url: str, **options: Any) -> Any:
        """A worker with a client of its own."""
        return redisson_dq.worker.Worker.connect(url, **options)

    def receiver(self, client: Any, source: Waitable) -> Any:
        """A client's receiver of a source."""
        return client.runtime.receivers.of(source)

    def round_robin_receiver(self, client: Any, sources: list[Pop]) -> Any:
        """A client's receiver of several sources. Closed with ``end_of`` it."""
        made = self.receiver(client, RoundRobin(tuple(sources)))
        self._receivers_of[made.line.name] = client
        return made

    def end_of(self, receiver: Any) -> None:
        name = receiver.line.name
        self._receivers_of[name].runtime.receivers.end(name)

    def close(self) -> None:
        """Closes the redis-py clients. A Client does not close them, because it did not make them."""
        for own in self._own:
            own.close()

    def _owned(self, client: Any) -> Any:
        self._own.append(client)
        return client


class AsyncioFlavour(Flavour):
    """The asyncio flavour: every call runs in a loop of its own thread and is waited for."""

    name = "asyncio"

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="test-loop", daemon=True)
        self._thread.start()

    @_tuned
    def connect(self, url: str | None, **options: Any) -> Any:
        return self.run(_opened(redisson_dq.aio.connect, url, **options))

    @_tuned
    def client(self, url: str, *, redis_options: dict[str, Any] | None = None, **options: Any) -> Any:
        own = self._owned(redis.asyncio.Redis.from_url(url, **(redis_options or {})))
        return self.run(_called(redisson_dq.aio.Client, own, **options))

    @_tuned
    def cluster(self, url: str, **options: Any) -> Any:
        async def make() -> Any:
            return redisson_dq.aio.Client(self._owned(redis.asyncio.RedisCluster.from_url(url)), **options)

        return self.run(make())

    @_tuned
    def sentinel(self, port: int, service: str, **options: Any) -> Any:
        async def make() -> Any:
            sentinel = redis.asyncio.sentinel.Sentinel([("127.0.0.1", port)])
            self._own += sentinel.sentinels
            return redisson_dq.aio.Client(self._owned(sentinel.master_for(service)), **options)

        return self.run(make())

    def worker(self, client: Any, **options: Any) -> Any:
        return self.run(_called(redisson_dq.aio.worker.Worker, client.inner, **options))

    @_tuned
    def worker_of(self, url: str, **options: Any) -> Any:
        return self.run(_called(redisson_dq.aio.worker.Worker.connect, url, **options))

    def receiver(self, client: Any, source: Waitable) -> Any:
        return self.run(_called(client.inner.runtime.receivers.of, source))

    def end_of(self, receiver: Any) -> None:
        name = receiver.line.name
        self.run(self._receivers_of[name].inner.runtime.receivers.end(name))

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.bridge(asyncio.run_coroutine_threadsafe(coroutine, self.loop).result())

    def submit(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> asyncio.Future[Any]:
        """Starts a call as a task of the loop, and returns a concurrent future that can be cancelled."""
        return asyncio.run_coroutine_threadsafe(_called(call, *args, **kwargs), self.loop)  # type: ignore[return-value]

    def close(self) -> None:
        async def end() -> set[asyncio.Task[Any]]:
            for own in self._own:
                await own.aclose()
            await self.loop.shutdown_default_executor()
            others = {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}
            # A call that continues after its caller was cancelled may not have ended yet.
            return (await asyncio.wait(others, timeout=_LAST_STEPS))[1] if others else others

        left = asyncio.run_coroutine_threadsafe(end(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
        assert not left, f"tasks left behind: {left}"

    def bridge(self, result: Any) -> Any:
        if type(result) is list:
            return [self.bridge(element) for element in result]
        if inspect.isasyncgen(result):
            return self.iterate(result)
        return Bridged(result, self) if type(result).__module__.startswith("redisson_dq._async") else result

    def iterate(self, steps: AsyncGenerator[Any, Any]) -> Iterator[Any]:
        """The values of ``async for``, one step of the loop at a time."""
        try:
            while True:
                yield self.run(_called(anext, steps))
        except StopAsyncIteration:
            return
        finally:
            self.run(_called(steps.aclose))


class Bridged:
    """An asyncio object whose methods are called from outside its loop."""

    def __init__(self, inner: Any, flavour: AsyncioFlavour) -> None:
        self.inner = inner
        self._flavour = flavour

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if not callable(attribute):
            return attribute

        def call(*args: Any, **kwargs: Any) -> Any:
            plain = [_unbridged(arg) for arg in args]
            named = {name: _unbridged(arg) for name, arg in kwargs.items()}
            return self._flavour.run(_called(attribute, *plain, **named))

        return call

    def __repr__(self) -> str:
        return repr(self.inner)

    def __len__(self) -> int:
        return len(self.inner) if hasattr(self.inner, "__len__") else int(self.size())

    def __iter__(self) -> Iterator[Any]:
        return self._flavour.iterate(aiter(self.inner))

    def __reversed__(self) -> Iterator[Any]:
        return iter(self.descending())

    def __contains__(self, value: object) -> bool:
        return bool(self.contains(value))

    def __getitem__(self, index: int) -> Any:
        value = self.get(index)
        if value is None:
            raise IndexError(index)
        return value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bridged) and bool(self.inner == other.inner)

    def __hash__(self) -> int:
        return hash(self.inner)

    def __bool__(self) -> bool:
        return bool(self.inner)

    def __enter__(self) -> Bridged:
        self._flavour.run(self.inner.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flavour.run(self.inner.__aexit__(kind, error, trace))


def _unbridged(arg: Any) -> Any:
    if type(arg) is list:
        return [_unbridged(each) for each in arg]
    return arg.inner if isinstance(arg, Bridged) else arg


async def _called(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    result = call(*args, **kwargs)
    return await result if inspect.isawaitable(result) else result


async def _opened(connect: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return await connect(*args, **kwargs).open()
