"""The log, which is told of happenings like any observer. It has a line for those that need somebody's attention."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from redisson_dq.observing.happenings import Away, BackAgain, Expired, Happening, SetAside, Skipped

__all__ = ["log"]

logger = logging.getLogger("redisson_dq")


def log(happening: Happening) -> None:
    """Logs the happening where there is a line for its class."""
    write = _LINES.get(type(happening))
    if write is not None:
        write(happening)


def _away(away: Away) -> None:
    logger.warning("Redis is away: %s", away.error)


def _back_again(back: BackAgain) -> None:
    logger.warning("Redis is back again after %.1f s", back.after.total_seconds())


def _set_aside(aside: SetAside) -> None:
    logger.warning(
        "queue %r: %d members that are in no envelope format were moved to the list %r",
        aside.queue,
        aside.count,
        aside.kept_in,
    )


def _expired(expired: Expired) -> None:
    logger.warning(
        "queue %r: %d items were too late to be delivered; they are in the list %r",
        expired.queue,
        expired.count,
        expired.kept_in,
    )


def _skipped(skipped: Skipped) -> None:
    logger.warning("queue %r: skipped %d values: %s", skipped.queue, skipped.count, skipped.error)


#: The line of each class.
_LINES: dict[type[Happening], Callable[[Any], None]] = {
    Away: _away,
    BackAgain: _back_again,
    SetAside: _set_aside,
    Expired: _expired,
    Skipped: _skipped,
}
