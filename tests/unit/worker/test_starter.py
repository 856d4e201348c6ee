"""Where the handlings of what was received begin, and what becomes of them where threads are short."""

from __future__ import annotations

import asyncio
import queue
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from redisson_dq._async.worker import starting as async_starting
from redisson_dq._clock import SYSTEM
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool, HandlerPool, Running
from redisson_dq._sync.worker import starting
from tests.conftest import PATIENCE


def test_the_first_handling_of_a_task_begins_before_all_that_waits_for_its_turn() -> None:
    begun: list[str] = []

    async def handle(name: str) -> None:
        begun.append(name)
        await asyncio.sleep(0)

    async def receive(handlings: list[Callable[[], Awaitable[None]]]) -> None:
        pool = AsyncHandlerPool("test")
        starter = async_starting.Starter(pool)
        for each in handlings:
            starter.start(each)  # type: ignore[arg-type]
        assert starter.first is not None
        await pool.run(starter.first)

    async def main() -> None:
        asyncio.get_running_loop().call_soon(begun.append, "what had come before")
        await receive([partial(handle, name) for name in "abc"])
        await asyncio.sleep(0)

    asyncio.run(main())
    assert begun == ["a", "what had come before", "b", "c"]


def test_the_first_handling_of_a_thread_begins_in_that_thread() -> None:
    pool = HandlerPool("test")
    begun: dict[str, int] = {}
    done = threading.Barrier(3)

    def handle(name: str) -> None:
        begun[name] = threading.get_ident()
        if name != "a":
            done.wait(30)

    starter = starting.Starter(pool)
    for name in "abc":
        starter.start(partial(handle, name))
    assert starter.first is not None
    pool.run(starter.first)
    done.wait(30)
    pool.close(0)
    assert begun["a"] == threading.get_ident()
    assert len(set(begun.values())) == 3


class Full:
    """A pool whose works wait for a thread; it raises where it is to have its first one."""

    def __init__(self, *, raises: bool) -> None:
        self._raises = raises
        self.works: list[Callable[[], object]] = []

    def start(self, work: Callable[[], object]) -> Running:
        self.works.append(work)
        if self._raises:
            raise RuntimeError("can't start new thread")
        return Running(waits=True)


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("is_asked_first", [False, True])
def test_the_end_does_not_wait_for_a_thread(*, raises: bool, is_asked_first: bool) -> None:
    pool, taken = Full(raises=raises), []
    ended: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def turn() -> None:
        taken.append(threading.current_thread())
        turns.end()

    turns = starting.Turns(pool, turn, SYSTEM)  # type: ignore[arg-type]
    ending = threading.Thread(target=lambda: ended.put(turns.ended(PATIENCE)))
    assert not turns.ended(0.01)
    if is_asked_first:
        ending.start()
    if raises:
        with pytest.raises(RuntimeError):
            turns.begin()
    else:
        assert turns.begin()
    if not is_asked_first:
        ending.start()
    assert ended.get(timeout=PATIENCE)
    ending.join()
    # The pool has a thread at last, and nothing is left to do.
    pool.works[0]()
    assert taken == [ending]


_SHORT = """
import resource, threading
from redisson_dq._concurrency.handler_pools import HandlerPool

threading.stack_size(1 << 30)
pool, gate, done = HandlerPool("test"), threading.Event(), []
finished = threading.Semaphore(0)

def handle(number):
    gate.wait(30)
    done.append(number)
    finished.release()

pool.start(lambda: handle(0))
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
# Room for one thread more, and no room for a third.
resource.setrlimit(resource.RLIMIT_AS, (used + (3 << 29), resource.RLIM_INFINITY))
waits = [pool.start(lambda number=number: handle(number)).waits for number in range(1, 5)]
print(threading.active_count() - 1, "threads", waits)
gate.set()
for _ in range(5):
    assert finished.acquire(timeout=30)
print(sorted(done))
for number in range(5, 8):
    pool.start(lambda number=number: handle(number))
for _ in range(3):
    assert finished.acquire(timeout=30)
print(sorted(done))
"""


def test_where_the_system_gives_no_more_threads_each_handling_waits_for_one() -> None:
    ran = subprocess.run([sys.executable, "-c", _SHORT], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "2 threads [False, True, True, True]",
        "[0, 1, 2, 3, 4]",
        "[0, 1, 2, 3, 4, 5, 6, 7]",
    ]
    assert "a handling waits for one of 2 threads" in ran.stderr


_ONE_THREAD = """
import resource, threading
from redisson_dq._concurrency import BackgroundTask

threading.stack_size(1 << 30)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
# Room for the thread that starts it, and none for itself.
resource.setrlimit(resource.RLIMIT_AS, (used + (3 << 29), resource.RLIM_INFINITY))
gate = threading.Event()

def run():
    gate.wait(30)
    print("it runs", task.is_current, task.join())

task = BackgroundTask(run, "test")
print(task.join(0.05), task.is_current)
gate.set()
print(task.join(30))
"""


def test_a_background_task_runs_in_the_thread_that_starts_it_where_the_system_gives_no_other() -> None:
    ran = subprocess.run([sys.executable, "-c", _ONE_THREAD], capture_output=True, text=True, timeout=60, check=False)
    assert ran.stdout.splitlines() == ["False False", "it runs True True", "True"], ran.stderr
