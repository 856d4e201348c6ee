"""A worker whose queues live on several nodes, one of which changes its master meanwhile."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.worker import Dropped, Limit, Rate, Retry, fixed
from tests.cluster import Cluster
from tests.conftest import eventually
from tests.flavours import Flavour
from tests.workers.handlers import Ledger, Log, running

NAMES = ["orders", "bills", "letters", "parcels"]


@pytest.mark.parametrize("total", [None, 3])
def test_queues_on_all_nodes(flavour: Flavour, cluster: Cluster, total: int | None) -> None:
    with flavour.cluster(cluster.url, codec=StringCodec()) as client:
        queues = {name: client.blocking_queue(f"{name} of {flavour.name} {total}") for name in NAMES}
        worker, ledger = flavour.worker(client, concurrency=total), Ledger()

        def handle(value: Any, event: Any) -> None:
            if event.attempt == 1 and value.endswith("7"):
                raise Retry(after=0.01)
            ledger.note(value)

        for queue in queues.values():
            worker.handler(queue.name, concurrency=2, retry=Retry(limit=3, backoff=fixed(0)))(handle)
        expected = [f"{name}-{number}" for name in NAMES for number in range(30)]
        with running(worker):
            for name, queue in queues.items():
                queue.add_all([value for value in expected if value.startswith(name)])
            assert Counter(ledger.some(len(expected))) == Counter(expected)
            eventually(lambda: not any(queue.in_flight_size() for queue in queues.values()))
        assert [queue.size() for queue in queues.values()] == [0] * len(NAMES)


def customer(value: str) -> str:
    return value.partition("-")[0]


@pytest.mark.parametrize("by", [None, pytest.param(customer, marks=pytest.mark.nightly)])
def test_limits_keys_and_duplicates_on_all_nodes(flavour: Flavour, cluster: Cluster, by: Any) -> None:
    with ExitStack() as stack:
        workers, ledger, logs = [], Ledger(), []
        names = [f"limited {name} of {flavour.name} by {by and by.__name__}" for name in NAMES]
        for _ in range(2):
            # Nodes that are slow lose a link between them, and the message on it. Then a probe finds what is due.
            client = stack.enter_context(flavour.cluster(cluster.url, codec=StringCodec(), probe_interval=5))
            workers.append(flavour.worker(client))
            logs.append(Log(workers[-1]))
        for worker in workers:
            for name in names:
                worker.handler(
                    name,
                    concurrency=4,
                    key=lambda value: value.partition("-")[0],
                    rate=Rate(500, per=1, by=by),
                    limit=Limit(3, by=by),
                    turns=by,
                    unique_for=60,
                )(ledger.handle)
        values = [f"c{number % 3}-{number}" for number in range(30)]
        queues = [client.blocking_queue(name) for name in names]
        for queue in queues:
            queue.add_all([*values, *values[:5]])
        for worker in workers:
            stack.enter_context(running(worker))
        ledger.some(len(values) * len(names))
        eventually(lambda: sum(len(log.of(Dropped)) for log in logs) == 5 * len(names))
        eventually(lambda: not any(queue.in_flight_size() for queue in queues))
    for name in names:
        handled = [event.value for event in ledger.events if event.queue == name]
        for key in ("c0", "c1", "c2"):
            of_key = [value for value in values if value.startswith(key)]
            assert [value for value in handled if value.startswith(key)] == of_key
