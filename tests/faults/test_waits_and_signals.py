"""Handlers that raise, like Ctrl-C, at every bytecode of a wait and at random instants: the client still works.

``REDISSON_DQ_FAULT_SECONDS`` is how long the random run takes; 1 unless set.
"""

from __future__ import annotations

import dis
import inspect
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest

import redisson_dq
from redisson_dq import (
    BlockingDeque,
    BoundedBlockingQueue,
    DelayedQueue,
    PartitionedBlockingQueue,
    PartitionedDelayedQueue,
)
from redisson_dq.codecs import StringCodec
from tests.conftest import PATIENCE, by_night
from tests.faults.tracing import traced
from tests.integration.whereabouts import whereabouts

SECONDS = float(os.environ.get("REDISSON_DQ_FAULT_SECONDS", "1"))
ENOUGH = 20


class Interrupted(BaseException):
    """What the handler raises."""


def interrupted_at(number: int, call: Callable[[], Any]) -> tuple[Any, bool]:
    """Runs a call, and raises before the bytecode of the package with this number.

    The bytecode that returns a value is left out: the interpreter runs no handler between it and the next one.
    """
    seen = 0

    def look(frame: FrameType, event: str) -> None:
        nonlocal seen
        if event == "opcode" and not dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("RETURN_"):
            seen += 1
            if seen == number:
                raise Interrupted

    try:
        with traced(_is_of_the_package, look):
            return call(), False
    except Interrupted:
        return None, True


def _is_of_the_package(frame: FrameType) -> bool:
    return "redisson_dq" in frame.f_code.co_filename and "tests" not in frame.f_code.co_filename


# Only this process is interrupted, whatever the server, so the second server runs at night.
ONE_BY_DAY = pytest.mark.parametrize("server", ["redis", by_night("valkey")], indirect=True)


@ONE_BY_DAY
@pytest.mark.parametrize("stride", [23, by_night(1)])
@pytest.mark.parametrize("partitions", ["", " of partitions"])
@pytest.mark.parametrize("call", ["take", "poll", "receive"])
def test_every_bytecode(admin: Any, url: str, call: str, partitions: str, stride: int) -> None:
    def of(name: str) -> tuple[Any, str, Callable[[], Any]]:
        """A queue, the key of its values, and the call."""
        options: Any = {"partitions": 2} if partitions else {}
        queue = client.blocking_queue(name, transfer=False, **options)
        calls: dict[str, Callable[[], Any]] = {
            "take": queue.take,
            "poll": lambda: queue.poll(3, timeout=5)[0],
            "receive": lambda: queue.receive(timeout=5),
        }
        return queue, queue.partitions[0].keys.ready if partitions else name, calls[call]

    with redisson_dq.connect(url, codec=StringCodec()) as client:
        # Once in a process scripts are put together, by 10,000 bytecodes, whether other tests have run before or not.
        _, key, on_another = of("others")
        admin.rpush(key, "a")
        on_another()
        queue, key, called = of("orders")
        number = 1
        while True:
            admin.rpush(key, f"v{number}")
            got, was_interrupted = interrupted_at(number, called)
            if not was_interrupted:
                assert (got.value if call.startswith("receive") else got) == f"v{number}"
                break
            # Whatever the interruption left behind, the value comes to the next caller.
            assert queue.poll(timeout=20) == f"v{number}"
            number += stride
    assert number > 100


@ONE_BY_DAY
@pytest.mark.parametrize("what", ["receiver", "first wait"])
def test_every_bytecode_of_the_first_wait(admin: Any, url: str, what: str) -> None:
    """The receiver, and with ``first wait`` the worker of all receivers, are made in the call that is interrupted."""
    number = 1
    client = redisson_dq.connect(url, codec=StringCodec())
    while True:
        if what == "first wait":
            client.close()
            client = redisson_dq.connect(url, codec=StringCodec())
        name = f"orders{number}"
        queue = client.blocking_queue(name, transfer=False)
        admin.rpush(name, "a")
        got, was_interrupted = interrupted_at(number, queue.take)
        assert (queue.poll(timeout=20) if was_interrupted else got) == "a"
        if not was_interrupted:
            break
        queue.destroy()
        number += 11 if what == "first wait" else 5
    client.close()
    assert number > 100


