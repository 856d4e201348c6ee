"""Leases while connections break, replies are lost and processes die. Every value is accounted for."""

from __future__ import annotations

import functools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import pytest
import redis

from redisson_dq import SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import DeadKeys, LeaseKeys
from redisson_dq.wire.lease_source import LeaseSource
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, by_night, environment, eventually, moving
from tests.faults.gate import Gate
from tests.flavours import AsyncioFlavour, Flavour
from tests.integration.conftest import KEYS
from tests.integration.server import wait_until
from tests.integration.whereabouts import whereabouts
from tests.interop.sides import NO_PROBE


@contextmanager
def worker(**arguments: Any) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.workers.of_leases", json.dumps(arguments)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment(), encoding="utf-8")
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()
        for end in (process.stdin, process.stdout):
            assert end is not None
            end.close()


@pytest.fixture
def proxy(server: EmbeddedServer) -> Iterator[Gate]:
    with Gate(lambda: server.port or 0) as made:
        yield made


@pytest.fixture
def through(proxy: Gate, flavour: Flavour) -> Iterator[Any]:
    """A client whose replies can be lost."""
    with flavour.connect(proxy.url, codec=StringCodec(), probe_interval=NO_PROBE) as client:
        yield client


def knows_the_scripts(queue: Any, *left: str) -> None:
    """Otherwise the lost reply would be that there is no such script. The values that are ``left`` are ready then.

    Right after a receive that leaves nothing, the next one would not look, and take the first value to come.
    """
    queue.add_all(["first", *left])
    assert queue.receive().ack()


# -- lost replies ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3])
def test_a_lost_reply_gives_the_same_leases_again(
    admin: Any, proxy: Gate, through: Any, threads: ThreadPoolExecutor, count: int
) -> None:
    queue = through.blocking_queue("orders", transfer=False)
    knows_the_scripts(queue, "a", "b", "c", "d")
    proxy.silence(replies_only=True)
    receiving = threads.submit(queue.receive, count, timeout=PATIENCE)
    held = eventually(lambda: admin.zrange(KEYS.leases, 0, -1))
    proxy.cut()
    batch = receiving.result(PATIENCE)
    assert [bytes.fromhex(each.id) for each in batch] == held
    assert [(each.value, each.attempt) for each in batch] == [(value, 1) for value in "abcd"[:count]]
    assert whereabouts(admin).total == Counter([b"a", b"b", b"c", b"d"])
    assert queue.ack_all(batch) == [SettleOutcome.ACKED] * count


def results(client: Any, request: Any) -> Any:
    with client.pipeline() as pipe:
        reply = pipe.add(request)
    return reply.result


def test_dead_letters_between_them_hide_no_lease_of_a_lost_reply(admin: Any, client: Any) -> None:
    queue = client.blocking_queue("orders", transfer=False, delivery_limit=1)
    queue.add_all(["dead 1", "dead 2"])
    for delivery in queue.receive(2, timeout=0, visibility_timeout=0.001):
        wait_until(admin, delivery.deadline)
        # As Redisson's transfer moves it.
        admin.rpush(KEYS.ready, delivery.data)
    admin.delete(KEYS.timeout)
    queue.add_all(["a", "b"])
    # One dead letter is first, the other between two values.
    admin.rpush(KEYS.ready, admin.lpop(KEYS.ready), "c")
    keys = LeaseKeys(queue=KEYS, dead=DeadKeys.belonging_to("orders"))
    source = LeaseSource(keys, Envelope.CURRENT, 60_000_000, limit=1)
    request = source.receive(5)
    first, again = (results(client, request) for _ in range(2))
    assert [each.data for each in first] == [each.data for each in again] == [b"a", b"b", b"c"]
    assert admin.llen(DeadKeys.belonging_to("orders").dead) == 2


