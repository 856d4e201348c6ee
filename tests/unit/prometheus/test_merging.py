"""The pages of several processes as one."""

from __future__ import annotations

import json

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from redisson_dq.prometheus.merging import Together, page_of


class Process:
    """A process with metrics of its own user."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.sold = Counter("sold", "by shop", ["shop"], registry=self.registry)
        self.open = Gauge("open_orders", "now", registry=self.registry)
        self.price = Histogram("price", "of an order", buckets=[10], registry=self.registry)

    def told(self, together: Together) -> None:
        # As it goes from process to process.
        together.told(self, json.loads(json.dumps(page_of(self.registry))))


def shown(together: Together, silent: tuple[Process, ...] = ()) -> dict[str, float]:
    return {
        f"{sample.name}{sample.labels or ''}": sample.value
        for family in together.families(silent)
        for sample in family.samples
    }


def two() -> tuple[Together, Process, Process]:
    together, first, second = Together(), Process(), Process()
    for process, count in ((first, 1), (second, 10)):
        process.sold.labels("a").inc(count)
        process.open.set(count)
        process.price.observe(count * 2)
        process.told(together)
    return together, first, second


def test_counters_gauges_and_histograms_are_summed() -> None:
    together, first, _ = two()
    first.sold.labels("b").inc()
    first.told(together)
    assert shown(together) == {
        "sold_total{'shop': 'a'}": 11,
        "sold_total{'shop': 'b'}": 1,
        "open_orders": 11,
        "price_bucket{'le': '10.0'}": 1,
        "price_bucket{'le': '+Inf'}": 2,
        "price_count": 2,
        "price_sum": 22,
    }


def test_the_counts_of_a_dead_process_stay_and_its_gauges_go() -> None:
    together, first, second = two()
    together.ended(second)
    assert (shown(together)["sold_total{'shop': 'a'}"], shown(together)["open_orders"]) == (11, 1)
    # Asking changes nothing, and others go on.
    first.sold.labels("a").inc(5)
    first.told(together)
    assert shown(together)["sold_total{'shop': 'a'}"] == 16
    together.ended(first)
    together.ended(first)
    assert shown(together) == {
        "sold_total{'shop': 'a'}": 16,
        "price_bucket{'le': '10.0'}": 1,
        "price_bucket{'le': '+Inf'}": 2,
        "price_count": 2,
        "price_sum": 22,
    }


def test_the_gauges_of_a_silent_process_are_old() -> None:
    together, _, second = two()
    assert shown(together, (second,))["open_orders"] == 1
    assert shown(together, (second,))["sold_total{'shop': 'a'}"] == 11
    assert shown(together)["open_orders"] == 11
