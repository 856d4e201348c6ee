"""What Python offers for the same millisecond leaves in the order of the offers, whoever moves it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import redis

from tests.conftest import PATIENCE
from tests.interop.conftest import Beside
from tests.interop.sides import entries, server_ms
from tests.peer import VERSIONS

COUNT = 500


def _one_by_one(delayed: Any, now: datetime) -> None:
    for number in range(COUNT):
        delayed.offer(number, at=now + timedelta(seconds=2))


def _in_one_batch(delayed: Any, now: datetime) -> None:
    delayed.offer_all((number, 1.0) for number in range(COUNT))


@pytest.mark.parametrize("offer", [_one_by_one, _in_one_batch])
@pytest.mark.parametrize(("version", "envelope"), [(VERSIONS[0], "current"), (VERSIONS[-1], "legacy")])
def test_java_takes_them_in_the_order_of_the_offers(
    look: redis.Redis,
    beside: Beside,
    queue: str,
    offer: Any,
) -> None:
    consumer, delayed = beside.peer, beside.delayed
    offer(delayed, datetime.fromtimestamp(server_ms(look) / 1000, timezone.utc))
    scores = {score for _, score in entries(look, queue)}
    assert len(scores) == 1, "all of them are due in one millisecond"
    consumer.call("open_delayed")
    taken = consumer.taking(COUNT).result(2 * PATIENCE)
    assert [item["value"] for item in taken] == list(range(COUNT))
