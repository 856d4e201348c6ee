"""A worker of asyncio whose program has metrics of its own."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

from redisson_dq.aio.worker import Worker
from redisson_dq.codecs import StringCodec

sold = Counter("shop_sold", "What was sold", ["shop"])
Gauge("shop_open", "1 in each process").set(1)

worker = Worker.connect("redis://localhost:1", codec=StringCodec())


@worker.handler("orders")
async def sell(order: str) -> None:
    sold.labels("a").inc()
