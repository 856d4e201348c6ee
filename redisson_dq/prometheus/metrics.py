"""The table of all metrics: name, type, labels and meaning. The table in docs/metrics.md is generated from it."""

from __future__ import annotations

import re
from typing import Literal, cast

import attrs

__all__ = ["ALL", "OF_COMMAND", "OF_PROCESS", "OF_QUEUES", "Metric"]

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


def _table(text: str) -> dict[str, Metric]:
    """Reads lines of a key, the type and the labels, each followed by lines of the meaning."""
    table: dict[str, Metric] = {}
    for row in re.split(r"\n(?! )", text.strip()):
        head, *meaning = row.split("\n  ")
        key, type, *labels = head.split()
        table[key] = Metric(f"redisson_dq_{key}", cast("_Type", type), tuple(labels), " ".join(meaning))
    return table


#: The metrics of :class:`Collector`: the state of queues, whichever process handles them.
OF_QUEUES = _table(
    """
up gauge
  1 when Redis has answered all of this scrape in time, else 0, with the figures that came
items gauge queue state
  items by state: ready, waiting (those parked and overdue among them), parked, overdue, in_flight, dead,
  undecodable, quarantined, recurring (offers)
overdue_oldest_seconds gauge queue
  for how long the first overdue item has been due, on Redis's clock; 0 when none is overdue
last_receipt_seconds gauge queue
  for how long no value has been received, while values are ready and others are in flight; else 0
expired counter queue
  items that were too late to be delivered, since the queue was made
missed_occurrences counter queue
  missed occurrences of recurring offers, since the queue was made
paused gauge queue
  1 while delivery is paused
subscribers gauge queue
  clients that have the queue open and would move it, Redisson's among them; missing where Redis does not report it
mover_known gauge queue
  1 when several clients have the queue open and one of them moves it; 0 also for one client alone
demand_items gauge queue
  with `--due-within`: items ready, in flight, overdue or due soon
demand_slots gauge queue
  handlings at a time that they need; missing while unknown
queues_left_out gauge
  queues that match the patterns, and are beyond the limit of a page
"""
)
#: The metrics of :func:`instrument`: the work of this process.
OF_PROCESS = _table(
    """
offers counter queue
  items that this process has offered or added
deliveries counter queue
  values that this process has received or taken
redeliveries counter queue
  values received that had been delivered before
settlements counter queue outcome
  leases that ended here: acked, returned, delayed, dead, cancelled, lost
lateness_seconds histogram queue
  from the due time to the receipt; known of items with an id or a context
handling_seconds histogram queue
  how long handlers took
handling_oldest_seconds gauge queue
  for how long the oldest handling has gone on; 0 without one. Of several processes the longest
stalled_seconds gauge queue
  for how long a handler of this queue has settled nothing, with all its slots taken, values waiting and its usual
  time over; 0 where handlers get on. Of several processes the longest
handled counter queue handler outcome
  calls of a handler that succeeded or failed; of a queue three handlers have names, the rest is other
handler_seconds counter queue handler
  the time that a handler took in all its calls
moved counter queue
  due items that this process has moved to the ready list
transfer_seconds summary queue
  transfers that Redis has answered, and how long they took
transfer_lateness_seconds histogram queue
  from the due time to the transfer, on Redis's clock; of the first item of a transfer
early_arrivals counter queue
  transfers that ran before their due time, and moved nothing
resubscriptions counter queue
  subscriptions to the queue's channel after the first one
mover gauge queue
  1 while this process moves the queue, 0 while it is in reserve
undecodable counter queue
  values received here that the codec cannot read
expired_here counter queue
  items that this process has found too late to be delivered
"""
)
#: The metrics that ``redisson-dq worker --metrics-port`` adds.
OF_COMMAND = _table(
    """
worker_processes gauge state
  processes of the command: wanted, running, consuming (they receive values)
"""
)
#: All metrics, by name without the prefix.
ALL = {**OF_QUEUES, **OF_PROCESS, **OF_COMMAND}
