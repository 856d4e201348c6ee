"""The names of spans' attributes and of metrics are those of the semantic conventions that are installed."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.semconv._incubating.attributes import messaging_attributes as messaging
from opentelemetry.semconv._incubating.metrics import messaging_metrics
from opentelemetry.semconv.attributes import error_attributes, server_attributes

from redisson_dq.observing.operations import Operation, OperationKind
from redisson_dq.otel import names
from redisson_dq.otel.carrying import Carrier
from redisson_dq.otel.destinations import Destinations
from redisson_dq.otel.interceptor import Spans
from redisson_dq.scheduling.clock import SYSTEM


def test_attributes_are_those_of_the_conventions() -> None:
    ours = {name: getattr(names, name) for name in names.__all__}
    assert {name: ours.pop(name) for name in ("ATTEMPT", "DELIVERY_ID", "HANDLER", "OUTCOME")} == {
        "ATTEMPT": "redisson_dq.delivery.attempt",
        "DELIVERY_ID": "redisson_dq.delivery.id",
        "HANDLER": "redisson_dq.handler",
        "OUTCOME": "redisson_dq.outcome",
    }
    # The conventions leave the name of other systems to them.
    assert ours.pop("SYSTEM_NAME") not in {system.value for system in messaging.MessagingSystemValues}
    assert ours.pop("BUCKETS") == (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
    assert ours == {
        "SYSTEM": messaging.MESSAGING_SYSTEM,
        "OPERATION_NAME": messaging.MESSAGING_OPERATION_NAME,
        "OPERATION_TYPE": messaging.MESSAGING_OPERATION_TYPE,
        "DESTINATION": messaging.MESSAGING_DESTINATION_NAME,
        "PARTITION": messaging.MESSAGING_DESTINATION_PARTITION_ID,
        "MESSAGE_ID": messaging.MESSAGING_MESSAGE_ID,
        "BATCH_COUNT": messaging.MESSAGING_BATCH_MESSAGE_COUNT,
        "ERROR_TYPE": error_attributes.ERROR_TYPE,
        "SERVER_ADDRESS": server_attributes.SERVER_ADDRESS,
        "SERVER_PORT": server_attributes.SERVER_PORT,
        "OPERATION_DURATION": messaging_metrics.MESSAGING_CLIENT_OPERATION_DURATION,
        "SENT": messaging_metrics.MESSAGING_CLIENT_SENT_MESSAGES,
        "CONSUMED": messaging_metrics.MESSAGING_CLIENT_CONSUMED_MESSAGES,
        "PROCESS_DURATION": messaging_metrics.MESSAGING_PROCESS_DURATION,
    }


def test_types_of_operations_are_those_of_the_conventions() -> None:
    assert {kind.value for kind in OperationKind} <= {kind.value for kind in messaging.MessagingOperationTypeValues}


class Recorder:
    """A meter that notes the instruments that it is asked for."""

    def __init__(self) -> None:
        self.made: dict[str, tuple[str, str, str]] = {}

    def create_counter(self, name: str, unit: str, description: str) -> None:
        self.made[name] = ("counter", unit, description)

    def create_histogram(self, name: str, unit: str, description: str, **_: Any) -> None:
        self.made[name] = ("histogram", unit, description)


def test_metrics_are_those_of_the_conventions() -> None:
    ours: Any = Recorder()
    tracer: Any = None
    Spans(tracer, ours, Carrier(None), Destinations(None, None), SYSTEM, parent=False, acks=False)
    theirs: Any = Recorder()
    for create in (
        messaging_metrics.create_messaging_client_operation_duration,
        messaging_metrics.create_messaging_client_sent_messages,
        messaging_metrics.create_messaging_client_consumed_messages,
        messaging_metrics.create_messaging_process_duration,
    ):
        create(theirs)
    assert ours.made == theirs.made


def test_a_meter_takes_the_buckets() -> None:
    meter = MeterProvider().get_meter("test")
    tracer: Any = None
    Spans(tracer, meter, Carrier(None), Destinations(None, None), SYSTEM, parent=False, acks=False)


@pytest.mark.parametrize(
    ("name", "found"),
    [("orders", "orders"), ("orders:3-135", "orders"), ("orders:3-136", "orders:3-136"), ("a:b:0-1", "a:b:0-1")],
)
def test_a_partition_counts_as_its_queue(name: str, found: str) -> None:
    destination = Destinations(("redis.internal", 6379), None).of(
        Operation(kind=OperationKind.SEND, name="offer", queue=name)
    )
    assert (destination.name, destination.of_metric[names.DESTINATION]) == (found, found)
    assert names.PARTITION not in destination.of_metric
    assert destination.of_span.get(names.PARTITION) == ("3" if found != name else None)
    assert (destination.of_span[names.SERVER_ADDRESS], destination.of_span[names.SERVER_PORT]) == (
        "redis.internal",
        6379,
    )
