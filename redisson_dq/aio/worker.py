"""A worker for asyncio: handlers by queue, with retries, limits and a graceful stop.

    worker = Worker.connect("redis://localhost:6379/0")

    @worker.handler("orders", concurrency=8, retry=Retry(limit=5, backoff=exponential(1, 60)))
    async def handle(order, event):
        print(order, event.attempt)

    asyncio.run(worker.run())

The worker with threads is in :mod:`redisson_dq.worker`. Handlers that are no coroutines run in threads here too.
"""

from redisson_dq._async.worker.event import Event, EventLogger, current_event
from redisson_dq._async.worker.worker import Worker
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
