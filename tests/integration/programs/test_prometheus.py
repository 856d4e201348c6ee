"""The metrics of real clients and workers: the page after something has happened."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import signal
from contextlib import ExitStack
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry, generate_latest

import redisson_dq.aio
from redisson_dq.codecs import LongCodec, StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from redisson_dq.observing import Happening, OfRequest, Role, Sent
from redisson_dq.prometheus import Collector, instrument
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.worker import Retry, fixed
from tests.cluster import Cluster
from tests.conftest import eventually, moving
from tests.flavours import AsyncioFlavour, Bridged, Flavour
from tests.integration.conftest import KEYS
from tests.workers.handlers import Ledger, running


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


class Page:
    """The samples of a registry, each looked up by its name and its labels but ``queue="orders"``."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def __call__(self, name: str, queue: str = "orders", **labels: str) -> float | None:
        return self._registry.get_sample_value(f"redisson_dq_{name}", {"queue": queue, **labels})

    def until(self, value: float, name: str, queue: str = "orders", **labels: str) -> None:
        eventually(lambda: self(name, queue, **labels) == value, told=lambda: generate_latest(self._registry).decode())


@pytest.fixture
def page(registry: CollectorRegistry) -> Page:
    return Page(registry)


def test_a_worker_with_a_client_of_its_own(
    flavour: Flavour, url: str, admin: Any, client: Any, registry: CollectorRegistry, page: Page
) -> None:
    worker, ledger = flavour.worker_of(url, codec=StringCodec()), Ledger()
    worker.handler("orders", retry=Retry(backoff=fixed(0.01)))(handled := _failing_once(ledger))
    instrument(worker, registry=registry)
    delayed = client.delayed_queue("orders", transfer=False)
    # Each start makes a client, and the counts go on.
    for number in (1, 2):
        with running(worker):
            delayed.offer(f"order-{number}", 0.05, id=f"order-{number}")
            assert ledger.next() == f"order-{number}"
            page.until(number, "settlements_total", outcome="acked")
            assert page("mover") == 1
        assert page("mover") is None
    name = handled.__qualname__
    assert page("deliveries_total") == 4
    assert page("redeliveries_total") == 2
    assert page("settlements_total", outcome="delayed") == 2
    assert page("handled_total", handler=name, outcome="succeeded") == 2
    assert page("handled_total", handler=name, outcome="failed") == 2
    assert page("handling_seconds_count") == 4
    # The due time of an item with an id is known.
    assert page("lateness_seconds_count") == 4
    assert page("lateness_seconds_bucket", le="86400.0") == 4
    assert (page("moved_total") or 0) >= 2
    assert (page("transfer_seconds_count") or 0) >= 2
    # The items were offered by another client.
    assert page("offers_total") == 0


def _failing_once(ledger: Ledger) -> Any:
    failed: set[str] = set()

    def handle(value: str) -> None:
        if value not in failed:
            failed.add(value)
            raise ValueError(value)
        ledger.note(value)

    return handle


def test_a_client_that_offers_and_takes(client: Any, registry: CollectorRegistry, page: Page) -> None:
    queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
    with instrument(client, registry=registry):
        delayed.offer("a", 0.01)
        delayed.offer_all([("b", 0.01), ("c", 0.01)])
        delayed.offer("d", 0.01, id="d")
        delayed.offer("d", 0.01, id="d", on_duplicate="keep")
        queue.add("e")
        queue.add_all(["f", "g"])
        assert page("offers_total") == 7
        taken = [queue.take() for _ in range(6)]
        with queue.receive(timeout=10) as last:
            taken.append(last.value)
        assert sorted(taken) == ["a", "b", "c", "d", "e", "f", "g"]
        page.until(7, "deliveries_total")
        assert page("settlements_total", outcome="acked") == 1
        page.until(4, "moved_total")
    assert page("offers_total") is None
    delayed.offer("h", 0)
    assert page("offers_total") is None


def test_what_a_full_queue_refuses_is_no_offer(client: Any, registry: CollectorRegistry, page: Page) -> None:
    bounded = client.bounded_blocking_queue("orders")
    bounded.try_set_capacity(1)
    with instrument(client, registry=registry):
        assert bounded.offer("a")
        assert not bounded.offer("b")
        assert page("offers_total") == 1


def test_offers_to_a_deque(client: Any, registry: CollectorRegistry, page: Page) -> None:
    deque = client.blocking_deque("orders")
    with instrument(client, registry=registry):
        assert deque.add_first_if_exists("a") == 0
        assert page("offers_total") is None
        deque.add_first("a", "b")
        deque.add_last_if_exists("c")
        assert page("offers_total") == 3


