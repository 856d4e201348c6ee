"""The supervisor's calls to Redis: to put back the values of dead processes, and to read the state of the queues.

One thread, so that the supervisor never waits for Redis.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import logging
import threading
import time
from collections.abc import Mapping
from typing import Any

import attrs

from redisson_dq._concurrency import Inbox
from redisson_dq.cli.worker.loading import AnyWorker
from redisson_dq.errors import RedissonDQError
from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.stats import QueueStats

__all__ = ["Recovery"]

logger = logging.getLogger("redisson_dq")

# A command that the process sent just before its death may be processed after our first check.
_SECOND_LOOK = 0.25
# The limit while Redis is away or there is no descriptor. By then most leases have ended by themselves.
_FIRST_PAUSE, _LONGEST_PAUSE, _PATIENCE = 1.0, 30.0, 3600.0
# Successive probes within this time share one reading.
_LOOKS_ANEW = 1.0
_END, _LOOK = "end", "look"

#: The figures of queues, by name.
_Figures = Mapping[str, QueueStats]


@attrs.define
class _DeadProcess:
    owner: bytes
    queues: tuple[str, ...]
    #: When its leases are searched next, and until when a search may fail.
    next: float
    until: float
    pause: float = _FIRST_PAUSE
    looks: int = 2


class Recovery:
    """Processes the given owners as soon as Redis answers."""

    def __init__(self, worker: AnyWorker) -> None:
        self._worker = worker
        self._came: Inbox[_DeadProcess | str] = Inbox(SYSTEM)
        self._waiting: list[_DeadProcess] = []
        self._closes = threading.Event()
        self._look: concurrent.futures.Future[_Figures] = concurrent.futures.Future()
        self._look.set_result({})
        self._looked = -_LOOKS_ANEW
        # A client of an event loop belongs to that loop. It is made while there are descriptors.
        self._loop = asyncio.new_event_loop() if inspect.iscoroutinefunction(worker._return_leases) else None
        self._thread = threading.Thread(target=self._run, name="redisson_dq-recovery", daemon=True)
        self._thread.start()

    def hand_back(self, owner: bytes, queues: tuple[str, ...]) -> None:
        """Schedules the return of the leases of an owner whose process is dead."""
        now = time.monotonic()
        self._came.put(_DeadProcess(owner, queues, next=now, until=now + _PATIENCE))

    def figures(self) -> concurrent.futures.Future[_Figures]:
        """The figures of the worker's queues, at most a second old.

        Only one thread may call it. While Redis is away, it returns the last result.
        """
        now = time.monotonic()
        if self._look.done() and now - self._looked >= _LOOKS_ANEW:
            self._looked = now
            self._look = concurrent.futures.Future()
            # A caller that stops waiting must not cancel it for the others.
            self._look.set_running_or_notify_cancel()
            self._came.put(_LOOK)
        return self._look

    def close(self, timeout: float) -> None:
        """Closes when all leases have been returned, or at the timeout."""
        self._closes.set()
        self._came.put(_END)
        self._thread.join(timeout)
        if self._waiting:
            logger.error(
                "supervisor: Redis has not answered within %g s, so values of dead processes return at their deadline: "
                "%d processes",
                timeout,
                len(self._waiting),
            )

    def _run(self) -> None:
        known: _Figures = {}
        try:
            while self._waiting or not self._closes.is_set():
                first = min(self._waiting, key=lambda each: each.next, default=None)
                came = self._came.next(None if first is None else max(0.0, first.next - time.monotonic()))
                if isinstance(came, _DeadProcess):
                    self._waiting.append(came)
                elif came == _LOOK:
                    known = self._figures(known)
                    self._look.set_result(known)
                elif came is None and first is not None and self._is_over(first):
                    self._waiting.remove(first)
        finally:
            if self._loop is not None:
                self._loop.close()

    def _is_over(self, dead: _DeadProcess) -> bool:
        """Returns the leases of one owner. True if no further check is needed or possible."""
        try:
            found = self._result_of(self._worker._return_leases(dead.owner, dead.queues))
        except Exception as error:
            # Errors of Redis, and those of a system without descriptors, threads or memory.
            traceback = None if isinstance(error, (RedissonDQError, OSError)) else error
            now = time.monotonic()
            if self._closes.is_set() or now > dead.until:
                logger.error(
                    "supervisor: values of a dead process return at their deadline: %s",
                    error,
                    exc_info=traceback,
                )
                return True
            if dead.pause == _FIRST_PAUSE:
                logger.warning(
                    "supervisor: values of a dead process cannot be handed back now; retrying: %s",
                    error,
                    exc_info=traceback,
                )
            dead.next = now + dead.pause
            dead.pause = min(_LONGEST_PAUSE, dead.pause * 2)
            return False
        if found:
            logger.warning("supervisor: a process died, and its values are ready again: %d", found)
        dead.looks -= 1
        dead.next = time.monotonic() + _SECOND_LOOK
        return not dead.looks

    def _figures(self, known: _Figures) -> _Figures:
        try:
            found: _Figures = self._result_of(self._worker.stats())
            return found
        except Exception as error:
            logger.debug("supervisor: cannot read the figures of the queues: %s", error)
            return known

    def _result_of(self, called: Any) -> Any:
        return self._loop.run_until_complete(called) if self._loop is not None else called
