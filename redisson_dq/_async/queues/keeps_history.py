"""The calls about the history of a queue: what happened to its items."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, TypeVar

from redisson_dq._async.queues.waiting import WaitingQueue
from redisson_dq.calls.history import Kept, history_of
from redisson_dq.items import ItemEvent

__all__ = ["KeepsHistory"]

T = TypeVar("T")


class KeepsHistory(WaitingQueue[T]):
    """The calls about the history of the waiting side."""

    async def set_history(self, keep: Kept | None) -> None:
        """Begins a history of what happens to the items of this queue, which :meth:`history` reads; None ends it.

        - ``keep``: a number keeps the events of about that many items (8 for each), for 30 days at most. A timedelta
          keeps those of that time, 50,000 at most

        The scripts of all processes with this version note what they do, wherever they run. Earlier versions and
        Redisson note nothing. Values are not stored. An event takes some 150 bytes, 1 KB at most.

        >>> await delayed.set_history(1000)

        :Cost: O(n), n events that are dropped; one round trip. Then each act on an item costs O(1) more in its script
        :Guarantee: atomic; seen by the next call of every process
        """
        await self._run(self.requests.set_history(keep))

    async def history(
        self,
        id: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        what: str | None = None,
        limit: int = 1000,
    ) -> list[ItemEvent]:
        """What happened to one item, or to all, oldest first; the last ``limit`` events.

        - ``id``: yours, or one that an offer made. Without it, the events of all items
        - ``since``, ``until``: aware datetimes
        - ``what``: only events of this kind, as ``"dead"``: see :class:`ItemEvent`

        Empty where the queue keeps no history (:meth:`set_history`). An item with an id of yours that is nowhere, and
        whose last event does not say why, has ``"gone"`` at the end: another client or ``take()`` has taken it. Without
        such an id an item that has been moved is known by its value only, and equal values share their events.

        >>> await delayed.set_history(1000)
        >>> item = await delayed.offer("order", delay=60, id="order-71")
        >>> [event.what for event in await delayed.history("order-71")]
        ['offered']

        :Cost: O(n), n events of the queue; one round trip for 500 of them
        :Guarantee: reads only; each round trip at a moment of its own
        """
        reading = history_of(self._side, id, since, until, what, limit)
        result: Any = None
        while True:
            try:
                request = reading.send(result)
            except StopIteration as error:
                return error.value  # type: ignore[no-any-return]
            result = await self._run(request)

    async def history_kept(self) -> tuple[int, timedelta] | None:
        """How many events the history keeps at most, and for how long; None without a history.

        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.history_kept())
