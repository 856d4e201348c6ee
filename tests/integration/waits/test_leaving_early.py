"""Transfers are sent so that their scripts run at the due time. One that is early moves nothing, and is counted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import attrs
import pytest

import redisson_dq
from redisson_dq._redis.tuning import tuned
from redisson_dq.codecs import StringCodec
from tests.conftest import PATIENCE, eventually, moving
from tests.flavours import Flavour
from tests.integration.conftest import KEYS

HOUR = 3600.0


@pytest.fixture(params=[True, False], ids=["busy", "sleeping"])
def client(request: pytest.FixtureRequest, flavour: Flavour, url: str) -> Iterator[Any]:
    with flavour.connect(url, codec=StringCodec(), probe_interval=HOUR, busy_wait=request.param) as made:
        yield made


def server_ms(admin: Any) -> float:
    seconds, microseconds = admin.time()
    return float(seconds * 1000 + microseconds / 1000)


def test_each_item_comes_after_its_time_and_transfers_are_counted(client: Any, queue: Any, producer: Any) -> None:
    eventually(lambda: client.transfers.sent > 0)
    begun = client.transfers.sent
    producer.offer_all([(f"{number}", 0.3 + number * 0.007) for number in range(60)])
    assert queue.poll(timeout=30) == "0"
    assert [queue.take() for _ in range(59)] == [f"{number}" for number in range(1, 60)]
    # Each takes one, and one more for each that ran too early. An announcement may have led to another.
    eventually(lambda: client.transfers.sent > begun)
    counts = client.transfers
    assert counts.sent - begun <= 60 + counts.early + 1
    assert 0 <= counts.early <= 60


@pytest.mark.parametrize("early_us", [400_000, 60_000_000])
def test_an_early_transfer_costs_one_more_and_delivers_nothing(
    client: Any, queue: Any, producer: Any, admin: Any, early_us: int
) -> None:
    """As if a clock were set back, or the fastest way had become slower."""
    eventually(lambda: client.transfers.sent > 0)
    clock = getattr(client, "inner", client).runtime.transfer_driver.server_clock
    clock.ahead_us += early_us
    before = client.transfers
    due_ms = round(server_ms(admin)) + 800
    producer.offer("a", at=datetime.fromtimestamp(due_ms / 1000, timezone.utc))
    assert queue.take() == "a"
    assert server_ms(admin) >= due_ms
    eventually(lambda: client.transfers.sent >= before.sent + 2)
    assert client.transfers == attrs.evolve(before, sent=before.sent + 2, early=before.early + 1)
    assert clock.ahead_us is not None
    assert admin.zcard(KEYS.timeout) == 0


def test_who_takes_does_not_wait_for_the_driver(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver has its answer at the same time. With threads it leaves the interpreter to the others first."""
    stands_back = threading.Event()
    goes_on = threading.Event()

    def stand_back() -> None:
        stands_back.set()
        assert goes_on.wait(PATIENCE)

    monkeypatch.setattr("redisson_dq._sync.moving.task.stand_back", stand_back)
    with tuned(probe_interval=HOUR), redisson_dq.connect(url, codec=StringCodec()) as client:
        queue = moving(client.blocking_queue("orders"))
        delayed = moving(client.delayed_queue(queue))
        # No alarm has led to this transfer, so nothing is held up.
        driver = client.runtime.transfer_driver
        assert driver is not None
        clock = driver.server_clock
        eventually(lambda: client.transfers.sent > 0 and clock.ahead_us is not None)
        assert not stands_back.is_set()
        # A transfer that runs too early would stand back as well, and nobody would send it again. None of these does.
        monkeypatch.setattr(clock, "learn", lambda *times: None)
        assert clock.ahead_us is not None
        clock.ahead_us -= 20_000
        # On a busy machine an item may fall due before the driver has heard of it, and no alarm leads to that transfer.
        for delay in (0.05, 0.5, 5):
            delayed.offer("a", delay=delay)
            assert queue.take() == "a"
            if stands_back.wait(1):
                break
        assert stands_back.is_set()
        sent = client.transfers.sent
        delayed.offer("b", delay=0.05)
        assert client.transfers.sent == sent
        goes_on.set()
        assert queue.take() == "b"


def test_what_was_told_of_the_counts_does_not_change(client: Any) -> None:
    told = client.transfers
    client.blocking_queue("orders").start_moving()
    eventually(lambda: client.transfers.sent > 0)
    assert told == redisson_dq.items.TransferCounts(sent=0, early=0)
    told.sent = 99
    assert client.transfers.sent < 99


def test_a_closed_client_still_tells_its_counts(client: Any, queue: Any) -> None:
    eventually(lambda: client.transfers.sent > 0)
    client.close()
    assert client.transfers.sent > 0
