"""Leases over partitions."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import redisson_dq.aio
from redisson_dq import SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import DecodeError
from tests.conftest import PATIENCE, eventually
from tests.faults.awaits import cancelled_at
from tests.flavours import Flavour
from tests.integration.whereabouts import whereabouts


def test_values_of_all_partitions_are_received(client: Any) -> None:
    queue = client.blocking_queue("orders", partitions=4, delivery_limit=2)
    for number in range(40):
        queue.add(f"v{number}", key=str(number))
    first = queue.receive(25, timeout=PATIENCE)
    rest = queue.receive(100, timeout=0)
    assert Counter(each.value for each in [*first, *rest]) == Counter(f"v{number}" for number in range(40))
    assert queue.in_flight_size() == 40
    assert queue.receive(timeout=0) is None
    assert queue.ack_all(rest) == [SettleOutcome.ACKED] * len(rest)
    assert queue.nack_all(first) == [SettleOutcome.RETURNED] * len(first)
    again = queue.receive(100, timeout=0)
    assert {each.attempt for each in again} == {2}
    assert queue.nack_all(again) == [SettleOutcome.DEAD_LETTERED] * len(first)
    assert queue.size() == queue.in_flight_size() == 0


def test_a_receiver_waits_for_any_partition(admin: Any, client: Any, threads: ThreadPoolExecutor) -> None:
    queue = client.blocking_queue("orders", partitions=3)
    for number in range(6):
        waiting = threads.submit(queue.receive)
        eventually(lambda: admin.info("clients")["blocked_clients"] == 3)
        queue.add(f"v{number}", key=str(number))
        delivery = waiting.result(PATIENCE)
        assert delivery.value == f"v{number}"
        assert delivery.ack() if number < 5 else delivery.extend(0.2)
    again = queue.receive(timeout=PATIENCE)
    assert (again.value, again.crashes) == ("v5", 1)
    assert again.ack()


def test_cancelled_at_every_await_it_leaves_what_other_partitions_gave(admin: Any, url: str) -> None:
    names = redisson_dq.partition_names("orders", 3)
    for number, name in enumerate(names):
        admin.rpush(name, f"v{number}")

    def all_ready() -> bool:
        return all(whereabouts(admin, name).ready.total() == 1 for name in names)

    async def run() -> None:
        async with redisson_dq.aio.connect(url, codec=StringCodec()) as client:
            queue = client.blocking_queue("orders", transfer=False, partitions=3)
            for number in itertools.count(1):
                call = cancelled_at(lambda: queue.receive(3, timeout=0, visibility_timeout=600), number)
                try:
                    found = await call()
                except asyncio.CancelledError:
                    await asyncio.to_thread(eventually, all_ready)
                else:
                    break
            assert sorted(each.value for each in found) == ["v0", "v1", "v2"]
            assert {each.attempt for each in found} == {1}
            assert number > 3

    asyncio.run(run())


def test_what_cannot_be_read_leaves_the_others_to_the_error(admin: Any, url: str, flavour: Flavour) -> None:
    names = redisson_dq.partition_names("orders", 3)
    for name, value in zip(names, (b"a", b"\xff", b"b"), strict=True):
        admin.rpush(name, value)
    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False, partitions=3)
        with pytest.raises(DecodeError) as raised:
            queue.receive(3, timeout=0)
        assert sorted(each.value for each in raised.value.decoded) == ["a", "b"]
        assert raised.value.undecodable == [b"\xff"]
        assert queue.ack_all(raised.value.decoded) == [SettleOutcome.ACKED] * 2
