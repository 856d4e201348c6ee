"""The log, which is told of happenings like any observer. It has a line for those that need somebody's attention."""

from __future__ import annotations

import logging
from functools import singledispatch

from redisson_dq.observing.happenings import (
    AckedTooLate,
    Away,
    BackAgain,
    Buried,
    Expired,
    Happening,
    SetAside,
    Skipped,
    TookLong,
)

__all__ = ["log"]

logger = logging.getLogger("redisson_dq")


@singledispatch
def log(happening: Happening) -> None:
    """Logs the happening where ``log.registry`` has a line for its class. ``log.register`` adds one."""


@log.register
def _away(away: Away) -> None:
    logger.warning("Redis is away: %s", away.error)


@log.register
def _back_again(back: BackAgain) -> None:
    logger.warning("Redis is back again after %.1f s", back.after.total_seconds())


@log.register
def _set_aside(aside: SetAside) -> None:
    logger.warning(
        "queue %r: %d members that are in no envelope format were moved to the list %r",
        aside.queue,
        aside.count,
        aside.kept_in,
    )


@log.register
def _expired(expired: Expired) -> None:
    logger.warning(
        "queue %r: %d items were too late to be delivered; they are in the list %r",
        expired.queue,
        expired.count,
        expired.kept_in,
    )


@log.register
def _skipped(skipped: Skipped) -> None:
    logger.warning("queue %r: skipped %d values: %s", skipped.queue, skipped.count, skipped.error)


@log.register
def _took_long(call: TookLong) -> None:
    logger.warning(
        "queue %r: %s took %.1f s, with all that was sent along. Redis carries it out in one go, however much there "
        "is, and serves nobody else meanwhile; docs/limits.md says what takes less at a time",
        call.queue,
        call.call,
        call.duration.total_seconds(),
    )


@log.register
def _buried(buried: Buried) -> None:
    logger.warning(
        "queue %r: %d values were delivered %d times and are in the list %r now",
        buried.queue,
        buried.count,
        buried.limit,
        buried.kept_in,
    )


@log.register
def _acked_too_late(late: AckedTooLate) -> None:
    logger.warning("queue %r: the lease of %s had ended before its ack", late.queue, late.told_as)
