"""Calls that look start nothing. Calls that offer, take or listen move the queue's due items, as the page says."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq import aio
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, ClosedError, RedissonDQError
from redisson_dq.wire.partitions import partition_names
from tests.conftest import PATIENCE, eventually
from tests.flavours import AsyncioFlavour, Flavour
from tests.integration.calls import CALLS, CLASSES, METHODS, Call, dump, fill, plain_by_day
from tests.integration.conftest import KEYS
from tests.integration.queues.test_every_call import public_names

HANDLES = ("queue", "deque", "bounded", "delayed", "lean")
PARTITIONED = (redisson_dq.PartitionedBlockingQueue, redisson_dq.PartitionedDelayedQueue)


def _groups() -> dict[str, set[str]]:
    """The names of each row of the page's table."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "starts.md").read_text("utf-8")
    section = page.partition("## What a call starts")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\w[\w ]*) \| (`.*?) \| ", section, re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`", calls)) for name, calls in rows}


GROUPS = _groups()
STARTS = {name for group in ("offers", "takes", "waits or listens", "moves") for name in GROUPS[group]}


@pytest.fixture
def server(servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    """An empty Redis; what differs in Valkey is not in these calls."""
    shared = servers("redis")
    with redis.Redis.from_url(shared.url) as admin:
        admin.flushall()
    return shared


def subscribed(admin: Any, keys: Any = KEYS) -> int:
    return int(admin.pubsub_numsub(keys.channel)[0][1])


def background(flavour: Flavour) -> set[str]:
    """The background tasks of all clients."""
    names = [thread.name for thread in threading.enumerate()]
    if isinstance(flavour, AsyncioFlavour):
        names += [task.get_name() for task in asyncio.all_tasks(flavour.loop)]
    return {name for name in names if name.startswith("redisson_dq")}


def is_moving(admin: Any, flavour: Flavour) -> bool:
    has_task = "redisson_dq-mover" in background(flavour)
    listens = any(client["sub"] != "0" for client in admin.client_list())
    return has_task or listens


def test_the_page_has_every_call_once() -> None:
    assert set(GROUPS) == {"looks", "manages", "offers", "takes", "waits or listens", "moves"}
    listed = [name for names in GROUPS.values() for name in names]
    assert len(listed) == len(set(listed))
    calls = {name for kind in HANDLES for name in public_names(CLASSES[kind])}
    assert set(listed) == calls
    assert {name for each in PARTITIONED for name in public_names(each)} <= calls | {"partition_for", "partitions"}


@pytest.mark.parametrize("call", plain_by_day([call for call in CALLS if call.kind in HANDLES]), ids=str)
def test_a_call_starts_what_the_page_says(
    call: Call, flavour: Flavour, url: str, admin: Any, threads: ThreadPoolExecutor
) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        fill(client, admin, KEYS)
        handle = getattr(client, METHODS[call.kind])("orders", **({"lean": True} if call.kind == "lean" else {}))
        before = dump(admin)
        with suppress(RedissonDQError, IndexError):
            threads.submit(call.run, handle).result(PATIENCE)
        if call.name in STARTS and not (call.local and call.name != "start_moving"):
            eventually(lambda: subscribed(admin) == 1)
        else:
            assert not is_moving(admin, flavour)
            assert background(flavour) == set()
            assert client.runtime.transfer_driver is None
        if call.name in GROUPS["looks"]:
            assert dump(admin) == before


@pytest.mark.parametrize(
    "look",
    [
        lambda client: client.delayed_queue("orders").overdue().count,
        lambda client: len(client.delayed_queue("orders").items()),
        lambda client: client.delayed_queue("orders").size(),
        lambda client: client.delayed_queue("orders", partitions=1).overdue().count or 1,
        lambda client: client.blocking_queue("orders").is_empty(),
    ],
)
def test_a_look_leaves_what_is_due(flavour: Flavour, url: str, admin: Any, look: Callable[[Any], int]) -> None:
    """As the page advises to look whether anybody moves."""
    with flavour.connect(url, codec=StringCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer("a", 0)
        # It is due when the millisecond has passed.
        eventually(lambda: look(client) == 1)
        for _ in range(20):
            assert look(client) == 1
        assert not is_moving(admin, flavour)
        assert (admin.zcard(KEYS.timeout), admin.llen(KEYS.ready)) == (1, 0)
        assert client.blocking_queue("orders").take() == "a"


@pytest.mark.parametrize(
    "wait",
    [
        lambda client: client.blocking_queue("orders").take(),
        lambda client: client.blocking_queue("orders").poll(timeout=PATIENCE),
        lambda client: client.blocking_queue("orders").poll(3, timeout=PATIENCE)[0],
        lambda client: client.blocking_queue("orders").receive().value,
        lambda client: client.blocking_queue("orders").receive(timeout=PATIENCE).value,
        lambda client: client.blocking_queue("orders").move("other", timeout=PATIENCE),
        lambda client: client.blocking_deque("orders").take_last(),
        lambda client: _polled(client.blocking_queue("orders").poll),
        lambda client: _polled(lambda: _piped(client, client.blocking_queue("orders").requests.poll)),
        lambda client: _polled(lambda: getattr(client.blocking_queue("orders").receive(timeout=0), "value", None)),
        lambda client: _taken_from_any(client),
        lambda client: _polled(lambda: _polled_from_any(client)),
    ],
)
def test_a_consumer_that_only_opened_its_queue_moves_what_is_due(
    flavour: Flavour, url: str, admin: Any, threads: ThreadPoolExecutor, wait: Callable[[Any], Any]
) -> None:
    with flavour.connect(url, codec=StringCodec()) as other, flavour.connect(url, codec=StringCodec()) as client:
        other.delayed_queue("orders", transfer=False).offer("due", 0)
        assert threads.submit(wait, client).result(PATIENCE) == "due"


def _polled(poll: Callable[[], Any]) -> Any:
    return eventually(poll)


def _piped(client: Any, request: Callable[[], Any]) -> Any:
    with client.pipeline() as pipe:
        reply = pipe.add(request())
    return reply.result


def _taken_from_any(client: Any) -> Any:
    client.blocking_queue("orders")
    return client.blocking_queue("urgent").take_from_any("orders")


def _polled_from_any(client: Any) -> Any:
    client.blocking_queue("orders")
    return client.blocking_queue("urgent").poll_from_any("orders")


@pytest.mark.parametrize("way", ["take", "poll", "poll at once", "receive", "listen", "elements"])
def test_a_consumer_of_partitions_moves_all_of_them(
    flavour: Flavour, url: str, admin: Any, threads: ThreadPoolExecutor, way: str
) -> None:
    with flavour.connect(url, codec=StringCodec()) as other, flavour.connect(url, codec=StringCodec()) as client:
        producer = other.delayed_queue("orders", partitions=4, transfer=False)
        for key in "0123456789abcdef":
            producer.offer(producer.partition_for(key).name, 0, key=key)
        queue = client.blocking_queue("orders", partitions=4)
        come: set[str] = set()
        assert (queue.size(), queue.is_empty(), queue.in_flight(), queue.dead_letters()) == (0, True, [], [])
        assert not is_moving(admin, flavour)
        if way == "listen":
            queue.subscribe_on_elements(come.add)
            eventually(lambda: len(come) == 4)
        calls: dict[str, Callable[[], Any]] = {
            "take": queue.take,
            "poll": lambda: queue.poll(timeout=PATIENCE),
            "poll at once": lambda: eventually(queue.poll),
            "receive": lambda: queue.receive(timeout=PATIENCE).value,
            "elements": lambda: next(iter(queue.elements())),
        }
        while len(come) < 4:
            come.add(threads.submit(calls[way]).result(PATIENCE))
        assert come == set(partition_names("orders", 4))


def test_an_offer_to_a_partition_moves_that_one(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", partitions=4)
        assert (delayed.size(), delayed.overdue().count, delayed.items(), delayed.next_due()) == (0, 0, [], None)
        assert delayed.find("42") is None
        assert not delayed.is_paused()
        assert not is_moving(admin, flavour)
        delayed.offer("a", 60, key="k")
        one = delayed.partition_for("k")
        eventually(lambda: subscribed(admin, one.keys) == 1)
        assert sum(subscribed(admin, each.keys) for each in delayed.partitions) == 1
        delayed.start_moving()
        eventually(lambda: sum(subscribed(admin, each.keys) for each in delayed.partitions) == 4)


def test_a_handle_without_transfer_starts_no_mover(
    flavour: Flavour, url: str, admin: Any, threads: ThreadPoolExecutor
) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        queue = client.blocking_queue("orders", transfer=False)
        delayed.offer("a", 60)
        _piped(client, lambda: delayed.requests.offer("b", 60))
        queue.add("c")
        assert threads.submit(queue.take).result(PATIENCE) == "c"
        assert queue.poll(timeout=0.01) is None
        assert "redisson_dq-mover" not in background(flavour)
        assert not any(each["sub"] != "0" for each in admin.client_list())
        for handle in (delayed, queue):
            with pytest.raises(ArgumentError, match=r"'orders'.*transfer=False"):
                handle.start_moving()


def test_a_pipeline_starts_what_its_calls_start(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders")
        with client.pipeline() as pipe:
            pipe.add(delayed.requests.size())
            pipe.add(delayed.requests.cancel("42"))
            pipe.add(delayed.requests.overdue())
        assert not is_moving(admin, flavour)
        request = delayed.requests.offer("a", 60)
        assert not is_moving(admin, flavour), "a request that is not sent starts nothing"
        _piped(client, lambda: request)
        eventually(lambda: subscribed(admin) == 1)


def test_only_handles_that_have_started_count(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        worked, again, looked = (client.delayed_queue("orders") for _ in range(3))
        worked.offer("a", 60)
        again.offer("b", 60)
        assert looked.size() == 2
        eventually(lambda: subscribed(admin) == 1)
        worked.destroy()
        worked.destroy()
        assert again.size() == 2
        assert subscribed(admin) == 1
        again.destroy()
        eventually(lambda: subscribed(admin) == 0)
        assert looked.size() == 2
        assert subscribed(admin) == 0
        looked.offer("c", 60)
        eventually(lambda: subscribed(admin) == 1)


def test_a_destroyed_handle_starts_nothing(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
        request = delayed.requests.offer("a", 60)
        delayed.destroy()
        queue.destroy()
        for call in (lambda: delayed.offer("b", 60), queue.take, queue.poll, queue.receive, delayed.start_moving):
            with pytest.raises(ClosedError):
                call()
        assert _piped(client, lambda: request).value == "a"
        assert not is_moving(admin, flavour)


def test_a_closed_client_starts_nothing(flavour: Flavour, url: str, admin: Any) -> None:
    client = flavour.connect(url, codec=StringCodec())
    delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
    client.close()
    for call in (lambda: delayed.offer("b", 60), queue.take, queue.poll, queue.receive, delayed.start_moving):
        with pytest.raises(ClosedError):
            call()
    assert background(flavour) == set()


def test_a_renamed_handle_goes_on_as_it_was(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        looked, worked = client.delayed_queue("orders"), client.delayed_queue("others")
        client.delayed_queue("orders", transfer=False).offer("a", 60)
        worked.offer("b", 60)
        looked.rename("orders-2")
        worked.rename("others-2")
        eventually(lambda: subscribed(admin, worked.keys) == 1)
        assert subscribed(admin, looked.keys) == 0
        worked.destroy()
        eventually(lambda: subscribed(admin, worked.keys) == 0)


def test_first_calls_of_many_threads_start_one_mover(url: str, admin: Any) -> None:
    count = 16
    for round_ in range(10):
        name = f"orders-{round_}"
        with redisson_dq.connect(url, codec=StringCodec()) as client, ThreadPoolExecutor(count) as pool:
            delayed, at_once = client.delayed_queue(name), threading.Barrier(count)

            def offer(number: int, delayed: Any = delayed, at_once: threading.Barrier = at_once) -> None:
                at_once.wait(PATIENCE)
                delayed.offer(f"{number}", 60)

            list(pool.map(offer, range(count)))
            eventually(lambda: subscribed(admin, delayed.keys) == 1)  # noqa: B023
            assert [thread.name for thread in threading.enumerate()].count("redisson_dq-mover") == 1
            delayed.destroy()
            eventually(lambda: subscribed(admin, delayed.keys) == 0)  # noqa: B023


def test_first_calls_race_with_the_end_of_the_handle(url: str, admin: Any) -> None:
    """Whichever is first, nothing moves in the end."""
    with redisson_dq.connect(url, codec=StringCodec()) as client, ThreadPoolExecutor(8) as pool:
        for _ in range(50):
            delayed, at_once = client.delayed_queue("orders"), threading.Barrier(8)

            def work(number: int, delayed: Any = delayed, at_once: threading.Barrier = at_once) -> None:
                at_once.wait(PATIENCE)
                with suppress(ClosedError):
                    delayed.offer("a", 60) if number else delayed.destroy()

            list(pool.map(work, range(8)))
        last = client.delayed_queue("orders")
        last.offer("b", 60)
        eventually(lambda: subscribed(admin) == 1)
        last.destroy()
        eventually(lambda: subscribed(admin) == 0)


def test_first_calls_of_many_tasks_start_one_mover(url: str, admin: Any) -> None:
    async def main() -> None:
        async with aio.connect(url, codec=StringCodec()) as client:
            delayed = client.delayed_queue("orders")
            await asyncio.gather(*(delayed.offer(f"{number}", 60) for number in range(50)))
            assert [task.get_name() for task in asyncio.all_tasks()].count("redisson_dq-mover") == 1
            await delayed.destroy()
            while subscribed(admin):
                await asyncio.sleep(0.005)

    asyncio.run(main())
