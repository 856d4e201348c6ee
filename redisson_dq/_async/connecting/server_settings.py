"""The settings of the server that a client checks before the first use, where an option needs them."""

from __future__ import annotations

import logging

from redisson_dq._async.connecting.connections import Connections
from redisson_dq.calls.confirming import why_not
from redisson_dq.durability import Durability
from redisson_dq.errors import RedisReplyError, ServerSettingError
from redisson_dq.wire.request import Request

__all__ = ["check_durability", "check_keyspace_events"]

logger = logging.getLogger("redisson_dq")


async def check_keyspace_events(connections: Connections) -> None:
    """Raises ServerSettingError unless the server publishes keyspace events of sorted sets. One round trip.

    Where CONFIG is forbidden, only a warning is logged.
    """
    if connections.is_cluster:
        raise ServerSettingError('wakeups="keyspace" is for one server: a cluster node reports only its own keys')
    request = Request(words=("CONFIG", "GET", "notify-keyspace-events"), types={"": ""}, parse=list)
    try:
        found = await connections.run(request)
    except RedisReplyError as error:
        logger.warning("cannot check whether the server publishes keyspace events: %s", error)
        return
    flags = found[1].decode() if len(found) > 1 else ""
    if "K" not in flags or not ("z" in flags or "A" in flags):
        raise ServerSettingError(
            f'the server\'s notify-keyspace-events is {flags!r}; wakeups="keyspace" needs K and z in it: '
            "CONFIG SET notify-keyspace-events Kz"
        )


async def check_durability(connections: Connections, durable: Durability) -> None:
    """Raises ServerSettingError where the server cannot confirm changes in that way. One round trip."""
    # This request changes nothing, so the only possible answer of interest is an error.
    words = ("WAITAOF", 1, 0, 1) if durable.fsync else ("WAIT", 0, 1)
    try:
        await connections.run(Request(words=words, types={"": ""}, parse=bool))
    except RedisReplyError as error:
        raise ServerSettingError(f"durable=: {why_not(durable, error)}") from error
