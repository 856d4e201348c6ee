"""Leases values like a worker with limits, using only the scripts: a look, then an admission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from redisson_dq._sync.connecting.connections import Connections
from redisson_dq._sync.leases.delivery import Delivery
from redisson_dq._sync.queues.bounded import BoundedBlockingQueue
from redisson_dq.calls.lease import Lease
from redisson_dq.calls.settling import Settling
from redisson_dq.observing import Observers
from redisson_dq.wire.calls import Admitted, LimitWords
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import DeadKeys, LeaseKeys
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.working.limits import Admission

__all__ = ["Opened", "admit", "opened", "told", "words_of"]


@attrs.frozen
class Opened:
    """A queue, and the way in which a worker leases its values."""

    queue: Any
    connections: Connections
    limit: int = 0
    envelope: Envelope = Envelope.CURRENT

    def __getattr__(self, name: str) -> Any:
        return getattr(self.queue, name)

    def source(self, visible: float = 60, limits: Sequence[LimitWords] = ()) -> LeaseSource:
        bounded = isinstance(self.queue, BoundedBlockingQueue)
        keys = LeaseKeys(queue=self.queue.keys, dead=DeadKeys.belonging_to(self.queue.name), bounded=bounded)
        return LeaseSource(
            keys, self.envelope, round(visible * 1_000_000), self.limit, sees_first=True, limits=lambda: limits
        )


def opened(client: Any, name: str = "orders", **terms: Any) -> Opened:
    return Opened(client.blocking_queue(name, transfer=False), client.runtime.connections, **terms)


def told(
    queue: Opened,
    by: Admission,
    count: int = 1000,
    visible: float = 60,
    home: str = "",
    seen: Sequence[bytes] | None = None,
) -> tuple[Admitted, list[Delivery[str]]]:
    """One look and one admission, like a worker. Queues with the same ``home`` share limits.

    If the ``seen`` values are given, there is no look.
    """
    source, run = queue.source(visible), queue.connections.run
    seen = run(source.peek(1000)) if seen is None else seen
    words, found = words_of(by, home), []
    for data in dict.fromkeys(seen):
        of_value = by.words_of(data.decode(), lambda name: home) if by.is_by_key else words[0]
        if of_value not in words:
            words.append(of_value)
        found.append(by.seen(data.decode(), data, words.index(of_value) + 1))
    admitted = run(source.admit(count, words, found))
    settling = Settling(source, queue.queue.name)
    return admitted, [
        Delivery(queue.connections, Lease(settling, each, Observers()), each.data.decode()) for each in admitted.leased
    ]


def words_of(by: Admission, home: str = "") -> list[LimitWords]:
    """The limits of a look."""
    return by.words_of_keys(lambda name: home)


def admit(queue: Opened, by: Admission, count: int = 1000, visible: float = 60, home: str = "") -> list[Delivery[str]]:
    return told(queue, by, count, visible, home)[1]
