"""How a worker ends: from code, by a signal, by a second one. Nothing is lost, and nothing counted."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest

import redisson_dq.aio.worker
import redisson_dq.worker
from redisson_dq.errors import ArgumentError
from redisson_dq.worker import Failed, HandedBack, Lost, Received, Retried, Retry, Succeeded
from tests.conftest import PATIENCE, by_night, environment, eventually
from tests.flavours import AsyncioFlavour, Flavour
from tests.integration.whereabouts import whereabouts
from tests.workers.handlers import Gate, Ledger, Log, at_rest, forever, running, worked_off

# Most cases start processes: the second server has its turn at night.
pytestmark = pytest.mark.parametrize("server", ["redis", by_night("valkey")], indirect=True)


@contextmanager
def process(url: str, flavour: Flavour, **arguments: Any) -> Iterator[subprocess.Popen[str]]:
    """A worker's process, once it says that it is ready."""
    told = json.dumps({"url": url, "flavour": flavour.name, **arguments})
    made = subprocess.Popen(
        [sys.executable, "-m", "tests.workers.until_told", told],
        stdout=subprocess.PIPE,
        env=environment(),
        encoding="utf-8",
    )
    assert made.stdout is not None
    try:
        assert made.stdout.readline() == "ready\n"
        yield made
    finally:
        made.kill()
        made.wait()
        made.stdout.close()


def says(made: subprocess.Popen[str], word: str) -> None:
    assert made.stdout is not None
    assert made.stdout.readline() == f"{word}\n"


# -- from code -------------------------------------------------------------------------------------------------------


def test_handlers_end_within_the_grace(
    flavour: Flavour, worker: Any, queue: Any, admin: Any, threads: ThreadPoolExecutor
) -> None:
    log, gate = Log(worker), Gate()
    worker.handler("orders", concurrency=2)(lambda value: gate.wait())
    queue.add_all(["a", "b", "c"])
    worker.start()
    eventually(lambda: gate.inside == 2)
    stopping = threads.submit(worker.stop, PATIENCE)
    eventually(lambda: not worker.is_consuming)
    # It fetches no more.
    assert whereabouts(admin).ready == {b"c": 1}
    gate.open()
    stopping.result(PATIENCE)
    assert sorted(each.event.value for each in log.of(Succeeded)) == ["a", "b"]
    assert whereabouts(admin).total == {b"c": 1}
    assert not worker.is_running


def test_what_has_not_ended_goes_back_uncounted_and_ready_at_once(
    flavour: Flavour, worker: Any, queue: Any, admin: Any
) -> None:
    log, gate, events = Log(worker), Gate(), Ledger()

    def handle(value: Any, event: Any) -> None:
        events.note(value, event)
        gate.wait()

    async def handle_in_loop(value: Any, event: Any) -> None:
        events.note(value, event)
        await forever()

    worker.handler("orders", concurrency=2)(handle if flavour.name == "sync" else handle_in_loop)
    queue.add_all(["a", "b", "c"])
    worker.start()
    try:
        events.some(2)
        worker.stop(grace=0.05)
        assert sorted(queue.read_all()) == ["a", "b", "c"]
        assert whereabouts(admin).leased == {}
        assert all(event.cancelled for event in events.events)
        assert len(log.of(HandedBack)) == 2
        for _ in range(3):
            delivery = queue.receive(timeout=0)
            assert (delivery.attempt, delivery.failures, delivery.crashes) == (1, 0, 0)
    finally:
        gate.open()
    eventually(lambda: gate.inside == 0)
    assert log.of(Succeeded, Lost) == []


