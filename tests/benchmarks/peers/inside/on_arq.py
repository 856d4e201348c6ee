"""Runs inside the environment of a peer: a plain script, not checked by mypy. See serving.py."""

import asyncio
from datetime import datetime, timezone
from functools import cache, partial

from arq import create_pool
from arq.connections import RedisSettings
from serving import URL, gathered, handled_asyncio, ping_asyncio, serve, slots, versions


async def handle(context, number, due_ms):
    await handled_asyncio(number, due_ms, context["job_try"])


class WorkerSettings:
    functions = (handle,)
    max_jobs = slots(10)
    redis_settings = RedisSettings.from_dsn(URL)


def produce():
    @cache
    def pool():
        # Made once, inside a running loop.
        return asyncio.ensure_future(create_pool(WorkerSettings.redis_settings))

    async def put(number, due_ms):
        due = None if due_ms is None else datetime.fromtimestamp(due_ms / 1000, timezone.utc)
        await (await pool()).enqueue_job("handle", number, due_ms, _defer_until=due)

    async def enqueue(jobs):
        for number, due_ms in jobs:
            await put(number, due_ms)

    async def enqueue_all(jobs):
        await gathered(partial(put, *job) for job in jobs)

    serve(versions("arq", "redis"), enqueue, enqueue_all, ping=ping_asyncio)
