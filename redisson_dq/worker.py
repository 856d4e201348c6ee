"""A worker in threads: handlers by queue, with retries, limits and a graceful stop.

    worker = Worker.connect("redis://localhost:6379/0")

    @worker.handler("orders", concurrency=8, retry=Retry(limit=5, backoff=exponential(1, 60)))
    def handle(order, event):
        print(order, event.attempt)

    worker.run()

The worker for asyncio is in :mod:`redisson_dq.aio.worker`.
"""

from redisson_dq._sync.worker.event import Event, EventLogger, current_event
from redisson_dq._sync.worker.worker import Worker
from redisson_dq.working import happenings as _happenings
from redisson_dq.working.happenings import *
from redisson_dq.working.limits import Limit, Rate
from redisson_dq.working.retries import Backoff, Reject, Retry, delays, exponential, fixed

__all__ = [
    "Backoff",
    "Event",
    "EventLogger",
    "Limit",
    "Rate",
    "Reject",
    "Retry",
    "Worker",
    "current_event",
    "delays",
    "exponential",
    "fixed",
]
__all__ += _happenings.__all__
