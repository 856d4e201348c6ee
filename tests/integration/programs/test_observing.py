"""The happenings that observers of a client get, their order, and that an observer changes nothing."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq import SettleOutcome, observing
from redisson_dq.codecs import LongCodec, StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, DecodeError, RedisConnectionError, WrongTypeError
from redisson_dq.observing import (
    AckedTooLate,
    Answered,
    Away,
    BackAgain,
    Buried,
    Expired,
    Happening,
    LeaseBegan,
    LeaseLost,
    Moved,
    OfLease,
    OfRequest,
    Role,
    RoleChanged,
    Sent,
    SetAside,
    Settled,
    Skipped,
    Subscribed,
    Undecodable,
    ValuesTaken,
)
from redisson_dq.worker import (
    DeadLettered,
    Failed,
    GivenUp,
    OfValue,
    Received,
    Retried,
    Retry,
    Succeeded,
    Unhandled,
    Unreadable,
    fixed,
)
from tests.conftest import eventually, moving
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.server import of_server, wait_until
from tests.workers.handlers import Ledger, running

ZERO = timedelta(0)


class Watch:
    """An observer that notes all that it hears."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def __call__(self, happening: Happening) -> None:
        self.heard.append(happening)

    def of(self, *kinds: type[Happening]) -> list[Any]:
        return [each for each in self.heard if isinstance(each, kinds)]

    def until(self, kind: type[Happening], count: int = 1) -> None:
        eventually(lambda: len(self.of(kind)) >= count)

    @property
    def kinds(self) -> list[str]:
        return [type(each).__name__ for each in self.heard]


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def client(flavour: Flavour, url: str, watch: Watch) -> Iterator[Any]:
    with flavour.connect(url, codec=StringCodec(), observer=watch) as made:
        yield made


# -- requests --------------------------------------------------------------------------------------------------------


def test_an_offer(client: Any, watch: Watch) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", delay=60)
    ping_sent, ping_answered, sent, answered = watch.heard
    assert (ping_sent.request, ping_sent.keys, ping_answered.request) == ("PING", (), "PING")
    assert sent == Sent(number=sent.number, request="offer", keys=sent.keys)
    assert sent.keys[:2] == (KEYS.timeout, KEYS.envelopes)
    assert (answered.request, answered.keys, answered.error) == (sent.request, sent.keys, None)
    assert isinstance(answered, Answered)
    assert ping_sent.number == ping_answered.number < sent.number == answered.number
    assert ZERO < answered.duration < timedelta(seconds=30)


def test_a_request_that_redis_refuses(client: Any, watch: Watch, admin: redis.Redis) -> None:
    admin.set("orders", "text")
    watch.heard.clear()
    with pytest.raises(WrongTypeError):
        client.blocking_queue("orders", transfer=False).add("a")
    sent, answered, asks, told = watch.heard
    assert (sent.request, answered.request, asks.request, told.request) == ("RPUSH", "RPUSH", "TYPE", "TYPE")
    assert "WRONGTYPE" in str(answered.error)
    assert told.error is None


def test_a_pipeline(client: Any, watch: Watch, admin: redis.Redis) -> None:
    admin.set("text", "text")
    queue, other = (client.blocking_queue(name, transfer=False) for name in ("orders", "text"))
    for transaction in (False, True):
        watch.heard.clear()
        pipe = client.pipeline(transaction=transaction)
        added = pipe.add(queue.requests.add("a"))
        size = pipe.add(other.requests.size())
        taken = pipe.add(queue.requests.poll())
        with pytest.raises(WrongTypeError):
            pipe.execute()
        assert (added.result, taken.result) == (True, "a")
        with pytest.raises(WrongTypeError):
            _ = size.result
        requests = watch.of(OfRequest)[:6]
        assert [(type(each), each.request) for each in requests] == [
            *((Sent, name) for name in ("RPUSH", "LLEN", "LPOP")),
            *((Answered, name) for name in ("RPUSH", "LLEN", "LPOP")),
        ]
        assert [each.number for each in requests[:3]] == [each.number for each in requests[3:]]
        assert [each.error is None for each in requests[3:]] == [True, False, True]
        assert watch.of(ValuesTaken) == [ValuesTaken(queue="orders", count=1)]


