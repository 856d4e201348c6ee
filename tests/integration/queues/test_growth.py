"""Counts that do not grow with the backlog or the queues: commands, and skipped entries of the list.

Times depend on the machine. The commands that the server gets do not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError
from redisson_dq.worker import Worker
from tests.benchmarks.curves import FLAT, LINEAR, LOG, shape
from tests.benchmarks.watching import FROM_CLIENTS, command_stats, grown
from tests.conftest import eventually
from tests.integration.conftest import KEYS
from tests.integration.movers import Mover
from tests.integration.moving.test_passes import FAR, PAST, Queue
from tests.integration.scanned import Scanned

#: Above what is looked at of either end of the list.
BACKLOGS = (5_000, 15_000, 45_000)
QUEUES = (1, 6, 36)
ITEMS = 12


def calls_of(admin: redis.Redis, step: Callable[[], object]) -> dict[str, int]:
    """What Redis carried out meanwhile, inside scripts too, by command."""
    before = command_stats(admin, "calls")
    step()
    return {name: count for name, count in grown(before, command_stats(admin, "calls")).items() if name != "info"}


@pytest.mark.parametrize("java", [0.0, 1.0], ids=["ours", "java's"])
def test_a_transfer_passes_over_as_many_entries_behind_any_backlog(admin: Any, java: float) -> None:
    passed: dict[float, float] = {}
    for size in BACKLOGS:
        admin.flushall()
        queue, mover = Queue(admin, 1), Mover(admin, in_haste=False)
        now_us = queue.us
        queue.us -= 3_600_000_000
        queue.offer(size, java, lambda: FAR)
        queue.us = now_us
        queue.offer(5, java, lambda: PAST)
        scanned = Scanned(admin, KEYS.envelopes)
        passed[size] = 0
        while queue.due():
            passed[size] += scanned.of(mover.move)
    assert shape(passed, slack=16) == FLAT, passed


@pytest.mark.parametrize("lean", [False, True], ids=["mirrored", "lean"])
def test_an_item_costs_as_many_commands_behind_any_backlog(admin: Any, url: str, lean: bool) -> None:
    told: dict[float, float] = {}
    for size in BACKLOGS:
        admin.flushall()
        with redisson_dq.connect(url, codec=StringCodec()) as client:
            queue = client.blocking_queue("orders")
            delayed = client.delayed_queue(queue, lean=lean)
            delayed.offer_all((f"{number}", 3600 + number % 100) for number in range(size))
            delayed.offer("first", 0.01)
            queue.take()

            def offer_and_take(queue: Any = queue, delayed: Any = delayed) -> None:
                for number in range(ITEMS):
                    delayed.offer(f"item {number}", 0.01)
                    assert queue.take() == f"item {number}"

            told[size] = sum(calls_of(admin, offer_and_take).values()) / ITEMS
    assert shape(told) == FLAT, told


@contextmanager
def taking(client: Any, names: list[str], taken: threading.Semaphore) -> Iterator[None]:
    """A thread for each queue takes its values."""

    def take_all(queue: Any) -> None:
        with suppress(ClosedError):
            while queue.take():
                taken.release()

    threads = [threading.Thread(target=take_all, args=(client.blocking_queue(name),)) for name in names]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        client.close()
        for thread in threads:
            thread.join()


@contextmanager
def working(client: Any, names: list[str], taken: threading.Semaphore, concurrency: int | None) -> Iterator[None]:
    """One worker handles the values of all queues."""
    worker = Worker(client, concurrency=concurrency)
    for name in names:
        worker.handler(name)(lambda _value: taken.release())
    with worker:
        yield


@pytest.mark.parametrize(
    "consuming",
    [taking, partial(working, concurrency=None), partial(working, concurrency=4)],
    ids=["threads", "each handler's limit", "one limit"],
)
def test_an_item_costs_as_many_commands_among_any_number_of_queues(
    admin: Any, url: str, consuming: Callable[..., AbstractContextManager[None]]
) -> None:
    told: dict[float, float] = {}
    idle: dict[float, float] = {}
    for count in QUEUES:
        admin.flushall()
        names = [f"queue-{number}" for number in range(count)]
        taken = threading.Semaphore(0)
        with redisson_dq.connect(url, codec=StringCodec()) as client:
            delayed = [client.delayed_queue(name) for name in names]
            with consuming(client, names, taken):

                def one_after_another(delayed: Any = delayed, taken: threading.Semaphore = taken) -> None:
                    for number in range(ITEMS):
                        delayed[number % len(delayed)].offer(f"item {number}", 0.01)
                        assert taken.acquire(timeout=30)

                # Each queue has had an item, so that nothing is opened any more.
                for each in delayed:
                    each.offer("first", 0.01)
                    assert taken.acquire(timeout=30)
                told[count] = sum(calls_of(admin, one_after_another).values()) / ITEMS
                eventually(lambda: sum(_sent(calls_of(admin, lambda: time.sleep(0.1))).values()) == 0)
                idle[count] = sum(_sent(calls_of(admin, lambda: time.sleep(0.5))).values())
    assert shape(told) == FLAT, told
    assert shape(idle, slack=2) == FLAT, idle


def _sent(calls: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in calls.items() if name in FROM_CLIENTS}


@pytest.mark.parametrize(
    ("figures", "slack", "expected"),
    [
        ({10: 4, 100: 4, 1000: 5}, 0, FLAT),
        ({1: 0, 10: 1, 100: 2}, 2, FLAT),
        ({1: 1, 10: 2, 100: 3, 1000: 4}, 0, LOG),
        ({1: 5, 10: 14, 100: 104}, 0, LINEAR),
        ({1: 40, 10: 10}, 0, "falls"),
        ({7: 1}, 0, "-"),
    ],
)
def test_the_growth_of_figures(figures: dict[float, float], slack: float, expected: str) -> None:
    assert shape(figures, slack=slack) == expected
