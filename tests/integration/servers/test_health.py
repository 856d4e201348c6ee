"""``ping``, ``health`` and the text of a client: how it is, also while Redis is away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio

import redisson_dq
from redisson_dq import partition_names
from redisson_dq.codecs import JsonJacksonCodec, StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, ClosedError, RedisConnectionError
from redisson_dq.health import ClientHealth, QueueHealth
from redisson_dq.observing import Answered, Away, BackAgain, Happening, Role
from redisson_dq.scheduling.clock import SystemClock
from tests.cluster import Cluster
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, environment, eventually, moving
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.looking.test_inspect import sent_by
from tests.integration.servers.test_topologies import Watched

# Offers and moves until it is killed.
MOVER = """
import sys, time, redisson_dq
client = redisson_dq.connect(sys.argv[1])
client.delayed_queue("orders").offer("first", delay=0.01)
while True:
    role = client.health().queues["orders"].role
    if role is not None:
        print(client.runtime.connections.client, role.value, flush=True)
    time.sleep(0.05)
"""


def role(client: Any) -> Role | None:
    found: Role | None = client.health().queues["orders"].role
    return found


# -- ping ------------------------------------------------------------------------------------------------------------


def test_ping(client: Any, admin: Any) -> None:
    took = client.ping()
    assert isinstance(took, timedelta)
    assert timedelta(0) < took < timedelta(seconds=10)
    assert sent_by(admin, client.ping) == ["PING"]


def test_ping_of_a_closed_client_and_of_a_redis_that_is_away(flavour: Flavour, own_server: EmbeddedServer) -> None:
    client = flavour.connect(own_server.url)
    own_server.kill()
    with pytest.raises(RedisConnectionError):
        client.ping()
    client.close()
    with pytest.raises(ClosedError):
        client.ping()


@ONE_FLAVOUR_BY_DAY
def test_a_cluster(flavour: Flavour) -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack, 3)
        client = stack.enter_context(flavour.cluster(cluster.url, codec=StringCodec()))
        for admin in cluster.admins:
            admin.config_resetstat()
        assert client.ping() > timedelta(0)
        assert [admin.info("commandstats")["cmdstat_ping"]["calls"] for admin in cluster.admins] == [1, 1, 1]
        for number in range(9):
            moving(client.delayed_queue(f"orders-{number}")).offer("a", 60)
        health = eventually(lambda: (health := client.health()).subscribed and health)
        assert health.is_well
        assert {each.overdue for each in health.queues.values()} == {0}
        assert repr(client).startswith(f"Client('redis+cluster://127.0.0.1:{cluster.servers[0].port}")
        names = {f"orders-{number}" for number in range(9)}
        lost = {name for name in names if cluster.owner(name) == 2}
        cluster.servers[2].kill()
        health = client.health(timeout=30)
        assert not health.connected
        assert isinstance(health.last_error, RedisConnectionError)
        assert {name for name, each in health.queues.items() if each.overdue is None} == lost
        with pytest.raises(RedisConnectionError):
            client.ping()


# -- health ----------------------------------------------------------------------------------------------------------


def test_an_observer_may_ask_for_health(url: str) -> None:
    """It hears of the requests of a look too. One that asks at each would wait for the look that it holds up."""
    found: list[ClientHealth] = []
    requests: list[str] = []

    def asks(happening: Happening) -> None:
        if isinstance(happening, Answered):
            requests.append(happening.request)
            found.append(client.health(timeout=PATIENCE))

    with redisson_dq.connect(url, codec=StringCodec()) as client:
        client.blocking_queue("orders").size()
        client.observe(asks)
        client.blocking_queue("orders").size()
        assert client.health(timeout=PATIENCE).connected
        assert client.health(timeout=PATIENCE).connected
        client.stop_observing(asks)
    assert requests[0] == "LLEN"
    # Of the looks that the program asked for, not of those of the observer.
    assert 3 <= len(found) < 10
    assert all(each.connected and each.last_error is None for each in found)


def test_a_client_without_queues(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url) as client:
        health = client.health()
        assert type(health).__name__ == ClientHealth.__name__
        assert health.client == client.runtime.connections.client
        assert (health.connected, health.subscribed, health.queues, health.is_well) == (True, None, {}, True)
        assert (health.last_error, health.last_error_since, health.problems) == (None, None, ())
        assert timedelta(0) < health.round_trip < timedelta(seconds=10)
        # Both clocks are this machine's.
        assert abs(health.clock_difference) <= health.round_trip + timedelta(milliseconds=1)
        assert sent_by(admin, client.health) == ["TIME"]
        assert client.runtime.transfer_driver is None


def test_the_clocks_differ(flavour: Flavour, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calendar_us = SystemClock.calendar_us
    monkeypatch.setattr(SystemClock, "calendar_us", staticmethod(lambda: calendar_us() + 5_000_000))
    with flavour.connect(url) as client:
        difference = client.health().clock_difference
    # The server's clock is behind that of this machine.
    assert timedelta(seconds=-6) < difference < timedelta(seconds=-4)


def test_what_each_queue_does(client: Any, admin: Any) -> None:
    moving(client.delayed_queue("orders")).offer("a", 60)
    client.blocking_queue("bills", transfer=False)
    late = client.delayed_queue("late", transfer=False)
    late.offer_all([("a", 0), ("b", 0)])
    paused = moving(client.delayed_queue("paused"))
    paused.pause()
    client.delayed_queue("parts", partitions=2)
    eventually(lambda: late.overdue().count == 2)
    health = eventually(lambda: (health := client.health()).subscribed and health.queues["orders"].role and health)
    queues = health.queues
    assert list(queues) == ["orders", "bills", "late", "paused", *partition_names("parts", 2)]
    assert (queues["orders"].role, queues["orders"].subscribed, queues["orders"].is_moving) == (Role.ALONE, True, True)
    assert (queues["orders"].overdue, queues["orders"].late_by) == (0, timedelta(0))
    assert queues["bills"] == QueueHealth(
        name="bills", role=None, subscribed=False, overdue=0, late_by=timedelta(0), is_paused=False
    )
    assert (queues["late"].overdue, queues["late"].is_moving) == (2, False)
    assert queues["late"].late_by > timedelta(0)
    assert [name for name, each in queues.items() if each.is_paused] == ["paused"]
    assert health.is_well
    # Looks at six queues, in one round trip behind that for the time.
    assert sent_by(admin, client.health) == ["TIME", *["EVALSHA"] * 6]


def test_one_of_ten_clients_moves_and_another_one_after_its_death(flavour: Flavour, url: str, admin: Any) -> None:
    command = [sys.executable, "-c", MOVER, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as first, ExitStack() as stack:
        try:
            assert first.stdout is not None
            name, told = first.stdout.readline().split()
            assert told == "alone"
            # Of several that come together, the first one to look becomes the mover.
            seconds, micros = admin.time()
            admin.set(KEYS.mover, f"{name} {seconds * 1_000_000 + micros} 0", px=60_000)
            clients = [stack.enter_context(flavour.connect(url, codec=StringCodec())) for _ in range(9)]
            for client in clients:
                moving(client.delayed_queue("orders"))
            by_name = {client.runtime.connections.client: client for client in clients}
            # On a busy machine another client may have stepped in for the process that stood still.
            while (found := after_a_move(clients[-1])).mover.client != name:
                mover = by_name.pop(found.mover.client)
                assert mover is not clients[-1] or len(by_name) > 1
                clients.remove(mover)
                mover.close()
            assert found.subscribers == len(clients) + 1
            eventually(lambda: {role(client) for client in clients} == {Role.RESERVE})
        finally:
            first.kill()
        found = after_a_move(clients[-1])
        assert role(by_name[found.mover.client]) is Role.MOVER
        assert [role(client) for client in clients].count(Role.RESERVE) == len(clients) - 1


def after_a_move(client: Any) -> Any:
    """The figures once one more item has been moved."""
    before = client.stats("orders")["orders"].ready
    client.delayed_queue("orders").offer("a", 0.05)
    return eventually(
        lambda: (found := client.stats("orders")["orders"]).mover is not None and found.ready > before and found
    )


# -- while Redis is away ---------------------------------------------------------------------------------------------


def test_redis_is_away_and_back(flavour: Flavour, own_server: EmbeddedServer) -> None:
    seen: list[Any] = []
    with flavour.connect(own_server.url, codec=StringCodec(), observer=seen.append) as client:
        moving(client.delayed_queue("orders")).offer("a", 60)
        eventually(lambda: role(client) is Role.ALONE)
        before = datetime.now(timezone.utc)
        own_server.kill()
        eventually(lambda: any(isinstance(each, Away) for each in seen))
        health = client.health()
        assert (health.connected, health.subscribed, health.is_well) == (False, False, False)
        assert (health.round_trip, health.clock_difference) == (None, None)
        assert isinstance(health.last_error, RedisConnectionError)
        assert before <= health.last_error_since <= datetime.now(timezone.utc)
        assert health.queues["orders"] == QueueHealth(name="orders", role=Role.ALONE, subscribed=False)
        # It is one outage, from the first part that fails.
        assert client.health().last_error_since == health.last_error_since
        assert sum(isinstance(each, Away) for each in seen) == 1
        own_server.restart()
        again = eventually(lambda: (again := client.health()).subscribed and again)
        assert again.is_well
        eventually(lambda: any(isinstance(each, BackAgain) for each in seen))
        # Why it was away is told until the next time.
        assert (str(again.last_error), again.last_error_since) == (str(health.last_error), health.last_error_since)


@ONE_FLAVOUR_BY_DAY
def test_a_failover_under_a_sentinel(flavour: Flavour, tmp_path: Path) -> None:
    with ExitStack() as stack:
        watched = Watched(stack, tmp_path)
        client = stack.enter_context(flavour.sentinel(watched.port or 0, "main", codec=StringCodec()))
        assert repr(client).startswith(f"Client('redis+sentinel://127.0.0.1:{watched.port}/main?db=0'")
        moving(client.delayed_queue("orders")).offer("a", 60)
        eventually(lambda: (health := client.health()).is_well and health.queues["orders"].is_moving)
        assert client.ping() > timedelta(0)
        assert list(client.queue_names()) == ["orders"]
        watched.master.kill()
        assert not client.health().connected
        health = eventually(lambda: (health := client.health()).is_well and health)
        assert (health.queues["orders"].overdue, health.last_error is None) == (0, False)


def test_a_client_that_only_offers_knows_since_when(flavour: Flavour, own_server: EmbeddedServer) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer("a", 60)
        own_server.kill()
        first, second = client.health(), client.health()
        assert (first.connected, second.connected, first.subscribed) == (False, False, None)
        assert first.last_error_since == second.last_error_since
        own_server.restart()
        assert client.health().is_well
        own_server.kill()
        assert client.health().last_error_since > first.last_error_since


def test_a_server_that_stands_still(flavour: Flavour, own_server: EmbeddedServer) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client, ExitStack() as stack:
        client.delayed_queue("orders", transfer=False).offer("a", 60)
        assert client.health().connected
        threads = threading.active_count()
        os.kill(own_server.pid, signal.SIGSTOP)
        stack.callback(os.kill, own_server.pid, signal.SIGCONT)
        for _ in range(5):
            health = client.health(timeout=0.05)
            assert not health.connected
            assert "within 0.05 s" in str(health.last_error)
        # However often it is asked, one look waits for the answer.
        assert threading.active_count() <= threads + 1
        os.kill(own_server.pid, signal.SIGCONT)
        assert eventually(lambda: (health := client.health()).connected and health).is_well


def test_many_callers_at_once(client: Any, threads: ThreadPoolExecutor) -> None:
    moving(client.delayed_queue("orders"))
    found = [threads.submit(client.health) for _ in range(20)]
    assert all(each.result().connected for each in found)


# -- what fails though Redis can be reached --------------------------------------------------------------------------


def test_a_user_who_may_not_subscribe(flavour: Flavour, server: EmbeddedServer, admin: Any) -> None:
    rules = ("~*", "&*", "+@all", "-subscribe")
    admin.execute_command("ACL", "SETUSER", "deaf", "reset", "on", ">secret", *rules)
    try:
        with flavour.connect(server.url.replace("://", "://deaf:secret@"), codec=StringCodec()) as client:
            moving(client.delayed_queue("orders"))
            # The refusal comes by another connection than the answers of the calls.
            health = eventually(lambda: (health := client.health()).subscribed is False and health)
            assert (health.connected, health.subscribed, health.is_well) == (True, False, False)
            assert "secret" not in repr(client) + str(health) + json.dumps(health.to_dict())
    finally:
        admin.execute_command("ACL", "DELUSER", "deaf")


def test_a_user_without_a_right(flavour: Flavour, server: EmbeddedServer, admin: Any) -> None:
    admin.execute_command("ACL", "SETUSER", "poor", "reset", "on", ">secret", "+@connection")
    try:
        with flavour.connect(server.url.replace("://", "://poor:secret@"), codec=StringCodec()) as client:
            client.blocking_queue("orders", transfer=False)
            health = client.health()
            assert (health.connected, health.clock_difference, health.queues["orders"].overdue) == (True, None, None)
    finally:
        admin.execute_command("ACL", "DELUSER", "poor")


def test_a_key_of_another_type(client: Any, admin: Any) -> None:
    admin.set(KEYS.timeout, "text")
    moving(client.delayed_queue("orders"))
    health = eventually(lambda: (health := client.health()).problems and health)
    assert (health.connected, health.is_well, health.queues["orders"].overdue) == (True, False, 0)
    assert health.problems == client.problems
    assert f"problem        {client.problems[0]}" in str(health)


def test_bad_arguments_and_a_closed_client(flavour: Flavour, url: str) -> None:
    client = flavour.connect(url)
    for bad in (-1, "x", float("nan"), None):
        with pytest.raises(ArgumentError, match="timeout="):
            client.health(timeout=bad)
    with pytest.raises(TypeError, match="timeot"):
        client.health(timeot=1)
    client.close()
    with pytest.raises(ClosedError):
        client.health()


# -- shown -----------------------------------------------------------------------------------------------------------


def test_it_is_shown(client: Any, admin: Any) -> None:
    delayed = moving(client.delayed_queue("orders"))
    client.blocking_queue("bills", transfer=False)
    delayed.pause()
    delayed.offer("a", 0)
    health = eventually(
        lambda: (
            (health := client.health()).subscribed
            and health.queues["orders"].overdue
            and health.queues["orders"].role
            and health
        )
    )
    queue = health.queues["orders"]
    assert str(health).splitlines() == [
        f"client {health.client}",
        f"  connected      yes, a round trip takes {health.round_trip}",
        "  subscribed     yes",
        f"  clock          the server's is ahead by {health.clock_difference.total_seconds():.6f} s",
        f"  queue          orders: alone, 1 overdue by {queue.late_by}, paused",
        "  queue          bills: not moving",
    ]
    told = json.loads(json.dumps(health.to_dict()))
    assert (told["connected"], told["is_well"], told["last_error"]) == (True, True, None)
    assert told["queues"]["orders"]["role"] == "alone"
    assert told["queues"]["orders"]["late_by"] == queue.late_by.total_seconds()


def test_it_is_shown_while_redis_is_away(flavour: Flavour, own_server: EmbeddedServer) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        own_server.kill()
        health = client.health()
    since = health.last_error_since.isoformat(" ", "milliseconds")
    lines = str(health).splitlines()
    assert lines[1] == f"  connected      no, since {since}"
    assert lines[2].startswith("  last error     RedisConnectionError: ")
    assert json.loads(json.dumps(health.to_dict()))["last_error_since"] == health.last_error_since.isoformat()


# -- the text of a client --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda of: of.Redis(), "redis://localhost:6379/0"),
        (lambda of: of.Redis.from_url("redis://me:secret@example.com:7000/3"), "redis://example.com:7000/3"),
        (lambda of: of.Redis.from_url("rediss://:secret@[::1]:7000"), "rediss://[::1]:7000/0"),
        (lambda of: of.Redis(unix_socket_path="/run/redis.sock", db=2), "unix:///run/redis.sock?db=2"),
        (
            lambda of: of.sentinel.Sentinel([("one", 26379), ("two", 26380)]).master_for("mymaster", db=4),
            "redis+sentinel://one:26379,two:26380/mymaster?db=4",
        ),
    ],
)
@pytest.mark.parametrize("package", [(redis, redisson_dq), (redis.asyncio, redisson_dq.aio)], ids=["sync", "asyncio"])
def test_the_text_of_a_client(made: Any, text: str, package: tuple[Any, Any]) -> None:
    theirs, ours = package
    client = ours.Client(made(theirs), codec=JsonJacksonCodec(), envelope="legacy")
    assert repr(client) == f"Client({text!r}, {JsonJacksonCodec()!r}, envelope='legacy')"