def test_a_server_that_cannot_be_reached(flavour: Flavour, own_server: EmbeddedServer, watch: Watch) -> None:
    with flavour.connect(own_server.url, observer=watch) as client:
        queue = client.blocking_queue("orders", transfer=False)
        own_server.kill()
        for _ in range(2):
            watch.heard.clear()
            with pytest.raises(RedisConnectionError):
                queue.size()
            sent, answered = watch.heard
            assert (sent.request, sent.number) == (answered.request, answered.number) == ("LLEN", sent.number)
            assert isinstance(answered.error, RedisConnectionError)
        watch.heard.clear()
        pipe = client.pipeline()
        pipe.add(queue.requests.size())
        pipe.add(queue.requests.peek())
        with pytest.raises(RedisConnectionError):
            pipe.execute()
        assert watch.kinds == ["Sent", "Sent", "Answered", "Answered"]
        assert all(isinstance(each.error, RedisConnectionError) for each in watch.of(Answered))


def test_a_command_that_waits(client: Any, watch: Watch, admin: redis.Redis) -> None:
    """It is told as a request. The script behind it is told when the command has ended."""
    queue = client.blocking_queue("orders", transfer=False)
    for call, expected in (
        (queue.take, [("BLPOP", True)]),
        (
            lambda: queue.receive().ack(),
            [("receive", False), ("BLMOVE", True), ("receive", False), ("ack", False)],
        ),
    ):
        watch.heard.clear()
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(call)
            eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
            under_way = watch.of(Sent), watch.of(Answered)
            admin.rpush("orders", "a")
            waiting.result()
        assert under_way[0][-1].waits
        assert len(under_way[0]) == len(under_way[1]) + 1
        sent, answered = watch.of(Sent), watch.of(Answered)
        assert [each.number for each in sent] == [each.number for each in answered]
        assert [(each.request, each.waits) for each in sent] == expected
        assert [(each.request, each.waits, each.error) for each in answered] == [
            (name, waits, None) for name, waits in expected
        ]
        assert all("orders" in each.keys for each in sent if each.waits)


def test_a_command_that_waits_and_is_refused(client: Any, watch: Watch, admin: redis.Redis) -> None:
    admin.set("orders", "text")
    watch.heard.clear()
    with pytest.raises(WrongTypeError):
        client.blocking_queue("orders", transfer=False).take()
    sent, answered = watch.of(Sent)[0], watch.of(Answered)[0]
    assert (sent.request, sent.waits, answered.number) == ("BLPOP", True, sent.number)
    assert "WRONGTYPE" in str(answered.error)


@pytest.mark.parametrize("call", ["poll", "receive"])
def test_a_server_that_refuses_for_a_while_is_away_once(
    flavour: Flavour, own_server: EmbeddedServer, watch: Watch, call: str
) -> None:
    """Connections to it are made, and tell nothing. Nor do looks, which a replica answers where nothing is there."""
    admin = redis.Redis.from_url(own_server.url)
    with flavour.connect(own_server.url, codec=StringCodec(), observer=watch) as client:
        queue = client.blocking_queue("orders", transfer=False)
        admin.execute_command("REPLICAOF", "127.0.0.1", "1")
        while not watch.of(Away):
            # The time of a wait may be over before anything is refused.
            with contextlib.suppress(RedisConnectionError):
                assert getattr(queue, call)(timeout=0.4) is None
        for timeout in (0.001, 0.01, 0.1, 0.4):
            with pytest.raises(RedisConnectionError):
                getattr(queue, call)(timeout=timeout)
        assert [type(each) for each in watch.of(Away, BackAgain)] == [Away]
        admin.execute_command("REPLICAOF", "NO", "ONE")
        queue.add("a")
        assert queue.take() == "a"
        watch.until(BackAgain)
        assert [type(each) for each in watch.of(Away, BackAgain)] == [Away, BackAgain]
    admin.close()


# -- moving ----------------------------------------------------------------------------------------------------------


def test_a_move_and_a_take(client: Any, watch: Watch) -> None:
    queue = moving(client.blocking_queue("orders"))
    watch.until(RoleChanged)
    client.delayed_queue("orders").offer("a", delay=0.3)
    assert queue.take() == "a"
    watch.until(Moved)
    told = watch.of(Subscribed, RoleChanged, Moved)
    assert told[:2] == [
        Subscribed(queue="orders", channel=KEYS.channel),
        RoleChanged(queue="orders", role=Role.ALONE),
    ]
    (moved,) = told[2:]
    assert (moved.queue, moved.count) == ("orders", 1)
    assert ZERO <= moved.late_by < timedelta(seconds=30)
    assert watch.of(ValuesTaken) == [ValuesTaken(queue="orders", count=1)]


