"""The calls on the items that wait for their time."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal, TypedDict, TypeVar, overload

from redisson_dq._common.texts import shown
from redisson_dq.calls.checks import check_count, check_index, check_page, nothing
from redisson_dq.calls.delayed_side import DelayedSide
from redisson_dq.calls.long_calls import told_if_long
from redisson_dq.calls.waiting_item import WaitingItem
from redisson_dq.calls.whole import WholeRequests
from redisson_dq.durability import Durability
from redisson_dq.errors import ArgumentError
from redisson_dq.items import ExpiredItem, Outcome, Overdue, RecurringOffer
from redisson_dq.observing import Paused, Resumed
from redisson_dq.scheduling.times import Delay, due_word, from_ms
from redisson_dq.wire import calls, commands
from redisson_dq.wire.calls import Added
from redisson_dq.wire.envelope import Quarantined
from redisson_dq.wire.forms import tell_newer
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["By", "DelayedRequests", "OfferOptions", "OnDuplicate"]

logger = logging.getLogger("redisson_dq")
T = TypeVar("T")

#: How an offer treats an id, or a payload, that is already in the queue.
OnDuplicate = Literal["reject", "keep", "replace"]

#: The order of a page of items: by due time, or as they were offered.
By = Literal["due", "offer"]


class OfferOptions(TypedDict, total=False):
    """The options of ``offer``, of each kind of handle. Their defaults stand in :meth:`DelayedRequests.offer`."""

    id: str | None
    on_duplicate: OnDuplicate | None
    deduplicate_for: Delay | None
    expires: Delay | None
    context: Mapping[str, str] | None
    durable: Durability | None


_LARGEST_PAGE = 10_000


class DelayedRequests(WholeRequests[T]):
    """The requests of the waiting side. Each method returns a request and sends nothing."""

    def __init__(self, side: DelayedSide[T]) -> None:
        super().__init__(side)
        self._side = side

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
        context: Mapping[str, str] | None = None,
        durable: Durability | None = None,
    ) -> Request[WaitingItem[T]]:
        return self._side.offer(
            due_word(self._side.name, delay, at),
            value,
            id=id,
            on_duplicate=on_duplicate,
            deduplicate_for=deduplicate_for,
            expires=expires,
            context=context,
            durable=durable,
        )

    def offer_all(
        self,
        values_and_delays: Iterable[tuple[T, Delay]],
        *,
        context: Mapping[str, str] | None = None,
        durable: Durability | None = None,
    ) -> list[Request[int]]:
        """One request for each batch. All values are checked and encoded before the first request is returned."""
        side, word = self._side, self._side.context_word(context)

        def request_of(delays: Sequence[float], values: list[bytes]) -> Request[Added]:
            if not word:
                return calls.offer_all(side.keys, side.options.envelope, delays, values, lean=side.kind.lean)
            return calls.offer_in_context(side.keys, side.options.envelope, delays, values, word, lean=side.kind.lean)

        return [
            side.adding(request_of(delays, values), durable).then(side.all_offered)
            for delays, values in side.offer_batches(values_and_delays)
        ]

    # -- taking, in the order of offers ------------------------------------------------------------------------------

    @overload
    def poll(self) -> Request[T | None]: ...

    @overload
    def poll(self, limit: int) -> Request[list[T]]: ...

    def poll(self, limit: int | None = None) -> Request[T | None] | Request[list[T]]:
        request = calls.poll(self._side.keys, 1 if limit is None else check_count(limit, self._side.name))
        popped = self._side.working(request).then(self._side.polled, aside=self._side.keys.undecodable)
        return popped.then(lambda values: values[0] if values else None) if limit is None else popped

    def take_due(
        self, until: datetime | None = None, since: datetime | None = None, offset: int = 0, limit: int = 100
    ) -> Request[list[T]]:
        return self._side.take_due(self._side.due_range(until, since, offset, limit), nothing)

    def poll_last_and_offer_first_to(self, queue_name: str) -> Request[T | None]:
        destination = self._side.keys_of(queue_name).ready

        def moved(reply: tuple[bytes | None, int]) -> T | None:
            data, set_aside = reply
            self._side.tell_undelivered(set_aside)
            return None if data is None else self._side.in_place([data], destination)[0]

        request = self._side.working(calls.poll_last_to(self._side.keys, destination))
        return told_if_long(request, self._side, "poll_last_and_offer_first_to()").then(moved)

    # -- looking -----------------------------------------------------------------------------------------------------

    def size(self) -> Request[int]:
        return calls.size(self._side.keys)

    def is_empty(self) -> Request[bool]:
        return self.size().then(lambda size: size == 0)

    def peek(self) -> Request[T | None]:
        return self.range(0, 0).then(lambda values: values[0] if values else None)

    def read_all(self) -> Request[list[T]]:
        return self.range(0, -1)

    def range(self, start: int, stop: int) -> Request[list[T]]:
        """Waiting values in the order of offers, from index ``start`` to ``stop`` (-1: to the end)."""
        start, stop = check_index(start, self._side.name), check_index(stop, self._side.name)
        return self._side.values(start, stop, part=False)

    def contains(self, value: T) -> Request[bool]:
        return self._side.seeking(self._side.presence(self._side.encode_sought(value)), [value])

    def contains_all(self, values: Iterable[T]) -> Request[bool]:
        values = self._side.collected(values)
        return self._side.seeking(self._side.contains_bytes(self._side.encode_all_sought(values)), values)

    # -- removing ----------------------------------------------------------------------------------------------------

    def remove(self, value: T) -> Request[bool]:
        return self._side.seeking(self._side.remove_bytes("first", [self._side.encode_sought(value)]), [value])

    def remove_all(self, values: Iterable[T]) -> Request[bool]:
        values = self._side.collected(values)
        return self._side.seeking(self._side.remove_bytes("all", self._side.encode_all_sought(values)), values)

    def retain_all(self, values: Iterable[T]) -> Request[bool]:
        return self._side.remove_bytes("others", self._side.encode_all_sought(values))

    def clear(self) -> Request[None]:
        # The key ``forget`` stays. Without a record, its members say that an item was taken out.
        return calls.clear(self._side.keys)

    # -- single items ------------------------------------------------------------------------------------------------

    def cancel(self, id: str | WaitingItem[T]) -> Request[Outcome]:
        return calls.cancel(self._side.lease_keys, self._side.target(id), self._side.options.remember_ms).then(Outcome)

    def reschedule(
        self, id: str | WaitingItem[T], delay: Delay | None = None, at: datetime | None = None
    ) -> Request[Outcome]:
        return self._side.reschedule(id, delay, at).then(lambda reply: reply[0])

    def find(self, id: str) -> Request[WaitingItem[T] | None]:
        return calls.find_item(self._side.lease_keys, self._side.target(id)).then(
            lambda page: next(iter(self._side.waiting(page)), None)
        )

    def items(self, start: int = 0, stop: int = 99, by: By = "due") -> Request[list[WaitingItem[T]]]:
        check_page(start, stop, _LARGEST_PAGE, self._side.name, "a page of items", "items")
        if by not in ("due", "offer"):
            raise ArgumentError(f"queue {self._side.name!r}: by= is 'due' or 'offer', not {shown(by)}")
        return self._side.items(start, stop, by, part=False).then(lambda reply: reply[0])

    # -- the whole of it ---------------------------------------------------------------------------------------------

    def next_due(self) -> Request[datetime | None]:
        return calls.next_due(self._side.keys).then(lambda due_ms: None if due_ms is None else from_ms(due_ms))

    def overdue(self) -> Request[Overdue]:
        return calls.overdue(self._side.keys).then(_overdue)

    def pause(self) -> Request[bool]:
        return commands.set_field(self._side.keys.settings, "paused", 1).then(self._told(Paused))

    def resume(self) -> Request[bool]:
        return calls.resume(self._side.keys).then(self._told(Resumed))

    def _told(self, kind: type[Paused] | type[Resumed]) -> Callable[[bool], bool]:
        """Tells observers when a call has changed something."""

        def tell(changed: bool) -> bool:
            observers = self._side.options.observers
            if changed and observers.hear(kind):
                observers.tell(kind(queue=self._side.name))
            return changed

        return tell

    def is_paused(self) -> Request[bool]:
        return commands.get_field(self._side.keys.settings, "paused").then(bool)

    def set_max_size(self, size: int | None) -> Request[None]:
        if size is None:
            return commands.unset_field(self._side.keys.settings, "max_size").then(nothing)
        count = check_count(size, self._side.name, "a size")
        return commands.set_field(self._side.keys.settings, "max_size", count).then(nothing)

    def max_size(self) -> Request[int | None]:
        return commands.get_field(self._side.keys.settings, "max_size")

    def expired_count(self) -> Request[int]:
        return commands.get_field(self._side.keys.settings, "expired").then(lambda count: count or 0)

    def read_expired(self, start: int = 0, stop: int = 99) -> Request[list[ExpiredItem]]:
        request = commands.slice_of(
            self._side.keys.expired, check_index(start, self._side.name), check_index(stop, self._side.name)
        )
        return request.then(lambda elements: [ExpiredItem.parse(element) for element in elements])

    def read_quarantine(self, start: int = 0, stop: int = 99) -> Request[list[Quarantined]]:
        request = commands.slice_of(
            self._side.keys.quarantine, check_index(start, self._side.name), check_index(stop, self._side.name)
        )
        return request.then(lambda elements: [Quarantined.parse(element) for element in elements])

    # -- recurring offers --------------------------------------------------------------------------------------------

    def cancel_recurring(self, id: str) -> Request[bool]:
        return calls.cancel_recurring(self._side.keys, self._side.checked_id(id))

    def recurring(self, start: int = 0, stop: int = 99) -> Request[list[RecurringOffer]]:
        request = calls.recurring(
            self._side.keys, check_index(start, self._side.name), check_index(stop, self._side.name)
        )
        return request.then(lambda rows: _recurring_offers(self._side.keys, rows))


def _overdue(reply: tuple[int, int, int | None]) -> Overdue:
    now_us, count, head_ms = reply
    # A time before 1970 is nobody's due time, and may be too early for a timedelta.
    late_us = 0 if head_ms is None else max(0, now_us - max(0, head_ms) * 1000)
    return Overdue(count=count, late_by=timedelta(microseconds=late_us))


def _recurring_offers(keys: QueueKeys, rows: list[calls.RecurringRow]) -> list[RecurringOffer]:
    from redisson_dq.scheduling.recurrence import NewerRuleError

    offers = []
    for row in rows:
        try:
            offers.append(_recurring_offer(row))
        except NewerRuleError as error:
            tell_newer(keys.ready, keys.recurring, "recurring", error.form)
        except (ArgumentError, OverflowError) as error:
            logger.warning("queue %r: the recurring offer %r cannot be read: %s", keys.ready, row.id, error)
    return offers


def _recurring_offer(row: calls.RecurringRow) -> RecurringOffer:
    from redisson_dq.scheduling.recurrence import Recurrence

    recurrence = Recurrence.from_json(row.definition)
    return RecurringOffer(
        id=row.id,
        next_due=from_ms(sys.maxsize if row.due_ms is None else row.due_ms),
        every=None if recurrence.every_ms is None else timedelta(milliseconds=recurrence.every_ms),
        cron=recurrence.cron,
        timezone=recurrence.timezone,
        data=row.value,
    )
