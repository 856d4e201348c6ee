"""A plan's predictions compared with measurements on a cluster of three masters: memory, network bytes, CPU."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.planning import Load, call_cost, entry_bytes, plan
from tests.cluster import Cluster

_BATCH, _PARTITIONS = 100, 16


@attrs.frozen(kw_only=True)
class Totals:
    """The counters of all masters together."""

    memory: int
    received: int
    sent: int
    cpu_us: float

    @classmethod
    def of(cls, cluster: Cluster) -> Totals:
        found: list[Any] = [admin.info("everything") for admin in cluster.admins]
        cpu = ("used_cpu_user_main_thread", "used_cpu_sys_main_thread")
        return cls(
            memory=sum(each["used_memory"] for each in found),
            received=sum(each["total_net_input_bytes"] for each in found),
            sent=sum(each["total_net_output_bytes"] for each in found),
            cpu_us=1e6 * sum(each[name] for each in found for name in cpu),
        )


@pytest.mark.parametrize("envelope", ["mirrored", "lean"])
@pytest.mark.parametrize(
    "items",
    [10_000, *(pytest.param(items, marks=pytest.mark.nightly) for items in (100_000, 1_000_000, 10_000_000))],
)
def test_offers_cost_what_the_plan_says(cluster: Cluster, items: int, envelope: Any) -> None:
    size = 50
    for admin in cluster.admins:
        admin.connection_pool.connection_kwargs["socket_timeout"] = 300
        admin.flushall()
    load = Load(rate=0, delay=0, size=size, items=items, envelope=envelope, batch=_BATCH, partitions=_PARTITIONS)
    with redisson_dq.Client(redis.RedisCluster.from_url(cluster.url), codec=StringCodec()) as client:
        delayed = client.delayed_queue("plan", partitions=_PARTITIONS, transfer=False, lean=envelope == "lean")
        delayed.offer_all([("x" * size, 7200)] * _BATCH * _PARTITIONS)
        before = Totals.of(cluster)
        for first in range(0, items, 10_000):
            delayed.offer_all(("x" * size, 3600 + (first + number) / 10_000) for number in range(10_000))
        after = Totals.of(cluster)
    memory, received = after.memory - before.memory, after.received - before.received
    cpu_us = (after.cpu_us - before.cpu_us) / items
    each = entry_bytes(size, items // _PARTITIONS, lean=envelope == "lean")
    offer = call_cost("offer", load, _BATCH, items / _PARTITIONS)
    print(
        f"\n{items:>10,} {envelope:8}  memory {memory / items:6.1f} predicted {each:6.1f}"
        f"  received {received / items:6.1f} predicted {offer.received:6.1f}"
        f"  server us {cpu_us:5.2f} predicted {offer.server_us:5.2f}"
    )
    assert memory == pytest.approx(items * each, rel=0.15)
    assert received / items == pytest.approx(offer.received, rel=0.15)
    # Other work on the same cores changes the CPU of a call by a factor.
    assert offer.server_us / 5 < cpu_us < offer.server_us * 5


def test_the_plan_of_that_load_is_one_master() -> None:
    found = plan(Load(rate=0, delay=0, size=50, items=10_000))
    assert (found.masters, found.partitions, found.cpu) == (1, 1, 0.0)
