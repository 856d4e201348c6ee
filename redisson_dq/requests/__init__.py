"""Every call of a queue as a request: arguments checked, values encoded, nothing sent.

The asyncio and the threaded handles send these one at a time, a pipeline sends many at once.
"""

from .delayed import DelayedRequests, WaitingItem
from .ready import BoundedRequests, DequeRequests, QueueRequests

__all__ = ["BoundedRequests", "DelayedRequests", "DequeRequests", "QueueRequests", "WaitingItem"]
