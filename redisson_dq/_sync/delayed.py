# Generated from redisson_dq/_async/delayed.py by .ci/unasync.py. Do not edit: edit that file and run it.

"""The delayed side of a queue, where values wait for their time, and the handle of a single one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from .._times import Delay
from ..codecs.base import Codec
from ..errors import RedissonDQError
from ..items import ExpiredItem, OfferOutcome, Outcome, Overdue, RecurringOffer
from ..recurrence import Recurrence
from ..requests.base import check_function
from ..requests.delayed import By, DelayedRequests, OnDuplicate, WaitingItem
from ..wire import commands
from ..wire.envelope import Quarantined
from ..wire.keys import QueueKeys
from .handles import PAGE, Handle

if TYPE_CHECKING:
    from .client import Client

__all__ = ["DelayedItem", "DelayedQueue"]

T = TypeVar("T")


class DelayedItem(Generic[T]):
    """One item that waits, or that waited when the call that gave it was answered.

    Equal to another handle of the same item.
    """

    def __init__(self, queue: DelayedQueue[T], state: WaitingItem[T]) -> None:
        self._queue = queue
        self._state = state

    def __repr__(self) -> str:
        return f"<DelayedItem {self.id!r} of {self._queue.name!r}, due {self.due}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DelayedItem):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[QueueKeys, bytes]:
        return self._queue.keys, self._state.target.entry

    @property
    def id(self) -> str:
        """The caller's id, or one that was made; what ``cancel(id)`` and the like take, in any process."""
        return self._state.id

    @property
    def due(self) -> datetime | None:
        """When it is due, in UTC, on the server's clock. None for an entry that has lost its due time."""
        return self._state.due

    @property
    def remaining(self) -> timedelta | None:
        """How long from now until it is due; below zero when that has passed. No round trip."""
        return self._state.remaining

    @property
    def value(self) -> T:
        """The value. Raises DecodeError (with the bytes, which stay in Redis) when the codec cannot read it."""
        return self._state.value

    @property
    def outcome(self) -> OfferOutcome | None:
        """What the offer did; None for an item that was looked up."""
        return self._state.outcome

    def cancel(self) -> Outcome:
        """Like :meth:`DelayedQueue.cancel`, and never another item that was offered under the same id since."""
        return self._queue._run(self._queue.requests.cancel(self._state))

    def reschedule(self, delay: Delay | None = None, at: datetime | None = None) -> Outcome:
        """Like :meth:`DelayedQueue.reschedule`; ``due`` and ``remaining`` follow."""
        outcome, due_ms, now_us = self._queue._run(self._queue.requests.reschedule(self._state, delay, at))
        if outcome:
            self._state = self._state.moved(due_ms, now_us)
        return outcome

    def run_now(self) -> Outcome:
        """Like :meth:`DelayedQueue.run_now`."""
        return self.reschedule(0)