class _Held:
    """A hook or a function for a backoff, which holds up the outcome of a handler that has returned."""

    def __init__(self, worker: Any, place: str) -> None:
        self.gate, self.place = Gate(), place
        if place == "hook":
            worker.on(Failed)(lambda happening: self.gate.wait())

    @property
    def retry(self) -> Retry:
        return Retry(backoff=self._backoff if self.place == "backoff" else lambda attempt: 600)

    def _backoff(self, attempt: int) -> float:
        self.gate.wait()
        return 600


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
@pytest.mark.parametrize("place", ["hook", "backoff"])
@pytest.mark.parametrize("batch", [None, 3])
def test_an_outcome_that_a_function_of_the_users_holds_up_is_noted_before_a_stop_ends(
    worker: Any, queue: Any, admin: Any, threads: ThreadPoolExecutor, place: str, batch: int | None
) -> None:
    held, log = _Held(worker, place), Log(worker)

    def handle(value: Any) -> Any:
        if batch is None:
            raise ValueError("no")
        return [None if each == "b" else ValueError("no") for each in value]

    worker.add_handler(handle, "orders", batch=batch, within=600, retry=held.retry)
    queue.add_all(["a", "b", "c"] if batch else ["a"])
    worker.start()
    eventually(lambda: held.gate.inside == 1)
    stopping = threads.submit(worker.stop, 0)
    # It waits for the function.
    with pytest.raises(TimeoutError):
        stopping.result(0.3)
    held.gate.open()
    stopping.result(PATIENCE)
    assert sorted(each.event.value for each in log.of(Retried)) == (["a", "c"] if batch else ["a"])
    assert [each.event.value for each in log.of(Succeeded)] == (["b"] if batch else [])
    assert log.of(HandedBack, Lost) == []
    found = whereabouts(admin)
    assert found.total == found.waiting == Counter({b"a": 1, b"c": 1} if batch else {b"a": 1})


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_an_outcome_that_is_held_up_for_too_long_is_named_and_its_value_goes_back(
    worker: Any, queue: Any, admin: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("redisson_dq._sync.worker.crew.LAST_STEPS", 0.2)
    held, log = _Held(worker, "hook"), Log(worker)

    def handle(value: Any) -> Any:
        raise ValueError("no")

    worker.handler("orders", retry=held.retry)(handle)
    queue.add("a")
    worker.start()
    eventually(lambda: held.gate.inside == 1)
    (lease,) = queue.in_flight()
    worker.stop(grace=0)
    assert f"a hook or its backoff has not: the worker stops and puts back {lease.id}" in caplog.text
    assert "handlers have not returned" not in caplog.text
    assert len(log.of(HandedBack)) == 1
    held.gate.open()
    eventually(lambda: held.gate.inside == 0)
    delivery = queue.receive(timeout=0)
    assert (delivery.value, delivery.attempt, delivery.crashes) == ("a", 1, 0)


def test_values_of_several_handlers_go_back_in_the_order_in_which_they_came(
    flavour: Flavour, worker: Any, queue: Any, admin: Any
) -> None:
    gate, ledger = Gate(), Ledger()
    begun = [f"{place:02}" for place in range(24)]

    def handle(value: Any) -> None:
        ledger.note(value)
        gate.wait()

    async def handle_in_loop(value: Any) -> None:
        ledger.note(value)
        await forever()

    one = handle if flavour.name == "sync" else handle_in_loop
    for rest in range(3):
        worker.handler("orders", when=lambda value, rest=rest: int(value) % 3 == rest, concurrency=8)(one)
    queue.add_all([*begun, "24", "25"])
    worker.start()
    try:
        assert sorted(ledger.some(24)) == begun
        worker.stop(grace=0)
        assert queue.read_all() == [*begun, "24", "25"]
    finally:
        gate.open()
    eventually(lambda: gate.inside == 0)


def test_leases_are_renewed_while_it_stops(
    flavour: Flavour, client: Any, queue: Any, admin: Any, threads: ThreadPoolExecutor
) -> None:
    worker = flavour.worker(client, visibility_timeout=0.5)
    log, gate = Log(worker), Gate()
    worker.handler("orders")(lambda value: gate.wait())
    queue.add("a")
    worker.start()
    eventually(lambda: gate.inside == 1)
    (held,) = queue.in_flight()
    stopping = threads.submit(worker.stop, PATIENCE)
    eventually(lambda: queue.in_flight()[0].deadline > held.deadline)
    eventually(lambda: (queue.in_flight()[0].deadline - held.deadline).total_seconds() > 0.6)
    gate.open()
    stopping.result(PATIENCE)
    assert len(log.of(Succeeded)) == 1
    assert log.of(Lost) == []
    at_rest(admin)


def test_a_second_request_ends_the_grace(
    flavour: Flavour, worker: Any, queue: Any, admin: Any, threads: ThreadPoolExecutor
) -> None:
    gate = Gate()
    worker.handler("orders")(lambda value: gate.wait())
    queue.add("a")
    runs = threads.submit(worker.run)
    eventually(lambda: gate.inside == 1)
    worker.request_stop()
    eventually(lambda: not worker.is_consuming)
    assert not runs.done()
    worker.request_stop()
    runs.result(PATIENCE)
    assert whereabouts(admin).ready == {b"a": 1}
    gate.open()
    eventually(lambda: gate.inside == 0)


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
@pytest.mark.parametrize("names", [["orders"], ["orders", "invoices"]], ids=["of one queue", "of many queues"])
def test_a_stop_does_not_wait_for_a_thread_to_receive_in(
    flavour: Flavour,
    client: Any,
    queue: Any,
    admin: Any,
    threads: ThreadPoolExecutor,
    monkeypatch: pytest.MonkeyPatch,
    names: list[str],
) -> None:
    """The thread that received runs a handler that does not return, and the system gives no other one."""
    worker, gate, is_short, start = flavour.worker(client, concurrency=2), Gate(), threading.Event(), Thread.start

    def start_or_fail(thread: Thread) -> None:
        if is_short.is_set() and thread.name == "redisson_dq-handler":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(Thread, "start", start_or_fail)
    for name in names:
        worker.handler(name)(lambda value: gate.wait())
    worker.start()
    try:
        is_short.set()
        queue.add("a")
        eventually(lambda: gate.inside == 1)
        threads.submit(worker.stop, grace=0).result(PATIENCE)
        assert whereabouts(admin).ready == {b"a": 1}
    finally:
        gate.open()
    eventually(lambda: gate.inside == 0)


def test_two_requests_at_once_end_the_grace(
    flavour: Flavour, worker: Any, queue: Any, admin: Any, threads: ThreadPoolExecutor
) -> None:
    """The second one comes before the stop has begun."""
    gate = Gate()

    def handle(value: Any) -> None:
        worker.request_stop()
        worker.request_stop()
        gate.wait()

    async def handle_in_loop(value: Any) -> None:
        worker.inner.request_stop()
        worker.inner.request_stop()
        await forever()

    worker.handler("orders")(handle if flavour.name == "sync" else handle_in_loop)
    queue.add("a")
    threads.submit(worker.run, 1000).result(PATIENCE)
    assert whereabouts(admin).ready == {b"a": 1}
    gate.open()
    eventually(lambda: gate.inside == 0)


def test_many_stops_at_a_time_and_stops_of_what_does_not_run(
    worker: Any, queue: Any, admin: Any, threads: ThreadPoolExecutor, caplog: pytest.LogCaptureFixture
) -> None:
    worker.stop()
    assert "stop() before start() or run() stops nothing" in caplog.text
    gate = Gate()
    worker.handler("orders")(lambda value: gate.wait())
    queue.add("a")
    worker.start()
    worker.start()
    eventually(lambda: gate.inside == 1)
    stops = [threads.submit(worker.stop, PATIENCE) for _ in range(4)]
    eventually(lambda: not worker.is_consuming)
    gate.open()
    for each in stops:
        each.result(PATIENCE)
    assert not worker.is_running
    at_rest(admin)


def test_many_starts_at_a_time_and_a_start_while_it_stops(
    worker: Any, queue: Any, admin: Any, threads: ThreadPoolExecutor
) -> None:
    ledger, gate, begins = Ledger(), Gate(), []

    @worker.per_worker
    def pool() -> Iterator[str]:
        begins.append("begin")
        time.sleep(0.2)
        yield "pool"

    def handle(value: str, event: Any, pool: str) -> None:
        ledger.note(value)
        if value == "slow":
            gate.wait()

    worker.handler("orders")(handle)
    for starting in [threads.submit(worker.start) for _ in range(4)]:
        starting.result(PATIENCE)
    assert begins == ["begin"]
    queue.add("slow")
    eventually(lambda: gate.inside)
    stopping = threads.submit(worker.stop, PATIENCE)
    eventually(lambda: not worker.is_consuming)
    starting = threads.submit(worker.start)
    queue.add("after")
    gate.open()
    stopping.result(PATIENCE)
    starting.result(PATIENCE)
    assert ledger.some(2) == ["slow", "after"]
    assert begins == ["begin"] * 2
    # A stop waits for a start that is under way.
    worker.stop()
    starting = threads.submit(worker.start)
    eventually(lambda: len(begins) == 3)
    worker.stop()
    starting.result(PATIENCE)
    assert not worker.is_running


def test_a_function_per_worker_neither_starts_nor_stops_it(url: str, server: str) -> None:
    """It would wait for itself."""
    raised: list[str] = []

    def in_a_thread() -> None:
        worker = redisson_dq.worker.Worker.connect(url)
        worker.add_handler(print, "orders")

        @worker.per_worker
        def pool() -> Iterator[str]:
            for call in (worker.start, worker.stop):
                with pytest.raises(ArgumentError) as caught:
                    call()
                raised.append(str(caught.value))
            yield "pool"
            with pytest.raises(ArgumentError) as caught:
                worker.stop()
            raised.append(str(caught.value))

        worker.start()
        worker.stop()

    async def in_a_task() -> None:
        worker = redisson_dq.aio.worker.Worker.connect(url)
        worker.add_handler(print, "orders")

        @worker.per_worker
        async def pool() -> AsyncIterator[str]:
            for call in (worker.start, worker.stop):
                with pytest.raises(ArgumentError) as caught:
                    await call()
                raised.append(str(caught.value))
            yield "pool"
            with pytest.raises(ArgumentError) as caught:
                await worker.stop()
            raised.append(str(caught.value))

        await worker.start()
        await worker.stop()

    in_a_thread()
    asyncio.run(in_a_task())
    assert len(raised) == 6
    assert all("per_worker" in message and "request_stop()" in message for message in raised)


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_a_hook_stops_no_worker_that_would_wait_for_it(worker: Any, queue: Any, admin: Any) -> None:
    raised: list[str] = []

    @worker.on(Received, Succeeded)
    def stop(happening: Any) -> None:
        with pytest.raises(ArgumentError) as caught:
            worker.stop()
        raised.append(str(caught.value))

    worker.handler("orders")(lambda value: None)
    queue.add_all(["a", "b"])
    with running(worker):
        eventually(lambda: len(raised) == 4)
    assert all("call request_stop() in a hook" in text for text in raised)
    assert not whereabouts(admin).total


def test_under_load_from_code(flavour: Flavour, worker: Any, queue: Any, admin: Any) -> None:
    """Stopped and started again at random moments: each value is handled once, and none counted twice."""
    count = 300
    ledger = Ledger()
    worker.handler("orders", concurrency=4)(ledger.handle)
    queue.add_all([str(number) for number in range(count)])
    for _ in range(10):
        worker.start()
        ledger.next()
        worker.stop(grace=PATIENCE)
        held = whereabouts(admin)
        assert not held.leased + held.arrivals + held.waiting
        assert held.ready.total() + len(ledger.values) == count
    with running(worker):
        at_rest(admin)
    assert Counter(ledger.values) == Counter(str(number) for number in range(count))
    assert {event.attempt for event in ledger.events} == {1}


def test_a_run_that_is_cancelled_stops_like_any_other(flavour: Flavour, worker: Any, queue: Any, admin: Any) -> None:
    if not isinstance(flavour, AsyncioFlavour):
        return
    gate = Gate()
    worker.handler("orders", concurrency=2)(lambda value: gate.wait())
    queue.add_all(["a", "b", "c"])
    running = flavour.submit(worker.inner.run)
    eventually(lambda: gate.inside == 2)
    running.cancel()
    eventually(lambda: not worker.is_consuming)
    gate.open()
    eventually(lambda: not worker.is_running)
    assert whereabouts(admin).total == {b"c": 1}


def test_handlers_that_come_and_go_during_a_stop_count_from_the_next_start(
    worker: Any, queue: Any, client: Any, admin: Any, threads: ThreadPoolExecutor
) -> None:
    gate, ledger = Gate(), Ledger()

    def handle(value: Any) -> None:
        gate.wait()

    worker.handler("orders")(handle)
    queue.add("a")
    worker.start()
    eventually(lambda: gate.inside)
    stopping = threads.submit(worker.stop, PATIENCE)
    eventually(lambda: not worker.is_consuming)
    assert worker.remove_handler(handle)
    worker.add_handler(ledger.handle, "more")
    client.blocking_queue("more").add("b")
    gate.open()
    stopping.result(PATIENCE)
    assert ledger.values == []
    queue.add("c")
    with running(worker):
        assert ledger.next() == "b"
        at_rest(admin, "more")
    assert whereabouts(admin).ready == {b"c": 1}


def test_a_handler_asks_for_the_end(worker: Any, queue: Any, admin: Any, threads: ThreadPoolExecutor) -> None:
    ledger = Ledger()

    def handle(value: Any) -> None:
        inner = getattr(worker, "inner", worker)
        if inner is worker:
            with pytest.raises(ArgumentError, match="request_stop"):
                worker.stop()
        ledger.note(value)
        inner.request_stop()

    worker.handler("orders")(handle)
    queue.add_all(["a", "b"])
    runs = threads.submit(worker.run)
    ledger.next()
    runs.result(PATIENCE)
    assert whereabouts(admin).total.total() == 2 - len(ledger.values)


def test_what_ends_a_run_outside_the_main_thread(worker: Any, threads: ThreadPoolExecutor) -> None:
    before = signal.getsignal(signal.SIGTERM)
    worker.add_handler(print, "orders")
    runs = threads.submit(worker.run)
    eventually(lambda: worker.is_running)
    assert signal.getsignal(signal.SIGTERM) is before
    worker.stop()
    runs.result(PATIENCE)
    # A request that came before a run counts, and only for that one.
    worker.request_stop()
    threads.submit(worker.run).result(PATIENCE)
    runs = threads.submit(worker.run)
    eventually(lambda: worker.is_running)
    worker.request_stop()
    runs.result(PATIENCE)


# -- by signals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_under_load(flavour: Flavour, url: str, admin: Any, queue: Any, number: signal.Signals) -> None:
    # They take 6 s at least. However busy the machine is, some are left at the signal.
    count = 10_000
    queue.add_all([str(value) for value in range(count)])
    with process(url, flavour, seconds=0.005, handler={"concurrency": 8}) as made:
        says(made, "handling")
        eventually(lambda: admin.llen("done") > 20)
        made.send_signal(number)
        says(made, "stopped")
        assert made.wait(PATIENCE) == 0
    done = [value.split(b" ") for value in admin.lrange("done", 0, -1)]
    left = whereabouts(admin)
    # Each value is done or ready, none is both, and none has been counted.
    assert left.total == left.ready
    assert Counter(value for value, _ in done) + left.ready == Counter(b"%d" % value for value in range(count))
    assert {attempt for _, attempt in done} == {b"1"}
    assert 20 < len(done) < count
    assert queue.receive(timeout=0).attempt == 1


def test_what_outlasts_the_grace_goes_back_at_once(flavour: Flavour, url: str, admin: Any, queue: Any) -> None:
    queue.add_all(["a", "b"])
    with process(url, flavour, seconds=1000, handler={"concurrency": 2}, worker={"grace": 0.2}) as made:
        says(made, "handling")
        eventually(lambda: whereabouts(admin).leased.total() == 2)
        made.send_signal(signal.SIGTERM)
        says(made, "stopped")
        assert made.wait(PATIENCE) == 0
    assert whereabouts(admin).ready == {b"a": 1, b"b": 1}
    assert admin.get("handed back") == b"2"
    assert queue.receive(timeout=0).attempt == 1


def test_a_second_signal_is_immediate(flavour: Flavour, url: str, admin: Any, queue: Any) -> None:
    queue.add("a")
    with process(url, flavour, seconds=1000, worker={"grace": 1000}) as made:
        says(made, "handling")
        made.send_signal(signal.SIGTERM)
        # It has stopped fetching, and waits for its handler.
        queue.add("b")
        threading.Event().wait(0.3)
        assert made.poll() is None
        assert whereabouts(admin).leased == {b"a": 1}
        made.send_signal(signal.SIGTERM)
        says(made, "stopped")
        assert made.wait(PATIENCE) == 0
    assert whereabouts(admin).ready == {b"a": 1, b"b": 1}


# -- by force --------------------------------------------------------------------------------------------------------


def test_killed_with_fifty_in_hand(flavour: Flavour, url: str, admin: Any, queue: Any) -> None:
    queue.add_all([str(value) for value in range(50)])
    visible = {"visibility_timeout": 1.0}
    with process(url, flavour, seconds=1000, handler={"concurrency": 50}, worker=visible) as made:
        eventually(lambda: whereabouts(admin).leased.total() == 50)
        made.kill()
        made.wait()
        with process(url, flavour, handler={"concurrency": 8}, worker=visible) as second:
            says(second, "handling")
            at_rest(admin)
            second.send_signal(signal.SIGTERM)
            assert second.wait(PATIENCE) == 0
    done = Counter(value.split(b" ")[0] for value in admin.lrange("done", 0, -1))
    assert done == Counter(b"%d" % value for value in range(50))


def test_frozen_beyond_its_leases(flavour: Flavour, url: str, admin: Any, queue: Any) -> None:
    """What a process has in hand that stands still is handled by another one, and its own outcome counts no more."""
    queue.add_all([str(value) for value in range(10)])
    visible = {"visibility_timeout": 0.5}
    with process(url, flavour, seconds=1.0, handler={"concurrency": 10}, worker=visible) as made:
        eventually(lambda: whereabouts(admin).leased.total() == 10)
        made.send_signal(signal.SIGSTOP)
        try:
            with process(url, flavour, handler={"concurrency": 4}, worker=visible) as second:
                says(second, "handling")
                eventually(lambda: admin.llen("done") >= 10)
                at_rest(admin)
                queue.add("late")
                eventually(lambda: admin.llen("done") >= 11)
                second.send_signal(signal.SIGTERM)
                assert second.wait(PATIENCE) == 0
        finally:
            made.send_signal(signal.SIGCONT)
        at_rest(admin)
        made.send_signal(signal.SIGTERM)
        assert made.wait(PATIENCE) == 0
    assert whereabouts(admin).total == {}
    done = Counter(value.split(b" ")[0] for value in admin.lrange("done", 0, -1))
    assert set(done) == {b"%d" % value for value in range(10)} | {b"late"}


def while_it_works(admin: Any, before: int) -> None:
    """Waits until more is done than before."""
    eventually(lambda: admin.llen("done") > before)


@pytest.mark.parametrize("kills", [2, pytest.param(200, marks=[pytest.mark.nightly, pytest.mark.timeout(1500)])])
def test_killed_at_random_under_load(flavour: Flavour, url: str, admin: Any, queue: Any, kills: int) -> None:
    """Each value is handled at least once, however many of the processes that handle them are killed."""
    chance, values = random.Random(kills), set[bytes]()
    options: dict[str, Any] = {"handler": {"concurrency": 8}, "worker": {"visibility_timeout": 0.5}}
    for seed in range(kills):
        # However quick the machine is, each process finds something to do.
        added = [str(len(values) + number) for number in range(300 - whereabouts(admin).total.total())]
        queue.add_all(added)
        values |= {value.encode() for value in added}
        with process(url, flavour, seconds=0.002, failures=0.1, seed=seed, **options) as made:
            before = admin.llen("done")
            while_it_works(admin, before)
            time.sleep(chance.random() * 0.05)
            made.kill()
            made.wait()
        found = whereabouts(admin)
        # The look at what is done comes first: what is acked between the two is noted before.
        done = {value.split(b" ")[0] for value in admin.lrange("done", 0, -1)}
        assert done | set(found.total) >= values
    with process(url, flavour, failures=0.1, seed=kills, **options) as made:
        worked_off(admin)
        made.send_signal(signal.SIGTERM)
        assert made.wait(PATIENCE) == 0
    done = {value.split(b" ")[0] for value in admin.lrange("done", 0, -1)}
    assert done == values
    assert whereabouts(admin).total == {}
