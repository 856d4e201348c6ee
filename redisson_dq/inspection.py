"""The result of an inspection: everything that one call reports about a queue. Plain values, no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import attrs

from redisson_dq.stats import QueueStats, at, shown

__all__ = ["QueueInspection"]


@attrs.frozen(kw_only=True)
class QueueInspection(QueueStats):
    """Everything about one queue at one moment. Made by ``client.inspect(name)``; ``print()`` shows it.

    If a key has the wrong type, its figure is 0 or its time is None, and ``wrong_types`` lists the key. For a queue in
    partitions, counts are sums, times are the earliest of all partitions, and ``partitions`` has each partition.
    """

    mirrored: int = 0
    """How many entries are in the list of envelopes. Redisson's ``size()`` returns this number."""
    arrivals: int = 0
    """How many values were handed to a receiver that has not leased them yet."""
    newer: int = 0
    """How many due entries were set aside because only a newer version of this library knows their form."""
    remembered: int = 0
    """How many items with an id, a payload or a time limit are remembered."""
    histories: int = 0
    """How many values have a record for their next delivery, which has earlier attempts, a context or an id."""
    turns: int = 0
    """How many values are queued by key, including those being handled."""
    waiting_for_slots: int = 0
    """How many values wait for a slot of a worker's limit."""
    slots: int = 0
    """How many slots of limits are taken."""
    handled: int = 0
    """How many handled values are remembered so that equal ones are dropped (``unique_for=``)."""

    next_deadline: datetime | None = None
    """When the first lease ends."""
    next_recurring: datetime | None = None
    """When the next occurrence of a recurring offer is due."""
    ready_since: datetime | None = None
    """When the first ready value became ready. Known only for a value that was received before, or that was offered
    with a context or an id. None for any other, and for a value above 1 MB.
    """
    remembered_until: datetime | None = None
    """When the last id of a finished item will be forgotten (``remember=``). None if there is none."""
    expires: datetime | None = None
    """When the first of the keys that hold the queue's values expires, if one was given a time to live."""

    max_size: int | None = None
    """The most values that may wait. None if there is no limit."""
    remaining_capacity: int | None = None
    """How many more values a bounded queue has room for. None for any other queue."""

    entry_kinds: tuple[str, ...] = ()
    """The kinds of the first entry that waits or is held, and of the first and last entries in the list of envelopes:
    ``current``, ``legacy``, ``lean``, ``lease``, ``newer`` or ``unknown``.
    """
    newer_forms: tuple[tuple[str, int], ...] = ()
    """Forms found by the call that only a newer version knows: the role of the key, and the form."""
    memory: int | None = None
    """How many bytes of memory all keys take, as Redis estimates. None where the user may not ask."""
    partitions: tuple[QueueInspection, ...] = ()
    """The partitions, if the queue has any."""

    # -- its text ----------------------------------------------------------------------------------------------------

    _seldom = (
        "arrivals",
        "dead",
        "undecodable",
        "quarantined",
        "newer",
        "expired",
        "missed",
        "remembered",
        "histories",
        "turns",
        "waiting_for_slots",
        "slots",
        "handled",
    )

    def _lines(self) -> Iterable[str]:
        if self.partitions:
            yield f"partitions     {len(self.partitions)}"
        yield from super()._lines()
        if self.entry_kinds:
            yield f"entries        {', '.join(self.entry_kinds)}"
        for role, form in self.newer_forms:
            yield f"newer form     {form} in {role}: upgrade this client"
        if self.memory is not None:
            yield f"memory         {self.memory} bytes in {len(self.keys)} keys"

    def _beside(self) -> dict[str, str]:
        return {
            **super()._beside(),
            "ready": at(" since {}", self.ready_since),
            "in_flight": at(", the first lease ends {}", self.next_deadline),
            "recurring": at(", the next is due {}", self.next_recurring),
        }

    def _limits(self) -> Iterable[str]:
        if self.max_size is not None:
            yield f"max size       {self.max_size}"
        if self.remaining_capacity is not None:
            yield f"room           {self.remaining_capacity}"
        if self.expires is not None:
            yield f"expires        {shown(self.expires)}"