def test_no_call_that_takes_ends_behind_a_star() -> None:
    """Python checks for signals after a call with ``*`` or ``**``. A value that is in hand there would be lost."""
    takers = ("take", "poll", "receive", "drain", "pop")
    found = 0
    for kind in (BlockingDeque, BoundedBlockingQueue, DelayedQueue, PartitionedBlockingQueue, PartitionedDelayedQueue):
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if name.startswith(takers):
                found += 1
                steps = [step.opname for step in dis.get_instructions(method)]
                assert ("CALL_FUNCTION_EX", "RETURN_VALUE") not in pairwise(steps), f"{kind.__name__}.{name}"
    assert found > 30


def test_signals_at_random_instants(admin: Any, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Reports a handler that raises while the interpreter frees something.
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    chance = random.Random(seed)
    armed = False

    def interrupt(*_: Any) -> None:
        if armed:
            raise Interrupted

    pushed: list[str] = []
    got: list[str] = []
    held: list[Any] = []
    keys: list[str] = []
    over = threading.Event()

    def push() -> None:
        own = random.Random(seed + 1)
        while not over.is_set():
            value = f"v{len(pushed)}"
            admin.rpush(own.choice(keys), value)
            pushed.append(value)
            over.wait(own.choice((0.0001, 0.001, 0.004)))

    before = signal.signal(signal.SIGALRM, interrupt)
    pusher = threading.Thread(target=push)
    interruptions = 0
    try:
        with redisson_dq.connect(url, codec=StringCodec()) as client:
            plain = client.blocking_queue("orders", transfer=False)
            parts = client.blocking_queue("orders", transfer=False, partitions=2)
            leased = client.blocking_queue("leased", transfer=False)
            keys += ["orders", "leased", *(partition.keys.ready for partition in parts.partitions)]
            pusher.start()
            end = time.monotonic() + SECONDS
            # A slow machine has its time for some interruptions, too.
            while time.monotonic() < end or (interruptions < ENOUGH and time.monotonic() < end + PATIENCE):
                try:
                    try:
                        armed = True
                        signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 0.002), chance.choice((0.05, 0.0003)))
                        while True:
                            held += leased.receive(3, timeout=0.05, visibility_timeout=600)
                            queue = chance.choice((plain, parts))
                            got += queue.poll(3, timeout=0.05)
                            got += [plain.take()]
                    finally:
                        armed = False
                except Interrupted:
                    armed = False
                    interruptions += 1
                signal.setitimer(signal.ITIMER_REAL, 0)
            over.set()
            pusher.join()
            while found := plain.poll(1000, timeout=1) + parts.poll(1000, timeout=1):
                got += found
            while more := leased.receive(1000, timeout=1):
                held += more
            # A value received for an interrupted caller is as if it had never been received.
            assert {delivery.attempt for delivery in held} == {1}
            assert all(leased.ack_all(held))
            got += [delivery.value for delivery in held]
            returning = whereabouts(admin, "leased").total
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        over.set()
        if pusher.is_alive():
            pusher.join()
    assert interruptions >= ENOUGH
    # A connection whose making was interrupted is closed when it is freed, and Python warns of it.
    assert {each.exc_type for each in ignored} <= {Interrupted, ResourceWarning}
    offered, given = Counter(pushed), Counter(got)
    assert not given - offered
    if sys.version_info >= (3, 11):
        assert not returning
        assert given == offered
    else:
        # Python 3.10 runs handlers at the return of a function, too. What any function returns just then is lost.
        assert sum((offered - given).values()) <= interruptions / 10
