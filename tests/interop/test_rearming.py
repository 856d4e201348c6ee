"""A new head, offered in one language, wakes a consumer of the other that waits for a later one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.interop.conftest import OpenJava
from tests.interop.sides import HOUR, NO_PROBE, Taker, open_delayed, server_ms

HOUR_MS = int(HOUR * 1000)

Offer = Callable[[Any, float], None]


def _somebody_waits(admin: redis.Redis, queue: str) -> bool:
    """Whether a consumer is subscribed to the queue's channel and blocked in its pop."""
    channel = QueueKeys.of(queue).channel
    subscribed = dict(admin.pubsub_numsub(channel))[channel.encode()]
    return bool(subscribed == 1 and admin.info("clients")["blocked_clients"] == 1)


def test_a_head_offered_by_java_wakes_python(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    producer = java(redis7.url)
    with flavour.connect(redis7.url, probe_interval=NO_PROBE) as client:
        ready = client.blocking_queue(queue)
        client.delayed_queue(ready).offer("far", delay=HOUR)
        taker = Taker(ready)
        eventually(lambda: _somebody_waits(look, queue))

        for number, value in enumerate(["near", "again near"]):
            before = server_ms(look)
            # Its delayed queue lives for the offer alone, so when the time comes only Python is there to move it.
            producer.offer(value, 200)
            taker.wait_for(number + 1)
            assert server_ms(look) >= int(before) + 200
        assert client.delayed_queue(ready).read_all() == ["far"]
    assert taker.ended() == ["near", "again near"]


def _alone(delayed: Any, delay: float) -> None:
    delayed.offer("near", delay)


def _within_a_batch(delayed: Any, delay: float) -> None:
    delayed.offer_all([("later", HOUR), ("near", delay), ("last", HOUR)])


# Redisson forgets a new head whose message overtakes the reply of its own last transfer. So there is one wake-up a
# test, and its first transfer is over before there is anything to find.
@pytest.mark.parametrize("delay_ms", [200, 0])
@pytest.mark.parametrize("offer", [_alone, _within_a_batch])
def test_a_head_offered_by_python_wakes_java(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, offer: Offer, delay_ms: int
) -> None:
    consumer = java(redis7.url)
    open_delayed(consumer, look)
    consumer.offer("far", HOUR_MS)
    taking = consumer.taking(1)
    eventually(lambda: _somebody_waits(look, queue))

    with flavour.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        before = server_ms(look)
        offer(delayed, delay_ms / 1000)
        taken = taking.result(2 * PATIENCE)
        assert "near" not in delayed.read_all()

    assert [item["value"] for item in taken] == ["near"]
    assert taken[0]["atMs"] >= before + delay_ms
