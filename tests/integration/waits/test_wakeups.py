"""Who wakes up, when, and how often anything is sent: subscriptions, timers, probes, handles."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.testing import TestClock
from redisson_dq.wire.envelope import Envelope, wrap
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, PROGRAMS, eventually, moving
from tests.faults.gate import Gate
from tests.flavours import AsyncioFlavour, Flavour
from tests.integration.conftest import KEYS

MEMBER = wrap(Envelope.CURRENT, b"\x80" * 8, b"foreign")


def subscribers(admin: Any) -> int:
    """Also those under a test's clock, which has channels of its own."""
    channels = admin.pubsub_channels(f"{KEYS.channel}*")
    return sum(int(count) for _, count in admin.pubsub_numsub(*channels))


def put_silently(admin: Any, delay_ms: int, member: bytes = MEMBER) -> None:
    """An entry whose writer announces nothing."""
    seconds, microseconds = admin.time()
    admin.zadd(KEYS.timeout, {member: seconds * 1000 + microseconds // 1000 + delay_ms})
    admin.rpush(KEYS.envelopes, member)


def sent(admin: Any) -> int:
    """Commands processed, those inside scripts included, this one not."""
    return int(admin.info("stats")["total_commands_processed"])


def test_one_subscription_for_any_number_of_handles(admin: Any, client: Any) -> None:
    handles = [moving(client.blocking_queue("orders")) for _ in range(20)] + [
        moving(client.delayed_queue("orders"))
    ] * 5
    handles += [moving(client.blocking_queue(f"other-{i}")) for i in range(20)]
    eventually(lambda: subscribers(admin) == 1)
    eventually(lambda: admin.info("clients")["pubsub_clients"] == 1 if "pubsub_clients" in admin.info("clients") else 1)
    assert sum(entry["sub"] != "0" for entry in admin.client_list()) == 1


@pytest.fixture
def clock(url: str) -> Iterator[TestClock]:
    """A client that is made after it follows it."""
    with TestClock(url) as made:
        yield made


def test_handles_are_counted(clock: TestClock, admin: Any, client: Any) -> None:
    handles = [
        moving(client.blocking_queue("orders")),
        moving(client.delayed_queue("orders")),
        moving(client.blocking_deque("orders")),
    ]
    eventually(lambda: subscribers(admin) == 1)
    for handle in handles[:2]:
        handle.destroy()
        handle.destroy()
    handles[2].take_first  # noqa: B018 - the handle that is left
    client.delayed_queue("orders", transfer=False).offer("a", delay=0.05)
    with clock.auto():
        assert handles[2].take() == "a"
    handles[2].destroy()
    eventually(lambda: subscribers(admin) == 0)
    client.delayed_queue("orders", transfer=False).offer("b", delay=0)
    clock.advance(days=1)
    assert admin.llen("orders") == 0, "nothing moves after the last destroy"
    with moving(client.blocking_queue("orders")) as again:
        assert again.take() == "b"


def test_destroy_leaves_no_timer_behind(clock: TestClock, admin: Any, client: Any) -> None:
    queue, delayed = moving(client.blocking_queue("orders")), moving(client.delayed_queue("orders"))
    delayed.offer("a", delay=0.2)
    eventually(lambda: subscribers(admin) == 1)
    queue.destroy()
    delayed.destroy()
    eventually(lambda: subscribers(admin) == 0)
    admin.config_resetstat()
    clock.advance(days=1)
    assert "cmdstat_evalsha" not in admin.info("commandstats")
    assert admin.zcard(KEYS.timeout) == 1


def test_a_close_right_after_the_start_leaves_no_subscription(
    url: str, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new thread may have subscribed before the thread that started it goes on."""

    start = threading.Thread.start

    def slowly(thread: threading.Thread) -> None:
        start(thread)
        if thread.name == "redisson_dq-subscription":
            time.sleep(0.3)

    monkeypatch.setattr(threading.Thread, "start", slowly)
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        client.blocking_queue("orders").start_moving()
        eventually(lambda: subscribers(admin) == 1)
    eventually(lambda: subscribers(admin) == 0)


def test_a_producer_that_moves_nothing_has_no_thread_and_no_subscription(admin: Any, producer: Any) -> None:
    producer.offer("a", delay=0.01)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("redisson_dq-")]
    assert subscribers(admin) == 0


def test_a_sooner_offer_of_another_client_re_arms(flavour: Flavour, url: str, threads: ThreadPoolExecutor) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=3600) as consumer:
        queue = moving(consumer.blocking_queue("orders"))
        with flavour.connect(url, codec=StringCodec()) as other:
            delayed = other.delayed_queue("orders", transfer=False)
            delayed.offer("far", delay=3600)
            waiting = threads.submit(queue.take)
            delayed.offer("near", delay=0.2)
            assert waiting.result(PATIENCE) == "near"


def test_an_item_that_nobody_announced_is_found_by_the_probe(flavour: Flavour, admin: Any, url: str) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=0.2) as client:
        queue = moving(client.blocking_queue("orders"))
        eventually(lambda: subscribers(admin) == 1)
        put_silently(admin, 0)
        assert queue.take() == "foreign"
        put_silently(admin, 600)
        assert queue.take() == "foreign"


@ONE_FLAVOUR_BY_DAY
def test_a_subscription_that_died_in_silence_is_noticed(
    flavour: Flavour, server: EmbeddedServer, admin: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        Gate(lambda: server.port or 0) as proxy,
        flavour.connect(f"{proxy.url}?socket_timeout=1", codec=StringCodec(), probe_interval=0.2) as client,
    ):
        queue = moving(client.blocking_queue("orders"))
        delayed = client.delayed_queue("orders", transfer=False)
        delayed.offer("a", delay=0.05)
        assert queue.poll(timeout=PATIENCE) == "a"
        proxy.silence()
        eventually(lambda: "the subscription no longer answers" in caplog.text)
        with flavour.connect(server.url, codec=StringCodec()) as other:
            other.delayed_queue("orders", transfer=False).offer("b", delay=0.05)
        eventually(lambda: admin.llen("orders") == 1)


def test_messages_that_are_no_due_time_are_ignored(
    admin: Any, queue: Any, delayed: Any, caplog: pytest.LogCaptureFixture
) -> None:
    eventually(lambda: subscribers(admin) == 1)
    for body in ("", "soon", b"\xff\xfe", "1e9", "-5", "9" * 30):
        admin.publish(KEYS.channel, body)
    delayed.offer("a", delay=0.05)
    assert queue.take() == "a"
    assert caplog.text.count("not a due time") == 4


def test_a_false_announcement_does_not_delay_the_next_item(admin: Any, queue: Any, delayed: Any) -> None:
    delayed.offer("a", delay=0.3)
    eventually(lambda: subscribers(admin) == 1)
    admin.publish(KEYS.channel, str(2**52))
    assert queue.take() == "a"


def test_moving_costs_a_bounded_number_of_calls(admin: Any, queue: Any, producer: Any) -> None:
    eventually(lambda: subscribers(admin) == 1)
    producer.offer_all([(f"v{i:04}", 0.3) for i in range(1000)])
    admin.config_resetstat()
    assert [queue.take() for _ in range(1000)] == [f"v{i:04}" for i in range(1000)]
    # Ten full batches, one that finds nothing left, and room for an alarm that came early.
    assert admin.info("commandstats")["cmdstat_evalsha"]["calls"] <= 14


def is_unblocked(admin: Any) -> None:
    """On a busy machine the pop of a poll that has ended may still be on its way, and its unblocking behind it."""
    eventually(lambda: "cmdstat_blpop" in admin.info("commandstats"))
    eventually(lambda: admin.info("clients")["blocked_clients"] == 0)


@ONE_FLAVOUR_BY_DAY
def test_a_client_whose_items_wait_sends_four_commands_a_probe(flavour: Flavour, admin: Any, url: str) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=0.5) as client:
        queue = moving(client.blocking_queue("orders"))
        client.delayed_queue("orders").offer("far", delay=600)
        eventually(lambda: subscribers(admin) == 1)
        assert queue.poll(timeout=0.6) is None
        is_unblocked(admin)
        admin.config_resetstat()
        eventually(lambda: admin.info("commandstats").get("cmdstat_ping", {"calls": 0})["calls"] == 4)
        eventually(lambda: admin.info("commandstats").get("cmdstat_time", {"calls": 0})["calls"] == 4)
        stats = admin.info("commandstats")
    foreign = {"cmdstat_info", "cmdstat_config|resetstat"}
    assert {name: entry["calls"] for name, entry in stats.items() if name not in foreign} == {
        "cmdstat_ping": 4,
        "cmdstat_lpop": 4,
        "cmdstat_zrange": 4,
        "cmdstat_time": 4,
    }


@ONE_FLAVOUR_BY_DAY
def test_an_idle_client_sends_three_commands_a_probe(flavour: Flavour, admin: Any, url: str) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=0.5) as client:
        queue = moving(client.blocking_queue("orders"))
        eventually(lambda: subscribers(admin) == 1)
        assert queue.poll(timeout=0.6) is None
        is_unblocked(admin)
        admin.config_resetstat()
        eventually(lambda: admin.info("commandstats").get("cmdstat_zrange", {"calls": 0})["calls"] == 4)
        stats = admin.info("commandstats")
    foreign = {"cmdstat_info", "cmdstat_config|resetstat"}
    sent = {name: entry["calls"] for name, entry in stats.items() if name not in foreign}
    assert sent == {"cmdstat_ping": 4, "cmdstat_lpop": 4, "cmdstat_zrange": 4}


@ONE_FLAVOUR_BY_DAY
def test_a_blocked_pop_stands_for_the_write_of_the_probe(
    flavour: Flavour, admin: Any, url: str, threads: ThreadPoolExecutor
) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=0.5) as client:
        queue = moving(client.blocking_queue("orders"))
        eventually(lambda: subscribers(admin) == 1)
        waiting = threads.submit(queue.take)
        eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
        admin.config_resetstat()
        eventually(lambda: admin.info("commandstats").get("cmdstat_blpop", {"calls": 0})["calls"] == 3)
        assert "cmdstat_lpop" not in admin.info("commandstats")
        admin.rpush("orders", "last")
        assert waiting.result(PATIENCE) == "last"


@pytest.mark.nightly
def test_a_minute_of_waiting_costs_at_most_eight_commands() -> None:
    """The default probe interval, one item due in 10 minutes, one blocked take(): both flavours, side by side."""
    flavours: list[Flavour] = [Flavour(), AsyncioFlavour()]
    with EmbeddedServer(program=PROGRAMS["redis"]()) as one, EmbeddedServer(program=PROGRAMS["redis"]()) as other:
        servers = [one, other]
        admins = [redis.Redis.from_url(server.url) for server in servers]
        clients = [
            flavour.connect(server.url, codec=StringCodec()) for flavour, server in zip(flavours, servers, strict=True)
        ]
        try:
            for client in clients:
                queue = moving(client.blocking_queue("orders"))
                client.delayed_queue(queue).offer("far", delay=600)
                threading.Thread(target=_until_closed, args=(queue,), daemon=True).start()
            for admin in admins:
                eventually(lambda: admin.info("clients")["blocked_clients"] == 1 and subscribers(admin) == 1)  # noqa: B023
            # Half a minute after its start a client looks once whether there is something to tidy.
            time.sleep(35)
            before = [sent(admin) for admin in admins]
            time.sleep(60)
            # Less one: the INFO that is asked now.
            counts = [sent(admin) - start - 1 for admin, start in zip(admins, before, strict=True)]
        finally:
            for client in clients:
                client.close()
            for flavour in flavours:
                flavour.close()
            for admin in admins:
                admin.close()
    assert all(count <= 8 for count in counts), counts
    assert all(count > 0 for count in counts), "the probe ran"


def _until_closed(queue: Any) -> None:
    with pytest.raises(Exception, match="closed"):
        queue.take()


@pytest.mark.parametrize("how", ["rename", "rename_if_free", "copy", "copy_and_replace", "restore", "replace"])
def test_what_comes_under_another_name_is_delivered_in_time(flavour: Flavour, admin: Any, url: str, how: str) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=86_400) as client:
        queue = moving(client.blocking_queue("target"))
        target = moving(client.delayed_queue("target"))
        eventually(lambda: admin.pubsub_numsub(target.keys.channel)[0][1] == 1)
        # The answer to a first message: from here on its transfer task rests.
        target.offer("first", delay=0)
        assert queue.take() == "first"
        source = client.delayed_queue("orders", transfer=False)
        source.offer("a", delay=0.3)
        if how.startswith("re") and "name" not in how:
            (target.restore if how == "restore" else target.restore_and_replace)(source.dump())
        else:
            getattr(source, how)("target")
        assert queue.poll(timeout=PATIENCE) == "a"
