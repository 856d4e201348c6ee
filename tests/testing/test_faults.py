"""The faults of the kit, under a test's clock and in real time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

import redisson_dq.aio
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, RedisConnectionError, RedisReplyError, RedissonDQError
from redisson_dq.testing import ServerOfTests, TestClock, assert_offered, assert_settled, server_of_tests
from redisson_dq.testing.faults import Faults
from redisson_dq.testing.faults._commands import read_scripts
from redisson_dq.worker import Retry, fixed
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour

HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def server() -> Iterator[ServerOfTests]:
    with server_of_tests() as made:
        yield made


@pytest.fixture
def url(faults: Faults) -> str:
    """That of the clients."""
    return faults.url


@pytest.fixture
def faults(server: ServerOfTests) -> Iterator[Faults]:
    with Faults(server) as made:
        yield made


@pytest.fixture
def clock(server: ServerOfTests) -> Iterator[TestClock]:
    with TestClock(server.url) as made:
        yield made


@pytest.fixture
def real(flavour: Flavour, server: ServerOfTests, faults: Faults) -> Iterator[Any]:
    """A queue in real time."""
    server.empty()
    with flavour.connect(faults.url, codec=StringCodec()) as client:
        yield client.blocking_queue("orders")


@pytest.fixture
def working(flavour: Flavour, client: Any) -> Iterator[list[Any]]:
    """The values that a worker has handled."""
    worker, handled = flavour.worker(client), []

    @worker.handler("orders", retry=Retry(limit=3, backoff=fixed(60)))
    def handle(value: str, event: Any) -> None:
        handled.append((value, event.attempt))

    with worker:
        yield handled


# -- workers ---------------------------------------------------------------------------------------------------------


def test_a_worker_survives_a_restart(working: list[Any], delayed: Any, faults: Faults, clock: TestClock) -> None:
    delayed.offer("a", HOUR)
    clock.settle()
    faults.restart()
    clock.advance(hours=1)
    assert working == [("a", 1)]


def test_a_worker_survives_a_while_without_redis(
    working: list[Any], delayed: Any, faults: Faults, clock: TestClock
) -> None:
    delayed.offer("a", 60)
    with faults.down():
        clock.advance(minutes=10)
        assert working == []
    clock.advance(minutes=5)
    assert working == [("a", 1)]


def test_a_worker_survives_a_frozen_server(working: list[Any], delayed: Any, faults: Faults, clock: TestClock) -> None:
    delayed.offer("a", 60)
    with faults.frozen():
        clock.advance(minutes=10)
        assert working == []
    clock.advance(minutes=5)
    assert working == [("a", 1)]


@pytest.mark.parametrize("away", ["down", "frozen"])
def test_a_worker_and_its_client_end_though_redis_is_away_and_no_time_passes(
    flavour: Flavour, client: Any, delayed: Any, faults: Faults, clock: TestClock, away: str
) -> None:
    worker = flavour.worker(client)
    worker.handler("orders")(lambda value: None)
    worker.start()
    delayed.offer("a", 60)
    with getattr(faults, away)():
        clock.advance(minutes=10)
        worker.stop()
        client.close()
    assert not worker.is_consuming


def test_a_worker_survives_a_full_server(working: list[Any], delayed: Any, faults: Faults, clock: TestClock) -> None:
    delayed.offer("a", 5)
    with faults.full():
        clock.advance(10)
        with pytest.raises(RedisReplyError, match="maxmemory"):
            delayed.offer("b", HOUR)
    clock.advance(minutes=1)
    assert working == [("a", 1)]


def test_an_ack_whose_reply_is_lost_is_not_forgotten(
    working: list[Any], delayed: Any, client: Any, faults: Faults, clock: TestClock
) -> None:
    delayed.offer("a", 5)
    with faults.lost_reply("ack"):
        clock.advance(5)
    clock.advance(minutes=10)
    assert working == [("a", 1)]
    assert client.blocking_queue("orders").is_empty()


# -- one fault at a time ---------------------------------------------------------------------------------------------


def test_a_lost_reply_is_that_of_a_call_that_was_done(delayed: Any, faults: Faults, clock: TestClock) -> None:
    with faults.lost_reply("offer") as lost, pytest.raises(RedisConnectionError) as failed:
        delayed.offer("a", HOUR, id="order-1")
    assert (failed.value.maybe_done, lost.count) == (True, 1)
    assert [item.value for item in delayed.items()] == ["a"]


def test_a_command_that_never_came_was_not_done(delayed: Any, faults: Faults, clock: TestClock) -> None:
    with faults.cut_at("offer.lua"), pytest.raises(RedisConnectionError):
        delayed.offer("a", HOUR)
    assert delayed.items() == []


def test_a_refused_command_was_not_done(delayed: Any, faults: Faults) -> None:
    with faults.refused("offer", "READONLY no writes here"), pytest.raises(RedissonDQError, match="no writes here"):
        delayed.offer("a", HOUR)
    assert delayed.items() == []
    assert delayed.offer("a", HOUR)


def test_connections_are_cut_and_killed(real: Any, faults: Faults, threads: ThreadPoolExecutor) -> None:
    assert real.is_empty()
    faults.cut()
    assert faults.kill() == 0
    waiting = threads.submit(real.take)
    assert eventually(lambda: faults.kill("BLPOP")) == 1
    eventually(lambda: faults.kill("BLPOP"))
    real.add("a")
    assert waiting.result(PATIENCE) == "a"


def test_a_frozen_command_goes_on_afterwards(real: Any, faults: Faults, threads: ThreadPoolExecutor) -> None:
    real.add("a")
    with faults.frozen_at("LPOP") as frozen:
        polling = threads.submit(real.poll)
        assert frozen.wait()
        assert not polling.done()
    assert polling.result(PATIENCE) == "a"


def test_replies_are_late(real: Any, faults: Faults) -> None:
    with faults.delayed(0.01), faults.delayed_at("RPUSH", 0.01) as late:
        assert real.add("a")
    assert late.count == 1


def test_a_silent_connection_is_found_out(flavour: Flavour, server: ServerOfTests, faults: Faults) -> None:
    server.empty()
    with flavour.connect(f"{faults.url}?socket_timeout=1", codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        queue.add("a")
        faults.silence()
        with pytest.raises(RedisConnectionError):
            queue.size()
        assert queue.size() == 1


def test_writers_wait_while_redis_pauses(real: Any, faults: Faults, threads: ThreadPoolExecutor) -> None:
    assert real.is_empty()
    with faults.paused():
        adding = threads.submit(real.add, "a")
        assert real.is_empty()
        assert not adding.done()
    assert adding.result(PATIENCE)


# -- what is refused -------------------------------------------------------------------------------------------------


def test_the_scripts_are_read_before_connections_come(server: ServerOfTests) -> None:
    """Each of many new connections would read them by itself, and all others would wait for seconds."""
    read_scripts.cache_clear()
    with Faults(server):
        assert read_scripts.cache_info().currsize == 1


def test_a_fault_that_never_came_fails_the_test(delayed: Any, faults: Faults) -> None:
    with pytest.raises(AssertionError, match=r"no command 'ack' came, .*; there came: .*offer.lua"):
        with faults.lost_reply("ack"):
            delayed.offer("a", HOUR)
    # An error of the test itself is told first.
    with pytest.raises(KeyError), faults.lost_reply("ack"):
        raise KeyError


def test_wrong_arguments_are_named(server: ServerOfTests, faults: Faults, clock: TestClock) -> None:
    with pytest.raises(ArgumentError, match=r"no script is called 'ofer' \(there is offer"), faults.cut_at("ofer"):
        pass
    with pytest.raises(ArgumentError, match="a pause would stop the test's clock"), faults.paused():
        pass
    with pytest.raises(ArgumentError, match="an error of one line"):
        faults.refused("offer", "ERR\r\n+OK")
    for wrong in (server.url, None):
        with pytest.raises(ArgumentError, match=r"needs the server of server_of_tests\(\)"):
            Faults(wrong)  # type: ignore[arg-type]
    with server_of_tests(server.url, 1) as elsewhere, Faults(elsewhere) as others:
        with pytest.raises(ArgumentError, match="was not started by the tests"):
            others.restart()


def test_an_embedded_server_meets_faults_too(flavour: Flavour) -> None:
    with EmbeddedServer() as server, Faults(server) as faults, flavour.connect(faults.url) as client:
        queue = client.blocking_queue("orders")
        queue.add("a")
        with faults.full():
            pass
        faults.restart()
        assert queue.poll() == "a"


def test_faults_in_a_coroutine(faults: Faults, clock: TestClock) -> None:
    async def main() -> None:
        async with redisson_dq.aio.connect(faults.url) as client:
            delayed = client.delayed_queue("orders")
            with faults.lost_reply("offer"), pytest.raises(RedisConnectionError):
                await delayed.offer("a", HOUR)
            await assert_offered(delayed, "a", delay=HOUR)
            faults.restart()
            await clock.aio.advance(HOUR)
            assert await client.blocking_queue("orders").poll() == "a"
            await assert_settled(delayed)

    asyncio.run(main())
