"""Python's part of a round trip with Java: ``python -m tests.compatibility.trip URL ENVELOPE``.

It runs in environments of other Pythons and other redis-py, which have the library's own dependencies and no more.
Redisson has offered as many values as this takes. What this offers at the end, Redisson moves and takes.
"""

from __future__ import annotations

import sys
from queue import SimpleQueue
from typing import Any

import redisson_dq
from redisson_dq.worker import Worker

__all__ = ["FROM_JAVA", "FROM_PYTHON", "VALUE"]

FROM_JAVA, FROM_PYTHON = "compatibility:from-java", "compatibility:from-python"
VALUE = {"order": 42, "lines": ["a", "b"], "paid": False}

_PATIENCE = 30


def main(url: str, envelope: Any) -> None:
    """Raises an error where a step gives another value than Redisson offered."""
    with redisson_dq.connect(url, envelope=envelope) as client:
        queue = client.blocking_queue(FROM_JAVA)
        # Only this client has the queue open, so it also moves the items.
        _same("taken", queue.poll(timeout=_PATIENCE))
        delivery = queue.receive(timeout=_PATIENCE)
        _same("received", delivery and delivery.value)
        assert delivery is not None
        _same("in flight", queue.in_flight_size(), 1)
        _same("extended", delivery.extend(60), redisson_dq.SettleOutcome.EXTENDED)
        _same("acked", delivery.ack(), redisson_dq.SettleOutcome.ACKED)
        handled: SimpleQueue[Any] = SimpleQueue()
        worker = Worker(client)
        worker.handler(FROM_JAVA)(handled.put)
        with worker:
            _same("handled", handled.get(timeout=_PATIENCE))
        _same("left in flight", queue.in_flight_size(), 0)
        client.delayed_queue(FROM_PYTHON, transfer=False).offer(VALUE, delay=0.05)


def _same(step: str, found: Any, expected: Any = VALUE) -> None:
    if found != expected:
        raise RuntimeError(f"{step}: {found!r} instead of {expected!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
