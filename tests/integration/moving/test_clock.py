"""The clocks of clients do not matter: due times, "now" and timers follow the server's clock."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from typing import Any

import attrs
import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec
from tests.conftest import PATIENCE, by_night, environment
from tests.faults.gate import Gate
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.server import of_server

# A whole process whose wall clock is off: it offers, then takes what it and its neighbour offered.
SKEWED = """
import asyncio, json, sys, time
from datetime import datetime, timedelta, timezone
import time_machine

url, flavour, minutes = sys.argv[1], sys.argv[2], int(sys.argv[3])
time_machine.travel(datetime.now(timezone.utc) + timedelta(minutes=minutes)).start()
import redisson_dq
from redisson_dq._redis.tuning import tuned
from redisson_dq.codecs import StringCodec

async def asyncio_main():
    with tuned(probe_interval=3600):
        opening = redisson_dq.aio.connect(url, codec=StringCodec())
    async with opening as client:
        queue = client.blocking_queue("orders")
        print("open", flush=True)
        sys.stdin.readline()
        await client.delayed_queue(queue).offer("skewed", delay=0.5)
        print(json.dumps([time.time(), [await queue.take() for _ in range(2)]]))

def sync_main():
    with tuned(probe_interval=3600), redisson_dq.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        print("open", flush=True)
        sys.stdin.readline()
        client.delayed_queue(queue).offer("skewed", delay=0.5)
        print(json.dumps([time.time(), [queue.take() for _ in range(2)]]))

asyncio.run(asyncio_main()) if flavour == "asyncio" else sync_main()
"""


@pytest.mark.parametrize("server", ["redis", by_night("valkey")], indirect=True)
@pytest.mark.parametrize("minutes", [-7, 7])
def test_a_client_with_a_wrong_clock(flavour: Flavour, admin: Any, url: str, producer: Any, minutes: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SKEWED, url, flavour.name, str(minutes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    seconds, microseconds = admin.time()
    before_ms = seconds * 1000 + microseconds // 1000
    producer.offer("right", delay=2)
    output, _ = process.communicate("\n", timeout=PATIENCE)
    seconds, microseconds = admin.time()
    after_ms = seconds * 1000 + microseconds // 1000
    its_time, values = json.loads(output)
    assert abs(its_time - time.time()) > 60, "its clock is off indeed"
    assert values == ["skewed", "right"]
    assert after_ms - before_ms >= 1500, "not early"
    assert after_ms - before_ms < 60_000, "not late by the skew"


# A process whose wall clock is off, and jumps while it holds a lease.
HOLDER = """
import asyncio, sys, time
from datetime import datetime, timedelta, timezone
import time_machine

url, flavour = sys.argv[1:]
def jump(minutes):
    time_machine.travel(datetime.now(timezone.utc) + timedelta(minutes=minutes)).start()
jump(7)
import redisson_dq
import redisson_dq.aio
from redisson_dq.codecs import StringCodec

def told(delivery, before):
    print(delivery.deadline > before, delivery.lost, 0 < delivery.remaining.total_seconds() < 1.1, flush=True)

async def asyncio_main():
    async with redisson_dq.aio.connect(url, codec=StringCodec()) as client:
        delivery = await client.blocking_queue("orders").receive(visibility_timeout=1, renew=True)
        for minutes in (-60, 600):
            jump(minutes)
            before = delivery.deadline
            while delivery.deadline == before:
                await asyncio.sleep(0.01)
            told(delivery, before)
        print(await delivery.ack())

def sync_main():
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        delivery = client.blocking_queue("orders").receive(visibility_timeout=1, renew=True)
        for minutes in (-60, 600):
            jump(minutes)
            before = delivery.deadline
            while delivery.deadline == before:
                time.sleep(0.01)
            told(delivery, before)
        print(delivery.ack())

asyncio.run(asyncio_main()) if flavour == "asyncio" else sync_main()
"""


def test_a_lease_of_a_client_whose_clock_is_wrong_and_jumps(flavour: Flavour, url: str, client: Any) -> None:
    queue = client.blocking_queue("orders")
    queue.add("a")
    output = subprocess.run(
        [sys.executable, "-c", HOLDER, url, flavour.name],
        env=environment(),
        check=True,
        timeout=PATIENCE,
        capture_output=True,
        text=True,
    ).stdout
    assert output.splitlines() == ["True False True", "True False True", "SettleOutcome.ACKED"]
    assert (queue.size(), queue.in_flight_size()) == (0, 0)


def test_due_times_are_the_servers(flavour: Flavour, admin: Any, url: str) -> None:
    """Offers of a process that is seven minutes ahead carry the server's time."""
    offer = SKEWED.replace("delay=0.5", "delay=500").replace(
        "[await queue.take() for _ in range(2)]", "await queue.poll()"
    )
    offer = offer.replace("[queue.take() for _ in range(2)]", "queue.poll()")
    subprocess.run(
        [sys.executable, "-c", offer, url, flavour.name, "7"], env=environment(), check=True, timeout=PATIENCE
    )
    ((_, score),) = admin.zrange(KEYS.timeout, 0, -1, withscores=True)
    seconds, microseconds = admin.time()
    now_ms = seconds * 1000 + microseconds // 1000
    assert now_ms + 500_000 - PATIENCE * 1000 < score <= now_ms + 500_001


