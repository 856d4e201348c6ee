"""A queue spread over a cluster: offers a second and a drain, by the number of its partitions.

Four masters are started for it. Two processes offer in bulk at the same time, then one takes the items. On a machine
with fewer cores, the figures show the machine's limit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import attrs
import redis

from tests.benchmarks.measures import SYNC, Run, Spread
from tests.benchmarks.processes import Worker
from tests.benchmarks.tables import Goal, Table
from tests.cluster import Cluster

__all__ = ["Partitioned", "goals", "measure", "tables"]

_QUEUE = "benchmark"
_MASTERS, _PRODUCERS = 4, 2
_LIMIT = 1000  # values of one take
# Seconds from the offers to the first due time: a base, and an addition for each 10,000 items.
_DELAY, _DELAY_EACH = 2.0, 0.3
_TIMEOUT = 60.0
_ZSETS = "redisson_delay_queue_timeout:*"


@attrs.frozen(kw_only=True)
class Partitioned:
    """One repetition with this number of partitions."""

    partitions: int
    repetition: int
    items: int
    #: Seconds from the first producer's start to the last one's end, and from the first due time to the last arrival.
    offering_s: float
    draining_s: float
    #: Masters that had items.
    masters: int
    lost: int
    twice: int


def measure(run: Run) -> list[Partitioned]:
    """Every number of partitions, alternating. 1 is an ordinary queue."""
    found = []
    with ExitStack() as stack:
        cluster = Cluster(stack, _MASTERS)
        producers = [stack.enter_context(Worker()) for _ in range(_PRODUCERS)]
        consumer = stack.enter_context(Worker())
        for repetition in range(run.settings.repeat):
            for number in run.settings.sizes.partitions:
                run.say(f"partitions {repetition + 1}/{run.settings.repeat}: {number}")
                found.append(_one(run, cluster, producers, consumer, number, repetition))
    return found


def _one(
    run: Run, cluster: Cluster, producers: Sequence[Worker], consumer: Worker, partitions: int, repetition: int
) -> Partitioned:
    for admin in cluster.admins:
        admin.flushall()
    items = run.settings.sizes.partitioned
    share = items // len(producers)
    delay = _DELAY + _DELAY_EACH * items / 10_000
    start_us = time.time_ns() // 1000 + 1_000_000
    for number, producer in enumerate(producers):
        producer.send(
            "offer",
            url=cluster.url,
            queue=_QUEUE,
            first=number * share,
            count=share,
            start_us=start_us,
            delay=delay,
            partitions=partitions,
        )
    times = [producer.answer() for producer in producers]
    consumer.send(
        "drain",
        url=cluster.url,
        queue=_QUEUE,
        count=share * len(producers),
        timeout=delay + _TIMEOUT,
        limit=_LIMIT,
        partitions=partitions,
    )
    # Read while the items wait: the offers took less than the delay.
    heads = [head for head in map(_head_ms, cluster.admins) if head is not None]
    batches = consumer.answer(delay + 2 * _TIMEOUT)
    values = [value for batch, _at_us in batches for value in batch]
    if not (heads and values):
        raise RuntimeError(f"nothing was taken from {partitions} partitions")
    return Partitioned(
        partitions=partitions,
        repetition=repetition,
        items=share * len(producers),
        offering_s=(max(end for _start, end in times) - min(start for start, _end in times)) / 1e6,
        draining_s=max(at_us for _batch, at_us in batches) / 1e6 - min(heads) / 1e3,
        masters=len(heads),
        lost=share * len(producers) - len(set(values)),
        twice=len(values) - len(set(values)),
    )


def _head_ms(admin: redis.Redis) -> float | None:
    """The first due time in a master's zsets, whatever the names of the partitions."""
    heads: list[Any] = [admin.zrange(key, 0, 0, withscores=True) for key in admin.scan_iter(_ZSETS, count=1000)]
    return min((head[0][1] for head in heads), default=None)


# -- report ----------------------------------------------------------------------------------------------------------


def tables(found: Sequence[Partitioned]) -> list[Table]:
    """One table, with a row for each number of partitions."""
    cases: dict[int, list[Partitioned]] = {}
    for one in found:
        cases.setdefault(one.partitions, []).append(one)
    return [
        Table(
            chart="partitions",
            title=f"Partitions: a cluster of {_MASTERS} masters, {_PRODUCERS} producers, then one consumer, "
            f"{found[0].items:,} items due within 1 s",
            header=("partitions", "masters with items", "offers a second", "drained in s", "lost, twice"),
            rows=[
                (
                    f"{partitions}",
                    f"{max(one.masters for one in runs)}",
                    Spread.of([one.items / one.offering_s for one in runs]).text(0),
                    Spread.of([one.draining_s for one in runs]).text(2),
                    f"{sum(one.lost for one in runs)}, {sum(one.twice for one in runs)}",
                )
                for partitions, runs in cases.items()
            ],
            note=f"{_MASTERS} servers and {_PRODUCERS + 1} processes share the cores named above: these are the bound.",
        )
    ]


def goals(found: Sequence[Partitioned]) -> list[Goal]:
    """Nothing may get lost between partitions. The speed depends on the machine's cores."""
    wrong = sum(one.lost + one.twice for one in found)
    text = f"{SYNC}: no item of a partitioned queue lost or twice"
    return [Goal(text=text, found=f"{wrong}" if found else "", met=wrong == 0 if found else None)]
