"""Blocking calls are never sent twice, end promptly, and lose no item."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ClosedError, RedisConnectionError
from redisson_dq.testing import TestClock
from redisson_dq.wire.blocking import Pop
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, eventually
from tests.faults.gate import Gate
from tests.flavours import AsyncioFlavour, Flavour
from tests.integration.conftest import KEYS


def blocked(admin: Any) -> int:
    return int(admin.info("clients")["blocked_clients"])


def calls_of(admin: Any, command: str) -> int:
    return int(admin.info("commandstats").get(f"cmdstat_{command}", {"calls": 0})["calls"])


@pytest.mark.parametrize("through", ["url", "client"])
def test_a_blocking_pop_is_sent_once_however_long_it_waits(
    threads: ThreadPoolExecutor, flavour: Flavour, admin: Any, url: str, through: str
) -> None:
    # Several times the socket timeout: a client library that times out would have sent it again.
    if through == "url":
        client = flavour.connect(f"{url}?socket_timeout=0.1", codec=StringCodec())
    else:
        client = flavour.client(url, codec=StringCodec(), redis_options={"socket_timeout": 0.1})
    with client:
        queue = client.blocking_queue("orders")
        waiting = threads.submit(queue.take)
        eventually(lambda: blocked(admin) == 1)
        time.sleep(0.4)
        admin.rpush("orders", "a")
        assert waiting.result(PATIENCE) == "a"
        assert calls_of(admin, "blpop") == 1


def test_settings_of_the_users_client_do_no_harm(flavour: Flavour, admin: Any, url: str) -> None:
    options = {"decode_responses": True, "protocol": 3, "health_check_interval": 1, "client_name": "mine"}
    with flavour.client(url, codec=StringCodec(), redis_options=options) as client:
        queue = client.blocking_queue("orders")
        client.delayed_queue(queue).offer("a", delay=0.05)
        assert queue.take() == "a"
        names = {entry["name"] for entry in admin.client_list()} - {""}
        assert names
        assert all(name.startswith("mine/redisson-dq/") for name in names)


def test_all_who_wait_share_one_connection_and_are_served_in_turn(
    threads: ThreadPoolExecutor, flavour: Flavour, admin: Any, client: Any, queue: Any
) -> None:
    line = flavour.receiver(client, Pop(("orders",), "first")).line
    waiting = []
    for number in range(20):
        waiting.append(threads.submit(queue.take))
        eventually(lambda number=number: line.count > number)  # type: ignore[misc]
    eventually(lambda: blocked(admin) == 1)
    connections = len(admin.client_list())
    values = [f"v{turn:02}" for turn in range(20)]
    admin.rpush("orders", *values)
    assert [future.result(PATIENCE) for future in waiting] == values, "who waited longest got the first"
    assert connections <= 5, "this one, one pool connection or two, the subscription and the pop"


def test_both_ends_are_waited_for_at_once(threads: ThreadPoolExecutor, admin: Any, client: Any) -> None:
    deque = client.blocking_deque("orders")
    first, last = threads.submit(deque.take_first), threads.submit(deque.take_last)
    eventually(lambda: blocked(admin) == 2)
    admin.rpush("orders", "a", "b")
    assert {first.result(PATIENCE), last.result(PATIENCE)} == {"a", "b"}


def test_a_timeout_leaves_no_pop_behind(admin: Any, queue: Any) -> None:
    for _ in range(5):
        assert queue.poll(timeout=0.02) is None
        assert blocked(admin) == 0
        admin.rpush("orders", "a")
        assert admin.lpop("orders") == b"a"


@pytest.mark.parametrize("timeout", [0, 0.00001])
def test_a_timeout_that_is_over_at_once_still_finds_what_is_ready(
    flavour: Flavour, admin: Any, url: str, timeout: float
) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        admin.rpush("orders", *"abc")
        deque = client.blocking_deque("orders")
        assert (deque.poll(timeout=timeout), deque.poll_last(timeout=timeout)) == ("a", "c")
        assert [deque.poll(timeout=timeout) for _ in range(3)] == ["b", None, None]


def test_a_timeout_of_one_does_not_disturb_another(threads: ThreadPoolExecutor, admin: Any, queue: Any) -> None:
    patient = threads.submit(queue.take)
    eventually(lambda: blocked(admin) == 1)
    for _ in range(3):
        assert queue.poll(timeout=0.02) is None
    # Nobody stands in line any more for whom another command would be sent.
    admin.rpush("orders", "a")
    assert patient.result(PATIENCE) == "a"
    # Valkey counts a blocking command when it ends.
    assert calls_of(admin, "blpop") == 1


def test_another_that_waits_longer_makes_nobody_late(
    threads: ThreadPoolExecutor, flavour: Flavour, admin: Any, url: str, queue: Any
) -> None:
    with flavour.connect(url, codec=StringCodec()) as other:
        alone, ended = other.blocking_queue("elsewhere"), []

        def poll(where: Any, timeout: float) -> None:
            assert where.poll(timeout=timeout) is None
            ended.append(timeout)

        patient = threads.submit(queue.take)
        eventually(lambda: blocked(admin) == 1)

        def ends_in_turn() -> bool:
            """A busy machine may delay one try."""
            ended.clear()
            for polling in [threads.submit(poll, queue, 0.01), threads.submit(poll, alone, 0.12)]:
                polling.result(PATIENCE)
            return ended == [0.01, 0.12]

        assert any(ends_in_turn() for _ in range(4))
        admin.rpush("orders", "a")
        assert patient.result(PATIENCE) == "a"


def test_a_pop_that_times_out_while_an_item_comes_loses_nothing(admin: Any, queue: Any) -> None:
    chance = random.Random(1)
    got = []
    for i in range(150):
        threading.Timer(chance.uniform(0, 0.02), admin.rpush, ("orders", f"v{i:03}")).start()
        got.append(queue.poll(timeout=0.01))
    eventually(lambda: len([value for value in got if value]) + admin.llen("orders") == 150)
    left = [value.decode() for value in admin.lrange("orders", 0, -1)]
    assert sorted([value for value in got if value] + left) == [f"v{i:03}" for i in range(150)]


def test_close_ends_a_wait_at_once(
    threads: ThreadPoolExecutor, flavour: Flavour, admin: Any, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    for end in ("client", "handle") * 10:
        client = flavour.connect(url, codec=StringCodec())
        queue = client.blocking_queue("orders")
        waiting = threads.submit(queue.take)
        eventually(lambda: blocked(admin) == 1)
        (client.close if end == "client" else queue.destroy)()
        with pytest.raises(ClosedError, match="orders"):
            waiting.result(PATIENCE)
        eventually(lambda: blocked(admin) == 0)
        client.close()
        client.close()
        eventually(lambda: len(admin.client_list()) == 1)
        for call in (queue.take, queue.poll, queue.size, lambda: client.blocking_queue("x")):  # noqa: B023
            with pytest.raises(ClosedError):
                call()
    assert not caplog.records, "an orderly end is nothing to warn about"


def test_another_handle_keeps_waiting_when_one_is_destroyed(
    threads: ThreadPoolExecutor, admin: Any, client: Any
) -> None:
    one, other = client.blocking_queue("orders"), client.blocking_queue("orders")
    waiting = threads.submit(other.take)
    eventually(lambda: blocked(admin) == 1)
    one.destroy()
    admin.rpush("orders", "a")
    assert waiting.result(PATIENCE) == "a"


def test_closing_while_items_come_loses_none(
    threads: ThreadPoolExecutor, flavour: Flavour, admin: Any, url: str
) -> None:
    chance = random.Random(2)
    got: list[str] = []
    for i in range(40):
        client = flavour.connect(url, codec=StringCodec())
        queue = client.blocking_queue("orders", transfer=False)
        waiting = threads.submit(queue.take)
        eventually(lambda: waiting.done() or blocked(admin) == 1)  # noqa: B023
        pusher = threading.Timer(chance.uniform(0, 0.002), admin.rpush, ("orders", f"v{i:02}"))
        pusher.start()
        time.sleep(chance.uniform(0, 0.002))
        client.close()
        with contextlib.suppress(ClosedError):
            got.append(waiting.result(PATIENCE))
        pusher.join()
    left = [value.decode() for value in admin.lrange("orders", 0, -1)]
    assert sorted(got + left) == [f"v{i:02}" for i in range(40)]


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_a_cancelled_take_loses_nothing(flavour: AsyncioFlavour, admin: Any, queue: Any) -> None:
    async def takes() -> list[str]:
        chance = random.Random(3)
        loop = asyncio.get_running_loop()
        got = []
        # One thread, or the pushes may overtake each other.
        pusher = ThreadPoolExecutor(1)
        for i in range(150):
            task = asyncio.create_task(queue.inner.take())
            push = partial(loop.run_in_executor, pusher, admin.rpush, "orders", f"v{i:03}")
            pushing = loop.call_later(chance.uniform(0, 0.004), push)
            await asyncio.sleep(chance.uniform(0, 0.004))
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                got.append(await task)
            await asyncio.sleep(max(0, pushing.when() - loop.time()) + 0.001)
        pusher.shutdown()
        return got

    conserved(admin, flavour.run(takes()), 150)


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
@pytest.mark.parametrize("call", ["poll", "poll_from_any"])
@pytest.mark.parametrize("kind", ["blocking_queue", "bounded_blocking_queue"])
def test_a_cancelled_short_wait_loses_nothing(
    flavour: AsyncioFlavour, admin: Any, client: Any, call: str, kind: str
) -> None:
    queue = getattr(client.inner, kind)("orders", transfer=False)

    async def polls() -> list[str]:
        chance = random.Random(5)
        if kind == "bounded_blocking_queue":
            await queue.try_set_capacity(300)
        await queue.add_all([f"v{i:03}" for i in range(300)])
        got = []
        for _ in range(200):
            task = asyncio.create_task(getattr(queue, call)(timeout=0.2))
            for _ in range(chance.randrange(1, 12)):
                await asyncio.sleep(0)
            await asyncio.sleep(chance.choice((0, 0.0001, 0.0002)))
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                got.append(await task)
        return got

    got = flavour.run(polls())
    assert 0 < len(got) < 200
    conserved(admin, got, 300)
    if kind == "bounded_blocking_queue":
        eventually(lambda: int(admin.get(KEYS.capacity)) == len(got))


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_a_cancelled_wait_for_loses_nothing(flavour: AsyncioFlavour, admin: Any, queue: Any) -> None:
    async def polls() -> list[str]:
        chance = random.Random(4)
        got = []
        for _ in range(150):
            with contextlib.suppress(asyncio.TimeoutError):
                got.append(await asyncio.wait_for(queue.inner.take(), chance.uniform(0.0001, 0.004)))
        return got

    stop = threading.Event()

    def push() -> None:
        for i in range(100):
            admin.rpush("orders", f"v{i:03}")
            stop.wait(0.002)

    pusher = threading.Thread(target=push)
    pusher.start()
    got = flavour.run(polls())
    pusher.join()
    conserved(admin, got, 100)


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_an_interrupted_take_loses_nothing(admin: Any, queue: Any) -> None:
    chance = random.Random(5)
    main = threading.main_thread().ident
    assert main is not None
    got: list[str] = []
    for i in range(150):
        pusher = threading.Timer(chance.uniform(0, 0.004), admin.rpush, ("orders", f"v{i:03}"))
        interrupter = threading.Timer(chance.uniform(0.0005, 0.004), signal.pthread_kill, (main, signal.SIGINT))
        try:
            pusher.start()
            interrupter.start()
            got.append(queue.take())
            interrupter.join()
            time.sleep(0.1)
        except KeyboardInterrupt:
            pass
        pusher.join()
        interrupter.join()
    conserved(admin, got, 150)


def conserved(admin: Any, got: list[str], count: int) -> None:
    """What was taken and what is left are all the items, each once, and what is left is in order."""
    eventually(lambda: len(got) + admin.llen("orders") == count)
    left = [value.decode() for value in admin.lrange("orders", 0, -1)]
    assert sorted(got + left) == [f"v{i:03}" for i in range(count)]
    assert left == sorted(left)
    assert len(got) > 0


def test_a_wait_is_issued_again_when_its_connection_was_killed(
    threads: ThreadPoolExecutor, admin: Any, queue: Any, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = threads.submit(queue.take)
    for _ in range(3):
        eventually(lambda: blocked(admin) == 1)
        for entry in admin.client_list():
            if "b" in entry["flags"]:
                admin.client_kill_filter(_id=entry["id"])
    eventually(lambda: blocked(admin) == 1)
    admin.rpush("orders", "a")
    assert waiting.result(PATIENCE) == "a"
    assert "Redis cannot be reached" in caplog.text


def test_a_wait_goes_on_when_the_network_was_cut(
    threads: ThreadPoolExecutor, flavour: Flavour, server: EmbeddedServer, admin: Any
) -> None:
    with Gate(lambda: server.port or 0) as proxy, flavour.connect(proxy.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        waiting = threads.submit(queue.take)
        eventually(lambda: blocked(admin) == 1)
        proxy.cut()
        client.delayed_queue("orders").offer("a", delay=0.1)
        assert waiting.result(PATIENCE) == "a"


def test_a_poll_with_a_timeout_says_when_redis_is_gone(flavour: Flavour, own_server: EmbeddedServer) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        own_server.kill()
        with pytest.raises(RedisConnectionError):
            queue.poll(timeout=0.3)
        with pytest.raises(RedisConnectionError):
            queue.poll()


def test_a_pop_that_redis_lost_without_our_noticing_holds_nobody_up(
    threads: ThreadPoolExecutor, flavour: Flavour, server: EmbeddedServer, admin: Any
) -> None:
    with Gate(lambda: server.port or 0) as proxy:
        client = flavour.connect(proxy.url, codec=StringCodec())
        queue = client.blocking_queue("orders", transfer=False)
        waiting = threads.submit(queue.take)
        eventually(lambda: blocked(admin) == 1)
        proxy.silence()
        for entry in admin.client_list():
            if "b" in entry["flags"]:
                admin.client_kill_filter(_id=entry["id"])
        threads.submit(client.close).result(PATIENCE)
        with pytest.raises(ClosedError):
            waiting.result(PATIENCE)


def test_a_healthy_wait_forgets_an_old_trouble(threads: ThreadPoolExecutor, admin: Any, queue: Any) -> None:
    waiting = threads.submit(queue.take)
    eventually(lambda: blocked(admin) == 1)
    for entry in admin.client_list():
        if "b" in entry["flags"]:
            admin.client_kill_filter(_id=entry["id"])
    eventually(lambda: blocked(admin) == 1)
    assert queue.poll(timeout=0.6) is None
    admin.rpush("orders", "a")
    assert waiting.result(PATIENCE) == "a"


@ONE_FLAVOUR_BY_DAY
def test_a_wait_that_breaks_now_and_then_goes_on_as_soon_as_one_that_breaks_once(
    threads: ThreadPoolExecutor, flavour: Flavour, admin: Any, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        TestClock(url) as clock,
        caplog.at_level(logging.DEBUG, "redisson_dq"),
        flavour.connect(url, codec=StringCodec()) as client,
    ):
        waiting = threads.submit(client.blocking_queue("orders").take)
        for _ in range(2):
            eventually(lambda: blocked(admin) == 1)
            # Longer than the longest pause. Breaks in quick succession are a server that is away.
            clock.advance(2.1)
            for entry in admin.client_list():
                if "b" in entry["flags"]:
                    admin.client_kill_filter(_id=entry["id"])
        admin.rpush("orders", "a")
        assert waiting.result(PATIENCE) == "a"
    again = [message.split(" in ")[1] for message in caplog.messages if "waiting again in" in message]
    pauses = [float(text.split()[0]) for text in again]
    assert len(pauses) == 2
    assert max(pauses) <= 0.05, "jitter shortens a pause"


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_a_popped_item_that_redis_does_not_take_back_is_kept_and_given_again(
    flavour: AsyncioFlavour, server: EmbeddedServer, admin: Any
) -> None:
    """LPUSH is forbidden, so what a cancelled take() had popped stays with the client until somebody asks."""
    admin.acl_setuser("nopush", enabled=True, nopass=True, keys=["*"], channels=["*"], commands=["+@all", "-lpush"])
    try:
        client = flavour.connect(server.url.replace("redis://", "redis://nopush:x@"), codec=StringCodec())
        with client:
            queue = client.blocking_queue("orders", transfer=False)

            async def cancelled() -> None:
                task = asyncio.create_task(queue.inner.take())
                while not blocked(admin):
                    await asyncio.sleep(0.001)
                admin.rpush("orders", "a")
                receiver = client.inner.runtime.receivers.of(Pop(("orders",), "first"))
                while receiver.line.count:
                    await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

            flavour.run(cancelled())
            time.sleep(0.3)
            refused = admin.info("errorstats").get("errorstat_NOPERM", {"count": 0})["count"]
            assert refused < 20, "it is tried again after a pause"
            assert queue.poll(timeout=5) == "a"
    finally:
        admin.acl_deluser("nopush")


def test_a_take_outlives_a_restart_of_redis(
    threads: ThreadPoolExecutor, flavour: Flavour, own_server: EmbeddedServer
) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        delayed = client.delayed_queue(queue)
        waiting = threads.submit(queue.take)
        with redis.Redis.from_url(own_server.url) as admin:
            eventually(lambda: blocked(admin) == 1)
        delayed.offer("a", delay=0.5)
        own_server.restart()
        assert waiting.result(PATIENCE) == "a"


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_a_thousand_waiting_consumers_of_one_loop(flavour: AsyncioFlavour, admin: Any, client: Any) -> None:
    async def all_of_them() -> list[str]:
        queue = client.inner.blocking_queue("orders")
        tasks = [asyncio.create_task(queue.take()) for _ in range(1000)]
        await asyncio.sleep(0)
        await client.inner.delayed_queue(queue).offer_all([(f"v{i:03}", 0.05) for i in range(1000)])
        return list(await asyncio.gather(*tasks))

    assert flavour.run(all_of_them()) == [f"v{i:03}" for i in range(1000)]
    assert len(admin.client_list()) <= 5


def test_a_handle_as_a_context_manager(client: Any) -> None:
    with client.blocking_queue("orders") as queue, client.delayed_queue(queue) as delayed:
        delayed.offer("a", delay=0)
        assert queue.take() == "a"
    for call in (queue.take, delayed.peek, lambda: delayed.offer("a", delay=1)):
        with pytest.raises(ClosedError, match="destroyed"):
            call()
    queue.destroy()


def test_close_from_a_signal_handler_ends_the_main_thread(url: str) -> None:
    """What a service does on SIGTERM: close the client, and the main loop ends, wherever it was."""
    chance = random.Random(6)
    main = threading.main_thread().ident
    assert main is not None
    before = signal.getsignal(signal.SIGTERM)
    try:
        for _ in range(60):
            with redisson_dq.connect(url, codec=StringCodec()) as client:
                signal.signal(signal.SIGTERM, lambda *_, client=client: client.close())
                queue = client.blocking_queue("orders")
                threading.Timer(chance.uniform(0, 0.02), signal.pthread_kill, (main, signal.SIGTERM)).start()
                timeouts = [0.501 if chance.random() < 0.5 else 0.0001 for _ in range(500)]
                with pytest.raises(ClosedError):
                    [queue.poll(timeout=timeout) for timeout in timeouts]
    finally:
        signal.signal(signal.SIGTERM, before)
