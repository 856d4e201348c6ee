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
from redisson_dq.errors import ArgumentError, DecodeError
from redisson_dq.items import Redriven
from redisson_dq.wire.keys import QueueKeys
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


def test_dead_letters_of_all_partitions(admin: Any, client: Any) -> None:
    queue = client.blocking_queue("orders", partitions=4)
    homes = {}
    for number in range(12):
        homes[f"v{number}"] = queue.partition_for(str(number)).name
        queue.add(f"v{number}", key=str(number))
    held = queue.receive(100, timeout=0)
    first = queue.in_flight(0, 4)
    assert [each.deadline for each in first] == sorted(each.deadline for each in first)
    assert queue.extend_all(held[:2], 600) == [SettleOutcome.EXTENDED] * 2
    assert {each.id for each in queue.in_flight(10, 11)} == {each.id for each in held[:2]}
    for each in held:
        assert queue.reject_all([each], "why") == [SettleOutcome.DEAD_LETTERED]
    letters = queue.dead_letters()
    assert sorted(each.value for each in letters) == sorted(homes)
    assert [each.died for each in letters] == sorted(each.died for each in letters)
    assert [each.value for each in queue.dead_letters(3, 5)] == [each.value for each in letters[3:6]]

    done = queue.redrive([letters[5], letters[7].id, "00ff", letters[2]], limit=3)
    assert (done.count, done.left) == (2, 10)
    assert queue.redrive(limit=4).count == 4
    parts = [queue.partition_for(str(number)) for number in range(12)]
    again = {each.value: part.name for part in parts for each in part.receive(100, timeout=0)}
    # Each is in its own partition, where its key is in order.
    assert again == {letters[place].value: homes[letters[place].value] for place in (0, 1, 2, 3, 5, 7)}
    assert queue.purge_dead([letters[11]]) == queue.purge_dead(limit=1) == 1
    assert queue.redrive() == Redriven(count=4, left=0, clients=1)
    assert queue.purge_dead() == 0


def test_one_list_for_the_dead_letters_of_all_partitions(admin: Any, client: Any) -> None:
    queue = client.blocking_queue("orders", partitions=3, dead_letter="orders-dead")
    for number in range(9):
        queue.add(f"v{number}", key=str(number))
    queue.reject_all(queue.receive(100, timeout=0))
    assert Counter(each.value for each in queue.dead_letters()) == Counter(f"v{number}" for number in range(9))
    # Another program's letter, and one of another queue, have no home among the partitions.
    other = client.blocking_queue("other", dead_letter="orders-dead")
    other.add("x")
    other.receive().reject()
    admin.lpush("orders-dead", StringCodec().encode("y"))
    channels = [QueueKeys.of(each.name).channel for each in (*queue.partitions, other)]
    eventually(lambda: all(count == 1 for _, count in admin.pubsub_numsub(*channels)))
    letters = queue.dead_letters()
    assert queue.redrive([letters[3], letters[1].id, "00ff", letters[-1]]).count == 2
    assert queue.redrive(limit=3) == Redriven(count=3, left=6, clients=1)
    assert queue.redrive() == Redriven(count=4, left=2, clients=1)
    parts = [queue.partition_for(str(number)) for number in range(9)]
    again = {each.value: part.name for part in parts for each in part.receive(100, timeout=0)}
    assert again == {f"v{number}": part.name for number, part in enumerate(parts)}
    assert queue.redrive(to="other") == Redriven(count=2, left=0, clients=1)
    assert sorted(other.read_all()) == ["x", "y"]


def test_dead_letters_of_another_queue_go_to_one_partition(client: Any) -> None:
    parts = client.blocking_queue("parts", partitions=2)
    other = client.blocking_queue("other")
    other.add("a")
    other.receive().reject()
    for queue in (other, parts):
        with pytest.raises(ArgumentError, match=f"'{queue.name}': 'parts' is in partitions"):
            queue.redrive(to=parts)
    assert [each.value for each in other.dead_letters()] == ["a"]
    target = parts.partition_for("k")
    assert other.redrive(to=target).count == 1
    assert target.read_all() == ["a"]


def test_a_lost_lease_of_a_partition_is_told_of(admin: Any, client: Any) -> None:
    told: list[str] = []
    queue = client.blocking_queue("orders", partitions=3)
    queue.add("a", key="a")
    delivery = queue.receive(visibility_timeout=0.5, renew=True, on_lost=lambda lost: told.append(lost.id))
    admin.delete(QueueKeys.of(queue.partition_for("a").name).leases)
    eventually(lambda: told == [delivery.id])
