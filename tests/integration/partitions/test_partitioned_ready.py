"""The ready side of a partitioned queue: values are taken from all partitions in turns, by one connection for each."""

from __future__ import annotations

import asyncio
import queue as queues
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq import partition_names
from redisson_dq.codecs import ByteArrayCodec, EncryptedCodec, LongCodec, StringCodec
from redisson_dq.errors import ArgumentError, ClosedError, DecodeError, WrongTypeError
from tests.conftest import PATIENCE, eventually, moving
from tests.flavours import AsyncioFlavour, Flavour
from tests.integration.partitions.test_partitioned_delayed import COUNT, KEYS

NAMES = partition_names("orders", COUNT)


@pytest.fixture
def queue(client: Any) -> Any:
    return client.blocking_queue("orders", partitions=COUNT)


@pytest.fixture
def delayed(client: Any, queue: Any) -> Any:
    """Opened by the handle, it has as many partitions."""
    return client.delayed_queue(queue, transfer=False)


def blocked(admin: Any) -> int:
    return int(admin.info("clients")["blocked_clients"])


def test_due_items_are_taken_from_all_partitions(queue: Any, delayed: Any, threads: ThreadPoolExecutor) -> None:
    assert len(delayed.partitions) == COUNT
    takes = [threads.submit(queue.take) for _ in range(100)]
    delayed.offer_all((str(i), 0.001 * i) for i in range(100))
    assert Counter(take.result(PATIENCE) for take in takes) == Counter(map(str, range(100)))
    assert (queue.size(), queue.is_empty(), delayed.is_empty()) == (0, True, True)


def test_values_that_are_added(client: Any, queue: Any) -> None:
    for key in KEYS:
        assert queue.add(f"added-{key}", key)
        assert queue.offer(f"offered-{key}", key=key)
    assert (queue.size(), queue.is_empty()) == (2 * COUNT, False)
    plain = [client.blocking_queue(name, transfer=False) for name in NAMES]
    assert [each.read_all() for each in plain] == [[f"added-{key}", f"offered-{key}"] for key in KEYS]
    for _ in range(COUNT):
        queue.add("next")
    assert [each.size() for each in plain] == [3] * COUNT
    queue.clear()
    assert queue.size() == 0
    with pytest.raises(ArgumentError, match="a key must be a str"):
        queue.add("x", 5)


def test_encrypted_values_are_bound_to_their_partition(client: Any) -> None:
    queue = client.blocking_queue("orders", EncryptedCodec(StringCodec(), {"k": b"n" * 32}), partitions=COUNT)
    delayed = client.delayed_queue(queue, transfer=False)
    for key in KEYS:
        queue.add(f"added-{key}", key)
        delayed.offer(f"offered-{key}", 60, key=key)
    assert {item.value for item in delayed.items()} == {f"offered-{key}" for key in KEYS}
    assert {queue.poll() for _ in KEYS} == {f"added-{key}" for key in KEYS}
    # The codec of a handle is for its queue. Passed on, it is for the other one.
    other = client.blocking_queue("bills", codec=queue.codec)
    other.add("a")
    (data,) = client.blocking_queue("bills", ByteArrayCodec(), transfer=False).read_all()
    with pytest.raises(DecodeError, match="another queue"):
        queue.codec.decode(data)
    assert other.poll() == "a"


def test_one_key_stays_in_order(queue: Any, delayed: Any) -> None:
    delayed.offer_all([(f"{key}:{i}", 0.01) for i in range(50) for key in KEYS], key=lambda value: value.split(":")[0])
    taken = [queue.poll(timeout=PATIENCE) for _ in range(50 * COUNT)]
    for key in KEYS:
        assert [value for value in taken if value.startswith(f"{key}:")] == [f"{key}:{i}" for i in range(50)]


def test_a_full_partition_starves_no_other(queue: Any) -> None:
    for i in range(100):
        queue.add(f"full-{i}", KEYS[0])
    for key in KEYS[1:]:
        queue.add("rare", key)
    assert "rare" in [queue.take() for _ in range(2)]
    for key in KEYS[1:]:
        queue.add("rare", key)
    assert "rare" in [queue.poll() for _ in range(2)]


