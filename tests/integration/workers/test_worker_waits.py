"""How a worker waits: what goes wrong meanwhile, and what is left when it stops."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.scripts.script import load
from tests.conftest import PATIENCE, eventually
from tests.faults.gate import Gate, Where
from tests.flavours import Flavour
from tests.integration.whereabouts import whereabouts
from tests.workers.handlers import Ledger, at_rest, running

# A value whose lease has to end by itself would not come within any test.
LONG = 600


@pytest.fixture
def gate(server: Any, admin: Any) -> Iterator[Gate]:
    # Else a script would come in two commands, the second of which brings its text.
    for name in ("receive", "ack", "transfer", "give_back"):
        admin.script_load(load(name).source)
    with Gate(lambda: server.port or 0) as made:
        yield made


@contextmanager
def through(gate: Gate, flavour: Flavour, url: str) -> Iterator[tuple[Any, Ledger, Any]]:
    """A worker behind a gate, what it handles, and the queue as somebody else has it."""
    with (
        flavour.connect(gate.url, codec=StringCodec()) as client,
        flavour.connect(url, codec=StringCodec()) as other,
    ):
        worker, ledger = flavour.worker(client, visibility_timeout=LONG), Ledger()
        worker.handler("orders", concurrency=3)(ledger.handle)
        yield worker, ledger, other.blocking_queue("orders", transfer=False)


def test_others_wait_beside_a_worker(flavour: Flavour, client: Any, threads: ThreadPoolExecutor) -> None:
    worker, ledger = flavour.worker(client), Ledger()
    worker.handler("orders", concurrency=3)(ledger.handle)
    queue = client.blocking_queue("orders", transfer=False)
    with running(worker):
        taking = [threads.submit(queue.take) for _ in range(2)] + [threads.submit(lambda: queue.receive().value)]
        values: list[str] = []

        def have_all_taken() -> bool:
            # Where their threads begin late, the worker has all values that came before.
            values.append(f"v{len(values)}")
            queue.add(values[-1])
            return len(values) >= 40 and all(each.done() for each in taking)

        eventually(have_all_taken)
        mine = [each.result() for each in taking]
        assert sorted(mine + ledger.some(len(values) - 3)) == sorted(values)


@pytest.mark.parametrize("where", ["command", "sent", "reply", "half"])
@pytest.mark.parametrize("command", ["BLMOVE", "receive.lua"])
def test_a_connection_is_cut(flavour: Flavour, gate: Gate, admin: Any, url: str, command: str, where: Where) -> None:
    """Values come once each, and the next wait is as before."""
    with through(gate, flavour, url) as (worker, ledger, queue):
        with running(worker):
            queue.add("a")
            assert ledger.next() == "a"
            for round in range(3):
                trap = gate.trap(command, where, "cut")
                queue.add(f"b{round}")
                assert ledger.next() == f"b{round}"
                # Where the command had passed before the trap was set, the next value meets it.
                while not trap.sprung.wait(0.1):
                    queue.add("more")
                    assert ledger.next() == "more"
            queue.add("c")
            assert ledger.next() == "c"
            at_rest(admin)
        assert [value for value in ledger.values if value != "more"] == ["a", "b0", "b1", "b2", "c"]


@pytest.mark.parametrize("command", ["BLMOVE", "receive.lua"])
def test_a_stop_while_a_reply_is_missing(
    flavour: Flavour, gate: Gate, admin: Any, url: str, command: str, threads: ThreadPoolExecutor
) -> None:
    """What the reply told of is ready again, long before the lease ends."""
    with through(gate, flavour, url) as (worker, ledger, queue):
        worker.start()
        queue.add("a")
        assert ledger.next() == "a"
        # A value that is ready before the worker waits comes with the reply to its acknowledgment.
        eventually(lambda: any(each["cmd"] == "blmove" for each in admin.client_list()))
        trap = gate.trap(command, "reply", "freeze")
        queue.add("b")
        assert trap.sprung.wait(PATIENCE)
        threads.submit(worker.stop, grace=0.1).result(PATIENCE)
        gate.clear()
        assert ledger.values == ["a"]
        again = queue.receive(timeout=PATIENCE)
        assert (again.value, again.attempt) == ("b", 1)
        assert again.ack()


def test_a_stop_before_the_first_reply(flavour: Flavour, gate: Gate, url: str, threads: ThreadPoolExecutor) -> None:
    with flavour.connect(gate.url, codec=StringCodec()) as client:
        worker, ledger = flavour.worker(client, visibility_timeout=LONG), Ledger()
        worker.handler("orders")(ledger.handle)
        gate.freeze()
        threads.submit(worker.start).result(PATIENCE)
        threads.submit(worker.stop, grace=0.1).result(PATIENCE)
        gate.clear()
    with flavour.connect(url, codec=StringCodec()) as other:
        queue = other.blocking_queue("orders")
        queue.add("a")
        assert queue.receive(timeout=PATIENCE).value == "a"


def test_a_stop_while_the_server_stands_still(flavour: Flavour, own_server: Any, threads: ThreadPoolExecutor) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        worker, ledger = flavour.worker(client, visibility_timeout=LONG), Ledger()
        worker.handler("orders")(ledger.handle)
        queue = client.blocking_queue("orders", transfer=False)
        worker.start()
        queue.add("a")
        assert ledger.next() == "a"
        os.kill(own_server.pid, signal.SIGSTOP)
        try:
            threads.submit(worker.stop, grace=0.1).result(PATIENCE)
        finally:
            os.kill(own_server.pid, signal.SIGCONT)
        queue.add("b")
        assert queue.receive(timeout=PATIENCE).value == "b"


def test_queues_that_a_worker_leaves(
    flavour: Flavour, client: Any, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection that it waited on goes with each, though nobody reads from it any more."""
    monkeypatch.setattr("redisson_dq.waits.engine.LINGER", 0.1)
    worker, ledger = flavour.worker(client), Ledger()
    handle = ledger.handle
    worker.add_handler(print, "others")
    with running(worker):
        before = len(admin.client_list())
        for name in (f"queue{number}" for number in range(20)):
            worker.add_handler(handle, name)
            client.blocking_queue(name, transfer=False).add(name)
            assert ledger.next() == name
            at_rest(admin, name)
            assert worker.remove_handler(handle)
        # What ordinary commands need is kept.
        eventually(lambda: len(admin.client_list()) < before + 10)


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_nothing_is_left_of_queues_that_a_worker_has_closed(flavour: Flavour, client: Any) -> None:
    worker = flavour.worker(client)
    worker.add_handler(len, "others")
    with running(worker):
        for name in ("a", "b", "c"):
            worker.add_handler(print, name)
            assert worker.remove_handler(print)
        eventually(lambda: closing_threads() == [])


