"""Leases in a fleet with Redisson. Redisson returns the values that a dead Python process held. Its consumers get the
raw values.
"""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq import SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, environment, eventually
from tests.flavours import Flavour
from tests.integration.leases.test_leases_under_faults import worker
from tests.integration.whereabouts import whereabouts
from tests.interop.conftest import EACH_VERSION, OpenJava
from tests.interop.java_args import string
from tests.interop.sides import HOUR, NO_PROBE
from tests.peer import VERSIONS
from tests.unit.codecs import acme
from tests.unit.codecs.vectors import vectors

#: The oldest of them reads the legacy format alone.
ENVELOPES = {version: "legacy" if version == VERSIONS[-1] else "current" for version in VERSIONS}

versions = pytest.mark.parametrize("version", EACH_VERSION)

HOLDER = """
import json, sys, redisson_dq
url, name, envelope, count = json.loads(sys.argv[1])
client = redisson_dq.connect(url, envelope=envelope)
queue = client.blocking_queue(name, delivery_limit=None)
held = []
while len(held) < count:
    held += queue.receive(count - len(held), visibility_timeout=2)
print("ready", flush=True)
sys.stdin.readline()
"""


@versions
def test_java_alone_gets_everything_that_a_dead_process_held(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, version: str
) -> None:
    consumer = java(redis7.url, version=version)
    consumer.call("open_delayed")
    keys = QueueKeys.of(queue)
    eventually(lambda: look.pubsub_numsub(keys.channel)[0][1] == 1)
    consumer.offer_all([(f"v{number}", 1) for number in range(50)])
    arguments = json.dumps([redis7.url, queue, ENVELOPES[version], 50])
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", HOLDER, arguments], stdin=pipe, stdout=pipe, env=environment())
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert look.zcard(keys.timeout) == look.zcard(keys.leases) == 50
        assert look.llen(keys.ready) == 0
    finally:
        process.kill()
        process.communicate()
    taken = consumer.taking(50).result(2 * PATIENCE)
    assert Counter(item["value"] for item in taken) == Counter(f"v{number}" for number in range(50))
    assert look.zcard(keys.timeout) == 0


@pytest.mark.nightly
@versions
def test_every_value_is_done_once_while_processes_are_killed(
    redis7: EmbeddedServer, look: Any, java: OpenJava, version: str
) -> None:
    """Java offers, Java and Python take, and 200 Python processes are killed at whatever they do."""
    kills, at_once = 200, 4
    name, envelope, chance = "orders", ENVELOPES[version], random.Random(7)
    producer, consumer = (java(redis7.url, version=version, codec="StringCodec", queue=name) for _ in range(2))
    producer.call("open_delayed")
    is_over, numbers = threading.Event(), itertools.count()

    def offer() -> list[str]:
        offered: list[str] = []
        while not is_over.wait(0.05):
            values = [f"v{number}" for number in itertools.islice(numbers, 25)]
            producer.offer_all([(value, chance.randrange(1000)) for value in values])
            offered += values
        return offered

    def take() -> list[str]:
        taken: list[str] = []
        while not is_over.wait(0.05):
            taken += [item["value"] for item in consumer.call("take_many", count=10, timeoutMs=100)]
        return taken

    def kill(seed: int) -> bool:
        """Whether the values that the process had in hand can be seen."""
        with worker(url=redis7.url, seed=seed, visibility=0.3, envelope=envelope) as process:
            time.sleep(chance.random() * 0.2)
            process.kill()
            process.wait()
        found = whereabouts(look, name)
        assert max(found.total.values(), default=0) <= 1, "no value is in two places"
        return bool(found.leased)

    with ThreadPoolExecutor(at_once + 2) as threads:
        try:
            offering, taking = threads.submit(offer), threads.submit(take)
            in_hand = sum(threads.map(kill, range(kills)))
        finally:
            is_over.set()
        offered, by_java = offering.result(PATIENCE), taking.result(PATIENCE)
    with Flavour().connect(redis7.url, codec=StringCodec(), envelope=envelope) as client:
        queue, done = client.blocking_queue(name), client.blocking_queue("done", transfer=False)
        until = time.monotonic() + 3 * PATIENCE
        while (found := whereabouts(look, name)).total != found.dead:
            assert time.monotonic() < until, found
            batch = queue.receive(1000, timeout=0.5)
            done.add_all([each.value for each in batch])
            assert all(queue.ack_all(batch))
    by_python = Counter(value.decode() for value in look.lrange("done", 0, -1))
    dead = Counter(value.decode() for value in found.dead.elements())
    assert by_python + Counter(by_java) + dead == Counter(offered)
    assert in_hand > kills / 4
    assert len(by_java) > kills
    assert by_python.total() > kills


