"""Values that a blocking command has moved to a receiver, and that nobody has leased yet."""

from __future__ import annotations

import logging

from redisson_dq._async.connecting.connections import Connections
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.wire import calls, commands
from redisson_dq.wire.keys import QueueKeys

__all__ = ["Arrivals"]

logger = logging.getLogger("redisson_dq")


class Arrivals:
    """Looks at those of one queue now and then."""

    def __init__(self, keys: QueueKeys) -> None:
        self._keys = keys
        # How many the last look saw.
        self._seen = 0

    async def look(self, connections: Connections) -> RedisConnectionError | None:
        """Makes values ready again that nobody has leased between two looks.

        Returns the error when Redis cannot be reached.
        """
        try:
            await connections.check_pause(self._keys.arrivals)
            arrived = await connections.run(commands.length_of(self._keys.arrivals))
            if arrived and self._seen:
                # A receiver that was only slow finds its value at the head of the ready list.
                count = await connections.run(calls.return_arrivals(self._keys, arrived))
                logger.info("queue %r: %d values that no receiver has leased are ready again", self._keys.ready, count)
                arrived = 0
            self._seen = arrived
        except ClosedError:
            return None
        except RedissonDQError as error:
            if isinstance(error, RedisConnectionError):
                return error
            logger.warning("queue %r: looking for values that nobody leased failed: %s", self._keys.ready, error)
        return None
