"""Redisson's transfer task and ours move the items of one queue at the same time."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE, by_night, eventually
from tests.flavours import Flavour
from tests.interop.conftest import OpenJava
from tests.interop.sides import Coding, Taker, waiting

ITEMS, ITEMS_AT_NIGHT = 600, 2000


@pytest.mark.parametrize("count", [ITEMS, by_night(ITEMS_AT_NIGHT)])
def test_each_item_is_moved_once_by_whoever_comes_first(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, coding: Coding, java: OpenJava, queue: str, count: int
) -> None:
    chance = random.Random(count)
    producer, consumer = java(redis7.url, codec=coding.java), java(redis7.url, codec=coding.java)
    # Its transfer task runs; whether it takes part in taking is up to the other Redisson.
    producer.call("open_delayed")
    done = Event()
    with ThreadPoolExecutor(1) as thread:
        try:
            with flavour.connect(redis7.url, codec=coding.python) as client:
                taker = Taker(client.blocking_queue(queue))
                theirs = thread.submit(consumer.take_until, done.is_set)
                producer.offer_all((coding.value(number), chance.randrange(count)) for number in range(count))
                eventually(lambda: waiting(look, queue) == 0, within=2 * PATIENCE)
        finally:
            done.set()
        by_java, by_python = theirs.result(2 * PATIENCE), taker.ended()

    assert by_java, "both took some"
    assert by_python, "both took some"
    assert sorted(coding.numbers([*by_java, *by_python])) == list(range(count))
    assert look.keys("*") == []
