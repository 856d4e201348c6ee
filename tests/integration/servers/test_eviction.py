"""A server that evicts keys with a time to live first: no promise of a queue rests on such a key."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import DuplicateItemError
from redisson_dq.items import SettleOutcome
from redisson_dq.observing.server_advice import advice_of_info
from tests.flavours import Flavour
from tests.integration.foreign import OWN, name_of, there

#: Hints, a key that no other client sees, and the history, on which no promise rests.
WITH_AN_END = {"alarm", "mover", "fence", "events"}


def test_only_hints_have_a_time_to_live(admin: Any) -> None:
    there(admin)
    assert [key for key in OWN if key not in WITH_AN_END and admin.pttl(name_of(key)) != -1] == []


def test_leases_and_ids_outlive_an_eviction(own_server: EmbeddedServer, flavour: Flavour) -> None:
    with redis.Redis.from_url(own_server.url) as admin, flavour.connect(own_server.url, codec=StringCodec()) as client:
        delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
        delayed.offer("waits", 3600, id="42")
        queue.offer("held")
        delivery = queue.receive(timeout=10, visibility_timeout=600)
        admin.config_set("maxmemory", admin.info("memory")["used_memory"] + 3_000_000)
        # The key whose end is nearest goes first. Those of the other program end in a month.
        admin.config_set("maxmemory-policy", "volatile-ttl")
        for number in range(100):
            admin.set(f"cache:{number}", "x" * 100_000, ex=30 * 86_400)
        assert admin.info("stats")["evicted_keys"] > 0
        admin.config_set("maxmemory-policy", "noeviction")
        admin.config_set("maxmemory", 0)
        assert delivery.ack() is SettleOutcome.ACKED
        with pytest.raises(DuplicateItemError):
            delayed.offer("waits", 3600, id="42")


@pytest.mark.parametrize(
    ("policy", "dropped"),
    [
        *((policy, "items") for policy in ("allkeys-lru", "allkeys-lfu", "allkeys-random")),
        *((policy, "queues that have a time to live") for policy in ("volatile-lru", "volatile-lfu", "volatile-ttl")),
    ],
)
def test_the_start_warns_of_each_policy_that_evicts(policy: str, dropped: str) -> None:
    (noticed,) = advice_of_info("redis:6379", {"maxmemory_policy": policy})
    assert noticed.check == "eviction"
    assert noticed.needs_a_hand
    assert f"{policy}, so Redis may drop {dropped} when" in noticed.found


def test_a_32_bit_server_is_a_version_that_cannot_be_used() -> None:
    (noticed,) = advice_of_info("redis:6379", {"arch_bits": "32"})
    assert (noticed.check, noticed.needs_a_hand) == ("version", True)
