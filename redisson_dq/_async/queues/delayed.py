"""The queue that values wait in for their time: offers, taking what is due, single items, sizes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from redisson_dq._async.leases.delivery import Delivery, lease_of
from redisson_dq._async.queues.delayed_calls import DelayedCalls
from redisson_dq._async.queues.delayed_item import DelayedItem, due_of, items_of
from redisson_dq._async.queues.leaser import Leaser
from redisson_dq._async.queues.waiting import WaitingQueue
from redisson_dq._async.runtime import Attachment, Runtime
from redisson_dq._common.signatures import with_options_of
from redisson_dq._concurrency import async_finish_or_undo
from redisson_dq.calls.delayed import By, DelayedRequests
from redisson_dq.calls.due import due_range, taken_due, tell_undelivered
from redisson_dq.calls.offers import OfferOptions, equal_offers, offered, tell_other_integer
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.recurring import following
from redisson_dq.durability import Durability
from redisson_dq.errors import RedissonDQError
from redisson_dq.items import ExpiredItem, Outcome, RecurringOffer
from redisson_dq.observing.operations import OperationKind
from redisson_dq.scheduling.times import Delay, due_word
from redisson_dq.wire import commands
from redisson_dq.wire.calls import Due, DueRange
from redisson_dq.wire.envelope import Quarantined
from redisson_dq.wire.request import Request

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["DelayedQueue"]

logger = logging.getLogger("redisson_dq")

# For this many seconds a call that leases is sent again when its reply was lost.
_SENT_AGAIN = 2.0

T = TypeVar("T")


class DelayedQueue(WaitingQueue[T], DelayedCalls[T]):
    """The values that wait for their time. Made by ``client.delayed_queue(queue_or_name)``.

    They are only in Redis, so they survive every process. Any process that offers to the queue, or takes from it,
    moves them: ours and Redisson's. Due times are on the Redis server's clock; this machine's clock plays no part.

    Every handle sees lean items (``lean=True``) and mirrored ones, Java's among them. In the order of the offers the
    mirrored items come first, then the lean ones by their due times. Costs are those of a queue of either kind; where
    both wait, a call that reads in that order may look at all waiting items.

    Every call raises ArgumentError for an invalid argument, and ClosedError after :meth:`destroy`. It
    raises RedisConnectionError when Redis cannot be reached, WrongTypeError when one of the keys holds something else,
    and RedisReplyError for any other refusal. A value that the codec has no bytes for is an EncodeError. Bytes that are
    no value are a DecodeError, which says where they are kept.

    Calls that look for a value (``contains``, ``remove`` ...) compare bytes, and so does ``deduplicate_for=``. Equal
    values that Python made have equal bytes. A few kinds of values that were read from Java do not have the bytes that
    they are written to: for these such a call raises EncodeError. ``docs/equal-bytes.md`` lists them.
    """

    def __init__(self, runtime: Runtime, side: OpenQueue[T], transfer: bool) -> None:
        super().__init__(runtime, side, DelayedRequests(side), transfer)
        # Whether the type of an int was compared with that of a value in the queue.
        self._compared = False
        self._leaser = Leaser(runtime, [side], self._check)

    # -- offering ----------------------------------------------------------------------------------------------------

    @with_options_of(DelayedRequests.offer)
    async def offer(
        self, value: T, delay: Delay | None = None, at: datetime | None = None, **options: Unpack[OfferOptions]
    ) -> DelayedItem[T]:
        """Adds a value that becomes ready after ``delay``, or at ``at``. Returns a handle to cancel or reschedule it.

        - ``delay``: seconds or a timedelta, counted from this call
        - ``at``: an aware datetime, instead of ``delay``
        - ``id``: your name for the item. Another offer with it is a duplicate
        - ``deduplicate_for``: equal values are duplicates for that time, from this offer on
        - ``on_duplicate``: ``"reject"`` raises DuplicateItemError (the default with an id); ``"keep"``; ``"replace"``
        - ``expires``: how late the item may be delivered
        - ``context``: str -> str, for the receiver
        - ``durable``: the confirmation that the offer needs

        >>> item = await delayed.offer("order-42", delay=60, id="42")
        >>> await item.cancel()
        <Outcome.CANCELLED: 'cancelled'>

        Raises ArgumentError, EncodeError, QueueFullError; RedisConnectionError (``maybe_done``: the value may be in).
        More: docs/offers.md, "Offers".

        :Redisson: ``RDelayedQueue.offer(Object, long, TimeUnit)``
        :Cost: O(log n); O(n) to replace an item that is not lean; one round trip
        :Guarantee: atomic; never sent twice; with an id it may safely be repeated
        """
        # The time until the command is sent is a part of the delay.
        name = self._side.name
        due = due_word(name, delay, at, self._runtime.clock)
        context, id = options.get("context"), options.get("id")
        if options.get("deduplicate_for") is not None:
            await self._check_equal_offers(value)
        with self._runtime.operations.around(
            OperationKind.SEND, "offer", name, context=context, carries=True, id=id
        ) as sending:
            if sending is not None:
                options["context"] = sending.context
            item = await self._run(offered(self._side, due, value, **options))
            if sending is not None:
                sending.id = item.id
        if not self._compared and type(value) is int:
            await self._compare(value)
        return DelayedItem(self, item)

    async def _check_equal_offers(self, value: T) -> None:
        """Raises EncodeError if an equal value of another type in Java was offered with deduplicate_for=: it would be
        no duplicate of this one. One more round trip for numbers and letters, none for other values.
        """
        lookups = equal_offers(self._side, value)
        if lookups:
            for found in await self._runtime.connections.run_many(lookups):
                if isinstance(found, list) and found:  # a user may lack the rights to look
                    raise found[0]

    async def _compare(self, value: Any) -> None:
        """Warns, once, of an int that Java will take for an Integer in a queue of Longs."""
        self._compared = True
        requests: list[Request[Any]] = [self.requests.peek(), commands.peek(self.keys.ready)]
        with suppress(RedissonDQError):
            waiting, ready = await self._runtime.connections.run_many(requests)
            tell_other_integer(self._side, value, waiting, ready)

    async def offer_all(
        self,
        values_and_delays: Iterable[tuple[T, Delay]],
        *,
        context: Mapping[str, str] | None = None,
        durable: Durability | None = None,
    ) -> int:
        """Adds many values, each with its own delay; returns their number.

        - ``values_and_delays``: pairs of a value and its delay, in seconds or as a timedelta
        - ``context``: that of all these values. Send values with contexts of their own in a :class:`Pipeline`
        - ``durable``: as in :meth:`offer`

        All values are checked and encoded before the first is sent. Raises like :meth:`offer`. When Redis refuses a
        batch or cannot be reached, the batches before it are in. The message says how many values that is, and
        ``maybe_done`` is true, as another call with all values would add these twice.

        >>> await delayed.offer_all([("a", 10), ("b", 20)], context={"trace": "00-4bf92f"})
        2

        :Cost: O(k log n), k values; one round trip for 1,000 values or 1 MB; a context takes three writes more for each
        :Guarantee: each batch atomic; never sent twice
        """
        self._check()
        return await self._offer_shares({self: self._side.collected(values_and_delays)}, context, durable)

    # -- taking what is due ------------------------------------------------------------------------------------------

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
        - ``offset``: how many of them to skip
        - ``limit``: at most this many, and at most 1,000
        - ``visibility_timeout``: leases the values for this long (seconds or a timedelta), and gives deliveries

        >>> await delayed.offer_all([("later", 20), ("sooner", 10)])
        2
        >>> first = await delayed.next_due()
        >>> await delayed.take_due(), await delayed.take_due(until=first)
        ([], ['sooner'])

        One call takes 1 MB at most, or one value. More: ``docs/queues.md#taking-what-is-due``.

        :Cost: O(k log n), k taken, of lean items and in the order of offers; else O(k log n + n); one round trip
        :Guarantee: atomic, at most once; leased at least once, and a lost reply gives the same deliveries again
        """
        wanted = due_range(self._side, until, since, offset, limit)
        if visibility_timeout is not None:
            return await self._lease_due(wanted, visibility_timeout)
        told: list[Due] = []
        values = await self._run_taking(taken_due(self._side, wanted, told.append), "take_due", many=True)
        await self._go_on(told)
        return values

    # -- single items ------------------------------------------------------------------------------------------------

    async def cancel(self, id: str) -> Outcome:
        """Removes one item for good, by its id: yours, or one that an offer made.

        An item with an id of yours is reached until it is settled: while it waits, is retried, parked, ready or dead.
        One that a receiver holds is not delivered again; ``delivery.cancelled`` informs it. An id that an offer
        made reaches an item that waits.

        Outcome.CANCELLED for exactly one of any number of callers. Otherwise Outcome.DELIVERED, EXPIRED or UNKNOWN;
        an outcome is true when the item was cancelled. Outcomes are remembered for a while (``remember=`` of the
        client) after the due time, or the item's end.

        :Cost: O(log n) of a lean item; of any other O(log n + p), p offers before or after it; of a ready or dead one
            O(n); one round trip
        :Guarantee: atomic; may safely be repeated
        """
        return await self._run(self.requests.cancel(id))

    async def reschedule(self, id: str, delay: Delay | None = None, at: datetime | None = None) -> Outcome:
        """Gives one item another due time, and keeps its id and its place among equal due times.

        An item with an id of yours is reached as :meth:`cancel` does. A ready one waits again, a dead letter begins
        again at that time. One that a receiver holds comes again at that time if the receiver fails.

        ``delay`` (seconds or timedelta) or ``at`` (an aware datetime), as in :meth:`offer`. Every client, Java's
        included, learns of a new head. Returns Outcome.RESCHEDULED, or the item's fate, as :meth:`cancel` does. An
        ``expires=`` of the offer moves along.

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
        on access, so an unreadable one hides no other.

        >>> await delayed.offer_all([("later", 20), ("sooner", 10)])
        2
        >>> [item.value for item in await delayed.items()]
        ['sooner', 'later']

        :Cost: O(log n + k), k items; O(start + k log n) in the order of offers, unless all are lean; one round trip for
            1 MB
        :Guarantee: reads only; each round trip at a moment of its own
        """
        return await self._page(partial(items_of, by=by, stop=stop), start, stop, due_of)

    # -- the whole of it ---------------------------------------------------------------------------------------------

    async def set_max_size(self, size: int | None) -> None:
        """Limits the waiting items to ``size``, at least 1; None for any number.

        Offers of this library beyond it raise QueueFullError. Redisson's own offers ignore it, and are counted.
        Recurring offers are never refused.

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

    async def recurring(self, start: int = 0, stop: int = 99) -> list[RecurringOffer]:
        """One page of the recurring offers, in the order in which they come next.

        :Cost: O(log r + k), r recurring offers, k in the page; one round trip
        """
        return await self._run(self.requests.recurring(start, stop))

    # -- inside ------------------------------------------------------------------------------------------------------

    async def _lease_due(self, wanted: DueRange, visibility_timeout: Delay) -> list[Delivery[T]]:
        self._begin_taking()
        with self._runtime.operations.receiving("take_due", self.name, count=0) as receipt:
            source = self._side.lease_source(visibility_timeout)
            request = self._side.told_if_long(source.lease_due(wanted, self._side.options.remember_ms), "take_due()")
            due = await async_finish_or_undo(
                self._leaser.run_again(request, source.visible, _SENT_AGAIN),
                lambda due: self._leaser.hand_back(source, list(due.leased)),
            )
            tell_undelivered(self._side.options.observers, self.name, self.keys, due.set_aside, due.expired)
            await self._go_on([due])
            deliveries = await self._leaser.opened([source], due.leased)
            receipt.took(len(deliveries), leases=map(lease_of, deliveries))
            return deliveries

    async def _go_on(self, told: list[Due]) -> None:
        """Offers the next occurrences of recurring offers. Taken values are returned also when these offers fail."""
        for due in told:
            for come in due.recurring:
                try:
                    request = following(self._side.options, self.name, self.keys, come, due.now_us)
                    if request is not None:
                        await self._runtime.connections.run(request)
                except RedissonDQError as error:
                    logger.warning(
                        "queue %r: the recurring offer %r goes on with a later call: %s", self.name, come[0], error
                    )

    def _home_of(self, id: str) -> DelayedQueue[T]:
        return self

    def _begins_offering(self, attachment: Attachment) -> Callable[[], None]:
        side = self._side

        def begin() -> None:
            if self._runtime.may_look_at_server(attachment.keys.ready):
                # Further calls pay nothing for it.
                side.start_moving = None

        return begin
