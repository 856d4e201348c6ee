"""The queue that values wait in for their time: offers, single items, pauses, recurring offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar, overload

from redisson_dq._async.leases.delivery import Delivery
from redisson_dq._async.moving.recurring import advance
from redisson_dq._async.queues.delayed_item import DelayedItem
from redisson_dq._async.queues.leaser import Leaser, tell_received
from redisson_dq._async.queues.waiting import WaitingQueue
from redisson_dq._async.runtime import Runtime
from redisson_dq._concurrency import async_finish_or_undo
from redisson_dq._log import Log
from redisson_dq._shared_options import names_options, with_options_of
from redisson_dq._times import Delay, due_word
from redisson_dq.durability import Durability
from redisson_dq.errors import RedissonDQError
from redisson_dq.items import ExpiredItem, OfferOutcome, Outcome, Overdue, RecurringOffer
from redisson_dq.observing.operations import OperationKind
from redisson_dq.requests.delayed import By, DelayedRequests, OfferOptions
from redisson_dq.requests.inner.delayed_side import DelayedSide, note_offered
from redisson_dq.requests.inner.long_calls import told_if_long
from redisson_dq.wire import commands
from redisson_dq.wire.calls import Due, DueRange
from redisson_dq.wire.envelope import Quarantined

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["DelayedQueue"]

logger = Log()

# For so many seconds a call that leases is sent again when its reply was lost.
_SENT_AGAIN = 2.0

T = TypeVar("T")


class DelayedQueue(WaitingQueue[T]):
    """The values that wait for their time. Made by ``client.delayed_queue(queue_or_name)``.

    They live in Redis alone, so they survive every process. Any process that offers to the queue, or takes from it,
    moves them: ours and Redisson's. Due times are on the Redis server's clock; this machine's clock plays no part.

    Every handle sees lean items (``lean=True``) and mirrored ones, Java's among them. In the order of the offers the
    mirrored items come first, then the lean ones by their due times. Costs are those of a queue of either kind; where
    both stand, a call that reads in that order may look at all waiting items.

    Every call raises ArgumentError for an argument that cannot be used, and ClosedError after :meth:`destroy`. It
    raises RedisConnectionError when Redis cannot be reached, WrongTypeError when one of the keys holds something else,
    and RedisReplyError for any other refusal. A value that the codec has no bytes for is an EncodeError. Bytes that are
    no value are a DecodeError, which tells where they are kept.

    Calls that look for a value (``contains``, ``remove`` ...) compare bytes, and so does ``deduplicate_for=``. Equal
    values that Python made have equal bytes. A value that was read from Java has those it was read from, but for the
    few kinds that docs/codecs.md lists. Calls that look for one of these raise EncodeError. Constants of enums,
    bools and messages of protobuf count as such while they are among the last 1,000 that were read so.
    """

    def __init__(self, runtime: Runtime, side: DelayedSide[T], transfer: bool) -> None:
        super().__init__(runtime, side, DelayedRequests(side), transfer)
        self._leaser = Leaser(runtime, [side], self._check)

    # -- offering ----------------------------------------------------------------------------------------------------

    @names_options
    @with_options_of(DelayedRequests.offer)
    async def offer(
        self, value: T, delay: Delay | None = None, at: datetime | None = None, **options: Unpack[OfferOptions]
    ) -> DelayedItem[T]:
        """Adds a value that becomes ready after ``delay``, or at ``at``. Gives a handle that cancels or reschedules it.

        - ``delay``: seconds or a timedelta, counted from this call
        - ``at``: an aware datetime in its place
        - ``id``: your name for the item. Another offer with it is a duplicate
        - ``deduplicate_for``: for so long equal values are duplicates
        - ``on_duplicate``: ``"reject"`` raises DuplicateItemError, ``"keep"``, ``"replace"``
        - ``expires``: how late the item may be delivered
        - ``context``: str -> str, for the receiver
        - ``durable``: the confirmation that the offer needs

        >>> item = await delayed.offer("order-42", delay=60, id="42")
        >>> await item.cancel()
        <Outcome.CANCELLED: 'cancelled'>

        Raises ArgumentError, EncodeError, QueueFullError; RedisConnectionError (``maybe_done``: the value may be in).
        More: docs/queues.md, "Offers".

        :Redisson: ``RDelayedQueue.offer(Object, long, TimeUnit)``
        :Cost: O(log n); O(n) to replace an item that is not lean; one round trip
        :Guarantee: atomic; never sent twice; with an id it may safely be repeated
        """
        # The time until the command is sent is a part of the delay.
        due = due_word(self.name, delay, at, self._runtime.clock)
        context, id = options.get("context"), options.get("id")
        with self._runtime.operations.around(
            OperationKind.SEND, "offer", self.name, context=context, carries=True, id=id
        ) as sending:
            if sending is not None:
                options["context"] = sending.context
            item = await self._run(self._side.offer(due, value, **options))
            if sending is not None:
                sending.id = item.id
        return DelayedItem(self, item)

    @names_options
    async def offer_all(
        self,
        values_and_delays: Iterable[tuple[T, Delay]],
        *,
        context: Mapping[str, str] | None = None,
        durable: Durability | None = None,
    ) -> int:
        """Adds many values, each with its own delay; gives their number.

        ``context`` is that of all these values, as in :meth:`offer`. For values with contexts of their own send their
        offers in a :class:`Pipeline`.

        Everything is checked and encoded before anything is sent. Raises like :meth:`offer`. When Redis refuses a batch
        or cannot be reached, the batches before it are in. The message says how many values that is, and ``maybe_done``
        is true, as another call with all values would add these twice.

        >>> await delayed.offer_all([("a", 10), ("b", 20)], context={"trace": "00-4bf92f"})
        2

        :Cost: O(k log n), k values; one round trip for 1,000 values or 1 MB; a context takes three writes more for each
        :Guarantee: each batch atomic; never sent twice
        """
        self._check()
        pairs = self._side.collected(values_and_delays)
        offered = 0
        with self._runtime.operations.around(
            OperationKind.SEND, "offer_all", self.name, context=context, carries=True, count=len(pairs)
        ) as sending:
            context = context if sending is None else sending.context
            for request in self.requests.offer_all(pairs, context=context, durable=durable):
                try:
                    offered += await self._runtime.connections.run(request)
                except RedissonDQError as error:
                    note_offered(error, f"{offered} of {len(pairs)} values were offered before", offered)
                    raise
        return offered

    # -- taking, by due times ----------------------------------------------------------------------------------------

    @overload
    async def take_due(
        self,
        until: datetime | None = None,
        since: datetime | None = None,
        offset: int = 0,
        limit: int = 100,
        *,
        visibility_timeout: None = None,
    ) -> list[T]: ...

    @overload
    async def take_due(
        self,
        until: datetime | None = None,
        since: datetime | None = None,
        offset: int = 0,
        limit: int = 100,
        *,
        visibility_timeout: Delay,
    ) -> list[Delivery[T]]: ...

    async def take_due(
        self,
        until: datetime | None = None,
        since: datetime | None = None,
        offset: int = 0,
        limit: int = 100,
        *,
        visibility_timeout: Delay | None = None,
    ) -> list[T] | list[Delivery[T]]:
        """Takes the values that are due, in the order of their due times. For queues that nobody moves.

        - ``until``: takes items that are due by then, an aware datetime; else now
        - ``since``: takes items that are due from then on
        - ``offset``: so many of them are passed over
        - ``limit``: at most so many, and at most 1,000
        - ``visibility_timeout``: leases the values for so long (seconds or a timedelta), and gives deliveries

        >>> await delayed.offer_all([("later", 20), ("sooner", 10)])
        2
        >>> first = await delayed.next_due()
        >>> await delayed.take_due(), await delayed.take_due(until=first)
        ([], ['sooner'])

        One call takes 1 MB at most, or one value. More: ``docs/queues.md#taking-what-is-due``.

        :Cost: O(k log n), k taken, of lean items and in the order of offers; else O(k log n + n); one round trip
        :Guarantee: atomic, at most once; leased at least once, and a lost reply gives the same deliveries again
        """
        wanted = self._side.due_range(until, since, offset, limit)
        if visibility_timeout is not None:
            return await self._lease_due(wanted, visibility_timeout)
        told: list[Due] = []
        values = await self._run_taking(self._side.take_due(wanted, told.append), "take_due", many=True)
        await self._go_on(told)
        return values

    async def _lease_due(self, wanted: DueRange, visibility_timeout: Delay) -> list[Delivery[T]]:
        self._begin_taking()
        receiving = self._runtime.operations.receiving("take_due", self.name, count=0)
        source = self._side.lease_source(visibility_timeout)
        request = told_if_long(source.lease_due(wanted, self._side.options.remember_ms), self._side, "take_due()")
        due = await async_finish_or_undo(
            self._leaser.run_again(request, source.visible, _SENT_AGAIN),
            lambda due: self._leaser.hand_back(source, list(due.leased)),
        )
        self._side.tell_undelivered(due.set_aside, due.expired)
        await self._go_on([due])
        deliveries = await self._leaser.opened([source], due.leased)
        if receiving is not None:
            tell_received(receiving, deliveries)
        return deliveries

    async def _go_on(self, told: list[Due]) -> None:
        """Offers the next occurrences of recurring offers. Taken values are returned also when these offers fail."""
        for due in told:
            for come in due.recurring:
                try:
                    await advance(self._runtime.connections, self._runtime.options, self.keys, come, due.now_us)
                except RedissonDQError as error:
                    logger.warning(
                        "queue %r: the recurring offer %r goes on with a later call: %s", self.name, come[0], error
                    )

    # -- single items ------------------------------------------------------------------------------------------------

    async def cancel(self, id: str) -> Outcome:
        """Takes one item out for good, by its id: yours, or one that an offer made.

        An item with an id of yours is reached until it is settled: while it waits, is retried, parked, ready or dead.
        One that a receiver holds comes again no more; ``delivery.cancelled`` tells the receiver. An id that an offer
        made reaches an item that waits.

        Outcome.CANCELLED for exactly one of any number of callers. Otherwise Outcome.DELIVERED, EXPIRED or UNKNOWN;
        an outcome is true when the item was cancelled. Outcomes are remembered for a while (``remember=`` of the
        client) after the due time, or the item's end.

        :Cost: O(log n) of a lean item; of any other O(log n + p), p offers before or behind it; of a ready or dead one
            O(n); one round trip
        :Guarantee: atomic; may safely be repeated
        """
        return await self._run(self.requests.cancel(id))

    @names_options
    async def reschedule(self, id: str, delay: Delay | None = None, at: datetime | None = None) -> Outcome:
        """Gives one item another due time, and keeps its id and its place among equal due times.

        An item with an id of yours is reached as :meth:`cancel` does. A ready one waits again, a dead letter begins
        anew at that time. One that a receiver holds comes again at that time if the receiver fails.

        ``delay`` (seconds or timedelta) or ``at`` (an aware datetime), as in :meth:`offer`. Every client, Java's
        included, is told of a new head. Gives Outcome.RESCHEDULED, or the item's fate, as :meth:`cancel` does.
        An ``expires=`` of the offer moves along.

        :Cost: O(log n); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.reschedule(id, delay, at))

    async def run_now(self, id: str) -> Outcome:
        """Makes one item due at once: a retry, a parked item, a dead letter. Otherwise like :meth:`reschedule`.

        :Cost: O(log n); one round trip
        :Guarantee: atomic
        """
        return await self.reschedule(id, 0)

    async def find(self, id: str) -> DelayedItem[T] | None:
        """The item with that id, or None when it is settled; its ``state`` and ``attempts`` say where it is.

        With an id that an offer made it is found as long as it waits.

        >>> item = await delayed.offer("order-42", delay=60)
        >>> await delayed.find(item.id) == item, await delayed.find("another")
        (True, None)

        :Cost: O(log n); one round trip
        """
        found = await self._run(self.requests.find(id))
        return None if found is None else DelayedItem(self, found)

    async def items(self, start: int = 0, stop: int = 99, by: By = "due") -> list[DelayedItem[T]]:
        """One page of the waiting items: those from index ``start`` to ``stop``, both included, at most 10,000.

        In the order of due times, or with ``by="offer"`` in the order they were offered. An item decodes its value
        when you ask for it, so one that cannot be read hides no other.

        >>> await delayed.offer_all([("later", 20), ("sooner", 10)])
        2
        >>> [item.value for item in await delayed.items()]
        ['sooner', 'later']

        :Cost: O(log n + k), k items; O(start + k log n) in the order of offers, unless all are lean; one round trip for
            1 MB
        :Guarantee: reads only; each round trip at a moment of its own
        """
        # Refuses indexes that are no page.
        self.requests.items(start, stop, by)
        found = await self._page(lambda at: self._side.items(at, stop, by, part=True), start)
        return [DelayedItem(self, state) for state in found]

    # -- the whole of it ---------------------------------------------------------------------------------------------

    async def next_due(self) -> datetime | None:
        """When the next item is due, in UTC; None when nothing waits.

        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.next_due())

    async def overdue(self) -> Overdue:
        """How many items are due and have not been moved, and how long the first of them has been.

        :Cost: O(log n); one round trip
        """
        return await self._run(self.requests.overdue())

    async def pause(self) -> bool:
        """Stops delivery: no process with this library moves due items until :meth:`resume`. False when it is already.

        A value that is ready already can be taken. Redisson's own processes know nothing of it, and deliver.

        :Cost: O(1); one round trip
        :Guarantee: atomic; seen by the next transfer of every process
        """
        return await self._run(self.requests.pause())

    async def resume(self) -> bool:
        """Ends a pause; items that fell due meanwhile are delivered at once. False when there was none.

        :Cost: O(1); one round trip
        :Guarantee: atomic; every process is told
        """
        return await self._run(self.requests.resume())

    async def is_paused(self) -> bool:
        """Whether delivery is paused.

        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.is_paused())

    async def set_max_size(self, size: int | None) -> None:
        """Says how many items may wait, from 1 on; None for any number. Offers of this library beyond it raise
        QueueFullError.

        Redisson's own offers know nothing of it, and are counted. Recurring offers are never refused.

        :Cost: O(1); one round trip
        :Guarantee: atomic; seen by the next offer of every process
        """
        await self._run(self.requests.set_max_size(size))

    async def max_size(self) -> int | None:
        """How many items may wait, or None.

        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.max_size())

    async def expired_count(self) -> int:
        """How many items were too late to be delivered (``expires=`` of :meth:`offer`), ever.

        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.expired_count())

    async def read_expired(self, start: int = 0, stop: int = 99) -> list[ExpiredItem]:
        """Items that were too late to be delivered, oldest first, from index ``start`` to ``stop``.

        The last 1,000 of them stay in the list ``keys.expired`` until you remove them.

        :Cost: O(k), k elements; one round trip
        """
        return await self._run(self.requests.read_expired(start, stop))

    async def read_quarantine(self, start: int = 0, stop: int = 99) -> list[Quarantined]:
        """Members that were in neither envelope format, oldest first, from index ``start`` to ``stop``.

        They stay in the list ``keys.quarantine`` until you remove them.

        :Cost: O(k), k elements; one round trip
        """
        return await self._run(self.requests.read_quarantine(start, stop))

    # -- recurring offers --------------------------------------------------------------------------------------------

    @names_options
    async def offer_recurring(
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
        """Offers the value again and again. One occurrence waits at any time. When it is moved, the next is offered.

        - ``id``: your name for it. The same declaration again changes nothing (KEPT), another replaces it (REPLACED)
        - ``every``: seconds or a timedelta
        - ``cron``: five fields (``"0 9 * * mon-fri"``) in its place, or a shorthand like ``@daily``
        - ``timezone``: the name of the time zone of ``cron``
        - ``start``, ``end``: aware datetimes

        >>> await delayed.offer_recurring("report", "daily", cron="30 9 * * mon-fri", timezone="Europe/Berlin")
        <OfferOutcome.OFFERED: 'offered'>
        >>> await delayed.offer_recurring("report", "daily", cron="30 9 * * mon-fri", timezone="Europe/Berlin")
        <OfferOutcome.KEPT: 'kept'>
        >>> [offer.id for offer in await delayed.recurring()]
        ['daily']

        Raises ArgumentError, EncodeError. More: docs/queues.md, "Recurring offers".

        :Cost: O(log n); O(n) to replace one that is not lean; two round trips
        :Guarantee: atomic; may safely be repeated
        """
        self._check()
        from redisson_dq.scheduling.recurrence import Recurrence

        recurrence = Recurrence.checked(self.name, every=every, cron=cron, timezone=timezone, start=start, end=end)
        # Made once before the clock is asked, so that nothing is sent for an item that cannot be offered.
        self._side.offer_recurring(value, id, recurrence, 0)
        now_us = await self._runtime.connections.run(commands.server_time_us(self.keys.timeout))
        first_ms = recurrence.first_ms(-(-now_us // 1000))
        with self._runtime.operations.around(OperationKind.SEND, "offer_recurring", self.name, id=id):
            return await self._run(self._side.offer_recurring(value, id, recurrence, first_ms))

    async def cancel_recurring(self, id: str) -> bool:
        """Ends a recurring offer and takes the occurrence that waits out; False when there is none with that id.

        :Cost: O(log n) of a lean one; of any other O(log n + p), p the place of its occurrence; one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.cancel_recurring(id))

    async def recurring(self, start: int = 0, stop: int = 99) -> list[RecurringOffer]:
        """One page of the recurring offers, in the order in which they come next.

        :Cost: O(log r + k), r recurring offers, k in the page; one round trip
        """
        return await self._run(self.requests.recurring(start, stop))

    def _begins_offering(self) -> Callable[[], None]:
        attachment, side = self._attachment, self._side

        def begin() -> None:
            if attachment.may_look_at_server():
                # Further calls pay nothing for it.
                side.start_moving = None

        return begin
