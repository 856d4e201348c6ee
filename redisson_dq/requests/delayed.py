"""The calls of the delayed side: what waits for its time."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Generic, Literal, TypeVar, overload

import attrs

from .._options import Options
from .._times import Delay, due_word, from_ms, span_ms
from ..codecs.base import Codec
from ..errors import ArgumentError, DuplicateItemError, EnvelopeError, QueueFullError
from ..items import ExpiredItem, OfferOutcome, Outcome, Overdue, RecurringOffer, entry_id, item_id
from ..recurrence import Recurrence
from ..scripts import calls
from ..scripts.calls import Added, Found, Page, Target
from ..wire import commands
from ..wire.envelope import Envelope, Quarantined, unwrap
from ..wire.keys import QueueKeys
from ..wire.request import Request, Word
from .base import ObjectRequests, check_count, check_index, nothing

__all__ = ["By", "DelayedRequests", "OnDuplicate", "WaitingItem", "warn_of_quarantine"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")

#: What an offer does when its id, or its payload, already stands.
OnDuplicate = Literal["reject", "keep", "replace"]

#: The order of a page of items: by due time, or as they were offered.
By = Literal["due", "offer"]

# One script call takes at most so many values and, beyond its first value, so many bytes.
_BATCH_VALUES = 1000
_BATCH_BYTES = 1_000_000

_LONGEST_ID = 512
_LARGEST_PAGE = 10_000


@attrs.frozen(kw_only=True)
class WaitingItem(Generic[T]):
    """One item that waits, as it was when the call that told of it was answered.

    ``id`` is the caller's, or one that was made. ``due`` is on the server's clock, None for an entry that has lost
    its due time. ``outcome`` says what an offer did; it is None for an item that was looked up.
    """

    id: str
    due_ms: int | None
    data: bytes
    target: Target
    outcome: OfferOutcome | None = None
    _now_us: int = attrs.field(alias="now_us")
    _read_ns: int = attrs.field(alias="read_ns", factory=time.monotonic_ns)
    _decode: Callable[[bytes], T] = attrs.field(alias="decode")

    @property
    def due(self) -> datetime | None:
        """When it is due, in UTC."""
        return None if self.due_ms is None else from_ms(self.due_ms)

    @property
    def remaining(self) -> timedelta | None:
        """How long from now until it is due, below zero when that has passed. No round trip: by the server's clock
        as it was told with the item, and the time that has passed here since then."""
        if self.due_ms is None:
            return None
        passed_us = (time.monotonic_ns() - self._read_ns) // 1000
        return timedelta(microseconds=self.due_ms * 1000 - self._now_us - passed_us)

    @property
    def value(self) -> T:
        """The value. Raises DecodeError (with the bytes, which stay in Redis) when the codec cannot read it."""
        return self._decode(self.data)

    def moved(self, due_ms: int, now_us: int) -> WaitingItem[T]:
        """The same item with another due time, told just now."""
        read_ns = time.monotonic_ns()
        return attrs.evolve(
            self, due_ms=due_ms, now_us=now_us, read_ns=read_ns, target=attrs.evolve(self.target, due_ms=due_ms)
        )


class DelayedRequests(ObjectRequests[T]):
    """What waits for its time. Each method gives a request; nothing is sent."""

    def __init__(self, keys: QueueKeys, name: str, codec: Codec, options: Options, *, lean: bool) -> None:
        super().__init__(keys, name, codec, options)
        if lean and options.envelope is Envelope.LEGACY:
            raise ArgumentError(f"queue {name!r}: lean=True needs envelope='current'; a legacy entry cannot be lean")
        self.lean = lean

    def main_keys(self, keys: QueueKeys) -> tuple[str, ...]:
        # In the order of Redisson, which is that of a dump as well.
        return (keys.envelopes, keys.timeout)

    def side_keys(self, keys: QueueKeys) -> tuple[str, ...]:
        return (keys.records, keys.forget, keys.settings, keys.recurring, keys.recurring_due)

    def woken(self, keys: QueueKeys) -> str:
        return keys.channel

    # -- offering ----------------------------------------------------------------------------------------------------

    def offer(
        self,
        value: T,
        delay: Delay | None = None,
        at: datetime | None = None,
        *,
        id: str | None = None,
        on_duplicate: OnDuplicate | None = None,
        deduplicate_for: Delay | None = None,
        expires: Delay | None = None,
    ) -> Request[WaitingItem[T]]:
        due, data = due_word(self.name, delay, at), self.encode(value)
        if id is None and deduplicate_for is None and expires is None:
            if on_duplicate is not None:
                raise ArgumentError(f"queue {self.name!r}: on_duplicate= goes with id= or deduplicate_for=")
            plain = calls.offer(self.keys, self.options.envelope, (due, data), lean=self.lean)
            return plain.then(lambda added: self._offered(added, data, None))
        if on_duplicate not in (None, "reject", "keep", "replace"):
            raise ArgumentError(
                f"queue {self.name!r}: on_duplicate= is 'reject', 'keep' or 'replace', not {on_duplicate!r}"
            )
        request = calls.offer_item(
            self.keys,
            self.options.envelope,
            due,
            data,
            key=self._key(id, data, deduplicate_for),
            on_duplicate=on_duplicate or "reject",
            lateness_ms=None if expires is None else span_ms(expires, self.name, "expires="),
            duplicate_ms=0 if deduplicate_for is None else self._interval_ms(deduplicate_for),
            remember_ms=self.options.remember_ms,
            lean=self.lean,
        )
        return request.then(lambda added: self._offered(added, data, id))

    def offer_all(self, values_and_delays: Iterable[tuple[T, Delay]]) -> list[Request[int]]:
        """One request for each batch. Everything is checked and encoded before the first one is given."""
        words = (self._words_of(pair) for pair in values_and_delays)
        return [self._offer_batch(batch) for batch in _batches(words)]

    def _offer_batch(self, batch: list[Word]) -> Request[int]:
        request = calls.offer(self.keys, self.options.envelope, batch, lean=self.lean)
        return request.then(lambda added: self._room(added).count)

    def _words_of(self, pair: tuple[T, Delay]) -> tuple[str, bytes]:
        try:
            value, delay = pair
        except (TypeError, ValueError):
            raise ArgumentError(
                f"queue {self.name!r}: offer_all takes pairs of value and delay, not {pair!r}"
            ) from None
        return due_word(self.name, delay, None), self.encode(value)

    def _key(self, id: str | None, data: bytes, deduplicate_for: Delay | None) -> Word:
        if id is None:
            return "" if deduplicate_for is None else f"h{hashlib.sha256(data).hexdigest()}"
        if deduplicate_for is not None:
            raise ArgumentError(
                f"queue {self.name!r}: an offer is known by id= or by its payload (deduplicate_for=), not by both"
            )
        if entry_id(self.checked_id(id)) is not None:
            raise ArgumentError(f"queue {self.name!r}: {id!r} has the form of an id that is made here; choose another")
        return f"i{id}"

    def _interval_ms(self, deduplicate_for: Delay) -> int:
        ms = span_ms(deduplicate_for, self.name, "deduplicate_for=")
        if not ms:
            raise ArgumentError(f"queue {self.name!r}: deduplicate_for= is above zero; without it, any value is added")
        return ms

    def _offered(self, added: Added, data: bytes, id: str | None) -> WaitingItem[T]:
        self._room(added)
        made = item_id(added.due_ms, added.entry) if id is None else id
        if added.outcome == "duplicate":
            raise DuplicateItemError(
                f"queue {self.name!r}: an item {made!r} already stands, it is {added.fate}; "
                "on_duplicate='keep' or 'replace' says what to do instead of this error",
                id=made,
                due=from_ms(added.due_ms),
                state=added.fate,
            )
        return WaitingItem(
            id=made,
            due_ms=added.due_ms,
            data=data if added.value is None else added.value,
            target=Target(entry=added.entry, due_ms=added.due_ms),
            outcome=OfferOutcome(added.outcome),
            now_us=added.now_us,
            decode=self._waits,
        )

    def _room(self, added: Added) -> Added:
        if added.outcome == "full":
            raise QueueFullError(f"queue {self.name!r}: as many items wait as set_max_size() allows; nothing was added")
        return added

    def _waits(self, data: bytes) -> T:
        return self.in_place([data], self.keys.timeout)[0]

    # -- taking, in the order of offers ------------------------------------------------------------------------------

    @overload
    def poll(self) -> Request[T | None]: ...

    @overload
    def poll(self, limit: int) -> Request[list[T]]: ...

    def poll(self, limit: int | None = None) -> Request[T | None] | Request[list[T]]:
        request = calls.poll(self.keys, 1 if limit is None else check_count(limit, self.name))
        popped = request.then(self._polled, keep_in=self.keys.undecodable)
        return popped.then(lambda values: values[0] if values else None) if limit is None else popped

    def _polled(self, reply: tuple[list[bytes], int]) -> list[T]:
        found, set_aside = reply
        warn_of_quarantine(self.keys, set_aside)
        return self.popped(found)

    def poll_last_and_offer_first_to(self, queue_name: str) -> Request[T | None]:
        destination = self.keys_of(queue_name).ready

        def moved(reply: tuple[bytes | None, int]) -> T | None:
            data, set_aside = reply
            warn_of_quarantine(self.keys, set_aside)
            return None if data is None else self.in_place([data], destination)[0]

        return calls.poll_last_to(self.keys, destination).then(moved)

    # -- looking -----------------------------------------------------------------------------------------------------

    def size(self) -> Request[int]:
        return commands.count_of(self.keys.timeout)

    def is_empty(self) -> Request[bool]:
        return self.size().then(lambda size: size == 0)

    def peek(self) -> Request[T | None]:
        return self.range(0, 0).then(lambda values: values[0] if values else None)

    def read_all(self) -> Request[list[T]]:
        return self.range(0, -1)

    def range(self, start: int, stop: int) -> Request[list[T]]:
        """Waiting values in the order of offers, from index ``start`` to ``stop`` (-1: to the end)."""
        return self.bytes_of(start, stop).then(lambda found: self.in_place(found, self.keys.timeout))

    def bytes_of(self, start: int, stop: int) -> Request[list[bytes]]:
        """The same as bytes. Raises EnvelopeError for an entry of no known format."""
        request = calls.read_waiting(self.keys, start, stop)
        return request.then(lambda members: [unwrap(member)[1] for member in members])

    def contains(self, value: T) -> Request[bool]:
        return calls.contains(self.keys, [self.encode(value)])

    def contains_all(self, values: Iterable[T]) -> Request[bool]:
        return calls.contains(self.keys, self.encode_all(values))

    # -- removing ----------------------------------------------------------------------------------------------------

    def remove(self, value: T) -> Request[bool]:
        return calls.remove(self.keys, "first", [self.encode(value)], self.options.remember_ms).then(bool)

    def remove_all(self, values: Iterable[T]) -> Request[bool]:
        return self.remove_bytes(self.encode_all(values)).then(bool)

    def remove_bytes(self, values: list[bytes]) -> Request[int]:
        """Removes all that equal one of them; gives how many there were."""
        return calls.remove(self.keys, "all", values, self.options.remember_ms)

    def retain_all(self, values: Iterable[T]) -> Request[bool]:
        return calls.remove(self.keys, "others", self.encode_all(values), self.options.remember_ms).then(bool)

    def clear(self) -> Request[None]:
        # What is to be forgotten stays: without its record, an item is one that was taken out.
        return commands.delete((*self.main_keys(self.keys), self.keys.records)).then(nothing)

    # -- single items ------------------------------------------------------------------------------------------------

    def cancel(self, id: str | WaitingItem[T]) -> Request[Outcome]:
        return calls.cancel(self.keys, self._target(id), self.options.remember_ms).then(Outcome)

    def reschedule(
        self, id: str | WaitingItem[T], delay: Delay | None = None, at: datetime | None = None
    ) -> Request[tuple[Outcome, int, int]]:
        """The outcome, the due time in ms, the server's time in us."""
        request = calls.reschedule(
            self.keys, self._target(id), due_word(self.name, delay, at), self.options.remember_ms
        )
        return request.then(lambda reply: (Outcome(reply[0]), reply[1], reply[2]))

    def find(self, id: str) -> Request[WaitingItem[T] | None]:
        return calls.find_item(self.keys, self._target(id)).then(lambda page: next(iter(self._waiting(page)), None))

    def items(self, start: int = 0, stop: int = 99, by: By = "due") -> Request[list[WaitingItem[T]]]:
        start, stop = check_index(start, self.name), check_index(stop, self.name)
        if start < 0 or stop < start - 1 or stop - start >= _LARGEST_PAGE:
            raise ArgumentError(
                f"queue {self.name!r}: a page of items has indexes from 0 on and at most {_LARGEST_PAGE} items, "
                f"not {start} to {stop}"
            )
        if by not in ("due", "offer"):
            raise ArgumentError(f"queue {self.name!r}: by= is 'due' or 'offer', not {by!r}")
        return calls.items(self.keys, by, start, stop).then(self._waiting)

    def _target(self, id: str | WaitingItem[T]) -> Target:
        if isinstance(id, WaitingItem):
            return id.target
        made = entry_id(self.checked_id(id))
        return Target(given_id=id) if made is None else Target(due_ms=made[0], entry=made[1])

    def _waiting(self, page: Page) -> list[WaitingItem[T]]:
        read_ns = time.monotonic_ns()
        return [self._waiting_item(found, page.now_us, read_ns) for found in page.found]

    def _waiting_item(self, found: Found, now_us: int, read_ns: int) -> WaitingItem[T]:
        try:
            entry, data = unwrap(found.member)
        except EnvelopeError:
            # It stands in the way of nothing yet: the transfer that meets it sets it aside.
            entry, data = b"", found.member
        return WaitingItem(
            id=found.given_id or item_id(found.due_ms or 0, entry),
            due_ms=found.due_ms,
            data=data,
            target=Target(entry=entry, due_ms=found.due_ms),
            now_us=now_us,
            read_ns=read_ns,
            decode=self._waits,
        )

    # -- the whole of it ---------------------------------------------------------------------------------------------

    def next_due(self) -> Request[datetime | None]:
        return commands.head(self.keys).then(lambda due_ms: None if due_ms is None else from_ms(due_ms))

    def overdue(self) -> Request[Overdue]:
        return calls.overdue(self.keys).then(_overdue)

    def pause(self) -> Request[bool]:
        return commands.set_field(self.keys.settings, "paused", 1)

    def resume(self) -> Request[bool]:
        return calls.resume(self.keys)

    def is_paused(self) -> Request[bool]:
        return commands.get_field(self.keys.settings, "paused").then(bool)

    def set_max_size(self, size: int | None) -> Request[None]:
        if size is None:
            return commands.unset_field(self.keys.settings, "max_size").then(nothing)
        count = check_count(size, self.name, "a size")
        return commands.set_field(self.keys.settings, "max_size", count).then(nothing)

    def max_size(self) -> Request[int | None]:
        return commands.get_field(self.keys.settings, "max_size")

    def expired_count(self) -> Request[int]:
        return commands.get_field(self.keys.settings, "expired").then(lambda count: count or 0)

    def read_expired(self, start: int = 0, stop: int = 99) -> Request[list[ExpiredItem]]:
        request = commands.slice_of(self.keys.expired, check_index(start, self.name), check_index(stop, self.name))
        return request.then(lambda elements: [ExpiredItem.parse(element) for element in elements])

    def read_quarantine(self, start: int = 0, stop: int = 99) -> Request[list[Quarantined]]:
        request = commands.slice_of(self.keys.quarantine, check_index(start, self.name), check_index(stop, self.name))
        return request.then(lambda elements: [Quarantined.parse(element) for element in elements])

    # -- recurring offers --------------------------------------------------------------------------------------------

    def offer_recurring(self, value: T, id: str, recurrence: Recurrence, first_ms: int | None) -> Request[OfferOutcome]:
        if first_ms is None:
            raise ArgumentError(f"queue {self.name!r}: the recurring offer {id!r} would never come")
        request = calls.recur(
            self.keys,
            self.options.envelope,
            self.checked_id(id),
            recurrence.to_json(),
            self.encode(value),
            first_ms,
            lean=self.lean,
        )
        return request.then(lambda reply: OfferOutcome(reply[0]))

    def cancel_recurring(self, id: str) -> Request[bool]:
        return calls.cancel_recurring(self.keys, self.checked_id(id))

    def recurring(self, start: int = 0, stop: int = 99) -> Request[list[RecurringOffer]]:
        request = calls.recurring(self.keys, check_index(start, self.name), check_index(stop, self.name))
        return request.then(lambda rows: [_recurring_offer(row) for row in rows])

    def checked_id(self, id: object) -> str:
        """Raises ArgumentError for what cannot be an id."""
        try:
            if isinstance(id, str) and 0 < len(id.encode()) <= _LONGEST_ID:
                return id
        except UnicodeEncodeError:
            pass
        raise ArgumentError(
            f"queue {self.name!r}: an id is a str of 1 to {_LONGEST_ID} bytes in UTF-8, not {id!a:.100}"
        )


