"""The figures of a process: which of them a happening changes, and that there is an end to the time series."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from redisson_dq.errors import ArgumentError, DecodeError
from redisson_dq.items import SettleOutcome
from redisson_dq.observing import (
    Expired,
    LeaseBegan,
    Moved,
    Observers,
    Role,
    Sent,
    Settled,
    Subscribed,
    Undecodable,
    ValuesTaken,
)
from redisson_dq.prometheus import instrument
from redisson_dq.prometheus.counting import MOST_HANDLERS, MOST_QUEUES, OTHER, Counts
from redisson_dq.prometheus.metrics import OF_PROCESS
from redisson_dq.wire.partitions import partition_names
from redisson_dq.working.happenings import Received, Succeeded


class Watched:
    """The part of a client that is watched."""

    def __init__(self) -> None:
        self.runtime = SimpleNamespace(options=SimpleNamespace(name_mapper=None))
        self.observers = Observers()
        self.roles: dict[str, Role] = {}

    def observe(self, observer: Counts) -> None:
        self.observers.add(observer)

    def stop_observing(self, observer: Counts) -> None:
        self.observers.discard(observer)

    @property
    def counts(self) -> Any:
        (found,) = self.observers.tallies
        return found


def samples(registry: CollectorRegistry) -> dict[str, float]:
    """The page's samples, by their text."""
    lines = generate_latest(registry).decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def everything(client: Watched, queue: str, handlers: int = 1) -> None:
    """Lets all happen that has a figure."""
    counts = client.counts
    of_queue: dict[str, Any] = {"queue": queue}
    counts.offered(queue, 2)
    counts.transferred(queue, 0.002, True)
    counts.leased(queue, 3, 1, [0, 5, 90_000_000])
    for outcome in SettleOutcome:
        if outcome is not SettleOutcome.EXTENDED:
            counts.settled(queue, outcome)
    for i in range(handlers):
        counts.handled(queue, f"handler_{i}", 0.02, False)
        counts.handled(queue, f"handler_{i}", 3.0, True)
    for happening in (
        ValuesTaken(count=4, **of_queue),
        Undecodable(count=1, error=DecodeError("?", codec="c", data=b""), **of_queue),
        Expired(count=1, kept_in="k", **of_queue),
        Moved(count=7, late_by=timedelta(milliseconds=20), **of_queue),
        Moved(count=1, late_by=None, **of_queue),
        Subscribed(channel="c", **of_queue),
        Subscribed(channel="c", **of_queue),
    ):
        client.observers.tell(happening)
    client.roles[queue] = Role.MOVER


def test_each_happening_has_its_figure() -> None:
    client, registry = Watched(), CollectorRegistry()
    instrument(client, registry=registry)
    everything(client, "orders")
    page = samples(registry)
    assert {name: value for name, value in page.items() if "_bucket" not in name} == {
        'redisson_dq_offers_total{queue="orders"}': 2,
        'redisson_dq_deliveries_total{queue="orders"}': 7,
        'redisson_dq_redeliveries_total{queue="orders"}': 1,
        'redisson_dq_settlements_total{outcome="acked",queue="orders"}': 1,
        'redisson_dq_settlements_total{outcome="returned",queue="orders"}': 1,
        'redisson_dq_settlements_total{outcome="delayed",queue="orders"}': 1,
        'redisson_dq_settlements_total{outcome="dead",queue="orders"}': 1,
        'redisson_dq_settlements_total{outcome="cancelled",queue="orders"}': 1,
        'redisson_dq_settlements_total{outcome="lost",queue="orders"}': 1,
        'redisson_dq_lateness_seconds_count{queue="orders"}': 3,
        'redisson_dq_lateness_seconds_sum{queue="orders"}': 90_000.005,
        'redisson_dq_handling_seconds_count{queue="orders"}': 2,
        'redisson_dq_handling_seconds_sum{queue="orders"}': 3.02,
        'redisson_dq_handled_total{handler="handler_0",outcome="succeeded",queue="orders"}': 1,
        'redisson_dq_handled_total{handler="handler_0",outcome="failed",queue="orders"}': 1,
        'redisson_dq_handler_seconds_total{handler="handler_0",queue="orders"}': 3.02,
        'redisson_dq_moved_total{queue="orders"}': 8,
        'redisson_dq_transfer_seconds_count{queue="orders"}': 1,
        'redisson_dq_transfer_seconds_sum{queue="orders"}': 0.002,
        'redisson_dq_transfer_lateness_seconds_count{queue="orders"}': 1,
        'redisson_dq_transfer_lateness_seconds_sum{queue="orders"}': 0.02,
        'redisson_dq_early_arrivals_total{queue="orders"}': 1,
        'redisson_dq_resubscriptions_total{queue="orders"}': 1,
        'redisson_dq_mover{queue="orders"}': 1,
        'redisson_dq_undecodable_total{queue="orders"}': 1,
        'redisson_dq_expired_here_total{queue="orders"}': 1,
    }
    buckets = [
        page[f'redisson_dq_lateness_seconds_bucket{{le="{le}",queue="orders"}}'] for le in (0.001, 0.01, 86400.0)
    ]
    assert buckets == [1, 2, 2]
    assert page['redisson_dq_lateness_seconds_bucket{le="+Inf",queue="orders"}'] == 3


