"""Instruments clients and workers."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, Union
from weakref import WeakKeyDictionary

from opentelemetry import metrics, trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.propagators.textmap import TextMapPropagator
from opentelemetry.trace import TracerProvider

from redisson_dq._async.client import Client as AsyncioClient
from redisson_dq._async.worker.worker import Worker as AsyncioWorker
from redisson_dq._common.texts import shown
from redisson_dq._sync.client import Client
from redisson_dq._sync.worker.worker import Worker
from redisson_dq._version import __version__
from redisson_dq.errors import ArgumentError
from redisson_dq.otel.carrying import Carrier
from redisson_dq.otel.destinations import Destinations
from redisson_dq.otel.interceptor import Spans

__all__ = ["Instrumentation", "instrument"]

#: A client or a worker, for threads or for asyncio.
_Instrumented = Union[Client, AsyncioClient, Worker, AsyncioWorker]

_SCOPE = "redisson_dq"

# The instrumentation of each client and each worker.
_known: WeakKeyDictionary[Any, Instrumentation] = WeakKeyDictionary()


class Instrumentation:
    """Creates spans and metrics until it is removed. Made by :func:`instrument`. Also a context manager."""

    def __init__(self, target: _Instrumented, make: Callable[[Any], Spans]) -> None:
        self._target = weakref.ref(target)
        self._make = make
        self._made: weakref.WeakSet[Spans] = weakref.WeakSet()
        if isinstance(target, (Worker, AsyncioWorker)):
            target._clients.each(self._watch)
        else:
            self._watch(target)

    def remove(self) -> None:
        """Stops creating spans and metrics. Spans that have begun end normally. May be called twice."""
        target = self._target()
        if target is None:
            return
        _known.pop(target, None)
        clients: Sequence[Client | AsyncioClient]
        clients = target._clients.no_more(self._watch) if isinstance(target, (Worker, AsyncioWorker)) else [target]
        for client in clients:
            operations = client.runtime.operations
            operations[:] = [each for each in operations if each not in self._made]

    def __enter__(self) -> Instrumentation:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()

    def _watch(self, client: Client | AsyncioClient) -> None:
        operations = client.runtime.operations
        if not any(isinstance(each, Spans) for each in operations):
            spans = self._make(client)
            self._made.add(spans)
            operations.append(spans)


def instrument(
    client_or_worker: _Instrumented,
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    propagator: TextMapPropagator | None = None,
    parent: bool = False,
    acks: bool = False,
) -> Instrumentation:
    """Creates spans and metrics for all operations on messages by a client, its handles and its workers, from now on.

    - ``client_or_worker``: a client, or a worker, which stands for its clients
    - ``tracer_provider``, ``meter_provider``, ``propagator``: default to the program's global ones
    - ``parent``: makes the span of a handler a child of the span that sent its message, instead of linking to it
    - ``acks``: also creates spans for a worker's acks. Otherwise only an ack that fails or comes too late has a span

    >>> import redisson_dq.otel
    >>> tracing = redisson_dq.otel.instrument(client)
    >>> tracing.remove()

    A second call changes nothing, and returns the result of the first. Errors of a tracer or an exporter never reach
    the caller. Raises ArgumentError. No round trip; an offer takes three more writes, as it carries the trace's
    context.
    """
    if not isinstance(client_or_worker, (Client, AsyncioClient, Worker, AsyncioWorker)):
        raise ArgumentError(f"instrument() takes a client or a worker of this library, not {shown(client_or_worker)}")

    def make(client: Client | AsyncioClient) -> Spans:
        runtime = client.runtime
        return Spans(
            trace.get_tracer(_SCOPE, __version__, tracer_provider),
            metrics.get_meter(_SCOPE, __version__, meter_provider),
            Carrier(propagator),
            Destinations(runtime.connections.address, runtime.options.name_mapper),
            runtime.clock,
            parent=parent,
            acks=acks,
        )

    known = _known.get(client_or_worker)
    if known is None:
        known = _known[client_or_worker] = Instrumentation(client_or_worker, make)
    return known
