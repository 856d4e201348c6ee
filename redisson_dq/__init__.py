"""Delayed queues on Redis that Python and Java services share: Redisson's RDelayedQueue wire, spoken by Python.

    with redisson_dq.connect("redis://localhost:6379/0") as client:
        queue = client.blocking_queue("orders")
        client.delayed_queue(queue).offer("order-42", delay=2.5)
        value = queue.take()

The same with ``await`` is in :mod:`redisson_dq.aio`.
"""

from . import aio, codecs, errors
from ._sync.bounded import BoundedBlockingQueue
from ._sync.client import Client, connect
from ._sync.delayed import DelayedItem, DelayedQueue
from ._sync.deque import BlockingDeque
from ._sync.partitioned_delayed import PartitionedDelayedQueue
from ._sync.partitioned_ready import PartitionedBlockingQueue
from ._sync.pipeline import Pipeline, Reply
from ._sync.ready import BlockingQueue
from .items import ExpiredItem, OfferOutcome, Outcome, Overdue, RecurringOffer
from .wire.partitions import partition_names

__version__ = "0.1.0"

__all__ = [
    "BlockingDeque",
    "BlockingQueue",
    "BoundedBlockingQueue",
    "Client",
    "DelayedItem",
    "DelayedQueue",
    "ExpiredItem",
    "OfferOutcome",
    "Outcome",
    "Overdue",
    "PartitionedBlockingQueue",
    "PartitionedDelayedQueue",
    "Pipeline",
    "RecurringOffer",
    "Reply",
    "aio",
    "codecs",
    "connect",
    "errors",
    "partition_names",
]
