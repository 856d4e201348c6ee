"""Timeouts, leases that are renewed while a handler runs, and leases that are lost."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from redisson_dq.wire.calls.base import call
from redisson_dq.wire.keys import DeadKeys, LeaseKeys
from redisson_dq.worker import DeadLettered, Failed, Lost, Received, Retry, Succeeded, TimedOut, fixed
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts
from tests.workers.handlers import Gate, Ledger, Log, at_rest, forever, running


def test_a_thread_that_does_not_return_is_told_and_its_slot_is_opened(worker: Any, queue: Any, admin: Any) -> None:
    log, gate, ledger, told = Log(worker), Gate(), Ledger(), threading.Event()

    def handle(value: Any, event: Any) -> None:
        ledger.note(value, event)
        if value == "stuck" and event.attempt == 1:
            eventually(lambda: event.cancelled)
            told.set()
            gate.wait()

    worker.handler("orders", timeout=0.2, retry=Retry(limit=3, backoff=fixed(0)))(handle)
    queue.add_all(["stuck", "a"])
    with running(worker, gate):
        # One slot, and the first handler still stands in it.
        assert ledger.some(3) == ["stuck", "a", "stuck"]
        assert told.wait(PATIENCE)
        at_rest(admin)
        (timed_out,) = log.of(TimedOut)
        assert timed_out.timeout.total_seconds() == 0.2
        assert [type(each.error) for each in log.of(Failed)] == [TimeoutError]
        assert len(log.until(Succeeded, 2)) == 2
        assert gate.inside == 1
        gate.open()
        eventually(lambda: gate.inside == 0)
    # What it did in the end counts no more.
    assert len(log.of(Succeeded)) == 2
    assert "TimeoutError" in ledger.events[2].reason


def test_a_coroutine_that_does_not_return_is_cancelled(flavour: Flavour, worker: Any, queue: Any, admin: Any) -> None:
    if flavour.name == "sync":
        return
    log, ledger, cancelled = Log(worker), Ledger(), threading.Event()

    async def handle(value: Any, event: Any) -> None:
        ledger.note(value)
        if event.attempt == 1:
            try:
                await forever()
            finally:
                cancelled.set()

    worker.handler("orders", timeout=0.1, retry=Retry(limit=3, backoff=fixed(0)))(handle)
    queue.add("a")
    with running(worker):
        assert cancelled.wait(PATIENCE)
        assert ledger.some(2) == ["a", "a"]
        at_rest(admin)
    attempts = [each.id for each in log.of(Received)]
    late = ["Received", "TimedOut", "Failed", "Retried"]
    assert [log.names(id) for id in attempts] == [late, ["Received", "Succeeded"]]


def test_a_coroutine_that_resists_keeps_no_slot(flavour: Flavour, worker: Any, queue: Any, admin: Any) -> None:
    if flavour.name == "sync":
        return
    ledger, release = Ledger(), threading.Event()

    async def handle(value: Any, event: Any) -> None:
        ledger.note(value)
        while value == "stuck" and event.attempt == 1 and not release.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    worker.handler("orders", timeout=0.1, retry=Retry(limit=3, backoff=fixed(0)))(handle)
    queue.add_all(["stuck", "a"])
    try:
        with running(worker):
            assert ledger.some(3) == ["stuck", "a", "stuck"]
            at_rest(admin)
            release.set()
    finally:
        release.set()


def test_given_up_by_timeouts(worker: Any, queue: Any, admin: Any) -> None:
    log, gate, failed = Log(worker), Gate(), Ledger()
    worker.handler(
        "orders",
        timeout=0.05,
        retry=Retry(limit=2, backoff=fixed(0)),
        on_failed=lambda value, event, error: failed.note(value, error),
    )(lambda value: gate.wait())
    queue.add("a")
    with running(worker, gate):
        (dead,) = log.until(DeadLettered)
        gate.open()
    assert "TimeoutError" in dead.reason
    assert isinstance(failed.events[0], TimeoutError)


def test_a_timeout_in_time_is_none(worker: Any, queue: Any, admin: Any) -> None:
    log = Log(worker)
    worker.handler("orders", timeout=PATIENCE, concurrency=4)(lambda value: None)
    queue.add_all([str(number) for number in range(50)])
    with running(worker):
        at_rest(admin)
        eventually(lambda: len(log.of(Succeeded)) == 50)
    assert log.of(TimedOut) == []


def test_a_lease_is_renewed_while_the_handler_computes(flavour: Flavour, client: Any, queue: Any, admin: Any) -> None:
    worker = flavour.worker(client, visibility_timeout=1.5)
    log, ledger = Log(worker), Ledger()

    def compute(value: Any, event: Any) -> None:
        ledger.note(value, event)
        end = time.monotonic() + 4
        while time.monotonic() < end:
            sum(range(1000))

    worker.handler("orders")(compute)
    queue.add("a")
    with running(worker):
        log.until(Succeeded)
        at_rest(admin)
    assert ledger.values == ["a"]
    assert log.of(Lost) == []


def test_a_lost_lease_cancels_the_handler_and_opens_its_slot(
    flavour: Flavour, client: Any, worker: Any, queue: Any, admin: Any
) -> None:
    worker = flavour.worker(client, visibility_timeout=0.5)
    log, ledger, gate, told = Log(worker), Ledger(), Gate(), threading.Event()

    def handle(value: Any, event: Any) -> None:
        ledger.note(value, event)
        if value == "a":
            eventually(lambda: event.cancelled)
            told.set()
            gate.wait()

    worker.handler("orders")(handle)
    queue.add("a")
    with running(worker, gate):
        ledger.next()
        # Somebody ends the lease, and takes the value away.
        admin.flushdb()
        assert told.wait(PATIENCE)
        (lost,) = log.until(Lost)
        assert lost.event.value == "a"
        queue.add("b")
        assert ledger.next() == "b"
        gate.open()
        at_rest(admin)
    assert [each.event.value for each in log.of(Succeeded)] == ["b"]
    assert len(log.of(Lost)) == 1


def test_a_handler_is_cancelled_before_its_deadline_when_redis_is_away(flavour: Flavour, own_server: Any) -> None:
    with flavour.connect(own_server.url) as client:
        queue, gate = client.blocking_queue("orders"), Gate()
        worker = flavour.worker(client, visibility_timeout=3)
        log = Log(worker)
        left: list[float] = []

        def handle(value: Any, event: Any) -> None:
            deadline = time.monotonic() + PATIENCE
            while not event.cancelled and time.monotonic() < deadline:
                time.sleep(0.01)
            left.append(event.delivery.remaining.total_seconds())
            gate.wait()

        worker.handler("orders")(handle)
        queue.add("a")
        with running(worker, gate):
            eventually(lambda: worker.running == 1)
            own_server.kill()
            eventually(lambda: left)
            log.until(Lost)
            own_server.restart()
            gate.open()
    assert left[0] > 0


def test_a_batch_goes_on_without_those_that_are_lost(
    flavour: Flavour, client: Any, queue: Any, admin: Any, url: str
) -> None:
    worker = flavour.worker(client, visibility_timeout=0.5)
    log, gate = Log(worker), Gate()

    def handle(values: Any, events: Any) -> None:
        eventually(lambda: events[0].cancelled)
        gate.wait()

    worker.batch_handler("orders", 2, within=1000)(handle)
    queue.add_all(["a", "b"])
    with running(worker, gate):
        eventually(lambda: whereabouts(admin).leased.total() == 2)
        first = log.until(Received)[0].event.delivery
        # Another process ends the lease of the first one.
        (held,) = [each for each in queue.in_flight() if each.value == "a"]
        assert held.id == first.id
        end_lease(url, held.id)
        eventually(lambda: gate.inside == 1)
        assert worker.running == 1
        gate.open()
        log.until(Succeeded)
        log.until(Lost)
    assert [each.event.value for each in log.of(Succeeded)] == ["b"]
    assert [each.event.value for each in log.of(Lost)] == ["a"]


def end_lease(url: str, id: str) -> None:
    """What another process does that got hold of the delivery's id."""
    request = call("ack", LeaseKeys(queue=KEYS, dead=DeadKeys.belonging_to("orders")), ("", bytes.fromhex(id)), list)
    with Flavour().connect(url) as client, client.pipeline() as pipe:
        reply = pipe.add(request)
    assert reply.result[-1] == [b"acked"]


