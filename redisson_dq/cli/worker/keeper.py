"""Hands back what dead processes had in hand. One thread, so that the supervisor never waits for Redis."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import time
from collections import deque
from typing import Any

import attrs

from redisson_dq._concurrency import Inbox
from redisson_dq.cli.worker.loading import AnyWorker
from redisson_dq.errors import RedissonDQError

__all__ = ["Keeper"]

logger = logging.getLogger("redisson_dq")

# A command that the process sent just before its death may be read after our first look.
_SECOND_LOOK = 0.25
# While Redis is away. Leases that are not handed back by then have ended by themselves.
_PAUSE, _PATIENCE = 1.0, 60.0
_END = "end"


@attrs.frozen
class _DeadProcess:
    owner: bytes
    queues: tuple[str, ...]


class Keeper:
    """Works off the owners it is given, in the order in which their processes died."""

    def __init__(self, worker: AnyWorker) -> None:
        self._worker = worker
        self._dead: Inbox[_DeadProcess | str] = Inbox()
        self._closes = threading.Event()
        self._thread = threading.Thread(target=self._run, name="redisson_dq-keeper", daemon=True)
        self._thread.start()

    def hand_back(self, owner: bytes, queues: tuple[str, ...]) -> None:
        """Gives back the leases of an owner whose process is dead, soon."""
        self._dead.put(_DeadProcess(owner, queues))

    def close(self, timeout: float) -> None:
        """Ends when all was handed back, or at the timeout."""
        self._closes.set()
        self._dead.put(_END)
        self._thread.join(timeout)

    def _run(self) -> None:
        # A client of an event loop belongs to that loop.
        loop = asyncio.new_event_loop()
        again: deque[tuple[float, _DeadProcess]] = deque()
        closes = False
        try:
            while again or not closes:
                wait = max(0.0, again[0][0] - time.monotonic()) if again else None
                dead = self._dead.next(wait)
                if dead is None:
                    self._look(loop, again.popleft()[1])
                elif not isinstance(dead, _DeadProcess):
                    closes = True
                elif self._look(loop, dead):
                    again.append((time.monotonic() + _SECOND_LOOK, dead))
        finally:
            loop.close()

    def _look(self, loop: asyncio.AbstractEventLoop, dead: _DeadProcess) -> bool:
        """Hands back what there is of one owner; False when it could not."""
        found = self._returned(loop, dead)
        if found:
            logger.warning("supervisor: %d values of a process that died are ready again", found)
        return found is not None

    def _returned(self, loop: asyncio.AbstractEventLoop, dead: _DeadProcess) -> int | None:
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                found: Any = self._worker.return_leases(dead.owner, dead.queues)
                return int(loop.run_until_complete(found) if inspect.iscoroutine(found) else found)
            except RedissonDQError as error:
                if self._closes.is_set() or time.monotonic() > deadline:
                    logger.error("supervisor: what a dead process had in hand comes back by its deadline: %s", error)
                    return None
                time.sleep(_PAUSE)
            except Exception:
                logger.exception("supervisor: what a dead process had in hand comes back by its deadline")
                return None
