"""The program of one process: runs the user's worker, and reports its state to the supervisor.

``python -m redisson_dq.cli.worker.child``, with JSON on standard input
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import logging
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from redisson_dq.admin.names import own_process
from redisson_dq.cli.frame import say
from redisson_dq.cli.worker.loading import AnyWorker, LoadError, load
from redisson_dq.cli.worker.logs import set_up
from redisson_dq.items import Stall
from redisson_dq.working.happenings import Away, BackAgain, DeadLettered, Retried, Succeeded, TimedOut

__all__ = ["Reporter", "main", "memory"]

logger = logging.getLogger("redisson_dq")

# How often the child reports to the supervisor; more often until the worker runs.
_EVERY, _AT_FIRST = 1.0, 0.05
# How long a handler may take to return after it was notified of its timeout.
_TO_RETURN = 2.0


class Reporter:
    """Reports the worker's state to the supervisor every second, and stops the worker when the supervisor is gone."""

    def __init__(
        self,
        worker: AnyWorker,
        supervisor: socket.socket,
        max_jobs: int | None,
        max_memory: int | None,
        page: Callable[[], list[Any]] | None = None,
    ) -> None:
        """``page`` returns the process's metrics."""
        self._worker = worker
        self._supervisor = supervisor
        self._max_jobs, self._max_memory = max_jobs, max_memory
        self._jobs = 0
        self._leaves: str | None = None
        #: The event loop of the worker, if it needs one.
        self.loop: asyncio.AbstractEventLoop | None = None
        self._changed = threading.Event()
        #: The events of running handlers, if there are timeouts.
        self._inside: set[Any] = set()
        #: Events whose timeout has passed, and when their handlers must have returned.
        self._overdue: dict[Any, float] = {}
        self._page = page
        self._last_page: list[Any] | None = None
        # Only one message is sent at a time, from any thread.
        self._sending = threading.Lock()
        self._watch()
        for run in (self._tell, self._listen, self._look) if page is not None else (self._tell, self._listen):
            threading.Thread(target=run, name="redisson_dq-report", daemon=True).start()

    def _watch(self) -> None:
        self._worker.on(Away, BackAgain)(lambda happening: self._changed.set())
        if self._max_jobs is not None:
            self._worker.on(Succeeded, Retried, DeadLettered)(self._count)
        if any(handler.timeout is not None for handler in self._worker.handlers):
            self._worker.middleware(self._around)
            self._worker.on(TimedOut)(self._timed_out)

    def _count(self, happening: object) -> None:
        self._jobs += 1
        if self._jobs == self._max_jobs:
            self._changed.set()

    def _around(self, event: Any) -> Iterator[None]:
        # A batch has a list of events.
        name = id(event[0] if isinstance(event, list) else event)
        self._inside.add(name)
        try:
            yield
        finally:
            self._inside.discard(name)

    def _timed_out(self, happening: TimedOut) -> None:
        self._overdue[id(happening.event)] = time.monotonic() + _TO_RETURN

    # -- to the supervisor -------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        while True:
            self._changed.clear()
            told = self._report()
            try:
                self._send(told)
            except OSError:
                return
            self._changed.wait(_EVERY if told["running"] else _AT_FIRST)

    def _report(self) -> dict[str, Any]:
        problems = self._worker.problems
        return {
            "running": self._worker.is_running,
            "consuming": self._worker.is_consuming,
            "problems": [str(problem) for problem in problems],
            "stalled": any(isinstance(problem, Stall) for problem in problems),
            "queues": self._worker.queues,
            "leaves": self._why_to_leave(),
            "metrics": self._last_page,
        }

    def _send(self, told: dict[str, Any]) -> None:
        with self._sending:
            self._supervisor.sendall(json.dumps(told).encode() + b"\n")

    def _look(self) -> None:
        """Renders the page of metrics again. A slow collector of the user's delays no report."""
        while True:
            self._make_page()
            time.sleep(_EVERY)

    def _make_page(self) -> None:
        assert self._page is not None
        try:
            self._last_page = self._page()
        except Exception:
            logger.exception("metrics: the page of this process cannot be made")

    def tell_last(self) -> None:
        """Reports the last counts after the worker has stopped."""
        if self._page is not None:
            self._make_page()
            with contextlib.suppress(OSError):
                self._send(self._report())

    def _why_to_leave(self) -> str | None:
        if self._leaves is None:
            self._leaves = self._reason()
        return self._leaves

    def _reason(self) -> str | None:
        if self._max_jobs is not None and self._jobs >= self._max_jobs:
            return f"it has handled {self._jobs} values"
        if self._max_memory is not None and (used := memory()) > self._max_memory:
            return f"it has {used >> 20} MB of memory"
        now = time.monotonic()
        for event, deadline in list(self._overdue.items()):
            if event not in self._inside:
                del self._overdue[event]
            elif deadline <= now:
                return "a handler has not returned after its timeout"
        return None

    # -- from the supervisor -----------------------------------------------------------------------------------------

    def _listen(self) -> None:
        try:
            while self._supervisor.recv(4096):
                self._ask_to_stop(2)
        except OSError:
            pass
        # The connection ends when the supervisor ends.
        self._ask_to_stop(1)

    def _ask_to_stop(self, times: int) -> None:
        """The second time is for the end of the grace."""
        if not self._worker.is_running:
            os.kill(os.getpid(), signal.SIGTERM)
            return
        for _ in range(times):
            if self.loop is None:
                self._worker.request_stop()
            else:
                # A loop that has ended needs no notification.
                with contextlib.suppress(RuntimeError):
                    self.loop.call_soon_threadsafe(self._worker.request_stop)


def memory() -> int:
    """How many bytes of memory this process uses; the peak if the system reports only that.

    0 if no file descriptor is free to read it. The next call reads it.
    """
    try:
        with open("/proc/self/statm") as found:
            return int(found.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used if sys.platform == "darwin" else used * 1024
    except OSError:
        return 0


def main(told: dict[str, Any]) -> int:
    """Runs the worker until it is asked to stop, and returns the exit code."""
    set_up(told["log_level"])
    supervisor = socket.socket(fileno=told["socket"])
    # Programs that the handlers start must not keep it open.
    supervisor.set_inheritable(False)
    # Leases and connections identify their owner by the same bytes.
    own_process(bytes.fromhex(told["owner"]))
    try:
        worker = load(told["target"], told["url"], told["redisson_config"])
    except LoadError as error:
        say(f"redisson-dq: error: {error}", error=True)
        return 1
    worker._owner = bytes.fromhex(told["owner"])
    page = _counted(worker) if told["metrics"] else None
    reporter = Reporter(worker, supervisor, told["max_jobs"], told["max_memory"], page)
    if inspect.iscoroutinefunction(worker.run):
        asyncio.run(_run_in_loop(worker, reporter, told["grace"]))
    else:
        worker.run(told["grace"])
    reporter.tell_last()
    return 0


def _counted(worker: AnyWorker) -> Callable[[], list[Any]]:
    """Counts for the worker, and returns the function that renders the page of this process."""
    from redisson_dq.prometheus import instrument
    from redisson_dq.prometheus.merging import page_of

    instrument(worker)
    return page_of


async def _run_in_loop(worker: Any, reporter: Reporter, grace: float) -> None:
    reporter.loop = asyncio.get_running_loop()
    await worker.run(grace)


if __name__ == "__main__":
    sys.exit(main(json.load(sys.stdin)))
