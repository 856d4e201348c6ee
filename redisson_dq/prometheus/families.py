"""The figures in the form that prometheus_client writes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)

from redisson_dq.prometheus.counting import Histogram, OfOneQueue
from redisson_dq.prometheus.metrics import ALL, OF_PROCESS

__all__ = ["family", "of_process"]

#: The values of a family's labels, and its value for them.
_Row = tuple[Sequence[str], float]


_KINDS: dict[str, type[CounterMetricFamily | GaugeMetricFamily]] = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
}


def family(key: str, rows: Iterable[_Row]) -> Metric:
    """A counter or a gauge of the table with its samples."""
    metric = ALL[key]
    made = _KINDS[metric.type](metric.name, metric.meaning, labels=metric.labels)
    for labels, value in rows:
        made.add_metric(labels, value)
    return made


def of_process(queues: Mapping[str, OfOneQueue]) -> Iterator[Metric]:
    """Every family of a process."""
    for key, metric in OF_PROCESS.items():
        if metric.type == "histogram":
            yield _histogram(key, queues)
        elif metric.type == "summary":
            yield _summary(key, queues)
        elif metric.type == "gauge":
            found = [(name, _GAUGES[key](each)) for name, each in queues.items()]
            yield family(key, [([name], float(value)) for name, value in found if value is not None])
        else:
            yield family(key, _counted(key, queues))


def _counted(key: str, queues: Mapping[str, OfOneQueue]) -> Iterator[_Row]:
    for name, each in queues.items():
        if key == "settlements":
            for outcome, count in each.settled.items():
                yield [name, outcome], count
        elif key == "handled":
            for handler, (succeeded, failed, _) in each.handlers.items():
                yield [name, handler, "succeeded"], succeeded
                yield [name, handler, "failed"], failed
        elif key == "handler_seconds":
            for handler, (_, _, seconds) in each.handlers.items():
                yield [name, handler], seconds
        else:
            yield [name], each.counts[key]


_GAUGES: dict[str, Callable[[OfOneQueue], float | None]] = {
    "mover": lambda each: each.moves,
    "handling_oldest_seconds": lambda each: each.handling_oldest,
    "stalled_seconds": lambda each: each.stalled,
}
_HISTOGRAMS = {
    "lateness_seconds": lambda each: each.lateness,
    "transfer_lateness_seconds": lambda each: each.transfer_lateness,
    "handling_seconds": lambda each: each.handling,
}


def _histogram(key: str, queues: Mapping[str, OfOneQueue]) -> Metric:
    metric = ALL[key]
    family = HistogramMetricFamily(metric.name, metric.meaning, labels=metric.labels)
    for name, each in queues.items():
        found: Histogram = _HISTOGRAMS[key](each)
        buckets, total = [], 0
        for bound, count in zip((*found.bounds, math.inf), found.buckets, strict=True):
            total += count
            buckets.append((_as_text(bound), float(total)))
        if total:
            family.add_metric([name], buckets, found.sum)
    return family


def _summary(key: str, queues: Mapping[str, OfOneQueue]) -> Metric:
    metric = ALL[key]
    family = SummaryMetricFamily(metric.name, metric.meaning, labels=metric.labels)
    for name, each in queues.items():
        family.add_metric([name], each.transfers, each.transfer_seconds)
    return family


def _as_text(bound: float) -> str:
    return "+Inf" if bound == math.inf else str(bound)
