"""One queue as a handle has it open: its keys, its values, and the terms of its leases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypedDict, TypeVar

import attrs

from redisson_dq._redis.options import Options, check_durable
from redisson_dq.calls.checks import check_count
from redisson_dq.calls.values import QueueValues
from redisson_dq.codecs.base import Codec
from redisson_dq.durability import Durability
from redisson_dq.errors import ArgumentError, EncodeError
from redisson_dq.observing import Buried, TookLong
from redisson_dq.scheduling.times import Delay, visible_us
from redisson_dq.wire.blocking import Pop
from redisson_dq.wire.calls.base import Prepared, prepared
from redisson_dq.wire.commands import SIDES
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import DeadKeys, LeaseKeys, QueueKeys, map_name
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.request import OtherTypes, Request, Word

__all__ = ["BOUNDED", "DELAYED", "LEAN", "LONG_US", "READY", "LeaseTerms", "OpenQueue", "QueueKind"]

T = TypeVar("T")
U = TypeVar("U")

#: A call that takes longer is reported.
LONG_US = 100_000
# The queues and calls of this process that were reported.
_told_long: set[tuple[str, str]] = set()


@attrs.frozen(kw_only=True)
class QueueKind:
    """One kind of queue by its keys, which have their names in :class:`QueueKeys`."""

    #: The keys that Redisson has for it.
    main: tuple[str, ...]
    #: Our own keys that are renamed, copied and deleted with it.
    beside: tuple[str, ...] = ()
    #: Our own keys that go with it and are in no dump, as they hold values only for a moment.
    passing: tuple[str, ...]
    #: Whether its values wait for their time.
    waits: bool = False
    #: The channel on which clients learn of a new head.
    channel: str | None = None
    #: Whether a value that leaves the queue makes room in it.
    bounded: bool = False
    #: Whether offers are only in the timeout zset.
    lean: bool = False
    #: The shortest wait of a value that is given back, in us.
    back_after_us: int = 0

    @property
    def dumped(self) -> tuple[str, ...]:
        """The keys that a dump has."""
        return *self.main, *self.beside

    @property
    def every(self) -> tuple[str, ...]:
        """The keys that are renamed and deleted together."""
        return *self.main, *self.beside, *self.passing


READY = QueueKind(main=("ready",), passing=("arrivals",))
BOUNDED = QueueKind(main=("ready", "capacity"), passing=("arrivals",), bounded=True)
DELAYED = QueueKind(
    # In the order of Redisson, which is that of a dump as well.
    main=("envelopes", "timeout"),
    beside=(
        *("records", "forget", "settings", "recurring", "recurring_due"),
        *("leases", "deliveries", "histories", "history_ends"),
    ),
    passing=("lines", "turns", "handled", "events"),
    waits=True,
    channel="channel",
    # Leases of take_due go back to the waiting side.
    back_after_us=1,
)
LEAN = attrs.evolve(DELAYED, lean=True)


class LeaseTerms(TypedDict, total=False):
    """Options that say how a queue ends leases without an ack. Their defaults are in :class:`OpenQueue`."""

    delivery_limit: int | None
    dead_letter: str | None


class OpenQueue(QueueValues[T]):
    """The name, keys and codec of one open queue, and for how long, how often and from where it leases."""

    #: The client's, by whose first bytes others know whose a lease is (:attr:`LeaseSource.owner`).
    owner = b""

    def __init__(
        self,
        name: str,
        codec: Codec | None,
        options: Options,
        kind: QueueKind = READY,
        *,
        delivery_limit: int | None = 10,
        dead_letter: str | None = None,
    ) -> None:
        """After ``delivery_limit`` deliveries (None: never) a value is a dead letter. The queue ``dead_letter`` takes
        it, by its name before the name mapper; None means a list of this queue's own. Raises ArgumentError.
        """
        super().__init__(name, codec, options)
        self.kind = kind
        #: The format that scripts write. Lean entries have the current envelope.
        self.form = "lean" if kind.lean else options.envelope.value
        self._dead_letter = dead_letter
        self._open(QueueKeys.of(map_name(name, options.name_mapper)))
        self.codec = self.codec.of_queue(self.keys.ready)
        if delivery_limit is not None:
            check_count(delivery_limit, name, "a delivery limit")
        if dead_letter is not None and self.dead_keys.dead in attrs.astuple(self.keys):
            raise ArgumentError(f"queue {name!r}: dead_letter= is the queue itself, or one of its keys")
        if kind.lean and options.envelope is Envelope.LEGACY:
            raise ArgumentError(f"queue {name!r}: lean=True needs envelope='current'; a legacy entry cannot be lean")
        self.delivery_limit = delivery_limit or 0
        self.terms = LeaseTerms(delivery_limit=delivery_limit, dead_letter=dead_letter)
        #: All partitions of the queue that this one is a partition of.
        self.partitions: tuple[OpenQueue[T], ...] = ()
        # With the visibility timeout that it was made for.
        self._last_source: tuple[Delay | None, LeaseSource | None] = (None, None)
        #: Called before a call that offers or takes is sent. A call that only looks, or that manages the queue, starts
        #: nothing.
        self.starts: tuple[Callable[[], None], ...] = ()

    def _open(self, keys: QueueKeys) -> None:
        self.keys = keys
        if self._dead_letter is None:
            self.dead_keys = DeadKeys.belonging_to(keys.ready)
        else:
            self.dead_keys = DeadKeys.of(self.keys_of(self._dead_letter).ready)
        #: The keys of its leases and dead letters.
        self.lease_keys = LeaseKeys(queue=keys, dead=self.dead_keys, bounded=self.kind.bounded)
        #: The keys of a queue in which values take room.
        self.room = keys if self.kind.bounded else None
        #: Its pops, by the end that they take from.
        self.pops = {end: Pop((keys.ready,), end, self.room) for end in SIDES}
        # By the name of a script.
        self._prepared: dict[str, Prepared] = {}

    # -- its keys ----------------------------------------------------------------------------------------------------

    def keys_of(self, name: str) -> QueueKeys:
        """The keys of another queue, by its name before the name mapper."""
        try:
            return QueueKeys.of(map_name(name, self.options.name_mapper))
        except ArgumentError as error:
            raise ArgumentError(f"queue {self.name!r}: {error}") from None

    def rename(self, new_name: str) -> None:
        """Takes another name, and its keys."""
        self._open(self.keys_of(new_name))
        self.name = new_name

    def waiting_value(self, data: bytes) -> T:
        """The value of an item that waits. Raises DecodeError."""
        return self.in_place([data], self.keys.timeout)[0]

    # -- its calls ---------------------------------------------------------------------------------------------------

    @property
    def start_moving(self) -> Callable[[], None] | None:
        """Makes the client move the queue's due items, where the handle may do that."""
        return self.starts[0] if self.starts else None

    @start_moving.setter
    def start_moving(self, start: Callable[[], None] | None) -> None:
        self.starts = () if start is None else (start,)

    def seeking(
        self, request: Request[U], values: list[T], *, before: bool = False, partly: bool = False
    ) -> Request[U]:
        """The request, which compares these values, with the lookup for equal ones of other types in Java."""

        def lookups() -> list[Request[list[EncodeError]]]:
            others = self.of_other_types(values)
            if not others:
                return []
            data = list(dict.fromkeys(each for other in others for each in (other.own, other.data)))
            found = self.found(data)
            return [found.then(lambda met: self.other_types(others, {data[index] for index in met}, before))]

        return attrs.evolve(request, others=OtherTypes(lookups=lookups, before=before, partly=partly))

    def found(self, data: Sequence[bytes]) -> Request[set[int]]:
        """The indexes of those of these bytes, each once, that a value in the queue has."""
        if self.kind.waits:
            return self.call("contains", (b"whole", *data), lambda reply: set(reply[1]))
        return self.call("contains_ready", tuple(data), set)

    def call(
        self,
        name: str,
        args: tuple[Word, ...],
        parse: Callable[[Any], U],
        *,
        aside: str | None = None,
        durable: Durability | None = None,
        on_sending: tuple[Callable[[], None], ...] = (),
    ) -> Request[U]:
        """The call of a script on the keys of the queue. The options are those of :class:`Request`."""
        shared = self._prepared.get(name)
        if shared is None:
            shared = self._prepared[name] = prepared(name, self.lease_keys)
        script, head, tail, types = shared
        return Request(
            script=script,
            words=(*head, *args, *tail),
            types=types,
            parse=parse,
            aside=aside,
            durable=durable,
            on_sending=on_sending,
        )

    def told_if_long(self, request: Request[U], what: str) -> Request[U]:
        """Notifies observers when a request takes long, once for each queue and call.

        Redis carries such a call out in one go, whatever its size, and serves nobody else meanwhile.
        """
        clock, sent_us = self.options.clock, 0

        def begin() -> None:
            nonlocal sent_us
            sent_us = clock.now_us()

        def checked(result: U) -> U:
            took_us = clock.now_us() - sent_us
            if took_us > LONG_US and (self.name, what) not in _told_long:
                _told_long.add((self.name, what))
                took = timedelta(microseconds=took_us)
                self.options.observers.tell(TookLong(queue=self.name, call=what, duration=took))
            return result

        return request.then(checked, on_sending=begin)

    def confirmation(self, durable: Durability | None) -> Durability | None:
        """The confirmation of a change: as the call asks for, else as the client does. Raises ArgumentError."""
        if durable is None:
            return self.options.durable
        check_durable(durable)
        return durable

    def working(self, request: Request[U]) -> Request[U]:
        """A request that offers or takes. When it is sent, the client starts to move the queue's due items."""
        return attrs.evolve(request, on_sending=(*request.on_sending, *self.starts)) if self.starts else request

    # -- its leases --------------------------------------------------------------------------------------------------

    def lease_source(self, visibility_timeout: Delay) -> LeaseSource:
        """The source of calls that lease values."""
        # Nearly every call has the same source.
        timeout, last = self._last_source
        if last is not None and last.lease_keys.queue is not self.keys:
            last = None
        if last is not None and timeout is visibility_timeout:
            return last
        visible = visible_us(visibility_timeout, self.name)
        if last is None or last.visible_us != visible:
            last = LeaseSource(
                self.lease_keys,
                self.options.envelope,
                visible,
                self.delivery_limit,
                self.kind.back_after_us,
                # A shorter id has no room for it.
                self.owner if self.options.envelope is Envelope.CURRENT else b"",
                clock=self.options.clock,
                tell_buried=self._tell_buried,
            )
        self._last_source = visibility_timeout, last
        return last

    def _tell_buried(self, count: int) -> None:
        kept_in = self.dead_keys.dead
        self.options.observers.tell(Buried(queue=self.name, count=count, limit=self.delivery_limit, kept_in=kept_in))
