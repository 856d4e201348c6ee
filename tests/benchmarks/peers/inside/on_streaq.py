"""Runs inside the environment of a peer: a plain script, not checked by mypy. See serving.py."""

from datetime import datetime, timezone

from anyio.from_thread import start_blocking_portal
from serving import URL, handled_asyncio, ping, serve, slots, versions
from streaq import Worker

worker = Worker(redis_url=URL, concurrency=slots(16))


@worker.task
async def handle(number: int, due_ms: int | None) -> None:
    await handled_asyncio(number, due_ms, handle.context.tries)


def put(number, due_ms):
    task = handle.enqueue(number, due_ms)
    return task if due_ms is None else task.start(schedule=datetime.fromtimestamp(due_ms / 1000, timezone.utc))


async def enqueue(jobs):
    for job in jobs:
        await put(*job)


async def enqueue_all(jobs):
    for first in range(0, len(jobs), 1000):
        await worker.enqueue_many([put(*job) for job in jobs[first : first + 1000]])


def produce():
    # Its connections belong to one task of the loop from first to last.
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(worker):
        serve(
            versions("streaq", "coredis"),
            lambda jobs: portal.call(enqueue, jobs),
            lambda jobs: portal.call(enqueue_all, jobs),
            ping=ping,
        )
