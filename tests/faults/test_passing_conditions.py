"""A blocking call waits until a temporary condition ends. It raises only for conditions that must be repaired."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from redisson_dq import partition_names
from redisson_dq.errors import RedisConnectionError, RedisReplyError
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, eventually, thinned
from tests.faults.kit import FAULTS
from tests.faults.run import run
from tests.faults.world import World
from tests.flavours import Flavour

Condition = Callable[[redis.Redis, bool], None]


def min_replicas(admin: redis.Redis, begins: bool) -> None:
    admin.config_set("min-replicas-to-write", int(begins))


def read_only(admin: redis.Redis, begins: bool) -> None:
    admin.execute_command("REPLICAOF", *(("127.0.0.1", "1") if begins else ("NO", "ONE")))


def master_down(admin: redis.Redis, begins: bool) -> None:
    admin.config_set("replica-serve-stale-data", "no" if begins else "yes")
    read_only(admin, begins)


def no_memory(admin: redis.Redis, begins: bool) -> None:
    admin.config_set("maxmemory", int(begins))


def busy(admin: redis.Redis, begins: bool) -> None:
    """Another program's long-running script, until it is killed."""
    if not begins:
        # It may have ended by itself, as its client is gone.
        with contextlib.suppress(redis.ResponseError):
            admin.script_kill()
        eventually(lambda: not _is_busy(admin))
        return
    admin.config_set("busy-reply-threshold", 1)
    pool = redis.ConnectionPool(**admin.connection_pool.connection_kwargs)
    pool.get_connection().send_command("EVAL", "while true do end", 0)
    eventually(lambda: _is_busy(admin))


def loading(admin: redis.Redis, begins: bool) -> None:
    """A server that loads its data, as after a start."""
    if begins:
        admin.execute_command("DEBUG", "POPULATE", 3000, "filling", 2000)
        # It answers once after this many bytes.
        admin.config_set("loading-process-events-interval-bytes", 1024)
        admin.config_set("key-load-delay", 1000)
        pool = redis.ConnectionPool(**admin.connection_pool.connection_kwargs)
        pool.get_connection().send_command("DEBUG", "RELOAD")
        eventually(lambda: admin.info("persistence")["loading"])
    else:
        admin.config_set("key-load-delay", 0)
        eventually(lambda: not admin.info("persistence")["loading"])


def _is_busy(admin: redis.Redis) -> bool:
    try:
        return not admin.ping()
    except (redis.ResponseError, redis.BusyLoadingError):
        return True


_WAITS: dict[str, Callable[[Any], Any]] = {
    "take": lambda queue: queue.take(),
    "poll": lambda queue: queue.poll(timeout=PATIENCE),
    "poll many": lambda queue: queue.poll(10, timeout=PATIENCE),
    "take from any": lambda queue: queue.take_from_any("other"),
    "move": lambda queue: queue.move("other", timeout=PATIENCE),
    "receive": lambda queue: queue.receive().value,
    "receive many": lambda queue: [each.value for each in queue.receive(10)],
    "receive for a time": lambda queue: queue.receive(timeout=PATIENCE).value,
    # Its own look comes first, because more values may be ready.
    "receive after others": lambda queue: queue.receive().value,
    "take of partitions": lambda queue: queue.take(),
    "receive of partitions": lambda queue: queue.receive().value,
    "receive many of partitions": lambda queue: [each.value for each in queue.receive(10, timeout=PATIENCE)],
}


@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize(
    ("wait", "condition"),
    [
        *thinned(_WAITS, [min_replicas, read_only, master_down, no_memory, busy], of=3),
        *(pytest.param(wait, loading, marks=pytest.mark.nightly) for wait in _WAITS),
    ],
)
def test_a_wait_outlasts_it(
    flavour: Flavour, wait: str, condition: Condition, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "redisson_dq")
    # The client is closed before the thread is waited for, so that a wait that fails here ends.
    with World() as world, ThreadPoolExecutor(1) as thread, world.connect(flavour) as client:
        queue = client.blocking_queue("orders", **({"partitions": 2} if "partitions" in wait else {}))
        if wait == "receive after others":
            queue.add_all(["one", "two"])
            assert all(queue.receive().ack() for _ in range(2))
        condition(world.admin, True)
        waiting = thread.submit(_WAITS[wait], queue)
        eventually(lambda: waiting.done() or "waiting again" in caplog.text or _blocked(world.admin))
        assert not waiting.done(), waiting.exception()
        condition(world.admin, False)
        world.admin.rpush(partition_names("orders", 2)[1] if "partitions" in wait else "orders", "after")
        assert waiting.result(PATIENCE) in ("after", ["after"])


@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize("condition", [min_replicas, read_only, master_down, busy, loading])
def test_a_put_outlasts_it(flavour: Flavour, condition: Condition) -> None:
    with World() as world, ThreadPoolExecutor(2) as threads, world.connect(flavour) as client:
        queue = client.bounded_blocking_queue("orders", transfer=False)
        assert queue.try_set_capacity(2)
        condition(world.admin, True)
        putting = [threads.submit(queue.put, "a"), threads.submit(queue.offer, "b", timeout=PATIENCE)]
        with pytest.raises((RedisConnectionError, RedisReplyError)) as refused:
            queue.offer("c", timeout=0.2)
        assert not getattr(refused.value, "maybe_done", True)
        assert not any(future.done() for future in putting)
        condition(world.admin, False)
        assert [future.result(PATIENCE) for future in putting] == [None, True]
        assert sorted(queue.read_all()) == ["a", "b"]


def test_nothing_is_done_while_the_server_reads_its_data(flavour: Flavour) -> None:
    with World() as world, world.connect(flavour) as client:
        queue = client.blocking_queue("orders", transfer=False)
        loading(world.admin, True)
        for call in (lambda: queue.add("a"), queue.poll, lambda: queue.receive(timeout=0)):
            with pytest.raises(RedisConnectionError, match="loading") as refused:
                call()
            assert not refused.value.maybe_done
        loading(world.admin, False)


def _blocked(admin: redis.Redis) -> bool:
    # A busy server reports nothing.
    return not _is_busy(admin) and bool(admin.info("clients")["blocked_clients"])


@pytest.mark.parametrize("fault", ["min-replicas", "read-only"])
def test_every_item_is_accounted_for(fault: str) -> None:
    result = run(FAULTS[fault], ["threads", "asyncio", "recurring"], seed=1, times=2)
    assert not result.all_findings, str(result)
