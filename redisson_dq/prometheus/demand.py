"""The work that will soon be due, and the slots that it needs: for scaling workers before a wave."""

from __future__ import annotations

import http.client
import logging
import math
import time
import urllib.request
from collections.abc import Iterable, Mapping, Sequence

import attrs
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from redisson_dq.errors import ArgumentError
from redisson_dq.prometheus.families import family
from redisson_dq.stats import QueueStats

__all__ = ["Demand", "HandlingTimes", "demand_families", "slots_for"]

logger = logging.getLogger("redisson_dq")

# How often the port of a worker is asked, and how long it may take to answer, in seconds.
_EVERY, _TIMEOUT = 10.0, 2.0
# More slots than these are none: a worker has told nonsense.
_MOST_SLOTS = 1e9
# The most of an answer that is read, in bytes, and in pieces of this size.
_LONGEST, _PIECE = 8 << 20, 1 << 16


@attrs.frozen(kw_only=True)
class Demand:
    """The work of one queue. ``due`` is how many items are due soon. ``handling_seconds`` is how long one handling
    takes, and ``slots`` how many handlings at a time finish all items in time. Both are None while unknown, but no
    items need 0 slots.
    """

    ready: int
    in_flight: int
    overdue: int
    due: int
    handling_seconds: float | None
    slots: int | None

    @classmethod
    def of(cls, stats: QueueStats, due: int, handling: float | None, drain: float) -> Demand:
        """``drain`` is the number of seconds in which all items are to be handled."""
        # While delivery is paused, no handling begins for an item that is due.
        overdue, due = (0, 0) if stats.is_paused else (stats.overdue, due)
        items = stats.ready + stats.in_flight + overdue + due
        return cls(
            ready=stats.ready,
            in_flight=stats.in_flight,
            overdue=overdue,
            due=due,
            handling_seconds=handling,
            # Scalers take null for an error, and would not scale down to none.
            slots=0 if not items else None if handling is None else slots_for(items, handling, drain),
        )

    @property
    def items(self) -> int:
        """All of them."""
        return self.ready + self.in_flight + self.overdue + self.due


def slots_for(items: int, handling: float, drain: float) -> int:
    """How many handlings at a time finish ``items``, of ``handling`` seconds each, within ``drain`` seconds."""
    return math.ceil(min(items * handling / drain, _MOST_SLOTS))


def demand_families(found: Mapping[str, Demand]) -> Iterable[Metric]:
    """The families of the metrics."""
    yield family("demand_items", [((name,), each.items) for name, each in found.items()])
    known = [(name, each.slots) for name, each in found.items() if each.slots is not None]
    yield family("demand_slots", [((name,), slots) for name, slots in known])


class HandlingTimes:
    """How long handlers take, from the metrics of workers at these addresses. If an address has several pods, any of
    them represents all.
    """

    def __init__(self, urls: Sequence[str], default: float | None, timeout: float = _TIMEOUT) -> None:
        """``default`` is used for a queue that no worker has reported yet. ``timeout`` is for one answer, in seconds.

        Raises ArgumentError.
        """
        if any("@" in url.partition("://")[2].partition("/")[0] for url in urls):
            raise ArgumentError("the address of a worker's metrics has no user and no password")
        self._urls, self._default, self._timeout = urls, default, timeout
        self._asked = float("-inf")
        #: By queue: the seconds and the handlings so far of all addresses together, and the recent mean.
        self._sums: dict[str, tuple[float, float]] = {}
        self._means: dict[str, float] = {}
        self._has_told = False

    def of(self, queue: str) -> float | None:
        """The mean time of the handlings between the last two answers, or of all earlier ones, in seconds."""
        if self._urls and time.monotonic() - self._asked >= _EVERY:
            self._asked = time.monotonic()
            self._ask()
        return self._means.get(queue, self._default)

    def _ask(self) -> None:
        sums: dict[str, list[float]] = {}
        for url in self._urls:
            try:
                families = list(text_string_to_metric_families(_page_of(url, self._timeout)))
            except (OSError, ValueError, http.client.HTTPException) as error:
                if not self._has_told:
                    logger.warning("metrics: the worker at %s does not tell how long its handlers take: %s", url, error)
                self._has_told = True
                return
            for each in families:
                if each.name == "redisson_dq_handling_seconds":
                    for sample in each.samples:
                        if sample.name.endswith(("_sum", "_count")) and 0 <= sample.value < math.inf:
                            found = sums.setdefault(sample.labels.get("queue", ""), [0.0, 0.0])
                            found[sample.name.endswith("_count")] += sample.value
        self._has_told = False
        for queue, (seconds, count) in sums.items():
            before, handled = self._sums.get(queue, (0.0, 0.0))
            if count < handled or seconds < before:
                # Another pod has answered, or the same one was restarted.
                before = handled = 0.0
            self._sums[queue] = seconds, count
            if count > handled:
                self._means[queue] = (seconds - before) / (count - handled)


def _page_of(url: str, timeout: float) -> str:
    """The metrics at an address. Raises OSError, HTTPException, or ValueError, which is also for a long or slow one."""
    until, page = time.monotonic() + timeout, b""
    with urllib.request.urlopen(url, timeout=timeout) as answer:
        while piece := answer.read1(_PIECE):
            page += piece
            if len(page) > _LONGEST or time.monotonic() > until:
                raise ValueError(f"its answer is longer than {_LONGEST} bytes, or takes longer than {timeout:g} s")
    return page.decode()
