"""Recurring offers: made, listed, and the next occurrence, which the client offers that sees one come."""

from __future__ import annotations

import logging
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from redisson_dq._redis.options import Options
from redisson_dq.calls.items import checked_id
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import ArgumentError
from redisson_dq.items import OfferOutcome, RecurringOffer
from redisson_dq.observing import Missed
from redisson_dq.scheduling.times import from_ms
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.forms import tell_newer
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

if TYPE_CHECKING:
    from redisson_dq.scheduling.recurrence import Recurrence

__all__ = ["following", "offered_again", "recurring_offers"]

logger = logging.getLogger("redisson_dq")
T = TypeVar("T")


def offered_again(
    queue: OpenQueue[T], value: T, id: str, recurrence: Recurrence, first_ms: int | None
) -> Request[OfferOutcome]:
    """A recurring offer, whose first occurrence is due at ``first_ms``."""
    if first_ms is None:
        raise ArgumentError(f"queue {queue.name!r}: the recurring offer {id!r} would never be due")
    late_ms = recurrence.late_ms(first_ms)
    args = (
        *(queue.form, checked_id(queue, id), recurrence.to_json(), queue.encode(value), first_ms),
        *("" if late_ms is None else late_ms, queue.options.remember_ms),
    )
    return queue.call(
        "recur",
        args,
        lambda reply: OfferOutcome(reply[0].decode()),
        durable=queue.options.durable,
        on_sending=queue.starts,
    )


def recurring_offers(queue: OpenQueue[Any], rows: list[list[bytes]]) -> list[RecurringOffer]:
    """The recurring offers that can be read. Reports the others."""
    from redisson_dq.scheduling.recurrence import NewerRuleError

    keys, offers = queue.keys, []
    for name, due, definition, value in rows:
        # Another program may have written them.
        id, rule = name.decode(errors="backslashreplace"), definition.decode(errors="backslashreplace")
        try:
            offers.append(_recurring_offer(id, whole_ms(due), rule, value))
        except NewerRuleError as error:
            tell_newer(keys.ready, keys.recurring, "recurring", error.form)
        except (ArgumentError, OverflowError) as error:
            logger.warning("queue %r: the recurring offer %r cannot be read: %s", keys.ready, id, error)
    return offers


def _recurring_offer(id: str, due_ms: int | None, rule: str, value: bytes) -> RecurringOffer:
    from redisson_dq.scheduling.recurrence import Recurrence

    recurrence = Recurrence.from_json(rule)
    return RecurringOffer(
        id=id,
        # Another program may have given it a time that never comes.
        next_due=from_ms(sys.maxsize if due_ms is None else due_ms),
        every=None if recurrence.every_ms is None else timedelta(milliseconds=recurrence.every_ms),
        cron=recurrence.cron,
        timezone=recurrence.timezone,
        missed=recurrence.missed,
        missed_limit=recurrence.missed_limit,
        data=value,
    )


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
