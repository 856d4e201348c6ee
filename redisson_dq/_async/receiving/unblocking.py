"""Ends a blocking command from another connection.

Redis gives one answer for a command that it has answered and for a connection that it has lost. The reply to such a
command may be a value that exists nowhere else. So no connection is cut for that answer: its reader knows how long a
reply may take (``connecting/dedicated.py``). Where Redis forbids to end commands, the connection of a source goes that
asks again for the values of a lost reply. The command of another source goes on until its time is over, or until the
line is closed: then this client sends nothing more on that connection, and the server ends both.
"""

from __future__ import annotations

import logging

from redis.exceptions import RedisError, ResponseError

from redisson_dq._async.connecting.dedicated import Dedicated
from redisson_dq._async.receiving.beginning import Beginner, Begun
from redisson_dq._concurrency import AsyncCancelled
from redisson_dq._redis import is_passing
from redisson_dq.errors import RedissonDQError
from redisson_dq.scheduling.clock import Clock
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waits.engine import WaitEngine

__all__ = ["Unblocker"]

logger = logging.getLogger("redisson_dq")

# Redis answers that it has ended nothing. The unblock has overtaken the command, or the reply is on its way.
_FIRST_TRY, _LONGEST_TRY = 0.005, 0.1
# Redis cannot be reached, hangs or refuses. Both pauses double from the first figure up to the second.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0

# A command that may not be ended goes on if its time is over within this many seconds. Then no caller's connection is
# cut.
_SOON = 1.0
# For how many seconds such a command waits for the next caller, as of a loop that waits again and again.
_A_MOMENT = 0.05


class Unblocker:
    """Repeats CLIENT UNBLOCK until the blocking command has ended, in a background task of its own.

    ``is_running`` is its whole state. The engine decides which command has to end (:meth:`WaitEngine.to_end`).
    """

    def __init__(self, engine: WaitEngine, clock: Clock, beginner: Beginner) -> None:
        self._engine = engine
        self._key = engine.source.key
        # Whether no value is lost with the connection.
        self._may_cut = engine.source.sets_aside
        self._clock = clock
        self._beginner = beginner
        self._task: Begun | None = None
        self._has_warned = False
        #: Whether the background task runs.
        self.is_running = False

    def start(self) -> None:
        """Begins, where it has not begun yet. Under the mutex."""
        if not self.is_running:
            self.is_running = True
            self._task = self._beginner.begin(self._run, f"redisson_dq-unblock-{self._key}")

    async def _run(self) -> None:
        tries, pauses = Pauses(_FIRST_TRY, _LONGEST_TRY), Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        line, ended, refused = self._engine.line, 0, 0
        while True:
            with line.mutex:
                block, dedicated, number = self._engine.to_end(), self._engine.connection, self._engine.number
                # The next command may have been sent since, and may have to end as well.
                if block is None or number == ended:
                    self.is_running = False
                    return
            try:
                has_ended = await dedicated.unblock()
                pauses.reset()
                if has_ended:
                    ended = number
                    tries.reset()
                    continue
                pause = tries.next()
            except (RedisError, OSError, RedissonDQError, AsyncCancelled) as error:
                logger.debug("queue %r: cannot end a blocking pop yet: %s", self._key, error)
                pause = pauses.next()
                if isinstance(error, ResponseError) and not is_passing(error):
                    self._warn(error)
                    is_known, refused = refused == number or line.closed, number
                    if not is_known:
                        pause = _A_MOMENT
                    elif block.until - self._clock.monotonic() > _SOON and await self._cut(dedicated):
                        ended = number
                        continue
            await self._clock.async_sleep(pause)

    async def _cut(self, dedicated: Dedicated) -> bool:
        """Ends the connection of a command that may not be ended. False where its reply would be lost."""
        if self._may_cut:
            await dedicated.hang_up()
        elif self._engine.line.closed:
            dedicated.sends_no_more()
        else:
            return False
        return True

    def _warn(self, error: ResponseError) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        ends = "so its connection is closed" if self._may_cut else "which continues until its timeout"
        logger.warning(
            "queue %r: Redis does not let the client end its blocking command, %s: %s", self._key, ends, error
        )
