"""A worker whose values come from Java: in the order of their due times, retried, given back and given up."""

from __future__ import annotations

from collections import Counter
from typing import Any

import redis

from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.worker import DeadLettered, Dropped, Limit, Rate, Retry, fixed
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.interop.conftest import OpenJava
from tests.interop.test_leases_peer import ENVELOPES, versions
from tests.workers.handlers import Gate, Ledger, Log, at_rest, running


@versions
def test_what_java_offers_is_handled_once(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    producers = [java(redis7.url, version=version) for _ in range(2)]
    with flavour.connect(redis7.url, envelope=ENVELOPES[version]) as client:
        worker, ledger = flavour.worker(client), Ledger()
        worker.handler(queue, str, concurrency=8, retry=Retry(limit=3, backoff=fixed(0.01)))(ledger.handle)
        with running(worker):
            for place, producer in enumerate(producers):
                producer.offer_all([(f"{place}-{number}", number % 7 * 10) for number in range(100)])
            ledger.some(200)
            at_rest(look, queue)
    assert Counter(ledger.values) == Counter(f"{place}-{number}" for place in range(2) for number in range(100))
    assert {event.attempt for event in ledger.events} == {1}


@versions
def test_java_moves_what_waits_for_its_retry(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    """A worker that moves nothing, beside a Redisson that moves everything."""
    mover = java(redis7.url, version=version)
    mover.call("open_delayed")
    eventually(lambda: look.pubsub_numsub(QueueKeys.of(queue).channel)[0][1] == 1)
    with flavour.connect(redis7.url, envelope=ENVELOPES[version]) as client:
        worker, ledger = flavour.worker(client, transfer=False), Ledger()
        log = Log(worker)

        def handle(value: Any, event: Any) -> None:
            ledger.note((value, event.attempt))
            raise ValueError(value)

        worker.handler(queue, retry=Retry(limit=3, backoff=fixed(0.05)))(handle)
        with running(worker):
            mover.offer_all([("a", 1)])
            (dead,) = log.until(DeadLettered)
    assert ledger.values == [("a", 1), ("a", 2), ("a", 3)]
    assert "ValueError: a" in dead.reason


def test_java_takes_what_a_worker_gives_back(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    consumer = java(redis7.url)
    with flavour.connect(redis7.url) as client:
        worker, gate = flavour.worker(client), Gate()
        worker.handler(queue, concurrency=2)(lambda value: gate.wait())
        consumer.offer_all([("a", 0), ("b", 0), ("c", 60_000)])
        worker.start()
        try:
            eventually(lambda: gate.inside == 2)
            worker.stop(grace=0)
            taken = consumer.taking(2).result(PATIENCE)
            assert sorted(item["value"] for item in taken) == ["a", "b"]
        finally:
            gate.open()
        eventually(lambda: gate.inside == 0)


@versions
def test_limits_keys_and_duplicates_of_what_java_offers(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    producer = java(redis7.url, version=version)
    values = [f"c{number % 3}-{number}" for number in range(45)]
    with flavour.connect(redis7.url, envelope=ENVELOPES[version]) as client:
        worker, ledger = flavour.worker(client), Ledger()
        log = Log(worker)
        worker.handler(
            queue,
            str,
            concurrency=6,
            key=lambda value: value.partition("-")[0],
            rate=Rate(500, per=1),
            limit=Limit(3),
            unique_for=60,
        )(ledger.handle)
        with running(worker):
            # Those of a key are due one after the other, and the duplicates behind them. One offer ends before the next
            # begins: of those that are under way together, one may come after its due time, behind later ones.
            offers = [(value, 300 + 20 * place) for place, value in enumerate(values)]
            for value, delay_ms in [*offers, *((value, 1500) for value in values[:6])]:
                producer.offer(value, delay_ms)
            ledger.some(len(values))
            log.until(Dropped, 6)
            at_rest(look, queue)
    for key in ("c0", "c1", "c2"):
        of_key = [value for value in values if value.startswith(key)]
        assert [value for value in ledger.values if value.startswith(key)] == of_key
