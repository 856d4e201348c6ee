"""The addition of ``redisson-dq exporter --due-within`` to its pages: the work of the next seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from redisson_dq.admin import Admin
from redisson_dq.errors import RedissonDQError
from redisson_dq.prometheus.demand import Demand, HandlingTimes, demand_families

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from redisson_dq import Client
    from redisson_dq.prometheus import Collector

__all__ = ["DemandPage"]


class DemandPage:
    """The demand of the queues of a collector, as metrics and as JSON."""

    def __init__(self, client: Client, collector: Collector, within: float, drain: float, times: HandlingTimes) -> None:
        self._admin, self._collector = Admin(client), collector
        self._within_ms, self._drain = round(within * 1000), drain
        self._times = times

    def collect(self) -> Iterable[Metric]:
        """The families of the collector, and those of the demand."""
        yield from self._collector.collect()
        yield from demand_families(self._found())

    def document(self) -> Mapping[str, Any]:
        """The demand by queue, as JSON."""
        return {"queues": {name: {"items": each.items, **attrs.asdict(each)} for name, each in self._found().items()}}

    def _found(self) -> Mapping[str, Demand]:
        found = {}
        for name, (stats, parts) in self._collector.figures().items():
            try:
                due = sum(self._admin.queue(part).due_times([self._within_ms]).counts[1] for part in parts)
            except RedissonDQError:
                # The collector says why Redis does not answer.
                continue
            found[name] = Demand.of(stats, due, self._times.of(name), self._drain)
        return found
