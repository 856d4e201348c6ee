"""One queue as a worker has it open: what leases its values, and makes deliveries of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from redisson_dq._async.leases.delivery import Delivery
from redisson_dq._async.queues.leaser import Leaser
from redisson_dq._async.runtime import Runtime
from redisson_dq._async.worker.settling import call_up_more
from redisson_dq.errors import DecodeError
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.leases import Leased
from redisson_dq.wire.taken import Taken
from redisson_dq.working.handlers import Handler
from redisson_dq.working.incoming import QueueIntake
from redisson_dq.working.settings import QueueSettings

__all__ = ["Came", "Intake"]

#: The values of one list, and the error for those that cannot be read.
Came = tuple[list[Delivery[Any]], "DecodeError | None"]


class Intake(QueueIntake):
    """One queue as the worker has it open."""

    def __init__(
        self,
        runtime: Runtime,
        name: str,
        settings: QueueSettings,
        is_passed: Callable[[Handler], bool],
        dropped: Callable[[str, bytes], object],
        look_again: Callable[[LeaseSource, int], object],
        owner: bytes,
    ) -> None:
        """Opens the queue. ``dropped`` is called with its name and the bytes of a duplicate, the others as by
        :class:`QueueIntake`.
        """
        is_cluster = runtime.connections.is_cluster
        super().__init__(name, settings, runtime.options, is_passed, look_again, owner, is_cluster=is_cluster)
        self._connections = runtime.connections
        self._dropped = dropped
        self.leaser = Leaser(runtime, self.sides, runtime.connections.check)
        self.attachments = [runtime.attach(side.keys, side.name, bool(settings.transfer)) for side in self.sides]
        for attachment in self.attachments:
            attachment.start_moving()

    async def leased(self, taken: Iterable[Taken], wanted: int) -> list[Leased]:
        """The leases of values that came. Those that were only seen are leased now, at most ``wanted`` of them."""
        found: list[Leased] = []
        seen: dict[str, list[bytes]] = {}
        for each in taken:
            if isinstance(each, Leased):
                found.append(each)
            else:
                seen.setdefault(each.key, []).append(each.data)
        for key, data in seen.items():
            found += await self.admitted(key, data, wanted)
        return found

    async def admitted(self, key: str, seen: Sequence[bytes], wanted: int) -> list[Leased]:
        """Leases those of the values seen in a list whose turn it is, at most this many."""
        if not seen:
            return []
        source, asked = self.asked(key, seen)
        request = source.admit(wanted, asked.limits, asked.seen)
        admitted = await self.leaser.run_again(request, source.visible, None)
        for data in admitted.dropped:
            self._dropped(self.name, data)
        self.admitting.leased(admitted.leased, asked.passed)
        if admitted.called_up:
            await call_up_more(self._connections, source)
        return admitted.leased

    async def opened(self, leased: Sequence[Leased]) -> list[Came]:
        """The deliveries of leased values, by their lists."""
        by_key: dict[str, list[Leased]] = {}
        for each in leased:
            by_key.setdefault(each.key, []).append(each)
        return [await self.leaser.deliveries(*self.reception.sources[key], some) for key, some in by_key.items()]
