"""The functions that Python enters for one job of a worker. Their number does not depend on the machine."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import redis

import redisson_dq
import redisson_dq.aio
import redisson_dq.aio.worker
from redisson_dq.codecs import StringCodec
from redisson_dq.worker import Worker
from tests.conftest import PATIENCE

JOBS = 1000
SLOTS = 8


class Calls:
    """Counts functions as they are entered."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        self.count += event == "call"

    @property
    def of_a_job(self) -> float:
        return self.count / JOBS


def test_a_job_in_a_thread(admin: redis.Redis, url: str) -> None:
    calls, done, left = Calls(), threading.Event(), list(range(JOBS))
    admin.rpush("orders", *left)
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        worker = Worker(client)

        @worker.handler("orders", concurrency=SLOTS)
        def handle(value: str) -> None:
            left.pop()
            if not left:
                done.set()

        threading.setprofile(calls)
        try:
            worker.start()
            assert done.wait(PATIENCE)
        finally:
            threading.setprofile(None)
        worker.stop()
    # It was 216 once.
    assert calls.of_a_job < 125


def test_a_job_in_a_task(admin: redis.Redis, url: str) -> None:
    calls, left = Calls(), list(range(JOBS))
    admin.rpush("orders", *left)

    async def work() -> None:
        done = asyncio.Event()
        async with redisson_dq.aio.connect(url, codec=StringCodec()) as client:
            worker = redisson_dq.aio.worker.Worker(client)

            @worker.handler("orders", concurrency=SLOTS)
            async def handle(value: str) -> None:
                left.pop()
                if not left:
                    done.set()

            before = sys.getprofile()
            sys.setprofile(calls)
            try:
                await worker.start()
                await asyncio.wait_for(done.wait(), PATIENCE)
            finally:
                sys.setprofile(before)
            await worker.stop()

    asyncio.run(work())
    # It was 273 once.
    assert calls.of_a_job < 180
