"""Runs inside the environment of a peer: a plain script, not checked by mypy. See serving.py."""

import asyncio
from datetime import datetime, timezone
from functools import cache, partial

from serving import URL, gathered, handled_asyncio, ping_asyncio, serve, versions
from taskiq import TaskiqScheduler
from taskiq_redis import ListRedisScheduleSource, RedisStreamBroker

broker = RedisStreamBroker(url=URL)
source = ListRedisScheduleSource(URL)
scheduler = TaskiqScheduler(broker, sources=[source])


@broker.task(task_name="handle")
async def handle(number: int, due_ms: int | None) -> None:
    await handled_asyncio(number, due_ms)


@cache
def started():
    # Called once, inside a running loop. It creates the stream that workers read.
    return asyncio.ensure_future(broker.startup())


async def put(number, due_ms):
    await started()
    if due_ms is None:
        await handle.kiq(number, due_ms)
    else:
        due = datetime.fromtimestamp(due_ms / 1000, timezone.utc)
        await handle.kicker().schedule_by_time(source, due, number, due_ms)


async def enqueue(jobs):
    for number, due_ms in jobs:
        await put(number, due_ms)


async def enqueue_all(jobs):
    await gathered(partial(put, *job) for job in jobs)


def produce():
    serve(versions("taskiq", "taskiq-redis", "redis"), enqueue, enqueue_all, ping=ping_asyncio)
