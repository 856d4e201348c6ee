"""A server judged by its INFO: from which version on it will do, and which settings may lose items."""

from __future__ import annotations

import pytest

from redisson_dq.observing.server_advice import advice_of_clock, advice_of_info, advice_of_rights, version_of

WELL = {"redis_version": "7.2.4", "maxmemory_policy": "noeviction", "aof_enabled": "1"}


@pytest.mark.parametrize(
    ("changed", "checks"),
    [
        ({}, []),
        ({"redis_version": "6.2.0"}, []),
        ({"redis_version": "6.0.16"}, ["version"]),
        ({"redis_version": "5.0.7"}, ["version"]),
        ({"redis_version": "8.0-rc1"}, []),
        ({"redis_version": "10.0.0"}, []),
        ({"redis_version": ""}, []),
        ({"maxmemory_policy": "volatile-lru"}, ["eviction"]),
        ({"aof_enabled": "0"}, ["append-only file"]),
        ({"redis_version": "6.0.16", "maxmemory_policy": "allkeys-lfu", "aof_enabled": "0"}, None),
    ],
)
def test_info(changed: dict[str, str], checks: list[str] | None) -> None:
    found = list(advice_of_info("h:1", {**WELL, **changed}))
    assert [each.check for each in found] == (["version", "eviction", "append-only file"] if checks is None else checks)
    assert [each.needs_a_hand for each in found] == [each.check != "append-only file" for each in found]
    assert all(each.server == "h:1" and each.advice for each in found)


def test_a_server_that_tells_nothing() -> None:
    assert list(advice_of_info("h:1", {})) == []
    assert version_of({}) == ()


@pytest.mark.parametrize(
    ("ahead_us", "text"),
    [
        (0, None),
        (1_000_000, None),
        (-1_000_000, None),
        (1_500_000, "1.5 s ahead of"),
        (-3_700_000_000, "3700.0 s behind"),
    ],
)
def test_the_clock(ahead_us: int, text: str | None) -> None:
    found = [each.found for each in advice_of_clock("h:1", ahead_us)]
    assert found == ([] if text is None else [f"its clock is {text} that of this machine"])


def test_rights() -> None:
    assert list(advice_of_rights("h:1", "orders", [])) == []
    (found,) = advice_of_rights("h:1", "orders", ["LREM", "SUBSCRIBE channel"])
    assert found.found == "queue 'orders': the user may not run LREM, SUBSCRIBE channel"
    assert found.needs_a_hand
