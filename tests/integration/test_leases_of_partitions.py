"""Leases over partitions."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from redisson_dq import SettleOutcome
from tests.conftest import PATIENCE, eventually


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
