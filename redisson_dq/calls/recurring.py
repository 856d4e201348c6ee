"""The next occurrence of a recurring offer, which the client offers that sees one come."""

from __future__ import annotations

import logging
from datetime import timedelta

from redisson_dq._redis.options import Options
from redisson_dq.errors import ArgumentError
from redisson_dq.observing import Missed
from redisson_dq.scheduling.times import from_ms
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.forms import tell_newer
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["following"]

logger = logging.getLogger("redisson_dq")


def following(
    options: Options, queue: str, keys: QueueKeys, come: tuple[str, str, int], now_us: int
) -> Request[None] | None:
    """Offers the next occurrence, unless another process is first. Reports those that the queue ``queue`` has missed.

    ``come`` are the offer's id, its definition and the due time of the occurrence that has come. None when this release
    cannot read the definition. After a failure the next call that looks finds the same occurrence.
    """
    from redisson_dq.scheduling.recurrence import NewerRuleError, Recurrence

    name, definition, come_ms = come
    try:
        rule = Recurrence.from_json(definition)
        found = rule.following(come_ms, now_us // 1000)
        late_ms = None if found.next_ms is None else rule.late_ms(found.next_ms)
    except NewerRuleError as error:
        tell_newer(keys.ready, keys.recurring, "recurring", error.form)
        return None
    except ArgumentError as error:
        logger.warning("queue %r: the recurring offer %r cannot continue: %s", keys.ready, name, error)
        return None

    def tell_missed(reply: list[int]) -> None:
        # Whether this call, and not another process's, put the occurrence in, and how many missed ones it passed.
        _, missed, offered = reply
        if missed:
            # The next call reports those that did not fit into this one.
            last_ms = found.last_ms if missed == found.count else found.made_up[offered - 1]
            told = Missed(
                queue=queue,
                id=name,
                count=missed,
                offered=offered,
                policy=rule.missed,
                first=from_ms(found.first_ms),
                last=from_ms(last_ms),
                late_by=timedelta(milliseconds=now_us // 1000 - found.first_ms),
            )
            options.observers.tell(told)

    args = (
        *(options.envelope.value, name, definition, come_ms, "" if found.next_ms is None else found.next_ms),
        *("" if late_ms is None else late_ms, options.remember_ms, found.count, found.last_ms, *found.made_up),
    )
    return call("advance", keys, args, tell_missed)