def test_a_queue_has_the_name_that_it_was_opened_by(flavour: Flavour, url: str, watch: Watch) -> None:
    with flavour.connect(url, codec=StringCodec(), name_mapper="shop:", observer=watch) as client:
        client.delayed_queue("orders").offer_all([("a", 0.1), ("b", 0.1)])
        queue = client.blocking_queue("orders")
        assert queue.take() == "a"
        assert queue.receive(timeout=10).ack()
        watch.until(Moved)
        named = [each for each in watch.heard if isinstance(each, observing.OfQueue)]
        assert {each.queue for each in named} == {"orders"}
        assert {type(each).__name__ for each in named} >= {
            "Moved",
            "ValuesTaken",
            "LeaseBegan",
            "Settled",
            "Subscribed",
        }
        assert {key for each in watch.of(OfRequest) for key in each.keys} >= {"shop:orders"}


def test_what_was_overdue_when_the_client_came(flavour: Flavour, url: str, watch: Watch) -> None:
    with flavour.connect(url, codec=StringCodec()) as before:
        before.delayed_queue("orders", transfer=False).offer_all([("a", 0), ("b", 0)])
    with flavour.connect(url, codec=StringCodec(), observer=watch) as client:
        moving(client.blocking_queue("orders"))
        watch.until(Moved)
        assert watch.of(Moved) == [Moved(queue="orders", count=2, late_by=None)]


def test_the_mover_and_its_reserve(flavour: Flavour, url: str) -> None:
    first, second = Watch(), Watch()
    with (
        flavour.connect(url, codec=StringCodec(), observer=first) as one,
        flavour.connect(url, codec=StringCodec(), observer=second) as other,
    ):
        moving(one.blocking_queue("orders"))
        first.until(RoleChanged)
        moving(other.blocking_queue("orders"))
        one.delayed_queue("orders").offer("a", delay=0.1)
        eventually(lambda: len(first.of(Moved)) + len(second.of(Moved)) == 1)
        eventually(lambda: first.of(RoleChanged)[-1].role is not Role.ALONE and second.of(RoleChanged))
        assert {first.of(RoleChanged)[-1].role, second.of(RoleChanged)[-1].role} == {Role.MOVER, Role.RESERVE}
        mover, reserve = (one, second) if first.of(RoleChanged)[-1].role is Role.MOVER else (other, first)
        mover.close()
        eventually(lambda: reserve.of(RoleChanged)[-1].role is not Role.RESERVE)
        # No role is told twice in succession.
        for watch in (first, second):
            roles = [each.role for each in watch.of(RoleChanged)]
            assert all(before is not after for before, after in pairwise(roles))


