"""Ends sessions that were idle for too long: ``redisson-dq worker sessions.work:worker``."""

from __future__ import annotations

import logging

from redisson_dq.worker import Event, Worker

from sessions.queue import PARTITIONS, QUEUE

__all__ = ["worker"]

logger = logging.getLogger("sessions")

# The sidecar moves due items, so any number of these processes may start and stop.
worker = Worker.connect(transfer=False)
worker.queue(QUEUE, partitions=PARTITIONS)


@worker.batch_handler(QUEUE, 100, str, within=0.05)
def end(users: list[str], events: list[Event]) -> None:
    logger.info("ended: %s", " ".join(users))
