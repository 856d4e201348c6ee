"""Workers and handlers in the test's process: they note, log or hold up the values that they get."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from redisson_dq.worker import Happening
from tests.conftest import PATIENCE, eventually
from tests.integration.whereabouts import whereabouts

__all__ = ["Ledger", "Log", "Gate", "at_rest", "forever", "running", "worked_off"]


class Ledger:
    """What handlers were called with, and the events they got."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.events: list[Any] = []
        self._came: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def handle(self, value: Any, event: Any) -> None:
        self.note(value, event)

    def note(self, value: Any, event: Any = None) -> None:
        self.values.append(value)
        self.events.append(event)
        self._came.put(value)

    def next(self) -> Any:
        return self._came.get(timeout=PATIENCE)

    def some(self, count: int) -> list[Any]:
        return [self.next() for _ in range(count)]


class Log:
    """The happenings of a worker."""

    def __init__(self, worker: Any) -> None:
        self.all: list[Happening] = []
        worker.on()(self.all.append)

    def of(self, *kinds: type[Happening]) -> list[Any]:
        return [each for each in self.all if isinstance(each, kinds)]

    def names(self, of: str | None = None) -> list[str]:
        return [type(each).__name__ for each in self.all if of is None or getattr(each, "id", None) == of]

    def until(self, kind: type[Happening], count: int = 1) -> list[Any]:
        found: list[Any] = eventually(lambda: found if len(found := self.of(kind)) >= count else None)
        return found


class Gate:
    """Holds handlers until it is opened; knows how many wait, and how many did at most."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._mutex = threading.Lock()
        self.inside = 0
        self.most = 0
        self.entered = 0

    def wait(self) -> None:
        with self._mutex:
            self.inside += 1
            self.entered += 1
            self.most = max(self.most, self.inside)
        try:
            assert self._open.wait(PATIENCE), "the gate was never opened"
        finally:
            with self._mutex:
                self.inside -= 1

    @property
    def is_open(self) -> bool:
        return self._open.is_set()

    def open(self) -> None:
        self._open.set()


@contextmanager
def running(worker: Any, gate: Gate | None = None) -> Iterator[Any]:
    """A worker that runs, and is stopped whatever the test finds."""
    worker.start()
    try:
        yield worker
    finally:
        if gate is not None:
            gate.open()
        worker.stop(grace=PATIENCE if gate is not None else 5)


def at_rest(admin: Any, name: str = "orders") -> None:
    """Waits until no value of a queue is anywhere but among the dead letters."""

    def nothing_left() -> bool:
        found = whereabouts(admin, name)
        return not found.total - found.dead

    eventually(nothing_left)


def worked_off(admin: Any, pause: float = 0.2) -> None:
    """Waits until nothing is left, however long it takes, as long as the list ``done`` grows.

    A process that died again and again is replaced after half a minute.
    """
    while whereabouts(admin).total:
        before = admin.llen("done")
        time.sleep(pause)
        eventually(partial(_went_on, admin, before), within=3 * PATIENCE)


def _went_on(admin: Any, before: int) -> bool:
    return admin.llen("done") > before or not whereabouts(admin).total


AnyHandler = Callable[..., Any]


async def forever() -> None:
    """A wait that only a cancellation ends."""
    await asyncio.get_running_loop().create_future()
