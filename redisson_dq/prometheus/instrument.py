"""Metrics of this process: watches clients and workers, and exposes their figures in a registry."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Mapping
from datetime import timedelta
from types import TracebackType
from typing import Any, Protocol, runtime_checkable

from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.metrics_core import Metric

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.items import Problem, Stall
from redisson_dq.observing import Role
from redisson_dq.prometheus import families
from redisson_dq.prometheus.counting import Counts, OfOneQueue

__all__ = ["Instrument", "instrument"]


class _Watchable(Protocol):
    """A client, for threads or for asyncio."""

    runtime: Any

    def observe(self, observer: Counts, /) -> object: ...

    def stop_observing(self, observer: Counts, /) -> None: ...

    @property
    def roles(self) -> Mapping[str, Role]: ...


@runtime_checkable
class _Employer(Protocol):
    """A worker, for threads or for asyncio."""

    _clients: Any

    @property
    def queues(self) -> list[str]: ...

    @property
    def is_running(self) -> bool: ...

    @property
    def handling_for(self) -> dict[str, timedelta]: ...

    @property
    def problems(self) -> tuple[Problem, ...]: ...


class Instrument:
    """Counts the work of a client or a worker until :meth:`remove` or the end of a block. From :func:`instrument`."""

    def __init__(self, target: _Watchable | _Employer, registry: CollectorRegistry) -> None:
        self.target, self._page = target, _shown_of(registry)
        self._counts = Counts()
        #: A worker creates a client at each start, and drops it at its stop.
        self._clients: weakref.WeakSet[Any] = weakref.WeakSet()
        if isinstance(target, _Employer):
            target._clients.each(self._watch)
        else:
            self._watch(target)
        self._page.add(self)

    def _watch(self, client: _Watchable) -> None:
        self._counts.name_mapper = client.runtime.options.name_mapper
        client.observe(self._counts)
        self._clients.add(client)

    def remove(self) -> None:
        """Stops counting. The metrics are removed from the registry, unless another client is counted in it.

        In that case the counts so far stay on its page, as counters never fall. May be called twice.
        """
        if isinstance(self.target, _Employer):
            self.target._clients.no_more(self._watch)
        for client in list(self._clients):
            client.stop_observing(self._counts)
        self._clients.clear()
        self._page.discard(self)

    def add_to(self, page: dict[str, OfOneQueue]) -> None:
        """Adds the figures to those of other clients."""
        clients = list(self._clients)
        roles = {name: role for client in clients for name, role in client.roles.items()}
        self._counts.add_to(page, roles)
        if isinstance(self.target, _Employer):
            self._add_progress(page, self.target)

    def _add_progress(self, page: dict[str, OfOneQueue], worker: _Employer) -> None:
        """Adds the progress of a worker's handlers."""
        for name in worker.queues if worker.is_running else ():
            found = page.setdefault(name, OfOneQueue())
            found.stalled = found.handling_oldest = 0.0
        for name, age in worker.handling_for.items():
            page.setdefault(name, OfOneQueue()).handling_oldest = age.total_seconds()
        for stall in worker.problems:
            if isinstance(stall, Stall):
                found = page.setdefault(stall.name, OfOneQueue())
                found.stalled = max(found.stalled or 0.0, stall.since.total_seconds())

    def __enter__(self) -> Instrument:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def instrument(target: _Watchable | _Employer, *, registry: CollectorRegistry = REGISTRY) -> Instrument:
    """Counts the work of a client or a worker from now on, as metrics in ``registry`` of prometheus_client.

    ``target`` is a :class:`Client` or a :class:`Worker`, for threads or for asyncio. A worker that creates its own
    client is counted from each start on. Several clients of one registry are summed. Example::

        instrument(worker)
        prometheus_client.start_http_server(9100)

    The returned handle stops the counting: by ``remove()``, or as a context manager. A queue has at most 60 time
    series. The first 100 queues and the first three handlers of each have labels of their own, and all others count as
    ``other``. No command is sent to Redis. A second call for the same target and registry returns the same handle.
    Raises ArgumentError.
    """
    if not any(hasattr(target, name) for name in ("handling_for", "stop_observing")):
        raise ArgumentError(f"instrument() takes a client or a worker of this library, not {shown(target)}")
    return _shown_of(registry).of(target) or Instrument(target, registry)


class _Shown:
    """Everything that one registry shows. A registry accepts each name once, so its clients share one page."""

    def __init__(self, registry: CollectorRegistry) -> None:
        # The registry refers to the page, so the page must not refer to the registry.
        self._registry = weakref.ref(registry)
        self._mutex = threading.Lock()
        self._watched: list[Instrument] = []
        self._over: list[Instrument] = []

    def add(self, one: Instrument) -> None:
        with self._mutex:
            is_first = not self._watched
            self._watched.append(one)
        if is_first and (registry := self._registry()) is not None:
            registry.register(self)

    def of(self, target: object) -> Instrument | None:
        """The handle of a client or worker that is counted here already."""
        with self._mutex:
            return next((each for each in self._watched if each.target is target), None)

    def discard(self, one: Instrument) -> None:
        with self._mutex:
            if one not in self._watched:
                return
            self._watched.remove(one)
            self._over.append(one)
            is_last = not self._watched
            if is_last:
                self._over.clear()
        if is_last and (registry := self._registry()) is not None:
            registry.unregister(self)

    def describe(self) -> Iterable[Metric]:
        """The families without samples. A registration asks for no figures."""
        return families.of_process({})

    def collect(self) -> Iterable[Metric]:
        """The families, as the registry asks for them."""
        page: dict[str, OfOneQueue] = {}
        with self._mutex:
            watched, over = list(self._watched), list(self._over)
        for each in (*over, *watched):
            each.add_to(page)
        return families.of_process(page)


_pages: weakref.WeakKeyDictionary[CollectorRegistry, _Shown] = weakref.WeakKeyDictionary()
_pages_mutex = threading.Lock()


def _shown_of(registry: CollectorRegistry) -> _Shown:
    with _pages_mutex:
        found = _pages.get(registry)
        if found is None:
            found = _pages[registry] = _Shown(registry)
        return found
