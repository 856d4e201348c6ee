"""Runs inside the environment of a peer: a plain script, not checked by mypy. See serving.py."""

from datetime import datetime, timezone
from functools import partial

from docket import CurrentExecution, Docket
from serving import URL, gathered, handled_asyncio, ping_asyncio, serve, versions

docket = Docket(name="benchmark", url=URL)
_entered = []


async def handle(number: int, due_ms: int | None, execution=CurrentExecution()) -> None:  # noqa: B008
    await handled_asyncio(number, due_ms, execution.attempt)


tasks = [handle]


async def put(number, due_ms):
    if not _entered:
        _entered.append(await docket.__aenter__())
    when = None if due_ms is None else datetime.fromtimestamp(due_ms / 1000, timezone.utc)
    await docket.add(handle, when=when)(number, due_ms)


async def enqueue(jobs):
    for number, due_ms in jobs:
        await put(number, due_ms)


async def enqueue_all(jobs):
    await put(*jobs[0])
    await gathered(partial(put, *job) for job in jobs[1:])


def produce():
    serve(versions("pydocket", "redis"), enqueue, enqueue_all, ping=ping_asyncio)