def _overdue(reply: tuple[int, int, int | None]) -> Overdue:
    now_us, count, head_ms = reply
    late_us = 0 if head_ms is None else max(0, now_us - head_ms * 1000)
    return Overdue(count=count, late_by=timedelta(microseconds=late_us))


def _recurring_offer(row: calls.RecurringRow) -> RecurringOffer:
    recurrence = Recurrence.from_json(row.definition)
    return RecurringOffer(
        id=row.id,
        next_due=from_ms(row.due_ms),
        every=None if recurrence.every_ms is None else timedelta(milliseconds=recurrence.every_ms),
        cron=recurrence.cron,
        timezone=recurrence.timezone,
        data=row.value,
    )


def _batches(dues_and_values: Iterable[tuple[str, bytes]]) -> Iterator[list[Word]]:
    batch: list[Word] = []
    size = 0
    for due, value in dues_and_values:
        if len(batch) == 2 * _BATCH_VALUES or (batch and size + len(value) > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(due)
        batch.append(value)
        size += len(value)
    if batch:
        yield batch


def warn_of_quarantine(keys: QueueKeys, count: int) -> None:
    """Says once what was set aside, by whoever did it."""
    if count:
        logger.warning(
            "queue %r: %d members that are in no envelope format were moved to the list %r",
            keys.ready,
            count,
            keys.quarantine,
        )