# -- poll ------------------------------------------------------------------------------------------------------------


def test_poll_takes_even_shares(queue: Any) -> None:
    assert (queue.poll(), queue.poll(limit=5)) == (None, [])
    # Whichever partition the look begins with.
    for _ in range(COUNT):
        for key, count in zip(KEYS, (1, 10, 10, 10), strict=True):
            for _ in range(count):
                queue.add(key, key)
        assert Counter(queue.poll(limit=10)) == Counter(dict(zip(KEYS, (1, 3, 3, 3), strict=True)))
        assert sorted(Counter(queue.poll(limit=8)).values()) == [2, 3, 3]
        assert len(queue.poll(limit=100)) == 13
    assert queue.poll(timeout=0.01) is None
    assert queue.poll(5, timeout=0.01) == []


def test_poll_waits_for_the_first_and_takes_what_else_there_is(queue: Any, threads: ThreadPoolExecutor) -> None:
    for key in KEYS:
        queue.add(key, key)
    assert sorted(queue.poll(10, timeout=PATIENCE)) == sorted(KEYS)
    waiting = threads.submit(queue.poll, 10, timeout=PATIENCE)
    queue.add("x")
    assert waiting.result(PATIENCE) == ["x"]
    waiting = threads.submit(queue.poll, timeout=PATIENCE)
    queue.add("y")
    assert waiting.result(PATIENCE) == "y"


def test_arguments_that_cannot_be_used(queue: Any) -> None:
    for limit in (0, -1, "5"):
        with pytest.raises(ArgumentError):
            queue.poll(limit=limit)
    with pytest.raises(ArgumentError):
        queue.poll(timeout=-1)
    with pytest.raises(ArgumentError):
        queue.subscribe_on_elements(None)


def test_a_key_of_another_type(queue: Any, admin: Any, threads: ThreadPoolExecutor) -> None:
    admin.set(NAMES[2], "a string")
    for value in ("a", "b", "c"):
        queue.add(value, KEYS[0])
    # What the others have is taken all the same.
    assert (queue.poll(), queue.take(), queue.poll(limit=5)) == ("a", "b", ["c"])
    for call in (queue.poll, queue.size, queue.take):
        with pytest.raises(WrongTypeError, match=NAMES[2]):
            threads.submit(call).result(PATIENCE)


@pytest.mark.parametrize("timeout", [None, PATIENCE])
def test_what_cannot_be_read_hides_nothing(client: Any, admin: Any, timeout: float | None) -> None:
    queue = client.blocking_queue("orders", LongCodec(), partitions=COUNT)
    for i, name in enumerate(NAMES):
        admin.rpush(name, b"no number" if i % 2 else str(i))
    wait = {} if timeout is None else {"timeout": timeout}
    read: list[int] = []
    unread: list[bytes] = []
    while queue.size():
        try:
            read += queue.poll(limit=10, **wait)
        except DecodeError as error:
            read += error.decoded
            unread += error.undecodable
    assert (sorted(read), unread) == ([0, 2], [b"no number"] * 2)
    kept = [client.blocking_queue(name, transfer=False).read_undecodable() for name in NAMES]
    assert kept == [[], [b"no number"], [], [b"no number"]]


def test_what_cannot_be_read_is_skipped(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=LongCodec(), undecodable="skip") as client:
        queue = client.blocking_queue("orders", partitions=COUNT)
        for name in NAMES:
            admin.rpush(name, b"no number", "5")
        assert queue.take() == 5
        assert [queue.poll(), queue.poll(timeout=PATIENCE)] == [5, 5]
        assert queue.poll(limit=10) == [5]
        assert (queue.poll(), queue.poll(limit=10)) == (None, [])


# -- waiting ---------------------------------------------------------------------------------------------------------


