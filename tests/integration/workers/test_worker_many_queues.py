"""A worker over many queues: it takes no more threads, connections and commands than its work needs."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.worker import Limit, Rate, Received, Succeeded
from redisson_dq.working.assigning import Assigner
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.whereabouts import whereabouts
from tests.workers.handlers import Gate, Ledger, Log, at_rest, running

QUEUES = [f"queue-{place:03}" for place in range(100)]
TOTALS = [None, 16]


def sent(admin: Any) -> Counter[str]:
    """How often Redis got each command, the scripts' own and the look itself left out."""
    stats = admin.info("commandstats")
    return Counter({name.removeprefix("cmdstat_"): stats[name]["calls"] for name in stats if name != "cmdstat_info"})


def until_settled(admin: Any) -> Counter[str]:
    """Waits until Redis gets no further command, as each waiter stands in its line. Gives all that it got."""

    def settled() -> Counter[str] | None:
        before = sent(admin)
        time.sleep(0.2)
        return before if sent(admin) == before else None

    found: Counter[str] = eventually(settled)
    return found


@pytest.mark.parametrize("total", TOTALS)
def test_idle_it_sends_nothing_and_each_value_costs_the_same(
    admin: Any, flavour: Flavour, url: str, total: int | None
) -> None:
    worker, ledger = flavour.worker_of(url, codec=StringCodec(), concurrency=total), Ledger()
    log = Log(worker)
    for name in QUEUES:
        worker.handler(name)(lambda value, event: ledger.note((event.queue, value)))
    with running(worker):
        before = until_settled(admin)
        assert until_settled(admin) == before
        for name in QUEUES[:40]:
            admin.rpush(name, "a")
            assert ledger.next() == (name, "a")
        log.until(Succeeded, 40)
        sent_now = until_settled(admin) - before
        # A script that the server does not have yet is sent as a whole.
        scripts = sent_now["evalsha"] + sent_now["eval"]
        # A lease, an ack, and at most one look behind the lease.
        assert 2 * 40 <= scripts <= 3 * 40
        assert len([each for each in threading.enumerate() if each.name.startswith("redisson_dq")]) <= 25
        assert admin.info("clients")["connected_clients"] <= 20


@pytest.mark.parametrize("total", TOTALS)
def test_a_backlog_of_all_queues_is_handled_once_and_in_order(
    admin: Any, flavour: Flavour, url: str, total: int | None
) -> None:
    pipe = admin.pipeline(transaction=False)
    for value in range(10):
        for name in QUEUES:
            pipe.rpush(name, f"{value}")
    pipe.execute()
    worker, ledger, gate = flavour.worker_of(url, codec=StringCodec(), concurrency=total), Ledger(), Gate()
    gate.open()

    def handle(value: str, event: Any) -> None:
        assert (event.attempt, event.crashes) == (1, 0)
        gate.wait()
        ledger.note((event.queue, value))

    for name in QUEUES:
        worker.handler(name)(handle)
    with running(worker):
        handled = ledger.some(1000)
        for name in QUEUES:
            at_rest(admin, name)
    for name in QUEUES:
        # Values that found no slot went back to their place.
        assert [value for queue, value in handled if queue == name] == [str(value) for value in range(10)]
    assert gate.most <= (total or len(QUEUES))


def test_a_value_that_finds_no_slot_goes_back_to_its_place(admin: Any, flavour: Flavour, url: str) -> None:
    worker, gate, ledger = flavour.worker_of(url, codec=StringCodec(), concurrency=2), Gate(), Ledger()

    def handle(value: str, event: Any) -> None:
        gate.wait()
        ledger.note(event.queue)

    names = QUEUES[:6]
    for name in names:
        worker.handler(name)(handle)
    with running(worker, gate):
        until_settled(admin)
        for name in names:
            admin.rpush(name, "a", "b")
        eventually(lambda: gate.inside == 2)
        eventually(lambda: sum(whereabouts(admin, name).leased.total() for name in names) == 2)
        assert sum(whereabouts(admin, name).ready.total() for name in names) == 10
        until_settled(admin)
        assert worker.running == 2
        gate.open()
        ledger.some(12)
        for name in names:
            at_rest(admin, name)
    assert gate.most == 2


def test_a_slot_that_one_queue_frees_is_for_any_other(admin: Any, flavour: Flavour, url: str) -> None:
    worker, busy, other = flavour.worker_of(url, codec=StringCodec(), concurrency=2), Gate(), Gate()
    ledger = Ledger()

    def handle(value: str, event: Any) -> None:
        ledger.note(value)
        (busy if event.queue == "busy" else other).wait()

    for name in ("busy", "other", "third"):
        worker.handler(name, concurrency=2)(handle)
    with running(worker, busy):
        for name, value in (("other", "a"), ("busy", "b")):
            admin.rpush(name, value)
            assert ledger.next() == value
        until_settled(admin)
        other.open()
        at_rest(admin, "other")
        # Nobody has asked for its values while both slots were taken.
        admin.rpush("busy", "c")
        assert ledger.next() == "c"
        assert busy.inside == 2


