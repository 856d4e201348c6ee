"""A server is paused, as by a failover, under every waiting call: calls survive, nothing is lost, timeouts hold.

``REDISSON_DQ_FAULT_SECONDS`` is how long each random run takes; 0.4 unless set.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedisConnectionError
from tests.conftest import PATIENCE, eventually
from tests.faults.servers import at_hand
from tests.flavours import Flavour

SECONDS = float(os.environ.get("REDISSON_DQ_FAULT_SECONDS", "0.4"))

# How late a call may return on a busy machine while the server does not answer. The ack of a received value also waits
# for the end of the pause.
LATE = 3.0

CALLS: dict[str, Callable[[Any, float], Any]] = {
    "poll": lambda queues, timeout: queues["plain"].poll(timeout=timeout),
    "poll_many": lambda queues, timeout: queues["plain"].poll(5, timeout=timeout),
    "poll_from_any": lambda queues, timeout: queues["plain"].poll_from_any("other", timeout=timeout),
    "bounded": lambda queues, timeout: queues["bounded"].poll(5, timeout=timeout),
    "partitions": lambda queues, timeout: queues["partitions"].poll(5, timeout=timeout),
    "receive": lambda queues, timeout: received(queues["plain"], 1, timeout),
    "receive_many": lambda queues, timeout: received(queues["plain"], 5, timeout),
    "receive_of_partitions": lambda queues, timeout: received(queues["partitions"], 5, timeout),
}


def received(queue: Any, limit: int, timeout: float) -> list[str]:
    """Under a lease that outlasts every pause."""
    deliveries = queue.receive(limit, timeout=timeout, visibility_timeout=PATIENCE)
    if deliveries:
        assert all(queue.ack_all(deliveries))
    return [each.value for each in deliveries]


PARTS = ["parts:0-46", "parts:1-61"]


@pytest.fixture(params=at_hand(), scope="module")
def started(request: pytest.FixtureRequest) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(program=at_hand()[request.param]()) as server:
        yield server


@pytest.fixture
def server(started: EmbeddedServer) -> EmbeddedServer:
    """Each kind and version of server that is at hand."""
    with redis.Redis.from_url(started.url) as admin:
        admin.flushall()
    return started


def opened(client: Any) -> dict[str, Any]:
    bounded = client.bounded_blocking_queue("bounded", transfer=False)
    bounded.try_set_capacity(1_000_000)
    return {
        "plain": client.blocking_queue("orders", transfer=False),
        "bounded": bounded,
        "partitions": client.blocking_queue("parts", transfer=False, partitions=2),
    }


@pytest.mark.parametrize("leases", [False, True], ids=["poll", "receive"])
@pytest.mark.parametrize("mode", ["WRITE", "ALL"])
def test_a_wait_that_begins_and_ends_during_a_pause(
    flavour: Flavour, server: EmbeddedServer, admin: redis.Redis, url: str, mode: str, leases: bool
) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        wait = queue.receive if leases else queue.poll
        assert wait(timeout=0.05) is None
        admin.execute_command("CLIENT", "PAUSE", 1500, mode)
        began = time.monotonic()
        assert wait(timeout=0.6) is None
        assert 0.6 <= time.monotonic() - began < 0.6 + LATE
        if leases:
            assert queue.receive(5, timeout=0.3) == []
        with redis.Redis.from_url(url, socket_timeout=None) as other:
            other.rpush("orders", "a")
        assert server.running
        if leases:
            delivery = queue.receive()
            assert (delivery.value, delivery.attempt) == ("a", 1)
        else:
            assert queue.take() == "a"


def pause(url: str, chance: random.Random, stop: threading.Event) -> None:
    """Pauses the server again and again."""
    with redis.Redis.from_url(url, socket_timeout=None) as pauser:
        while not stop.is_set():
            length = chance.choice((20, 100, 300))
            pauser.execute_command("CLIENT", "PAUSE", length, chance.choice(("WRITE", "ALL")))
            stop.wait(length / 1000 + chance.uniform(0, 0.1))


@pytest.mark.parametrize("call", CALLS)
def test_random_pauses(flavour: Flavour, server: EmbeddedServer, admin: redis.Redis, url: str, call: str) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    chance = random.Random(seed)
    stop = threading.Event()
    pushed: list[str] = []

    def push() -> None:
        keys = ["bounded"] if call == "bounded" else PARTS if "partitions" in call else ["orders"]
        with redis.Redis.from_url(url, socket_timeout=None) as pusher:
            while not stop.is_set():
                value = f"v{len(pushed)}"
                if call == "bounded":
                    pusher.decr("redisson_bqs:{bounded}")
                pusher.rpush(chance.choice(keys), value)
                pushed.append(value)
                stop.wait(chance.choice((0.001, 0.02, 0.2)))

    got: list[str] = []
    with flavour.connect(url, codec=StringCodec()) as client:
        queues = opened(client)
        threads = [threading.Thread(target=pause, args=(url, chance, stop)), threading.Thread(target=push)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            timeout = chance.choice((0.01, 0.1, 0.3))
            began = time.monotonic()
            found = CALLS[call](queues, timeout)
            assert time.monotonic() - began < timeout + LATE
            got += found if isinstance(found, list) else [found] if found else []
        stop.set()
        for thread in threads:
            thread.join()

        def rest_is_there() -> bool:
            found = CALLS[call](queues, 0.3)
            got.extend(found if isinstance(found, list) else [found] if found else [])
            return len(got) >= len(pushed)

        eventually(rest_is_there)
    assert server.running
    assert sorted(got) == sorted(pushed)


def test_put_under_random_pauses(flavour: Flavour, server: EmbeddedServer, admin: redis.Redis, url: str) -> None:
    """Two producers wait for room, in ``put`` and in ``offer`` with a timeout. Each accepted value is taken once."""
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    chance = random.Random(seed)
    stop = threading.Event()
    offered: list[str] = []
    in_doubt: set[str] = set()
    got: list[str] = []

    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.bounded_blocking_queue("bounded", transfer=False)
        assert queue.try_set_capacity(2)

        def put() -> None:
            number = 0
            while not stop.is_set():
                value = f"put{(number := number + 1)}"
                queue.put(value)
                offered.append(value)

        def offer() -> None:
            number = 0
            while not stop.is_set():
                value = f"offer{(number := number + 1)}"
                try:
                    if queue.offer(value, timeout=0.05):
                        offered.append(value)
                except RedisConnectionError as error:
                    # No answer in time.
                    if not error.maybe_done:
                        raise
                    in_doubt.add(value)

        threads = [threading.Thread(target=pause, args=(url, chance, stop))]
        threads += [threading.Thread(target=work) for work in (put, offer)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            got += queue.poll(5, timeout=0.1)
        stop.set()

        def all_are_taken() -> bool:
            got.extend(queue.poll(5, timeout=0.1))
            return not any(thread.is_alive() for thread in threads) and set(got) >= set(offered)

        eventually(all_are_taken)

        def there_is_room() -> bool:
            got.extend(queue.poll(5, timeout=0.1))
            return bool(queue.remaining_capacity() == 2)

        eventually(there_is_room)
    assert server.running
    assert len(got) == len(set(got))
    assert set(offered) <= set(got) <= set(offered) | in_doubt
