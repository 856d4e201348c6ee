"""This library's worker as one of the peers, on asyncio: a plain script, not checked by mypy. See serving.py."""

import asyncio

from serving import URL, handled_asyncio, slots

from redisson_dq.aio.worker import Worker
from redisson_dq.codecs import StringCodec

# The one option that is changed: the driver waits for leases to end.
worker = Worker.connect(URL, codec=StringCodec(), visibility_timeout=5)


@worker.handler("benchmark", concurrency=slots(8))
async def handle(value, event):
    await handled_asyncio(*value.split(), event.attempt)


if __name__ == "__main__":
    asyncio.run(worker.run())
