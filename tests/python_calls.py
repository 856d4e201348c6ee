"""How many functions of the library one call runs, and in how many files: ``python -m tests.python_calls``.

The calls are warm, against a server on this machine: those of the synchronous flavour, and jobs of a busy worker in
both flavours. What counts is each call of a function in a file of ``redisson_dq``, by any thread, until all threads are
idle again. Functions that attrs makes, redis-py and Python are left out.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import attrs

import redisson_dq
from redisson_dq import aio
from redisson_dq.aio.worker import Worker as AioWorker
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.worker import Worker

__all__ = ["JOBS", "Cost", "costs", "job_costs"]

PACKAGE = str(Path(redisson_dq.__file__).parent)
#: How many jobs a busy worker has.
JOBS = 400
_SLOTS = 8
# All threads are idle when they have run nothing for this number of seconds.
_IDLE = 0.02


@attrs.frozen
class Cost:
    """The functions that one call ran, in their order: file and name of each."""

    functions: tuple[tuple[str, str], ...]

    @property
    def calls(self) -> int:
        """How many there were."""
        return len(self.functions)

    @property
    def files(self) -> int:
        """In how many files."""
        return len({file for file, _ in self.functions})

    @property
    def moves(self) -> int:
        """How often the next one was in another file."""
        return sum(one != other for (one, _), (other, _) in itertools.pairwise(self.functions))


class Profile:
    """Notes the calls of the threads that start while it is installed, and of the installing thread."""

    def __init__(self) -> None:
        self._functions: list[tuple[str, str]] = []

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            self._functions.append((frame.f_code.co_filename[len(PACKAGE) + 1 :], frame.f_code.co_name))

    @property
    def count(self) -> int:
        """How many there were."""
        return len(self._functions)

    @contextmanager
    def installed(self) -> Iterator[None]:
        before, threads_before = sys.getprofile(), threading.getprofile()
        sys.setprofile(self._note)
        threading.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(before)
            threading.setprofile(threads_before)

    def cost_of(self, call: Callable[[], object]) -> Cost:
        """The cost of a call, and of all that follows it."""
        self._settle()
        self._functions.clear()
        call()
        self._settle()
        return Cost(tuple(self._functions))

    def _settle(self) -> None:
        seen = -1
        while seen != len(self._functions):
            seen = len(self._functions)
            time.sleep(_IDLE)


@contextmanager
def _calls(url: str) -> Iterator[dict[str, Callable[[], object]]]:
    """Each call by its name, ready to be made several times."""
    with redisson_dq.connect(url) as client:
        queue = client.blocking_queue("orders")
        delayed = client.delayed_queue(queue)
        queue.add_all([f"order-{number}" for number in range(200)])
        received = iter([queue.receive(timeout=0) for _ in range(20)])
        yield {
            "offer": lambda: delayed.offer("order", 3600),
            "cancel": lambda: delayed.cancel("nobody's"),
            "size": queue.size,
            "peek": queue.peek,
            "add": lambda: queue.add("order"),
            "poll": queue.poll,
            "take": queue.take,
            "receive": queue.receive,
            "ack": lambda: next(received).ack(),  # type: ignore[union-attr]
        }


def costs(url: str) -> dict[str, Cost]:
    """The cost of each call, when it has been made a few times. The least of three: the client has its own tasks."""
    profile = Profile()
    with profile.installed(), _calls(url) as calls:
        for call in calls.values():
            for _ in range(5):
                call()
        tries = {name: [profile.cost_of(call) for _ in range(3)] for name, call in calls.items()}
    return {name: min(of_call, key=lambda cost: cost.calls) for name, of_call in tries.items()}


class _Jobs:
    """Handles values, and notes how many functions have run before the jobs that count, and after them."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._numbers = itertools.count(1)
        self._counts: list[int] = []
        self.done = threading.Event()

    def handle(self, value: object) -> None:
        """One job. Those up to the first mark warm the worker."""
        number = next(self._numbers)
        if number in (JOBS, 2 * JOBS):
            self._counts.append(self._profile.count)
        if number == 2 * JOBS:
            self.done.set()

    async def handle_in_loop(self, value: object) -> None:
        """The same in a task."""
        self.handle(value)

    @property
    def each(self) -> float:
        """How many functions one job has run."""
        first, last = self._counts
        return (last - first) / JOBS


def _busy(url: str) -> None:
    with redisson_dq.connect(url) as client:
        client.blocking_queue("jobs").add_all([f"job-{number}" for number in range(3 * JOBS)])


def _run_threads(url: str, jobs: _Jobs) -> None:
    with redisson_dq.connect(url) as client:
        worker = Worker(client)
        worker.handler("jobs", concurrency=_SLOTS)(jobs.handle)
        with worker:
            jobs.done.wait(30)


async def _run_tasks(url: str, jobs: _Jobs) -> None:
    async with aio.connect(url) as client:
        worker = AioWorker(client)
        worker.handler("jobs", concurrency=_SLOTS)(jobs.handle_in_loop)
        async with worker:
            await asyncio.to_thread(jobs.done.wait, 30)


def job_costs(url: str) -> dict[str, float]:
    """How many functions one job of a busy worker with 8 slots runs, by flavour."""
    profile, found = Profile(), {}
    for flavour, run in {"threads": _run_threads, "asyncio": lambda *args: asyncio.run(_run_tasks(*args))}.items():
        _busy(url)
        jobs = _Jobs(profile)
        with profile.installed():
            run(url, jobs)
        found[flavour] = jobs.each
    return found


def main() -> None:
    """Prints the tables, and with the name of a call the functions that it runs."""
    with EmbeddedServer() as server:
        found, jobs = costs(server.url), job_costs(server.url)
    print("| call | functions | files | moves between files |\n|---|---|---|---|")
    for name, cost in found.items():
        print(f"| {name} | {cost.calls} | {cost.files} | {cost.moves} |")
    for flavour, calls in jobs.items():
        print(f"| a job, {flavour} | {calls:.1f} | | |")
    for name in sys.argv[1:]:
        print(f"\n{name}:", *(f"  {file}  {function}" for file, function in found[name].functions), sep="\n")


if __name__ == "__main__":
    main()
