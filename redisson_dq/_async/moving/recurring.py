"""Keeps recurring offers going: the client that sees an occurrence come offers the next one."""

from __future__ import annotations

import logging
from datetime import timedelta

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._redis.options import Options
from redisson_dq.errors import ArgumentError
from redisson_dq.observing import Missed
from redisson_dq.scheduling.times import from_ms
from redisson_dq.wire import calls
from redisson_dq.wire.forms import tell_newer
from redisson_dq.wire.keys import QueueKeys

__all__ = ["advance"]

logger = logging.getLogger("redisson_dq")


async def advance(
    connections: Connections,
    options: Options,
    queue: str,
    keys: QueueKeys,
    come: tuple[str, str, int],
    now_us: int,
) -> bool:
    """Offers the next occurrence of a recurring offer, unless another process is first. Announced like any other.

    Says which occurrences were missed, of the queue with the name ``queue``. ``come`` are the offer's id, its
    definition and the due time of the occurrence that has come. False when this release cannot read the definition.
    Other failures are raised. The next call that looks finds the same occurrence.
    """
    from redisson_dq.scheduling.recurrence import NewerRuleError, Recurrence

    name, definition, come_ms = come
    try:
        rule = Recurrence.from_json(definition)
        found = rule.following(come_ms, now_us // 1000)
        late_ms = None if found.next_ms is None else rule.late_ms(found.next_ms)
    except NewerRuleError as error:
        tell_newer(keys.ready, keys.recurring, "recurring", error.form)
        return False
    except ArgumentError as error:
        logger.warning("queue %r: the recurring offer %r cannot continue: %s", keys.ready, name, error)
        return False
    request = calls.advance(
        keys,
        options.envelope,
        name,
        definition,
        come_ms,
        found.next_ms,
        late_ms=late_ms,
        remember_ms=options.remember_ms,
        missed=found.count,
        last_ms=found.last_ms,
        made_up=found.made_up,
    )
    advanced = await connections.run(request)
    if advanced.missed:
        # The next call reports those that did not fit into this one.
        last_ms = found.last_ms if advanced.missed == found.count else found.made_up[advanced.offered - 1]
        told = Missed(
            queue=queue,
            id=name,
            count=advanced.missed,
            offered=advanced.offered,
            policy=rule.missed,
            first=from_ms(found.first_ms),
            last=from_ms(last_ms),
            late_by=timedelta(milliseconds=now_us // 1000 - found.first_ms),
        )
        options.observers.tell(told)
    return True
