"""Spans and metrics of clients and workers, as the SDK of OpenTelemetry exports them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry import baggage, trace
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

import redisson_dq
import redisson_dq.otel
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError, RedisConnectionError, WrongTypeError
from redisson_dq.otel import names
from redisson_dq.worker import DeadLettered, Lost, Retry, Succeeded, fixed
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.workers.handlers import Gate, Ledger, Log, at_rest, running

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Telemetry:
    """The spans and the metrics that were made."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.tracer_provider = TracerProvider()
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.meter_provider = MeterProvider([self._reader])
        self.tracer = self.tracer_provider.get_tracer("test")

    @property
    def providers(self) -> dict[str, Any]:
        return {"tracer_provider": self.tracer_provider, "meter_provider": self.meter_provider}

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    def until(self, name: str, count: int = 1) -> list[ReadableSpan]:
        found: list[ReadableSpan] = eventually(lambda: found if len(found := self.named(name)) >= count else None)
        return found

    def points(self, name: str) -> list[Any]:
        data = self._reader.get_metrics_data()
        return [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]

    def counted(self, name: str) -> dict[str, int]:
        """By name of the operation."""
        return {point.attributes[names.OPERATION_NAME]: point.value for point in self.points(name)}

    def timed(self, name: str) -> dict[str, int]:
        return {point.attributes[names.OPERATION_NAME]: point.count for point in self.points(name)}


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


@pytest.fixture
def client(flavour: Flavour, url: str, telemetry: Telemetry) -> Iterator[Any]:
    with flavour.connect(url, codec=StringCodec()) as made:
        instrument(made, **telemetry.providers)
        yield made


def instrument(bridged: Any, **options: Any) -> redisson_dq.otel.Instrumentation:
    return redisson_dq.otel.instrument(getattr(bridged, "inner", bridged), **options)


def with_acks(bridged: Any, telemetry: Telemetry) -> None:
    """Makes spans of a worker's acks too, of a client that was instrumented without them."""
    instrument(bridged).remove()
    instrument(bridged, **telemetry.providers, acks=True)


#: A trace and a span.
Ids = tuple[int, int]


def ids(context: trace.SpanContext | None) -> Ids:
    assert context is not None
    return context.trace_id, context.span_id


def sent_by(span: ReadableSpan) -> Ids:
    return ids(span.context)


def parent(span: ReadableSpan) -> Ids | None:
    return None if span.parent is None else ids(span.parent)


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def linked(span: ReadableSpan) -> list[Ids]:
    return [ids(link.context) for link in span.links]


# -- single operations -----------------------------------------------------------------------------------------------


def test_an_offer_is_a_span_whose_context_reaches_the_receiver(
    client: Any, url: str, queue: Any, delayed: Any, telemetry: Telemetry
) -> None:
    item = delayed.offer("a", delay=0.01, id="42")
    (offered,) = telemetry.spans
    assert (offered.name, offered.kind) == ("offer orders", SpanKind.PRODUCER)
    port = int(url.rpartition(":")[2].partition("/")[0])
    assert attributes(offered) == {
        "messaging.system": "redisson",
        "messaging.operation.name": "offer",
        "messaging.operation.type": "send",
        "messaging.destination.name": "orders",
        "messaging.message.id": item.id,
        "server.address": attributes(offered)["server.address"],
        "server.port": port,
    }
    delivery = queue.receive(timeout=PATIENCE)
    (received,) = telemetry.named("receive orders")
    assert received.kind is SpanKind.CLIENT
    assert linked(received) == [sent_by(offered)]
    assert sent_by(received)[0] != sent_by(offered)[0]
    assert attributes(received)["messaging.message.id"] == "42"
    assert attributes(received)["redisson_dq.delivery.id"] == delivery.id
    delivery.ack()
    (acked,) = telemetry.named("ack orders")
    assert (acked.kind, attributes(acked)["messaging.operation.type"]) == (SpanKind.CLIENT, "settle")
    assert attributes(acked)["redisson_dq.outcome"] == "acked"
    assert linked(acked) == [sent_by(offered)]
    assert all(span.status.status_code is StatusCode.UNSET for span in telemetry.spans)


