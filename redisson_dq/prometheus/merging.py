"""The pages of several processes as one. Counters are summed and never fall, even when a process has died."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.metrics_core import Metric

__all__ = ["MetricsPage", "Together", "page_of"]

#: Families as JSON has them: name, type, text, and samples of name, labels and value.
MetricsPage = list[list[Any]]

# prometheus_client reports these for each process. Their sums would be meaningless.
_OF_A_PROCESS = ("process_", "python_")
# Their samples add up over time, so those of a process that has ended still count.
_LASTING = ("counter", "histogram", "summary")
# Ages: the largest of all processes counts.
_LARGEST = ("redisson_dq_handling_oldest_seconds", "redisson_dq_stalled_seconds")


def page_of(registry: CollectorRegistry = REGISTRY) -> MetricsPage:
    """All families of a registry but those about the process itself."""
    return [
        [
            family.name,
            family.type,
            family.documentation,
            # When a counter began is of no use in a sum.
            [[each.name, each.labels, each.value] for each in family.samples if not each.name.endswith("_created")],
        ]
        for family in registry.collect()
        if not family.name.startswith(_OF_A_PROCESS)
    ]


class Together:
    """The sum of the last pages of several processes. One thread updates it, another one reads it."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._pages: dict[Hashable, MetricsPage] = {}
        self._ended = _Sum()

    def told(self, process: Hashable, page: MetricsPage) -> None:
        """Sets the current page of a process."""
        with self._mutex:
            self._pages[process] = page

    def ended(self, process: Hashable) -> None:
        """Records that the process is dead. Its counts stay, and its gauges are dropped."""
        with self._mutex:
            self._ended.add(self._pages.pop(process, []), lasting_alone=True)

    def families(self, silent: Iterable[Hashable] = ()) -> Iterator[Metric]:
        """All families. The gauges of ``silent`` processes are left out, as they are old."""
        of_all = _Sum()
        without = set(silent)
        with self._mutex:
            of_all.add(self._ended.page(), lasting_alone=True)
            for process, page in self._pages.items():
                of_all.add(page, lasting_alone=process in without)
        for name, type, text, samples in of_all.page():
            family = Metric(name, text, type)
            for sample, labels, value in samples:
                family.add_sample(sample, labels, value)
            yield family


class _Sum:
    def __init__(self) -> None:
        #: {family: (type, help, {(sample, labels): (labels, value)})}
        self._families: dict[str, tuple[str, str, dict[Hashable, list[Any]]]] = {}

    def add(self, page: MetricsPage, *, lasting_alone: bool) -> None:
        for name, type, text, samples in page:
            if lasting_alone and type not in _LASTING:
                continue
            _, _, found = self._families.setdefault(name, (type, text, {}))
            for sample, labels, value in samples:
                key = sample, tuple(sorted(labels.items()))
                if key in found:
                    found[key][2] = max(found[key][2], value) if name in _LARGEST else found[key][2] + value
                else:
                    found[key] = [sample, labels, value]

    def page(self) -> MetricsPage:
        return [[name, type, text, list(samples.values())] for name, (type, text, samples) in self._families.items()]
