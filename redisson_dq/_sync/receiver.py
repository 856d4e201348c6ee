# Generated from redisson_dq/_async/receiver.py by .ci/unasync.py. Do not edit: edit that file and run it.

"""Blocking pops: one connection per list and end, shared by every local caller that waits for it.

The reply of a blocking pop is an item that exists nowhere else any more, so nothing that may be interrupted ever
reads it: a worker does, and hands it to the caller that waits longest. A caller that times out, is cancelled or
interrupted only takes its name off; an item that finds nobody waiting goes back to the end it came from.
"""

from __future__ import annotations

import contextlib
import logging
import time
from operator import attrgetter

from redis.exceptions import RedisError, ResponseError

from .._pairs import Switch, Worker, sleep
from .._redis import is_transient, translate
from ..errors import RedisConnectionError, RedissonDQError
from ..wire import commands
from ..wire.blocking import Source, Taken
from .connections import Connections, Dedicated
from .line import Line

__all__ = ["LAST_REPLY", "Receiver", "Tap"]

logger = logging.getLogger("redisson_dq")

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
# How long the worker and its connection stay when nobody waits, so that a take() in a loop finds them.
_LINGER = 10.0
# An unblock can overtake the blocking command it is meant for; it is repeated at this interval then.
_UNBLOCK_PAUSE = 0.005
_UNBLOCK_TRIES = 100
# How long close() waits for the worker to see its last reply before it cuts the connection.
LAST_REPLY = 2.0
# A pop that took no longer than this beyond a round trip did not wait: there was something, and there may be more.
_AT_ONCE = 0.001


class Receiver(Line):
    """Takes from one source for all local callers, over one connection."""

    def __init__(self, connections: Connections, source: Source) -> None:
        super().__init__(source.key)
        self._tap = Tap(connections, source, self)

    @property
    def trouble(self) -> RedisConnectionError | None:
        return self._tap.trouble

    def close(self) -> None:
        """Ends every wait with ClosedError, then the worker and its connection. No item is lost."""
        self.shut()
        self._tap.close()

    def _left_over(self, limit: int) -> list[Taken]:
        return self._tap.left_over(limit)

    def _put_away(self, values: list[Taken]) -> None:
        self._tap.put_away(values)

    def _work(self) -> None:
        self._tap.open()

    def _served(self) -> None:
        """Its tap sees for itself whether anybody waits."""

    def _nobody_waits(self) -> None:
        self._tap.release()


