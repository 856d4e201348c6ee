"""The asyncio flavour: the same names as in :mod:`redisson_dq`, with ``await``.

async with redisson_dq.aio.connect("redis://localhost:6379/0") as client:
    queue = client.blocking_queue("orders")
    await client.delayed_queue(queue).offer("order-42", delay=2.5)
    value = await queue.take()
"""

from ._async.bounded import BoundedBlockingQueue
from ._async.client import Client, connect
from ._async.delayed import DelayedItem, DelayedQueue
from ._async.deque import BlockingDeque
from ._async.partitioned_delayed import PartitionedDelayedQueue
from ._async.partitioned_ready import PartitionedBlockingQueue
from ._async.pipeline import Pipeline, Reply
from ._async.ready import BlockingQueue

__all__ = [
    "BlockingDeque",
    "BlockingQueue",
    "BoundedBlockingQueue",
    "Client",
    "DelayedItem",
    "DelayedQueue",
    "PartitionedBlockingQueue",
    "PartitionedDelayedQueue",
    "Pipeline",
    "Reply",
    "connect",
]
