"""Calls up values for free slots until one stays."""

from __future__ import annotations

import logging

from redisson_dq._async.connecting.connections import Connections
from redisson_dq.errors import RedissonDQError
from redisson_dq.wire.lease_source import LeaseSource

__all__ = ["call_up_more"]

logger = logging.getLogger("redisson_dq")


async def call_up_more(connections: Connections, source: LeaseSource) -> None:
    """Checks the values that a call has just called up.

    Programs that take without a lease, such as Redisson's ``take()``, may have been faster than the receives. Then the
    next values are called up, until one stays or none waits. Raises nothing of this library: a wait that begins later
    calls up as well.
    """
    try:
        count = 1
        while count and (request := source.call_up()) is not None:
            count = await connections.run(request)
    except RedissonDQError as error:
        logger.debug("list %r: no further value is called up: %s", source.key, error)
