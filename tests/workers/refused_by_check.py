"""Workers that ``redisson-dq worker --check`` finds something wrong with, in threads and in a loop."""

from __future__ import annotations

from typing import Any

import redisson_dq.aio.worker
import redisson_dq.worker

NOWHERE = "redis://localhost:1"

needs_more = redisson_dq.worker.Worker.connect(NOWHERE)
needs_more_in_a_loop = redisson_dq.aio.worker.Worker.connect(NOWHERE)
partitioned = redisson_dq.worker.Worker.connect(NOWHERE)
partitioned.queue("orders", partitions=3)


@needs_more.handler("orders")
def handle(value: Any, event: Any, database: Any) -> None:
    """Nobody provides the database."""


@needs_more_in_a_loop.handler("orders")
async def handle_in_a_loop(value: Any, event: Any, database: Any) -> None:
    """Nobody provides the database."""


@partitioned.handler("orders")
def handle_any(value: Any) -> None:
    """Never called."""
