"""Delayed queues on Redis that Python and Java services share: Redisson's RDelayedQueue wire, spoken by Python.

    with redisson_dq.connect("redis://localhost:6379/0") as client:
        queue = client.blocking_queue("orders")
        client.delayed_queue(queue).offer("order-42", delay=2.5)
        value = queue.take()

The names for ``await`` are in :mod:`redisson_dq.aio`. What calls return is in :mod:`redisson_dq.items`, ``health``,
``stats``, ``inspection`` and ``durability``. Everything is imported when it is first used.
"""

from typing import TYPE_CHECKING

from redisson_dq._common.logs import guard_loggers
from redisson_dq._version import __version__ as __version__

if TYPE_CHECKING:
    from redisson_dq import aio, codecs, errors, observing
    from redisson_dq._sync.client import Client
    from redisson_dq._sync.connect import connect
    from redisson_dq._sync.leases.delivery import Delivery
    from redisson_dq._sync.pipeline import Pipeline, Reply
    from redisson_dq._sync.queues.blocking import BlockingQueue
    from redisson_dq._sync.queues.bounded import BoundedBlockingQueue
    from redisson_dq._sync.queues.delayed import DelayedQueue
    from redisson_dq._sync.queues.delayed_item import DelayedItem
    from redisson_dq._sync.queues.deque import BlockingDeque
    from redisson_dq._sync.queues.partitioned_blocking import PartitionedBlockingQueue
    from redisson_dq._sync.queues.partitioned_delayed import PartitionedDelayedQueue
    from redisson_dq.calls.lease import DeliveryRequests
    from redisson_dq.calls.leases import DeadLetter, InFlight
    from redisson_dq.durability import Durability
    from redisson_dq.items import ItemState, OfferOutcome, Outcome, SettleOutcome
    from redisson_dq.wire.partitions import partition_names
else:
    from redisson_dq._common.lazy import lazily

    # A program that uses only asyncio, or only declares classes, does not import the synchronous part.
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_sync.client": ("Client",),
            "_sync.connect": ("connect",),
            "_sync.leases.delivery": ("Delivery",),
            "_sync.pipeline": ("Pipeline", "Reply"),
            "_sync.queues.blocking": ("BlockingQueue",),
            "_sync.queues.bounded": ("BoundedBlockingQueue",),
            "_sync.queues.delayed": ("DelayedQueue",),
            "_sync.queues.delayed_item": ("DelayedItem",),
            "_sync.queues.deque": ("BlockingDeque",),
            "_sync.queues.partitioned_blocking": ("PartitionedBlockingQueue",),
            "_sync.queues.partitioned_delayed": ("PartitionedDelayedQueue",),
            "aio": (),
            "codecs": (),
            "durability": ("Durability",),
            "errors": (),
            "items": ("ItemState", "OfferOutcome", "Outcome", "SettleOutcome"),
            "java": (),
            "observing": (),
            "calls.lease": ("DeliveryRequests",),
            "calls.leases": ("DeadLetter", "InFlight"),
            "wire.partitions": ("partition_names",),
        },
    )

guard_loggers()

__all__ = [
    "BlockingDeque",
    "BlockingQueue",
    "BoundedBlockingQueue",
    "Client",
    "DeadLetter",
    "DelayedItem",
    "DelayedQueue",
    "Delivery",
    "DeliveryRequests",
    "Durability",
    "InFlight",
    "ItemState",
    "OfferOutcome",
    "Outcome",
    "PartitionedBlockingQueue",
    "PartitionedDelayedQueue",
    "Pipeline",
    "Reply",
    "SettleOutcome",
    "aio",
    "codecs",
    "connect",
    "errors",
    "observing",
    "partition_names",
]
