"""Callers that wait for room in a bounded queue, and what ends their wait."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError, RedisReplyError
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, eventually
from tests.flavours import AsyncioFlavour, Flavour

CHANNEL = QueueKeys.of("bounded").capacity_channel


@pytest.mark.parametrize("end", ["client", "handle"])
@pytest.mark.parametrize("timeout", [None, PATIENCE])
def test_an_end_ends_the_wait(
    threads: ThreadPoolExecutor, flavour: Flavour, admin: Any, url: str, end: str, timeout: float | None
) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        bounded = client.bounded_blocking_queue("bounded", transfer=False)
        bounded.try_set_capacity(1)
        bounded.put("a")
        waiting = threads.submit(*((bounded.put, "b") if timeout is None else (bounded.offer, "b", timeout)))
        eventually(lambda: admin.pubsub_numsub(CHANNEL)[0][1] == 1)
        (client.close if end == "client" else bounded.destroy)()
        with pytest.raises(ClosedError):
            waiting.result(PATIENCE)
        assert admin.lrange("bounded", 0, -1) == [b"a"]


def test_a_client_that_is_closed_just_after_its_subscription_began_leaves_no_thread(
    threads: ThreadPoolExecutor, admin: Any, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    def slowly(thread: threading.Thread) -> None:
        start(thread)
        if thread.name == "redisson_dq-subscription":
            time.sleep(0.2)

    monkeypatch.setattr(threading.Thread, "start", slowly)
    with Flavour().connect(url, codec=StringCodec()) as client:
        bounded = client.bounded_blocking_queue("bounded", transfer=False)
        bounded.try_set_capacity(1)
        bounded.put("a")
        waiting = threads.submit(bounded.put, "b")
        eventually(lambda: admin.pubsub_numsub(CHANNEL)[0][1] == 1)
        client.close()
        with pytest.raises(ClosedError):
            waiting.result(PATIENCE)


def test_another_handle_keeps_waiting_when_one_is_destroyed(
    threads: ThreadPoolExecutor, admin: Any, client: Any
) -> None:
    bounded, other = client.bounded_blocking_queue("bounded"), client.bounded_blocking_queue("bounded")
    bounded.try_set_capacity(1)
    bounded.put("a")
    waiting = threads.submit(other.put, "b")
    eventually(lambda: admin.pubsub_numsub(CHANNEL)[0][1] == 1)
    bounded.destroy()
    assert other.poll() == "a"
    waiting.result(PATIENCE)
    assert other.poll() == "b"


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_a_put_that_is_cancelled_at_any_moment_ends(flavour: AsyncioFlavour, url: str) -> None:
    async def puts(steps: int, client: Any) -> None:
        bounded = client.bounded_blocking_queue(f"bounded{steps}", transfer=False)
        await bounded.try_set_capacity(1)
        await bounded.put("a")
        tasks = [asyncio.create_task(bounded.put(value)) for value in "bcde"]
        for _ in range(steps):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        _, left = await asyncio.wait(tasks, timeout=PATIENCE)
        assert not left

    for steps in range(60):
        # Connections that are yet to be made are part of it.
        with flavour.connect(url, codec=StringCodec()) as client:
            flavour.run(puts(steps, client.inner))


def test_a_wait_that_is_interrupted_while_it_subscribes_leaves_no_promise_behind(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(channel: str, queue: str) -> None:
        raise KeyboardInterrupt

    with Flavour().connect(url, codec=StringCodec()) as client:
        waiters = vars(client.runtime.capacity_waiters)
        monkeypatch.setattr(waiters["_subscription"], "add", interrupted)
        bounded = client.bounded_blocking_queue("bounded", transfer=False)
        bounded.try_set_capacity(1)
        bounded.put("a")
        with pytest.raises(KeyboardInterrupt):
            bounded.put("b")
        assert waiters["_waiting"] == {CHANNEL: []}


def test_a_wait_goes_along_when_the_queue_is_renamed(threads: ThreadPoolExecutor, admin: Any, client: Any) -> None:
    bounded = client.bounded_blocking_queue("bounded", transfer=False)
    bounded.try_set_capacity(1)
    bounded.put("a")
    waiting = threads.submit(bounded.put, "b")
    eventually(lambda: admin.pubsub_numsub(CHANNEL)[0][1] == 1)
    # Once for the capacity and for "a"; "b" at first, in line, and when the subscription was confirmed.
    eventually(lambda: admin.info("commandstats")["cmdstat_get"]["calls"] == 5)
    bounded.rename("renamed")
    assert bounded.poll() == "a"
    waiting.result(PATIENCE)
    assert admin.lrange("renamed", 0, -1) == [b"b"]


def test_room_that_lost_takes_never_made_comes_back(admin: Any, client: Any) -> None:
    keys = QueueKeys.of("bounded")
    bounded = client.bounded_blocking_queue("bounded", transfer=False)
    assert bounded.try_set_capacity(20)
    bounded.add_all([str(number) for number in range(20)])
    # As of clients that die, or lose the reply, between the pop and the command that makes room.
    admin.ltrim("bounded", 15, -1)
    assert not bounded.offer("x")
    # Some of these takes may only be on their way.
    assert bounded.remaining_capacity() == 0
    since, missing = admin.hget(keys.settings, "short").split()
    assert missing == b"15"
    admin.hset(keys.settings, "short", b"%d 12" % (int(since) - 10_000))
    assert bounded.offer("x")
    assert bounded.remaining_capacity() == 11, "as much as was missing all the time"
    assert bounded.size() == 6


def test_no_more_room_is_made_than_there_is(admin: Any, client: Any) -> None:
    bounded = client.bounded_blocking_queue("bounded", transfer=False)
    assert bounded.try_set_capacity(2)
    bounded.add_all(["a", "b"])
    # The room of takes that were slower than their clients were expected to be was made before.
    admin.set(QueueKeys.of("bounded").capacity, 1)
    assert bounded.poll() == "a"
    assert bounded.remaining_capacity() == 1
    assert bounded.poll() == "b"
    assert bounded.remaining_capacity() == 2


def test_what_is_received_keeps_its_room(admin: Any, client: Any) -> None:
    keys = QueueKeys.of("bounded")
    bounded = client.bounded_blocking_queue("bounded", transfer=False)
    assert bounded.try_set_capacity(2)
    bounded.add_all(["a", "b"])
    first, second = bounded.receive(2, visibility_timeout=60)
    admin.hset(keys.settings, "short", "5 2")
    assert not bounded.offer("c")
    assert not admin.hexists(keys.settings, "short")
    second.nack(delay=60)
    assert not bounded.offer("c")
    first.ack()
    assert bounded.offer("c")


def test_a_capacity_that_java_said_is_not_guessed(admin: Any, client: Any) -> None:
    keys = QueueKeys.of("bounded")
    bounded = client.bounded_blocking_queue("bounded", transfer=False)
    admin.set(keys.capacity, 0)
    admin.hset(keys.settings, "short", "5 2")
    assert not bounded.offer("c")
    # One that was said here before Java deleted the queue and said another one.
    admin.hset(keys.settings, "capacity", 9)
    assert not bounded.try_set_capacity(5)
    assert not bounded.offer("c")


def test_room_comes_back_where_java_said_the_capacity_and_python_named_the_same(admin: Any, client: Any) -> None:
    keys = QueueKeys.of("bounded")
    bounded = client.bounded_blocking_queue("bounded", transfer=False)
    # As RBoundedBlockingQueue.trySetCapacity(20) does, and five offers.
    admin.set(keys.capacity, 15)
    admin.rpush("bounded", *range(5))
    assert not bounded.try_set_capacity(20)
    # Two of Java's takes whose replies were lost.
    admin.ltrim("bounded", 2, -1)
    assert not bounded.add_all(["x"] * 17)
    admin.hset(keys.settings, "short", "5 2")
    assert bounded.add_all(["x"] * 17)
    assert (bounded.size(), bounded.remaining_capacity()) == (20, 0)


@pytest.mark.parametrize("more", ["another number", "an item waits", "room is missing", "no number"])
def test_a_capacity_of_javas_is_noted_only_where_all_of_it_is_there(admin: Any, client: Any, more: str) -> None:
    keys = QueueKeys.of("bounded")
    bounded = client.bounded_blocking_queue("bounded", transfer=False)
    admin.set(keys.capacity, "a" if more == "no number" else 20)
    if more == "an item waits":
        admin.zadd(keys.timeout, {"a": time.time() * 1000 + 60_000})
    elif more == "room is missing":
        admin.decr(keys.capacity)
    assert not bounded.try_set_capacity(21 if more == "another number" else 20)
    assert not admin.hexists(keys.settings, "capacity")


def _set_again_by_java(admin: Any, capacity: int) -> None:
    """As RBoundedBlockingQueue.trySetCapacity(int) does where no capacity is set."""
    keys = QueueKeys.of("bounded")
    assert admin.set(keys.capacity, capacity, nx=True)
    admin.publish(keys.capacity_channel, capacity)


GOES: dict[str, Callable[[Any, Any, Any], object]] = {
    "delete": lambda bounded, client, admin: bounded.delete(),
    "unlink": lambda bounded, client, admin: bounded.unlink(),
    "rename": lambda bounded, client, admin: bounded.rename("elsewhere"),
    "rename if free": lambda bounded, client, admin: bounded.rename_if_free("elsewhere"),
    "it ends": lambda bounded, client, admin: (bounded.expire(60), admin.delete("bounded", "redisson_bqs:{bounded}")),
    "Java deletes it, and a take follows": lambda bounded, client, admin: (
        admin.delete("redisson_bqs:{bounded}"),
        bounded.poll(),
        admin.delete("bounded"),
    ),
    "restored": lambda bounded, client, admin: (
        bounded.restore_and_replace(bounded.dump()),
        admin.delete("bounded", "redisson_bqs:{bounded}"),
    ),
    "copied over": lambda bounded, client, admin: (
        admin.set("redisson_bqs:{other}", 1),
        admin.rpush("other", "x"),
        client.bounded_blocking_queue("other", transfer=False).copy_and_replace("bounded"),
        admin.delete("bounded", "redisson_bqs:{bounded}"),
    ),
    "another queue gets its name": lambda bounded, client, admin: (
        admin.delete("bounded", "redisson_bqs:{bounded}"),
        admin.set("redisson_bqs:{other}", 1),
        client.bounded_blocking_queue("other", transfer=False).rename("bounded"),
        admin.delete("bounded", "redisson_bqs:{bounded}"),
    ),
}


@pytest.mark.parametrize("way", GOES)
def test_a_capacity_that_went_is_not_made_again(admin: Any, client: Any, way: str) -> None:
    keys = QueueKeys.of("bounded")
    bounded = client.bounded_blocking_queue("bounded", transfer=False)
    assert bounded.try_set_capacity(9)
    bounded.add_all(["a", "b"])
    GOES[way](bounded, client, admin)
    _set_again_by_java(admin, 1)
    bounded = client.bounded_blocking_queue("bounded", transfer=False)
    assert bounded.offer("c")
    admin.hset(keys.settings, "short", "5 8")
    assert not bounded.offer("d")
    assert bounded.remaining_capacity() == 0


def test_the_note_of_a_capacity_goes_along_with_it(admin: Any, client: Any) -> None:
    bounded = client.bounded_blocking_queue("bounded", transfer=False)
    assert bounded.try_set_capacity(2)
    bounded.add_all(["a", "b"])
    assert bounded.copy("copied")
    bounded.rename("renamed")
    for name in ("copied", "renamed"):
        keys = QueueKeys.of(name)
        there = client.bounded_blocking_queue(name, transfer=False)
        # As of a client that dies between the pop and the command that makes room.
        admin.lpop(name)
        admin.hset(keys.settings, "short", "5 1")
        assert there.offer("c")
        assert there.remaining_capacity() == 0


@pytest.mark.parametrize("way", ["rename", "copy"])
def test_a_delayed_queue_takes_no_capacity_along(admin: Any, client: Any, way: str) -> None:
    client.bounded_blocking_queue("bounded", transfer=False).try_set_capacity(9)
    delayed = client.delayed_queue("bounded", transfer=False)
    delayed.offer("later", 60)
    getattr(delayed, way)("elsewhere")
    admin.set(QueueKeys.of("elsewhere").capacity, 0)
    elsewhere = client.bounded_blocking_queue("elsewhere", transfer=False)
    admin.hset(QueueKeys.of("elsewhere").settings, "short", "5 8")
    assert not elsewhere.offer("x")


@pytest.mark.parametrize("noted", ["9" * 400, "-5", "inf", "1e300", "\xff\0", ""])
@pytest.mark.parametrize("room", ["0", "text"])
def test_a_note_that_is_no_capacity_is_none(admin: Any, client: Any, noted: str, room: str) -> None:
    keys = QueueKeys.of("bounded")
    admin.set(keys.capacity, room)
    admin.hset(keys.settings, mapping={"capacity": noted, "short": "5 8"})
    with pytest.raises(RedisReplyError) if room == "text" else nullcontext():
        assert not client.bounded_blocking_queue("bounded", transfer=False).offer("x")
    assert admin.get(keys.capacity) == room.encode()