def test_a_queue_has_at_most_60_time_series() -> None:
    client, registry = Watched(), CollectorRegistry()
    instrument(client, registry=registry)
    everything(client, "orders", handlers=30)
    page = samples(registry)
    assert len(page) <= 60
    assert page[f'redisson_dq_handled_total{{handler="{OTHER}",outcome="failed",queue="orders"}}'] == 30 - MOST_HANDLERS


def test_queues_have_an_end_too() -> None:
    client, registry = Watched(), CollectorRegistry()
    instrument(client, registry=registry)
    for i in range(MOST_QUEUES + 50):
        client.counts.offered(f"of user {i}", 1)
    offers = {name: value for name, value in samples(registry).items() if "offers" in name}
    assert len(offers) == MOST_QUEUES + 1
    assert offers[f'redisson_dq_offers_total{{queue="{OTHER}"}}'] == 50


def test_partitions_are_summed() -> None:
    client, registry = Watched(), CollectorRegistry()
    instrument(client, registry=registry)
    for i, name in enumerate(partition_names("orders", 4)):
        client.counts.settled(name, SettleOutcome.ACKED)
        client.roles[name] = Role.RESERVE if i else Role.ALONE
    client.counts.settled("orders:1-1", SettleOutcome.ACKED)
    page = samples(registry)
    assert page['redisson_dq_settlements_total{outcome="acked",queue="orders"}'] == 4
    assert page['redisson_dq_settlements_total{outcome="acked",queue="orders:1-1"}'] == 1
    assert page['redisson_dq_mover{queue="orders"}'] == 1


def test_clients_of_one_registry_are_summed_and_leave_one_by_one() -> None:
    first, second, registry = Watched(), Watched(), CollectorRegistry()
    handle = instrument(first, registry=registry)
    with instrument(second, registry=registry):
        for client, role in ((first, Role.RESERVE), (second, Role.MOVER)):
            client.counts.offered("orders", 1)
            client.roles["orders"] = role
        assert samples(registry)['redisson_dq_mover{queue="orders"}'] == 1
    assert not second.observers
    # Counters never fall, and a gauge is of now.
    page = samples(registry)
    assert page['redisson_dq_offers_total{queue="orders"}'] == 2
    assert page['redisson_dq_mover{queue="orders"}'] == 0
    handle.remove()
    handle.remove()
    assert samples(registry) == {}
    first.roles.clear()
    with instrument(first, registry=registry):
        assert samples(registry) == {}


def test_a_role_ends_with_its_client() -> None:
    client, registry = Watched(), CollectorRegistry()
    instrument(client, registry=registry)
    client.roles["orders"] = Role.ALONE
    assert samples(registry)['redisson_dq_mover{queue="orders"}'] == 1
    client.roles.clear()
    assert 'redisson_dq_mover{queue="orders"}' not in samples(registry)


def test_no_object_is_made_for_a_value() -> None:
    """Counting would cost more than a twentieth of a worker's pace otherwise."""
    client = Watched()
    instrument(client, registry=CollectorRegistry())
    for kind in (LeaseBegan, Settled, Received, Succeeded, Sent):
        assert not client.observers.heard[kind]
    heard = Counter(kind for kind in Counts.kinds if client.observers.heard[kind])
    assert heard == Counter(Counts.kinds)


def test_every_metric_of_the_table_is_on_the_page() -> None:
    client, registry = Watched(), CollectorRegistry()
    instrument(client, registry=registry)
    everything(client, "orders")
    assert {(family.name, family.type) for family in registry.collect()} == {
        (metric.name, metric.type) for metric in OF_PROCESS.values()
    }
    for family in registry.collect():
        metric = next(each for each in OF_PROCESS.values() if each.name == family.name)
        if metric.name in ("redisson_dq_handling_oldest_seconds", "redisson_dq_stalled_seconds"):
            # A worker's: test_worker_stalls.py.
            continue
        assert {label for sample in family.samples for label in sample.labels} - {"le"} == set(metric.labels)


def test_something_else_cannot_be_counted() -> None:
    with pytest.raises(ArgumentError, match="a client or a worker"):
        instrument("redis://localhost", registry=CollectorRegistry())  # type: ignore[arg-type]