def test_values_that_cannot_be_read(
    flavour: Flavour, url: str, admin: Any, registry: CollectorRegistry, page: Page
) -> None:
    worker, ledger = flavour.worker_of(url, codec=LongCodec()), Ledger()
    worker.handler("orders")(ledger.handle)
    instrument(worker, registry=registry)
    admin.rpush("orders", b"no number", b"7")
    with running(worker):
        assert ledger.next() == 7
        page.until(1, "undecodable_total")
        page.until(1, "settlements_total", outcome="acked")
    assert page("deliveries_total") == 1


def test_a_subscription_that_was_lost(client: Any, admin: Any, registry: CollectorRegistry, page: Page) -> None:
    with instrument(client, registry=registry):
        moving(client.delayed_queue("orders"))
        eventually(lambda: page("transfer_seconds_count"))
        assert page("resubscriptions_total") == 0
        admin.client_kill_filter(_type="pubsub")
        page.until(1, "resubscriptions_total")


def test_partitions_have_one_label(client: Any, registry: CollectorRegistry, page: Page) -> None:
    delayed = client.delayed_queue("orders", partitions=4)
    whole = client.blocking_queue("orders", partitions=4)
    with instrument(client, registry=registry):
        delayed.offer_all([(f"order-{i}", 0.01) for i in range(8)])
        received: list[Any] = []
        while len(received) < 8:
            received += whole.receive(8, timeout=10)
        for delivery in received:
            delivery.ack()
        for name in ("offers_total", "deliveries_total", "moved_total"):
            page.until(8, name)
        assert page("settlements_total", outcome="acked") == 8
        assert page("mover") == 1
    assert page("offers_total", queue="orders:0-332") is None


# -- queues that others work on --------------------------------------------------------------------------------------


def collector(flavour: Flavour, client: Any, queues: Any, **options: Any) -> Collector:
    """Made in the client's loop, if it has one."""
    if isinstance(flavour, AsyncioFlavour):

        async def make() -> Collector:
            return Collector(client.inner, queues, **options)

        return cast(Collector, flavour.run(make()))
    return Collector(client, queues, **options)


def test_the_state_of_queues_that_this_process_does_not_consume(
    flavour: Flavour, url: str, client: Any, admin: Any, registry: CollectorRegistry, page: Page
) -> None:
    delayed = client.delayed_queue("orders", transfer=False)
    delayed.offer("overdue", 0.001)
    delayed.offer("held", 0.001)
    delayed.offer("later", 3600)
    eventually(lambda: delayed.overdue().count == 2)
    delayed.take_due(limit=1, visibility_timeout=3600)
    client.blocking_queue("orders", transfer=False).add_all(["ready", "set"])
    client.blocking_queue("bills", transfer=False).add("a bill")
    client.delayed_queue("bills", transfer=False).pause()
    admin.hset(KEYS.settings, "missed", "12 5 tick")
    registry.register(collector(flavour, client, ["orders", "bills"]))
    assert registry.get_sample_value("redisson_dq_up") == 1
    states = ("ready", "waiting", "overdue", "in_flight", "dead", "undecodable", "quarantined", "recurring")
    assert [page("items", state=state) for state in states] == [2, 2, 1, 1, 0, 0, 0, 0]
    assert [page("items", queue="bills", state=state) for state in states] == [1, 0, 0, 0, 0, 0, 0, 0]
    assert [page("paused", queue=queue) for queue in ("orders", "bills")] == [0, 1]
    assert page("subscribers") == 0
    assert page("mover_known") == 0
    assert (page("expired_total"), page("missed_occurrences_total")) == (0, 12)
    # Since the item was due, and neither the one that is held nor the later one counts.
    late = page("overdue_oldest_seconds") or 0
    eventually(lambda: (page("overdue_oldest_seconds") or 0) > late > 0)
    assert page("overdue_oldest_seconds", queue="bills") == 0
    assert admin.pubsub_numsub(KEYS.channel)[0][1] == 0


def test_a_lease_and_a_future_item_are_not_overdue(
    flavour: Flavour, client: Any, registry: CollectorRegistry, page: Page
) -> None:
    delayed = client.delayed_queue("orders", transfer=False)
    delayed.offer("held", 0.001)
    eventually(lambda: delayed.take_due(limit=1, visibility_timeout=3600))
    delayed.offer("later", 3600)
    registry.register(collector(flavour, client, "orders"))
    assert (page("overdue_oldest_seconds"), page("items", state="overdue")) == (0, 0)
    assert (page("items", state="waiting"), page("items", state="in_flight")) == (1, 1)


