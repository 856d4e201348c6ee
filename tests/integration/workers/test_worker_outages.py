"""Redis is down, refuses, or is cut off. A worker goes on, and reports when the outage begins and ends."""

from __future__ import annotations

import logging
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.scripts.script import load
from redisson_dq.worker import Away, BackAgain, HandedBack, Succeeded
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, by_night, eventually
from tests.faults.gate import Gate as Link
from tests.flavours import Flavour
from tests.integration.whereabouts import whereabouts
from tests.workers.handlers import Gate, Ledger, Log, at_rest, running


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage().partition(":")[0] for record in caplog.records if record.name == "redisson_dq"]


@pytest.mark.parametrize("seconds", [2, by_night(60)])
def test_redis_goes_away_and_comes_back(
    flavour: Flavour, own_server: Any, caplog: pytest.LogCaptureFixture, seconds: float
) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        worker, ledger = flavour.worker(client), Ledger()
        log = Log(worker)
        for name in ("orders", "other"):
            worker.handler(name, concurrency=2)(ledger.handle)
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("other")
        with running(worker):
            queue.add("a")
            assert ledger.next() == "a"
            assert worker.is_consuming
            with redis.Redis.from_url(own_server.url) as admin:
                # Else its lease may end in the meantime, and it comes again.
                eventually(lambda: not whereabouts(admin).total)
            delayed.offer("later", delay=0.2)
            own_server.kill()
            log.until(Away)
            assert not worker.is_consuming
            time.sleep(seconds)
            own_server.restart()
            log.until(BackAgain)
            eventually(lambda: worker.is_consuming)
            assert ledger.next() == "later"
            queue.add("b")
            assert ledger.next() == "b"
        with redis.Redis.from_url(own_server.url) as admin:
            at_rest(admin)
    assert len(log.of(Away)) == len(log.of(BackAgain)) == 1
    (back,) = log.of(BackAgain)
    assert back.after.total_seconds() > seconds - 1
    records = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.split(":")[0].split(" after")[0] for record in records] == [
        "Redis cannot be reached",
        "Redis is back",
    ]


@pytest.mark.parametrize("transfer", [True, False])
def test_a_server_that_stands_still_is_away(
    flavour: Flavour, own_server: Any, caplog: pytest.LogCaptureFixture, transfer: bool
) -> None:
    """No connection breaks, and whoever waits for a value waits on."""
    url = f"{own_server.url}?socket_timeout=0.5"
    with flavour.connect(url, codec=StringCodec(), probe_interval=0.5) as client:
        worker, ledger = flavour.worker(client, transfer=transfer), Ledger()
        log = Log(worker)
        worker.handler("orders")(ledger.handle)
        with running(worker):
            eventually(lambda: worker.is_consuming)
            os.kill(own_server.pid, signal.SIGSTOP)
            try:
                log.until(Away)
                assert not worker.is_consuming
            finally:
                os.kill(own_server.pid, signal.SIGCONT)
            log.until(BackAgain)
            eventually(lambda: worker.is_consuming)
            queue = client.blocking_queue("orders", transfer=False)
            queue.add("a")
            assert ledger.next() == "a"
            # What came for a receiver that died is found too, though nobody else looks.
            with redis.Redis.from_url(own_server.url) as admin:
                admin.rpush(queue.keys.arrivals, b"b")
            assert ledger.next() == "b"
    assert told(caplog).count("Redis cannot be reached") == 1


def test_what_ended_while_redis_was_away_is_acked_when_it_is_back(flavour: Flavour, own_server: Any) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        worker, gate = flavour.worker(client, visibility_timeout=PATIENCE), Gate()
        log, ledger = Log(worker), Ledger()

        def handle(value: Any) -> None:
            ledger.note(value)
            gate.wait()

        worker.handler("orders", concurrency=3)(handle)
        client.blocking_queue("orders").add_all(["a", "b", "c"])
        with running(worker, gate):
            eventually(lambda: gate.inside == 3)
            own_server.kill()
            gate.open()
            eventually(lambda: gate.inside == 0)
            assert log.of(Succeeded) == []
            own_server.restart()
            log.until(Succeeded, 3)
        with redis.Redis.from_url(own_server.url) as admin:
            assert whereabouts(admin).total == {}
    assert sorted(ledger.values) == ["a", "b", "c"]


def test_an_outage_ends_though_the_leases_that_were_to_end_are_over(flavour: Flavour, server: Any, admin: Any) -> None:
    """Nothing is left to be sent about them, and no further value comes."""
    admin.script_load(load("ack").source)
    with (
        Link(lambda: server.port or 0) as link,
        flavour.connect(f"{link.url}?socket_timeout=0.5", codec=StringCodec(), probe_interval=0.5) as client,
    ):
        # With a limit over several queues no ack goes along with a receive.
        worker, ledger = flavour.worker(client, concurrency=1, visibility_timeout=0.4), Ledger()
        log = Log(worker)
        for name in ("orders", "others"):
            worker.handler(name)(ledger.handle)
        link.trap("ack.lua", "reply", "delay", seconds=1)
        with running(worker):
            client.blocking_queue("orders").add("a")
            log.until(Away)
            log.until(BackAgain)
            eventually(lambda: worker.is_consuming)
    assert ledger.values == ["a"]


