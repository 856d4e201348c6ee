"""One queue as a worker has it open: where its values come from, and who takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from redisson_dq._async.leases.delivery import Delivery
from redisson_dq._async.queues.leaser import Leaser
from redisson_dq._async.runtime import Runtime
from redisson_dq._async.worker.settling import Along
from redisson_dq._concurrency import async_finish
from redisson_dq._options import Options
from redisson_dq._times import Delay
from redisson_dq.requests.inner.leased_side import LeasedSide
from redisson_dq.requests.inner.ready_side import BoundedSide, ReadySide
from redisson_dq.wire.calls import LimitWords, Seen
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.leases import Leased
from redisson_dq.wire.partitions import partition_names
from redisson_dq.working.handlers import Handler
from redisson_dq.working.limits import BadKey, digest_of
from redisson_dq.working.routing import Unroutable, choose
from redisson_dq.working.settings import QueueSettings

__all__ = ["Intake", "sides_of", "timeout_of"]


def sides_of(name: str, settings: QueueSettings, options: Options) -> list[ReadySide[Any]]:
    """The queue, or its partitions. The worker counts deliveries by itself, so that on_failed is called before a value
    becomes a dead letter.
    """
    if settings.bounded:
        return [BoundedSide(name, settings.codec, options, delivery_limit=None, dead_letter=settings.dead_letter)]
    names = [name]
    if settings.partitions is not None:
        names = partition_names(name, settings.partitions, options.name_mapper)
    return [
        ReadySide(each, settings.codec, options, delivery_limit=None, dead_letter=settings.dead_letter)
        for each in names
    ]


def timeout_of(settings: QueueSettings) -> Delay:
    """The visibility timeout of a worker's leases."""
    return settings.visibility_timeout or 30


class Intake:
    """One queue as the worker has it: where its values come from, and who takes them."""

    def __init__(self, runtime: Runtime, name: str, settings: QueueSettings, owner: bytes = b"") -> None:
        """Opens the queue by complete settings. Leases are the ``owner``'s."""
        self.name = name
        self.leaser = Leaser(runtime, sides_of(name, settings, runtime.options), runtime.connections.check)
        self._runtime = runtime
        self._visibility_timeout = timeout_of(settings)
        self._owner = owner
        self.handlers: Sequence[Handler] = ()
        #: Takes the acks that are to go along with the next receive.
        self.along: Along | None = None
        #: Values of each batch handler that wait for more.
        self.gathered: dict[Handler, list[Delivery[Any]]] = {}
        # Bytes of values that were seen while their handler had no free slot, and the leases of such values.
        self._passed: set[bytes] = set()
        self._let_past: set[str] = set()
        #: By the key of the list that it receives from. Where a handler has limits or keys, values are seen first.
        self.sources: dict[str, tuple[LeasedSide[Any], LeaseSource]] = {}
        for side in self.leaser.sides:
            # Who receives may become a handler, and receives for others.
            side.decodes_apart = True
        self._attachments = [
            runtime.attach(side.keys, side.name, bool(settings.transfer)) for side in self.leaser.sides
        ]
        for attachment in self._attachments:
            attachment.start_moving()

    async def aclose(self) -> None:
        """Closes the queue."""
        for attachment in self._attachments:
            # It goes on to its end. Otherwise a cancelled caller would leave waits that nobody can end any more.
            await async_finish(self._runtime.detach(attachment))

    @property
    def acks_along(self) -> bool:
        """Whether one call may end leases and take the next values."""
        if len(self.sources) != 1:
            return False
        ((side, source),) = self.sources.values()
        return source.acks_along and side.options.durable is None

    def wanted(self, free: int) -> int:
        """How many values every handler can take, as nobody knows whose the next one is.

        Handlers that have been full for a while do not count: what comes for them is parked. ``free`` is how many
        handlings more the worker may begin.
        """
        wanted = [self._wanted_by(handler, free) for handler in self.handlers if not handler.parking.is_open]
        return min(wanted, default=0)

    def _wanted_by(self, handler: Handler, free: int) -> int:
        slots = min(handler.concurrency - handler.running, free)
        if handler.batch is None:
            return max(0, slots)
        gathered = len(self.gathered.get(handler, ()))
        # What is gathered has its slot already.
        begun = handler.batch - gathered if gathered else 0
        return max(0, begun + (slots - (1 if gathered else 0)) * handler.batch) if slots > 0 or gathered else 0

    def employ(self, handlers: Sequence[Handler]) -> None:
        """Is told who takes its values, from now on."""
        limited = any(handler.admission is not None for handler in handlers)
        made: dict[str, tuple[LeasedSide[Any], LeaseSource]] = {}
        for side in self.leaser.sides:
            source = side.lease_source(self._visibility_timeout)
            made[side.keys.ready] = side, attrs.evolve(source, owner=self._owner, sees_first=limited)
        self.handlers, self.sources = handlers, made

    def admission_of(self, data: Sequence[bytes], side: LeasedSide[Any]) -> tuple[list[LimitWords], list[Seen]]:
        """What the script that admits is told of the values that were seen. Each is told of once."""
        limits: dict[str, LimitWords] = {}
        seen: list[Seen] = []
        self._passed.clear()
        for each in dict.fromkeys(data):
            seen.append(self._seen(each, side, limits))
        return list(limits.values()), seen

    def note_leased(self, leased: Sequence[Leased]) -> None:
        """Is told what of the values that were seen last came."""
        self._let_past.update(each.id.hex() for each in leased if each.data in self._passed)

    def admitted(self, delivery: Delivery[Any]) -> bool:
        """Whether a value may be handled. One that was let past its handler's limit may not, and is parked."""
        if not self._let_past or delivery.id not in self._let_past:
            return True
        self._let_past.discard(delivery.id)
        return False

    def _seen(self, data: bytes, side: LeasedSide[Any], limits: dict[str, LimitWords]) -> Seen:
        # What cannot be read, or has no handler or no key, is received as it is. Whoever gets it says so.
        plain = Seen(digest=digest_of(data))
        values, error = side.decoded([data])
        if error is not None:
            return plain
        try:
            handler = choose(self.handlers, values[0])
            admission = None if handler is None else handler.admission
            if handler is None or admission is None:
                return plain
            if admission.has_limit and handler.parking.is_open:
                # It comes only to be parked, and takes neither a token nor a slot.
                self._passed.add(data)
                return admission.seen(values[0], data, 0)
            if admission.name not in limits:
                limits[admission.name] = admission.words
            return admission.seen(values[0], data, list(limits).index(admission.name) + 1)
        except (Unroutable, BadKey):
            return plain
