"""One start of a thread or one connection fails, each in turn: the client continues as soon as they are available."""

from __future__ import annotations

import _thread
import itertools
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import NoThreadError, RedissonDQError
from tests.conftest import PATIENCE, by_night, eventually
from tests.faults.shortages import Shortage, of_descriptors, of_threads
from tests.faults.world import World
from tests.flavours import AsyncioFlavour, Flavour
from tests.workers.handlers import Ledger, running

T = TypeVar("T")

#: More starts than those of a client and a worker.
MOST = 40


def until_it_works(call: Callable[[], T]) -> T:
    """Like a program that calls again. The error of a thread is ours, except in a pool of handlers."""
    for _ in range(5):
        try:
            return call()
        except (RedissonDQError, RuntimeError) as error:
            failure = error
    raise failure


def the_main_job(flavour: Flavour, url: str) -> None:
    client = until_it_works(lambda: flavour.connect(url, codec=StringCodec(), probe_interval=600))
    try:
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
        until_it_works(lambda: delayed.offer("a", delay=0.05))
        assert until_it_works(lambda: queue.poll(timeout=PATIENCE)) == "a"
        until_it_works(lambda: queue.add("b"))
        delivery = until_it_works(lambda: queue.receive(timeout=PATIENCE, visibility_timeout=1))
        assert delivery.value == "b"
        assert until_it_works(delivery.ack)
        worker = flavour.worker(client)
        ledger = Ledger()
        worker.handler("orders")(ledger.note)
        until_it_works(worker.start)
        eventually(lambda: worker.is_consuming)
        with running(worker):
            delayed.offer("c", delay=0.05)
            assert ledger.next() == "c"
            eventually(lambda: worker.is_consuming)
        assert not worker.is_consuming
    finally:
        client.close()


#: The number of the start that fails, and of failures in a row.
CELLS = [
    pytest.param(number, failures, marks=() if number % 4 == 1 and failures == 1 else pytest.mark.nightly)
    for number, failures in itertools.product(range(1, MOST + 1), (1, 3))
]


@pytest.mark.parametrize(("number", "failures"), CELLS)
@pytest.mark.parametrize("resource", [of_threads, by_night(of_descriptors)])
def test_a_start_that_fails(
    flavour: Flavour,
    world: World,
    resource: Callable[[pytest.MonkeyPatch, Shortage], None],
    number: int,
    failures: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world.admin.flushall()
    shortage = Shortage(number, failures)
    resource(monkeypatch, shortage)
    the_main_job(flavour, world.server.url)
    monkeypatch.undo()
    # A second job in the same process finds nothing left by the first one.
    left = [each.name for each in threading.enumerate() if each.name.startswith("redisson_dq") and each.is_alive()]
    assert not left or isinstance(flavour, AsyncioFlavour)


@pytest.mark.parametrize("says", ["can't start new thread", "can't create new thread at interpreter shutdown"])
def test_a_call_that_gets_no_thread_raises_an_error_of_ours(
    world: World, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*arguments: Any) -> int:
        raise RuntimeError(says)

    with Flavour().connect(world.server.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        queue.add("a")
        worker = Flavour().worker(client)
        worker.handler("orders")(print)
        calls: list[Callable[[], object]] = [
            client.health,
            lambda: queue.subscribe_on_elements(print),
            lambda: client.delayed_queue("orders").offer("b", delay=60),
            lambda: queue.receive(renew=True),
            worker.start,
        ]
        with monkeypatch.context() as patch:
            patch.setattr(_thread, "start_new_thread", refused)
            for call in calls:
                with pytest.raises(NoThreadError, match="atexit" if "shutdown" in says else "raise the limit"):
                    call()
        assert client.health().connected


_AT_EXIT = """
import asyncio, atexit, sys
import redisson_dq, redisson_dq.aio

async def calls():
    async with redisson_dq.aio.connect(sys.argv[1]) as client:
        await client.delayed_queue("orders").offer("a", delay=60)

def last():
    try:
        if sys.argv[2] == "asyncio":
            asyncio.run(calls())
        else:
            with redisson_dq.connect(sys.argv[1]) as client:
                client.delayed_queue("orders").offer("a", delay=60)
    except redisson_dq.errors.RedissonDQError as error:
        print(error)
    else:
        print("done")

atexit.register(last)
"""


@pytest.mark.parametrize("kind", ["asyncio", "threads"])
def test_a_call_at_the_exit_of_the_program_works_or_says_why(world: World, kind: str) -> None:
    # A name, which asyncio looks up in a thread. Python 3.12 and newer start no thread at all then.
    url = world.server.url.replace("127.0.0.1", "localhost")
    ran = subprocess.run(
        [sys.executable, "-c", _AT_EXIT, url, kind], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    starts_threads = kind == "threads" and sys.version_info < (3, 12)
    assert ("done" if starts_threads else "not in an atexit function") in ran.stdout