def test_one_connection_for_each_partition_however_many_wait(
    client: Any, queue: Any, admin: Any, threads: ThreadPoolExecutor
) -> None:
    twin = client.blocking_queue("orders", partitions=COUNT)
    takes = [threads.submit((queue if i % 2 else twin).take) for i in range(30)]
    eventually(lambda: blocked(admin) == COUNT)
    for i in range(30):
        queue.add(str(i))
    assert Counter(take.result(PATIENCE) for take in takes) == Counter(map(str, range(30)))
    eventually(lambda: blocked(admin) == 0)


def test_the_last_handle_ends_the_waits(client: Any, queue: Any, admin: Any, threads: ThreadPoolExecutor) -> None:
    twin = client.blocking_queue("orders", partitions=COUNT)
    plain = client.blocking_queue(NAMES[0])
    waiting = threads.submit(queue.take)
    eventually(lambda: blocked(admin) == COUNT)
    queue.destroy()
    queue.destroy()
    with pytest.raises(ClosedError):
        queue.take()
    assert not waiting.done()
    twin.destroy()
    with pytest.raises(ClosedError):
        waiting.result(PATIENCE)
    # Without one of its partitions a queue is closed.
    third = client.blocking_queue("orders", partitions=COUNT)
    third.partition_for(KEYS[2]).destroy()
    for call in (third.take, third.poll, third.size):
        with pytest.raises(ClosedError):
            call()
    with pytest.raises(ClosedError):
        third.subscribe_on_elements(print)
    third.destroy()
    # One that takes from a partition alone goes on.
    plain.add("x")
    assert plain.take() == "x"


@pytest.mark.parametrize("wait", [{}, {"timeout": 0.2}])
def test_a_cancelled_look_loses_nothing(url: str, admin: Any, wait: dict[str, float]) -> None:
    flavour = AsyncioFlavour()

    async def polls(queue: Any) -> list[str]:
        got: list[str] = []
        for i in range(200):
            poll = asyncio.ensure_future(queue.poll(limit=2, **wait))
            for _ in range(i % 40):
                await asyncio.sleep(0)
            await asyncio.sleep(i % 20 / 5000)
            poll.cancel()
            got += next(
                (each for each in await asyncio.gather(poll, return_exceptions=True) if isinstance(each, list)), []
            )
        return got

    try:
        with flavour.connect(url, codec=StringCodec()) as client:
            queue = client.blocking_queue("orders", partitions=COUNT, transfer=False)
            for i in range(400):
                admin.rpush(NAMES[i % COUNT], i)
            got = flavour.run(polls(queue.inner))
            assert 0 < len(got) < 400
            eventually(lambda: queue.size() == 400 - len(got))
            assert sorted(map(int, got + queue.poll(limit=400))) == list(range(400))
    finally:
        flavour.close()


def test_a_cancelled_destroy_closes_every_partition(url: str, admin: Any) -> None:
    flavour = AsyncioFlavour()

    async def cancelled(queue: Any) -> None:
        take = asyncio.ensure_future(queue.take())
        while blocked(admin) < COUNT:
            await asyncio.sleep(0.001)
        destroy = asyncio.ensure_future(queue.destroy())
        await asyncio.sleep(0)
        assert not destroy.done()
        destroy.cancel()
        with pytest.raises(asyncio.CancelledError):
            await destroy
        with pytest.raises(ClosedError):
            await take

    try:
        with flavour.connect(url, codec=StringCodec()) as client:
            queue = moving(client.blocking_queue("orders", partitions=COUNT))
            channels = [partition.keys.channel for partition in queue.inner.partitions]
            eventually(lambda: [count for _, count in admin.pubsub_numsub(*channels)] == [1] * COUNT)
            flavour.run(cancelled(queue.inner))
            eventually(lambda: [count for _, count in admin.pubsub_numsub(*channels)] == [0] * COUNT)
    finally:
        flavour.close()