# Room for the threads that are there when all have begun, and no more.
LIMITS = """
import asyncio, collections, resource, sys, threading, time

def no_more_threads():
    count, since = 0, time.monotonic()
    while time.monotonic() < since + 0.5:
        if count != threading.active_count():
            count, since = threading.active_count(), time.monotonic()
        time.sleep(0.01)
    threading.stack_size(1 << 30)
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29), resource.RLIM_INFINITY))

def threads_again():
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""
TIMEOUTS = """
import redisson_dq.aio.worker, redisson_dq.worker
from redisson_dq.codecs import StringCodec
from redisson_dq.worker import Retry, fixed

flavour, url = sys.argv[1:]
worker = (redisson_dq.worker if flavour == "sync" else redisson_dq.aio.worker).Worker.connect(url, codec=StringCodec())
begun, finished = [], threading.Semaphore(0)

@worker.handler("orders", concurrency=6, timeout=0.3, retry=Retry(limit=5, backoff=fixed(0)))
def handle(value, event):
    begun.append((value, event.attempt, event.cancelled))
    while value != "first" and event.attempt == 1 and not event.cancelled:
        time.sleep(0.01)
    if not event.cancelled:
        finished.release()

def add(*values):
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        client.blocking_queue("orders", transfer=False).add_all(values)

