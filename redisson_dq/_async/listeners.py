"""Workers that take values and hand them to a consumer of the user's."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from .._pairs import AsyncCallback, AsyncSlot, AsyncSwitch, AsyncWorker, async_call
from ..errors import ClosedError, RedissonDQError
from ..wire.blocking import Source
from .receiver import Receiver

if TYPE_CHECKING:
    from .ready import BlockingQueue

__all__ = ["Listener"]

logger = logging.getLogger("redisson_dq")


# Between two tries, when Redis refuses the pop or a value cannot be read.
_PAUSE = 0.5


class Listener:
    """Takes from one receiver until it is stopped, one value after the other."""

    def __init__(
        self, queue: BlockingQueue[Any], source: Source, receiver: Receiver, consumer: AsyncCallback[Any]
    ) -> None:
        self._queue = queue
        self._source = source
        self._receiver = receiver
        self._consumer = consumer
        self._stopped = False
        self._stopping = AsyncSwitch()
        self._slot: AsyncSlot[Any] | None = None
        self._worker = AsyncWorker(self._run, f"redisson_dq-listener-{queue.name}")

    async def stop(self) -> None:
        """Ends the wait, and waits for the consumer to return."""
        self._stopped = True
        self._stopping.on()
        if self._slot is not None:
            self._receiver.withdraw(self._slot)
        await self._worker.join()

    async def _run(self) -> None:
        while True:
            # The slot first: stop() either finds it, or is seen here.
            self._slot = AsyncSlot()
            if self._stopped:
                return
            try:
                taken = await self._queue._receive(self._source, None, self._slot)
                assert taken is not None
                values = await self._queue._decoded(taken)
            except ClosedError:
                return
            except RedissonDQError as error:
                logger.error("queue %r: a listener cannot take: %s", self._queue.name, error)
                await self._stopping.wait(_PAUSE)
                continue
            for value in values:
                try:
                    await async_call(self._consumer, value)
                except Exception:
                    logger.exception("queue %r: a listener's consumer failed", self._queue.name)
