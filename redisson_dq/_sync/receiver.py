# Generated from redisson_dq/_async/receiver.py by .ci/unasync.py. Do not edit: edit that file and run it.

"""Blocking pops: one connection per list and end, shared by every local caller that waits for it.

The reply of a blocking pop is an item that exists nowhere else any more, so nothing that may be interrupted ever
reads it: a worker does, and hands it to the caller that waits longest. A caller that times out, is cancelled or
interrupted only takes its name off; an item that finds nobody waiting goes back to the end it came from.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Union

from redis.exceptions import RedisError, ResponseError

from .._pairs import Mutex, Slot, Switch, Worker, sleep
from .._redis import is_transient, translate
from ..errors import ClosedError, RedisConnectionError, RedissonDQError
from ..wire import commands
from ..wire.blocking import Source, Taken
from .connections import Connections, Dedicated

__all__ = ["Receiver"]

logger = logging.getLogger("redisson_dq")

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
# How long the worker and its connection stay when nobody waits, so that a take() in a loop finds them.
_LINGER = 10.0
# An unblock can overtake the blocking command it is meant for; it is repeated at this interval then.
_UNBLOCK_PAUSE = 0.005
_UNBLOCK_TRIES = 100
# How long close() waits for the worker to see its last reply before it cuts the connection.
_LAST_REPLY = 2.0

_Outcome = Union[Taken, RedissonDQError]


class Receiver:
    """Takes from one source for all local callers, over one connection."""

    def __init__(self, connections: Connections, source: Source) -> None:
        self._connections = connections
        self._source = source
        self._key = source.key
        self._mutex = Mutex()
        self._waiting: deque[Slot[_Outcome]] = deque()
        self._surplus: list[Taken] = []
        self._wanted = Switch()
        self._closing = Switch()
        self._closed = False
        self._worker: Worker | None = None
        self._dedicated: Dedicated | None = None
        self._blocked = False
        self._trouble: RedisConnectionError | None = None

    def receive(self, timeout: float | None, slot: Slot[_Outcome] | None = None) -> Taken | None:
        """What was taken next, or None after ``timeout`` seconds. A ``slot`` is for :meth:`withdraw`.

        Raises ClosedError when the client or the last handle is closed meanwhile, WrongTypeError and
        RedisReplyError as Redis does, RedisConnectionError when the time is over and Redis was not reachable.
        """
        slot = slot or Slot()
        try:
            self._enter(slot)
            slot.wait(timeout)
            if self._leave(slot):
                self._release()
            if not slot.filled and self._trouble is not None:
                raise self._trouble
            outcome = slot.value if slot.filled else None
        except BaseException:
            # Cancelled or interrupted: an item that has just come must not go down with the caller.
            if self._leave(slot, give_back=True):
                self._release()
            raise
        if isinstance(outcome, RedissonDQError):
            raise outcome
        return outcome

    def withdraw(self, slot: Slot[_Outcome]) -> None:
        """Ends the wait of one caller, begun or not, with ClosedError, unless it has something already."""
        with self._mutex:
            if slot in self._waiting:
                self._waiting.remove(slot)
            if not slot.filled:
                slot.fill(ClosedError(f"queue {self._key!r}: the wait was given up"))

    def close(self) -> None:
        """Ends every wait with ClosedError, then the worker and its connection. No item is lost."""
        with self._mutex:
            self._closed = True
            while self._waiting:
                self._waiting.popleft().fill(ClosedError(f"queue {self._key!r}: closed while waiting"))
        self._wanted.on()
        self._closing.on()
        self._release()
        worker = self._worker
        if worker is not None and not worker.join(_LAST_REPLY):
            dedicated = self._dedicated
            if dedicated is not None:
                dedicated.hang_up()
            worker.stop(_LAST_REPLY)

    def _enter(self, slot: Slot[_Outcome]) -> None:
        with self._mutex:
            if slot.filled:
                return
            if self._closed:
                raise ClosedError(f"queue {self._key!r}: the handle is closed")
            if self._surplus:
                slot.fill(self._surplus.pop(0))
                return
            self._waiting.append(slot)
            self._wanted.on()
            if self._worker is None:
                self._worker = Worker(self._run, f"redisson_dq-receiver-{self._key}")

    def _leave(self, slot: Slot[_Outcome], *, give_back: bool = False) -> bool:
        """Takes a caller off. True when that leaves a blocked pop that nobody waits for and close() does not end."""
        with self._mutex:
            if slot in self._waiting:
                self._waiting.remove(slot)
            elif give_back and slot.filled and isinstance(slot.value, Taken):
                self._deliver(slot.value)
                self._wanted.on()
            return self._blocked and not self._waiting and not self._closed

    def _deliver(self, taken: Taken) -> None:
        if self._waiting:
            self._waiting.popleft().fill(taken)
        else:
            self._surplus.append(taken)

    def _release(self) -> None:
        """Ends a blocked pop that nobody waits for; its reply tells whether it had popped something."""
        dedicated = self._dedicated
        reason: Exception | str = "Redis does not know of it any more"
        for _ in range(_UNBLOCK_TRIES):
            if dedicated is None or not self._blocked or self._waiting:
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
                    self._trouble = trouble
                    logger.warning("queue %r: waiting again in %.2f s: %s", self._key, pause, error)
                    self._connections.refresh()
                    self._closing.wait(pause)
                    pause = min(_LONGEST_PAUSE, pause * 2)
                else:
                    self._fail(trouble)
            else:
                self._trouble = None
                pause = _FIRST_PAUSE

    def _next_round(self) -> bool:
        """Waits until there is something to do. False when the worker has to end."""
        lingered = False
        while True:
            with self._mutex:
                if self._surplus or (self._waiting and not self._closed):
                    return True
                if self._closed or lingered:
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
            self._dedicated.learn_id()
            self._trouble = None
        with self._mutex:
            if not self._waiting:
                return
            self._blocked = True
        try:
            self._dedicated.send(*self._source.words)
            reply = self._dedicated.read()
        except ResponseError as error:
            raise self._explain(error) from error
        finally:
            self._blocked = False
        if reply is not None:
            with self._mutex:
                self._deliver(self._source.taken(reply))

    def _explain(self, error: ResponseError) -> RedissonDQError:
        if is_transient(error):
            return RedisConnectionError(f"queue {self._key!r}: {error}")
        # A plain command on the same key fails the same way, and its error names the key and the types.
        for key in self._source.keys:
            try:
                self._connections.run(commands.length_of(key))
            except RedissonDQError as explained:
                return explained
        return translate(error, f"queue {self._key!r}")

    def _put_back(self) -> bool:
        """Gives Redis what nobody waits for. False when it has to be tried again."""
        with self._mutex:
            surplus, self._surplus = self._surplus, []
        for key, values, request in self._source.put_back(surplus):
            try:
                self._connections.run(request)
            except RedissonDQError as error:
                if self._closed or getattr(error, "maybe_done", False):
                    logger.error(
                        "queue %r: popped values may not be back in Redis: %s; they are %r", key, error, values
                    )
                    continue
                logger.warning("queue %r: cannot put %d popped values back: %s", key, len(values), error)
                with self._mutex:
                    self._surplus += [Taken(key=key, data=data) for data in values]
        return not self._surplus

    def _fail(self, error: RedissonDQError) -> None:
        with self._mutex:
            while self._waiting:
                self._waiting.popleft().fill(error)

    def _disconnect(self) -> None:
        dedicated, self._dedicated = self._dedicated, None
        if dedicated is not None:
            dedicated.close()
