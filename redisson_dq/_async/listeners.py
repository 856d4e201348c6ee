"""Workers that take values and hand them to a consumer of the user's."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from .._pairs import AsyncCallback, AsyncSlot, AsyncSwitch, AsyncWorker, async_call
from ..errors import ClosedError, RedissonDQError
from ..wire.commands import End
from .line import Line

if TYPE_CHECKING:
    from .partitioned_ready import PartitionedBlockingQueue
    from .ready import BlockingQueue

__all__ = ["Listener"]

logger = logging.getLogger("redisson_dq")

# Between two tries, when Redis refuses the pop or a value cannot be read.
_PAUSE = 0.5


class Listener:
    """Takes from one end of a queue until it is stopped, one value after the other."""

    def __init__(
        self, queue: BlockingQueue[Any] | PartitionedBlockingQueue[Any], end: End, consumer: AsyncCallback[Any]
    ) -> None:
        self._queue = queue
        self._end: End = end
        self._consumer = consumer
        self._stopped = False
        self._stopping = AsyncSwitch()
        self._wait: tuple[Line, AsyncSlot[Any]] | None = None
        self._worker = AsyncWorker(self._run, f"redisson_dq-listener-{queue.name}")

    async def stop(self) -> None:
        """Ends the wait, and waits for the consumer to return."""
        self._stopped = True
        self._stopping.on()
        self.move()
        await self._worker.join()

    def move(self) -> None:
        """Ends the wait under the name that the queue had when it began."""
        if self._wait is not None:
            receiver, slot = self._wait
            receiver.withdraw(slot)

    async def _run(self) -> None:
        while True:
            source = self._queue._source(self._end)
            try:
                receiver: Line = self._queue._client._receiver(source)
                slot: AsyncSlot[Any] = AsyncSlot()
                # The slot first: stop() and move() either find it, or are seen here.
                self._wait = receiver, slot
                if self._stopped:
                    return
                if self._queue._source(self._end) != source:
                    continue
                taken = await receiver.receive(None, slot=slot)
                values = await self._queue._received(self._end, taken)
            except ClosedError:
                if self._queue._source(self._end) == source:
                    return
                # The queue has another name since.
                continue
            except RedissonDQError as error:
                logger.error("queue %r: a listener cannot take: %s", self._queue.name, error)
                await self._stopping.wait(_PAUSE)
                continue
            for value in values:
                try:
                    await async_call(self._consumer, value)
                except Exception:
                    logger.exception("queue %r: a listener's consumer failed", self._queue.name)
