"""Runs inside the environment of a peer: a plain script, not checked by mypy. See serving.py."""

from functools import partial

from saq import Queue
from serving import URL, gathered, handled_asyncio, ping_asyncio, serve, slots, versions

queue = Queue.from_url(URL)


async def handle(context, *, number, due_ms):
    await handled_asyncio(number, due_ms, context["job"].attempts)


settings = {"queue": queue, "functions": [handle], "concurrency": slots(10)}


async def put(number, due_ms):
    await queue.enqueue("handle", number=number, due_ms=due_ms, scheduled=0 if due_ms is None else due_ms / 1000)


async def enqueue(jobs):
    for number, due_ms in jobs:
        await put(number, due_ms)


async def enqueue_all(jobs):
    await gathered(partial(put, *job) for job in jobs)


def produce():
    serve(versions("saq", "redis"), enqueue, enqueue_all, ping=ping_asyncio)