def closing_threads() -> list[threading.Thread]:
    """Those that somebody remembers, also when they have ended."""
    found = [each for each in gc.get_objects() if issubclass(type(each), threading.Thread)]
    return [thread for thread in found if thread.name == "redisson_dq-closing"]


ENDING_LOOPS = """
import asyncio, random, sys, threading, time
import redis
import redisson_dq
from redisson_dq.aio.worker import Worker
from redisson_dq.codecs import StringCodec

url, chance = sys.argv[1], random.Random(11)


async def main(number):
    client = redisson_dq.aio.connect(url, codec=StringCodec())
    worker = Worker(client, visibility_timeout=2)

    @worker.handler("orders", concurrency=3)
    async def handle(value):
        print(value, flush=True)

    await worker.start()
    await asyncio.sleep(0.03)
    adding.append(threading.Thread(target=add, args=(f"v{number}", chance.random() * 0.01)))
    adding[-1].start()
    await asyncio.sleep(chance.random() * 0.01)


def add(value, pause):
    time.sleep(pause)
    with redis.Redis.from_url(url) as admin:
        admin.rpush("orders", value)


adding = []
for number in range(30):
    asyncio.run(main(number))
for each in adding:
    each.join()
"""


def test_the_loop_ends_while_a_worker_waits(url: str, admin: Any) -> None:
    """Nothing is lost, whenever a value comes."""
    ended = subprocess.run(
        [sys.executable, "-c", ENDING_LOOPS, url], capture_output=True, text=True, timeout=2 * PATIENCE, check=True
    )
    # The end of the loop may come between a handler's return and the ack. The log names such a value.
    assert [line for line in ended.stderr.splitlines() if "the worker has stopped" not in line] == []
    handled = ended.stdout.split()
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        while whereabouts(admin).total:
            for each in queue.receive(10, timeout=1):
                handled.append(each.value)
                each.ack()
    assert set(handled) == {f"v{number}" for number in range(30)}