def test_a_queue_whose_name_looks_like_a_pattern(
    flavour: Flavour, client: Any, registry: CollectorRegistry, page: Page
) -> None:
    client.delayed_queue("q1", transfer=False).offer("a", 3600)
    client.delayed_queue("a*", transfer=False).offer("a", 3600)
    client.delayed_queue("ab", transfer=False).offer("a", 3600)
    registry.register(collector(flavour, client, ["q[1]", "a\\*"]))
    # A pattern, as long as no queue has this very name.
    assert [page("items", queue=name, state="waiting") for name in ("q1", "q[1]", "a*", "ab")] == [1, None, 1, None]
    client.blocking_queue("q[1]", transfer=False).add("a")
    again = CollectorRegistry()
    again.register(collector(flavour, client, ["q[1]"]))
    assert again.get_sample_value("redisson_dq_items", {"queue": "q[1]", "state": "ready"}) == 1
    assert again.get_sample_value("redisson_dq_items", {"queue": "q1", "state": "waiting"}) is None
    by_backslash = CollectorRegistry()
    by_backslash.register(collector(flavour, client, "q\\[1\\]"))
    assert by_backslash.get_sample_value("redisson_dq_items", {"queue": "q[1]", "state": "ready"}) == 1


def test_a_scrape_is_one_round_trip_for_a_hundred_queues(
    flavour: Flavour, client: Any, registry: CollectorRegistry
) -> None:
    heard: list[Happening] = []
    client.observe(lambda happening: heard.append(happening) if isinstance(happening, OfRequest) else None)
    registry.register(collector(flavour, client, [f"queue-{i}" for i in range(250)]))
    assert heard == []
    generate_latest(registry)
    # Requests that go together are all told before the first of their answers.
    trips = [len(list(some)) for kind, some in itertools.groupby(heard, type) if kind is Sent]
    assert trips == [100, 100, 50]


def test_a_function_gives_the_queues_of_each_scrape(
    flavour: Flavour, client: Any, registry: CollectorRegistry, page: Page
) -> None:
    names = ["orders"]
    registry.register(collector(flavour, client, lambda: names))
    assert page("paused") == 0
    names[:] = ["bills"]
    assert (page("paused"), page("paused", queue="bills")) == (None, 0)


def test_partitions_of_a_handle_are_summed(
    flavour: Flavour, client: Any, registry: CollectorRegistry, page: Page
) -> None:
    delayed = client.delayed_queue("orders", partitions=4, transfer=False)
    delayed.offer_all([(f"order-{i}", 3600) for i in range(20)])
    handle = delayed.inner if isinstance(delayed, Bridged) else delayed
    registry.register(collector(flavour, client, [handle]))
    assert page("items", state="waiting") == 20


def test_a_key_of_another_type_fails_nothing(
    flavour: Flavour, client: Any, admin: Any, registry: CollectorRegistry, page: Page
) -> None:
    admin.set("orders", "no list")
    client.blocking_queue("bills", transfer=False).add("a bill")
    registry.register(collector(flavour, client, ["orders", "bills"]))
    assert page("items", queue="bills", state="ready") == 1
    assert page("items", state="ready") == 0


def test_redis_is_away(flavour: Flavour, own_server: EmbeddedServer, registry: CollectorRegistry, page: Page) -> None:
    with flavour.connect(own_server.url) as client:
        registry.register(collector(flavour, client, ["orders"]))
        assert registry.get_sample_value("redisson_dq_up") == 1
        own_server.stop()
        for _ in range(2):
            assert registry.get_sample_value("redisson_dq_up") == 0
            assert page("paused") is None


def test_redis_takes_connections_and_answers_nothing(
    flavour: Flavour, own_server: EmbeddedServer, registry: CollectorRegistry
) -> None:
    with flavour.connect(own_server.url) as client:
        registry.register(collector(flavour, client, ["orders"], timeout=0.3))
        assert eventually(lambda: registry.get_sample_value("redisson_dq_up"))
        os.kill(own_server.pid, signal.SIGSTOP)
        try:
            for _ in range(2):
                assert registry.get_sample_value("redisson_dq_up") == 0
        finally:
            os.kill(own_server.pid, signal.SIGCONT)
        assert eventually(lambda: registry.get_sample_value("redisson_dq_up"))


@pytest.mark.filterwarnings("error")
def test_a_scrape_after_the_end_of_the_clients_loop(url: str) -> None:
    registry = CollectorRegistry()
    asyncio.run(_registered(registry, url))
    assert registry.get_sample_value("redisson_dq_up") == 0
    gc.collect()


async def _registered(registry: CollectorRegistry, url: str) -> None:
    async with redisson_dq.aio.connect(url) as client:
        registry.register(Collector(client, ["orders"]))


def test_a_page_that_is_made_in_the_loop_of_its_client(url: str) -> None:
    asyncio.run(_made_in_the_loop(url))


