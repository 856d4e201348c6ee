"""The calls on the items that wait for their time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import attrs

from redisson_dq._common.signatures import with_options_of
from redisson_dq.calls import walks
from redisson_dq.calls.checks import check_count, nothing
from redisson_dq.calls.due import due_range, taken_due, tell_undelivered
from redisson_dq.calls.history import Kept, kept_history, set_history
from redisson_dq.calls.items import (
    WaitingItem,
    checked_id,
    find_item,
    page_of_items,
    rescheduled,
    target,
    waiting_items,
)
from redisson_dq.calls.offers import (
    OfferOptions,
    all_offered,
    equal_offers,
    names_of_equal_offers,
    offered,
)
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.recurring import recurring_offers
from redisson_dq.calls.whole import WholeRequests
from redisson_dq.durability import Durability
from redisson_dq.items import ExpiredItem, Outcome, Overdue, RecurringOffer
from redisson_dq.observing import Paused, Resumed
from redisson_dq.scheduling.times import Delay, due_word, from_ms
from redisson_dq.wire import calls, commands
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.envelope import Quarantined, unwrap
from redisson_dq.wire.request import OtherTypes, Request

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["By", "DelayedRequests", "waiting_values"]

T = TypeVar("T")

#: The order of a page of items: by due time, or as they were offered.
By = Literal["due", "offer"]

# Outside of a pipeline these calls are several short scripts.
_IN_A_PIPELINE = "contains or remove in a pipeline"


def waiting_values(queue: OpenQueue[T], start: int, stop: int, *, part: bool) -> Request[list[T]]:
    """Values in the order of offers; they stay. With ``part`` some 1 MB of them at most, and one at least.

    Raises EnvelopeError for an entry of no known format.
    """
    request = queue.call(
        "read_waiting",
        (start, stop, "part" if part else ""),
        lambda members: queue.in_place([unwrap(member)[1] for member in members], queue.keys.timeout),
    )
    return queue.told_if_long(request, "read_all() or range()")


class DelayedRequests(WholeRequests[T]):
    """The requests of the waiting side. Each method returns a request and sends nothing."""

    # -- offering ----------------------------------------------------------------------------------------------------

    @with_options_of(offered)
    def offer(
        self, value: T, delay: Delay | None = None, at: datetime | None = None, **options: Unpack[OfferOptions]
    ) -> Request[WaitingItem[T]]:
        queue = self._queue
        request = offered(queue, due_word(queue.name, delay, at), value, **options)
        if options.get("deduplicate_for") is None:
            return request
        others = OtherTypes(
            lookups=lambda: equal_offers(queue, value),
            before=True,
            offered=lambda: names_of_equal_offers(queue, value),
        )
        return attrs.evolve(request, others=others)

    def offer_all(
        self,
        values_and_delays: Iterable[tuple[T, Delay]],
        *,
        context: Mapping[str, str] | None = None,
        durable: Durability | None = None,
    ) -> list[Request[int]]:
        """One request for each batch. All values are checked and encoded before the first request is returned."""
        return all_offered(self._queue, values_and_delays, context, durable)

    # -- taking, in the order of offers ------------------------------------------------------------------------------

    @overload
    def poll(self) -> Request[T | None]: ...

    @overload
    def poll(self, limit: int) -> Request[list[T]]: ...

    def poll(self, limit: int | None = None) -> Request[T | None] | Request[list[T]]:
        request = self._queue.call(
            "poll",
            (1 if limit is None else check_count(limit, self._queue.name),),
            self._polled,
            aside=self._queue.keys.undecodable,
            on_sending=self._queue.starts,
        )
        return request.then(lambda values: values[0] if values else None) if limit is None else request

    def take_due(
        self, until: datetime | None = None, since: datetime | None = None, offset: int = 0, limit: int = 100
    ) -> Request[list[T]]:
        return taken_due(self._queue, due_range(self._queue, until, since, offset, limit), nothing)

    def poll_last_and_offer_first_to(self, queue_name: str) -> Request[T | None]:
        queue = self._queue
        destination = queue.keys_of(queue_name).ready

        def moved(reply: list[Any]) -> T | None:
            set_aside, *value = reply
            self._tell_set_aside(set_aside)
            return queue.in_place([value[0]], destination)[0] if value and value[0] is not None else None

        request = queue.working(call("poll_last_to", queue.keys, (), moved, destination=destination))
        return queue.told_if_long(request, "poll_last_and_offer_first_to()")

    def _polled(self, reply: list[Any]) -> list[T]:
        found, set_aside = reply
        self._tell_set_aside(set_aside)
        return self._queue.popped(found)

    def _tell_set_aside(self, count: int) -> None:
        tell_undelivered(self._queue.options.observers, self._queue.name, self._queue.keys, count)

    # -- looking -----------------------------------------------------------------------------------------------------

    def size(self) -> Request[int]:
        return self._queue.call("size", (), int)

    def is_empty(self) -> Request[bool]:
        return self._queue.call("size", (), lambda size: not size)

    def peek(self) -> Request[T | None]:
        return self.range(0, 0).then(lambda values: values[0] if values else None)

    def read_all(self) -> Request[list[T]]:
        return self.range(0, -1)

    def range(self, start: int, stop: int) -> Request[list[T]]:
        """Waiting values in the order of offers, from index ``start`` to ``stop`` (-1: to the end)."""
        return waiting_values(self._queue, *self._indexes(start, stop), part=False)

    def contains(self, value: T) -> Request[bool]:
        return self._contains([value], [self._queue.encode_sought(value)])

    def contains_all(self, values: Iterable[T]) -> Request[bool]:
        values = self._queue.collected(values)
        return self._contains(values, self._queue.encode_all_sought(values))

    def _contains(self, values: list[T], data: list[bytes]) -> Request[bool]:
        """Whether each of the values waits, in one request."""
        distinct = list(dict.fromkeys(data))
        request = walks.contains(self._queue.keys, distinct, walks.WHOLE)
        told = self._queue.told_if_long(request, _IN_A_PIPELINE)
        return self._queue.seeking(told.then(lambda walked: len(walked.result) == len(distinct)), values)

    # -- removing ----------------------------------------------------------------------------------------------------

    def remove(self, value: T) -> Request[bool]:
        return self._queue.seeking(self._removed("first", [self._queue.encode_sought(value)]), [value])

    def remove_all(self, values: Iterable[T]) -> Request[bool]:
        values = self._queue.collected(values)
        return self._queue.seeking(self._removed("all", self._queue.encode_all_sought(values)), values, partly=True)

    def retain_all(self, values: Iterable[T]) -> Request[bool]:
        values = self._queue.collected(values)
        return self._queue.seeking(self._removed("others", self._queue.encode_all_sought(values)), values, before=True)

    def _removed(self, which: str, values: list[bytes]) -> Request[bool]:
        """Whether any was removed: the "first" that equals one of them, "all" that do, or the "others"."""
        request = walks.remove(self._queue.keys, which, values, self._queue.options.remember_ms, walks.WHOLE)
        return self._queue.told_if_long(request, _IN_A_PIPELINE).then(lambda walked: walked.result > 0)

    def clear(self) -> Request[None]:
        # The key ``forget`` stays. A member without a record means that an item was taken out.
        return self._queue.call("clear", (), nothing)

    # -- single items ------------------------------------------------------------------------------------------------

    def cancel(self, id: str | WaitingItem[T]) -> Request[Outcome]:
        args = *target(self._queue, id).words(), self._queue.options.remember_ms
        return self._queue.call("cancel", args, lambda word: Outcome(word.decode()))

    def reschedule(
        self, id: str | WaitingItem[T], delay: Delay | None = None, at: datetime | None = None
    ) -> Request[Outcome]:
        return rescheduled(self._queue, id, delay, at).then(lambda reply: reply[0])

    def find(self, id: str) -> Request[WaitingItem[T] | None]:
        request = find_item(self._queue.lease_keys, target(self._queue, id))
        return request.then(lambda page: next(iter(waiting_items(self._queue, page)), None))

    def items(self, start: int = 0, stop: int = 99, by: By = "due") -> Request[list[WaitingItem[T]]]:
        return page_of_items(self._queue, start, stop, by, part=False).then(lambda reply: reply[0])

    def items_part(self, start: int, stop: int, by: By) -> Request[tuple[list[WaitingItem[T]], int | None]]:
        """The beginning of a page, some 1 MB of it, and the index of the rest."""
        return page_of_items(self._queue, start, stop, by, part=True)

    # -- the whole of it ---------------------------------------------------------------------------------------------

    def next_due(self) -> Request[datetime | None]:
        return self._queue.call("next_due", (), _due)

    def overdue(self) -> Request[Overdue]:
        return self._queue.call("overdue", (), _overdue)

    def pause(self) -> Request[bool]:
        return commands.set_field(self._queue.keys.settings, "paused", 1).then(self._told(Paused))

    def resume(self) -> Request[bool]:
        return calls.resume(self._queue.keys).then(self._told(Resumed))

    def _told(self, kind: type[Paused] | type[Resumed]) -> Callable[[bool], bool]:
        """Notifies observers when a call has changed something."""

        def tell(changed: bool) -> bool:
            observers = self._queue.options.observers
            if changed and observers.heard[kind]:
                observers.tell(kind(queue=self._queue.name))
            return changed

        return tell

    def is_paused(self) -> Request[bool]:
        return commands.get_field(self._queue.keys.settings, "paused").then(bool)

    def set_max_size(self, size: int | None) -> Request[None]:
        if size is None:
            return commands.unset_field(self._queue.keys.settings, "max_size").then(nothing)
        count = check_count(size, self._queue.name, "a size")
        return commands.set_field(self._queue.keys.settings, "max_size", count).then(nothing)

    def max_size(self) -> Request[int | None]:
        return commands.get_field(self._queue.keys.settings, "max_size")

    def set_history(self, keep: Kept | None) -> Request[None]:
        return set_history(self._queue, keep)

    def history_kept(self) -> Request[tuple[int, timedelta] | None]:
        return kept_history(self._queue)

    def expired_count(self) -> Request[int]:
        return commands.get_field(self._queue.keys.settings, "expired").then(lambda count: count or 0)

    def read_expired(self, start: int = 0, stop: int = 99) -> Request[list[ExpiredItem]]:
        request = commands.slice_of(self._queue.keys.expired, *self._indexes(start, stop))
        return request.then(lambda elements: [ExpiredItem.parse(element) for element in elements])

    def read_quarantine(self, start: int = 0, stop: int = 99) -> Request[list[Quarantined]]:
        request = commands.slice_of(self._queue.keys.quarantine, *self._indexes(start, stop))
        return request.then(lambda elements: [Quarantined.parse(element) for element in elements])

    # -- recurring offers --------------------------------------------------------------------------------------------

    def cancel_recurring(self, id: str) -> Request[bool]:
        return self._queue.call("cancel_recurring", (checked_id(self._queue, id),), bool)

    def recurring(self, start: int = 0, stop: int = 99) -> Request[list[RecurringOffer]]:
        return self._queue.call(
            "recurring", self._indexes(start, stop), lambda rows: recurring_offers(self._queue, rows)
        )


def _due(score: bytes | None) -> datetime | None:
    due_ms = None if score is None else whole_ms(score)
    return None if due_ms is None else from_ms(due_ms)


def _overdue(reply: list[Any]) -> Overdue:
    now_us, count, *head = reply
    head_ms = whole_ms(head[0]) if head else None
    # A time before 1970 is not a valid due time, and may be too early for a timedelta.
    late_us = 0 if head_ms is None else max(0, now_us - max(0, head_ms) * 1000)
    return Overdue(count=count, late_by=timedelta(microseconds=late_us))
