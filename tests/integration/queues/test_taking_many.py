"""Many values for one caller, and many callers on one list: few commands, nothing lost, everybody in turn."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq import partition_names
from redisson_dq.codecs import LongCodec, StringCodec
from redisson_dq.errors import ClosedError, DecodeError, WrongTypeError
from redisson_dq.wire.blocking import Pop
from tests.conftest import PATIENCE, by_night, eventually
from tests.flavours import AsyncioFlavour, Flavour
from tests.integration.conftest import KEYS


def blocked(admin: Any) -> int:
    return int(admin.info("clients")["blocked_clients"])


def calls_of(admin: Any, *commands: str) -> int:
    stats = admin.info("commandstats")
    return sum(stats.get(f"cmdstat_{command}", {"calls": 0})["calls"] for command in commands)


def values(count: int) -> list[str]:
    return [f"v{i:05}" for i in range(count)]


# -- many callers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_five_thousand_tasks_share_one_connection_and_few_commands(
    flavour: AsyncioFlavour, admin: Any, client: Any
) -> None:
    queue = client.inner.blocking_queue("orders", transfer=False)
    before = len(admin.client_list())

    async def all_of_them() -> list[str]:
        tasks = [asyncio.create_task(queue.take()) for _ in range(5000)]
        while not await asyncio.to_thread(blocked, admin):
            await asyncio.sleep(0)
        assert len(await asyncio.to_thread(admin.client_list)) <= before + 1
        await asyncio.to_thread(admin.rpush, "orders", *values(5000))
        return list(await asyncio.gather(*tasks))

    assert flavour.run(all_of_them()) == values(5000)
    # A pop for each item would be 5,000.
    assert calls_of(admin, "blpop", "lpop") < 500


def test_a_trickle_costs_one_pop_an_item(threads: ThreadPoolExecutor, admin: Any, client: Any) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    waiting = [threads.submit(queue.take) for _ in range(20)]
    for served, value in enumerate(values(20)):
        eventually(lambda: blocked(admin) == 1)
        # What comes sooner after the pop was sent may have been there before.
        time.sleep(0.02)
        admin.rpush("orders", value)
        eventually(lambda: sum(future.done() for future in waiting) == served + 1)  # noqa: B023
    assert sorted(future.result() for future in waiting) == values(20)
    eventually(lambda: blocked(admin) == 0)
    assert (calls_of(admin, "blpop"), calls_of(admin, "lpop")) == (20, 0)


@pytest.mark.parametrize("end", ["first", "last"])
def test_a_backlog_is_shared_out_from_its_end(threads: ThreadPoolExecutor, admin: Any, client: Any, end: str) -> None:
    deque = client.blocking_deque("orders", transfer=False)
    waiting = [threads.submit(getattr(deque, f"take_{end}")) for _ in range(20)]
    eventually(lambda: blocked(admin) == 1)
    admin.rpush("orders", *values(30))
    taken = sorted(future.result(PATIENCE) for future in waiting)
    assert taken == (values(30)[:20] if end == "first" else values(30)[10:])
    eventually(lambda: blocked(admin) == 0)
    left = [value.decode() for value in admin.lrange("orders", 0, -1)]
    assert left == (values(30)[20:] if end == "first" else values(30)[:10])


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_what_cancelled_tasks_had_goes_back_in_order(flavour: AsyncioFlavour, admin: Any, client: Any) -> None:
    queue = client.inner.blocking_queue("orders", transfer=False)

    async def cancelled() -> None:
        tasks = [asyncio.create_task(queue.take()) for _ in range(300)]
        while not await asyncio.to_thread(blocked, admin):
            await asyncio.sleep(0)
        line = client.inner.runtime.receivers.of(Pop(("orders",), "first")).line
        while line.count < 300:
            await asyncio.sleep(0)
        # Not awaited here: on a busy machine the tasks would have run before that comes back.
        pushing = asyncio.create_task(asyncio.to_thread(admin.rpush, "orders", *values(300)))
        while line.count:
            await asyncio.sleep(0)
        # All that have a value and have not run since, in no order.
        late = [task for task in tasks if not task.done()]
        random.Random(7).shuffle(late)
        for task in late:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        got.extend(outcome for outcome in outcomes if isinstance(outcome, str))
        await pushing

    got: list[str] = []
    flavour.run(cancelled())
    eventually(lambda: len(got) + admin.llen("orders") == 300)
    left = [value.decode() for value in admin.lrange("orders", 0, -1)]
    assert left == sorted(left)
    assert sorted(got + left) == values(300)
    assert left


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_a_storm_of_callers_loses_nothing(flavour: AsyncioFlavour, admin: Any, client: Any) -> None:
    queue = client.inner.blocking_queue("orders", transfer=False)
    chance = random.Random(8)
    got: list[str] = []

    async def consumer() -> None:
        for _ in range(40):
            call = chance.choice((queue.take, lambda: queue.poll(chance.randrange(1, 5), timeout=0.6)))
            with contextlib.suppress(asyncio.TimeoutError):
                found = await asyncio.wait_for(call(), chance.uniform(0.0001, 0.02))
                got.extend(found if isinstance(found, list) else [found])

    async def storm() -> None:
        await asyncio.gather(*(consumer() for _ in range(50)))

    def push() -> None:
        names = iter(values(1000))
        while batch := [name for _, name in zip(range(chance.randrange(1, 30)), names, strict=False)]:
            admin.rpush("orders", *batch)

    pusher = threading.Thread(target=push)
    pusher.start()
    flavour.run(storm())
    pusher.join()
    eventually(lambda: len(got) + admin.llen("orders") == 1000)
    assert sorted(got + [value.decode() for value in admin.lrange("orders", 0, -1)]) == values(1000)
    assert got


# -- many values for one caller --------------------------------------------------------------------------------------


@pytest.mark.parametrize("timeout", [0, 0.2, 5])
def test_a_poll_with_limit_and_timeout_takes_what_is_there(admin: Any, queue: Any, timeout: float) -> None:
    admin.rpush("orders", *values(7))
    assert queue.poll(3, timeout=timeout) == values(7)[:3]
    assert queue.poll(1, timeout=timeout) == values(7)[3:4]
    assert queue.poll(5000, timeout=timeout) == values(7)[4:]
    assert queue.poll(2, timeout=min(timeout, 0.6)) == []
    eventually(lambda: blocked(admin) == 0)


def test_it_takes_more_than_any_other_command_would(admin: Any, queue: Any) -> None:
    admin.rpush("orders", *values(3000))
    assert queue.poll(2500, timeout=5) == values(2500)


def test_both_ends_of_a_deque(admin: Any, client: Any) -> None:
    deque = client.blocking_deque("orders")
    admin.rpush("orders", *"abcdef")
    assert deque.poll_last(2, timeout=5) == ["f", "e"]
    assert deque.poll_first(2, timeout=5) == ["a", "b"]
    assert deque.poll_last(9, timeout=0.1) == ["d", "c"]


def test_it_waits_for_the_first_value_and_takes_those_behind_it(
    threads: ThreadPoolExecutor, admin: Any, queue: Any
) -> None:
    waiting = threads.submit(queue.poll, 10, timeout=PATIENCE)
    eventually(lambda: blocked(admin) == 1)
    admin.rpush("orders", "a", "b", "c")
    assert waiting.result(PATIENCE) == ["a", "b", "c"]
    assert (calls_of(admin, "blpop"), calls_of(admin, "lpop")) == (1, 1)


def test_callers_with_different_limits_are_served_in_turn(
    threads: ThreadPoolExecutor, flavour: Flavour, admin: Any, client: Any, queue: Any
) -> None:
    line = flavour.receiver(client, Pop(("orders",), "first")).line
    waiting = []
    for count, limit in enumerate((2, 1, 3)):
        waiting.append(threads.submit(queue.poll, limit, timeout=PATIENCE))
        eventually(lambda: line.count == count + 1)  # noqa: B023
    eventually(lambda: blocked(admin) == 1)
    admin.rpush("orders", *"abcdefgh")
    assert [future.result(PATIENCE) for future in waiting] == [["a", "b"], ["c"], ["d", "e", "f"]]
    eventually(lambda: admin.lrange("orders", 0, -1) == [b"g", b"h"])


def test_what_is_taken_of_a_bounded_queue_makes_room(threads: ThreadPoolExecutor, admin: Any, client: Any) -> None:
    bounded = client.bounded_blocking_queue("orders")
    bounded.try_set_capacity(5)
    waiting = threads.submit(bounded.poll, 3, timeout=PATIENCE)
    eventually(lambda: blocked(admin) == 1)
    bounded.add_all(values(5))
    assert waiting.result(PATIENCE) == values(5)[:3]
    eventually(lambda: int(admin.get(KEYS.capacity)) == 3)
    assert bounded.poll(3, timeout=0.1) == values(5)[3:]
    assert bounded.remaining_capacity() == 5


@pytest.mark.parametrize("timeout", [0.1, 5])
def test_values_that_cannot_be_read_are_kept_aside(flavour: Flavour, admin: Any, url: str, timeout: float) -> None:
    with flavour.connect(url, codec=LongCodec()) as client:
        queue = client.blocking_queue("orders")
        admin.rpush("orders", "1", "two", "3", "four", "5")
        with pytest.raises(DecodeError) as caught:
            queue.poll(4, timeout=timeout)
        assert (caught.value.decoded, caught.value.kept_in) == ([1, 3], KEYS.undecodable)
        assert queue.read_undecodable() == [b"two", b"four"]
        assert queue.poll(4, timeout=timeout) == [5]


@pytest.mark.parametrize("timeout", [0.1, 5])
def test_values_that_cannot_be_read_are_skipped(flavour: Flavour, admin: Any, url: str, timeout: float) -> None:
    with flavour.connect(url, codec=LongCodec(), undecodable="skip") as client:
        queue = client.blocking_queue("orders")
        admin.rpush("orders", "one", "two", "3", "four", "5")
        assert queue.poll(2, timeout=timeout) == [3]
        assert queue.poll(2, timeout=timeout) == [5]
        assert queue.read_undecodable() == [b"one", b"two", b"four"]


def test_a_name_that_holds_something_else(admin: Any, queue: Any) -> None:
    admin.set("orders", "in the way")
    for timeout in (0, 0.1, 5):
        with pytest.raises(WrongTypeError, match="orders"):
            queue.poll(5, timeout=timeout)


def test_close_ends_the_wait(threads: ThreadPoolExecutor, flavour: Flavour, admin: Any, url: str) -> None:
    client = flavour.connect(url, codec=StringCodec())
    waiting = threads.submit(client.blocking_queue("orders").poll, 5, timeout=PATIENCE)
    eventually(lambda: blocked(admin) == 1)
    client.close()
    with pytest.raises(ClosedError):
        waiting.result(PATIENCE)
    eventually(lambda: blocked(admin) == 0)


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
@pytest.mark.parametrize("timeout", [0.2, 5])
def test_a_cancelled_caller_leaves_every_value(
    flavour: AsyncioFlavour, admin: Any, client: Any, timeout: float
) -> None:
    queue = client.inner.blocking_queue("orders", transfer=False)
    chance = random.Random(9)
    got: list[str] = []

    async def polls() -> None:
        for _ in range(150):
            task = asyncio.create_task(queue.poll(5, timeout=timeout))
            for _ in range(chance.randrange(1, 12)):
                await asyncio.sleep(0)
            await asyncio.sleep(chance.choice((0, 0.0001, 0.0003)))
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                got.extend(await task)

    admin.rpush("orders", *values(1000))
    flavour.run(polls())
    eventually(lambda: len(got) + admin.llen("orders") == 1000)
    left = [value.decode() for value in admin.lrange("orders", 0, -1)]
    assert sorted(got + left) == values(1000)
    assert got
    assert left == sorted(left)


def test_a_server_that_allows_no_plain_pop_still_serves_everybody(
    threads: ThreadPoolExecutor, flavour: Flavour, admin: Any, url: str
) -> None:
    admin.acl_setuser("blocking", enabled=True, nopass=True, keys=["*"], channels=["*"], commands=["+@all", "-lpop"])
    try:
        with flavour.connect(url.replace("redis://", "redis://blocking:x@"), codec=StringCodec()) as client:
            queue = client.blocking_queue("orders", transfer=False)
            waiting = [threads.submit(queue.take) for _ in range(10)]
            eventually(lambda: blocked(admin) == 1)
            admin.rpush("orders", *values(10))
            assert sorted(future.result(PATIENCE) for future in waiting) == values(10)
    finally:
        admin.acl_deluser("blocking")


@pytest.mark.parametrize("server", ["redis", by_night("valkey")], indirect=True)
@pytest.mark.parametrize("partitions", [None, by_night(2)])
@pytest.mark.parametrize("call", ["poll", "receive"])
def test_large_values_reach_a_caller_with_little_time(
    flavour: Flavour, admin: Any, url: str, call: str, partitions: int | None
) -> None:
    """What comes when it has gone goes back. The next time less is asked for."""
    options: dict[str, Any] = {} if partitions is None else {"partitions": partitions}
    names = ["orders"] if partitions is None else partition_names("orders", partitions)
    for number in range(24):
        admin.rpush(names[number % len(names)], f"v{number:02}" + "x" * 2_000_000)

    def is_back() -> bool:
        return sum(int(admin.llen(name)) for name in names) == 24

    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False, **options)
        for _ in range(20):
            # Nobody waits between two calls, so that nobody has what came too late.
            found = queue.poll(1000, timeout=0.01) if call == "poll" else queue.receive(1000, timeout=0.01)
            if found:
                break
            eventually(is_back)
        assert found
        if call == "receive":
            assert queue.ack_all(found)
    assert sum(admin.llen(name) for name in names) == 24 - len(found)
