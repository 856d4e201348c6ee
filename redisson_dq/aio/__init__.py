"""The asyncio flavour: the same names as in :mod:`redisson_dq`, with ``await``.

async with redisson_dq.aio.connect("redis://localhost:6379/0") as client:
    queue = client.blocking_queue("orders")
    await client.delayed_queue(queue).offer("order-42", delay=2.5)
    value = await queue.take()
"""

from redisson_dq._async.client import Client
from redisson_dq._async.connect import connect
from redisson_dq._async.leases.delivery import Delivery
from redisson_dq._async.pipeline import Pipeline, Reply
from redisson_dq._async.queues.blocking import BlockingQueue
from redisson_dq._async.queues.bounded import BoundedBlockingQueue
from redisson_dq._async.queues.delayed import DelayedQueue
from redisson_dq._async.queues.delayed_item import DelayedItem
from redisson_dq._async.queues.deque import BlockingDeque
from redisson_dq._async.queues.partitioned_blocking import PartitionedBlockingQueue
from redisson_dq._async.queues.partitioned_delayed import PartitionedDelayedQueue
from redisson_dq.calls.lease import DeliveryRequests

__all__ = [
    "BlockingDeque",
    "BlockingQueue",
    "BoundedBlockingQueue",
    "Client",
    "DelayedItem",
    "DelayedQueue",
    "Delivery",
    "DeliveryRequests",
    "PartitionedBlockingQueue",
    "PartitionedDelayedQueue",
    "Pipeline",
    "Reply",
    "connect",
]
