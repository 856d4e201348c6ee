"""Waiting for many queues at once: few threads and connections, nothing is lost, and nothing is sent while idle."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from redisson_dq import connect, partition_names
from redisson_dq._concurrency import Inbox, Mutex, Promise
from redisson_dq._sync.connecting.dedicated import Dedicated
from redisson_dq._sync.receiving.beginning import Beginner
from redisson_dq._sync.receiving.pump import Pump
from redisson_dq._sync.receiving.put_backs import PutBacks
from redisson_dq._sync.receiving.receiver import Receiver
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ClosedError, RedisConnectionError, WrongTypeError
from redisson_dq.observing import Answered, Sent
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Line, Waiter
from redisson_dq.waits.watched import WatchedSource
from redisson_dq.wire.blocking import Pop
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import DeadKeys, LeaseKeys, QueueKeys
from redisson_dq.wire.lease_source import LeaseSource
from tests.cluster import Cluster
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, eventually
from tests.faults.gate import Gate
from tests.flavours import AsyncioFlavour, Flavour

#: More than there are seats for pumps of their own.
MANY = 40
NAMES = [f"queue{number:02}" for number in range(MANY)]


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(MANY * 2) as pool:
        yield pool


@pytest.fixture
def client(flavour: Flavour, url: str, threads: ThreadPoolExecutor) -> Iterator[Any]:
    """A client that ends before the threads do, as these may wait for it."""
    with flavour.connect(url, codec=StringCodec()) as made:
        yield made


def roles(admin: Any) -> Counter[str]:
    """How many connections there are of each role."""
    names = [entry["name"].split("/") for entry in admin.client_list()]
    return Counter(name[3] for name in names if len(name) > 3)


def lookouts(admin: Any) -> list[Any]:
    return [entry for entry in admin.client_list() if "/lookout" in entry["name"]]


def watching(admin: Any) -> int:
    """How many keys Redis watches for somebody."""
    return int(admin.info("stats")["tracking_total_keys"])


def calls_of(admin: Any) -> dict[str, int]:
    stats = admin.info("commandstats")
    return {
        name[8:]: int(each["calls"]) for name, each in stats.items() if name[8:] not in ("info", "config|resetstat")
    }


def taken_of(call: Callable[[], Any], count: int) -> list[str]:
    taken = []
    for _ in range(count):
        value = call()
        if hasattr(value, "ack"):
            assert value.ack()
            value = value.value
        taken.append(value)
    return taken


@pytest.mark.parametrize("call", ["take", "receive"])
def test_each_queue_gives_its_values_in_order_and_once(
    admin: Any, client: Any, threads: ThreadPoolExecutor, call: str
) -> None:
    queues = [client.blocking_queue(name) for name in NAMES]
    waiting = [threads.submit(taken_of, getattr(queue, call), 5) for queue in queues]
    eventually(lambda: watching(admin) == MANY - 8)
    assert (roles(admin)["receiver"], roles(admin)["lookout"]) == (8, 2)
    for number in range(5):
        for name in reversed(NAMES):
            admin.rpush(name, f"{name}-{number}")
    for name, values in zip(NAMES, waiting, strict=True):
        assert values.result(PATIENCE) == [f"{name}-{number}" for number in range(5)]
    assert [admin.llen(name) for name in NAMES] == [0] * MANY


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
@pytest.mark.parametrize("call", ["take", "receive"])
def test_five_hundred_threads_wait_for_as_many_queues(admin: Any, client: Any, call: str) -> None:
    before, names = threading.active_count(), [f"queue{number}" for number in range(500)]
    queues = [client.blocking_queue(name) for name in names]
    got: list[str] = []

    def wait(queue: Any) -> None:
        got.extend(taken_of(getattr(queue, call), 1))

    consumers = [threading.Thread(target=wait, args=(queue,)) for queue in queues]
    for each in consumers:
        each.start()
    eventually(lambda: watching(admin) == 492)
    assert threading.active_count() - before <= 520
    assert len(admin.client_list()) <= 20
    with admin.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.rpush(name, f"of {name}")
        pipeline.execute()
    for each in consumers:
        each.join(PATIENCE)
    assert sorted(got) == sorted(f"of {name}" for name in names)


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_a_thousand_tasks_wait_for_as_many_queues(flavour: AsyncioFlavour, admin: Any, client: Any) -> None:
    names = [f"queue{number}" for number in range(1000)]

    async def all_of_them() -> list[str]:
        queues = [client.inner.blocking_queue(name) for name in names]
        tasks = [asyncio.create_task(queue.take()) for queue in queues]
        while await asyncio.to_thread(watching, admin) < 992:
            await asyncio.sleep(0.01)
        assert len(await asyncio.to_thread(admin.client_list)) <= 20
        for name in names:
            await asyncio.to_thread(admin.rpush, name, f"of {name}")
        return list(await asyncio.gather(*tasks))

    assert flavour.run(all_of_them()) == [f"of {name}" for name in names]


def test_nothing_is_sent_while_nothing_comes(admin: Any, client: Any, threads: ThreadPoolExecutor) -> None:
    queues = [client.blocking_queue(name, transfer=False) for name in NAMES]
    waiting = [threads.submit(queue.take) for queue in queues]
    eventually(lambda: watching(admin) == MANY - 8)
    admin.config_resetstat()
    time.sleep(2.5)
    assert calls_of(admin) == {}
    # What one push costs.
    admin.rpush(NAMES[-1], "a")
    assert waiting[-1].result(PATIENCE) == "a"
    eventually(lambda: watching(admin) == MANY - 8)
    assert calls_of(admin) == {"rpush": 1, "lpop": 1, "client|caching": 1, "llen": 1}
    # Whoever waits again for an empty queue sends nothing.
    waiting[-1] = threads.submit(queues[-1].take)
    time.sleep(0.3)
    assert calls_of(admin) == {"rpush": 1, "lpop": 1, "client|caching": 1, "llen": 1}
    for name in NAMES:
        admin.rpush(name, "b")
    assert [each.result(PATIENCE) for each in waiting] == ["b"] * MANY


@pytest.fixture
def crowd(client: Any, threads: ThreadPoolExecutor, admin: Any) -> Iterator[list[Future[Any]]]:
    """Callers that wait for other queues, so that further ones have no pump of their own."""
    queues = [client.blocking_queue(f"other{number}") for number in range(8)]
    waiting = [threads.submit(queue.take) for queue in queues]
    eventually(lambda: roles(admin)["receiver"] == 8)
    yield waiting
    for number in range(8):
        admin.rpush(f"other{number}", "over")
    assert [each.result(PATIENCE) for each in waiting] == ["over"] * 8


def test_callers_are_served_in_the_order_in_which_they_came(
    crowd: object, flavour: Flavour, admin: Any, client: Any, threads: ThreadPoolExecutor
) -> None:
    queue, waiting = client.blocking_queue("orders"), []
    line = flavour.receiver(client, Pop(("orders",), "first")).line
    for number in range(10):
        waiting.append(threads.submit(queue.take))
        eventually(lambda number=number: line.count > number)  # type: ignore[misc]
    eventually(lambda: watching(admin) == 1)
    values = [f"v{number}" for number in range(10)]
    admin.rpush("orders", *values[:3])
    admin.rpush("orders", *values[3:])
    assert [each.result(PATIENCE) for each in waiting] == values


def test_a_value_that_was_ready_before_the_time_was_over_is_found(crowd: object, admin: Any, client: Any) -> None:
    queue = client.blocking_queue("orders")
    assert queue.poll(timeout=0.01) is None
    for number in range(50):
        admin.rpush("orders", number)
        assert queue.poll(timeout=0.00001) == str(number)
    assert queue.receive(timeout=0.01) is None
    admin.rpush("orders", "a")
    assert queue.receive(timeout=0.00001).value == "a"


def test_a_move_and_both_ends(crowd: object, admin: Any, client: Any, threads: ThreadPoolExecutor) -> None:
    deque = client.blocking_deque("orders")
    first, last = threads.submit(deque.take_first), threads.submit(deque.take_last)
    moved = threads.submit(client.blocking_queue("here").poll_last_and_offer_first_to, "there", timeout=PATIENCE)
    eventually(lambda: watching(admin) == 2)
    admin.rpush("orders", "a", "b")
    admin.rpush("here", "c", "d")
    assert {first.result(PATIENCE), last.result(PATIENCE)} == {"a", "b"}
    assert moved.result(PATIENCE) == "d"
    assert (admin.lrange("here", 0, -1), admin.lrange("there", 0, -1)) == ([b"c"], [b"d"])


def test_a_bounded_queue_has_room_again(crowd: object, admin: Any, client: Any, threads: ThreadPoolExecutor) -> None:
    bounded = client.bounded_blocking_queue("orders")
    assert bounded.try_set_capacity(2)
    waiting = threads.submit(taken_of, bounded.take, 20)
    for number in range(20):
        bounded.put(str(number))
    assert waiting.result(PATIENCE) == [str(number) for number in range(20)]
    eventually(lambda: bounded.remaining_capacity() == 2)


def test_values_for_callers_who_have_gone_go_back(
    flavour: Flavour, crowd: object, admin: Any, client: Any, threads: ThreadPoolExecutor
) -> None:
    queue = client.blocking_queue("orders")
    got: list[str] = []

    def poll() -> None:
        for _ in range(60):
            value = queue.poll(timeout=0.001)
            if value is not None:
                got.append(value)

    polls = [threads.submit(poll) for _ in range(6)]
    values = [f"v{number:03}" for number in range(300)]
    for value in values:
        admin.rpush("orders", value)
    for each in polls:
        each.result(PATIENCE)
    eventually(lambda: len(got) + admin.llen("orders") == len(values))
    left = [value.decode() for value in admin.lrange("orders", 0, -1)]
    assert sorted(got + left) == values
    assert left == sorted(left)


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_cancelled_waits_lose_nothing(flavour: AsyncioFlavour, crowd: object, admin: Any, client: Any) -> None:
    got: list[str] = []

    async def consumer(queue: Any, number: int) -> None:
        for turn in range(60):
            try:
                got.append(await asyncio.wait_for(queue.take(), 0.0005 * ((number + turn) % 7)))
            except asyncio.TimeoutError:
                continue

    async def all_of_them() -> None:
        queue = client.inner.blocking_queue("orders")
        consumers = [asyncio.create_task(consumer(queue, number)) for number in range(8)]
        for number in range(200):
            await asyncio.to_thread(admin.rpush, "orders", f"v{number:03}")
        await asyncio.gather(*consumers)

    flavour.run(all_of_them())
    eventually(lambda: len(got) + admin.llen("orders") == 200)
    left = [value.decode() for value in admin.lrange("orders", 0, -1)]
    assert sorted(got + left) == [f"v{number:03}" for number in range(200)]


@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize("which", [0, 1])
def test_a_connection_that_is_killed_is_replaced(
    crowd: object, admin: Any, client: Any, threads: ThreadPoolExecutor, which: int
) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    got = []
    for number in range(5):
        waiting = threads.submit(queue.receive)
        eventually(lambda: watching(admin) == 1)
        pair = sorted(lookouts(admin), key=lambda entry: "P" in entry["flags"])
        admin.client_kill_filter(_id=pair[which]["id"])
        admin.rpush("orders", number)
        delivery = waiting.result(PATIENCE)
        got.append(delivery.value)
        assert delivery.ack()
    assert got == list("01234")


def test_values_come_while_connections_are_killed(
    crowd: object, admin: Any, client: Any, threads: ThreadPoolExecutor
) -> None:
    queues = [client.blocking_queue(name, transfer=False) for name in NAMES[:10]]
    waiting = [threads.submit(taken_of, queue.receive, 20) for queue in queues]
    for number in range(20):
        for name in NAMES[:10]:
            admin.rpush(name, f"{name}-{number:02}")
        for entry in lookouts(admin):
            admin.client_kill_filter(_id=entry["id"])
        time.sleep(0.02)
    for name, values in zip(NAMES, waiting, strict=False):
        assert sorted(values.result(PATIENCE)) == [f"{name}-{number:02}" for number in range(20)]


def test_a_lease_whose_reply_was_lost_is_not_lost(
    flavour: Flavour, server: EmbeddedServer, admin: Any, threads: ThreadPoolExecutor
) -> None:
    port = server.port or 0
    with Gate(lambda: port) as gate, flavour.connect(gate.url, codec=StringCodec()) as client:
        others = [threads.submit(client.blocking_queue(f"other{number}").take) for number in range(8)]
        eventually(lambda: roles(admin)["receiver"] == 8)
        queue = client.blocking_queue("orders", transfer=False)
        for turn in range(3):
            waiting = threads.submit(queue.receive)
            eventually(lambda: watching(admin) == 1)
            trap = gate.trap("receive.lua", "reply", "cut")
            admin.rpush("orders", turn)
            delivery = waiting.result(PATIENCE)
            assert trap.sprung.is_set()
            assert (delivery.value, delivery.attempt) == (str(turn), 1)
            assert delivery.ack()
        for number in range(8):
            admin.rpush(f"other{number}", "over")
        assert [each.result(PATIENCE) for each in others] == ["over"] * 8


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_a_request_that_is_owed_to_the_pump_of_before_is_sent_all_the_same(admin: Any, client: Any) -> None:
    """A caller looks for the pump, another one takes its place, and then the caller owes its request."""
    connections, clock, debts = client.runtime.connections, client.runtime.clock, Debts()
    queue = QueueKeys.of("orders")
    keys = LeaseKeys(queue=queue, dead=DeadKeys.belonging_to(queue.ready))
    source = LeaseSource(keys, Envelope.CURRENT, visible_us=60_000_000, limit=0)
    inbox: Inbox[Waiter | str] = Inbox(clock)
    line = Line("orders", inbox, Mutex())
    nobody: Any = SimpleNamespace(call=lambda source: None)
    before = WatchedSource(
        line, source, debts, PutBacks(connections, source, line), clock.monotonic, nobody, lambda: None
    )
    pump = Pump(connections, source, line, debts, inbox, Beginner(clock, lambda notice: None))
    admin.rpush("orders", "a")
    request = source.look(1)
    assert [each.data for each in connections.run(request)] == [b"a"]
    answer: Promise[Any] = Promise(clock)
    with line.mutex:
        before.is_replaced = True
        before.recover(request)
        inbox.put(Waiter(1, math.inf, answer, lambda notice: None))
        pump.wake()
    answer.wait(PATIENCE)
    assert [each.data for each in answer.value] == [b"a"]
    with line.mutex:
        line.shut()
        pump.close()
    eventually(lambda: pump.is_at_rest)


def test_a_share_of_a_partition_whose_reply_was_lost_is_not_lost(
    flavour: Flavour, server: EmbeddedServer, admin: Any
) -> None:
    port, names = server.port or 0, partition_names("orders", 3)
    for number, name in enumerate(names):
        admin.rpush(name, number)
    with Gate(lambda: port) as gate, flavour.connect(gate.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", partitions=3, transfer=False)
        trap = gate.trap("receive.lua", "reply", "cut")
        got = [queue.receive(timeout=PATIENCE) for _ in range(3)]
        assert trap.sprung.is_set()
        assert sorted((each.value, each.attempt) for each in got) == [("0", 1), ("1", 1), ("2", 1)]


def test_ever_new_sets_of_queues_leave_few_connections(admin: Any, client: Any) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    for number in range(30):
        assert queue.poll_from_any(f"more{number}", timeout=0.005) is None
    # Those few stay for 10 s.
    eventually(lambda: roles(admin)["receiver"] <= 8, within=5)
    # They took no seats from queues that are waited for one by one, and a set that is idle waits again.
    admin.rpush("more29", "a")
    assert queue.poll_from_any("more29", timeout=PATIENCE) == "a"
    admin.rpush("more0", "b")
    assert queue.poll_from_any("more0", timeout=PATIENCE) == "b"


def test_everything_was_flushed(crowd: object, admin: Any, client: Any, threads: ThreadPoolExecutor) -> None:
    waiting = threads.submit(client.blocking_queue("orders").take)
    eventually(lambda: watching(admin) == 1)
    admin.flushall()
    eventually(lambda: watching(admin) == 1)
    admin.rpush("orders", "a")
    assert waiting.result(PATIENCE) == "a"


def test_a_queue_that_is_renamed_onto_another(
    crowd: object, admin: Any, client: Any, threads: ThreadPoolExecutor
) -> None:
    waiting = threads.submit(client.blocking_queue("orders").take)
    eventually(lambda: watching(admin) == 1)
    admin.rpush("elsewhere", "a")
    admin.rename("elsewhere", "orders")
    assert waiting.result(PATIENCE) == "a"


def test_redis_has_room_for_few_keys(
    admin: Any, client: Any, threads: ThreadPoolExecutor, caplog: pytest.LogCaptureFixture
) -> None:
    admin.config_set("tracking-table-max-keys", 10)
    try:
        queues = [client.blocking_queue(name) for name in NAMES]
        waiting = [threads.submit(taken_of, queue.take, 3) for queue in queues]
        eventually(lambda: "tracking-table-max-keys" in caplog.text)
        for number in range(3):
            for name in NAMES:
                admin.rpush(name, f"{name}-{number}")
        for name, values in zip(NAMES, waiting, strict=True):
            assert values.result(PATIENCE) == [f"{name}-{number}" for number in range(3)]
    finally:
        admin.config_set("tracking-table-max-keys", 1_000_000)


@pytest.mark.parametrize("rule", ["-client|tracking", "-client|caching", "resetchannels"])
def test_a_user_without_the_right_has_pumps_for_all(
    flavour: Flavour,
    server: EmbeddedServer,
    admin: Any,
    threads: ThreadPoolExecutor,
    caplog: pytest.LogCaptureFixture,
    rule: str,
) -> None:
    caplog.set_level(logging.INFO, "redisson_dq")
    channels = ["&redisson*"] if rule == "resetchannels" else []
    admin.execute_command("ACL", "SETUSER", "limited", "reset", "on", ">secret", "~*", "&*", "+@all", rule, *channels)
    try:
        url = f"redis://limited:secret@127.0.0.1:{server.port}/0"
        with flavour.connect(url, codec=StringCodec()) as client:
            queues = [client.blocking_queue(name) for name in NAMES]
            waiting = [threads.submit(taken_of, queue.take, 2) for queue in queues]
            eventually(lambda: roles(admin)["receiver"] == MANY)
            for number in range(2):
                for name in NAMES:
                    admin.rpush(name, number)
            assert [each.result(PATIENCE) for each in waiting] == [["0", "1"]] * MANY
            eventually(lambda: roles(admin)["lookout"] == 0)
        assert caplog.text.count("docs/deploy.md") == 1
    finally:
        admin.execute_command("ACL", "DELUSER", "limited")


def test_a_close_cuts_nothing_where_others_took_the_place_of_pumps(
    server: EmbeddedServer, admin: Any, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut: list[Receiver] = []
    monkeypatch.setattr(Receiver, "hang_up", cut.append)
    rule = "reset on >secret ~* &* +@all -client|tracking"
    admin.execute_command("ACL", "SETUSER", "limited", *rule.split())
    try:
        with connect(f"redis://limited:secret@127.0.0.1:{server.port}/0") as client:
            waiting = [threads.submit(client.blocking_queue(name).take) for name in NAMES]
            eventually(lambda: roles(admin)["receiver"] == MANY)
        for each in waiting:
            with pytest.raises(ClosedError):
                each.result(PATIENCE)
        # The close cuts the connections of receivers that do not come to rest.
        assert cut == []
    finally:
        admin.execute_command("ACL", "DELUSER", "limited")


def test_the_connection_that_hears_is_killed_before_redis_is_asked_to_tell_it(
    url: str, admin: Any, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    connecting = Dedicated.connect
    killed: list[int] = []
    one_at_a_time = threading.Lock()

    def connect_and_kill(dedicated: Dedicated) -> None:
        connecting(dedicated)
        with one_at_a_time:
            hearing = [entry["id"] for entry in lookouts(admin) if entry["sub"] == "1"]
            if hearing and not killed:
                killed.append(admin.client_kill_filter(_id=hearing[0]))

    monkeypatch.setattr(Dedicated, "connect", connect_and_kill)
    with connect(url, codec=StringCodec()) as client:
        waiting = [threads.submit(client.blocking_queue(name).take) for name in NAMES]
        # Redis has refused once, as it does not know that connection any more. The next try is allowed.
        eventually(lambda: watching(admin) == MANY - 8)
        assert killed == [1]
        assert roles(admin)["receiver"] == 8
        for name in NAMES:
            admin.rpush(name, f"of {name}")
        assert [each.result(PATIENCE) for each in waiting] == [f"of {name}" for name in NAMES]


def test_a_server_that_allows_no_plain_pop(
    flavour: Flavour, server: EmbeddedServer, admin: Any, threads: ThreadPoolExecutor
) -> None:
    admin.execute_command("ACL", "SETUSER", "limited", "reset", "on", ">secret", "~*", "&*", "+@all", "-lpop")
    try:
        url = f"redis://limited:secret@127.0.0.1:{server.port}/0"
        with flavour.connect(url, codec=StringCodec()) as client:
            waiting = [threads.submit(client.blocking_queue(name, transfer=False).take) for name in NAMES]
            eventually(lambda: roles(admin)["receiver"] == MANY)
            for name in NAMES:
                admin.rpush(name, f"of {name}")
            assert [each.result(PATIENCE) for each in waiting] == [f"of {name}" for name in NAMES]
    finally:
        admin.execute_command("ACL", "DELUSER", "limited")


def test_the_close_ends_all_waits(admin: Any, client: Any, threads: ThreadPoolExecutor) -> None:
    waiting = [threads.submit(client.blocking_queue(name).take) for name in NAMES]
    eventually(lambda: watching(admin) == MANY - 8)
    client.close()
    for each in waiting:
        with pytest.raises(ClosedError):
            each.result(PATIENCE)
    eventually(lambda: not roles(admin))


def test_the_end_of_one_queue_ends_its_waits_alone(
    crowd: object, admin: Any, client: Any, threads: ThreadPoolExecutor
) -> None:
    queue, other = client.blocking_queue("orders"), client.blocking_queue("more")
    ending, waiting = threads.submit(queue.take), threads.submit(other.take)
    eventually(lambda: watching(admin) == 2)
    queue.destroy()
    with pytest.raises(ClosedError):
        ending.result(PATIENCE)
    admin.rpush("orders", "stays")
    admin.rpush("more", "a")
    assert waiting.result(PATIENCE) == "a"
    assert admin.lrange("orders", 0, -1) == [b"stays"]


def test_a_key_of_another_type(crowd: object, admin: Any, client: Any, threads: ThreadPoolExecutor) -> None:
    waiting = threads.submit(client.blocking_queue("other queue").take)
    admin.set("orders", "in the way")
    with pytest.raises(WrongTypeError, match="orders"):
        client.blocking_queue("orders").take()
    with pytest.raises(WrongTypeError, match="orders"):
        client.blocking_queue("orders").receive()
    admin.rpush("other queue", "a")
    assert waiting.result(PATIENCE) == "a"


def test_an_outage(
    flavour: Flavour, own_server: EmbeddedServer, threads: ThreadPoolExecutor, caplog: pytest.LogCaptureFixture
) -> None:
    port = own_server.port or 0
    with (
        Gate(lambda: port) as gate,
        flavour.connect(gate.url, codec=StringCodec()) as client,
        redis.Redis.from_url(own_server.url) as admin,
    ):
        waiting = [threads.submit(client.blocking_queue(name, transfer=False).take) for name in NAMES]
        eventually(lambda: watching(admin) == MANY - 8)
        gate.refusing = True
        gate.cut()
        with pytest.raises(RedisConnectionError, match="more"):
            client.blocking_queue("more", transfer=False).poll(timeout=0.5)
        assert caplog.text.count("Redis cannot be reached") == 1
        for name in NAMES:
            admin.rpush(name, f"of {name}")
        gate.refusing = False
        assert [each.result(PATIENCE) for each in waiting] == [f"of {name}" for name in NAMES]
        eventually(lambda: "Redis is back" in caplog.text)


# -- queues in turns -------------------------------------------------------------------------------------------------


def test_partitions_share_the_two_connections(
    crowd: object, admin: Any, client: Any, threads: ThreadPoolExecutor
) -> None:
    queue = client.blocking_queue("orders", partitions=64)
    waiting = [threads.submit(taken_of, queue.take, 10) for _ in range(10)]
    eventually(lambda: watching(admin) == 64)
    assert roles(admin)["receiver"] == 8
    assert roles(admin)["lookout"] == 2
    values = [f"v{number:03}" for number in range(100)]
    for value in values:
        queue.add(value)
    assert sorted(value for each in waiting for value in each.result(PATIENCE)) == values
    received = queue.receive(limit=5, timeout=0.01)
    assert received == []


def test_many_lists_give_the_same_share(crowd: object, flavour: Flavour, admin: Any, client: Any) -> None:
    receiver = flavour.round_robin_receiver(client, [Pop((name,), "first") for name in NAMES])
    for name in NAMES:
        admin.rpush(name, *(f"{name}-{number}" for number in range(100)))
    # The first lists may give some values before the node of the last ones is found.
    known: set[str] = set()
    while known != set(NAMES):
        known.add(receiver.receive(5)[0].key)
    one_by_one = [receiver.receive(5)[0].key for _ in range(2 * MANY)]
    assert Counter(one_by_one[:MANY]) == Counter(NAMES)
    assert one_by_one[MANY:] == one_by_one[:MANY]
    many = receiver.receive(5, limit=5 * MANY)
    assert Counter(each.key for each in many) == Counter(dict.fromkeys(NAMES, 5))
    assert roles(admin)["receiver"] == 8
    flavour.end_of(receiver)


# -- nodes of a cluster ----------------------------------------------------------------------------------------------


def test_each_node_has_a_lookout(flavour: Flavour, cluster: Cluster, threads: ThreadPoolExecutor) -> None:
    for admin in cluster.admins:
        admin.flushall()
    with flavour.cluster(cluster.url, codec=StringCodec()) as client, redis.RedisCluster.from_url(cluster.url) as admin:
        waiting = [threads.submit(taken_of, client.blocking_queue(name).receive, 3) for name in NAMES]
        eventually(lambda: sum(watching(each) for each in cluster.admins) == MANY - 8)
        assert [roles(each)["lookout"] for each in cluster.admins] == [2, 2, 2]
        for number in range(3):
            for name in NAMES:
                admin.rpush(name, f"{name}-{number}")
        for name, values in zip(NAMES, waiting, strict=True):
            assert values.result(PATIENCE) == [f"{name}-{number}" for number in range(3)]


@ONE_FLAVOUR_BY_DAY
def test_an_empty_queue_whose_slot_moves(flavour: Flavour, cluster: Cluster, threads: ThreadPoolExecutor) -> None:
    for admin in cluster.admins:
        admin.flushall()
    with flavour.cluster(cluster.url, codec=StringCodec()) as client, redis.RedisCluster.from_url(cluster.url) as admin:
        others = [threads.submit(client.blocking_queue(f"other{number}").take) for number in range(8)]
        eventually(lambda: sum(roles(each)["receiver"] for each in cluster.admins) == 8)
        waiting = threads.submit(client.blocking_queue("orders", transfer=False).take)
        eventually(lambda: sum(watching(each) for each in cluster.admins) == 1)
        here = cluster.owner("orders")
        cluster.move("orders", (here + 1) % 3)
        admin.rpush("orders", "a")
        assert waiting.result(PATIENCE) == "a"
        for number in range(8):
            admin.rpush(f"other{number}", "over")
        assert [each.result(PATIENCE) for each in others] == ["over"] * 8


@ONE_FLAVOUR_BY_DAY
def test_a_slot_moves_while_others_are_busy(flavour: Flavour, cluster: Cluster, threads: ThreadPoolExecutor) -> None:
    for admin in cluster.admins:
        admin.flushall()
    with flavour.cluster(cluster.url, codec=StringCodec()) as client, redis.RedisCluster.from_url(cluster.url) as admin:
        others = [threads.submit(client.blocking_queue(f"other{number}").take) for number in range(8)]
        eventually(lambda: sum(roles(each)["receiver"] for each in cluster.admins) == 8)
        here = cluster.owner("orders")
        busy = next(name for name in (f"busy{n}" for n in range(100)) if cluster.owner(name) == here)
        waiting = threads.submit(client.blocking_queue("orders", transfer=False).take)
        beside = client.blocking_queue(busy, transfer=False)
        eventually(lambda: watching(cluster.admins[here]) == 1)
        cluster.move("orders", (here + 1) % 3)
        admin.rpush("orders", "a")
        deadline = time.monotonic() + PATIENCE
        while not waiting.done() and time.monotonic() < deadline:
            # The lookout of the old node is never idle for a second.
            admin.rpush(busy, "b")
            assert beside.poll(timeout=PATIENCE) == "b"
        assert waiting.result(0) == "a"
        for number in range(8):
            admin.rpush(f"other{number}", "over")
        assert [each.result(PATIENCE) for each in others] == ["over"] * 8


@pytest.mark.nightly
def test_an_empty_queue_whose_slot_moves_and_comes_back(
    flavour: Flavour, cluster: Cluster, threads: ThreadPoolExecutor
) -> None:
    """Its slot comes and goes between two looks of the other node's lookout at the slots."""
    for admin in cluster.admins:
        admin.flushall()
    with flavour.cluster(cluster.url, codec=StringCodec()) as client, redis.RedisCluster.from_url(cluster.url) as admin:
        others = [threads.submit(client.blocking_queue(f"other{number}").take) for number in range(8)]
        eventually(lambda: sum(roles(each)["receiver"] for each in cluster.admins) == 8)
        here = cluster.owner("orders")
        there = (here + 1) % 3
        waiting = threads.submit(client.blocking_queue("orders", transfer=False).take)
        eventually(lambda: watching(cluster.admins[here]) == 1)
        # The lookout of this node looks first.
        time.sleep(3)
        name = next(name for name in (f"beside{n}" for n in range(100)) if cluster.owner(name) == there)
        beside = threads.submit(client.blocking_queue(name, transfer=False).take)
        eventually(lambda: watching(cluster.admins[there]) == 1)
        cluster.move("orders", there)
        eventually(lambda: watching(cluster.admins[there]) == 2)
        cluster.move("orders", here)
        admin.rpush("orders", "a")
        assert waiting.result(PATIENCE) == "a"
        for each in (name, *(f"other{number}" for number in range(8))):
            admin.rpush(each, "over")
        assert [each.result(PATIENCE) for each in (beside, *others)] == ["over"] * 9


# -- observers -------------------------------------------------------------------------------------------------------


def test_observers_hear_of_the_takes(flavour: Flavour, url: str, admin: Any, threads: ThreadPoolExecutor) -> None:
    heard: list[Any] = []
    with flavour.connect(url, codec=StringCodec(), observer=heard.append) as client:
        waiting = [threads.submit(client.blocking_queue(name, transfer=False).take) for name in NAMES]
        eventually(lambda: watching(admin) == MANY - 8)
        # Redis watches before the client has told of its look.
        eventually(lambda: any(isinstance(each, Answered) and each.keys == (NAMES[-1],) for each in list(heard)))
        heard.clear()
        admin.rpush(NAMES[-1], "a")
        assert waiting[-1].result(PATIENCE) == "a"
        mine = [each for each in list(heard) if isinstance(each, (Sent, Answered)) and each.keys == (NAMES[-1],)]
        assert [(type(each).__name__, each.request) for each in mine] == [("Sent", "LPOP"), ("Answered", "LPOP")]
        client.close()
        for each in waiting[:-1]:
            with pytest.raises(ClosedError):
                each.result(PATIENCE)