class DelayedQueue(Handle[T]):
    """The values that wait for their time. Made by ``client.delayed_queue(queue_or_name)``.

    They live in Redis alone, so they survive every process, and any process that has the queue open moves them: ours
    and Redisson's. Due times are on the Redis server's clock; this machine's clock plays no part.

    Every handle sees lean items (``lean=True``) and mirrored ones, Java's among them. In the order of the offers the
    mirrored items come first, then the lean ones by their due times. Costs are those of a queue of either kind; where
    both stand, what reads in that order may look at everything that waits.

    Every call raises ClosedError after :meth:`destroy`, RedisConnectionError when Redis cannot be reached,
    WrongTypeError when one of the keys holds something else, RedisReplyError for any other refusal. A value that the
    codec has no bytes for is an EncodeError, bytes that are no value a DecodeError that tells where they are kept.
    """

    requests: DelayedRequests[T]

    def __init__(self, client: Client, keys: QueueKeys, name: str, codec: Codec, transfer: bool, lean: bool) -> None:
        super().__init__(client, DelayedRequests(keys, name, codec, client._options, lean=lean), transfer)

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
    ) -> DelayedItem[T]:
        """Adds a value that becomes ready after ``delay`` (seconds or timedelta), or at ``at`` (an aware datetime).

        Never ready sooner than that, and due times are whole milliseconds. An ``at`` in the past means at once. Gives
        a handle that cancels or reschedules it.

        ``id`` is yours to choose, a str of up to 512 bytes. As long as an item with that id waits, and for a while
        after it was delivered (``remember=`` of the client), another offer with it is a duplicate, so an offer whose
        reply was lost can be made again. ``deduplicate_for`` (seconds or timedelta) is the same for values with equal
        bytes, for that time from the offer on. ``on_duplicate`` says what a duplicate does: ``"reject"`` (the default)
        raises DuplicateItemError; ``"keep"`` adds nothing and gives the item that stands; ``"replace"`` takes out the
        one that waits and adds this one. ``expires`` (seconds or timedelta) is how late it may be: when nobody moved
        it by then, it goes to :meth:`read_expired` instead of being delivered. (Redisson's own processes know nothing
        of it, and deliver.)

        Raises ArgumentError, EncodeError, DuplicateItemError, QueueFullError, WrongTypeError, RedisReplyError;
        nothing was added then. Raises RedisConnectionError when no reply came: its ``maybe_done`` tells whether the
        value may have been added. It is never sent again on its own, as that could add it twice.

        There is no priority: an entry's place in the layout that Java shares is its due time, and among equal ones
        the order of the offers. Open one queue for each priority, and ``take_from_any()`` in their order.

        >>> item = delayed.offer("order-42", delay=60, id="42")
        >>> item.id, item.remaining.total_seconds() > 59
        ('42', True)
        >>> (delayed.offer("again", delay=1, id="42", on_duplicate="keep")).outcome.value
        'kept'
        >>> item.cancel()
        <Outcome.CANCELLED: 'cancelled'>

        :Redisson: ``RDelayedQueue.offer(Object, long, TimeUnit)``
        :Cost: O(log n); O(n) to replace an item that is not lean; one round trip
        :Guarantee: atomic; never sent twice; with an id it may safely be repeated
        """
        request = self.requests.offer(
            value,
            delay,
            at,
            id=id,
            on_duplicate=on_duplicate,
            deduplicate_for=deduplicate_for,
            expires=expires,
        )
        return DelayedItem(self, self._run(request))

    def offer_all(self, values_and_delays: Iterable[tuple[T, Delay]]) -> int:
        """Adds many values, each with its own delay; gives their number.

        Everything is checked and encoded before anything is sent. Raises like :meth:`offer`; when Redis refuses a
        batch or cannot be reached, the batches before it are in, and the message says how many values that is.

        :Redisson: none
        :Cost: O(k log n), k values; one round trip for 1,000 values or 1 MB
        :Guarantee: each batch atomic; never sent twice
        """
        self._check()
        pairs = self.requests.collected(values_and_delays)
        offered = 0
        for request in self.requests.offer_all(pairs):
            try:
                offered += self._connections.run(request)
            except RedissonDQError as error:
                error.args = (f"{error}; {offered} of {len(pairs)} values were offered before",)
                raise
        return offered

    # -- taking, in the order of offers ------------------------------------------------------------------------------

    @overload
    def poll(self) -> T | None: ...

    @overload
    def poll(self, limit: int) -> list[T]: ...

    def poll(self, limit: int | None = None) -> T | list[T] | None:
        """Takes the value that was offered first, or up to ``limit`` of them, before they are due.

        Gives None, or an empty list, when nothing waits. What the codec cannot read is kept in
        ``keys.undecodable``.

        :Redisson: ``RDelayedQueue.poll()``, ``RDelayedQueue.poll(int)``
        :Cost: O(k log n), k taken; one round trip
        :Guarantee: atomic, at most once
        """
        if limit is None:
            return self._take(self.requests.poll())
        return self._take(self.requests.poll(limit))

    def element(self) -> T:
        """The value that was offered first; it stays. Raises QueueEmptyError when nothing waits.

        :Redisson: ``RDelayedQueue.element()``
        :Cost: O(1), or O(log n) of lean items; one round trip
        :Guarantee: reads only
        """
        return self.requests.there(self._run(self.requests.peek()))

    def remove_head(self) -> T:
        """Takes the value that was offered first. Raises QueueEmptyError when nothing waits.

        :Redisson: ``RDelayedQueue.remove()``
        :Cost: O(log n); one round trip
        :Guarantee: atomic, at most once
        """
        return self.requests.there(self._take(self.requests.poll()))

    def poll_last_and_offer_first_to(self, queue_name: str) -> T | None:
        """Takes the lean value that is due last, or else the one that was offered last, puts it at the front of a ready
        queue and gives it, or None.

        On a cluster both need one hash tag; raises CrossSlotError. The name goes through the name mapper, which
        Redisson leaves out here.

        :Redisson: ``RDelayedQueue.pollLastAndOfferFirstTo(String)``
        :Cost: O(log n); one round trip
        :Guarantee: atomic: it is in one of the two queues at any time
        """
        return self._run(self.requests.poll_last_and_offer_first_to(queue_name))

    # -- looking -----------------------------------------------------------------------------------------------------

    def size(self) -> int:
        """How many values wait.

        :Redisson: ``RDelayedQueue.size()``
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.size())

    def is_empty(self) -> bool:
        """Whether nothing waits.

        :Redisson: ``RDelayedQueue.isEmpty()``
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.is_empty())

    def peek(self) -> T | None:
        """The value that was offered first, or None; it stays. Raises EnvelopeError for an entry of no known format.

        :Redisson: ``RDelayedQueue.peek()``
        :Cost: O(1), or O(log n) of lean items; one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.peek())

    def contains(self, value: T) -> bool:
        """Whether a value with equal bytes waits.

        :Redisson: ``RDelayedQueue.contains(Object)``
        :Cost: O(n); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.contains(value))

    def contains_all(self, values: Iterable[T]) -> bool:
        """Whether each of the values waits; True for none.

        :Redisson: ``RDelayedQueue.containsAll(Collection)``
        :Cost: O(n + k), k values; one round trip
        :Guarantee: reads only, at one moment
        """
        return self._run(self.requests.contains_all(values))

    def read_all(self) -> list[T]:
        """Every waiting value in the order of the offers; they stay. Raises EnvelopeError like :meth:`peek`.

        :Redisson: ``RDelayedQueue.readAll()``
        :Cost: O(n), in one reply; one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.read_all())

    def __iter__(self) -> Iterator[T]:
        """Every waiting value in the order of the offers, read page by page: what comes or goes meanwhile may be
        missed or met twice.

        :Redisson: ``RDelayedQueue.iterator()``
        :Cost: O(n); one round trip for 100 values
        :Guarantee: reads only
        """
        start = 0
        while page := self._run(self.requests.range(start, start + PAGE - 1)):
            for value in page:
                yield value
            start += len(page)

    def read_quarantine(self, start: int = 0, stop: int = 99) -> list[Quarantined]:
        """Members that were in neither envelope format, oldest first, from index ``start`` to ``stop``.

        They stay in the list ``keys.quarantine`` until you remove them.

        :Redisson: none
        :Cost: O(k), k elements; one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.read_quarantine(start, stop))

    # -- removing ----------------------------------------------------------------------------------------------------

    def remove(self, value: T) -> bool:
        """Takes the first waiting value with equal bytes out for good; False when there is none.

        :meth:`cancel` does the same for one item by its id, without a scan.

        :Redisson: ``RDelayedQueue.remove(Object)``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.remove(value))

    def remove_all(self, values: Iterable[T]) -> bool:
        """Takes every waiting value that equals one of these out for good; True if there was any.

        :Redisson: ``RDelayedQueue.removeAll(Collection)``
        :Cost: O(n + k log n), k taken out; one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.remove_all(values))

    def remove_if(self, condition: Callable[[T], bool]) -> int:
        """Takes every waiting value out for which ``condition(value)`` is true; gives how many.

        The condition is asked here, of what waited when the call came; then all copies of the values it was true for
        are taken out in one step, by their bytes. One that comes meanwhile stays unless it equals one of them.

        :Redisson: ``Collection.removeIf(Predicate)``
        :Cost: O(n + k log n), k taken out; two round trips
        :Guarantee: atomic in what it takes out
        """
        check_function(condition, self.name)
        found = self._run(self.requests.bytes_of(0, -1))
        chosen = self.requests.chosen(found, self.keys.timeout, condition)
        return self._run(self.requests.remove_bytes(chosen)) if chosen else 0

    def retain_all(self, values: Iterable[T]) -> bool:
        """Takes every waiting value that equals none of these out for good; True if there was any.

        Redisson takes them out of one of its two keys only, so they are delivered all the same; here they are gone.

        :Redisson: ``RDelayedQueue.retainAll(Collection)``
        :Cost: O(n + k log n), k taken out; one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.retain_all(values))

    def clear(self) -> None:
        """Takes everything that waits out for good. A pause, the largest size and recurring offers stay.

        :Redisson: ``RDelayedQueue.clear()``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        self._run(self.requests.clear())

    # -- single items ------------------------------------------------------------------------------------------------

    def cancel(self, id: str) -> Outcome:
        """Takes one waiting item out for good, by its id: yours, or one that an offer made.

        Outcome.CANCELLED for exactly one of any number of callers. Otherwise Outcome.DELIVERED, EXPIRED or UNKNOWN;
        an outcome is true when the item was cancelled. Outcomes are remembered for a while (``remember=`` of the
        client) after the due time.

        :Redisson: none
        :Cost: O(log n) of a lean item; of any other O(log n + p), p its place in the order of offers; one round trip
        :Guarantee: atomic; may safely be repeated
        """
        return self._run(self.requests.cancel(id))

    def reschedule(self, id: str, delay: Delay | None = None, at: datetime | None = None) -> Outcome:
        """Gives one waiting item another due time, and keeps its id and its place among equal due times.

        ``delay`` and ``at`` as in :meth:`offer`. Every client, Java's included, is told of a new head. Gives
        Outcome.RESCHEDULED, or what became of the item, as :meth:`cancel` does. An ``expires=`` of the offer moves
        along.

        :Redisson: none
        :Cost: O(log n); one round trip
        :Guarantee: atomic
        """
        outcome, _, _ = self._run(self.requests.reschedule(id, delay, at))
        return outcome

    def run_now(self, id: str) -> Outcome:
        """Makes one waiting item due at once. Otherwise like :meth:`reschedule`.

        :Redisson: none
        :Cost: O(log n); one round trip
        :Guarantee: atomic
        """
        return self.reschedule(id, 0)

    def find(self, id: str) -> DelayedItem[T] | None:
        """The waiting item with that id, or None when it does not wait.

        >>> item = delayed.offer("order-42", delay=60)
        >>> delayed.find(item.id) == item, delayed.find("another")
        (True, None)

        :Redisson: none
        :Cost: O(log n); one round trip
        :Guarantee: reads only
        """
        found = self._run(self.requests.find(id))
        return None if found is None else DelayedItem(self, found)

    def items(self, start: int = 0, stop: int = 99, by: By = "due") -> list[DelayedItem[T]]:
        """One page of what waits: the items from index ``start`` to ``stop``, both included, at most 10,000.

        In the order of due times, or with ``by="offer"`` in the order they were offered. An item decodes its value
        when you ask for it, so one that cannot be read hides no other.

        >>> delayed.offer_all([("later", 20), ("sooner", 10)])
        2
        >>> [item.value for item in delayed.items()]
        ['sooner', 'later']

        :Redisson: none
        :Cost: O(log n + k), k items; O(start + k log n) in the order of offers, unless all are lean; one round trip
        :Guarantee: reads only
        """
        return [DelayedItem(self, found) for found in self._run(self.requests.items(start, stop, by))]

    # -- the whole of it ---------------------------------------------------------------------------------------------

    def next_due(self) -> datetime | None:
        """When the next item is due, in UTC; None when nothing waits.

        :Redisson: none
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.next_due())

    def overdue(self) -> Overdue:
        """How many items are due and have not been moved, and how long the first of them has been.

        :Redisson: none
        :Cost: O(log n); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.overdue())

    def pause(self) -> bool:
        """Stops delivery: no process with this library moves due items until :meth:`resume`. False when it is already.

        What is ready already can be taken. Redisson's own processes know nothing of it, and deliver.

        :Redisson: none
        :Cost: O(1); one round trip
        :Guarantee: atomic; seen by the next transfer of every process
        """
        return self._run(self.requests.pause())

    def resume(self) -> bool:
        """Ends a pause; what fell due meanwhile is delivered at once. False when there was none.

        :Redisson: none
        :Cost: O(1); one round trip
        :Guarantee: atomic; every process is told
        """
        return self._run(self.requests.resume())

    def is_paused(self) -> bool:
        """Whether delivery is paused.

        :Redisson: none
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.is_paused())

    def set_max_size(self, size: int | None) -> None:
        """Says how many items may wait; None for any number. Offers of this library beyond it raise QueueFullError.

        Redisson's own offers know nothing of it, and are counted. Recurring offers are never refused.

        :Redisson: none
        :Cost: O(1); one round trip
        :Guarantee: atomic; seen by the next offer of every process
        """
        self._run(self.requests.set_max_size(size))

    def max_size(self) -> int | None:
        """How many items may wait, or None.

        :Redisson: none
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.max_size())

    def expired_count(self) -> int:
        """How many items were too late to be delivered (``expires=`` of :meth:`offer`), ever.

        :Redisson: none
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.expired_count())

    def read_expired(self, start: int = 0, stop: int = 99) -> list[ExpiredItem]:
        """Items that were too late to be delivered, oldest first, from index ``start`` to ``stop``.

        The last 1,000 of them stay in the list ``keys.expired`` until you remove them.

        :Redisson: none
        :Cost: O(k), k elements; one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.read_expired(start, stop))

    # -- recurring offers --------------------------------------------------------------------------------------------

    def offer_recurring(
        self,
        value: T,
        id: str,
        *,
        every: Delay | None = None,
        cron: str | None = None,
        timezone: str = "UTC",
        start: datetime | None = None,
        end: datetime | None = None,
    ) -> OfferOutcome:
        """Offers the value again and again: ``every`` so many seconds (or a timedelta), or at the times of ``cron``.

        ``cron`` has five fields (``"0 9 * * mon-fri"``) in the time zone named by ``timezone``, or is a shorthand
        like ``@daily``. ``start`` and ``end`` are aware datetimes. One occurrence waits at any time, in the keys that
        Java shares; when it falls due, exactly one of the processes that have this queue open (``transfer=True``)
        offers the next one. Occurrences that nobody was there for are made up by one.

        Every process may declare the same at its start: OfferOutcome.KEPT, nothing changes. Another declaration under
        the same id replaces it: REPLACED. Raises ArgumentError, EncodeError.

        >>> delayed.offer_recurring("report", "daily", cron="30 9 * * mon-fri", timezone="Europe/Berlin")
        <OfferOutcome.OFFERED: 'offered'>
        >>> delayed.offer_recurring("report", "daily", cron="30 9 * * mon-fri", timezone="Europe/Berlin")
        <OfferOutcome.KEPT: 'kept'>
        >>> [offer.id for offer in delayed.recurring()]
        ['daily']

        :Redisson: none
        :Cost: O(log n); O(n) to replace one that is not lean; two round trips
        :Guarantee: atomic; may safely be repeated
        """
        self._check()
        recurrence = Recurrence.checked(self.name, every=every, cron=cron, timezone=timezone, start=start, end=end)
        # Made once before the clock is asked, so that nothing is sent for what cannot be offered.
        self.requests.offer_recurring(value, id, recurrence, 0)
        now_us = self._connections.run(commands.server_time_us(self.keys.timeout))
        first_ms = recurrence.first_ms(-(-now_us // 1000))
        return self._run(self.requests.offer_recurring(value, id, recurrence, first_ms))

    def cancel_recurring(self, id: str) -> bool:
        """Ends a recurring offer and takes the occurrence that waits out; False when there is none with that id.

        :Redisson: none
        :Cost: O(log n) of a lean one; of any other O(log n + p), p the place of its occurrence; one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.cancel_recurring(id))

    def recurring(self, start: int = 0, stop: int = 99) -> list[RecurringOffer]:
        """One page of the recurring offers, in the order in which they come next.

        :Redisson: none
        :Cost: O(log r + k), r recurring offers, k in the page; one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.recurring(start, stop))

    def __len__(self) -> int:
        """Same as :meth:`size`."""
        return self.size()

    def __bool__(self) -> bool:
        """A handle is true, also when its queue is empty."""
        return True

    def __contains__(self, value: object) -> bool:
        """Same as :meth:`contains`."""
        return self.contains(value)  # type: ignore[arg-type]
