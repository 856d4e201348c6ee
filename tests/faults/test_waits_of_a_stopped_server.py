"""A stopped server (SIGSTOP): timeouts and cancellations still work, and nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ClosedError, RedisConnectionError
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, eventually
from tests.flavours import AsyncioFlavour, Flavour

# The delay of a busy machine in addition to the promised 0.2 s. An unbounded wait ends after ten seconds or never.
LATE = 4.0


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Threads for calls that block. A test that fails must not wait for them."""
    pool = ThreadPoolExecutor(8)
    yield pool
    pool.shutdown(wait=False, cancel_futures=True)


@contextlib.contextmanager
def stopped(server: EmbeddedServer) -> Iterator[None]:
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


@pytest.mark.parametrize("timeout", [0.0001, 0.2, 1])
@pytest.mark.parametrize("warm", [True, False])
def test_a_timeout_holds(flavour: Flavour, own_server: EmbeddedServer, timeout: float, warm: bool) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        if warm:
            assert queue.poll(timeout=0.01) is None
        with stopped(own_server):
            began = time.monotonic()
            assert queue.poll(timeout=timeout) is None
            assert time.monotonic() - began < timeout + LATE
        queue.add_all(["a", "b"])
        assert sorted([queue.take(), queue.take()]) == ["a", "b"]


@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize("warm", [True, False, "with more behind it"])
def test_a_receive_holds_its_timeout(flavour: Flavour, own_server: EmbeddedServer, warm: bool | str) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        if warm is True:
            assert queue.receive(timeout=0.01) is None
        elif warm:
            # The next receive looks by itself first.
            queue.add_all(["1", "2"])
            assert all(queue.receive().ack() for _ in range(2))
        with stopped(own_server):
            for timeout in (1e-9, 0.0001, 0.2, 1):
                began = time.monotonic()
                assert queue.receive(timeout=timeout) is None
                assert queue.receive(3, timeout=timeout) == []
                assert time.monotonic() - began < 2 * (timeout + LATE)
        queue.add("a")
        delivery = queue.receive(timeout=PATIENCE)
        assert (delivery.value, delivery.attempt) == ("a", 1)
        delivery.ack()


@pytest.mark.parametrize("warm", [True, False])
def test_an_offer_holds_its_timeout(flavour: Flavour, own_server: EmbeddedServer, warm: bool) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        queue = client.bounded_blocking_queue("orders", transfer=False)
        if warm:
            assert queue.try_set_capacity(1)
        with stopped(own_server):
            began = time.monotonic()
            with pytest.raises(RedisConnectionError) as unanswered:
                queue.offer("a", timeout=0.3)
            assert unanswered.value.maybe_done
            assert time.monotonic() - began < 0.3 + LATE


def test_partitions_hold_a_timeout(flavour: Flavour, own_server: EmbeddedServer) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False, partitions=3)
        assert queue.poll(timeout=0.01) is None
        with stopped(own_server):
            began = time.monotonic()
            assert queue.poll(timeout=0.3) is None
            assert queue.receive(timeout=0.3) is None
            assert time.monotonic() - began < 2 * (0.3 + LATE)
        queue.add("a")
        assert queue.take() == "a"


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
@pytest.mark.parametrize("call", ["take", "receive", "receive at once", "look at partitions"])
def test_a_cancellation_is_at_once(flavour: AsyncioFlavour, own_server: EmbeddedServer, call: str) -> None:
    async def cancelled(queue: Any, parts: Any) -> float:
        if call == "take" or call == "receive":
            taking = asyncio.create_task(getattr(queue, call)())
            await asyncio.sleep(0.1)
            with stopped(own_server):
                return await cancelling(taking, queue.poll(timeout=5))
        with stopped(own_server):
            taking = asyncio.create_task(queue.receive(timeout=0) if call == "receive at once" else parts.poll())
            await asyncio.sleep(0.1)
            return await cancelling(taking, queue.receive(timeout=5))

    async def cancelling(taking: asyncio.Task[Any], other: Any) -> float:
        began = time.monotonic()
        taking.cancel()
        await asyncio.wait((taking,))
        waited = time.monotonic() - began
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(other, 0.1)
        return max(waited, time.monotonic() - began)

    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        parts = client.blocking_queue("parts", transfer=False, partitions=3)
        assert flavour.run(cancelled(queue.inner, parts.inner)) < LATE
        # Commands without a waiting caller have ended, or give back their values.
        queue.add("a")
        assert queue.take() == "a"
        parts.add("b")
        assert parts.take() == "b"


def test_what_comes_when_the_server_goes_on_is_not_lost(
    flavour: Flavour, own_server: EmbeddedServer, threads: ThreadPoolExecutor
) -> None:
    with (
        flavour.connect(own_server.url, codec=StringCodec()) as client,
        redis.Redis.from_url(own_server.url, socket_timeout=None) as admin,
    ):
        queue = client.blocking_queue("orders", transfer=False)
        got: list[str] = []
        for number in range(10):
            got += queue.poll(5, timeout=0.01)
            with stopped(own_server):
                pushing = threads.submit(admin.rpush, "orders", f"v{number}")
                got += queue.poll(5, timeout=0.05)
            pushing.result(PATIENCE)
        eventually(lambda: admin.llen("orders") + len(got) == 10)
        assert sorted(got + queue.poll(limit=20)) == [f"v{number}" for number in range(10)]


@ONE_FLAVOUR_BY_DAY
def test_close_and_destroy_are_bounded(
    flavour: Flavour, own_server: EmbeddedServer, threads: ThreadPoolExecutor
) -> None:
    client = flavour.connect(own_server.url, codec=StringCodec())
    with redis.Redis.from_url(own_server.url) as admin:
        queues = [client.blocking_queue(name, transfer=False) for name in ("a", "b", "c")]
        waiting = [threads.submit(queue.take) for queue in queues]
        eventually(lambda: admin.info("clients")["blocked_clients"] == 3)
        with stopped(own_server):
            began = time.monotonic()
            queues[0].destroy()
            client.close()
            assert time.monotonic() - began < 8
            for future in waiting:
                with pytest.raises(ClosedError):
                    future.result(PATIENCE)
        # Commands under way end with the answers of the server, and leave no connection.
        eventually(lambda: len(admin.client_list()) == 1)