def test_calls_of_one_message_and_of_many(client: Any, queue: Any, delayed: Any, telemetry: Telemetry) -> None:
    queue.add("a")
    assert queue.take() == "a"
    queue.add_all(["b", "c", "d"])
    assert queue.poll() == "b"
    assert queue.poll(5, timeout=1) == ["c", "d"]
    assert queue.poll() is None
    assert queue.poll(limit=3) == []
    assert delayed.offer_all([("e", 0.01), ("f", 0.01)]) == 2
    assert delayed.offer_all([]) == 0
    batch: list[Any] = []
    while len(batch) < 2:
        batch += queue.receive(5, timeout=PATIENCE)
    assert all(queue.nack_all(batch, delay=60))
    told = [(span.name, attributes(span).get("messaging.batch.message_count")) for span in telemetry.spans]
    receives = told[6:-1]
    assert told[:6] == [
        ("add orders", None),
        ("take orders", None),
        ("add_all orders", 3),
        ("poll orders", None),
        ("poll orders", 2),
        ("offer_all orders", 2),
    ]
    assert sum(count or 0 for name, count in receives if name == "receive orders") == 2
    assert told[-1] == ("nack_all orders", 2)
    (offered,) = telemetry.named("offer_all orders")
    for span in telemetry.named("receive orders"):
        assert set(linked(span)) == {sent_by(offered)}
    # A ready value has no room for a context.
    assert {span.kind for span in telemetry.spans if span.name.startswith("add")} == {SpanKind.CLIENT}
    assert telemetry.counted(names.SENT) == {"add": 1, "add_all": 3, "offer_all": 2}
    assert telemetry.counted(names.CONSUMED) == {"take": 1, "poll": 3, "receive": 2}
    timed = telemetry.timed(names.OPERATION_DURATION)
    assert timed == {
        "add": 1,
        "add_all": 1,
        "take": 1,
        "poll": 2,
        "offer_all": 1,
        "receive": len(receives),
        "nack_all": 1,
    }


def test_all_other_calls_that_add_or_take(client: Any, telemetry: Telemetry) -> None:
    deque = client.blocking_deque("orders")
    deque.add_first("b", "a")
    deque.offer_last("c")
    deque.push("0")
    assert [deque.take_first(), deque.poll_last(), deque.remove_head()] == ["0", "c", "a"]
    assert deque.move("archive") == "b"
    assert client.blocking_queue("other").poll_from_any("archive", timeout=1) == "b"
    bounded = client.bounded_blocking_queue("bounded")
    bounded.try_set_capacity(1)
    assert bounded.offer("a", timeout=1)
    bounded_again = bounded.drain_to()
    assert bounded_again == ["a"]
    delayed = client.delayed_queue("later")
    delayed.offer_recurring("report", "daily", every=3600)
    delayed.offer("x", delay=0)
    assert eventually(lambda: delayed.poll() or client.blocking_queue("later").poll())
    told = [span.name for span in telemetry.spans if not span.name.startswith("poll later")]
    assert told == [
        "add_first orders",
        "offer_last orders",
        "push orders",
        "take orders",
        "poll orders",
        "poll orders",
        "move orders",
        "poll archive",
        "offer bounded",
        "drain_to bounded",
        "offer_recurring later",
        "offer later",
    ]


def test_a_listener_is_a_consumer(client: Any, queue: Any, telemetry: Telemetry) -> None:
    seen: list[Any] = []

    def consume(value: str) -> None:
        seen.append((value, ids(trace.get_current_span().get_span_context())))

    listener = queue.subscribe_on_elements(consume)
    queue.add("a")
    (span,) = telemetry.until("process orders")
    queue.unsubscribe(listener)
    assert (span.kind, seen) == (SpanKind.CONSUMER, [("a", sent_by(span))])
    assert telemetry.counted(names.CONSUMED) == {"process": 1}


def test_what_fails_has_an_error(client: Any, admin: Any, queue: Any, delayed: Any, telemetry: Telemetry) -> None:
    admin.hset("orders", "a", "b")
    with pytest.raises(WrongTypeError):
        queue.add("a")
    with pytest.raises(WrongTypeError):
        queue.poll()
    for span in telemetry.spans:
        assert (span.name, attributes(span)["error.type"]) in [
            ("add orders", "WrongTypeError"),
            ("poll orders", "WrongTypeError"),
        ]
        assert span.status.status_code is StatusCode.ERROR
        assert span.events[0].name == "exception"
    assert len(telemetry.spans) == 2
    assert {point.attributes["error.type"] for point in telemetry.points(names.OPERATION_DURATION)} == {
        "WrongTypeError"
    }
    assert telemetry.points(names.CONSUMED) == []


