"""The start of handlings of received values, also when threads are scarce."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial

import pytest

from redisson_dq._concurrency.handler_pools import AsyncHandlerPool, HandlerPool
from redisson_dq._sync.worker import starting
from redisson_dq.scheduling.clock import SYSTEM
from tests.conftest import PATIENCE


def test_the_first_handling_of_a_task_begins_before_all_that_waits_for_its_turn() -> None:
    begun: list[str] = []

    async def handle(name: str) -> None:
        begun.append(name)
        await asyncio.sleep(0)

    async def main() -> None:
        pool = AsyncHandlerPool("test")

        async def receive() -> object:
            asyncio.get_running_loop().call_soon(begun.append, "what had come before")
            pool.start_all([partial(handle, name) for name in "bc"])
            return partial(handle, "a")

        pool.start(receive)
        await asyncio.sleep(0.01)
        await pool.aclose(PATIENCE)

    asyncio.run(main())
    assert begun == ["a", "what had come before", "b", "c"]


def test_the_first_handling_of_a_thread_begins_in_that_thread() -> None:
    pool = HandlerPool("test")
    begun: dict[str, int] = {}
    done = threading.Barrier(4)

    def handle(name: str) -> None:
        begun[name] = threading.get_ident()
        done.wait(30)

    def receive() -> object:
        begun["receive"] = threading.get_ident()
        pool.start_all([partial(handle, name) for name in "bc"])
        return partial(handle, "a")

    pool.start(receive)
    done.wait(30)
    pool.close(0)
    assert begun["a"] == begun["receive"]
    assert len(set(begun.values())) == 3


def test_quick_works_are_done_by_few_threads_and_slow_ones_by_one_each() -> None:
    pool = HandlerPool("test")
    ended, gate = threading.Semaphore(0), threading.Barrier(9)

    def quick() -> None:
        ended.release()

    def wait() -> None:
        gate.wait(30)

    for _ in range(3):
        for _ in range(8):
            pool.start(wait)
        # Each of them has a thread, whatever was woken before.
        gate.wait(30)
        for _ in range(100):
            pool.start(quick)
        for _ in range(100):
            assert ended.acquire(timeout=30)
    pool.close(0)


class Left(Exception):
    """A value that cannot be compared with another one."""

    def __eq__(self, other: object) -> bool:
        raise ValueError

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("leaves", [True, False])
def test_a_task_goes_on_with_the_next_work_unless_the_last_one_has_left_something(*, leaves: bool) -> None:
    seen: list[object] = []
    variable: contextvars.ContextVar[object] = contextvars.ContextVar("variable", default=None)
    variable.set(Left())
    tasks = set()

    async def handle() -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(id(task))
        seen.append(variable.get())
        if leaves and len(seen) == 1:
            variable.set(Left())
        if leaves and len(seen) == 2:
            task.cancel()
        await asyncio.sleep(0) if len(seen) == 3 else None

    async def main() -> None:
        pool = AsyncHandlerPool("test")
        for _ in range(3):
            pool.start(handle)
            await asyncio.sleep(0.01)
        await pool.aclose(PATIENCE)
        held.append(pool)

    held: list[object] = []
    asyncio.run(main())
    assert len(seen) == 3
    assert all(each is seen[0] for each in seen)
    # A task that has ended may leave its id to the next one.
    assert leaves or len(tasks) == 1


class Full:
    """A pool whose works wait for a thread; it raises where it is to have its first one."""

    def __init__(self, *, raises: bool) -> None:
        self._raises = raises
        self.works: list[Callable[[], object]] = []

    def start(self, work: Callable[[], object]) -> bool:
        self.works.append(work)
        if self._raises:
            raise RuntimeError("can't start new thread")
        return True


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("is_asked_first", [False, True])
def test_the_end_does_not_wait_for_a_thread(*, raises: bool, is_asked_first: bool) -> None:
    pool, taken = Full(raises=raises), []

    def turn() -> None:
        taken.append(threading.current_thread())
        turns.end()

    turns = starting.Turns(pool, turn, SYSTEM)  # type: ignore[arg-type]
    ending = threading.Thread(target=turns.ended)
    if is_asked_first:
        ending.start()
    if raises:
        with pytest.raises(RuntimeError):
            turns.begin()
    else:
        assert turns.begin()
    if not is_asked_first:
        ending.start()
    ending.join(PATIENCE)
    assert not ending.is_alive()
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
waits = [pool.start(lambda number=number: handle(number)) for number in range(1, 5)]
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
