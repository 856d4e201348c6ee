"""Reports calls that Redis carries out in one go, whatever their size, while it serves nobody else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeVar

from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.observing import TookLong
from redisson_dq.wire.request import Request

__all__ = ["LONG_US", "told_if_long"]

U = TypeVar("U")

#: A call that takes longer is reported.
LONG_US = 100_000
#: The queues and calls of this process that were reported.
_told: set[tuple[str, str]] = set()


def told_if_long(request: Request[U], queue: OpenQueue[Any], what: str) -> Request[U]:
    """Notifies observers when a request takes long, once for each queue and call."""
    clock, sent_us = queue.options.clock, 0

    def begin() -> None:
        nonlocal sent_us
        sent_us = clock.now_us()

    def checked(result: U) -> U:
        took_us = clock.now_us() - sent_us
        if took_us > LONG_US and (queue.name, what) not in _told:
            _told.add((queue.name, what))
            took = timedelta(microseconds=took_us)
            queue.options.observers.tell(TookLong(queue=queue.name, call=what, duration=took))
        return result

    return request.then(checked, on_sending=begin)