class Tap:
    """Takes from one source for a line of callers: while it is open, and somebody waits, a pop is blocked there."""

    def __init__(self, connections: Connections, source: Source, line: Line) -> None:
        self._connections = connections
        self._source = source
        self._key = source.key
        self._line = line
        self._surplus: list[Taken] = []
        self._wanted = Switch()
        self._closing = Switch()
        self._worker: Worker | None = None
        self._dedicated: Dedicated | None = None
        self._blocked = False
        self._round_trip = 0.0
        #: From :meth:`open` until the worker finds that nobody waits.
        self.is_open = False
        self.trouble: RedisConnectionError | None = None

    def open(self) -> None:
        """Lets it take until nobody waits any more. Called under the line's mutex, as the next two."""
        self.is_open = True
        self._wake()

    def left_over(self, limit: int) -> list[Taken]:
        """Up to so many of the values that wait to be put back."""
        found, self._surplus = self._surplus[:limit], self._surplus[limit:]
        return found

    def put_away(self, values: list[Taken]) -> None:
        """Puts values back where they came from, in the order in which they were taken."""
        self._surplus += values
        self._surplus.sort(key=attrgetter("number"))
        self._wake()

    def _wake(self) -> None:
        self._wanted.on()
        if self._worker is None:
            self._worker = Worker(self._run, f"redisson_dq-receiver-{self._key}")

    def close(self) -> None:
        """Ends the worker and its connection, after the line was closed. No item is lost."""
        self._wanted.on()
        self._closing.on()
        self.release()
        worker = self._worker
        if worker is not None and not worker.join(LAST_REPLY):
            dedicated = self._dedicated
            if dedicated is not None:
                dedicated.hang_up()
            worker.stop(LAST_REPLY)

    def release(self) -> None:
        """Ends a blocked pop that nobody waits for; its reply tells whether it had popped something."""
        dedicated = self._dedicated
        reason: Exception | str = "Redis does not know of it any more"
        for _ in range(_UNBLOCK_TRIES):
            if dedicated is None or not self._blocked or self._line.waits:
                return
            try:
                if dedicated.unblock():
                    return
            except (RedisError, OSError) as error:
                reason = error
                break
            sleep(_UNBLOCK_PAUSE)
        # Redis cannot be reached, forbids CLIENT UNBLOCK, or lost this connection without our noticing. It has to go,
        # or the pop would take an item away from everybody.
        if dedicated is not None:
            logger.warning("queue %r: cannot end a blocking pop, closing its connection: %s", self._key, reason)
            dedicated.hang_up()

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while self._next_round():
            try:
                if not self._surplus:
                    self._pop()
                elif not self._put_back():
                    self._closing.wait(pause)
                    pause = min(_LONGEST_PAUSE, pause * 2)
                    continue
            except Exception as error:
                self._disconnect()
                trouble = translate(error, f"queue {self._key!r}", sent=True)
                if isinstance(trouble, RedisConnectionError):
                    self.trouble = trouble
                    logger.warning("queue %r: waiting again in %.2f s: %s", self._key, pause, error)
                    self._connections.refresh()
                    self._closing.wait(pause)
                    pause = min(_LONGEST_PAUSE, pause * 2)
                else:
                    self._line.fail(trouble)
            else:
                self.trouble = None
                pause = _FIRST_PAUSE

    def _next_round(self) -> bool:
        """Waits until there is something to do. False when the worker has to end."""
        lingered = False
        while True:
            with self._line.mutex:
                if self._surplus or (self.is_open and self._line.waits):
                    return True
                self.is_open = False
                if self._line.closed or lingered:
                    # From here on another caller starts another worker, with another connection.
                    retired, self._dedicated, self._worker = self._dedicated, None, None
                    break
                self._wanted.off()
            lingered = not self._wanted.wait(_LINGER)
        if retired is not None:
            retired.close()
        return False

    def _pop(self) -> None:
        if self._dedicated is None:
            self._dedicated = self._connections.dedicated(self._key)
            began = time.monotonic()
            self._dedicated.learn_id()
            self._round_trip = time.monotonic() - began
            self.trouble = None
        with self._line.mutex:
            if not self._line.waits:
                return
            self._blocked = True
        began = time.monotonic()
        try:
            self._dedicated.send(*self._source.words)
            reply = self._dedicated.read()
        except ResponseError as error:
            trouble = self._explain(error)
            if trouble is None:
                return
            raise trouble from error
        finally:
            self._blocked = False
        if reply is None:
            return
        taken = [self._source.taken(reply)]
        took = time.monotonic() - began
        self._round_trip = min(self._round_trip, took)
        try:
            taken += self._more(self._dedicated, at_once=took < self._round_trip + _AT_ONCE)
        finally:
            self._line.give(taken)

    def _more(self, dedicated: Dedicated, *, at_once: bool) -> list[Taken]:
        """What else there is for those who wait, by one command that does not block."""
        with self._line.mutex:
            count = self._line.claim(in_hand=1) if at_once or self._line.wants_many else 0
        try:
            request = self._source.more(count) if count else None
            if request is None:
                return []
            dedicated.send(*request.words)
            # What Redis refuses here it refuses the next blocking pop as well, which can tell why.
            with contextlib.suppress(ResponseError):
                return request.parse(dedicated.read())
            return []
        finally:
            with self._line.mutex:
                self._line.unclaim(count)

    def _explain(self, error: ResponseError) -> RedissonDQError | None:
        """Our error for Redis's, or None when what caused it has passed."""
        if is_transient(error):
            return RedisConnectionError(f"queue {self._key!r}: {error}")
        # A plain command on the same key fails the same way, and its error names the key and the types.
        for key in self._source.keys:
            try:
                self._connections.run(commands.length_of(key))
            except RedissonDQError as explained:
                return explained
        return None if str(error).startswith("WRONGTYPE") else translate(error, f"queue {self._key!r}")

    def _put_back(self) -> bool:
        """Gives Redis what nobody waits for. False when it has to be tried again."""
        with self._line.mutex:
            surplus, self._surplus = self._surplus, []
        for key, values, request in self._source.put_back(surplus):
            try:
                self._connections.run(request)
            except RedissonDQError as error:
                if self._line.closed or getattr(error, "maybe_done", False):
                    logger.error(
                        "queue %r: popped values may not be back in Redis: %s; they are %r", key, error, values
                    )
                    continue
                logger.warning("queue %r: cannot put %d popped values back: %s", key, len(values), error)
                with self._line.mutex:
                    self.put_away([taken for taken in surplus if taken.key == key])
        return not self._surplus

    def _disconnect(self) -> None:
        dedicated, self._dedicated = self._dedicated, None
        if dedicated is not None:
            dedicated.close()
