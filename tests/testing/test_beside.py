"""What goes on beside a test's clock: other loops, clocks and clients, and those that cannot follow it."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import freezegun
import pytest
import redis
import time_machine
import uvloop

import redisson_dq
import redisson_dq.aio
import redisson_dq.aio.worker
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, DuplicateItemError, RedisConnectionError, RedisReplyError
from redisson_dq.migrating import QueueSite, export, import_file
from redisson_dq.testing import NoRestError, NotForTestsError, TestClock, run_until_idle, server_of_tests
from redisson_dq.testing.faults import Faults
from redisson_dq.worker import Retry, exponential
from tests.cluster import Cluster
from tests.conftest import PATIENCE, environment, eventually
from tests.flavours import Flavour
from tests.integration.servers.test_topologies import Watched
from tests.testing.conftest import START

DAY = timedelta(days=1)


# -- beside it -------------------------------------------------------------------------------------------------------


async def month(url: str, clock: TestClock) -> list[tuple[str, int, datetime]]:
    """A month of a worker on asyncio, whose handler fails and awaits."""
    handled = []
    async with redisson_dq.aio.connect(url, codec=StringCodec()) as client:
        worker = redisson_dq.aio.worker.Worker(client)

        @worker.handler("orders", retry=Retry(limit=3, backoff=exponential(3600, 7200, jitter=False)))
        async def handle(value: str, event: Any) -> None:
            await asyncio.sleep(0)
            handled.append((value, event.attempt, clock.now))
            if event.attempt < 3:
                raise ValueError(value)

        await client.delayed_queue("orders").offer_all([("a", 10 * DAY), ("b", 20 * DAY)])
        async with worker:
            await clock.aio.advance(days=30)
    return handled


MONTH = [
    (value, attempt, START + days * DAY + timedelta(hours=hours))
    for value, days in (("a", 10), ("b", 20))
    for attempt, hours in ((1, 0), (2, 1), (3, 3))
]


@pytest.mark.parametrize("make", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_event_loops(url: str, clock: TestClock, make: Callable[[], Any]) -> None:
    loop = make()
    try:
        assert loop.run_until_complete(month(url, clock)) == MONTH
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


@contextlib.contextmanager
def frozen_by_freezegun() -> Iterator[None]:
    with freezegun.freeze_time("2030-01-01", tz_offset=0, real_asyncio=True):
        yield


@contextlib.contextmanager
def frozen_by_time_machine() -> Iterator[None]:
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=timezone.utc), tick=False):
        yield


@pytest.mark.parametrize("frozen", [frozen_by_freezegun, frozen_by_time_machine])
def test_a_frozen_wall_clock(flavour: Flavour, url: str, frozen: Any) -> None:
    with frozen(), TestClock(url, patience=0.3) as clock, flavour.connect(url, codec=StringCodec()) as client:
        began = datetime(2030, 1, 1, tzinfo=timezone.utc)
        assert clock.now == datetime.now(timezone.utc) == began
        item = client.delayed_queue("orders").offer("a", DAY)
        assert item.due == began + DAY
        clock.advance(DAY)
        assert client.blocking_queue("orders").poll() == "a"
        assert (clock.now, datetime.now(timezone.utc)) == (began + DAY, began)
        # Patience goes by real time.
        if flavour.name == "sync":
            with pytest.raises(NoRestError, match="nobody has let time pass"):
                client.blocking_queue("orders").poll(timeout=60)
        gate = threading.Event()
        worker = flavour.worker(client)
        worker.handler("orders")(lambda value: gate.wait(PATIENCE))
        client.blocking_queue("orders").add("a")
        with worker:
            with pytest.raises(NoRestError, match="no rest within"):
                clock.settle()
            gate.set()


@pytest.mark.parametrize("frozen", [frozen_by_freezegun, frozen_by_time_machine])
def test_a_client_without_a_clock_goes_on_in_a_frozen_world(flavour: Flavour, url: str, frozen: Any) -> None:
    with frozen(), flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        client.delayed_queue(queue).offer("a", 0.05)
        assert queue.take() == "a"
        assert queue.poll(timeout=0.01) is None
        client.delayed_queue(queue).offer("b", DAY)
        worker = flavour.worker(client)
        worker.handler("orders")(print)
        if flavour.name == "sync":
            with pytest.raises(NoRestError, match="is not idle after"):
                run_until_idle(worker, timeout=0.05)


def test_several_clients_of_both_flavours(url: str, clock: TestClock) -> None:
    async def main() -> None:
        with redisson_dq.connect(url, codec=StringCodec()) as producer:
            async with redisson_dq.aio.connect(url, codec=StringCodec()) as one:
                async with redisson_dq.aio.connect(url, codec=StringCodec()) as other:
                    for client in (one, other):
                        await client.delayed_queue("orders").size()
                    await asyncio.to_thread(producer.delayed_queue("orders").offer, "a", DAY)
                    takes = [asyncio.create_task(client.blocking_queue("orders").take()) for client in (one, other)]
                    await asyncio.sleep(0)
                    await clock.aio.advance(DAY)
                    done, waiting = await asyncio.wait(takes, return_when=asyncio.FIRST_COMPLETED)
                    assert [task.result() for task in done] == ["a"]
                    for task in waiting:
                        task.cancel()

    asyncio.run(main())


def test_a_client_that_asks_a_sentinel_follows_the_clock_of_its_master(flavour: Flavour, tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        watched = Watched(stack, tmp_path)
        clock = stack.enter_context(TestClock(watched.master.url))
        url = f"redis+sentinel://127.0.0.1:{watched.port}/main"
        client = stack.enter_context(flavour.connect(url, codec=StringCodec()))
        handled: list[str] = []
        worker = flavour.worker(client)
        worker.handler("orders")(handled.append)
        client.delayed_queue("orders").offer("a", 30 * DAY)
        with worker:
            clock.advance(days=30)
        assert handled == ["a"]


# -- what cannot follow ----------------------------------------------------------------------------------------------


def test_a_client_of_another_database_is_refused(flavour: Flavour, url: str, clock: TestClock) -> None:
    other = url.replace("/0", "/1")
    with pytest.raises(NotForTestsError, match=r"database 1: the test's clock moves only the database of its own URL"):
        flavour.connect(other)


def test_a_cluster_is_refused(flavour: Flavour, url: str) -> None:
    with contextlib.ExitStack() as stack:
        cluster = Cluster(stack, 2)
        with pytest.raises(NotForTestsError, match="each node of a cluster has a time of its own"):
            TestClock(cluster.url).__enter__()
        refused = pytest.raises(NotForTestsError, match="of a cluster, before the clock")
        with TestClock(url), refused, flavour.cluster(cluster.url) as client:
            client.delayed_queue("orders", transfer=False).offer("a", 60)


@pytest.mark.parametrize("url", ["redis+sentinel://:secret@127.0.0.1:26379/main", "127.0.0.1:6379", ""])
@pytest.mark.parametrize("make", [TestClock, lambda url: server_of_tests(url).__enter__()], ids=["clock", "server"])
def test_a_url_that_names_no_single_server_is_refused(url: str, make: Callable[[str], object]) -> None:
    with pytest.raises(ArgumentError, match=r"a test needs the URL of one Redis .* that is the master's") as refused:
        make(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("make", [TestClock, server_of_tests])
def test_a_redis_that_cannot_be_reached_is_named(make: Callable[[str], Any]) -> None:
    with pytest.raises(
        RedisConnectionError, match=r"redis://\*\*\*@127\.0\.0\.1:1: the Redis for the tests cannot"
    ) as failed:
        make("redis://:secret@127.0.0.1:1").__enter__()
    assert "secret" not in str(failed.value)


@pytest.mark.parametrize("make", [TestClock, server_of_tests])
def test_a_redis_that_refuses_the_login_or_a_command_is_named(
    url: str, admin: redis.Redis, make: Callable[[str], Any]
) -> None:
    users: dict[str, dict[str, Any]] = {
        "one": {"keys": ["orders*"], "commands": ["+@all"]},
        "few": {"keys": ["*"], "commands": ["+@all", "-@dangerous"]},
    }
    for name, rights in users.items():
        admin.acl_setuser(name, enabled=True, passwords=["+secret"], **rights)
    try:
        for user, told in (
            ("one:secret", "its user needs all rights.*(permission|can't)"),
            ("few:secret", "no permissions to run the '(info|client)' command"),
            ("one:wrong-secret", "Redis refused the login"),
        ):
            with pytest.raises(RedisReplyError, match=told) as failed:
                make(url.replace("//", f"//{user}@")).__enter__()
            assert "secret" not in str(failed.value)
    finally:
        admin.acl_deluser(*users)
    assert admin.dbsize() == 0


@pytest.mark.parametrize("options", ["/0", "/3", "", "?db=3", "/1?socket_timeout=5&db=3", "?socket_timeout=5"])
def test_each_process_has_a_database_of_its_own(url: str, options: str) -> None:
    named = url.removesuffix("/0") + options
    first = 3 if "3" in options else 0
    with server_of_tests(named) as server, server_of_tests(named, 2) as other:
        numbers = [each.admin.connection_pool.connection_kwargs.get("db", 0) for each in (server, other)]
        assert numbers == [first, first + 2]
        # The other options are those of the URL.
        assert ("socket_timeout" in other.url) is ("socket_timeout" in options)


def test_each_process_has_a_database_at_a_socket_of_unix() -> None:
    with EmbeddedServer(unixsocket=True) as server, server_of_tests(server.url, 2) as other:
        assert server.url.startswith("unix://")
        with TestClock(other.url) as clock, redisson_dq.connect(other.url) as client:
            client.delayed_queue("orders").offer("a", DAY)
            clock.advance(DAY)
            assert client.blocking_queue("orders").poll() == "a"
            assert [each["db"] for each in other.admin.client_list()] == ["2"] * len(other.admin.client_list())


def test_a_clock_that_would_meet_the_faults_is_refused(url: str) -> None:
    with server_of_tests(url) as server, Faults(server) as faults:
        with pytest.raises(ArgumentError, match=r"the clock would meet the faults too; give it server\.url"):
            TestClock(faults.url).__enter__()
        # The server learns of its end through the faults, later.
        eventually(lambda: not any("test-clock" in each["name"] for each in server.admin.client_list()))
        with TestClock(server.url) as clock, redisson_dq.connect(faults.url, codec=StringCodec()) as client:
            client.delayed_queue("orders").offer("a", DAY)
            clock.advance(DAY)
            assert client.blocking_queue("orders").poll() == "a"


PROCESS = """
import sys, redisson_dq
with redisson_dq.connect(sys.argv[1]) as client:
    client.blocking_queue("orders").size()
    print("ready", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("is_process", [False, True], ids=["made before", "a process"])
def test_a_client_that_does_not_follow_is_refused(flavour: Flavour, url: str, is_process: bool) -> None:
    with contextlib.ExitStack() as stack:
        end: Any = None
        if is_process:
            command = [sys.executable, "-c", PROCESS, url]
            other = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
            )
            stack.callback(other.communicate)
            assert other.stdout is not None
            assert other.stdout.readline() == "ready\n"
            end = other.communicate
        else:
            before = flavour.connect(url)
            before.blocking_queue("orders").size()
            end = before.close
        clock = stack.enter_context(TestClock(url))
        client = stack.enter_context(flavour.connect(url, codec=StringCodec()))
        client.delayed_queue("orders").offer("a", DAY)
        for call in (lambda: clock.advance(DAY), clock.step, clock.auto):
            with pytest.raises(NotForTestsError, match="do not follow the test's clock"):
                call()
        end()
        clock.advance(DAY)
        assert client.blocking_queue("orders").poll() == "a"


