"""Traces in a fleet with Redisson: its transfer keeps the context of an offer, and its own offers have none."""

from __future__ import annotations

from typing import Any

import pytest
import redis
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import redisson_dq.otel
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.interop.conftest import OpenJava
from tests.interop.java_args import long, unit
from tests.interop.sides import NO_PROBE
from tests.interop.test_leases_peer import ENVELOPES, versions


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


def instrumented(client: Any, exporter: InMemorySpanExporter) -> Any:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    redisson_dq.otel.instrument(getattr(client, "inner", client), tracer_provider=provider)
    return client


@versions
def test_a_trace_goes_through_a_transfer_of_java(
    redis7: EmbeddedServer,
    look: redis.Redis,
    flavour: Flavour,
    java: OpenJava,
    queue: str,
    version: str,
    exporter: InMemorySpanExporter,
) -> None:
    keys = QueueKeys.of(queue)
    mover = java(redis7.url, version=version)
    mover.call("open_delayed")
    eventually(lambda: look.pubsub_numsub(keys.channel)[0][1] == 1)
    with flavour.connect(redis7.url, envelope=ENVELOPES[version], probe_interval=NO_PROBE) as client:
        instrumented(client, exporter)
        ready = client.blocking_queue(queue, transfer=False)
        delayed = client.delayed_queue(queue, transfer=False)
        delayed.offer("a", 0.05, context={"tenant": "shop"})
        delivery = ready.receive(timeout=PATIENCE)
        assert delivery.context["tenant"] == "shop"
        assert delivery.ack()
    offered, received, acked = exporter.get_finished_spans()
    assert offered.context is not None
    assert [(link.context.trace_id, link.context.span_id) for link in received.links] == [
        (offered.context.trace_id, offered.context.span_id)
    ]
    assert acked.name == f"ack {queue}"


@versions
def test_java_sees_the_bytes_that_it_sees_without_traces(
    redis7: EmbeddedServer,
    look: redis.Redis,
    flavour: Flavour,
    java: OpenJava,
    queue: str,
    version: str,
    exporter: InMemorySpanExporter,
) -> None:
    consumer = java(redis7.url, version=version)
    with flavour.connect(redis7.url, envelope=ENVELOPES[version]) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        delayed.offer("a", 3600)
        instrumented(client, exporter)
        delayed.offer("a", 3600)
        members: list[Any] = look.zrange(delayed.keys.timeout, 0, -1)
        plain, traced = map(unwrap, members)
        assert plain[1:] == traced[1:]
        assert len({len(member) for member in look.lrange(delayed.keys.envelopes, 0, -1)}) == 1
        assert consumer.invoke("delayed", "readAll") == ["a", "a"]
        assert [delayed.run_now(item.id).value for item in delayed.items()] == ["rescheduled"] * 2
        consumer.call("open_delayed")
        eventually(lambda: consumer.invoke("queue", "readAll") == ["a", "a"])


@versions
def test_an_offer_of_java_begins_a_new_trace(
    redis7: EmbeddedServer,
    flavour: Flavour,
    java: OpenJava,
    queue: str,
    version: str,
    exporter: InMemorySpanExporter,
) -> None:
    producer = java(redis7.url, version=version)
    producer.call("open_delayed")
    with flavour.connect(redis7.url, envelope=ENVELOPES[version]) as client:
        instrumented(client, exporter)
        producer.invoke("delayed", "offer", "a", long(10), unit("MILLISECONDS"))
        assert client.blocking_queue(queue).receive(timeout=PATIENCE).ack()
    received, _ = exporter.get_finished_spans()
    assert (received.parent, received.links) == (None, ())
