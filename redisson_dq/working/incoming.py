"""How the values of a queue come to a worker: its lists, and the handlers that get them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import attrs

from redisson_dq._redis.options import Options
from redisson_dq.calls.open_queue import BOUNDED, OpenQueue
from redisson_dq.scheduling.times import Delay
from redisson_dq.wire.blocking import RoundRobin, Waitable
from redisson_dq.wire.calls import LimitWords
from redisson_dq.wire.keys import map_name, tag_of
from redisson_dq.wire.lease_source import MOST_AT_ONCE, LeaseSource
from redisson_dq.wire.partitions import partition_names
from redisson_dq.working.admission import AdmitArguments, Admitting
from redisson_dq.working.ends import Settlement
from redisson_dq.working.handlers import Handler
from redisson_dq.working.settings import QueueSettings

__all__ = ["Fetching", "QueueIntake", "Reception", "page", "sides_of", "timeout_of"]

# Where keys take turns, this many values behind those at the head are peeked at too (``past.MORE`` in ``past.lua``).
_PAST = 1150


def sides_of(name: str, settings: QueueSettings, options: Options) -> list[OpenQueue[Any]]:
    """The queue, or its partitions. The worker counts deliveries by itself, so that on_failed is called before a value
    becomes a dead letter.
    """
    codec = settings.codec_of(options.codec)
    if settings.bounded:
        return [OpenQueue(name, codec, options, BOUNDED, delivery_limit=None, dead_letter=settings.dead_letter)]
    names = [name]
    if settings.partitions is not None:
        names = partition_names(name, settings.partitions, options.name_mapper)
    return [OpenQueue(each, codec, options, delivery_limit=None, dead_letter=settings.dead_letter) for each in names]


def timeout_of(settings: QueueSettings) -> Delay:
    """The visibility timeout of a worker's leases."""
    return settings.visibility_timeout or 30


@attrs.frozen
class Reception:
    """How the values of a queue come in. Another one takes its place when the handlers change, in one step.

    A fetcher that needs several of these fields reads the reception once, so that they belong together.
    """

    handlers: Sequence[Handler] = ()
    #: By the key of the list that it receives from.
    sources: Mapping[str, tuple[OpenQueue[Any], LeaseSource]] = attrs.field(factory=dict)
    #: Where a handler has limits or keys, values are seen first, and leased by ``admit.lua``.
    sees_first: bool = False
    #: Whether keys of values take turns.
    sorts: bool = False

    #: The handler of each value, where nothing has to be asked about it: neither its class nor limits, nor a batch.
    only: Handler | None = attrs.field(init=False)

    @only.default  # pyright: ignore[reportAttributeAccessIssue, reportOptionalMemberAccess]
    def _only(self) -> Handler | None:
        if len(self.handlers) != 1:
            return None
        (handler,) = self.handlers
        asks = handler.kind.alternatives or handler.where or handler.when or handler.admission
        return None if asks or handler.batch is not None else handler

    #: The place to wait for its values: its list, or those of its partitions.
    waitable: Waitable = attrs.field(init=False)

    @waitable.default  # pyright: ignore[reportAttributeAccessIssue]
    def _waitable(self) -> Waitable:
        sources = [source for _, source in self.sources.values()]
        return sources[0] if len(sources) == 1 else RoundRobin(tuple(sources))

    #: Whether one call may end leases and take the next values.
    acks_along: bool = attrs.field(init=False)

    @acks_along.default  # pyright: ignore[reportAttributeAccessIssue]
    def _acks_along(self) -> bool:
        return len(self.sources) == 1 and all(
            source.acks_along and side.options.durable is None for side, source in self.sources.values()
        )


class Fetching(Protocol):
    """A fetcher, as the rest of a worker knows it."""

    def freed(self, queue: str, /) -> None:
        """Values of a queue are wanted again."""

    def recount(self) -> None:
        """Fewer values may be wanted than before."""


class QueueIntake:
    """One queue of a worker: the sources of its values, and the handlers that get them."""

    def __init__(
        self,
        name: str,
        settings: QueueSettings,
        options: Options,
        is_passed: Callable[[Handler], bool],
        look_again: Callable[[LeaseSource, int], object],
        owner: bytes,
        *,
        is_cluster: bool,
    ) -> None:
        """``settings`` are complete. Leases are the ``owner``'s. ``is_passed`` is for its admission.

        ``look_again`` is called with what replies report about slots (:class:`LeaseSource`).
        """
        self.name = name
        self.sides = sides_of(name, settings, options)
        self._visibility_timeout = timeout_of(settings)
        self._look_again = look_again
        self._owner = owner
        self._name_mapper = options.name_mapper
        self._is_cluster = is_cluster
        #: Receives its values.
        self.fetcher: Fetching | None = None
        #: Takes the acks that the next receive may carry.
        self.acked: Callable[[Settlement], object] | None = None
        #: Which of the values that are seen first may be leased.
        self.admitting = Admitting(is_passed)
        self.reception = Reception()
        #: By list: the limits of slots as they were when a wait last began.
        self._limits: dict[str, Sequence[LimitWords]] = {}
        for side in self.sides:
            # The thread of a fetcher may become a handler's, and receives for others.
            side.decodes_apart = True

    def employ(self, handlers: Sequence[Handler]) -> None:
        """These handlers get its values from now on."""
        limited = any(handler.admission is not None for handler in handlers)
        made: dict[str, tuple[OpenQueue[Any], LeaseSource]] = {}
        for side in self.sides:
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

    def asked(self, key: str, seen: Sequence[bytes]) -> tuple[LeaseSource, AdmitArguments]:
        """The source of a list, and the arguments of ``admit.lua`` for the values that were seen in it."""
        reception = self.reception
        side, source = reception.sources[key]
        return source, self.admitting.words(key, reception.handlers, seen, side.decoded, partial(self._home, key))

    def _limits_of(self, key: str) -> Sequence[LimitWords]:
        return self._limits.get(key, ())

    def _home(self, key: str, name: str) -> str:
        """The keys of a limit are in one hash slot with the queue. So in a cluster the queues of one tag share it."""
        mapped = map_name(name, self._name_mapper)
        return f"{{{tag_of(key)}}}:{mapped}" if self._is_cluster else f"{{{mapped}}}"


def page(wanted: int, *, sorts: bool = False) -> int:
    """How many values are peeked at if this many may be leased: some may have to wait, and others come after them."""
    return min(MOST_AT_ONCE, 4 * wanted + 28) + (_PAST if sorts else 0)