# -- calls that take a time ------------------------------------------------------------------------------------------

HOUR = timedelta(hours=1)
# Each waits for an hour, and gives nothing.
WAITS: dict[str, Callable[[Any], Any]] = {
    "poll": lambda client: client.blocking_queue("orders").poll(timeout=HOUR),
    "poll of many": lambda client: client.blocking_queue("orders").poll(limit=9, timeout=HOUR),
    "poll_from_any": lambda client: client.blocking_queue("orders").poll_from_any("others", timeout=HOUR),
    "poll_from_any_with_name": lambda client: client.blocking_queue("orders").poll_from_any_with_name(
        "others", timeout=HOUR
    ),
    "poll_last_and_offer_first_to": lambda client: client.blocking_queue("orders").poll_last_and_offer_first_to(
        "others", timeout=HOUR
    ),
    "move": lambda client: client.blocking_deque("orders").move("others", timeout=HOUR),
    "poll_last": lambda client: client.blocking_deque("orders").poll_last(timeout=HOUR),
    "poll_last_from_any": lambda client: client.blocking_deque("orders").poll_last_from_any("others", timeout=HOUR),
    "receive": lambda client: client.blocking_queue("orders").receive(timeout=HOUR),
    "receive many": lambda client: client.blocking_queue("orders").receive(9, timeout=HOUR),
    "poll of partitions": lambda client: client.blocking_queue("parts", partitions=3).poll(timeout=HOUR),
    "receive of partitions": lambda client: client.blocking_queue("parts", partitions=3).receive(timeout=HOUR),
    "offer to a full queue": lambda client: client.bounded_blocking_queue("full").offer("b", HOUR),
}


