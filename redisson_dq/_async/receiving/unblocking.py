"""Ends a blocking command from another connection."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from redis.exceptions import RedisError, ResponseError

from redisson_dq._async.connecting.dedicated import Dedicated
from redisson_dq._async.receiving.beginning import Beginner, Begun
from redisson_dq._clock import Clock
from redisson_dq._concurrency import AsyncCancelled
from redisson_dq._log import Log
from redisson_dq._pauses import Pauses
from redisson_dq.errors import RedissonDQError

__all__ = ["Unblocker"]

logger = Log()

# An unblock can overtake the blocking command that it is meant for. Then it is repeated at this interval.
_PAUSE = 0.005
_TRIES = 100
# Redis cannot be reached, or stands still: the pause doubles from the first figure up to the second.
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0


#: The connection of a blocking command, and the number of the command.
_Command = tuple[Dedicated, int]


class Unblocker:
    """Repeats CLIENT UNBLOCK until the blocking command has ended, in a background task of its own."""

    def __init__(
        self,
        key: str,
        mutex: AbstractContextManager[Any],
        clock: Clock,
        beginner: Beginner,
        target: Callable[[], _Command | None],
    ) -> None:
        """``target`` gives the command that still has to end, if any. Called under the mutex."""
        self._key = key
        self._mutex = mutex
        self._clock = clock
        self._beginner = beginner
        self._target = target
        self._task: Begun | None = None
        #: Whether the background task runs.
        self.is_running = False

    def start(self) -> None:
        """Begins, where it has not begun yet. Under the mutex."""
        if not self.is_running:
            self.is_running = True
            self._task = self._beginner.begin(self._run, f"redisson_dq-unblock-{self._key}")

    async def _run(self) -> None:
        pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        tries = ended = 0
        while True:
            with self._mutex:
                target = self._target()
                # The next command may have been sent since, and may have to end as well.
                if target is None or target[1] == ended:
                    self.is_running = False
                    return
            dedicated, number = target
            reason: BaseException | str = "Redis does not know of it any more"
            try:
                has_ended = await dedicated.unblock()
                pauses.reset()
                if has_ended:
                    tries, ended = 0, number
                    continue
                tries, pause = tries + 1, _PAUSE
            except ResponseError as error:
                reason, tries = error, _TRIES
            except (RedisError, OSError, RedissonDQError, AsyncCancelled) as error:
                # The pop may still end with a value.
                logger.debug("queue %r: cannot end a blocking pop yet: %s", self._key, error)
                pause = pauses.next()
            if tries == _TRIES:
                # Redis forbids the unblock, or lost this connection without our noticing. The connection is closed, or
                # the pop would take a value that nobody gets.
                logger.warning("queue %r: cannot end a blocking pop, closing its connection: %s", self._key, reason)
                await dedicated.hang_up()
                tries, ended = 0, number
                continue
            await self._clock.async_sleep(pause)