def test_what_cannot_be_delivered(
    client: Any, watch: Watch, admin: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    admin.zadd(KEYS.timeout, {b"junk": 1})
    client.delayed_queue("orders", transfer=False).offer("late", delay=0, expires=0.01)
    wait_until(admin, of_server(admin, 20))
    moving(client.blocking_queue("orders"))
    watch.until(Expired)
    assert watch.of(SetAside, Expired) == [
        SetAside(queue="orders", count=1, kept_in=KEYS.quarantine),
        Expired(queue="orders", count=1, kept_in=KEYS.expired),
    ]
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [
        f"queue 'orders': 1 member that is in no envelope format was moved to the list {KEYS.quarantine!r}; "
        "delayed_queue('orders').read_quarantine() shows them",
        f"queue 'orders': 1 item was too late to be delivered and is in the list {KEYS.expired!r}; "
        "delayed_queue('orders').read_expired() shows them",
    ]


# -- values ----------------------------------------------------------------------------------------------------------


def test_every_way_to_take_tells_once(client: Any, watch: Watch) -> None:
    queue, deque = client.blocking_queue("orders", transfer=False), client.blocking_deque("orders", transfer=False)
    other, delayed = client.blocking_queue("other", transfer=False), client.delayed_queue("orders", transfer=False)
    other.add("o")
    queue.add_all(list("abcdefghijkl"))
    delayed.offer_all([(letter, 0) for letter in "xyz"])
    ways: list[tuple[Callable[[], Any], str, int]] = [
        (queue.take, "orders", 1),
        (queue.poll, "orders", 1),
        (lambda: queue.poll(limit=2), "orders", 2),
        (lambda: queue.poll(limit=2, timeout=5), "orders", 2),
        (deque.take_last, "orders", 1),
        (deque.poll_last, "orders", 1),
        (lambda: queue.poll_from_any("other", timeout=5), "orders", 1),
        (lambda: delayed.poll(limit=1), "orders", 1),
        (lambda: delayed.take_due(limit=5), "orders", 2),
        (queue.drain_to, "orders", 3),
        (lambda: queue.poll_from_any("other"), "other", 1),
    ]
    for take, name, count in ways:
        watch.heard.clear()
        take()
        assert watch.of(ValuesTaken) == [ValuesTaken(queue=name, count=count)]
    nothing: list[Callable[[], Any]] = [queue.poll, queue.drain_to, lambda: queue.poll(timeout=0.01), delayed.poll]
    for take in nothing:
        watch.heard.clear()
        take()
        assert watch.of(ValuesTaken) == []


def test_a_partition_has_a_name_of_its_own(client: Any, watch: Watch) -> None:
    queue = client.blocking_queue("orders", partitions=2, transfer=False)
    for letter in "abcdef":
        queue.add(letter)
    assert len(queue.poll(limit=2, timeout=5)) == 2
    assert queue.take()
    delivery = queue.receive(timeout=5)
    assert delivery.ack()
    assert len(queue.poll(limit=9)) == 2
    taken = watch.of(ValuesTaken)
    assert sum(each.count for each in taken) == 5
    assert {each.queue for each in watch.heard if isinstance(each, observing.OfQueue)} <= {
        partition.name for partition in queue.partitions
    }
    assert [type(each) for each in watch.of(OfLease)] == [LeaseBegan, Settled]


def test_a_bounded_queue(client: Any, watch: Watch) -> None:
    queue = client.bounded_blocking_queue("orders", transfer=False)
    queue.try_set_capacity(3)
    queue.add_all(list("abc"))
    for take in (queue.take, queue.poll, lambda: queue.poll(timeout=5)):
        watch.heard.clear()
        take()
        assert watch.of(ValuesTaken) == [ValuesTaken(queue="orders", count=1)]


def test_due_values_that_are_leased(client: Any, watch: Watch, admin: redis.Redis) -> None:
    delayed = client.delayed_queue("orders", transfer=False)
    delayed.offer_all([("a", 0), ("b", 0)])
    wait_until(admin, of_server(admin))
    for delivery in delayed.take_due(visibility_timeout=30):
        assert delivery.ack()
    assert [type(each) for each in watch.of(OfLease, ValuesTaken)] == [LeaseBegan, LeaseBegan, Settled, Settled]


def test_a_value_that_goes_back_when_its_block_raises(client: Any, watch: Watch) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("a")
    with pytest.raises(ZeroDivisionError), queue.receive():
        raise ZeroDivisionError
    assert [each.outcome for each in watch.of(Settled)] == [SettleOutcome.RETURNED]


def test_a_backlog_is_taken_by_requests_of_the_connection_that_waits(client: Any, watch: Watch) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all(list("abcdef"))
    watch.heard.clear()
    assert len(queue.poll(limit=6, timeout=5)) == 6
    assert [(type(each), each.request, each.keys) for each in watch.of(OfRequest)] == [
        (Sent, "BLPOP", ("orders",)),
        (Answered, "BLPOP", ("orders",)),
        (Sent, "LPOP", ("orders",)),
        (Answered, "LPOP", ("orders",)),
    ]
    assert watch.of(ValuesTaken) == [ValuesTaken(queue="orders", count=6)]


def test_a_request_of_a_cancelled_task_is_answered_too(url: str, watch: Watch, admin: redis.Redis) -> None:
    async def cancel() -> None:
        async with redisson_dq.aio.connect(url, codec=StringCodec(), observer=watch) as client:
            watch.heard.clear()
            admin.execute_command("CLIENT", "PAUSE", 500, "ALL")
            asking = asyncio.create_task(client.blocking_queue("orders", transfer=False).size())
            while not watch.heard:
                await asyncio.sleep(0.01)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert watch.kinds == ["Sent", "Answered"]
            assert isinstance(watch.heard[1].error, asyncio.CancelledError)

    asyncio.run(cancel())


def test_a_listener_takes(client: Any, watch: Watch) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all(list("ab"))
    queue.subscribe_on_elements(lambda value: None)
    watch.until(ValuesTaken, 2)
    assert watch.of(ValuesTaken) == [ValuesTaken(queue="orders", count=1)] * 2


@pytest.mark.parametrize("undecodable", ["raise", "skip"])
def test_a_value_that_cannot_be_read(
    flavour: Flavour,
    url: str,
    watch: Watch,
    admin: redis.Redis,
    caplog: pytest.LogCaptureFixture,
    undecodable: str,
) -> None:
    skips = undecodable == "skip"
    with flavour.connect(url, codec=LongCodec(), undecodable=undecodable, observer=watch) as client:
        queue = client.blocking_queue("orders", transfer=False)
        ways: list[Callable[[], Any]] = [
            lambda: queue.poll(limit=3),
            lambda: queue.poll(limit=3, timeout=5),
            lambda: queue.receive(limit=3, timeout=5),
        ]
        for take in ways:
            watch.heard.clear()
            caplog.clear()
            admin.rpush("orders", "1", "one", "two")
            if skips:
                assert len(take()) == 1
            else:
                with pytest.raises(DecodeError):
                    take()
            (told,) = watch.of(Undecodable)
            assert (told.queue, told.count, told.error.undecodable) == ("orders", 2, [b"one", b"two"])
            assert told.error.kept_in is not None
            assert [(each.queue, each.count) for each in watch.of(Skipped)] == ([("orders", 2)] if skips else [])
            assert caplog.text.count("queue 'orders': skipped 2 values: LongCodec") == int(skips)
        # An unchanged value is not reported.
        watch.heard.clear()
        admin.rpush("orders", "one")
        with pytest.raises(DecodeError):
            queue.peek()
        assert watch.of(Undecodable) == []


def test_a_value_in_a_pipeline_that_cannot_be_read(
    flavour: Flavour, url: str, watch: Watch, admin: redis.Redis
) -> None:
    admin.rpush("orders", "one")
    with flavour.connect(url, codec=LongCodec(), observer=watch) as client:
        with pytest.raises(DecodeError), client.pipeline() as pipe:
            pipe.add(client.blocking_queue("orders", transfer=False).requests.poll())
    assert [(each.queue, each.count) for each in watch.of(Undecodable)] == [("orders", 1)]


# -- leases ----------------------------------------------------------------------------------------------------------


def test_a_receive_with_its_ack(client: Any, watch: Watch) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    client.delayed_queue("orders").offer("a", delay=0, id="order-1", context={"trace": "t1"})
    delivery = queue.receive(timeout=10)
    assert delivery.ack() is SettleOutcome.ACKED
    assert delivery.ack() is SettleOutcome.LOST, "the first end stands"
    leased, settled = watch.of(OfLease)
    known: dict[str, Any] = {"queue": "orders", "id": delivery.id, "offer_id": "order-1", "attempt": 1}
    assert leased == LeaseBegan(**known, lateness=leased.lateness, context={"trace": "t1"})
    assert ZERO <= leased.lateness < timedelta(seconds=30)
    assert settled == Settled(**known, outcome=SettleOutcome.ACKED, held=settled.held)
    assert ZERO < settled.held < timedelta(seconds=30)
    of_ack = [each for each in watch.heard if each == settled or getattr(each, "request", "") == "ack"]
    assert [type(each) for each in of_ack] == [Sent, Answered, Settled, Sent, Answered]


def test_each_end_of_a_lease(client: Any, watch: Watch) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all(list("abcdef"))
    ends: list[tuple[Callable[[Any], Any], SettleOutcome]] = [
        (lambda delivery: delivery.nack(), SettleOutcome.RETURNED),
        (lambda delivery: delivery.nack(60), SettleOutcome.DELAYED),
        (lambda delivery: delivery.reject("no"), SettleOutcome.DEAD_LETTERED),
        (lambda delivery: queue.ack_all([delivery]), SettleOutcome.ACKED),
        (lambda delivery: _in_a_transaction(client, delivery), SettleOutcome.ACKED),
    ]
    for end, outcome in ends:
        delivery = queue.receive()
        assert delivery.extend(30)
        watch.heard.clear()
        end(delivery)
        assert [(each.id, each.outcome) for each in watch.of(OfLease)] == [(delivery.id, outcome)]
    deliveries = queue.receive(limit=10)
    assert [each.attempt for each in watch.of(LeaseBegan)] == [each.attempt for each in deliveries] == [1, 2]


def _in_a_transaction(client: Any, delivery: Any) -> SettleOutcome:
    with client.pipeline(transaction=True) as pipe:
        reply = pipe.add(delivery.requests.ack())
    return reply.result  # type: ignore[no-any-return]


def test_a_lease_that_was_lost(client: Any, watch: Watch) -> None:
    queue = client.blocking_queue("orders")
    queue.add("a")
    delivery = queue.receive(visibility_timeout=0.1)
    again = queue.receive(timeout=10)
    assert again.data == b"a"
    assert not delivery.ack()
    assert not delivery.nack()
    assert again.ack()
    known: dict[str, Any] = {"queue": "orders", "offer_id": None}
    assert [each for each in watch.of(OfLease) if not isinstance(each, LeaseBegan)] == [
        LeaseLost(**known, id=delivery.id, attempt=1),
        Settled(**known, id=again.id, attempt=2, outcome=SettleOutcome.ACKED, held=watch.of(Settled)[0].held),
    ]


def test_an_ack_that_comes_too_late_and_a_value_that_nobody_acks(
    client: Any, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    queue = client.blocking_queue("orders", delivery_limit=1)
    queue.add("a")
    with queue.receive(visibility_timeout=0.05) as delivery:
        # The look that finds no value finds that this one was delivered once.
        eventually(lambda: queue.receive(timeout=0.05) is None and watch.of(Buried))
    (late,) = watch.of(AckedTooLate)
    assert (late.queue, late.id, late.attempt) == ("orders", delivery.id, 1)
    (buried,) = watch.of(Buried)
    assert (buried.queue, buried.count, buried.limit) == ("orders", 1, 1)
    assert [letter.value for letter in queue.dead_letters()] == ["a"]
    assert [record.getMessage() for record in caplog.records if record.name == "redisson_dq"] == [
        f"queue 'orders': 1 value was delivered 1 time and is in the list {buried.kept_in!r} now; "
        "dead_letters() of the queue shows them, and redrive() brings them back",
        f"queue 'orders': the lease of {delivery.id} had ended before its ack; "
        "a longer visibility_timeout= gives more time",
    ]


def test_a_lease_that_is_not_renewed_any_more(client: Any, watch: Watch, admin: redis.Redis) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("a")
    lost: list[Any] = []
    delivery = queue.receive(visibility_timeout=1, renew=True, on_lost=lost.append)
    admin.delete(KEYS.timeout, KEYS.leases)
    eventually(lambda: lost)
    assert watch.of(LeaseLost) == [LeaseLost(queue="orders", offer_id=None, id=delivery.id, attempt=1)]
    assert not delivery.ack()
    assert len(watch.of(LeaseLost)) == 1


# -- outages ---------------------------------------------------------------------------------------------------------


def test_an_outage(
    flavour: Flavour, own_server: EmbeddedServer, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    with flavour.connect(own_server.url, codec=StringCodec(), observer=watch, probe_interval=0.2) as client:
        queue = moving(client.blocking_queue("orders"))
        watch.until(RoleChanged)
        own_server.kill()
        watch.until(Away)
        assert watch.of(BackAgain) == []
        own_server.restart()
        watch.until(BackAgain)
        watch.until(Subscribed, 2)
        client.delayed_queue("orders").offer("a", delay=0.1)
        assert queue.take() == "a"
        assert [type(each) for each in watch.of(Away, BackAgain)] == [Away, BackAgain]
        away, back = watch.of(Away, BackAgain)
        assert isinstance(away.error, Exception)
        assert back.after > ZERO
        told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
        assert told == [
            f"Redis cannot be reached: {away.error}",
            f"Redis is back after {back.after.total_seconds():.1f} s",
        ]


# -- workers ---------------------------------------------------------------------------------------------------------


def test_a_worker_tells_the_observers_of_its_client(flavour: Flavour, client: Any, watch: Watch) -> None:
    queue, ledger = client.blocking_queue("orders"), Ledger()
    worker = flavour.worker(client)

    @worker.handler("orders", retry=Retry(limit=2, backoff=fixed(0)))
    def handle(value: str) -> None:
        ledger.note(value)
        if value == "bad":
            raise ValueError(value)

    with running(worker):
        queue.add("good")
        watch.until(Succeeded)
        queue.add("bad")
        watch.until(DeadLettered)
    told = [each for each in watch.heard if isinstance(each, (OfLease, OfValue))]
    good, bad = ([each for each in told if isinstance(each, OfLease)][place].id for place in (0, 2))
    assert [type(each) for each in told if each.id == good] == [LeaseBegan, Received, Settled, Succeeded]
    assert [type(each) for each in told if each.id == bad] == [LeaseBegan, Received, Failed, Settled, Retried]
    assert [type(each) for each in told if each.id not in (good, bad)] == [
        *(LeaseBegan, Received, Failed, Settled, GivenUp, DeadLettered),
    ]
    assert {each.queue for each in told} == {"orders"}
    assert {each.handler for each in told if isinstance(each, OfValue)} == {handle.__qualname__}


def test_a_worker_tells_of_values_that_no_handler_gets(
    flavour: Flavour, url: str, watch: Watch, admin: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    with flavour.connect(url, codec=LongCodec(), observer=watch) as client:
        worker, queue = flavour.worker(client), client.blocking_queue("orders")
        worker.handler("orders", str)(print)
        admin.rpush(KEYS.ready, b"words")
        queue.add(7)
        with running(worker):
            watch.until(DeadLettered, 2)
    (unreadable,), (unhandled,) = watch.of(Unreadable), watch.of(Unhandled)
    assert (unreadable.queue, unreadable.count, unreadable.error.undecodable) == ("orders", 1, [b"words"])
    assert (unhandled.queue, unhandled.handler, unhandled.reason) == ("orders", "", "no handler takes a builtins.int")
    assert sorted(each.data for each in watch.of(DeadLettered)) == [b"7", b"words"]
    lines = {(record.levelname, record.getMessage()) for record in caplog.records if record.name == "redisson_dq"}
    assert lines == {
        ("ERROR", f"queue 'orders': 1 value cannot be read: {unreadable.error}"),
        ("ERROR", f"queue 'orders': {unhandled.id} is moved to the dead letters: no handler takes a builtins.int"),
    }


def test_hooks_and_observers_are_told_the_same(flavour: Flavour, url: str, watch: Watch) -> None:
    worker, ledger, hooked = flavour.worker_of(url, codec=StringCodec(), observer=watch), Ledger(), Watch()
    worker.on()(hooked)
    worker.handler("orders")(ledger.note)
    with flavour.connect(url, codec=StringCodec()) as client, running(worker):
        client.blocking_queue("orders").add("a")
        hooked.until(Succeeded)
        watch.until(Succeeded)
    assert hooked.kinds == ["Received", "Succeeded"]
    assert all(mine is other for mine, other in zip(hooked.heard, watch.of(OfValue), strict=True))


def test_an_outage_that_a_worker_sees_is_told_once(flavour: Flavour, own_server: EmbeddedServer, watch: Watch) -> None:
    hooked = Watch()
    with flavour.connect(own_server.url, codec=StringCodec(), observer=watch) as client:
        worker = flavour.worker(client)
        worker.on(Away, BackAgain)(hooked)
        worker.handler("orders")(Ledger().note)
        with running(worker):
            eventually(lambda: worker.is_consuming)
            own_server.kill()
            hooked.until(Away)
            own_server.restart()
            hooked.until(BackAgain)
            eventually(lambda: worker.is_consuming)
    assert hooked.kinds == ["Away", "BackAgain"]
    assert watch.of(Away, BackAgain) == hooked.heard


def test_an_observer_cannot_stop_the_worker_that_calls_it(flavour: Flavour, url: str) -> None:
    errors: list[Exception] = []
    with flavour.connect(url, codec=StringCodec()) as client:
        worker = flavour.worker(client)

        def stop(happening: Happening) -> None:
            if isinstance(happening, Succeeded) and not errors:
                try:
                    _ended(worker.inner.stop() if flavour.name == "asyncio" else worker.stop())
                except ArgumentError as error:
                    errors.append(error)

        client.observe(stop)
        worker.handler("orders")(Ledger().note)
        with running(worker):
            client.blocking_queue("orders").add("a")
            eventually(lambda: errors)
    assert "request_stop()" in str(errors[0])


def _ended(stopping: Any) -> None:
    """Runs a coroutine that ends at its first step."""
    if asyncio.iscoroutine(stopping):
        stopping.send(None)


# -- observers -------------------------------------------------------------------------------------------------------


class Broken:
    """An observer that fails each time."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.calls = 0

    def __call__(self, happening: Happening) -> None:
        self.calls += 1
        raise self.error

    def __repr__(self) -> str:
        return "<the broken one>"


@pytest.mark.parametrize("error", [ValueError("no"), asyncio.CancelledError(), StopIteration(), StopAsyncIteration()])
def test_an_observer_that_raises(
    client: Any, watch: Watch, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    broken = Broken(error)
    client.stop_observing(watch)
    client.observe(broken)
    watch.heard.clear()
    client.observe(watch)
    queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
    delayed.offer_all([("a", 0.05), ("b", 0.05)])
    assert queue.take() == "a"
    delivery = queue.receive(timeout=10)
    assert delivery.ack() is SettleOutcome.ACKED
    assert set(watch.kinds) >= {"Sent", "Answered", "Subscribed", "ValuesTaken", "LeaseBegan", "Settled"}
    assert broken.calls >= len(watch.heard) > 10
    failures = [record for record in caplog.records if "<the broken one>" in record.getMessage()]
    assert [record.levelno for record in failures] == [logging.ERROR]
    assert failures[0].exc_info


def test_observers_come_and_go(client: Any, watch: Watch) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    second = Watch()

    assert client.observe(second.heard.append) == second.heard.append
    client.observe(watch)
    watch.heard.clear()
    queue.size()
    assert watch.kinds == ["Sent", "Answered"], "one that watches already is called once"
    assert second.heard == watch.heard
    for _ in range(2):
        client.stop_observing(second.heard.append)
    queue.size()
    assert (len(watch.heard), len(second.heard)) == (4, 2)


def test_an_observer_that_calls_its_client(flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        watch = Watch()
        sizes: list[Any] = []

        def ask(happening: Happening) -> None:
            if flavour.name == "sync" and isinstance(happening, Answered):
                sizes.append(queue.size())

        client.observe(ask)
        client.observe(watch)
        queue.add("a")
        assert watch.kinds == ["Sent", "Answered"]
        assert sizes == ([1] if flavour.name == "sync" else [])


async def _waits(happening: Happening) -> None:
    """Not an observer, because nothing awaits it."""


class Waits:
    """Not an observer either."""

    async def __call__(self, happening: Happening) -> None: ...


@pytest.mark.parametrize("observer", [None, 5, "print", Happening, _waits, Waits()])
def test_what_is_no_observer(client: Any, observer: Any) -> None:
    with pytest.raises(ArgumentError, match=r"an observer (is|must be)"):
        client.observe(observer)


def test_nothing_is_made_where_nobody_watches(flavour: Flavour, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    for kind in _kinds(Happening):
        _count(monkeypatch, kind, made)
    with flavour.connect(url, codec=StringCodec()) as client:
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")

        def all_of_it() -> None:
            delayed.offer_all([("a", 0.05), ("b", 0.05)])
            assert queue.take() == "a"
            assert queue.receive(timeout=10).ack()
            with client.pipeline() as pipe:
                pipe.add(queue.requests.size())

        all_of_it()
        assert made == []
        client.observe(made.append)
        all_of_it()
        # A waiter may have its value before the reply to the move that brought it.
        expected = {"Sent", "Answered", "Moved", "ValuesTaken", "LeaseBegan", "Settled"}
        eventually(lambda: expected <= {each for each in made if isinstance(each, str)}, told=lambda: made)


def _kinds(of: type[Happening]) -> list[type[Happening]]:
    return [each for kind in of.__subclasses__() for each in (kind, *_kinds(kind))]


def _count(monkeypatch: pytest.MonkeyPatch, kind: type[Happening], made: list[str]) -> None:
    init = kind.__init__

    def counted(self: Any, **fields: Any) -> None:
        made.append(kind.__name__)
        init(self, **fields)

    monkeypatch.setattr(kind, "__init__", counted)
