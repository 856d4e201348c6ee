"""The address of a pool: which of its connections still lead to the server that new connections lead to.

A name may lead to another server after a failover: that of a primary endpoint, a service, a proxy or a virtual IP. New
connections lead to the new master, and open ones to the old one, which lives on as a replica. A reply that says so ends
every connection that was made before it. Each try after it makes a connection, and so resolves the name again.

A server may also refuse all connections for a long time: the password was changed, or the name is not known. The parts
of a client that try again by themselves share the pauses between these tries. So they are few, however many parts there
are.
"""

from __future__ import annotations

import copy
import logging
import threading
import weakref
from typing import Any, Protocol

from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError, ResponseError

from redisson_dq._redis.errors import is_of_a_proxy, is_redirection, says_not_here
from redisson_dq.scheduling.clock import current
from redisson_dq.scheduling.pauses import Pauses

__all__ = ["ServerAddress"]

logger = logging.getLogger("redisson_dq")

# A server may say for hours that it is a replica, or lacks replicas. New connections are made after these pauses then.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
# Tries to connect that nobody has asked for, of all parts of a client together.
_FIRST_CONNECT, _LONGEST_CONNECT = 0.05, 2.0
# After this many seconds without such a reply, the next one is reported again.
_NEWS = 30.0


class _Ends(Protocol):
    """A connection outside the pool. It looks at :attr:`ServerAddress.number` before it sends."""

    @property
    def blocks(self) -> bool:
        """Whether a pop is blocked on it. It is sent again after ``probe_interval=``."""
        ...

    def address_left(self) -> None:
        """Ends a wait for a message or a value."""


class ServerAddress:
    """Counts how often the connections of one pool were given up together. Any thread may call its methods."""

    def __init__(self, *, is_node: bool) -> None:
        """``is_node``: it is a node of a cluster, where a redirection says nothing about the node."""
        self._is_node = is_node
        # Its pauses pass as those of its client do.
        self._clock = current()
        #: The number that connections are given when they are made. A connection with a smaller number is not used any
        #: more.
        self.number = 0
        # A signal handler that closes the client may find its own thread inside.
        self._mutex = threading.RLock()
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        self._left_at = self._rests_until = float("-inf")
        # Why no connection could be made at the last try, and when the next one may follow.
        #: Why the last try to connect failed; None once a connection was made.
        self.failure: Exception | None = None
        self._connects_from = float("-inf")
        self._connecting = Pauses(_FIRST_CONNECT, _LONGEST_CONNECT)
        self._others: weakref.WeakSet[Any] = weakref.WeakSet()

    def add(self, other: _Ends) -> None:
        """A connection outside the pool, which ends with the others."""
        with self._mutex:
            self._others.add(other)

    @property
    def is_asked(self) -> bool:
        """Whether a pop is blocked there. A replica refuses it when it is sent again."""
        with self._mutex:
            return any(other.blocks for other in self._others)

    # -- tries to connect --------------------------------------------------------------------------------------------

    def check_pause(self) -> None:
        """For tries that nobody has asked for. Raises the error of the last one during the pause after it."""
        error = self.failure
        if error is not None and self._clock.monotonic() < self._connects_from:
            raise _again(error)

    def failed(self, error: Exception) -> None:
        """No connection could be made, or its user was refused. The next try follows after a longer pause."""
        with self._mutex:
            self.failure = error
            self._connects_from = self._clock.monotonic() + self._connecting.next()

    def connected(self) -> None:
        """A connection was made."""
        # Nearly always true, and called for each connection.
        if self.failure is None:
            return
        with self._mutex:
            self.failure = None
            self._connecting.reset()

    def try_at_once(self) -> None:
        """A user has called, who does not wait for a pause."""
        self._connects_from = float("-inf")

    # -- replies -----------------------------------------------------------------------------------------------------

    def heard(self, number: int, error: RedisError) -> RedisError:
        """An error came on a connection with this number. Returns the error to raise.

        The reply of a proxy that cannot reach its server counts as a broken connection: the server may have carried
        the command out.
        """
        proxys = is_of_a_proxy(error)
        if proxys or (says_not_here(error) and not (self._is_node and is_redirection(error))):
            self._leave(number, error)
        if proxys:
            made = Disconnected(str(error))
            made.__cause__ = error
            return made
        return error

    def heard_among(self, number: int, replies: list[Any]) -> None:
        """Like :meth:`heard`, for the replies of a transaction."""
        for reply in replies:
            if isinstance(reply, ResponseError):
                self.heard(number, reply)

    def _leave(self, number: int, error: RedisError) -> None:
        with self._mutex:
            now = self._clock.monotonic()
            # Others have had the same reply, or new connections lead to the same server.
            if number != self.number or now < self._rests_until:
                return
            if now - self._left_at > _NEWS:
                self._pauses.reset()
            self._left_at = now
            self._rests_until = now + self._pauses.next()
            self.number += 1
            others = list(self._others)
        logger.debug("the connections to a server end, as it says that it is the wrong one: %s", error)
        for other in others:
            other.address_left()


def _again(error: Exception) -> Exception:
    """This error as another exception: one that is raised again and again would collect tracebacks."""
    try:
        made = copy.copy(error)
    except TypeError:
        # Its class wants other arguments than it keeps.
        made = Disconnected(str(error))
    made.__cause__, made.__context__ = error.__cause__, None
    return made.with_traceback(None)
