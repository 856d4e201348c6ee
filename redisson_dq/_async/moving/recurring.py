"""Keeps recurring offers going: the client that sees an occurrence come offers the next one."""

from __future__ import annotations

import logging

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._redis.options import Options
from redisson_dq.errors import ArgumentError
from redisson_dq.wire import calls
from redisson_dq.wire.forms import tell_newer
from redisson_dq.wire.keys import QueueKeys

__all__ = ["advance"]

logger = logging.getLogger("redisson_dq")


async def advance(
    connections: Connections, options: Options, keys: QueueKeys, come: tuple[str, str, int], now_us: int
) -> bool:
    """Offers the next occurrence of a recurring offer, unless another process is first. Announced like any other.

    ``come`` are its id, its definition and the due time of the occurrence that has come. False when this release cannot
    read the definition. Other failures are raised. The next call that looks finds the same occurrence.
    """
    from redisson_dq.scheduling.recurrence import NewerRuleError, Recurrence

    name, definition, come_ms = come
    try:
        next_ms = Recurrence.from_json(definition).next_ms(come_ms, now_us // 1000)
    except NewerRuleError as error:
        tell_newer(keys.ready, keys.recurring, "recurring", error.form)
        return False
    except ArgumentError as error:
        logger.warning("queue %r: the recurring offer %r cannot go on: %s", keys.ready, name, error)
        return False
    await connections.run(calls.advance(keys, options.envelope, name, definition, come_ms, next_ms))
    return True