def test_closing_the_client_ends_the_waits(client: Any, queue: Any, admin: Any, threads: ThreadPoolExecutor) -> None:
    waiting = threads.submit(queue.take)
    eventually(lambda: blocked(admin) == COUNT)
    client.close()
    with pytest.raises(ClosedError):
        waiting.result(PATIENCE)
    with pytest.raises(ClosedError):
        queue.take()
    with pytest.raises(ClosedError):
        queue.subscribe_on_elements(print)


def test_a_cancelled_wait_loses_nothing(url: str, admin: Any) -> None:
    flavour = AsyncioFlavour()

    async def cancelled(queue: Any, pause: float) -> list[str]:
        take = asyncio.ensure_future(queue.take())
        await asyncio.sleep(pause)
        take.cancel()
        return [value for value in await asyncio.gather(take, return_exceptions=True) if isinstance(value, str)]

    try:
        with flavour.connect(url, codec=StringCodec()) as client:
            queue = client.blocking_queue("orders", partitions=COUNT)
            taken = []
            for i in range(50):
                admin.rpush(NAMES[i % COUNT], i)
                taken += flavour.run(cancelled(queue.inner, i % 5 / 1000))
            while (value := queue.poll(timeout=0.5)) is not None:
                taken.append(value)
            assert sorted(map(int, taken)) == list(range(50))
    finally:
        flavour.close()


def test_elements(queue: Any) -> None:
    for i in range(20):
        queue.add(str(i))
    elements = queue.elements()
    assert sorted(int(next(elements)) for _ in range(20)) == list(range(20))
    queue.destroy()
    assert list(elements) == []


def test_listening(queue: Any, delayed: Any) -> None:
    come: queues.Queue[str] = queues.Queue()
    busy = threading.Lock()

    def consume(value: str) -> None:
        # One after the other.
        assert busy.acquire(blocking=False)
        come.put(value)
        busy.release()

    listener = queue.subscribe_on_elements(consume)
    delayed.offer_all((str(i), 0.001 * i) for i in range(100))
    assert sorted(int(come.get(timeout=PATIENCE)) for _ in range(100)) == list(range(100))
    queue.unsubscribe(listener)
    queue.unsubscribe(listener)
    queue.add("later")
    assert queue.take() == "later"
    queue.subscribe_on_elements(consume)
    queue.destroy()
    assert come.empty()


def test_partitions_added_later(client: Any, delayed: Any) -> None:
    """A consumer with more partitions gets what was offered to fewer."""
    delayed.offer_all((str(i), 0.01) for i in range(40))
    more = client.blocking_queue("orders", partitions=3 * COUNT)
    client.delayed_queue(more).offer_all((str(i), 0.01) for i in range(40, 100))
    assert sorted(int(more.take()) for _ in range(100)) == list(range(100))


def test_all_partitions_are_waited_on_after_short_polls(queue: Any, admin: Any, threads: ThreadPoolExecutor) -> None:
    for _ in range(3):
        for timeout in (0.0001, 0.001, 0.002, 0.0025, 0.003, 0.004):
            assert queue.poll(timeout=timeout) is None
        taking = threads.submit(queue.take)
        # A pop without work would be noticed after 10 s only.
        eventually(lambda: admin.info("clients")["blocked_clients"] == COUNT, within=5)
        queue.add("a")
        assert taking.result(PATIENCE) == "a"


def test_a_poll_that_finds_every_partition_waited_on_ends_in_time(
    queue: Any, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The delay of a call when Redis does not answer, or until the pops have ended. Here the pops answer that nothing is
    # ready.
    for flavour in ("_sync", "_async"):
        monkeypatch.setattr(f"redisson_dq.{flavour}.receiving.receiver._GRACE", 10 * PATIENCE)
        monkeypatch.setattr(f"redisson_dq.{flavour}.receiving.round_robin.STAY", 10 * PATIENCE)
    for call in (queue.poll, queue.receive):
        for _ in range(3):
            assert threads.submit(call, timeout=0.02).result(PATIENCE) is None
        queue.add("a")
        assert threads.submit(call, timeout=PATIENCE).result(PATIENCE) is not None
