"""Every call of a queue as a request: arguments checked, values encoded, nothing sent.

The asyncio and the threaded handles send these one at a time, a pipeline sends many at once. Requests that a pipeline
has no use for are in ``inner``.
"""

from typing import TYPE_CHECKING

from redisson_dq._lazy import lazily
from redisson_dq.requests.delayed import DelayedRequests
from redisson_dq.requests.ready import BoundedRequests, DequeRequests, QueueRequests
from redisson_dq.requests.waiting_item import WaitingItem

if TYPE_CHECKING:
    from redisson_dq.requests.partitioned import PartitionedDelayedRequests, PartitionedQueueRequests
else:
    __getattr__, __dir__ = lazily(__name__, {"partitioned": ("PartitionedDelayedRequests", "PartitionedQueueRequests")})

__all__ = [
    "BoundedRequests",
    "DelayedRequests",
    "DequeRequests",
    "PartitionedDelayedRequests",
    "PartitionedQueueRequests",
    "QueueRequests",
    "WaitingItem",
]
