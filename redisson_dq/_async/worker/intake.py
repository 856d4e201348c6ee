"""One queue as a worker has it open: the sources of its values, and the handlers that get them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Protocol

import attrs

from redisson_dq._async.leases.delivery import Delivery
from redisson_dq._async.queues.leaser import Leaser
from redisson_dq._async.runtime import Runtime
from redisson_dq._async.worker.settling import Settlement, call_up_more
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import DecodeError
from redisson_dq.wire.calls import LimitWords
from redisson_dq.wire.keys import map_name, tag_of
from redisson_dq.wire.lease_source import MOST_AT_ONCE, LeaseSource
from redisson_dq.wire.leases import Leased
from redisson_dq.wire.taken import Taken
from redisson_dq.working.admission import Admitting
from redisson_dq.working.handlers import Handler
from redisson_dq.working.incoming import Reception, sides_of, timeout_of
from redisson_dq.working.settings import QueueSettings

__all__ = ["Came", "Fetching", "Intake", "page"]

# Where keys take turns, this many values behind those at the head are peeked at too (``past.MORE`` in ``past.lua``).
_PAST = 1150

#: The values of one list, and the error for those that cannot be read.
Came = tuple[list[Delivery[Any]], "DecodeError | None"]


class Fetching(Protocol):
    """A fetcher, as the rest of a worker knows it."""

    def freed(self, queue: str, /) -> None:
        """Values of a queue are wanted again."""

    def recount(self) -> None:
        """Fewer values may be wanted than before."""


class Intake:
    """One queue as the worker has it: the sources of its values, and the handlers that get them."""

    def __init__(
        self,
        runtime: Runtime,
        name: str,
        settings: QueueSettings,
        is_passed: Callable[[Handler], bool],
        dropped: Callable[[Intake, bytes], object],
        look_again: Callable[[LeaseSource, int], object],
        owner: bytes,
    ) -> None:
        """Opens the queue by complete settings. Leases are the ``owner``'s. ``is_passed`` is for its admission.

        ``dropped`` is called with the bytes of a duplicate, ``look_again`` with what replies report about slots
        (:class:`LeaseSource`).
        """
        self._connections = runtime.connections
        self._dropped = dropped
        self.name = name
        self.leaser = Leaser(runtime, sides_of(name, settings, runtime.options), runtime.connections.check)
        self._visibility_timeout = timeout_of(settings)
        self._look_again = look_again
        self._owner = owner
        self._name_mapper = runtime.options.name_mapper
        self._is_cluster = runtime.connections.is_cluster
        #: Receives its values.
        self.fetcher: Fetching | None = None
        #: Takes the acks that the next receive may carry.
        self.acked: Callable[[Settlement], object] | None = None
        #: Which of the values that are seen first may be leased.
        self.admitting = Admitting(is_passed)
        self.reception = Reception()
        #: By list: the limits of slots as they were when a wait last began.
        self._limits: dict[str, Sequence[LimitWords]] = {}
        for side in self.leaser.sides:
            # The thread of a fetcher may become a handler's, and receives for others.
            side.decodes_apart = True
        self.attachments = [runtime.attach(side.keys, side.name, bool(settings.transfer)) for side in self.leaser.sides]
        for attachment in self.attachments:
            attachment.start_moving()

    def employ(self, handlers: Sequence[Handler]) -> None:
        """These handlers get its values from now on."""
        limited = any(handler.admission is not None for handler in handlers)
        made: dict[str, tuple[OpenQueue[Any], LeaseSource]] = {}
        for side in self.leaser.sides:
            source = side.lease_source(self._visibility_timeout)
            source = attrs.evolve(source, owner=self._owner or source.owner, sees_first=limited)
            if limited:
                limits = partial(self._limits_of, side.keys.ready)
                source = attrs.evolve(source, limits=limits, tell_slots=self._look_again)
            made[side.keys.ready] = side, source
        sorts = any(handler.admission is not None and handler.admission.turns is not None for handler in handlers)
        self.reception = Reception(handlers, made, limited, sorts)

    def note_limits(self) -> None:
        """Notes the limits for the next looks. A look is made under mutexes, and asks nobody.

        The wait that begins may be shared with another worker of the client, or with an earlier run of this one, and
        report slots only to that one. So a look of its own follows.
        """
        if self.reception.sees_first:
            for key, (_, source) in self.reception.sources.items():
                found = self.admitting.limits(self.reception.handlers, partial(self._home, key))
                limits = self._limits[key] = [each for each in found if each.slots or each.by]
                if limits:
                    self._look_again(source, 0)

    def forget_limits(self) -> None:
        """Nothing is received any more."""
        self._limits.clear()

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
        reception = self.reception
        side, source = reception.sources[key]
        asked = self.admitting.words(key, reception.handlers, seen, side.decoded, partial(self._home, key))
        request = source.admit(wanted, asked.limits, asked.seen)
        admitted = await self.leaser.run_again(request, source.visible, None)
        for data in admitted.dropped:
            self._dropped(self, data)
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

    def _limits_of(self, key: str) -> Sequence[LimitWords]:
        return self._limits.get(key, ())

    def _home(self, key: str, name: str) -> str:
        """The keys of a limit are in one hash slot with the queue. So in a cluster the queues of one tag share it."""
        mapped = map_name(name, self._name_mapper)
        return f"{{{tag_of(key)}}}:{mapped}" if self._is_cluster else f"{{{mapped}}}"


def page(wanted: int, *, sorts: bool = False) -> int:
    """How many values are peeked at if this many may be leased: some may have to wait, and others come after them."""
    return min(MOST_AT_ONCE, 4 * wanted + 28) + (_PAST if sorts else 0)
