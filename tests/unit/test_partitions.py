"""The names of partitions and where keys go: golden, spread over any cluster, the same however many there are."""

from __future__ import annotations

from collections import Counter

import pytest
from redis.crc import key_slot

from redisson_dq import partition_names
from redisson_dq.errors import ArgumentError
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.partitions import MOST_PARTITIONS, partition_of

SLOTS = 16384


def slots(names: list[str], prefix: str = "") -> list[int]:
    return [key_slot(f"{prefix}{name}".encode()) for name in names]


def test_the_names_never_change() -> None:
    """What was offered under a name is found under no other."""
    assert partition_names("orders", 8) == [
        "orders:0-332",
        "orders:1-109",
        "orders:2-22",
        "orders:3-135",
        "orders:4-72",
        "orders:5-8",
        "orders:6-306",
        "orders:7-249",
    ]
    assert partition_names("orders", 3, "shop:") == ["orders:0-171", "orders:1-117", "orders:2-52"]
    assert partition_names("Bestellungen für Zoë", 1) == ["Bestellungen für Zoë:0-40"]


def test_more_partitions_rename_none() -> None:
    most = partition_names("orders", MOST_PARTITIONS)
    assert len(set(most)) == MOST_PARTITIONS
    for count in (1, 2, 3, 16, 100):
        assert partition_names("orders", count) == most[:count]


@pytest.mark.parametrize("masters", [1, 2, 3, 4, 5, 6, 8, 12, 16, 30])
@pytest.mark.parametrize("prefix", ["", "shop:"])
def test_masters_with_equal_ranges_get_even_shares(masters: int, prefix: str) -> None:
    for count in (masters, 2 * masters, 16, 64, 256):
        shares = Counter(slot * masters // SLOTS for slot in slots(partition_names("orders", count, prefix), prefix))
        assert sum(shares.values()) == count
        if masters in (1, 2, 4, 8, 16) and count in (masters, 2 * masters, 16, 64) and count >= masters:
            assert set(shares.values()) == {count // masters}
        elif count >= 2 * masters:
            assert len(shares) == masters
            assert max(shares.values()) <= count / masters + 2.5


def test_all_keys_of_a_partition_share_a_slot() -> None:
    for name in partition_names("orders", 16):
        keys = QueueKeys.of(name)
        assert len(set(slots([keys.ready, keys.timeout, keys.envelopes, keys.channel, keys.records]))) == 1


def test_a_mapper_counts() -> None:
    for mapper in ("shop:", lambda name: f"shop:{name}"):
        found = slots([f"shop:{name}" for name in partition_names("orders", 4, mapper)])
        assert [slot // 128 for slot in found] == [0, 64, 32, 96]


@pytest.mark.parametrize("count", [0, -1, 1025, 2.0, "16", True, None])
def test_numbers_that_cannot_be_used(count: int) -> None:
    with pytest.raises(ArgumentError, match="from 1 to 1024"):
        partition_names("orders", count)


@pytest.mark.parametrize("name", ["{shop}orders", "a{b", "a}b"])
def test_a_name_with_braces(name: str) -> None:
    with pytest.raises(ArgumentError, match=r"braces.* take one without, such as '(shoporders|ab)'"):
        partition_names(name, 2)


@pytest.mark.parametrize("name", ["", None, 5, b"orders", "\ud800"])
def test_names_that_cannot_be_used(name: str) -> None:
    with pytest.raises(ArgumentError):
        partition_names(name, 2)


def test_mappers_that_cannot_be_used() -> None:
    with pytest.raises(ArgumentError, match=r"the name mapper turns 'orders:0-0' into '\{shop\}orders:0-0'"):
        partition_names("orders", 2, "{shop}")
    with pytest.raises(ArgumentError, match="the name mapper leaves no name for partition 0"):
        partition_names("orders", 2, lambda name: "same")


def test_where_keys_go() -> None:
    """The numbers are those of java.util.zip.CRC32."""
    assert [partition_of(key, 2**32) for key in ("", "a", "customer-42", "Zoë")] == [
        0,
        3904355907,
        1241360405,
        1739342378,
    ]
    assert partition_of("customer-42", 16) == partition_of("customer-42", 2**32) % 16


@pytest.mark.parametrize("key", [None, 5, b"key", "\ud800"])
def test_keys_that_are_no_text(key: str) -> None:
    with pytest.raises(ArgumentError, match="a key must be a str"):
        partition_of(key, 16)
