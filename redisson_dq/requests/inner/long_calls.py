"""Warns of calls that Redis carries out in one go, however much there is, and serves nobody else meanwhile."""

from __future__ import annotations

import logging
from typing import Any, TypeVar

from redisson_dq.requests.inner.open_queue import OpenQueue
from redisson_dq.wire.request import Request

__all__ = ["LONG_US", "told_if_long"]

logger = logging.getLogger("redisson_dq")

U = TypeVar("U")

#: A call that takes longer is warned of.
LONG_US = 100_000
#: The queues and calls of this process that were warned of.
_told: set[tuple[str, str]] = set()


def told_if_long(request: Request[U], queue: OpenQueue[Any], what: str) -> Request[U]:
    """Adds a warning to an exchange. It is logged when the exchange takes long, once for each queue and call."""
    clock, sent_us = queue.options.clock, 0

    def begin() -> None:
        nonlocal sent_us
        sent_us = clock.now_us()

    def checked(result: U) -> U:
        took_us = clock.now_us() - sent_us
        if took_us > LONG_US and (queue.name, what) not in _told:
            _told.add((queue.name, what))
            logger.warning(
                "queue %r: %s took %.1f s, with all that was sent along. Redis carries it out in one go, however much "
                "there is, and serves nobody else meanwhile; docs/limits.md says what takes less at a time",
                queue.name,
                what,
                took_us / 1e6,
            )
        return result

    return request.then(checked, on_sending=begin)