def test_a_value_that_came_while_the_reply_was_lost_is_received_at_once(
    admin: Any, proxy: Gate, through: Any, threads: ThreadPoolExecutor
) -> None:
    queue = through.blocking_queue("orders", transfer=False)
    receiving = threads.submit(queue.receive, timeout=PATIENCE)
    eventually(lambda: admin.info("clients")["blocked_clients"])
    proxy.silence(replies_only=True)
    admin.rpush(KEYS.ready, "a")
    eventually(lambda: admin.zcard(KEYS.leases) == 1)
    proxy.cut()
    delivery = receiving.result(PATIENCE)
    assert (delivery.value, delivery.attempt) == ("a", 1)
    assert delivery.ack() is SettleOutcome.ACKED


def _stopped_while_blocked(process: subprocess.Popen[bytes], admin: Any) -> bool:
    """A receiver that has just begun to wait may be between two commands when it is stopped."""
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    if admin.info("clients")["blocked_clients"]:
        return True
    process.send_signal(signal.SIGCONT)
    return False


def test_a_receiver_that_stands_still_while_it_waits_holds_one_value_until_its_deadline(
    admin: Any, flavour: Flavour, url: str
) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        arguments = json.dumps({"url": url, "count": 10, "visibility": 1})
        process = subprocess.Popen([sys.executable, "-m", "tests.workers.of_leases", arguments], env=environment())
        try:
            eventually(functools.partial(_stopped_while_blocked, process, admin))
            admin.rpush(KEYS.ready, "a", "b", "c")
            eventually(lambda: admin.zcard(KEYS.leases) == 1)
        finally:
            process.kill()
            process.wait()
        assert [each.value for each in queue.receive(10, timeout=0)] == ["b", "c"]
        delivery = queue.receive(timeout=PATIENCE)
        assert (delivery.value, delivery.attempt, delivery.crashes) == ("a", 2, 1)


@pytest.mark.parametrize("java", [False, True])
def test_a_value_for_a_receiver_that_died_waiting_is_ready_again(
    admin: Any, flavour: Flavour, url: str, threads: ThreadPoolExecutor, java: bool
) -> None:
    """A waiting consumer gets it by the probe: another receiver here, or Redisson's plain BLPOP."""
    with flavour.connect(url, codec=StringCodec(), probe_interval=0.1) as client:
        queue = client.blocking_queue("orders")
        assert queue.receive(timeout=0) is None
        waiting = threads.submit(admin.blpop, [KEYS.ready], PATIENCE) if java else threads.submit(queue.receive)
        eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
        # What BLMOVE has done for a receiver that lives no more, the oldest first.
        admin.rpush(KEYS.arrivals, "a", "b")
        found = waiting.result(PATIENCE)
        assert found == (KEYS.ready.encode(), b"a") if java else found.value == "a"
        assert queue.receive(timeout=PATIENCE).value == "b"


def test_a_value_for_a_receiver_of_partitions_that_died_waiting_is_ready_again(
    admin: Any, flavour: Flavour, url: str, threads: ThreadPoolExecutor
) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=0.1) as client:
        queue = client.blocking_queue("orders", partitions=2)
        waiting = threads.submit(queue.receive)
        eventually(lambda: admin.info("clients")["blocked_clients"])
        admin.rpush(queue.partitions[1].keys.arrivals, "a")
        assert waiting.result(PATIENCE).value == "a"


def test_a_queue_that_is_not_received_from_costs_no_look_for_arrivals(admin: Any, flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=0.02) as client:
        queue = moving(client.blocking_queue("orders"))
        looks = _calls(admin, "zrange")
        eventually(lambda: _calls(admin, "zrange") > looks + 5)
        assert _calls(admin, "llen") == 0
        queue.receive(timeout=0)
        eventually(lambda: _calls(admin, "llen") > 5)


def _calls(admin: Any, command: str) -> int:
    return int(admin.info("commandstats").get(f"cmdstat_{command}", {}).get("calls", 0))


