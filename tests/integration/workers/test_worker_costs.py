"""The functions that Python enters for one job of a worker. Their number does not depend on the machine."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from typing import Any

import pytest
import redis
from opentelemetry.sdk.trace import TracerProvider

import redisson_dq
import redisson_dq.aio
import redisson_dq.aio.worker
import redisson_dq.otel
from redisson_dq.codecs import StringCodec
from redisson_dq.worker import Limit, Worker
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.workers.handlers import Ledger, running

# The first jobs load scripts and open connections. They are not counted.
WARM, JOBS = 200, 1000
SLOTS = 8


class Calls:
    """Counts functions as they are entered."""

    def __init__(self, of: tuple[str, ...] = ("",)) -> None:
        """``of``: those alone whose files have one of these in their paths."""
        self.count = 0
        self._of = of

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        self.count += event == "call" and any(part in frame.f_code.co_filename for part in self._of)

    @property
    def of_a_job(self) -> float:
        return self.count / JOBS


def handled_in_threads(admin: redis.Redis, url: str, calls: Calls, *, is_traced: bool = False) -> None:
    done, left = threading.Event(), list(range(WARM + JOBS))
    admin.rpush("orders", *left)
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        if is_traced:
            redisson_dq.otel.instrument(client, tracer_provider=TracerProvider())
        worker = Worker(client)

        @worker.handler("orders", concurrency=SLOTS)
        def handle(value: str) -> None:
            if left.pop() == JOBS:
                calls.count = 0
            if not left:
                done.set()

        threading.setprofile(calls)
        try:
            worker.start()
            assert done.wait(PATIENCE)
        finally:
            threading.setprofile(None)
        worker.stop()


def test_a_job_in_a_thread(admin: redis.Redis, url: str) -> None:
    calls = Calls()
    handled_in_threads(admin, url, calls)
    # It was 216 once.
    assert calls.of_a_job < 40


@pytest.mark.parametrize("options", [{"turns": "customer"}, {"limit": Limit(2, by="customer")}], ids=str)
def test_texts_of_scripts_are_sent_once(
    admin: redis.Redis, flavour: Flavour, url: str, options: dict[str, Any]
) -> None:
    count, ledger = 200, Ledger()
    admin.rpush("orders", *[json.dumps({"customer": number % 7, "number": number}) for number in range(count)])
    worker = flavour.worker_of(url, codec=StringCodec())
    worker.handler("orders", concurrency=3, **options)(ledger.handle)
    admin.script_flush()
    admin.config_resetstat()
    with running(worker):
        for number in range(count):
            ledger.next()
            if number == count // 2:
                # Acks and looks go together. Each is sent again by itself.
                admin.script_flush()
        eventually(lambda: not admin.exists(KEYS.leases))
    stats = admin.info("commandstats")
    assert stats["cmdstat_evalsha"]["calls"] > count
    assert stats["cmdstat_eval"]["calls"] < 40


def test_a_job_that_is_traced(admin: redis.Redis, url: str) -> None:
    ours, spans = Calls(("redisson_dq/otel/", "observing/operations")), Calls(("opentelemetry/sdk/trace/id_generator",))
    handled_in_threads(admin, url, ours, is_traced=True)
    handled_in_threads(admin, url, spans, is_traced=True)
    assert ours.of_a_job < 16
    # A trace's id, a span's, and the look whether the id is random: one span for each job, and none for its ack.
    assert spans.of_a_job <= 3


def test_a_job_in_a_task(admin: redis.Redis, url: str) -> None:
    calls, left = Calls(), list(range(WARM + JOBS))
    admin.rpush("orders", *left)

    async def work() -> None:
        done = asyncio.Event()
        async with redisson_dq.aio.connect(url, codec=StringCodec()) as client:
            worker = redisson_dq.aio.worker.Worker(client)

            @worker.handler("orders", concurrency=SLOTS)
            async def handle(value: str) -> None:
                if left.pop() == JOBS:
                    calls.count = 0
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
    # It was 273 once. Some 15 are the event loop's, and coroutines that go on behind an await.
    assert calls.of_a_job < 55