def test_nothing_is_delivered_before_its_time_on_the_servers_clock(flavour: Flavour, admin: Any, url: str) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
        start = datetime.now(timezone.utc) + timedelta(seconds=0.3)
        for i in range(300):
            delayed.offer(f"{i}", at=start + timedelta(milliseconds=i * 3 + 0.3))
        due = {}
        for member, score in admin.zrange(KEYS.timeout, 0, -1, withscores=True):
            due[member[17:].decode()] = score
        for _ in range(300):
            value = queue.take()
            seconds, microseconds = admin.time()
            assert seconds * 1000 + microseconds / 1000 >= due.pop(value, 0)


@attrs.frozen
class Spans:
    """Calls that add a span to the server's time. Each gives the time in ms that came of it."""

    admin: Any
    delayed: Any
    queue: Any
    item: Any

    def offer(self, span: timedelta) -> float:
        return in_ms(self.delayed.offer("order-43", delay=span).due)

    def offer_with_an_id(self, span: timedelta) -> float:
        return in_ms(self.delayed.offer("order-43", delay=span, id=f"{span}").due)

    def offer_all(self, span: timedelta, context: dict[str, str] | None = None) -> float:
        self.delayed.clear()
        # A float and a timedelta of equal length are due at one time.
        self.delayed.offer_all([("a", span), ("b", span / timedelta(seconds=1))], context=context)
        return self._only_score()

    def offer_all_with_a_context(self, span: timedelta) -> float:
        return self.offer_all(span, {"trace": "1"})

    def deduplicate(self, span: timedelta) -> float:
        self.delayed.clear()
        self.admin.delete(KEYS.records)
        self.delayed.offer("order-43", delay=3600, deduplicate_for=span)
        records = self.admin.hgetall(KEYS.records)
        (record,) = [record for key, record in records.items() if key.startswith(b"e")]
        return float(record.split(b" ")[3])

    def reschedule(self, span: timedelta) -> float:
        assert self.item.reschedule(delay=span)
        return self._only_score()

    def receive(self, span: timedelta) -> float:
        delivery = self._received(span)
        return self._ended(delivery)

    def extend(self, span: timedelta) -> float:
        delivery = self._received(timedelta(hours=1))
        assert delivery.extend(span)
        return self._ended(delivery)

    def take_due(self, span: timedelta) -> float:
        (delivery,) = self.delayed.take_due(of_server(self.admin, 3_600_000), visibility_timeout=span)
        ends = in_ms(delivery.deadline)
        assert delivery.nack(count=False)
        return ends

    def nack(self, span: timedelta) -> float:
        self.delayed.clear()
        assert self._received(timedelta(hours=1)).nack(delay=span)
        return self._only_score()

    def _only_score(self) -> float:
        (score,) = {score for _, score in self.admin.zrange(KEYS.timeout, 0, -1, withscores=True)}
        return float(score)

    def _received(self, span: timedelta) -> Any:
        self.queue.add("order-44")
        return self.queue.receive(visibility_timeout=span)

    def _ended(self, delivery: Any) -> float:
        deadline = in_ms(delivery.deadline)
        assert delivery.ack()
        return deadline


def in_ms(moment: datetime) -> float:
    return moment.timestamp() * 1000


SPANS = [name for name, call in vars(Spans).items() if inspect.isfunction(call) and not name.startswith("_")]


@pytest.mark.parametrize("call", SPANS)
def test_only_the_sum_of_clock_and_span_is_rounded(admin: Any, url: str, call: str) -> None:
    def server_us() -> int:
        seconds, micros = admin.time()
        return int(seconds) * 1_000_000 + int(micros)

    def up_to_ms(us: int) -> int:
        return -(-us // 1000)

    with redisson_dq.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        item = delayed.offer("order-42", delay=60, id="order-42")
        spans = Spans(admin, delayed, client.blocking_queue("orders", transfer=False), item)
        for number in range(50):
            span_us = 60_000_000 + 137 * number
            before = server_us()
            ends = getattr(spans, call)(timedelta(microseconds=span_us))
            after = server_us()
            assert up_to_ms(before + span_us) <= round(ends) <= up_to_ms(after + span_us)


@pytest.mark.parametrize("server", ["redis", by_night("valkey")], indirect=True)
def test_a_delay_runs_while_the_client_connects(flavour: Flavour, admin: Any, server: Any) -> None:
    with Gate(lambda: server.port or 0) as gate, flavour.connect(gate.url, codec=StringCodec()) as client:
        queue = client.delayed_queue("orders", transfer=False)
        queue.offer("first", delay=600)
        gate.cut()
        gate.settle()
        held = gate.trap("CLIENT", "command", "delay", seconds=1)
        seconds, us = admin.time()
        item = queue.offer("second", delay=600)
        assert held.sprung.is_set()
        called_us = seconds * 1_000_000 + us
        assert called_us <= item.due.timestamp() * 1_000_000 - 600_000_000 < called_us + 1_000_000
