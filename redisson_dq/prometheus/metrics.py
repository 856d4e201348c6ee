"""The table of all metrics: name, type, labels and meaning. The table in docs/metrics.md is generated from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

__all__ = ["ALL", "OF_COMMAND", "OF_PROCESS", "OF_QUEUES", "Metric", "as_table"]

_Type = Literal["counter", "gauge", "histogram", "summary"]


@attrs.frozen
class Metric:
    """One metric. A counter's samples end in ``_total``; its ``name`` does not."""

    name: str
    type: _Type
    labels: tuple[str, ...]
    meaning: str

    @property
    def shown(self) -> str:
        """The name as used in queries."""
        return f"{self.name}_total" if self.type == "counter" else self.name


_QUEUE = ("queue",)

#: The metrics of :class:`Collector`: the state of queues, whichever process handles them.
OF_QUEUES: dict[str, Metric] = {}
#: The metrics of :func:`instrument`: the work of this process.
OF_PROCESS: dict[str, Metric] = {}
#: The metrics that ``redisson-dq worker --metrics-port`` adds.
OF_COMMAND: dict[str, Metric] = {}


def _add(table: dict[str, Metric], key: str, type: _Type, labels: tuple[str, ...], meaning: str) -> None:
    table[key] = Metric(f"redisson_dq_{key}", type, labels, meaning)


_add(
    OF_QUEUES,
    "up",
    "gauge",
    (),
    "1 when Redis has answered all of this scrape in time, else 0, with the figures that came",
)
_add(
    OF_QUEUES,
    "items",
    "gauge",
    ("queue", "state"),
    "items by state: ready, waiting (those parked and overdue among them), parked, overdue, in_flight, dead, "
    "undecodable, quarantined, recurring (offers)",
)
_add(
    OF_QUEUES,
    "overdue_oldest_seconds",
    "gauge",
    _QUEUE,
    "for how long the first overdue item has been due, on Redis's clock; 0 when none is overdue",
)
_add(
    OF_QUEUES,
    "last_receipt_seconds",
    "gauge",
    _QUEUE,
    "for how long no value has been received, while values are ready and others are in flight; else 0",
)
_add(OF_QUEUES, "expired", "counter", _QUEUE, "items that were too late to be delivered, since the queue was made")
_add(
    OF_QUEUES,
    "missed_occurrences",
    "counter",
    _QUEUE,
    "missed occurrences of recurring offers, since the queue was made",
)
_add(OF_QUEUES, "paused", "gauge", _QUEUE, "1 while delivery is paused")
_add(
    OF_QUEUES,
    "subscribers",
    "gauge",
    _QUEUE,
    "clients that have the queue open and would move it, Redisson's among them; missing where Redis does not report it",
)
_add(
    OF_QUEUES,
    "mover_known",
    "gauge",
    _QUEUE,
    "1 when several clients have the queue open and one of them moves it; 0 also for one client alone",
)
_add(
    OF_QUEUES,
    "demand_items",
    "gauge",
    _QUEUE,
    "with `--due-within`: items ready, in flight, overdue or due soon",
)
_add(
    OF_QUEUES,
    "demand_slots",
    "gauge",
    _QUEUE,
    "handlings at a time that they need; missing while unknown",
)
_add(OF_QUEUES, "queues_left_out", "gauge", (), "queues that match the patterns, and are beyond the limit of a page")

_add(OF_PROCESS, "offers", "counter", _QUEUE, "items that this process has offered or added")
_add(OF_PROCESS, "deliveries", "counter", _QUEUE, "values that this process has received or taken")
_add(OF_PROCESS, "redeliveries", "counter", _QUEUE, "values received that had been delivered before")
_add(
    OF_PROCESS,
    "settlements",
    "counter",
    ("queue", "outcome"),
    "leases that ended here: acked, returned, delayed, dead, cancelled, lost",
)
_add(
    OF_PROCESS,
    "lateness_seconds",
    "histogram",
    _QUEUE,
    "from the due time to the receipt; known of items with an id or a context",
)
_add(OF_PROCESS, "handling_seconds", "histogram", _QUEUE, "how long handlers took")
_add(
    OF_PROCESS,
    "handling_oldest_seconds",
    "gauge",
    _QUEUE,
    "for how long the oldest handling has gone on; 0 without one. Of several processes the longest",
)
_add(
    OF_PROCESS,
    "stalled_seconds",
    "gauge",
    _QUEUE,
    "for how long a handler of this queue has settled nothing, with all its slots taken, values waiting and its usual "
    "time over; 0 where handlers get on. Of several processes the longest",
)
_add(
    OF_PROCESS,
    "handled",
    "counter",
    ("queue", "handler", "outcome"),
    "calls of a handler that succeeded or failed; of a queue three handlers have names, the rest is other",
)
_add(OF_PROCESS, "handler_seconds", "counter", ("queue", "handler"), "the time that a handler took in all its calls")
_add(OF_PROCESS, "moved", "counter", _QUEUE, "due items that this process has moved to the ready list")
_add(OF_PROCESS, "transfer_seconds", "summary", _QUEUE, "transfers that Redis has answered, and how long they took")
_add(
    OF_PROCESS,
    "transfer_lateness_seconds",
    "histogram",
    _QUEUE,
    "from the due time to the transfer, on Redis's clock; of the first item of a transfer",
)
_add(OF_PROCESS, "early_arrivals", "counter", _QUEUE, "transfers that ran before their due time, and moved nothing")
_add(OF_PROCESS, "resubscriptions", "counter", _QUEUE, "subscriptions to the queue's channel after the first one")
_add(OF_PROCESS, "mover", "gauge", _QUEUE, "1 while this process moves the queue, 0 while it is in reserve")
_add(OF_PROCESS, "undecodable", "counter", _QUEUE, "values received here that the codec cannot read")
_add(OF_PROCESS, "expired_here", "counter", _QUEUE, "items that this process has found too late to be delivered")

_add(
    OF_COMMAND,
    "worker_processes",
    "gauge",
    ("state",),
    "processes of the command: wanted, running, consuming (they receive values)",
)

#: All metrics, by name without the prefix.
ALL = {**OF_QUEUES, **OF_PROCESS, **OF_COMMAND}

_TITLES = (
    ("How queues are: `Collector`, `redisson-dq exporter`", OF_QUEUES),
    ("What a process does: `instrument`, `redisson-dq worker --metrics-port`", OF_PROCESS),
    ("The processes of `redisson-dq worker --metrics-port`", OF_COMMAND),
)


def as_table() -> str:
    """The table of docs/metrics.md."""
    parts = []
    for title, table in _TITLES:
        rows = [_row(metric) for metric in table.values()]
        parts.append(
            "\n".join([f"**{title}**", "", "| metric | type | labels | meaning |", "|---|---|---|---|", *rows])
        )
    return "\n\n".join(parts)


def _row(metric: Metric) -> str:
    labels: Sequence[str] = [f"`{label}`" for label in metric.labels]
    return f"| `{metric.shown}` | {metric.type} | {' '.join(labels)} | {metric.meaning} |"