def test_a_move_and_a_lease_of_what_is_due_that_fail_have_an_error(
    client: Any, admin: Any, delayed: Any, telemetry: Telemetry
) -> None:
    for key in ("orders", "redisson_delay_queue_timeout:{orders}"):
        admin.set(key, "no list")
    deque = client.blocking_deque("orders")
    calls: list[Callable[[], Any]] = [
        lambda: deque.move("archive"),
        lambda: deque.move("archive", timeout=PATIENCE),
        lambda: delayed.take_due(visibility_timeout=30),
    ]
    for call in calls:
        with pytest.raises(WrongTypeError):
            call()
    assert [(span.name, attributes(span)["error.type"]) for span in telemetry.spans] == [
        ("move orders", "WrongTypeError"),
        ("move orders", "WrongTypeError"),
        ("take_due orders", "WrongTypeError"),
    ]


def test_a_receive_without_a_server_has_an_error(flavour: Flavour, telemetry: Telemetry) -> None:
    client = flavour.client("redis://localhost:1/0")
    instrument(client, **telemetry.providers)
    queue = client.blocking_queue("orders", transfer=False)
    with pytest.raises(RedisConnectionError):
        queue.receive(timeout=0.01)
    with pytest.raises(RedisConnectionError):
        queue.poll(timeout=0.01)
    client.close()
    assert [(span.name, attributes(span)["error.type"]) for span in telemetry.spans] == [
        ("receive orders", "RedisConnectionError"),
        ("poll orders", "RedisConnectionError"),
    ]


def test_a_late_ack_tells_its_outcome(client: Any, queue: Any, telemetry: Telemetry) -> None:
    queue.add("a")
    delivery = queue.receive()
    queue.nack_all([delivery])
    assert not delivery.ack()
    (span,) = telemetry.named("ack orders")
    assert attributes(span)["redisson_dq.outcome"] == "lost"


# -- contexts --------------------------------------------------------------------------------------------------------


def test_an_offer_belongs_to_the_span_that_is_current(url: str, telemetry: Telemetry) -> None:
    async def offer() -> None:
        async with redisson_dq.aio.connect(url, codec=StringCodec()) as client:
            instrument(client, **telemetry.providers)
            with telemetry.tracer.start_as_current_span("asyncio"):
                await client.delayed_queue("orders").offer("a", delay=60)

    asyncio.run(offer())
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        instrument(client, **telemetry.providers)
        with telemetry.tracer.start_as_current_span("threads"):
            client.delayed_queue("orders").offer("b", delay=60)
    first, asyncio_span, second, threads_span = telemetry.spans
    assert parent(first) == sent_by(asyncio_span)
    assert parent(second) == sent_by(threads_span)


def test_the_users_own_context_stays(client: Any, queue: Any, delayed: Any, telemetry: Telemetry) -> None:
    delayed.offer("a", delay=0, context={"tenant": "shop"})
    delivery = queue.receive(timeout=PATIENCE)
    (offered,) = telemetry.named("offer orders")
    assert offered.context is not None
    trace_id, span_id = sent_by(offered)
    flags = offered.context.trace_flags
    assert delivery.context == {"tenant": "shop", "traceparent": f"00-{trace_id:032x}-{span_id:016x}-{flags:02x}"}


def test_the_users_own_trace_wins(client: Any, queue: Any, delayed: Any, telemetry: Telemetry) -> None:
    delayed.offer("a", delay=0, context={"traceparent": TRACEPARENT})
    delivery = queue.receive(timeout=PATIENCE)
    assert delivery.context == {"traceparent": TRACEPARENT}
    (offered,) = telemetry.named("offer orders")
    assert offered.kind is SpanKind.CLIENT
    (received,) = telemetry.named("receive orders")
    assert [f"{span_id:016x}" for _, span_id in linked(received)] == ["00f067aa0ba902b7"]


def test_a_context_that_leaves_no_room_goes_alone(client: Any, queue: Any, delayed: Any, telemetry: Telemetry) -> None:
    full = {"text": "x" * (16_384 - len('{"text": ""}'))}
    delayed.offer("a", delay=0, context=full)
    assert queue.receive(timeout=PATIENCE).context == full
    (offered,) = telemetry.named("offer orders")
    assert offered.status.status_code is StatusCode.UNSET


