"""Items cross from one language to the other: each exactly once, none before it is due."""

from __future__ import annotations

import random
from typing import Any

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE, by_night
from tests.flavours import Flavour
from tests.interop.conftest import OpenJava
from tests.interop.sides import CODINGS, NO_PROBE, Coding, Java, due_times, server_ms, waiting
from tests.peer import from_json


def _delays(count: int, within_ms: int) -> list[int]:
    chance = random.Random(count)
    return [chance.randrange(within_ms) for _ in range(count)]


def _java_to_python(
    url: str, admin: redis.Redis, flavour: Flavour, coding: Coding, producer: Java, queue: str, delays_ms: list[int]
) -> None:
    with flavour.connect(url, codec=coding.python, probe_interval=NO_PROBE) as client:
        ready = client.blocking_queue(queue)
        offered_from = server_ms(admin)
        producer.offer_all((coding.value(number), delay) for number, delay in enumerate(delays_ms))
        due = due_times(admin, queue, coding, offered_from, delays_ms)

        values: list[Any] = []
        arrivals: list[float] = []
        while len(values) < len(delays_ms) and (value := ready.poll(timeout=PATIENCE)) is not None:
            arrivals.append(server_ms(admin))
            values.append(value)

    numbers = coding.numbers(values)
    assert sorted(numbers) == list(range(len(delays_ms)))
    assert [at for at, number in zip(arrivals, numbers, strict=True) if at < due[number]] == []
    assert waiting(admin, queue) == 0


def _python_to_java(
    url: str, admin: redis.Redis, flavour: Flavour, coding: Coding, consumer: Java, queue: str, delays_ms: list[int]
) -> None:
    consumer.call("open_delayed")
    taking = consumer.taking(len(delays_ms))
    with flavour.connect(url, codec=coding.python) as client:
        # Redisson alone moves what is due.
        delayed = client.delayed_queue(queue, transfer=False)
        offered_from = server_ms(admin)
        half = len(delays_ms) // 2
        for number in range(half):
            delayed.offer(coding.value(number), delays_ms[number] / 1000)
        rest = [(coding.value(number), delays_ms[number] / 1000) for number in range(half, len(delays_ms))]
        assert delayed.offer_all(rest) == len(rest)
        due = due_times(admin, queue, coding, offered_from, delays_ms)
        taken = taking.result(2 * PATIENCE)

    numbers = coding.numbers(from_json(item["value"]) for item in taken)
    assert sorted(numbers) == list(range(len(delays_ms)))
    # The wall clock of the JVM, which is the server's on one machine.
    early = [number for item, number in zip(taken, numbers, strict=True) if item["atMs"] < due[number]]
    assert early == []
    assert waiting(admin, queue) == 0


many = pytest.mark.parametrize("count", [300, by_night(1000)])


@many
def test_java_offers_many_and_python_takes_them(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, coding: Coding, java: OpenJava, queue: str, count: int
) -> None:
    producer = java(redis7.url, codec=coding.java)
    _java_to_python(redis7.url, look, flavour, coding, producer, queue, _delays(count, 5 * count))


@many
def test_python_offers_many_and_java_takes_them(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, coding: Coding, java: OpenJava, queue: str, count: int
) -> None:
    consumer = java(redis7.url, codec=coding.java)
    _python_to_java(redis7.url, look, flavour, coding, consumer, queue, _delays(count, 5 * count))


def test_a_few_cross_both_ways_on_every_server(
    url: str, admin: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    there, back = f"{queue}-there", f"{queue}-back"
    _java_to_python(url, admin, flavour, CODINGS[0], java(url, queue=there), there, _delays(100, 500))
    _python_to_java(url, admin, flavour, CODINGS[0], java(url, queue=back), back, _delays(100, 500))
