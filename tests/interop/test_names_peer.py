"""Names of items while Redisson alone moves the queue: it knows nothing of them, and none is lost."""

from __future__ import annotations

import random
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq import ItemState, Outcome, SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.worker import Retry, Worker, fixed
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.whereabouts import whereabouts
from tests.interop.conftest import OpenJava
from tests.interop.sides import server_ms
from tests.interop.test_leases_peer import ENVELOPES, versions
from tests.workers.handlers import at_rest, running


@contextmanager
def moved_by_java(
    java: OpenJava, server: EmbeddedServer, look: redis.Redis, queue: str, version: str
) -> Iterator[None]:
    """A Redisson moves the queue.

    The replies to two of its transfers may overtake each other, and the older one arms its timer then. An entry that is
    due sooner waits for the next message. So Redisson gets one a second, as from a fleet with other producers.
    """
    channel = QueueKeys.of(queue).channel
    java(server.url, version=version).call("open_delayed")
    eventually(lambda: look.pubsub_numsub(channel)[0][1] == 1)
    over = threading.Event()

    def nudge() -> None:
        with redis.Redis.from_url(server.url) as other:
            while not over.wait(1):
                other.publish(channel, -1)

    nudging = threading.Thread(target=nudge)
    nudging.start()
    try:
        yield
    finally:
        over.set()
        nudging.join()


@versions
def test_one_order_through_transfers_of_java(
    flavour: Flavour, redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, version: str
) -> None:
    with (
        moved_by_java(java, redis7, look, queue, version),
        flavour.connect(redis7.url, codec=StringCodec(), envelope=ENVELOPES[version]) as client,
    ):
        ready, delayed = client.blocking_queue(queue, transfer=False), client.delayed_queue(queue, transfer=False)
        delayed.offer("a", delay=0.05, id="71", context={"trace": "00-4bf9"})
        first = ready.receive(timeout=PATIENCE, visibility_timeout=60)
        assert (first.offer_id, first.attempt, first.context) == ("71", 1, {"trace": "00-4bf9"})
        first.nack(delay=0.05, reason="no stock")
        # A receiver that dies.
        second = ready.receive(timeout=PATIENCE, visibility_timeout=0.1)
        assert (second.offer_id, second.attempt, second.reason) == ("71", 2, "no stock")
        third = ready.receive(timeout=PATIENCE, visibility_timeout=60)
        assert (third.offer_id, third.attempt, third.crashes) == ("71", 3, 1)
        assert delayed.find("71").state is ItemState.LEASED
        third.reject("broken")
        assert delayed.find("71").state is ItemState.DEAD
        assert delayed.reschedule("71", delay=0.05) is Outcome.RESCHEDULED
        fourth = ready.receive(timeout=PATIENCE, visibility_timeout=60)
        assert (fourth.offer_id, fourth.attempt) == ("71", 1)
        assert delayed.cancel("71") is Outcome.CANCELLED
        # The lease ends now, and Java makes the value ready. Nobody gets it again.
        assert fourth.extend(0.001) is SettleOutcome.EXTENDED
        eventually(lambda: look.llen(queue) == 1)
        assert ready.receive(timeout=0) is None
        assert whereabouts(look, queue).total.total() == 0


@pytest.mark.parametrize("seed", [1, 2])
def test_cancelled_items_come_no_more_while_java_moves(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, seed: int
) -> None:
    """A worker retries, gives up and dies over values of which many are equal. Anything is cancelled at any time."""
    chance = random.Random(seed)
    received: dict[str, list[Any]] = defaultdict(list)
    done: Counter[str] = Counter()
    mutex = threading.Lock()
    with (
        moved_by_java(java, redis7, look, queue, next(iter(ENVELOPES))),
        redisson_dq.connect(redis7.url, codec=StringCodec()) as client,
    ):
        delayed = client.delayed_queue(queue, transfer=False)
        worker = Worker(client)
        worker.queue(queue, transfer=False)

        def handle(value: str, event: Any) -> None:
            with mutex:
                received[event.offer_id].append((value, event.delivery.received, event.attempt))
                fails = chance.random() < 0.4
            if fails:
                raise ValueError("again")
            with mutex:
                done[event.offer_id] += 1

        worker.handler(queue, concurrency=4, retry=Retry(limit=None, backoff=fixed(0.05)))(handle)
        values = {f"n{number}": f"v{number % 5}" for number in range(120)}
        cancelled = {}
        with running(worker):
            for number, (name, value) in enumerate(values.items()):
                delayed.offer(value, delay=chance.random() / 5, id=name)
                victim = f"n{chance.randrange(number + 1)}"
                if number % 3 == 0 and victim not in cancelled and delayed.cancel(victim):
                    cancelled[victim] = server_ms(look)
            at_rest(look, queue)
    assert cancelled
    for name, attempts in received.items():
        assert {value for value, _, _ in attempts} == {values[name]}
        assert [attempt for _, _, attempt in attempts] == list(range(1, len(attempts) + 1))
    for name, at_ms in cancelled.items():
        assert [at for _, at, _ in received[name] if at.timestamp() * 1000 > at_ms] == []
    assert {name: done[name] for name in values if name not in cancelled} == dict.fromkeys(
        values.keys() - cancelled.keys(), 1
    )
