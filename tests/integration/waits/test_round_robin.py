"""Several lists are taken from in turns. None starves, nothing is lost, and there is at most one connection for each
list.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq._concurrency import Promise
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ClosedError, RedisConnectionError, WrongTypeError
from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.waits.line import Answer, Lifeline
from redisson_dq.wire.blocking import Pop
from redisson_dq.wire.taken import Taken
from tests.conftest import PATIENCE, eventually
from tests.faults.gate import Gate
from tests.flavours import AsyncioFlavour, Flavour

LISTS = [f"list{i}" for i in range(6)]
SOURCES = [Pop((name,), "first") for name in LISTS]


def blocked(admin: Any) -> int:
    return int(admin.info("clients")["blocked_clients"])


def calls_of(admin: Any, *commands: str) -> int:
    stats = admin.info("commandstats")
    return sum(stats.get(f"cmdstat_{command}", {"calls": 0})["calls"] for command in commands)


def texts(taken: list[Taken]) -> list[str]:
    return [each.data.decode() for each in taken]


def left(admin: Any) -> list[str]:
    return [value.decode() for name in LISTS for value in admin.lrange(name, 0, -1)]


@pytest.fixture
def receiver(flavour: Flavour, client: Any) -> Iterator[Any]:
    made = flavour.round_robin_receiver(client, SOURCES)
    yield made
    flavour.end_of(made)


# -- in turns --------------------------------------------------------------------------------------------------------


def test_a_full_list_starves_no_other(admin: Any, receiver: Any) -> None:
    admin.rpush(LISTS[0], *(f"full{i}" for i in range(1000)))
    admin.rpush(LISTS[3], "one")
    assert sorted(texts(receiver.receive(5)) + texts(receiver.receive(5))) == ["full0", "one"]
    admin.rpush(LISTS[5], "another")
    assert sorted(texts(receiver.receive(5)) + texts(receiver.receive(5))) == ["another", "full1"]


def test_the_list_behind_the_one_that_gave_last_comes_first(admin: Any, receiver: Any) -> None:
    admin.rpush(LISTS[2], "first")
    assert texts(receiver.receive(5)) == ["first"]
    for name in LISTS:
        admin.rpush(name, name)
    assert [texts(receiver.receive(5))[0] for _ in LISTS] == [*LISTS[3:], *LISTS[:3]]


def test_lists_give_the_same_share(admin: Any, receiver: Any) -> None:
    for name in LISTS:
        admin.rpush(name, *(f"{name}-{i:03}" for i in range(100)))
    one_by_one = [texts(receiver.receive(5))[0] for _ in range(12)]
    assert Counter(value[:5] for value in one_by_one) == Counter(dict.fromkeys(LISTS, 2))
    many = texts(receiver.receive(5, limit=60))
    assert Counter(value[:5] for value in many) == Counter(dict.fromkeys(LISTS, 10))
    for name in LISTS:
        of_list = [value for value in one_by_one + many if value.startswith(name)]
        assert of_list == [f"{name}-{i:03}" for i in range(12)]


def test_one_that_waits_is_served_by_whatever_list_gets_something(
    threads: ThreadPoolExecutor, admin: Any, receiver: Any
) -> None:
    for name in LISTS * 2:
        waiting = threads.submit(receiver.receive, PATIENCE)
        eventually(lambda: blocked(admin) == len(LISTS))
        admin.rpush(name, f"of {name}")
        assert waiting.result(PATIENCE) == [Taken(key=name, data=f"of {name}".encode())]
    assert calls_of(admin, "client|unblock") == 0
    # One blocking pop for each value, and one that waits at each list; only the first look asked for lengths.
    assert calls_of(admin, "blpop") <= len(LISTS) * 3
    assert calls_of(admin, "llen") == len(LISTS)


def test_one_value_and_those_behind_it(threads: ThreadPoolExecutor, admin: Any, receiver: Any) -> None:
    waiting = threads.submit(receiver.receive, PATIENCE, 10)
    eventually(lambda: blocked(admin) == len(LISTS))
    admin.rpush(LISTS[2], "a", "b", "c")
    assert texts(waiting.result(PATIENCE)) == ["a", "b", "c"]


def test_the_last_end(flavour: Flavour, admin: Any, client: Any) -> None:
    receiver = flavour.round_robin_receiver(client, [Pop((name,), "last") for name in LISTS])
    admin.rpush(LISTS[0], "a", "b", "c")
    assert texts(receiver.receive(5, limit=2)) == ["c", "b"]
    assert texts(receiver.receive(5)) == ["a"]
    flavour.end_of(receiver)


# -- connections and commands ----------------------------------------------------------------------------------------


def test_a_pop_stays_for_a_moment_and_then_ends(admin: Any, receiver: Any) -> None:
    # Long enough for all connections.
    assert receiver.receive(1) == []
    assert blocked(admin) == len(LISTS)
    assert calls_of(admin, "client|unblock") == 0
    eventually(lambda: blocked(admin) == 0)
    admin.rpush(LISTS[0], "a")
    assert texts(receiver.receive(5)) == ["a"]


def test_what_comes_when_nobody_waits_goes_back_to_its_end(admin: Any, receiver: Any) -> None:
    assert receiver.receive(0.3) == []
    eventually(lambda: blocked(admin) == len(LISTS))
    admin.rpush(LISTS[1], "a", "b", "c")
    eventually(lambda: admin.lrange(LISTS[1], 0, -1) == [b"a", b"b", b"c"])
    assert [texts(receiver.receive(5)) for _ in range(3)] == [["a"], ["b"], ["c"]]


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_thousands_that_wait_need_one_connection_a_list(flavour: AsyncioFlavour, admin: Any, receiver: Any) -> None:
    async def all_of_them() -> list[str]:
        tasks = [asyncio.create_task(receiver.inner.receive(None)) for _ in range(3000)]
        while await asyncio.to_thread(blocked, admin) < len(LISTS):
            await asyncio.sleep(0)
        # Beside the pops the test's own, and those of the pool.
        assert len(await asyncio.to_thread(admin.client_list)) <= len(LISTS) + 4
        for name in LISTS:
            await asyncio.to_thread(admin.rpush, name, *(f"{name}-{i:03}" for i in range(500)))
        return [texts(taken)[0] for taken in await asyncio.gather(*tasks)]

    got = flavour.run(all_of_them())
    for name in LISTS:
        assert [value for value in got if value.startswith(name)] == [f"{name}-{i:03}" for i in range(500)]
    assert calls_of(admin, "blpop", "lpop") < 600


# -- nothing is lost -------------------------------------------------------------------------------------------------


class Pusher:
    """Puts values into the lists, a few at a time, from a thread of its own."""

    def __init__(self, admin: Any, count: int, seed: int) -> None:
        self.values = [f"v{i:04}" for i in range(count)]
        self._admin = admin
        self._chance = random.Random(seed)
        self._thread = threading.Thread(target=self._push)
        self._thread.start()

    def _push(self) -> None:
        at = 0
        while at < len(self.values):
            some = self._chance.choice((1, 1, 2, 30))
            self._admin.rpush(self._chance.choice(LISTS), *self.values[at : at + some])
            at += some
            time.sleep(self._chance.choice((0, 0.001, 0.003)))

    def conserved(self, got: list[str]) -> None:
        """What was taken and what is left are all the values, each once."""
        self._thread.join()
        eventually(lambda: len(got) + sum(self._admin.llen(name) for name in LISTS) == len(self.values))
        assert sorted(got + left(self._admin)) == self.values
        assert got


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
@pytest.mark.parametrize("seed", range(3))
def test_a_storm_of_cancelled_callers(flavour: AsyncioFlavour, admin: Any, receiver: Any, seed: int) -> None:
    chance = random.Random(seed)
    got: list[str] = []

    async def consumer() -> None:
        for _ in range(40):
            receiving = receiver.inner.receive(chance.choice((None, 0.002, 0.01)), chance.choice((1, 1, 5)))
            with contextlib.suppress(asyncio.TimeoutError):
                got.extend(texts(await asyncio.wait_for(receiving, chance.uniform(0.0001, 0.02))))

    async def storm() -> None:
        await asyncio.gather(*(consumer() for _ in range(20)))

    pusher = Pusher(admin, 800, seed)
    flavour.run(storm())
    pusher.conserved(got)


def test_a_storm_of_timeouts_in_threads(threads: ThreadPoolExecutor, admin: Any, receiver: Any) -> None:
    def consumer(seed: int) -> list[str]:
        chance = random.Random(seed)
        got: list[str] = []
        for _ in range(60):
            got += texts(receiver.receive(chance.uniform(0.0001, 0.01), chance.choice((1, 1, 5))))
        return got

    pusher = Pusher(admin, 800, 4)
    consumers = [threads.submit(consumer, seed) for seed in range(8)]
    pusher.conserved([value for each in consumers for value in each.result(PATIENCE)])


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_a_storm_of_interrupts(admin: Any, receiver: Any) -> None:
    chance = random.Random(5)
    main = threading.main_thread().ident
    assert main is not None
    got: list[str] = []
    pusher = Pusher(admin, 400, 5)
    for _ in range(100):
        interrupter = threading.Timer(chance.uniform(0.0005, 0.008), signal.pthread_kill, (main, signal.SIGINT))
        try:
            interrupter.start()
            got += texts(receiver.receive(None, 3))
            interrupter.join()
            time.sleep(0.1)
        except KeyboardInterrupt:
            pass
        interrupter.join()
    pusher.conserved(got)


def test_closing_while_values_come(threads: ThreadPoolExecutor, flavour: Flavour, admin: Any, url: str) -> None:
    chance = random.Random(6)
    got: list[str] = []
    pusher = Pusher(admin, 300, 6)
    for _ in range(25):
        client = flavour.connect(url, codec=StringCodec())
        receiver = flavour.round_robin_receiver(client, SOURCES)
        waiting = [threads.submit(receiver.receive, None) for _ in range(4)]
        time.sleep(chance.uniform(0, 0.02))
        flavour.end_of(receiver)
        client.close()
        for future in waiting:
            with contextlib.suppress(ClosedError):
                got += texts(future.result(PATIENCE))
    eventually(lambda: blocked(admin) == 0)
    pusher.conserved(got)


def test_connections_that_are_cut_come_back(
    threads: ThreadPoolExecutor, admin: Any, receiver: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "redisson_dq")
    waiting = threads.submit(receiver.receive, None)
    eventually(lambda: blocked(admin) == len(LISTS))
    for entry in admin.client_list():
        if "b" in entry["flags"]:
            admin.client_kill_filter(_id=entry["id"])
    eventually(lambda: "waiting again" in caplog.text and blocked(admin) == len(LISTS))
    admin.rpush(LISTS[4], "a")
    assert texts(waiting.result(PATIENCE)) == ["a"]


# -- errors ----------------------------------------------------------------------------------------------------------


def test_a_list_of_another_type(admin: Any, receiver: Any) -> None:
    admin.set(LISTS[2], "in the way")
    with pytest.raises(WrongTypeError, match=LISTS[2]):
        receiver.receive(5)
    admin.rpush(LISTS[0], "a")
    got: list[str] = []
    while not got:
        # The list in the way may answer before one that has something.
        with contextlib.suppress(WrongTypeError):
            got = texts(receiver.receive(5))
    assert got == ["a"], "the other lists give what they have"
    admin.delete(LISTS[2])
    assert receiver.receive(0.05) == []


def test_redis_is_gone(flavour: Flavour, own_server: EmbeddedServer) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        receiver = flavour.round_robin_receiver(client, SOURCES)
        assert receiver.receive(0.05) == []
        own_server.kill()
        with pytest.raises(RedisConnectionError):
            receiver.receive(0.5)
        flavour.end_of(receiver)


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
@pytest.mark.parametrize("is_refusing", [True, False], ids=["refuses", "stands still"])
def test_a_caller_whose_look_broke_off_is_told_of_the_outage(
    flavour: Flavour, server: EmbeddedServer, admin: Any, is_refusing: bool
) -> None:
    """Its time is over while the look goes on, and no pump has found out yet that Redis is away."""
    port = server.port or 0
    with Gate(lambda: port) as gate, flavour.connect(gate.url, codec=StringCodec()) as client:
        receiver = flavour.round_robin_receiver(client, SOURCES)
        trap = gate.trap("LLEN", "reply", "freeze")
        lifeline: Lifeline = Lifeline()
        answer: Promise[Answer] = Promise(SYSTEM)
        receiver.enter(1, lifeline, answer)
        assert trap.wait()
        assert not receiver.is_quiet, "the look may find values"
        receiver.expire(lifeline.waiter)
        gate.refusing = is_refusing
        if not is_refusing:
            gate.freeze()
        gate.cut()
        # A connection that stands still is given up later.
        answer.wait(2)
        assert isinstance(answer.value, RedisConnectionError)
        assert "list0" in str(answer.value)
        assert not answer.value.maybe_done
        gate.clear()
        admin.rpush(LISTS[0], "a")
        assert texts(receiver.receive(PATIENCE)) == ["a"]
        flavour.end_of(receiver)


def test_closing_ends_every_wait(threads: ThreadPoolExecutor, flavour: Flavour, admin: Any, receiver: Any) -> None:
    waiting = [threads.submit(receiver.receive, None) for _ in range(3)]
    eventually(lambda: blocked(admin) == len(LISTS))
    flavour.end_of(receiver)
    for future in waiting:
        with pytest.raises(ClosedError):
            future.result(PATIENCE)
    eventually(lambda: blocked(admin) == 0)
    with pytest.raises(ClosedError):
        receiver.receive(1)
    flavour.end_of(receiver)


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_one_wait_can_be_withdrawn(threads: ThreadPoolExecutor, admin: Any, receiver: Any) -> None:
    mine = Lifeline()
    waiting = threads.submit(receiver.receive, None, 1, mine)
    other = threads.submit(receiver.receive, None)
    eventually(lambda: blocked(admin) == len(LISTS))
    receiver.withdraw(mine)
    with pytest.raises(ClosedError, match="given up"):
        waiting.result(PATIENCE)
    admin.rpush(LISTS[0], "a")
    assert texts(other.result(PATIENCE)) == ["a"]