async def _made_in_the_loop(url: str) -> None:
    """Such a scrape cannot wait for the loop that it holds up."""
    registry = CollectorRegistry()
    async with redisson_dq.aio.connect(url, codec=StringCodec()) as client:
        made = Collector(client, ["orders"])
        registry.register(made)
        assert registry.get_sample_value("redisson_dq_up") == 0
        await made.refresh()
        assert registry.get_sample_value("redisson_dq_up") == 1
        # In another thread it waits.
        assert await asyncio.to_thread(registry.get_sample_value, "redisson_dq_up") == 1


def test_wrong_arguments(client: Any, flavour: Flavour) -> None:
    with pytest.raises(ArgumentError, match="names no queue"):
        collector(flavour, client, [])
    for queues in ("", ["orders", ""]):
        with pytest.raises(ArgumentError, match="names no queue"):
            collector(flavour, client, queues)
    with pytest.raises(ArgumentError, match="names of queues, or their handles, not 5"):
        collector(flavour, client, 5)
    for most in (0, -1, "many", 1.5):
        with pytest.raises(ArgumentError, match="most= must be a whole number from 1 on"):
            collector(flavour, client, ["orders"], most=most)
    for timeout in (0, -1, "long", float("nan"), float("inf")):
        with pytest.raises(ArgumentError, match="timeout= must be a number of seconds above 0"):
            collector(flavour, client, ["orders"], timeout=timeout)
    with pytest.raises(ArgumentError, match="takes a client"):
        Collector("redis://localhost", ["orders"])  # type: ignore[arg-type]
    if isinstance(flavour, AsyncioFlavour):
        with pytest.raises(ArgumentError, match="in a coroutine"):
            Collector(client.inner, ["orders"])


def test_one_target_is_counted_once(client: Any, registry: CollectorRegistry, page: Page) -> None:
    """A program may say it twice: in the module of a worker, which the command then counts too."""
    handle = instrument(client, registry=registry)
    assert instrument(client, registry=registry) is handle
    client.blocking_queue("orders").add("a")
    assert page("offers_total") == 1
    handle.remove()
    assert instrument(client, registry=registry) is not handle


def test_the_roles_of_a_client(client: Any, flavour: Flavour, url: str) -> None:
    assert client.roles == {}
    delayed = moving(client.delayed_queue("orders"))
    eventually(lambda: client.roles == {"orders": Role.ALONE})
    with flavour.connect(url) as other:
        moving(other.delayed_queue("orders"))

        def roles() -> set[Any]:
            # A client learns its role by a transfer.
            delayed.offer("a", 0.01)
            return {each.roles.get("orders") for each in (client, other)}

        eventually(lambda: roles() == {Role.MOVER, Role.RESERVE})
        delayed.destroy()
        assert eventually(lambda: client.roles == {})


def test_a_batch_is_one_call(flavour: Flavour, url: str, client: Any, registry: CollectorRegistry, page: Page) -> None:
    worker, ledger = flavour.worker_of(url, codec=StringCodec()), Ledger()
    worker.batch_handler("orders", 10, within=0.05)(handled := _noting(ledger))
    instrument(worker, registry=registry)
    client.blocking_queue("orders", transfer=False).add_all([str(i) for i in range(30)])
    with running(worker):
        ledger.some(30)
        page.until(30, "settlements_total", outcome="acked")
    calls = page("handled_total", handler=handled.__qualname__, outcome="succeeded")

    assert page("deliveries_total") == 30
    assert calls is not None
    assert 3 <= calls < 30


def _noting(ledger: Ledger) -> Any:
    def handle(values: list[str]) -> None:
        for value in values:
            ledger.note(value)

    return handle


def test_queues_of_a_cluster(flavour: Flavour, registry: CollectorRegistry, page: Page) -> None:
    """The figures of the nodes that answer are shown while another one is down."""
    names = ["orders", "bills", "letters", "parcels"]
    with ExitStack() as stack:
        cluster = Cluster(stack, 3)
        client = stack.enter_context(flavour.cluster(cluster.url, codec=StringCodec()))
        for name in names:
            client.delayed_queue(name, transfer=False).offer("a", 3600)
        registry.register(collector(flavour, client, names, timeout=3))
        assert registry.get_sample_value("redisson_dq_up") == 1
        assert [page("items", queue=name, state="waiting") for name in names] == [1] * 4
        # A node knows its own subscribers alone.
        assert page("subscribers") is None
        owners = {name: cluster.owner(QueueKeys.of(name).timeout) for name in names}
        for admin in cluster.admins:
            admin.config_set("cluster-require-full-coverage", "no")
        cluster.servers[owners["orders"]].kill()
        eventually(lambda: registry.get_sample_value("redisson_dq_up") == 0)
        left = [name for name in names if owners[name] != owners["orders"]]
        assert left
        eventually(lambda: [page("items", queue=name, state="waiting") for name in left] == [1] * len(left))
        assert page("paused") is None