@versions
def test_java_alone_returns_what_is_given_back_for_a_moment(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    """Java still reads the reply to its last transfer then, and would forget the message."""
    java(redis7.url, version=version).call("open_delayed")
    eventually(lambda: look.pubsub_numsub(QueueKeys.of(queue).channel)[0][1] == 1)
    with flavour.connect(redis7.url, envelope=ENVELOPES[version], probe_interval=NO_PROBE) as client:
        ready = client.blocking_queue(queue, transfer=False, delivery_limit=None)
        ready.add("a")
        for number in range(60):
            # A lease that ends first of all makes Java transfer.
            delivery = ready.receive(timeout=PATIENCE, visibility_timeout=3 * HOUR - 60 * number)
            assert delivery is not None, number
            assert delivery.attempt == number + 1
            assert delivery.nack(delay=0.005 + number % 5 / 1000)


@versions
def test_counts_and_contexts_survive_a_transfer_of_java(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    keys = QueueKeys.of(queue)
    mover = java(redis7.url, version=version)
    mover.call("open_delayed")
    eventually(lambda: look.pubsub_numsub(keys.channel)[0][1] == 1)
    with flavour.connect(redis7.url, envelope=ENVELOPES[version], probe_interval=NO_PROBE) as client:
        ready = client.blocking_queue(queue, transfer=False)
        delayed = client.delayed_queue(queue, transfer=False)
        item = delayed.offer("a", 0.05, context={"trace": "1"})
        delayed.offer("a", HOUR, context={"trace": "2"})
        first = ready.receive(timeout=PATIENCE, visibility_timeout=0.2)
        assert (first.context, first.due, first.attempt) == ({"trace": "1"}, item.due, 1)
        second = ready.receive(timeout=PATIENCE)
        assert (second.value, second.context, second.attempt, second.crashes) == ("a", {"trace": "1"}, 2, 1)
        assert first.ack() is SettleOutcome.LOST
        assert second.nack(delay=0.05, reason="again")
        third = ready.receive(timeout=PATIENCE)
        assert (third.attempt, third.failures, third.crashes, third.reason) == (3, 1, 1, "again")
        assert third.ack()
        assert delayed.size() == 1
        assert mover.invoke("delayed", "size") == (1 if delayed.items()[0].id else 0)


@versions
def test_java_sees_no_lease(redis7: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str, version: str) -> None:
    peer = java(redis7.url, version=version)
    with flavour.connect(redis7.url, envelope=ENVELOPES[version]) as client:
        ready = client.blocking_queue(queue, transfer=False)
        ready.add_all(["a", "b", "c"])
        batch = ready.receive(2, timeout=0)
        assert peer.invoke("queue", "readAll") == ["c"]
        assert (peer.invoke("delayed", "size"), peer.invoke("delayed", "readAll")) == (0, [])
        assert peer.invoke("delayed", "contains", "a") is False
        assert peer.invoke("delayed", "remove", "a") is False
        assert ready.ack_all(batch) == [SettleOutcome.ACKED] * 2


def test_java_takes_from_the_dead_letter_list(
    redis7: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    with flavour.connect(redis7.url) as client:
        ready = client.blocking_queue(queue, dead_letter=f"{queue}-dead")
        ready.add_all([{"order": 1}, {"order": 2}])
        ready.reject_all(ready.receive(2, timeout=0), "why")
        dead = java(redis7.url, queue=f"{queue}-dead")
        assert dead.invoke("queue", "poll") == {"order": 1}
        assert [letter.value for letter in ready.dead_letters()] == [{"order": 2}]
        assert dead.invoke("queue", "pollLastAndOfferFirstTo", string(queue)) == {"order": 2}
        assert ready.receive(timeout=0).value == {"order": 2}


def test_java_and_python_wait_in_one_line(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str
) -> None:
    """Whoever began to wait first is served first, a take of Java's or a receive."""
    peer = java(redis7.url)
    with redisson_dq.connect(redis7.url) as client, ThreadPoolExecutor(2) as threads:
        ready = client.blocking_queue(queue, transfer=False)
        for round in range(4):
            receiving: Any
            if round % 2:
                taking = peer.taking(1)
                blocked(look, 1)
                receiving = threads.submit(ready.receive)
            else:
                receiving = threads.submit(ready.receive)
                blocked(look, 1)
                taking = peer.taking(1)
            blocked(look, 2)
            ready.add("first")
            first, second = (taking, receiving) if round % 2 else (receiving, taking)
            eventually(first.done)
            assert not second.done()
            ready.add("second")
            taken, received = taking.result(PATIENCE)[0]["value"], receiving.result(PATIENCE)
            assert [taken, received.value] == (["first", "second"] if round % 2 else ["second", "first"])
            assert received.ack()


def blocked(look: redis.Redis, count: int) -> None:
    """Waits until so many clients wait in the server."""
    eventually(lambda: look.info("clients")["blocked_clients"] == count)


@versions
def test_values_whose_bytes_are_not_stable(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    """Every call works by the bytes that Java has written: sets and maps come in any order, enums under two names."""
    producer = java(redis7.url, version=version)
    values: list[Any] = [
        {f"member {number}" for number in range(30)},
        {f"key {n}": {n, n + 50, -n} for n in range(30)},
        acme.Planet.EARTH,
    ]
    # A constant with a body, as Java has written it: Kryo names the body's class.
    (constant,) = (
        vector.data
        for vector in vectors("Kryo5Codec", redisson=version)
        if vector.name == "enum/with-body" and vector.data
    )
    look.rpush(queue, constant)
    producer.offer_all([(value, 1) for value in values[:2]])
    keys = QueueKeys.of(queue)
    with flavour.connect(redis7.url, envelope=ENVELOPES[version]) as client:
        ready = client.blocking_queue(queue)
        client.delayed_queue(queue).start_moving()
        for _ in values:
            first = ready.receive(timeout=PATIENCE)
            assert first.value in values
            assert first.nack(count=False)
            second = ready.receive(timeout=PATIENCE)
            assert second.data == first.data
            assert second.nack(delay=0.01)
            third = ready.receive(timeout=PATIENCE)
            assert third.reject("no")
        assert len(ready.dead_letters()) == len(values)
        assert ready.redrive().count == len(values)
        assert all(ready.ack_all(ready.receive(10, timeout=PATIENCE)))
        assert look.zcard(keys.leases) == look.zcard(keys.timeout) == look.llen(keys.ready) == 0


@pytest.mark.nightly
@versions
def test_a_history_beside_java(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, version: str
) -> None:
    """What Redisson offers is known from when it is received here, and what Redisson takes is gone."""
    peer = java(redis7.url, version=version, codec="StringCodec")
    with Flavour().connect(redis7.url, codec=StringCodec(), envelope=ENVELOPES[version]) as client:
        delayed = client.delayed_queue(queue)
        delayed.set_history(100)
        delayed.offer("a", 0.01, id="order-71")
        assert [item["value"] for item in peer.taking(1).result(PATIENCE)] == ["a"]
        eventually(lambda: delayed.history("order-71")[-1].what == "gone")
        assert delayed.history("order-71")[0].what == "offered"
        peer.call("open_delayed")
        peer.offer_all([("b", 1)])
        held = client.blocking_queue(queue).receive(timeout=PATIENCE)
        assert held is not None
        assert (held.value, held.ack()) == ("b", SettleOutcome.ACKED)
        since = [event.what for event in delayed.history(since=held.received)]
        assert since[-2:] == ["delivered", "done"]