@pytest.mark.parametrize("call", WAITS)
def test_a_timeout_ends_by_the_clock(clock: TestClock, client: Any, call: str) -> None:
    if "full" in call:
        full = client.bounded_blocking_queue("full")
        full.try_set_capacity(1)
        full.offer("a")
    with clock.auto():
        assert not WAITS[call](client)
    assert HOUR <= clock.now - START < HOUR + timedelta(seconds=1)


def test_an_export_and_an_import_keep_the_times_of_the_clock(clock: TestClock, url: str, tmp_path: Path) -> None:
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        client.delayed_queue("orders").offer("a", 3 * HOUR, id="a")
        client.delayed_queue("orders").offer("b", HOUR, deduplicate_for=6 * HOUR)
        export(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl")
        clock.advance(HOUR)
        import_file(QueueSite.of(client, "bills"), tmp_path / "orders.jsonl")
        bills = client.delayed_queue("bills")
        bills.start_moving()
        clock.advance(HOUR)
        assert client.blocking_queue("bills").read_all() == ["b"]
        with pytest.raises(DuplicateItemError):
            bills.offer("b", HOUR, deduplicate_for=HOUR)
        clock.advance(4 * HOUR)
        bills.offer("b", HOUR, deduplicate_for=HOUR)
        assert client.blocking_queue("bills").read_all() == ["b", "a"]
