"""Redis has reached its maxmemory. Offers are refused, and calls that free memory go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
import redis

from redisson_dq import Outcome
from redisson_dq.codecs import LongCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import DecodeError, RedisReplyError, ServerFullError
from redisson_dq.scripts.script import load
from redisson_dq.wire import calls
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, PROGRAMS, emptied, eventually, moving
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.server import of_server, wait_until

FULL = r"maxmemory"


@pytest.fixture(scope="module")
def own_servers() -> Iterator[Callable[[str], EmbeddedServer]]:
    """Starts each kind of server once, when the first test wants it."""
    with ExitStack() as stack:
        running: dict[str, EmbeddedServer] = {}

        def start(kind: str) -> EmbeddedServer:
            if kind not in running:
                running[kind] = stack.enter_context(EmbeddedServer(program=PROGRAMS[kind]()))
            return running[kind]

        yield start


@pytest.fixture(params=["redis", "valkey"])
def server(request: pytest.FixtureRequest, own_servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    """An empty server of these tests alone, whose memory may run out."""
    made = own_servers(request.param)
    with redis.Redis.from_url(made.url) as admin:
        admin.config_set("maxmemory", 0)
    return emptied(made)


@pytest.fixture
def full(admin: Any) -> Callable[[], None]:
    """Leaves the server without memory for good, whatever is freed."""

    def fill() -> None:
        admin.config_set("maxmemory-policy", "noeviction")
        admin.config_set("maxmemory", 1)
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            admin.set("more", "x")

    return fill


def late(count: int, start: int = 0) -> list[str]:
    return [f"v{number}" for number in range(start, start + count)]


@pytest.mark.parametrize("lean", [False, True])
def test_what_falls_due_is_delivered_and_offers_are_refused(
    client: Any, admin: Any, queue: Any, full: Callable[[], None], lean: bool
) -> None:
    delayed = client.delayed_queue("orders", lean=lean)
    moment = of_server(admin, 1500)
    with client.pipeline() as pipe:
        for value in late(300):
            pipe.add(delayed.requests.offer(value, at=moment))
        for value in late(100, 300):
            pipe.add(delayed.requests.offer(value, at=moment + timedelta(milliseconds=5), id=f"i{value}"))
    full()
    offers: list[Callable[[], Any]] = [
        lambda: delayed.offer("more", 1),
        lambda: delayed.offer("more", 1, id="more"),
        lambda: delayed.offer_all([("more", 1)]),
        lambda: delayed.offer_recurring("more", "tick", every=1),
        lambda: queue.add("more"),
    ]
    for offer in offers:
        with pytest.raises(ServerFullError, match=FULL) as refused:
            offer()
        assert not refused.value.maybe_done
    assert [queue.take() for _ in range(400)] == late(400)
    assert (delayed.size(), queue.size(), admin.exists(KEYS.envelopes, KEYS.timeout)) == (0, 0, 0)


def test_a_receive_waits_and_what_nobody_leased_is_ready_again(
    client: Any, admin: Any, queue: Any, delayed: Any, full: Callable[[], None]
) -> None:
    """Redis refuses the command that a receive waits with, and no look."""
    delayed.offer_all([("a", 1.0), ("b", 1.0)])
    # What a receiver leaves that dies between the two commands.
    admin.rpush(KEYS.arrivals, "c")
    full()
    assert admin.eval(load("return_arrivals").source, 2, KEYS.ready, KEYS.arrivals, 5) == 1
    assert queue.receive(timeout=0.2).ack()
    assert queue.receive(timeout=0.01) is None
    found = [queue.receive(timeout=PATIENCE) for _ in range(2)]
    assert [each.value for each in found] == ["a", "b"]
    assert all(queue.ack_all(found))


def test_offers_go_on_when_items_have_been_delivered(client: Any, admin: Any, queue: Any, delayed: Any) -> None:
    admin.config_set("maxmemory-policy", "noeviction")
    admin.config_set("maxmemory", admin.info("memory")["used_memory"] + 3_000_000)
    moment = of_server(admin, 4000)
    offered = 0
    refusal = None
    while refusal is None:
        try:
            delayed.offer(f"{offered}:{'x' * 10_000}", at=moment)
            offered += 1
        except ServerFullError as error:
            refusal = error
    assert offered > 50
    wait_until(admin, moment)
    taken = [queue.take().partition(":")[0] for _ in range(offered)]
    assert taken == [str(number) for number in range(offered)]
    delayed.offer("again", 0)
    assert queue.take() == "again"


def test_late_and_unreadable_entries_and_recurring_offers_hold_nothing_up(
    admin: Any, producer: Any, delayed: Any, queue: Any, full: Callable[[], None]
) -> None:
    moment = of_server(admin, 1000)
    producer.offer_recurring("tick", "tick", every=0.2)
    producer.offer("value", at=moment)
    admin.zadd(KEYS.timeout, {b"junk": int(moment.timestamp() * 1000)})
    full()
    come = [queue.take() for _ in range(8)]
    assert come.count("value") == 1
    assert come.count("tick") == 7
    eventually(lambda: delayed.read_quarantine())


def test_an_expired_item_is_kept_aside(admin: Any, client: Any, producer: Any, full: Callable[[], None]) -> None:
    producer.offer("late", at=of_server(admin, 300), expires=0.001)
    wait_until(admin, of_server(admin, 400))
    full()
    delayed = moving(client.delayed_queue("orders"))
    eventually(lambda: [item.data for item in delayed.read_expired()] == [b"late"])


def test_single_items_are_cancelled_moved_and_taken(admin: Any, producer: Any, full: Callable[[], None]) -> None:
    for number in range(5):
        producer.offer(f"v{number}", 60, id=str(number))
    producer.offer("plain", 60)
    full()
    assert producer.cancel("0") is Outcome.CANCELLED
    assert producer.cancel("0") is Outcome.UNKNOWN
    assert producer.reschedule("1", 90) is Outcome.RESCHEDULED
    assert producer.poll() == "v1"
    assert producer.remove("v2") is True
    assert producer.poll_last_and_offer_first_to("done") == "plain"
    assert admin.lrange("done", 0, -1) == [b"plain"]
    assert producer.retain_all(["v3"]) is True
    assert producer.read_all() == ["v3"]
    producer.clear()
    assert producer.size() == 0


def test_ready_values_are_moved_removed_and_kept(
    flavour: Flavour, url: str, admin: Any, client: Any, queue: Any, full: Callable[[], None]
) -> None:
    admin.rpush("orders", *[f"v{number}" for number in range(10)])
    admin.rpush("numbers", b"123")
    full()
    assert queue.move("done") == "v0"
    assert queue.poll_last_and_offer_first_to("done") == "v9"
    with client.pipeline() as pipe:
        moved = pipe.add(queue.requests.move("done"))
    assert moved.result == "v1"
    assert admin.lrange("done", 0, -1) == [b"v9", b"v0", b"v1"]
    assert queue.remove("v2") is True
    assert queue.retain_all(["v3", "v4"]) is True
    assert queue.poll(limit=2) == ["v3", "v4"]
    numbers = client.blocking_queue("numbers", LongCodec())
    admin.config_set("maxmemory", 0)
    admin.rpush("numbers", b"not a number")
    admin.config_set("maxmemory", 1)
    assert numbers.take() == 123
    with pytest.raises(DecodeError) as unreadable:
        numbers.take()
    assert unreadable.value.kept_in == numbers.keys.undecodable
    assert admin.lrange(numbers.keys.undecodable, 0, -1) == [b"not a number"]


def test_many_values_are_put_back(admin: Any, client: Any, full: Callable[[], None]) -> None:
    """As when a caller is gone before its reply comes: more than one command takes."""
    values = [b"%d" % number for number in range(9500)]
    admin.rpush("orders", b"last")
    full()
    with client.pipeline() as pipe:
        done = pipe.add(calls.put_back(QueueKeys.of("orders"), b"nonce", b"", "first", values))
    assert done.result is True
    assert admin.lrange("orders", 0, -1) == [*values, b"last"]


def test_a_bounded_queue_makes_room(admin: Any, client: Any, full: Callable[[], None]) -> None:
    bounded = client.bounded_blocking_queue("orders")
    bounded.try_set_capacity(10)
    bounded.add_all(["a", "b", "c", "d", "e", "f"])
    full()
    with pytest.raises(ServerFullError, match=FULL):
        bounded.offer("more")
    assert bounded.take() == "a"
    assert bounded.poll() == "b"
    assert bounded.remove("c") is True
    assert bounded.move("done") == "d"
    assert bounded.remaining_capacity() == 8
    bounded.clear()
    assert bounded.remaining_capacity() == 10


def test_it_is_an_error_reply(admin: Any, producer: Any, full: Callable[[], None]) -> None:
    full()
    with pytest.raises(RedisReplyError, match=r"offer on '.*': Redis has reached its maxmemory"):
        producer.offer("more", 1)
