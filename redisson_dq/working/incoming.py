"""How the values of a queue come to a worker: its lists, and the handlers that get them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from redisson_dq._redis.options import Options
from redisson_dq.calls.open_queue import BOUNDED, OpenQueue
from redisson_dq.scheduling.times import Delay
from redisson_dq.wire.blocking import RoundRobin, Waitable
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.partitions import partition_names
from redisson_dq.working.handlers import Handler
from redisson_dq.working.settings import QueueSettings

__all__ = ["Reception", "sides_of", "timeout_of"]


def sides_of(name: str, settings: QueueSettings, options: Options) -> list[OpenQueue[Any]]:
    """The queue, or its partitions. The worker counts deliveries by itself, so that on_failed is called before a value
    becomes a dead letter.
    """
    codec = settings.codec_of(options.codec)
    if settings.bounded:
        return [OpenQueue(name, codec, options, BOUNDED, delivery_limit=None, dead_letter=settings.dead_letter)]
    names = [name]
    if settings.partitions is not None:
        names = partition_names(name, settings.partitions, options.name_mapper)
    return [OpenQueue(each, codec, options, delivery_limit=None, dead_letter=settings.dead_letter) for each in names]


def timeout_of(settings: QueueSettings) -> Delay:
    """The visibility timeout of a worker's leases."""
    return settings.visibility_timeout or 30


@attrs.frozen
class Reception:
    """How the values of a queue come in. Another one takes its place when the handlers change, in one step.

    A fetcher that needs several of these fields reads the reception once, so that they belong together.
    """

    handlers: Sequence[Handler] = ()
    #: By the key of the list that it receives from.
    sources: Mapping[str, tuple[OpenQueue[Any], LeaseSource]] = attrs.field(factory=dict)
    #: Where a handler has limits or keys, values are seen first, and leased by ``admit.lua``.
    sees_first: bool = False
    #: Whether keys of values take turns.
    sorts: bool = False

    #: The handler of each value, where nothing has to be asked about it: neither its class nor limits, nor a batch.
    only: Handler | None = attrs.field(init=False)

    @only.default
    def _only(self) -> Handler | None:
        if len(self.handlers) != 1:
            return None
        (handler,) = self.handlers
        asks = handler.kind.alternatives or handler.where or handler.when or handler.admission
        return None if asks or handler.batch is not None else handler

    #: The place to wait for its values: its list, or those of its partitions.
    waitable: Waitable = attrs.field(init=False)

    @waitable.default
    def _waitable(self) -> Waitable:
        sources = [source for _, source in self.sources.values()]
        return sources[0] if len(sources) == 1 else RoundRobin(tuple(sources))

    #: Whether one call may end leases and take the next values.
    acks_along: bool = attrs.field(init=False)

    @acks_along.default
    def _acks_along(self) -> bool:
        return len(self.sources) == 1 and all(
            source.acks_along and side.options.durable is None for side, source in self.sources.values()
        )
