"""Delayed queues on Redis that Python and Java services share: Redisson's RDelayedQueue wire, spoken by Python.

    with redisson_dq.connect("redis://localhost:6379/0") as client:
        queue = client.blocking_queue("orders")
        client.delayed_queue(queue).offer("order-42", delay=2.5)
        value = queue.take()

The same with ``await`` is in :mod:`redisson_dq.aio`, which is imported when it is first asked for, as the codecs are.
"""

from typing import TYPE_CHECKING

from redisson_dq import errors
from redisson_dq._sync.client import Client, connect
from redisson_dq._sync.leases.delivery import Delivery, DeliveryRequests
from redisson_dq._sync.pipeline import Pipeline, Reply
from redisson_dq._sync.queues.blocking import BlockingQueue
from redisson_dq._sync.queues.bounded import BoundedBlockingQueue
from redisson_dq._sync.queues.delayed import DelayedQueue
from redisson_dq._sync.queues.delayed_item import DelayedItem
from redisson_dq._sync.queues.deque import BlockingDeque
from redisson_dq._sync.queues.partitioned_blocking import PartitionedBlockingQueue
from redisson_dq._sync.queues.partitioned_delayed import PartitionedDelayedQueue
from redisson_dq.durability import Confirmed, Durability
from redisson_dq.items import (
    ExpiredItem,
    OfferOutcome,
    Outcome,
    Overdue,
    RecurringOffer,
    Redriven,
    SettleOutcome,
    TransferCounts,
)
from redisson_dq.requests.leases import DeadLetter, InFlight
from redisson_dq.wire.partitions import partition_names

if TYPE_CHECKING:
    from redisson_dq import aio, codecs
else:
    from redisson_dq._lazy import lazily

    __getattr__, __dir__ = lazily(__name__, {"aio": (), "codecs": (), "java": ()})

__version__ = "0.1.0"

__all__ = [
    "BlockingDeque",
    "BlockingQueue",
    "BoundedBlockingQueue",
    "Client",
    "Confirmed",
    "DeadLetter",
    "DelayedItem",
    "DelayedQueue",
    "Delivery",
    "DeliveryRequests",
    "Durability",
    "ExpiredItem",
    "InFlight",
    "OfferOutcome",
    "Outcome",
    "Overdue",
    "PartitionedBlockingQueue",
    "PartitionedDelayedQueue",
    "Pipeline",
    "RecurringOffer",
    "Redriven",
    "Reply",
    "SettleOutcome",
    "TransferCounts",
    "aio",
    "codecs",
    "connect",
    "errors",
    "partition_names",
]