def test_a_slot_that_is_freed_after_the_end_of_its_queue_is_for_the_one_that_is_left(
    admin: Any, flavour: Flavour, url: str
) -> None:
    """That one has another fetcher by then."""
    worker, gate, ledger = flavour.worker_of(url, codec=StringCodec(), concurrency=1), Gate(), Ledger()

    def hold(value: str) -> None:
        gate.wait()

    worker.handler("left")(ledger.handle)
    worker.handler("taken off")(hold)
    with running(worker, gate):
        admin.rpush("taken off", "a")
        eventually(lambda: gate.inside == 1)
        assert worker.remove_handler(hold)
        until_settled(admin)
        admin.rpush("left", "b")
        gate.open()
        assert ledger.next() == "b"


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_a_stop_gives_back_a_batch_whose_queue_was_taken_off_while_its_values_came(
    admin: Any, flavour: Flavour, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, closed = flavour.worker_of(url, codec=StringCodec(), concurrency=2), threading.Event()
    assigner: Any = Assigner
    intake = import_module("redisson_dq._sync.worker.intake").Intake
    opened, close_queue = intake.opened, assigner.close_queue

    def handle(values: list[str]) -> None:
        raise AssertionError("the batch is never full")

    def opened_late(self: Any, leased: Any) -> Any:
        if leased:
            worker.remove_handler(handle)
            assert closed.wait(PATIENCE)
        return opened(self, leased)

    def close_and_tell(self: Any, intake: Any) -> None:
        close_queue(self, intake)
        closed.set()

    monkeypatch.setattr(intake, "opened", opened_late)
    monkeypatch.setattr(assigner, "close_queue", close_and_tell)
    log = Log(worker)
    worker.batch_handler("batches", 8, within=600)(handle)
    for name in QUEUES[:2]:
        worker.handler(name)(Ledger().handle)
    with running(worker):
        admin.rpush("batches", "a")
        log.until(Received)
    assert whereabouts(admin, "batches").ready == {b"a": 1}


@ONE_FLAVOUR_BY_DAY
def test_a_stop_of_many_queues_ends_while_the_server_stands_still(
    flavour: Flavour, own_server: Any, threads: ThreadPoolExecutor
) -> None:
    """It waits once for all queues, and not once for each."""
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        worker, ledger = flavour.worker(client), Ledger()
        for name in QUEUES:
            worker.handler(name)(ledger.handle)
        worker.start()
        with redis.Redis.from_url(own_server.url) as admin:
            until_settled(admin)
        os.kill(own_server.pid, signal.SIGSTOP)
        try:
            threads.submit(worker.stop, grace=0).result(PATIENCE)
        finally:
            os.kill(own_server.pid, signal.SIGCONT)
        assert not worker.is_running


@pytest.mark.parametrize("total", [None, 4])
def test_queues_of_every_kind(admin: Any, flavour: Flavour, client: Any, url: str, total: int | None) -> None:
    """Partitions, batches, limits and keys beside plain queues."""
    worker, ledger, gate = flavour.worker_of(url, codec=StringCodec(), concurrency=total), Ledger(), Gate()
    gate.open()

    def handle(value: str, event: Any) -> None:
        gate.wait()
        ledger.note((event.queue, value))

    def handle_all(values: list[str], events: Any) -> None:
        gate.wait()
        for value in values:
            ledger.note((events[0].queue, value))

    worker.queue("parts", partitions=3)
    worker.handler("parts", concurrency=3)(handle)
    worker.batch_handler("batches", 8, within=0.05)(handle_all)
    worker.handler("limited", concurrency=4, limit=Limit(2))(handle)
    worker.handler("keyed", concurrency=4, key=lambda value: value[-1])(handle)
    worker.handler("rated", concurrency=4, rate=Rate(1000, 1))(handle)
    worker.handler("first", when=lambda value: int(value) % 2 == 0)(handle)
    worker.handler("first", when=lambda value: int(value) % 2 == 1)(handle)
    worker.handler("plain")(handle)
    names = ["parts", "batches", "limited", "keyed", "rated", "first", "plain"]
    values = [f"{value:02}" for value in range(40)]
    with running(worker):
        for name in names:
            queue = client.blocking_queue(name, partitions=3 if name == "parts" else None)
            for value in values:
                queue.add(value)
        handled = ledger.some(len(names) * len(values))
        for name in names[1:]:
            at_rest(admin, name)
    of = {name: [value for queue, value in handled if queue == name] for name in names}
    assert {name: sorted(some) for name, some in of.items()} == dict.fromkeys(names, values)
    assert of["plain"] == values
    for key in "0123456789":
        assert [value for value in of["keyed"] if value[-1] == key] == [value for value in values if value[-1] == key]
    assert gate.most <= (total or 40)


def test_queues_come_and_go(admin: Any, flavour: Flavour, url: str) -> None:
    worker, ledger = flavour.worker_of(url, codec=StringCodec()), Ledger()

    def handle(value: str, event: Any) -> None:
        ledger.note((event.queue, value))

    worker.add_handler(handle, QUEUES[8])
    with running(worker):
        for name in QUEUES[:8]:
            worker.add_handler(handle, name)
            admin.rpush(name, "a")
            assert ledger.next() == (name, "a")
        for name in QUEUES[:7]:
            assert worker.remove_handler(handle, name)
            # A waiter that is on its way out of the line may get a value yet.
            until_settled(admin)
            admin.rpush(name, "b")
            admin.rpush(QUEUES[7], name)
            assert ledger.next() == (QUEUES[7], name)
        for name in QUEUES[:7]:
            assert whereabouts(admin, name).total == {b"b": 1}


def test_one_queue_of_another_type_holds_up_no_other(
    admin: Any, flavour: Flavour, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    worker, ledger = flavour.worker_of(url, codec=StringCodec()), Ledger()
    admin.set(QUEUES[0], "no list")
    for name in QUEUES[:8]:
        worker.handler(name)(lambda value, event: ledger.note(event.queue))
    with running(worker):
        for name in QUEUES[1:8]:
            admin.rpush(name, "a")
            assert ledger.next() == name
        eventually(lambda: [each.queue for each in worker.problems] == [QUEUES[0]])
        assert not worker.is_consuming
        admin.delete(QUEUES[0])
        admin.rpush(QUEUES[0], "a")
        assert ledger.next() == QUEUES[0]
        eventually(lambda: worker.is_consuming)
    told = [record.getMessage() for record in caplog.records if "cannot receive" in record.getMessage()]
    assert len(told) == 1
    assert QUEUES[0] in told[0]


@pytest.mark.parametrize("total", [None, 4, 1])
def test_a_handling_that_cannot_begin_keeps_no_queue_from_its_next_values(
    admin: Any, flavour: Flavour, url: str, total: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several queues, in the middle. The values come again at the deadlines of their leases."""
    fails = {"on": False}
    accept = Assigner.accept

    def accept_or_fail(self: Any, intake: Any, *rest: Any) -> None:
        if fails["on"] and intake.name == QUEUES[1]:
            fails["on"] = False
            raise RuntimeError("a defect")
        accept(self, intake, *rest)

    monkeypatch.setattr(Assigner, "accept", accept_or_fail)
    worker = flavour.worker_of(url, codec=StringCodec(), concurrency=total, visibility_timeout=1.0)
    ledger = Ledger()
    for name in QUEUES[:6]:
        worker.handler(name)(lambda value, event: ledger.note((event.queue, value)))
    with running(worker):
        until_settled(admin)
        fails["on"] = True
        with admin.pipeline() as pipe:
            for name in QUEUES[:6]:
                pipe.rpush(name, "a")
            pipe.execute()
        assert sorted(ledger.some(6)) == [(name, "a") for name in QUEUES[:6]]
        assert not fails["on"]
        for name in QUEUES[:6]:
            admin.rpush(name, "b")
        assert sorted(ledger.some(6)) == [(name, "b") for name in QUEUES[:6]]
        for name in QUEUES[:6]:
            at_rest(admin, name)


def test_values_that_cannot_be_opened_hold_up_no_other_queue(
    admin: Any, flavour: Flavour, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their queue is the first one that is looked at."""
    fails = {"on": True}
    for module in ("_sync", "_async"):
        intake = import_module(f"redisson_dq.{module}.worker.intake").Intake

        def opened(self: Any, leased: Any, opened: Any = intake.opened) -> Any:
            if fails["on"] and self.name == "first":
                raise RuntimeError("a defect")
            return opened(self, leased)

        monkeypatch.setattr(intake, "opened", opened)
    worker, ledger = flavour.worker_of(url, codec=StringCodec(), concurrency=1, order=["first", "second"]), Ledger()
    for name in ("first", "second"):
        admin.rpush(name, "a")
        worker.handler(name)(lambda value, event: ledger.note(event.queue))
    with running(worker):
        assert ledger.next() == "second"
        eventually(lambda: [each.queue for each in worker.problems] == ["first"])
        fails["on"] = False
        assert ledger.next() == "first"
        at_rest(admin, "first")


def test_a_fetcher_that_another_replaces_is_waited_for(
    admin: Any, flavour: Flavour, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No queue is closed where a second one begins to share the slots. The first wait may get a value yet."""
    begun, ended = [], []
    for module in ("_sync", "_async"):
        fetcher = import_module(f"redisson_dq.{module}.worker.fetching").Fetcher

        def start(self: Any, start: Any = fetcher.start) -> None:
            begun.append(self)
            start(self)

        def has_ended(self: Any, has_ended: Any = fetcher.has_ended) -> Any:
            ended.append(self)
            return has_ended(self)

        monkeypatch.setattr(fetcher, "start", start)
        monkeypatch.setattr(fetcher, "has_ended", has_ended)
    worker, ledger = flavour.worker_of(url, codec=StringCodec(), concurrency=2), Ledger()
    worker.handler("orders")(ledger.handle)
    with running(worker):
        until_settled(admin)
        worker.add_handler(ledger.handle, "invoices")
        for name in ("orders", "invoices"):
            admin.rpush(name, name)
            assert ledger.next() == name
    assert len(set(begun)) == 2
    assert set(ended) == set(begun)