def test_an_ack_whose_reply_is_lost_is_not_sent_twice(
    admin: Any, proxy: Gate, through: Any, threads: ThreadPoolExecutor
) -> None:
    queue = through.blocking_queue("orders", transfer=False)
    knows_the_scripts(queue)
    queue.add("a")
    delivery = queue.receive()
    proxy.silence(replies_only=True)
    acking = threads.submit(delivery.ack)
    eventually(lambda: not admin.exists(KEYS.leases))
    admin.config_resetstat()
    proxy.cut()
    failure = acking.exception(PATIENCE)
    assert getattr(failure, "maybe_done", False)
    assert whereabouts(admin).total == Counter()
    assert delivery.outcome is None


# -- cancelled -------------------------------------------------------------------------------------------------------


def test_a_cancelled_receive_hands_back_what_it_had_leased(server: EmbeddedServer, admin: Any) -> None:
    flavour = AsyncioFlavour()
    with Gate(lambda: server.port or 0) as proxy, flavour.connect(proxy.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        knows_the_scripts(queue, "a", "b")
        proxy.silence(replies_only=True)
        receiving = flavour.submit(queue.inner.receive, 2)
        eventually(lambda: admin.zcard(KEYS.leases) == 2)
        receiving.cancel()
        proxy.cut()
        eventually(lambda: admin.lrange(KEYS.ready, 0, -1) == [b"a", b"b"])
        assert not admin.exists(KEYS.leases, KEYS.deliveries)
    flavour.close()


def test_many_cancelled_receivers_leave_everything_in_place(server: EmbeddedServer, admin: Any, url: str) -> None:
    flavour = AsyncioFlavour()
    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        chance = random.Random(7)
        received: list[str] = []
        for number in range(150):
            receiving = flavour.submit(queue.inner.receive)
            time.sleep(chance.random() * 0.003)
            if number % 3:
                queue.add(f"v{number}")
            time.sleep(chance.random() * 0.002)
            if not receiving.cancel() and receiving.done():
                received.append(receiving.result().value)
        expected = Counter(f"v{number}".encode() for number in range(150) if number % 3)
        assert whereabouts(admin).total == expected
        eventually(lambda: not admin.exists(KEYS.arrivals))
    flavour.close()


# -- processes that die ----------------------------------------------------------------------------------------------


def test_what_a_killed_process_held_is_received_by_others(admin: Any, url: str, flavour: Flavour) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as client:
        queue = client.blocking_queue("orders")
        queue.add_all([f"v{i}" for i in range(50)])
        with worker(url=url, count=50, visibility=1.5) as process:
            process.kill()
            process.wait()
        assert queue.in_flight_size() == 50
        received: list[Any] = []
        while len(received) < 50:
            received += queue.receive(50, timeout=PATIENCE)
        assert Counter(each.value for each in received) == Counter(f"v{i}" for i in range(50))
        assert {(each.attempt, each.crashes) for each in received} == {(2, 1)}
        assert queue.ack_all(received) == [SettleOutcome.ACKED] * 50


@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize("deaths", [4, by_night(12)])
@pytest.mark.parametrize("server", ["redis", by_night("valkey")], indirect=True)
def test_everything_is_accounted_for_while_processes_die(admin: Any, url: str, flavour: Flavour, deaths: int) -> None:
    chance = random.Random(3)
    offered = [f"v{i}" for i in range(400)]
    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", delivery_limit=None)
        delayed = client.delayed_queue("orders")
        delayed.offer_all([(value, chance.random() * 2) for value in offered])
        for seed in range(deaths):
            with worker(url=url, seed=seed, visibility=0.3) as process:
                time.sleep(chance.random() * 0.3)
                if seed % 3 == 0:
                    process.send_signal(signal.SIGSTOP)
                    time.sleep(0.5)
                    process.send_signal(signal.SIGCONT)
                    time.sleep(0.05)
            found = whereabouts(admin)
            assert max(found.total.values(), default=0) <= 1, "no value is in two places"
        until = time.monotonic() + 3 * PATIENCE
        # However late values come on a busy machine: until none is left that can come.
        while (found := whereabouts(admin)).total != found.dead:
            assert time.monotonic() < until, found
            for each in queue.receive(100, timeout=0.5):
                with client.pipeline(transaction=True) as pipe:
                    pipe.add(each.requests.ack())
                    pipe.add(client.blocking_queue("done").requests.add(each.value))
        assert Counter(admin.lrange("done", 0, -1)) + found.dead == Counter(value.encode() for value in offered)
        assert not admin.exists(KEYS.leases, KEYS.deliveries, KEYS.histories, KEYS.history_ends)


def test_a_process_that_stood_still_beyond_its_lease_is_told_so(admin: Any, url: str, flavour: Flavour) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        queue.add("a")
        stalled = queue.receive(visibility_timeout=0.1)
        again = queue.receive(timeout=PATIENCE)
        assert again.attempt == 2
        assert stalled.ack() is SettleOutcome.LOST
        assert again.ack() is SettleOutcome.ACKED


def test_equal_values_are_conserved(admin: Any, url: str, flavour: Flavour) -> None:
    """A thousand copies, with nacks, hand-backs, rejections and leases that end: none more, none less."""
    chance = random.Random(5)
    acked = 0
    attempts: Counter[int] = Counter()
    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", delivery_limit=4)
        queue.add_all(["same"] * 1000)
        given_back = crashed = 0
        until = time.monotonic() + 3 * PATIENCE
        while acked + admin.llen("redisson_dq_dead:{orders}") < 1000:
            assert time.monotonic() < until, f"{acked} acked, {whereabouts(admin)}"
            # The last values to come may be dead letters, which nobody receives.
            batch = queue.receive(100, timeout=0.5, visibility_timeout=0.4)
            kinds: dict[str, list[Any]] = {"ack": [], "nack": [], "delay": [], "back": [], "reject": [], "crash": []}
            for each in batch:
                assert 1 <= each.attempt <= 4
                assert each.attempt == 1 + each.failures + each.crashes
                attempts[each.attempt] += 1
                kinds[chance.choices(list(kinds), (60, 12, 6, 6, 6, 10))[0]].append(each)
            acked += queue.ack_all(kinds["ack"]).count(SettleOutcome.ACKED)
            given_back += sum(map(bool, queue.nack_all(kinds["nack"])))
            given_back += sum(map(bool, queue.nack_all(kinds["delay"], delay=0.01)))
            queue.nack_all(kinds["back"], count=False)
            queue.reject_all(kinds["reject"])
            crashed += len(kinds["crash"])
            assert sum(whereabouts(admin).total.values()) == 1000 - acked
        assert given_back
        assert crashed
        assert len(queue.dead_letters(0, 999)) == 1000 - acked
        assert attempts[4]
        assert not admin.exists(KEYS.leases, KEYS.deliveries, KEYS.histories, KEYS.history_ends)


# -- waking ----------------------------------------------------------------------------------------------------------


def test_every_client_knows_of_the_end_of_a_lease(admin: Any, url: str, flavour: Flavour) -> None:
    """Only the lease informs the others: the client that received it is gone, and nobody probes."""
    with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as idle:
        late = moving(idle.blocking_queue("orders"))
        eventually(lambda: admin.pubsub_numsub(KEYS.channel)[0][1] == 1)
        for round in range(3):
            with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as busy:
                queue = moving(busy.blocking_queue("orders"))
                eventually(lambda: admin.pubsub_numsub(KEYS.channel)[0][1] == 2)
                for _ in range(20):
                    queue.add("fine")
                    assert queue.receive(visibility_timeout=60).ack()
                queue.add(f"v{round}")
                queue.receive(visibility_timeout=0.4)
            delivery = late.receive(timeout=PATIENCE)
            assert (delivery.value, delivery.crashes) == (f"v{round}", 1)
            assert delivery.ack()


def test_a_busy_queue_tells_of_its_leases_once_a_second(admin: Any, url: str, flavour: Flavour) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as client:
        queue = client.blocking_queue("orders", transfer=False)
        queue.add_all([f"v{i}" for i in range(300)])
        admin.config_resetstat()
        began = time.monotonic()
        for _ in range(300):
            assert queue.receive().ack()
        published = admin.info("commandstats").get("cmdstat_publish", {}).get("calls", 0)
        # Each time two messages, of which one is for Redisson.
        assert 1 <= published <= 2 * (2 + time.monotonic() - began)


def test_a_client_that_is_alone_is_told_of_its_leases_once(admin: Any, url: str, flavour: Flavour) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as client:
        queue = client.blocking_queue("orders")
        delayed = client.delayed_queue(queue)
        admin.config_resetstat()
        began = time.monotonic()
        for _ in range(20):
            delayed.offer("fine", delay=0.005)
            assert queue.receive(timeout=PATIENCE, visibility_timeout=2).ack()
        published = admin.info("commandstats")["cmdstat_publish"]["calls"]
        # Each offer is the new head, of which the others might be told. What was told holds for a second.
        assert 20 < published <= 20 + 2 * (2 + time.monotonic() - began)
        delayed.offer("held", delay=0.005)
        queue.receive(timeout=PATIENCE, visibility_timeout=2)
        again = queue.receive(timeout=PATIENCE)
        assert again.crashes == 1
        assert again.ack()

        # Another client comes, of which nothing is known but that it listens.
        with closing(admin.pubsub(ignore_subscribe_messages=True)) as listener:
            listener.subscribe(KEYS.channel)
            listener.get_message(timeout=PATIENCE)

            def told() -> bool:
                delayed.offer("fine", delay=0.005)
                delivery = queue.receive(timeout=PATIENCE, visibility_timeout=60)
                deadline = delivery.deadline.timestamp() * 1000
                assert delivery.ack()
                return any(abs(int(message["data"]) - deadline) < 2 for message in heard())

            def heard() -> list[dict[str, Any]]:
                return list(iter(functools.partial(listener.get_message, timeout=0.05), None))

            eventually(told)


def test_a_sooner_lease_is_told_of(admin: Any, url: str, flavour: Flavour) -> None:
    with (
        flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as idle,
        flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as busy,
    ):
        late = moving(idle.blocking_queue("orders"))
        eventually(lambda: admin.pubsub_numsub(KEYS.channel)[0][1] == 1)
        queue = busy.blocking_queue("orders", transfer=False)
        queue.add_all(["long", "short", "shortened"])
        queue.receive(visibility_timeout=3600)
        queue.receive(visibility_timeout=0.2)
        assert late.receive(timeout=PATIENCE).value == "shortened"
        first = queue.receive(timeout=PATIENCE)
        assert (first.value, first.crashes) == ("short", 1)
        assert first.extend(0.2)
        assert late.receive(timeout=PATIENCE).crashes == 2


# -- servers ---------------------------------------------------------------------------------------------------------


def test_leases_survive_a_restart_of_the_server(own_server: EmbeddedServer, flavour: Flavour) -> None:
    with redis.Redis.from_url(own_server.url) as admin, flavour.connect(own_server.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        queue.add_all(["a", "b", "c"])
        one, two, _ = queue.receive(3, visibility_timeout=3)
        two.nack(reason="later", delay=0.5)
        own_server.restart()
        eventually(lambda: _acked(one))
        found: dict[str, Any] = {}
        while len(found) < 2:
            each = queue.receive(timeout=PATIENCE)
            found[each.value] = (each.attempt, each.failures, each.crashes, each.reason)
            each.ack()
        assert found == {"b": (2, 1, 0, "later"), "c": (2, 0, 1, "")}
        assert whereabouts(admin).total == Counter()


def _acked(delivery: Any) -> bool:
    try:
        return delivery.ack() is SettleOutcome.ACKED
    except Exception:
        return False
