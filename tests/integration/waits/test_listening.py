"""Consumers that get values as they arrive, and iteration over values as they arrive."""

from __future__ import annotations

import asyncio
import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from tests.conftest import PATIENCE, eventually
from tests.flavours import AsyncioFlavour, Flavour
from tests.integration.conftest import KEYS
from tests.workers.handlers import forever

COUNT = 300
VALUES = [str(number) for number in range(COUNT)]


class Gate:
    """A consumer that says that it was called, and returns when it is let go."""

    def __init__(self, flavour: Flavour) -> None:
        self.entered: list[Any] = []
        self.left: list[Any] = []
        self._loop = flavour.loop if isinstance(flavour, AsyncioFlavour) else None
        self._open: Any = asyncio.Event() if self._loop else threading.Event()

    @property
    def consumer(self) -> Callable[[Any], Any]:
        return self._consume_async if self._loop else self._consume

    def open(self) -> None:
        if self._loop:
            self._loop.call_soon_threadsafe(self._open.set)
        else:
            self._open.set()

    def _consume(self, value: Any) -> None:
        self.entered.append(value)
        self._open.wait(PATIENCE)
        self.left.append(value)

    async def _consume_async(self, value: Any) -> None:
        self.entered.append(value)
        await asyncio.wait_for(self._open.wait(), PATIENCE)
        self.left.append(value)


def waiting(admin: redis.Redis) -> Callable[[], bool]:
    """Whether one connection, and no other, waits in a blocking command."""
    return lambda: admin.info("clients")["blocked_clients"] == 1


def test_every_value_comes_once_and_in_order(admin: redis.Redis, queue: Any, delayed: Any) -> None:
    seen: list[str] = []
    queue.add_all(VALUES[:100])
    queue.subscribe_on_elements(seen.append)
    queue.add_all(VALUES[100:200])
    eventually(lambda: len(seen) == 200)
    delayed.offer_all([(value, 0.0) for value in VALUES[200:]])
    eventually(lambda: len(seen) == COUNT)
    assert seen == VALUES
    assert admin.keys() == []


def test_a_consumer_is_called_with_one_value_after_the_other(flavour: Flavour, queue: Any) -> None:
    gate = Gate(flavour)
    queue.subscribe_on_elements(gate.consumer)
    queue.add_all(["a", "b", "c"])
    eventually(lambda: gate.entered)
    assert queue.size() == 2
    assert (gate.entered, gate.left) == (["a"], [])
    gate.open()
    eventually(lambda: len(gate.left) == 3)
    assert gate.entered == gate.left == ["a", "b", "c"]


def test_what_a_consumer_raises_is_logged_and_the_next_value_comes(
    queue: Any, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def consume(value: str) -> None:
        seen.append(value)
        if value == "bad":
            raise LookupError("no such order")

    queue.subscribe_on_elements(consume)
    queue.add_all(["a", "bad", "c"])
    eventually(lambda: len(seen) == 3)
    assert seen == ["a", "bad", "c"]
    (record,) = [record for record in caplog.records if record.name == "redisson_dq"]
    assert record.getMessage() == "queue 'orders': a listener's consumer failed"
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], LookupError)


