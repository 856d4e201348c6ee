"""Handlers that do not get on while values wait are reported, with their stacks, and those that are slow are not."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from redisson_dq.items import Stall
from redisson_dq.prometheus import instrument
from redisson_dq.worker import Limit, Succeeded
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.workers.handlers import Gate, Log, running

#: Shorter than any handler of these tests hangs.
SOON = 0.3


def stalls(worker: Any) -> list[Stall]:
    return [each for each in worker.problems if isinstance(each, Stall)]


def hangs_here(gate: Gate) -> None:
    gate.wait()


async def waits_here(release: threading.Event) -> None:
    while not release.is_set():
        await asyncio.sleep(0.01)


def handler_of(kind: str, gate: Gate, release: threading.Event) -> Any:
    if kind == "coroutine":

        async def handle(value: Any) -> None:
            await waits_here(release)

        return handle
    if kind == "batch":
        return lambda values, events: hangs_here(gate)
    return lambda value: hangs_here(gate)


@pytest.mark.parametrize("kind", ["function", "coroutine", "batch", "limit"])
def test_a_handler_whose_slots_are_all_stuck(
    flavour: Flavour, client: Any, queue: Any, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    if kind == "coroutine" and flavour.name == "sync":
        return
    worker = flavour.worker(client, stalled_after=SOON)
    gate, release = Gate(), threading.Event()
    handle = handler_of(kind, gate, release)
    if kind == "batch":
        worker.batch_handler("orders", 2)(handle)
    elif kind == "limit":
        # A slot of the handler is free, and the limit has none.
        worker.handler("orders", concurrency=3, limit=Limit(1))(handle)
    else:
        worker.handler("orders", concurrency=2)(handle)
    queue.add_all([str(number) for number in range(8)])
    registry = CollectorRegistry()
    instrument(worker, registry=registry)
    with caplog.at_level(logging.INFO, logger="redisson_dq"), running(worker, gate):
        eventually(lambda: stalls(worker))
        (stall,) = stalls(worker)
        assert stall.queue == "orders"
        assert stall.running == {"batch": 1, "limit": 1}.get(kind, 2)
        assert stall.waiting >= 1
        assert ("waits_here" if kind == "coroutine" else "hangs_here") in stall.stack
        assert "redisson_dq/_" not in stall.stack.partition("hangs_here")[0]
        assert str(stall.pid) in str(stall)
        assert stall.stack in str(stall)
        assert not worker.is_consuming
        figures = {each.name: each for each in registry.collect()}
        for name in ("redisson_dq_stalled_seconds", "redisson_dq_handling_oldest_seconds"):
            (sample,) = figures[name].samples
            assert sample.labels == {"queue": "orders"}
            assert sample.value > SOON
        gate.open()
        release.set()
        eventually(lambda: not stalls(worker))
        eventually(lambda: "makes progress again" in caplog.text)
        assert registry.get_sample_value("redisson_dq_stalled_seconds", {"queue": "orders"}) == 0
    (line,) = [each.getMessage() for each in caplog.records if "makes no progress" in each.getMessage()]
    assert stall.stack.splitlines()[-1] in line
    assert caplog.text.count("makes progress again") == 1


def test_slots_of_a_worker_that_another_queue_has(flavour: Flavour, client: Any, queue: Any) -> None:
    worker = flavour.worker(client, concurrency=1, stalled_after=SOON)
    gate = Gate()
    worker.handler("bills")(lambda value: hangs_here(gate))
    worker.handler("orders")(lambda value: None)
    bills = client.blocking_queue("bills")
    bills.add("stuck")
    with running(worker, gate):
        eventually(lambda: gate.inside == 1)
        queue.add("waits")
        eventually(lambda: stalls(worker))
        # The queue that has the slot is named, not the one that waits for it.
        assert [each.queue for each in stalls(worker)] == ["bills"]
        gate.open()
        eventually(lambda: not stalls(worker))


def test_nothing_waits_or_the_others_get_on(
    flavour: Flavour, client: Any, queue: Any, caplog: pytest.LogCaptureFixture
) -> None:
    worker = flavour.worker(client, stalled_after=SOON)
    log, gate, idle = Log(worker), Gate(), Gate()

    def handle(value: Any) -> None:
        if value == "stuck":
            hangs_here(gate)

    worker.handler("orders", concurrency=2)(handle)
    worker.handler("bills")(lambda value: hangs_here(idle))
    queue.add("stuck")
    # Nothing waits behind this one.
    client.blocking_queue("bills").add("stuck")
    with running(worker, gate):
        eventually(lambda: caplog.text.count("which is unusual for it") == 2)
        # The other slot goes on.
        for number in range(50):
            queue.add(str(number))
            assert stalls(worker) == []
            log.until(Succeeded, number + 1)
        assert worker.is_consuming
        assert "hangs_here" in caplog.text
        assert "makes no progress" not in caplog.text
        assert caplog.text.count("which is unusual for it") == 2
        gate.open()
        idle.open()


def test_a_coroutine_that_blocks_its_loop(flavour: Flavour, client: Any, queue: Any) -> None:
    if flavour.name == "sync":
        return
    worker = flavour.worker(client, stalled_after=SOON)
    release = threading.Event()

    async def handle(value: Any) -> None:
        release.wait(PATIENCE)

    worker.handler("orders")(handle)
    queue.add("a")
    with running(worker):
        eventually(lambda: stalls(worker))
        (stall,) = stalls(worker)
        assert stall.handler.endswith("handle")
        assert "release.wait" in stall.stack
        assert "the event loop has been blocked for" in str(stall)
        release.set()
        eventually(lambda: not stalls(worker))


def test_what_stalled_after_may_be(flavour: Flavour, client: Any) -> None:
    from redisson_dq.errors import ArgumentError

    for wrong in (0, -1, "long"):
        with pytest.raises(ArgumentError, match="stalled_after="):
            flavour.worker(client, stalled_after=wrong)