def test_it_stops_while_redis_is_away(flavour: Flavour, own_server: Any) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        worker, gate = flavour.worker(client), Gate()
        worker.handler("orders")(lambda value: gate.wait())
        client.blocking_queue("orders").add("a")
        worker.start()
        eventually(lambda: gate.inside == 1)
        own_server.kill()
        gate.open()
        eventually(lambda: worker.running == 0)
        worker.stop(grace=0.1)
        assert not worker.is_running
        own_server.restart()


def test_a_stop_waits_no_longer_than_its_grace_for_a_redis_that_is_away(
    flavour: Flavour, own_server: Any, monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """For a Redis that answers it would wait an hour here."""
    for kind in ("_sync", "_async"):
        monkeypatch.setattr(f"redisson_dq.{kind}.worker.crew.LAST_STEPS", 3600.0)
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        worker, gate = flavour.worker(client), Gate()
        log = Log(worker)
        worker.handler("orders")(lambda value: gate.wait())
        client.blocking_queue("orders").add("a")
        worker.start()
        eventually(lambda: gate.inside == 1)
        own_server.kill()
        gate.open()
        log.until(Away)
        threads.submit(worker.stop, grace=0.1).result(PATIENCE)
        assert not worker.is_running
        own_server.restart()


@ONE_FLAVOUR_BY_DAY
def test_a_stop_ends_while_the_server_stands_still(
    flavour: Flavour, own_server: Any, monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """For a Redis that answers it would wait an hour here. Nobody has noticed that this one does not."""
    for kind in ("_sync", "_async"):
        monkeypatch.setattr(f"redisson_dq.{kind}.worker.crew.LAST_STEPS", 3600.0)
    with flavour.connect(f"{own_server.url}?socket_timeout=1", codec=StringCodec()) as client:
        worker, gate = flavour.worker(client), Gate()
        log = Log(worker)
        worker.handler("orders")(lambda value: gate.wait())
        client.blocking_queue("orders").add("a")
        worker.start()
        eventually(lambda: gate.inside == 1)
        os.kill(own_server.pid, signal.SIGSTOP)
        try:
            stopping = threads.submit(worker.stop, grace=0)
            eventually(lambda: not worker.is_consuming)
            gate.open()
            stopping.result(PATIENCE)
        finally:
            os.kill(own_server.pid, signal.SIGCONT)
        assert not worker.is_running
        assert log.of(Succeeded, HandedBack) == []


def test_every_connection_is_cut_under_load(flavour: Flavour, client: Any, admin: Any) -> None:
    worker, ledger = flavour.worker(client), Ledger()
    worker.handler("orders", concurrency=4)(ledger.handle)
    values = [str(number) for number in range(200)]
    with running(worker):
        for start in range(0, 200, 20):
            # By another client. One whose connections are cut cannot know whether its values are in.
            admin.rpush("orders", *values[start : start + 20])
            ledger.next()
            admin.client_kill_filter(_type="normal", skipme=True)
            admin.client_kill_filter(_type="pubsub", skipme=True)
        at_rest(admin)
    assert set(ledger.values) == set(values)


def test_the_subscription_is_lost(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        worker, ledger = flavour.worker(client), Ledger()
        worker.handler("orders")(ledger.handle)
        delayed = client.delayed_queue("orders")
        with running(worker):
            for number in range(3):
                eventually(lambda: admin.client_list(_type="pubsub"))
                admin.client_kill_filter(_type="pubsub", skipme=True)
                delayed.offer(str(number), delay=0.05)
                assert ledger.next() == str(number)
            at_rest(admin)


def test_a_queue_of_another_type_is_told_once_and_the_worker_is_not_well(
    flavour: Flavour, client: Any, admin: Any, caplog: pytest.LogCaptureFixture
) -> None:
    worker, ledger = flavour.worker(client), Ledger()
    worker.handler("orders")(ledger.handle)
    worker.handler("other")(ledger.handle)
    admin.set("orders", "no list")
    with running(worker):
        eventually(lambda: not worker.is_consuming)
        # The other queue goes on.
        client.blocking_queue("other").add("a")
        assert ledger.next() == "a"
        time.sleep(1.5)
        assert len([record for record in caplog.records if "cannot receive" in record.getMessage()]) == 1
        admin.delete("orders")
        client.blocking_queue("orders").add("b")
        assert ledger.next() == "b"
        eventually(lambda: worker.is_consuming)


def test_a_client_that_is_closed_under_a_worker(flavour: Flavour, url: str) -> None:
    client = flavour.connect(url, codec=StringCodec())
    worker = flavour.worker(client)
    worker.handler("orders")(print)
    worker.start()
    client.close()
    eventually(lambda: not worker.is_consuming)
    worker.stop(grace=0)
    assert not worker.is_running


def test_a_worker_starts_before_redis(flavour: Flavour, own_server: Any, threads: ThreadPoolExecutor) -> None:
    url = own_server.url
    own_server.kill()
    worker, ledger = flavour.worker_of(url, codec=StringCodec()), Ledger()
    worker.handler("orders")(ledger.handle)
    log = Log(worker)
    with running(worker):
        log.until(Away)
        assert not worker.is_consuming
        own_server.restart()
        with redis.Redis.from_url(own_server.url) as admin:
            admin.rpush("orders", "a")
        assert ledger.next() == "a"
        log.until(BackAgain)
