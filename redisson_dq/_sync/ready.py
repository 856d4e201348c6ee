# Generated from redisson_dq/_async/ready.py by .ci/unasync.py. Do not edit: edit that file and run it.

"""The ready side of a queue, where due items arrive and consumers take them."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar, overload

from .._pairs import Callback, finish_or_undo
from .._times import Delay, timeout_seconds
from ..codecs.base import Codec
from ..errors import ClosedError, DecodeError, RedissonDQError
from ..requests.base import check_count, check_function
from ..requests.ready import QueueRequests, check_end
from ..wire import commands
from ..wire.blocking import Move, Pop, Source, Taken
from ..wire.commands import End
from ..wire.keys import QueueKeys
from .handles import PAGE, Handle
from .listeners import Listener

if TYPE_CHECKING:
    from .client import Client

__all__ = ["BlockingQueue"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")

# So short a wait may be over before a blocking command has its connection: it looks first, then waits.
_SHORT_WAIT = 0.5


class BlockingQueue(Handle[T]):
    """The queue that due items arrive in. Made by ``client.blocking_queue(name)``.

    Taking is at most once: an item that was taken is gone from Redis, as with Redisson. ``take()`` and
    ``poll(timeout=)`` never lose one by being cancelled, interrupted or closed. A crash of the process does, and a
    connection that breaks while a reply is on its way loses all of that reply: one item, or of a backlog up to 1,000
    (a larger ``limit``) of those that callers of this client wait for, as they are taken with one command.

    Every call raises ClosedError after :meth:`destroy`, RedisConnectionError when Redis cannot be reached,
    WrongTypeError when the name holds something else, RedisReplyError for any other refusal. A value that the codec
    has no bytes for is an EncodeError, bytes that are no value a DecodeError that tells where they are kept.
    """

    requests: QueueRequests[T]

    def __init__(
        self,
        client: Client,
        keys: QueueKeys,
        name: str,
        codec: Codec,
        transfer: bool,
        requests: type[QueueRequests[T]] = QueueRequests,
    ) -> None:
        super().__init__(client, requests(keys, name, codec, client._options), transfer)
        self._listeners: dict[int, Listener] = {}
        # Never given again: who unsubscribes twice ends nobody else's.
        self._listener_ids = itertools.count(1)

    # -- adding ------------------------------------------------------------------------------------------------------

    def add(self, value: T) -> bool:
        """Puts a value at the end, ready at once. Always True.

        :Redisson: ``RQueue.add(Object)``
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        return self._run(self.requests.add(value))

    def add_all(self, values: Iterable[T]) -> bool:
        """Puts values at the end in their order; False, and nothing is sent, when there are none.

        :Redisson: ``RQueue.addAll(Collection)``
        :Cost: O(k), k values; one round trip
        :Guarantee: atomic; never sent twice
        """
        self._check()
        values = self.requests.collected(values)
        return bool(values) and self._run(self.requests.add_all(values))

    def offer(self, value: T, timeout: Delay | None = None) -> bool:
        """Puts a value at the end. There is always room, so ``timeout`` (seconds or a timedelta) never passes.

        >>> queue.offer("order-42")
        True

        :Redisson: ``RQueue.offer(Object)``, ``RBlockingQueue.offer(Object, long, TimeUnit)``
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        if timeout is not None:
            timeout_seconds(timeout, self.name)
        return self._run(self.requests.offer(value))

    def put(self, value: T) -> None:
        """Puts a value at the end.

        :Redisson: ``RBlockingQueue.put(Object)``
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        self._run(self.requests.put(value))

    # -- taking ------------------------------------------------------------------------------------------------------

    def take(self) -> T:
        """Waits for the next value and takes it. All waiting callers of a client share one connection per queue.

        Goes on waiting when the connection breaks. Raises ClosedError when the client or the last handle of the
        queue is closed meanwhile.

        >>> delayed.offer("order-42", delay=0.05)  # doctest: +ELLIPSIS
        <DelayedItem ...>
        >>> queue.take()
        'order-42'

        :Redisson: ``RBlockingQueue.take()``
        :Cost: O(1); one command, two for many callers together while there is a backlog
        :Guarantee: at most once; nothing is lost by cancelling or closing
        """
        return self._wait_for("first")

    @overload
    def poll(self) -> T | None: ...

    @overload
    def poll(self, *, timeout: Delay) -> T | None: ...

    @overload
    def poll(self, limit: int, *, timeout: Delay | None = None) -> list[T]: ...

    def poll(self, limit: int | None = None, *, timeout: Delay | None = None) -> T | list[T] | None:
        """Takes the head, or up to ``limit`` values: at once, or within ``timeout`` (seconds or a timedelta).

        With both it waits for the first value and takes with it what else is ready, in order. Gives None, or an empty
        list, when there is nothing. A DecodeError of several values carries those that could be read in ``decoded``.
        Redisson sends timeouts in whole seconds, and takes a limit below 1 for 0; here milliseconds count, and such a
        limit is an ArgumentError.

        >>> queue.add_all(["a", "b", "c"])
        True
        >>> queue.poll()
        'a'
        >>> queue.poll(10, timeout=5)
        ['b', 'c']
        >>> queue.poll(timeout=0.01)

        :Redisson: ``RQueue.poll()``, ``RQueue.poll(int)``, ``RBlockingQueue.poll(long, TimeUnit)``
        :Cost: O(1) or O(limit); one round trip, two with both; a timeout that passes one more, below 0.5 s two
        :Guarantee: at most once; a wait loses nothing by being cancelled or closed
        """
        return self._poll("first", limit, timeout)

    def element(self) -> T:
        """The head, not taken. Raises QueueEmptyError when there is none.

        :Redisson: ``RQueue.element()``
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.element())

    def remove_head(self) -> T:
        """Takes the head. Raises QueueEmptyError when there is none.

        :Redisson: ``RQueue.remove()``
        :Cost: O(1); one round trip
        :Guarantee: at most once
        """
        return self.requests.there(self._take(self.requests.poll()))

    def drain_to(self, limit: int | None = None) -> list[T]:
        """Takes everything, or the first ``limit`` values, as a list.

        :Redisson: ``RBlockingQueue.drainTo(Collection)``, ``RBlockingQueue.drainTo(Collection, int)``
        :Cost: O(k), k taken, in one reply; one round trip
        :Guarantee: atomic, at most once
        """
        return self._take(self.requests.drain_to(limit))

    def poll_from_any(self, *queue_names: str, timeout: Delay | None = None) -> T | None:
        """Takes the head of this queue, else of the first of the others that has one, within ``timeout``.

        The others are read with this queue's codec, and this client moves their due items only where they are open
        too. On a cluster all need one hash tag. Gives None when nothing came. Raises CrossSlotError.

        >>> client.blocking_queue("normal").add("order-42")
        True
        >>> queue.poll_from_any("normal", "low", timeout=5)
        'order-42'

        :Redisson: ``RBlockingQueue.pollFromAny(long, TimeUnit, String...)``
        :Cost: O(q), q queues; one round trip; q more for a timeout below 0.5 s
        :Guarantee: at most once; a wait loses nothing by being cancelled or closed
        """
        found = self._poll_any("first", queue_names, timeout)
        return None if found is None else found[1]

    def poll_from_any_with_name(self, *queue_names: str, timeout: Delay | None = None) -> tuple[str, T] | None:
        """Like :meth:`poll_from_any`, and tells the name of the queue: ``(name, value)``.

        :Redisson: ``RBlockingQueue.pollFromAnyWithName(Duration, String...)``
        :Cost: O(q), q queues; one round trip; q more for a timeout below 0.5 s
        :Guarantee: at most once; a wait loses nothing by being cancelled or closed
        """
        return self._poll_any("first", queue_names, timeout)

    def poll_last_from_any_with_name(self, *queue_names: str, timeout: Delay | None = None) -> tuple[str, T] | None:
        """Like :meth:`poll_from_any_with_name`, at the last end.

        :Redisson: ``RBlockingQueue.pollLastFromAnyWithName(Duration, String...)``
        :Cost: O(q), q queues; one round trip; q more for a timeout below 0.5 s
        :Guarantee: at most once; a wait loses nothing by being cancelled or closed
        """
        return self._poll_any("last", queue_names, timeout)

    def take_from_any(self, *queue_names: str) -> T:
        """Like :meth:`poll_from_any`, and waits as long as it takes.

        :Redisson: none
        :Cost: O(q), q queues; one command
        :Guarantee: at most once; nothing is lost by cancelling or closing
        """
        return self._wait_for("first", *self._any_of(queue_names))

    def poll_last_and_offer_first_to(self, queue_name: str, *, timeout: Delay | None = None) -> T | None:
        """Moves the last value to the front of another queue and gives it; None when nothing came in time.

        On a cluster both need one hash tag. The name goes through the name mapper. Raises CrossSlotError.

        :Redisson: ``RQueue.pollLastAndOfferFirstTo(String)``,
            ``RBlockingQueue.pollLastAndOfferFirstTo(String, long, TimeUnit)``
        :Cost: O(1); one round trip; a timeout that passes one more, below 0.5 s two
        :Guarantee: atomic: it is in one of the two queues at any time
        """
        return self.move(queue_name, from_end="last", to_end="first", timeout=timeout)

    def take_last_and_offer_first_to(self, queue_name: str) -> T:
        """Like :meth:`poll_last_and_offer_first_to`, and waits as long as it takes.

        :Redisson: ``RBlockingQueue.takeLastAndOfferFirstTo(String)``
        :Cost: O(1); one command
        :Guarantee: atomic: it is in one of the two queues at any time
        """
        destination = self.requests.keys_of(queue_name).ready
        taken = self._receive(Move(self.keys.ready, destination, "last", "first"), None)
        return self.requests.in_place([taken[0].data], destination)[0]

    def move(
        self, queue_name: str, *, from_end: End = "first", to_end: End = "last", timeout: Delay | None = None
    ) -> T | None:
        """Moves one value from an end of this queue to an end of another (or of this) and gives it.

        None when nothing came, at once or within ``timeout`` (seconds or a timedelta). Otherwise like
        :meth:`poll_last_and_offer_first_to`.

        >>> queue.add("order-42")
        True
        >>> queue.move("in progress")
        'order-42'
        >>> client.blocking_queue("in progress").remove("order-42")
        True

        :Redisson: ``RDeque.move(DequeMoveArgs)``, ``RBlockingDeque.move(Duration, DequeMoveArgs)``
        :Cost: O(1); one round trip; a timeout that passes one more, below 0.5 s two
        :Guarantee: atomic: it is in one of the two queues at any time
        """
        seconds = 0.0 if timeout is None else timeout_seconds(timeout, self.name)
        destination = self.requests.keys_of(queue_name).ready
        source = Move(self.keys.ready, destination, check_end(from_end, self.name), check_end(to_end, self.name))
        if seconds < _SHORT_WAIT:
            data = self._run(self.requests.move_bytes(destination, source.from_end, source.to_end))
            if data is not None or not seconds:
                return None if data is None else self.requests.in_place([data], destination)[0]
        taken = self._receive(source, seconds)
        return self.requests.in_place([taken[0].data], destination)[0] if taken else None

    # -- looking -----------------------------------------------------------------------------------------------------

    def size(self) -> int:
        """How many values are ready.

        :Redisson: ``RQueue.size()``
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.size())

    def is_empty(self) -> bool:
        """Whether no value is ready.

        :Redisson: ``RQueue.isEmpty()``
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.is_empty())

    def peek(self) -> T | None:
        """The head, not taken, or None.

        :Redisson: ``RQueue.peek()``
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.peek())

    def get(self, index: int) -> T | None:
        """The value at an index, from the end below zero; None where there is none.

        :Redisson: none
        :Cost: O(index); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.get(index))

    def index_of(self, value: T) -> int:
        """The index of the first value whose bytes are equal, or -1.

        :Redisson: ``RQueue.indexOf(Object)``
        :Cost: O(n); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.index_of(value))

    def last_index_of(self, value: T) -> int:
        """The index of the last value whose bytes are equal, or -1.

        :Redisson: none
        :Cost: O(n); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.last_index_of(value))

    def contains(self, value: T) -> bool:
        """Whether a value with equal bytes is ready.

        :Redisson: ``RQueue.contains(Object)``
        :Cost: O(n); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.contains(value))

    def contains_all(self, values: Iterable[T]) -> bool:
        """Whether each of the values is ready; True for none.

        :Redisson: ``RQueue.containsAll(Collection)``
        :Cost: O(n k), k values; one round trip
        :Guarantee: reads only, at one moment
        """
        return self._run(self.requests.contains_all(values))

    def read_all(self) -> list[T]:
        """Every ready value, none taken.

        :Redisson: ``RQueue.readAll()``
        :Cost: O(n), in one reply; one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.read_all())

    def range(self, start: int, stop: int) -> list[T]:
        """The ready values from index ``start`` to ``stop``, both included, from the end below zero.

        :Redisson: none
        :Cost: O(start + k), k values; one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.range(start, stop))

    def __iter__(self) -> Iterator[T]:
        """Every ready value, none taken, read page by page: what comes or goes meanwhile may be missed or met twice.

        :Redisson: ``RQueue.iterator()``
        :Cost: O(n); one round trip for 100 values
        :Guarantee: reads only
        """
        start = 0
        while page := self.range(start, start + PAGE - 1):
            for value in page:
                yield value
            start += len(page)

    def read_undecodable(self, start: int = 0, stop: int = 99) -> list[bytes]:
        """Bytes that were taken and could not be decoded, oldest first, from index ``start`` to ``stop``.

        They stay in the list ``keys.undecodable`` until you remove them.

        :Redisson: none
        :Cost: O(k), k elements; one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.read_undecodable(start, stop))

    # -- removing ----------------------------------------------------------------------------------------------------

    def remove(self, value: T, count: int = 1) -> bool:
        """Removes the first ``count`` values with equal bytes (the last ones below zero, all for 0); True if any.

        :Redisson: ``RQueue.remove(Object)``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.remove(value, count))

    def remove_all(self, values: Iterable[T]) -> bool:
        """Removes every value that equals one of these; True if any was removed.

        Redisson answers False when some value was there more than once.

        :Redisson: ``RQueue.removeAll(Collection)``
        :Cost: O(n k), k values; one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.remove_all(values))

    def remove_if(self, condition: Callable[[T], bool]) -> int:
        """Removes every value for which ``condition(value)`` is true; gives how many.

        The condition is asked here, of what was ready when the call came; then all copies of the values it was true
        for are removed in one step, by their bytes. One that comes meanwhile stays unless it equals one of them.

        :Redisson: ``Collection.removeIf(Predicate)``
        :Cost: O(n), and O(n k) for k distinct values to remove; two round trips
        :Guarantee: atomic in what it removes
        """
        check_function(condition, self.name)
        found = self._run(commands.slice_of(self.keys.ready))
        chosen = self.requests.chosen(found, self.keys.ready, condition)
        return self._run(self.requests.remove_bytes(chosen)) if chosen else 0

    def retain_all(self, values: Iterable[T]) -> bool:
        """Removes every value that equals none of these; True if any was removed.

        :Redisson: ``RQueue.retainAll(Collection)``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.retain_all(values))

    def trim(self, start: int, stop: int) -> None:
        """Keeps the values from index ``start`` to ``stop``, both included, and removes all others.

        :Redisson: none
        :Cost: O(k), k removed; one round trip
        :Guarantee: atomic
        """
        self._run(self.requests.trim(start, stop))

    def clear(self) -> None:
        """Removes every ready value.

        :Redisson: ``RQueue.clear()``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        self._run(self.requests.clear())

    # -- listening ---------------------------------------------------------------------------------------------------

    def subscribe_on_elements(self, consumer: Callback[T]) -> int:
        """Takes values as they come and calls ``consumer(value)`` with each, one after the other.

        Gives an id for :meth:`unsubscribe`. What the consumer raises is logged, and the next value is taken. Every
        subscription has a worker of its own; it ends with :meth:`unsubscribe`, :meth:`destroy` or the client.

        :Redisson: ``RBlockingQueue.subscribeOnElements(Consumer)``, ``RBlockingQueue.subscribeOnElements(Function)``
        :Cost: one command for each value
        :Guarantee: at most once
        """
        return self._subscribe("first", consumer)

    def unsubscribe(self, listener_id: int) -> None:
        """Ends a subscription and waits until its consumer has returned. Nothing is lost by it.

        A consumer may end its own subscription, but not by a task or thread that it waits for.

        :Redisson: ``RBlockingQueue.unsubscribe(int)``
        :Cost: one round trip when its wait has to end
        :Guarantee: nothing is lost
        """
        listener = self._listeners.pop(listener_id, None)
        if listener is not None:
            listener.stop()

    def elements(self) -> Iterator[T]:
        """Takes values as they come, for ever: ``for order in queue.elements()``. Ends when the queue is closed.

        :Redisson: none
        :Cost: one command for each value
        :Guarantee: at most once; leaving the loop loses nothing
        """
        while True:
            try:
                value = self.take()
            except ClosedError:
                return
            yield value

    def destroy(self) -> None:
        """Ends this handle's subscriptions and closes it; the data stays. May be called twice.

        With the last open handle that has ``transfer=True`` this client stops moving the queue's due items (other
        processes go on); with the last handle of any kind, a ``take()`` that still waits raises ClosedError.

        :Redisson: none
        :Cost: none; one round trip when a blocked pop has to end
        :Guarantee: no data changes
        """
        for listener_id in list(self._listeners):
            self.unsubscribe(listener_id)
        super().destroy()

    def __len__(self) -> int:
        """Same as :meth:`size`."""
        return self.size()

    def __bool__(self) -> bool:
        """A handle is true, also when its queue is empty."""
        return True

    def __contains__(self, value: object) -> bool:
        """Same as :meth:`contains`."""
        return self.contains(value)  # type: ignore[arg-type]

    def __getitem__(self, index: int) -> T:
        """Like :meth:`get`; raises IndexError where there is no value."""
        data = self._run(self.requests.peek_bytes(index))
        if data is None:
            raise IndexError(f"queue {self.name!r}: there is no value at index {index}")
        return self.requests.in_place([data], self.keys.ready)[0]

    # -- inside ------------------------------------------------------------------------------------------------------

    def _source(self, end: End) -> Pop:
        """What a listener takes from."""
        return Pop((self.keys.ready,), end)

    def _received(self, end: End, taken: list[Taken]) -> list[T]:
        """The values of what a listener has taken."""
        self._took(self._source(end), taken)
        return self._decoded(taken)

    def _receive(self, source: Source, timeout: float | None, limit: int = 1) -> list[Taken]:
        self._check()
        taken = self._client._receiver(source).receive(timeout, limit)
        if taken:
            self._took(source, taken)
        return taken

    def _pop(self, key: str, end: End, limit: int) -> list[Taken]:
        """The first look of a short wait, which blocks no connection. Cancelled, it leaves what was there."""
        self._check()
        found = finish_or_undo(
            self._connections.run(commands.pop_many(key, end, limit)), lambda found: self._put_back(key, end, found)
        )
        taken = [Taken(key=key, data=data) for data in found]
        if taken:
            self._took(Pop((key,), end), taken)
        return taken

    def _put_back(self, key: str, end: End, values: list[bytes]) -> None:
        if values:
            try:
                self._connections.run(commands.put_back(key, end, values))
            except RedissonDQError as error:
                logger.error("queue %r: popped values may not be back in Redis: %s; they are %r", key, error, values)

    def _took(self, source: Source, taken: list[Taken]) -> None:
        """Is told of what a plain or a blocking command has taken from one list."""

    def _decoded(self, taken: list[Taken]) -> list[T]:
        """The values; without those that cannot be read when the client skips them."""
        try:
            return self.requests.popped([each.data for each in taken])
        except DecodeError as error:
            self._keep(error, self.keys.undecodable)
            return list(error.decoded)

    def _next(
        self, end: End, keys: tuple[str, ...], deadline: float | None, limit: int = 1
    ) -> tuple[str, list[T]] | None:
        """Waits for values of the first of the lists that has some: key and values, or None after the deadline."""
        source = Pop(keys, end)
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            taken = self._receive(source, left, limit)
            if not taken:
                return None
            values = self._decoded(taken)
            if values:
                return taken[0].key, values

    def _wait_for(self, end: End, *keys: str) -> T:
        """A value of this queue's list, or of others, as long as it takes."""
        found = self._next(end, keys or (self.keys.ready,), None)
        assert found is not None
        return found[1][0]

    def _poll(self, end: End, limit: int | None, timeout: Delay | None) -> T | list[T] | None:
        seconds = 0.0 if timeout is None else timeout_seconds(timeout, self.name)
        if limit is None:
            if not seconds:
                return self._take(self.requests.poll_one(end))
            found = self._next_within(end, (self.keys.ready,), seconds)
            return found[1][0] if found else None
        if not seconds:
            return self._take(self.requests.poll_many(end, limit))
        found = self._next_within(end, (self.keys.ready,), seconds, check_count(limit, self.name))
        return found[1] if found else []

    def _any_of(self, queue_names: tuple[str, ...]) -> dict[str, str]:
        """Raw name -> name, this queue's first."""
        return {self.keys.ready: self.name, **{self.requests.keys_of(name).ready: name for name in queue_names}}

    def _poll_any(self, end: End, queue_names: tuple[str, ...], timeout: Delay | None) -> tuple[str, T] | None:
        names = self._any_of(queue_names)
        found = self._next_within(end, tuple(names), timeout_seconds(timeout or 0, self.name))
        return (names[found[0]], found[1][0]) if found else None

    def _next_within(
        self, end: End, keys: tuple[str, ...], timeout: float, limit: int = 1
    ) -> tuple[str, list[T]] | None:
        """Like :meth:`_next`, after a first look when the wait is short."""
        deadline = time.monotonic() + timeout
        if timeout < _SHORT_WAIT:
            for key in keys:
                taken = self._pop(key, end, limit)
                values = self._decoded(taken) if taken else []
                if values:
                    return key, values
        return self._next(end, keys, deadline, limit) if timeout else None

    def _left(self, old: QueueKeys) -> None:
        for listener in list(self._listeners.values()):
            listener.move()

    def _subscribe(self, end: End, consumer: Callback[T]) -> int:
        self._check()
        # The one its worker will ask for; a client that is closed refuses it here.
        self._client._receiver(self._source(end))
        listener = Listener(self, end, check_function(consumer, self.name))
        listener_id = next(self._listener_ids)
        self._listeners[listener_id] = listener
        return listener_id