@pytest.mark.parametrize("context", [{"a": 1}, ["a"], "text"])
def test_an_unusable_context_is_refused_as_ever(delayed: Any, context: Any, telemetry: Telemetry) -> None:
    with pytest.raises(ArgumentError, match="context= must be a mapping"):
        delayed.offer("a", delay=0, context=context)
    assert [attributes(span)["error.type"] for span in telemetry.spans] == ["ArgumentError"]


def test_offers_of_another_program_begin_a_new_trace(
    flavour: Flavour, url: str, client: Any, worker: Any, telemetry: Telemetry
) -> None:
    worker.handler("orders")(Ledger().handle)
    with flavour.connect(url, codec=StringCodec()) as other:
        other.delayed_queue("orders").offer("a", delay=0.01)
        with running(worker):
            (processed,) = telemetry.until("process orders")
    assert (parent(processed), linked(processed)) == (None, [])


def test_without_an_sdk_nothing_is_added(flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        instrument(client)
        queue = client.blocking_queue("orders")
        client.delayed_queue(queue).offer("a", delay=0)
        assert queue.receive(timeout=PATIENCE).context == {}


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("envelope", ["current", "legacy"])
def test_each_form_of_an_entry_carries_it(
    flavour: Flavour, url: str, telemetry: Telemetry, envelope: str, lean: bool
) -> None:
    if lean and envelope == "legacy":
        # There is no such entry.
        envelope = "current"
    with flavour.connect(url, codec=StringCodec(), envelope=envelope) as client:
        instrument(client, **telemetry.providers)
        queue = client.blocking_queue("orders")
        client.delayed_queue(queue, lean=lean).offer("a", delay=0.01)
        queue.receive(timeout=PATIENCE).ack()
    (offered,) = telemetry.named("offer orders")
    (received,) = telemetry.named("receive orders")
    assert linked(received) == [sent_by(offered)]


# -- workers ---------------------------------------------------------------------------------------------------------


def test_a_handler_runs_in_a_span_that_is_linked_to_the_offer(
    client: Any, worker: Any, admin: Any, delayed: Any, telemetry: Telemetry
) -> None:
    with_acks(client, telemetry)
    seen: list[Any] = []

    @worker.handler("orders")
    def handle(value: str, event: Any) -> None:
        seen.append(ids(trace.get_current_span().get_span_context()))
        telemetry.tracer.start_span("inside").end()

    delayed.offer("a", delay=0.01)
    with running(worker):
        (processed,) = telemetry.until("process orders")
        at_rest(admin)
    (offered,) = telemetry.named("offer orders")
    assert (processed.kind, parent(processed), linked(processed)) == (SpanKind.CONSUMER, None, [sent_by(offered)])
    assert sent_by(processed)[0] != sent_by(offered)[0]
    assert seen == [sent_by(processed)]
    told = attributes(processed)
    assert (told["messaging.operation.type"], told["redisson_dq.delivery.attempt"]) == ("process", 1)
    assert told["redisson_dq.handler"].endswith("handle")
    (inside,) = telemetry.named("inside")
    (acked,) = telemetry.until("ack orders")
    assert parent(inside) == parent(acked) == sent_by(processed)
    assert telemetry.counted(names.CONSUMED) == {"process": 1}
    (point,) = telemetry.points(names.PROCESS_DURATION)
    assert (point.count, tuple(point.explicit_bounds)) == (1, names.BUCKETS)


def test_coroutine_functions_and_threads_of_the_loop(
    flavour: Flavour, worker: Any, admin: Any, delayed: Any, telemetry: Telemetry
) -> None:
    if flavour.name == "sync":
        worker.handler("orders")(lambda value: telemetry.tracer.start_span(f"inside {value}").end())
    else:

        async def handle(value: str) -> None:
            await asyncio.sleep(0)
            telemetry.tracer.start_span(f"inside {value}").end()
            await asyncio.sleep(0)

        worker.handler("orders", concurrency=4)(handle)
    delayed.offer_all([(value, 0.01) for value in "abcdefgh"])
    with running(worker):
        telemetry.until("process orders", 8)
        at_rest(admin)
    processed = {sent_by(span) for span in telemetry.named("process orders")}
    inside = [span for span in telemetry.spans if span.name.startswith("inside")]
    assert {parent(span) for span in inside} == processed
    assert len(inside) == len(processed) == 8


def test_as_a_child_where_that_is_asked_for(flavour: Flavour, url: str, telemetry: Telemetry) -> None:
    propagator = CompositePropagator([TraceContextTextMapPropagator(), W3CBaggagePropagator()])
    with flavour.connect(url, codec=StringCodec()) as client:
        instrument(client, **telemetry.providers, parent=True, propagator=propagator)
        worker = flavour.worker(client)
        seen: list[Any] = []
        worker.handler("orders")(lambda value: seen.append(baggage.get_baggage("tenant")))
        client.delayed_queue("orders").offer("a", delay=0, context={"baggage": "tenant=shop"})
        with running(worker):
            (processed,) = telemetry.until("process orders")
    (offered,) = telemetry.named("offer orders")
    assert (parent(processed), linked(processed)) == (sent_by(offered), [])
    assert seen == ["shop"]


def test_a_batch_is_one_span_with_a_link_to_each_offer(
    worker: Any, admin: Any, delayed: Any, telemetry: Telemetry
) -> None:
    done = Ledger()

    @worker.batch_handler("orders", 3, within=PATIENCE)
    def handle(values: list[str]) -> None:
        telemetry.tracer.start_span("inside").end()
        done.note(values)

    for value in "abc":
        delayed.offer(value, delay=0.01)
    with running(worker):
        done.next()
        at_rest(admin)
    (processed,) = telemetry.until("process orders")
    offers = telemetry.named("offer orders")
    assert attributes(processed)["messaging.batch.message_count"] == 3
    assert sorted(linked(processed)) == sorted(sent_by(span) for span in offers)
    (inside,) = telemetry.named("inside")
    assert parent(inside) == sent_by(processed)
    assert telemetry.counted(names.CONSUMED) == {"process": 3}


def test_a_batch_that_fails_in_part_has_an_error(worker: Any, admin: Any, queue: Any, telemetry: Telemetry) -> None:
    log = Log(worker)

    @worker.batch_handler("orders", 2, within=PATIENCE, retry=None)
    def handle(values: list[str]) -> list[Any]:
        return [None, ValueError("no")]

    queue.add_all(["a", "b"])
    with running(worker):
        log.until(DeadLettered)
        log.until(Succeeded)
    (processed,) = telemetry.until("process orders")
    assert attributes(processed)["error.type"] == "ValueError"
    assert processed.status.status_code is StatusCode.ERROR


def test_each_attempt_is_a_span_of_its_own_linked_to_the_offer(worker: Any, delayed: Any, telemetry: Telemetry) -> None:
    log = Log(worker)

    @worker.handler("orders", retry=Retry(limit=3, backoff=fixed(0.01)))
    def handle(value: str) -> None:
        raise ZeroDivisionError("again")

    delayed.offer("a", delay=0.01)
    with running(worker):
        log.until(DeadLettered)
        attempts = telemetry.until("process orders", 3)
        (rejected,) = telemetry.until("reject orders")
    (offered,) = telemetry.named("offer orders")
    assert [linked(span) for span in attempts] == [[sent_by(offered)]] * 3
    assert [attributes(span)["redisson_dq.delivery.attempt"] for span in attempts] == [1, 2, 3]
    assert len({sent_by(span)[0] for span in attempts}) == 3
    assert {attributes(span)["error.type"] for span in attempts} == {"ZeroDivisionError"}
    assert parent(rejected) == sent_by(attempts[-1])
    assert attributes(rejected)["redisson_dq.outcome"] == "dead"
    (point,) = telemetry.points(names.PROCESS_DURATION)
    assert (point.count, point.attributes["error.type"]) == (3, "ZeroDivisionError")


def test_an_ack_of_a_worker_has_no_span_unless_it_comes_too_late(
    worker: Any, admin: Any, queue: Any, telemetry: Telemetry
) -> None:
    log = Log(worker)

    @worker.handler("orders")
    def handle(value: str) -> None:
        if value == "b":
            # Somebody ends the lease, and takes the value away.
            admin.flushdb()

    queue.add_all(["a", "b"])
    with running(worker):
        log.until(Lost)
    (late,) = telemetry.named("ack orders")
    assert attributes(late)["redisson_dq.outcome"] == "lost"
    assert parent(late) == sent_by(telemetry.named("process orders")[-1])
    assert telemetry.timed(names.OPERATION_DURATION)["ack"] == 2


def test_a_worker_makes_one_span_for_each_value_and_on_demand_one_for_each_call_that_acks(
    client: Any, worker: Any, admin: Any, queue: Any, telemetry: Telemetry
) -> None:
    with_acks(client, telemetry)
    worker.handler("orders", concurrency=8)(lambda value: None)
    queue.add_all([str(number) for number in range(200)])
    with running(worker):
        telemetry.until("process orders", 200)
        at_rest(admin)
    handlings = [sent_by(span) for span in telemetry.named("process orders")]
    acks = telemetry.named("ack orders")
    acked = [each for span in acks for each in ([parent(span)] if span.parent else linked(span))]
    assert sorted(filter(None, acked)) == sorted(handlings)
    assert {len(linked(span)) for span in acks if span.parent is None} == {
        attributes(span)["messaging.batch.message_count"] for span in acks if span.parent is None
    }
    assert telemetry.counted(names.CONSUMED) == telemetry.timed(names.PROCESS_DURATION) == {"process": 200}
    assert telemetry.timed(names.OPERATION_DURATION)["ack"] == len(acks)


def test_a_dead_letter_that_is_redriven_is_linked_still(
    worker: Any, queue: Any, delayed: Any, telemetry: Telemetry
) -> None:
    log = Log(worker)
    fails = [True]

    @worker.handler("orders", retry=None)
    def handle(value: str) -> None:
        if fails.pop():
            raise ZeroDivisionError

    delayed.offer("a", delay=0.01)
    with running(worker):
        log.until(DeadLettered)
        fails[:] = [False]
        assert queue.redrive().count == 1
        log.until(Succeeded)
    (offered,) = telemetry.named("offer orders")
    assert [linked(span) for span in telemetry.until("process orders", 2)] == [[sent_by(offered)]] * 2


def test_a_handler_whose_time_is_over_has_an_error(worker: Any, queue: Any, telemetry: Telemetry) -> None:
    log = Log(worker)
    gate = Gate()
    worker.handler("orders", timeout=0.05, retry=None)(lambda value: gate.wait())
    queue.add("a")
    with running(worker):
        log.until(DeadLettered)
        gate.open()
        (processed,) = telemetry.until("process orders")
    assert attributes(processed)["error.type"] == "TimeoutError"


class Speechless(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize("error", [ValueError("a" * 1_000_000 + "the end"), Speechless()])
def test_a_span_holds_no_more_of_an_error_than_exporters_take(
    error: Exception, worker: Any, queue: Any, telemetry: Telemetry
) -> None:
    log = Log(worker)

    @worker.handler("orders", retry=None)
    def handle(value: str) -> None:
        raise error

    queue.add("a")
    with running(worker):
        log.until(DeadLettered)
        (processed,) = telemetry.until("process orders")
    assert attributes(processed)["error.type"] == type(error).__name__
    texts = [
        processed.status.description,
        *(text for event in processed.events for text in (event.attributes or {}).values()),
    ]
    assert all(len(str(text)) < 20_000 for text in texts)
    assert str(texts[0]).endswith("the end" if isinstance(error, ValueError) else "(ValueError)")


def test_partitions_count_as_their_queue(client: Any, flavour: Flavour, telemetry: Telemetry) -> None:
    worker = flavour.worker(client)
    worker.queue("orders", partitions=4)
    ledger = Ledger()
    worker.handler("orders")(ledger.handle)
    delayed = client.delayed_queue("orders", partitions=4)
    delayed.offer("a", delay=0.01, key="one")
    delayed.offer_all([("b", 0.01), ("c", 0.01), ("d", 0.01)])
    with running(worker):
        ledger.some(4)
        telemetry.until("process orders", 4)
    (offered,), (together,) = telemetry.named("offer orders"), telemetry.named("offer_all orders")
    place = attributes(offered)["messaging.destination.partition.id"]
    assert place in "0123"
    assert "messaging.destination.partition.id" not in attributes(together)
    assert attributes(together)["messaging.batch.message_count"] == 3
    processed = {attributes(span)["redisson_dq.delivery.id"]: span for span in telemetry.named("process orders")}
    of_value = {event.value: processed[event.id] for event in ledger.events}
    assert attributes(of_value["a"])["messaging.destination.partition.id"] == place
    assert linked(of_value["b"]) == [sent_by(together)]
    points = telemetry.points(names.PROCESS_DURATION)
    assert {point.attributes["messaging.destination.name"] for point in points} == {"orders"}


# -- instrumenting ---------------------------------------------------------------------------------------------------


def test_handles_of_before_and_after_and_twice_is_once(flavour: Flavour, url: str, telemetry: Telemetry) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        before = client.blocking_queue("before")
        tracing = instrument(client, **telemetry.providers)
        assert instrument(client, **telemetry.providers) is tracing
        before.add("a")
        client.blocking_queue("after").add("a")
        tracing.remove()
        tracing.remove()
        before.add("b")
    assert [span.name for span in telemetry.spans] == ["add before", "add after"]


def test_a_worker_with_a_client_of_its_own(flavour: Flavour, url: str, telemetry: Telemetry) -> None:
    """At each start it has another client."""
    worker = flavour.worker_of(url, codec=StringCodec())
    tracing = instrument(worker, **telemetry.providers)
    assert instrument(worker, **telemetry.providers) is tracing
    log = Log(worker)
    worker.handler("work")(lambda value: None)
    with flavour.connect(url, codec=StringCodec()) as other:
        work = other.blocking_queue("work")
        for count in (1, 2):
            work.add("a")
            with running(worker):
                log.until(Succeeded, count)
            assert len(telemetry.until("process work", count)) == count
        with running(worker):
            tracing.remove()
            work.add("a")
            log.until(Succeeded, 3)
        work.add("a")
        with running(worker):
            log.until(Succeeded, 4)
    assert len(telemetry.named("process work")) == 2


def test_a_worker_over_a_client(flavour: Flavour, url: str, telemetry: Telemetry) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        worker = flavour.worker(client)
        tracing = instrument(worker, **telemetry.providers)
        worker.handler("orders")(lambda value: None)
        client.blocking_queue("orders").add("a")
        with running(worker):
            telemetry.until("process orders")
        assert telemetry.spans[0].name == "add orders"
        tracing.remove()
        client.blocking_queue("orders").add("a")
    assert len(telemetry.named("add orders")) == 1


def test_only_clients_and_workers() -> None:
    thing: Any = "redis://localhost"
    with pytest.raises(ArgumentError, match=r"instrument\(\) takes a client or a worker"):
        instrument(thing)


class Failing:
    """An exporter that has a bug."""

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        raise ZeroDivisionError("at the start")

    def on_end(self, span: Any) -> None:
        raise ZeroDivisionError("at the end")

    def _on_ending(self, span: Any) -> None:
        """The SDK's own processors have it."""

    def shutdown(self) -> None:
        """The provider calls it when the program ends."""


class FailingAtTheEnd(Failing):
    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """No bug here."""


@pytest.mark.parametrize("processor", [Failing, FailingAtTheEnd])
def test_an_exporter_that_raises_never_reaches_the_queue(
    flavour: Flavour, url: str, processor: Any, caplog: pytest.LogCaptureFixture
) -> None:
    provider = TracerProvider()
    provider.add_span_processor(processor())
    with caplog.at_level(logging.ERROR, "redisson_dq"), flavour.connect(url, codec=StringCodec()) as client:
        instrument(client, tracer_provider=provider)
        queue = client.blocking_queue("orders")
        client.delayed_queue(queue).offer("a", delay=0)
        with queue.receive(timeout=PATIENCE) as delivery:
            assert delivery.value == "a"
        queue.add("b")
        assert queue.take() == "b"
        worker = flavour.worker(client)
        ledger = Ledger()
        worker.handler("orders")(ledger.handle)
        queue.add("c")
        with running(worker):
            assert ledger.next() == "c"
            assert not trace.get_current_span().is_recording()
    assert len([record for record in caplog.records if "interceptor" in record.message]) == 1


def test_a_delay_is_two_traces(client: Any, worker: Any, delayed: Any, telemetry: Telemetry) -> None:
    began = time.time_ns()
    worker.handler("orders")(lambda value: None)
    delayed.offer("a", delay=0.2)
    with running(worker):
        (processed,) = telemetry.until("process orders")
    (offered,) = telemetry.named("offer orders")
    assert offered.start_time is not None
    assert offered.end_time is not None
    assert processed.start_time is not None
    assert began < offered.start_time < offered.end_time < processed.start_time
    assert sent_by(processed)[0] != sent_by(offered)[0]
