"""Taking what is due beside Redisson: its entries and ours, lean ones too, and what it sees afterwards."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest
import redis

from redisson_dq import SettleOutcome
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.interop.conftest import EACH_VERSION, OpenJava
from tests.interop.sides import HOUR, server_ms
from tests.peer import VERSIONS

#: The oldest of them reads the legacy format alone.
ENVELOPES = {version: "legacy" if version == VERSIONS[-1] else "current" for version in VERSIONS}

versions = pytest.mark.parametrize("version", EACH_VERSION)


def from_now(look: redis.Redis, seconds: float) -> datetime:
    return datetime.fromtimestamp(0, timezone.utc) + timedelta(milliseconds=server_ms(look), seconds=seconds)


@versions
def test_entries_of_java_are_taken_from_both_of_its_keys(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    producer = java(redis7.url, version=version)
    keys = QueueKeys.of(queue)
    producer.offer_all([(f"java {number}", 60_000 * (60 - number)) for number in range(50)])
    with flavour.connect(redis7.url, envelope=ENVELOPES[version]) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        lean = client.delayed_queue(queue, transfer=False, lean=ENVELOPES[version] == "current")
        lean.offer("ours", 55.5 * 60)
        assert delayed.take_due() == []
        # Offered a moment ago, so each is due a moment before its full minute from now.
        taken = delayed.take_due(from_now(look, 57 * 60), from_now(look, 53.5 * 60))
        assert taken == ["java 6", "java 5", "ours", "java 4", "java 3"]
        assert delayed.take_due(from_now(look, 2 * HOUR), offset=40, limit=3) == ["java 9", "java 8", "java 7"]
        assert look.llen(keys.envelopes) == look.zcard(keys.timeout) == delayed.size() == 43
        assert producer.invoke("delayed", "size") == 43
        assert delayed.take_due(from_now(look, 2 * HOUR)) == [
            f"java {number}" for number in reversed(range(50)) if number not in range(3, 10)
        ]
        assert producer.invoke("delayed", "readAll") == []
        assert not look.exists(keys.envelopes, keys.timeout)


@versions
def test_java_moves_what_was_leased_and_never_ended(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    consumer = java(redis7.url, version=version)
    consumer.offer_all([(value, 3_600_000) for value in "abc"])
    with flavour.connect(redis7.url, envelope=ENVELOPES[version]) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        first, second, third = delayed.take_due(from_now(look, 2 * HOUR), visibility_timeout=0.3)
        assert consumer.invoke("delayed", "size") == 0
        assert second.ack() is SettleOutcome.ACKED
        taking = consumer.taking(2)
        consumer.call("open_delayed")
        taken = [item["value"] for item in taking.result(2 * PATIENCE)]
        assert sorted(taken) == sorted([first.value, third.value])
        assert first.ack() is third.ack() is SettleOutcome.LOST


@versions
def test_beside_a_moving_java_each_value_comes_once(
    redis7: EmbeddedServer,
    look: redis.Redis,
    flavour: Flavour,
    java: OpenJava,
    queue: str,
    version: str,
) -> None:
    consumer = java(redis7.url, version=version)
    consumer.call("open_delayed")
    keys = QueueKeys.of(queue)
    eventually(lambda: look.pubsub_numsub(keys.channel)[0][1] == 1)
    with flavour.connect(redis7.url, envelope=ENVELOPES[version]) as client, ThreadPoolExecutor(3) as pool:
        delayed = client.delayed_queue(queue, transfer=False)
        ready = client.blocking_queue(queue, transfer=False)
        offering = pool.submit(consumer.offer_all, [(f"v{number}", 1 + number % 40) for number in range(300)])
        taken: list[str] = []

        def all_taken() -> bool:
            taken.extend(delayed.take_due(from_now(look, 0.005), limit=3))
            taken.extend(ready.poll(limit=3))
            return len(taken) == 300

        eventually(all_taken, within=2 * PATIENCE)
        offering.result(PATIENCE)
        assert Counter(taken) == Counter(f"v{number}" for number in range(300))
        assert not look.exists(keys.timeout, keys.envelopes, keys.ready)


def test_what_stands_in_the_zset_alone_is_taken(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    """As after Java's retainAll, which takes entries out of its list and not out of the zset."""
    producer = java(redis7.url)
    producer.offer_all([("a", 60_000), ("b", 120_000)])
    assert producer.invoke("delayed", "size") == 2
    look.delete(QueueKeys.of(queue).envelopes)
    with flavour.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        assert delayed.take_due(from_now(look, HOUR)) == ["a", "b"]
        assert look.keys() == []