def test_a_consumer_cannot_end_its_thread(url: str, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []

    def consume(value: str) -> None:
        seen.append(value)
        raise SystemExit

    with redisson_dq.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        queue.subscribe_on_elements(consume)
        queue.add_all(["a", "b"])
        eventually(lambda: seen == ["a", "b"])
        eventually(lambda: caplog.text.count("a listener's consumer failed") == 2)


def test_unsubscribing_ends_the_wait_and_takes_nothing(admin: redis.Redis, queue: Any) -> None:
    seen: list[str] = []
    listener = queue.subscribe_on_elements(seen.append)
    eventually(waiting(admin))
    queue.unsubscribe(listener)
    queue.unsubscribe(listener)
    eventually(lambda: admin.info("clients")["blocked_clients"] == 0)
    queue.add_all(VALUES)
    assert queue.read_all() == VALUES
    assert seen == []


def test_who_unsubscribes_twice_ends_nobody_elses_subscription(queue: Any) -> None:
    seen: list[str] = []
    ended = []
    for _ in range(20):
        ended.append(queue.subscribe_on_elements(seen.append))
        queue.unsubscribe(ended[-1])
    last = queue.subscribe_on_elements(seen.append)
    for listener in ended:
        queue.unsubscribe(listener)
    queue.add("a")
    eventually(lambda: seen == ["a"])
    assert len({*ended, last}) == 21


@pytest.fixture
def impatient_threads() -> Iterator[None]:
    """Threads that take turns at almost every instruction, and so meet in unlikely places."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("impatient_threads")
def test_unsubscribing_at_any_moment_ends(queue: Any, threads: ThreadPoolExecutor) -> None:
    seen: list[str] = []

    def turn(pause: int) -> None:
        listener = queue.subscribe_on_elements(seen.append)
        for _ in range(pause):
            pass
        queue.unsubscribe(listener)

    for number in range(500):
        threads.submit(turn, number % 50 * 20).result(PATIENCE)
    queue.add("a")
    assert queue.take() == "a"
    assert seen == []


def test_unsubscribing_waits_for_the_consumer(flavour: Flavour, queue: Any, threads: ThreadPoolExecutor) -> None:
    gate = Gate(flavour)
    listener = queue.subscribe_on_elements(gate.consumer)
    queue.add_all(["a", "b"])
    eventually(lambda: gate.entered)
    unsubscribing = threads.submit(queue.unsubscribe, listener)
    assert not unsubscribing.done()
    gate.open()
    unsubscribing.result(PATIENCE)
    assert gate.left == ["a"]
    assert queue.read_all() == ["b"]


def test_a_consumer_may_end_its_own_subscription(flavour: Flavour, queue: Any) -> None:
    seen: list[str] = []
    listeners: list[int] = []

    def consume(value: str) -> None:
        seen.append(value)
        queue.unsubscribe(listeners[0])

    async def consume_async(value: str) -> None:
        seen.append(value)
        await queue.inner.unsubscribe(listeners[0])

    listeners.append(queue.subscribe_on_elements(consume_async if isinstance(flavour, AsyncioFlavour) else consume))
    queue.add("a")
    eventually(lambda: seen)
    queue.unsubscribe(listeners[0])
    queue.add("b")
    assert queue.take() == "b"
    assert seen == ["a"]


def test_nothing_is_lost_by_subscribing_and_unsubscribing(queue: Any, threads: ThreadPoolExecutor) -> None:
    seen: list[str] = []
    adding = threads.submit(lambda: [queue.add(value) for value in VALUES])
    for turn in itertools.count(1):
        wanted = min(COUNT, 10 * turn)
        listener = queue.subscribe_on_elements(seen.append)
        eventually(lambda: len(seen) >= wanted)  # noqa: B023 - called at once
        queue.unsubscribe(listener)
        if len(seen) == COUNT:
            break
    adding.result(PATIENCE)
    assert seen == VALUES
    assert queue.is_empty()


def test_several_subscriptions_share_the_values(queue: Any) -> None:
    seen: list[list[str]] = [[], [], []]
    for part in seen:
        queue.subscribe_on_elements(part.append)
    queue.add_all(VALUES)
    eventually(lambda: sum(map(len, seen)) == COUNT)
    assert sorted(itertools.chain(*seen), key=int) == VALUES
    assert all(part == sorted(part, key=int) for part in seen)


def test_destroying_a_handle_ends_its_subscriptions_alone(admin: redis.Redis, client: Any, queue: Any) -> None:
    other = client.blocking_queue("orders")
    kept: list[str] = []
    ended: list[str] = []
    other.subscribe_on_elements(kept.append)
    for _ in range(3):
        queue.subscribe_on_elements(ended.append)
    eventually(waiting(admin))
    queue.destroy()
    queue.destroy()
    other.add_all(VALUES)
    eventually(lambda: len(kept) == COUNT)
    assert (kept, ended) == (VALUES, [])


def test_closing_the_client_ends_a_subscription(flavour: Flavour, url: str, admin: redis.Redis, queue: Any) -> None:
    seen: list[Any] = []
    with flavour.connect(url) as other:
        other.blocking_queue("orders").subscribe_on_elements(seen.append)
        eventually(waiting(admin))
    queue.add("a")
    assert admin.lrange(KEYS.ready, 0, -1) == [b"a"]
    assert seen == []


def test_a_deque_hands_out_either_end(client: Any) -> None:
    deque = client.blocking_deque("orders")
    seen: list[str] = []
    deque.add_all(VALUES)
    listener = deque.subscribe_on_last_elements(seen.append)
    eventually(lambda: len(seen) == COUNT)
    deque.unsubscribe(listener)
    deque.add_all(VALUES)
    deque.subscribe_on_first_elements(seen.append)
    eventually(lambda: len(seen) == 2 * COUNT)
    assert seen == [*reversed(VALUES), *VALUES]


def test_a_subscription_makes_room_in_a_bounded_queue(client: Any, threads: ThreadPoolExecutor) -> None:
    bounded = client.bounded_blocking_queue("orders")
    assert bounded.try_set_capacity(2)
    seen: list[str] = []
    bounded.subscribe_on_elements(seen.append)
    threads.submit(lambda: [bounded.put(value) for value in VALUES]).result(PATIENCE)
    eventually(lambda: len(seen) == COUNT)
    assert seen == VALUES
    assert bounded.remaining_capacity() == 2


def test_elements_that_are_left_early_take_nothing_more(queue: Any) -> None:
    queue.add_all(VALUES)
    met = []
    for value in queue.elements():
        met.append(value)
        if value == "4":
            break
    assert met == VALUES[:5]
    assert queue.read_all() == VALUES[5:]
    assert next(iter(queue.elements())) == "5"


def test_elements_come_as_they_fall_due(queue: Any, delayed: Any) -> None:
    delayed.offer_all([("late", 0.2), ("early", 0.05)])
    elements = iter(queue.elements())
    assert [next(elements), next(elements)] == ["early", "late"]


def test_elements_end_with_the_handle(admin: redis.Redis, queue: Any, threads: ThreadPoolExecutor) -> None:
    queue.add("a")
    met = threads.submit(lambda: list(queue.elements()))
    eventually(lambda: not admin.exists(KEYS.ready) and waiting(admin)())
    queue.destroy()
    assert met.result(PATIENCE) == ["a"]


@pytest.mark.parametrize("alone", [True, False])
def test_a_subscription_goes_along_when_the_queue_is_renamed(
    flavour: Flavour, client: Any, queue: Any, alone: bool
) -> None:
    other = None if alone else client.blocking_queue("orders")
    gate = Gate(flavour)
    queue.subscribe_on_elements(gate.consumer)
    queue.add_all(["a", "b"])
    eventually(lambda: gate.entered == ["a"])
    queue.rename("renamed")
    gate.open()
    eventually(lambda: gate.left == ["a", "b"])
    # Now one that waits while there is something to rename.
    delayed = client.delayed_queue("renamed", transfer=False)
    delayed.offer("c", delay=60)
    assert delayed.poll_last_and_offer_first_to("renamed") == "c"
    eventually(lambda: gate.left == ["a", "b", "c"])
    if other is not None:
        other.add("old name")
        assert other.take() == "old name"
    queue.destroy()
    assert gate.left == ["a", "b", "c"]


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_a_rename_that_is_cancelled_at_any_moment(flavour: AsyncioFlavour, client: Any) -> None:
    async def rename(number: int) -> None:
        handle = client.inner.blocking_queue(f"old{number}", transfer=False)
        await handle.add("a")
        # The receiver and its connection stay for a while, and have to end.
        assert await handle.poll(timeout=PATIENCE) == "a"
        await handle.add("b")
        renaming = asyncio.ensure_future(handle.rename(f"new{number}"))
        for _ in range(number):
            await asyncio.sleep(0)
        renaming.cancel()
        await asyncio.wait((renaming,))
        taken = asyncio.ensure_future(handle.poll_from_any_with_name("none", timeout=0))
        assert await taken in [None, (handle.name, "b")]
        await handle.destroy()

    for number in range(40):
        flavour.run(rename(number))


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_a_consumer_that_awaits_what_was_cancelled_does_not_end_the_subscription(
    queue: Any, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    async def consume(value: str) -> None:
        seen.append(value)
        cancelled = asyncio.ensure_future(forever())
        cancelled.cancel()
        await cancelled

    queue.subscribe_on_elements(consume)
    queue.add_all(["a", "b"])
    if sys.version_info >= (3, 11):
        eventually(lambda: caplog.text.count("a listener's consumer failed") == 2)
        assert seen == ["a", "b"]
    else:
        # A task of 3.10 cannot tell who was cancelled, so the subscription ends; what it has not taken stays.
        eventually(lambda: seen == ["a"])
        assert queue.poll(timeout=PATIENCE) == "b"
