"""Creates a span for each operation on messages, and records its metrics."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from typing import Any

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.metrics import Meter
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanKind, StatusCode, Tracer

from redisson_dq._common.texts import described
from redisson_dq.observing.operations import Ended, Operation, OperationKind
from redisson_dq.otel import names
from redisson_dq.otel.carrying import Carrier, sender
from redisson_dq.otel.destinations import Destination, Destinations
from redisson_dq.scheduling.clock import Clock

__all__ = ["Spans"]

# The SDK's default limit of links in a span.
_MOST_LINKS = 128
# No span is current.
_ROOT = Context()
# The call that ends most leases.
_ACK = "ack"
# How many characters of an error's text and of its traceback are kept.
_LONGEST_TEXT = 16_384


class Spans:
    """The interceptor of one client."""

    def __init__(
        self,
        tracer: Tracer,
        meter: Meter,
        carrier: Carrier,
        destinations: Destinations,
        clock: Clock,
        *,
        parent: bool,
        acks: bool,
    ) -> None:
        self._tracer = tracer
        self._carrier = carrier
        self._destinations = destinations
        self._clock = clock
        self._parent = parent
        self._acks = acks
        self._begin = {
            OperationKind.SEND: self._send,
            OperationKind.RECEIVE: self._receive,
            OperationKind.PROCESS: self._process,
            OperationKind.SETTLE: self._settle,
        }
        durations: dict[str, Any] = {"unit": "s", "explicit_bucket_boundaries_advisory": names.BUCKETS}
        counts = {"unit": "{message}"}
        self._operation_duration = meter.create_histogram(
            names.OPERATION_DURATION,
            description="Duration of messaging operation initiated by a producer or consumer client.",
            **durations,
        )
        self._process_duration = meter.create_histogram(
            names.PROCESS_DURATION, description="Duration of processing operation.", **durations
        )
        self._sent = meter.create_counter(
            names.SENT, description="Number of messages producer attempted to send to the broker.", **counts
        )
        self._consumed = meter.create_counter(
            names.CONSUMED, description="Number of messages that were delivered to the application.", **counts
        )

    def __call__(self, operation: Operation) -> Ended:
        return self._begin[operation.kind](operation)

    # -- the four kinds ----------------------------------------------------------------------------------------------

    def _send(self, operation: Operation) -> Ended:
        if operation.count == 0:
            return _nothing
        began = self._clock.monotonic()
        destination = self._destinations.of(operation)
        carries = operation.carries and not self._carrier.is_taken(operation.context)
        span = self._started(operation, destination, SpanKind.PRODUCER if carries else SpanKind.CLIENT, None, ())
        if carries:
            operation.context = self._carrier.with_trace(operation.context, trace.set_span_in_context(span))

        def ended(error: BaseException | None) -> None:
            if error is None and operation.id is not None:
                span.set_attribute(names.MESSAGE_ID, operation.id)
            told = self._end(span, destination, error)
            self._sent.add(operation.count or 1, told)
            self._operation_duration.record(self._clock.monotonic() - began, told)

        return ended

    def _receive(self, operation: Operation) -> Ended:
        # The span is created once it is known which values were received.
        began, began_ns = self._clock.monotonic(), time.time_ns()
        caller = contexts.get_current()

        def ended(error: BaseException | None) -> None:
            links = self._carrier.links(operation.leases[:_MOST_LINKS])
            # The leases say which partition the values are from.
            destination = self._destinations.of(operation)
            span = self._started(operation, destination, SpanKind.CLIENT, caller, links, began_ns)
            told = self._end(span, destination, error)
            if error is None:
                self._consumed.add(1 if operation.count is None else operation.count, told)
            self._operation_duration.record(self._clock.monotonic() - began, told)

        return ended

    def _process(self, operation: Operation) -> Ended:
        began = self._clock.monotonic()
        # A handling does not belong to the trace that was current when its worker was started.
        around, parent, links = _ROOT, _ROOT, []
        if operation.count is not None:
            links = self._carrier.links(operation.leases[:_MOST_LINKS])
        elif operation.leases and (carried := self._carrier.context_of(operation.leases[0])) is not None:
            around, sent = carried, sender(carried)
            if self._parent:
                parent = carried
            elif sent is not None:
                links = [Link(sent)]
        destination = self._destinations.of(operation)
        span = self._started(operation, destination, SpanKind.CONSUMER, parent, links)
        for lease in operation.leases:
            lease.handling = span.get_span_context()
        token = contexts.attach(trace.set_span_in_context(span, around))

        def ended(error: BaseException | None) -> None:
            contexts.detach(token)
            told = self._end(span, destination, error)
            self._consumed.add(1 if operation.count is None else operation.count, destination.of_metric)
            self._process_duration.record(self._clock.monotonic() - began, told)

        return ended

    def _settle(self, operation: Operation) -> Ended:
        if operation.count == 0:
            return _nothing
        began, began_ns = self._clock.monotonic(), time.time_ns()
        caller = contexts.get_current()
        # A worker acks each value that it has handled. The span of the handling already reports this.
        is_expected = operation.of_worker and operation.name == _ACK and not self._acks

        def ended(error: BaseException | None) -> None:
            destination = self._destinations.of(operation)
            if is_expected and error is None and not operation.finds_lost:
                told = destination.of_metric
            else:
                parent, links = self._causes(operation, caller)
                span = self._started(operation, destination, SpanKind.CLIENT, parent, links, began_ns)
                if operation.outcome is not None:
                    span.set_attribute(names.OUTCOME, operation.outcome)
                told = self._end(span, destination, error)
            self._operation_duration.record(self._clock.monotonic() - began, told)

        return ended

    def _causes(self, operation: Operation, caller: Context) -> tuple[Context, list[Link]]:
        """The parent and the links of a settlement."""
        leases = operation.leases[:_MOST_LINKS]
        if not operation.of_worker:
            return caller, self._carrier.links(leases)
        handlings = [lease.handling for lease in leases if lease.handling is not None and lease.handling.is_valid]
        if len(operation.leases) > 1:
            # The settlements of a batch share one span.
            return _ROOT, [Link(each) for each in {each.span_id: each for each in handlings}.values()]
        if handlings:
            return trace.set_span_in_context(NonRecordingSpan(handlings[0]), _ROOT), []
        return _ROOT, []

    # -- their common parts ------------------------------------------------------------------------------------------

    def _started(
        self,
        operation: Operation,
        destination: Destination,
        kind: SpanKind,
        parent: Context | None,
        links: list[Link] | tuple[Link, ...],
        began_ns: int | None = None,
    ) -> Span:
        attributes = dict(destination.of_span)
        if operation.count is not None:
            attributes[names.BATCH_COUNT] = operation.count
        elif operation.leases:
            lease = operation.leases[0]
            attributes[names.DELIVERY_ID] = lease.id.hex()
            attributes[names.ATTEMPT] = lease.attempt
            if lease.offer_id is not None:
                attributes[names.MESSAGE_ID] = lease.offer_id
        if operation.handler:
            attributes[names.HANDLER] = operation.handler
        return self._tracer.start_span(destination.span_name, parent, kind, attributes, links, began_ns)

    def _end(self, span: Span, destination: Destination, error: BaseException | None) -> Mapping[str, Any]:
        """Ends the span. Returns the attributes of the metrics."""
        told = destination.of_metric
        if error is not None:
            kind = type(error).__qualname__
            told = {**told, names.ERROR_TYPE: kind}
            span.set_attribute(names.ERROR_TYPE, kind)
            self._record(span, error)
        span.end()
        return told

    def _record(self, span: Span, error: BaseException) -> None:
        # The text of an error may be as large as the value that it is about, and exporters refuse large spans.
        try:
            message = _shortened(str(error))
            stack = _shortened("".join(traceback.format_exception(type(error), error, error.__traceback__)))
            span.record_exception(error, {"exception.message": message, "exception.stacktrace": stack})
        except Exception:
            # The ``__str__`` of one of the program's classes may raise.
            message = described(error)
        span.set_status(StatusCode.ERROR, message)


def _shortened(text: str) -> str:
    """The beginning and the end of a long text. The end of a traceback names the error."""
    half = _LONGEST_TEXT // 2
    return text if len(text) <= _LONGEST_TEXT else f"{text[:half]} ... {text[-half:]}"


def _nothing(error: BaseException | None) -> None:
    """The end of an operation on no message."""
