"""Warns of calls that Redis carries out in one go, however much there is, and serves nobody else meanwhile."""

from __future__ import annotations

import logging
import time
from typing import TypeVar

from redisson_dq.wire.request import Request

__all__ = ["LONG_NS", "told_if_long"]

logger = logging.getLogger("redisson_dq")

U = TypeVar("U")

#: A call that takes longer is warned of.
LONG_NS = 100_000_000
#: The queues and calls of this process that were warned of.
_told: set[tuple[str, str]] = set()


def told_if_long(request: Request[U], queue: str, what: str) -> Request[U]:
    """Adds a warning to an exchange. It is logged when the exchange takes long, once for each queue and call."""
    sent_ns = 0

    def begin() -> None:
        nonlocal sent_ns
        sent_ns = time.monotonic_ns()

    def checked(result: U) -> U:
        took_ns = time.monotonic_ns() - sent_ns
        if took_ns > LONG_NS and (queue, what) not in _told:
            _told.add((queue, what))
            logger.warning(
                "queue %r: %s took %.1f s, with all that was sent along. Redis carries it out in one go, however much "
                "there is, and serves nobody else meanwhile; docs/limits.md says what takes less at a time",
                queue,
                what,
                took_ns / 1e9,
            )
        return result

    return request.then(checked, on_sending=begin)