def watch():
    add("first")
    assert finished.acquire(timeout=30)
    no_more_threads()
    add(*"abcdef")
    for _ in range(6):
        assert finished.acquire(timeout=30), begun
    print("".join(sorted(value for value, attempt, _ in begun if attempt > 1)), [each for each in begun if each[2]])
    threads_again()

async def main():
    async with worker:
        await asyncio.get_running_loop().run_in_executor(None, watch)

if flavour == "sync":
    with worker:
        watch()
else:
    asyncio.run(main())
"""


def test_what_waited_for_a_thread_until_its_time_was_over_is_not_begun(flavour: Flavour, url: str) -> None:
    words = [sys.executable, "-c", LIMITS + TIMEOUTS, flavour.name, url]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=2 * PATIENCE, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "abcdef []\n"
    assert "a handling waits for one of" in ran.stderr


ACKS = """
import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.worker import Lost, Received, Worker

worker = Worker.connect(sys.argv[1], codec=StringCodec(), visibility_timeout=2)
finished, told, handled = threading.Semaphore(0), collections.Counter(), set()
worker.on(Received, Lost)(lambda happening: told.update([type(happening).__name__]))

def held():
    return {each.value: each.deadline for each in queue.in_flight()}

@worker.handler("orders", concurrency=5)
def handle(value):
    # Each handler returns when those before it are acked, and one of them when its lease was renewed.
    first = held()
    while handled & (now := held()).keys() or (value == "0" and now[value] == first[value]):
        time.sleep(0.01)
    handled.add(value)
    finished.release()

with worker, redisson_dq.connect(sys.argv[1], codec=StringCodec()) as client:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("first")
    assert finished.acquire(timeout=30)
    no_more_threads()
    queue.add_all([str(number) for number in range(6)])
    for _ in range(6):
        assert finished.acquire(timeout=30)
    threads_again()
print(dict(told))
"""


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_acks_wait_for_no_receiver_that_waits_for_a_thread(flavour: Flavour, url: str) -> None:
    words = [sys.executable, "-c", LIMITS + ACKS, url]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=2 * PATIENCE, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "{'Received': 7}\n"
    assert "a handling waits for one of" in ran.stderr
