"""The calls of the ready side: a queue, a deque, and a queue with a capacity. None of them waits.

A value that is taken out of a bounded queue makes room, and wakes those who wait for room. So each call that takes has
two forms, by the kind of its queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, overload

from redisson_dq._common.texts import shown
from redisson_dq.calls.checks import check_count, check_end, check_index, nothing
from redisson_dq.calls.leases import LeaseRequests
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import ArgumentError, QueueFullError, RedisReplyError
from redisson_dq.wire import commands
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.commands import POP, PUSH, SIDES, End
from redisson_dq.wire.request import Request, Word

__all__ = ["BoundedRequests", "DequeRequests", "QueueRequests", "bytes_at", "moved", "popped", "popped_from"]
__all__ += ["popped_one", "removed"]

T = TypeVar("T")
U = TypeVar("U")

# More than any list holds.
_ALL = 2**31 - 1
# Redis needs about 1 ms for a reply of this many values.
_MANY = 10_000


# -- calls that a handle sends in a form of its own ------------------------------------------------------------------


def popped_one(queue: OpenQueue[T], end: End) -> Request[T | None]:
    """Takes the value at an end."""
    if queue.kind.bounded:
        return popped(queue, end, 1).then(lambda values: values[0] if values else None)
    key = queue.keys.ready
    return Request(
        words=(POP[end], key),
        types={key: "list"},
        parse=queue.popped_one,
        aside=queue.keys.undecodable,
        on_sending=queue.starts,
    )


def popped(queue: OpenQueue[T], end: End, limit: int) -> Request[list[T]]:
    """Takes at most ``limit`` values from an end. A bounded queue has one end for that."""
    check_count(limit, queue.name)
    if queue.kind.bounded:
        request: Request[list[bytes]] = queue.call("take_bounded", ("poll", 0, limit), list)
    else:
        request = commands.pop_many(queue.keys.ready, end, limit)
    if limit > _MANY:
        request = queue.told_if_long(request, "drain_to() or poll()")
    return queue.working(request).then(queue.popped, aside=queue.keys.undecodable)


def popped_from(queue: OpenQueue[T], key: str, end: End, limit: int) -> Request[list[T]]:
    """Takes from this queue's list or from another, whose values are read in the same way."""
    if key == queue.keys.ready:
        return popped(queue, end, limit)
    request = commands.pop_many(key, end, limit)
    return request.then(lambda found: queue.popped(found, key), aside=queue.keys.undecodable)


def moved(queue: OpenQueue[Any], destination: str, from_end: End, to_end: End) -> Request[bytes | None]:
    """Moves one value to the list with the key ``destination``, and returns its bytes."""
    if queue.kind.bounded:
        ends = SIDES[from_end], SIDES[to_end]
        return queue.working(call("move_bounded", queue.keys, ends, _as_is, destination=destination))
    return queue.working(commands.move(queue.keys.ready, destination, from_end, to_end))


def removed(queue: OpenQueue[Any], values: Sequence[bytes]) -> Request[int]:
    """Removes all that equal one of them; returns how many there were."""
    return queue.told_if_long(_taken_away(queue, "all", values, int), "remove_all() or remove_if()")


def bytes_at(queue: OpenQueue[Any], index: int, parse: Callable[[Any], U]) -> Request[U]:
    """The bytes of the value at an index, which stays."""
    key = queue.keys.ready
    return Request(words=("LINDEX", key, check_index(index, queue.name)), types={key: "list"}, parse=parse)


def _taken_away(queue: OpenQueue[Any], how: str, args: Sequence[Word], parse: Callable[[Any], U]) -> Request[U]:
    """Takes values away undelivered. Their ids are forgotten."""
    script = "take_bounded" if queue.kind.bounded else "remove_ready"
    return queue.call(script, (how, queue.options.remember_ms, *args), parse)


# -- a queue ---------------------------------------------------------------------------------------------------------


class QueueRequests(LeaseRequests[T]):
    """A list of ready values, first in, first out."""

    # -- adding ------------------------------------------------------------------------------------------------------

    def add(self, value: T) -> Request[bool]:
        return self._pushed("RPUSH", [self._queue.encode(value)], bool)

    def add_all(self, values: Iterable[T]) -> Request[bool]:
        return self._pushed("RPUSH", self._some(values), bool)

    def offer(self, value: T) -> Request[bool]:
        return self.add(value)

    def put(self, value: T) -> Request[None]:
        return self.add(value).then(nothing)

    # -- taking ------------------------------------------------------------------------------------------------------

    @overload
    def poll(self) -> Request[T | None]: ...

    @overload
    def poll(self, limit: int) -> Request[list[T]]: ...

    def poll(self, limit: int | None = None) -> Request[T | None] | Request[list[T]]:
        return popped_one(self._queue, "first") if limit is None else popped(self._queue, "first", limit)

    def drain_to(self, limit: int | None = None) -> Request[list[T]]:
        return popped(self._queue, "first", _ALL if limit is None else limit)

    def poll_last_and_offer_first_to(self, queue_name: str) -> Request[T | None]:
        return self.move(queue_name, from_end="last", to_end="first")

    def move(self, queue_name: str, *, from_end: End = "first", to_end: End = "last") -> Request[T | None]:
        queue = self._queue
        destination = queue.keys_of(queue_name).ready
        ends = check_end(from_end, queue.name), check_end(to_end, queue.name)
        return moved(queue, destination, *ends).then(
            lambda data: None if data is None else queue.in_place([data], destination)[0]
        )

    # -- looking -----------------------------------------------------------------------------------------------------

    def size(self) -> Request[int]:
        key = self._queue.keys.ready
        return Request(words=("LLEN", key), types={key: "list"}, parse=int)

    def is_empty(self) -> Request[bool]:
        key = self._queue.keys.ready
        return Request(words=("LLEN", key), types={key: "list"}, parse=lambda size: not size)

    def peek(self) -> Request[T | None]:
        return self.get(0)

    def element(self) -> Request[T]:
        return bytes_at(self._queue, 0, self._there)

    def get(self, index: int) -> Request[T | None]:
        return bytes_at(self._queue, index, lambda data: None if data is None else self._there(data))

    def read_all(self) -> Request[list[T]]:
        return self.range(0, -1)

    def range(self, start: int, stop: int) -> Request[list[T]]:
        queue, key = self._queue, self._queue.keys.ready
        request = commands.slice_of(key, *self._indexes(start, stop))
        return queue.told_if_long(request, "read_all() or range()").then(lambda found: queue.in_place(found, key))

    def contains(self, value: T) -> Request[bool]:
        return self._place(value, 1, lambda place: place is not None)

    def contains_all(self, values: Iterable[T]) -> Request[bool]:
        values = self._queue.collected(values)
        distinct = list(dict.fromkeys(self._queue.encode_all_sought(values)))
        request = self._queue.found(distinct).then(lambda met: len(met) == len(distinct))
        return self._queue.seeking(self._queue.told_if_long(request, "contains_all()"), values)

    def index_of(self, value: T) -> Request[int]:
        return self._place(value, 1, _index)

    def last_index_of(self, value: T) -> Request[int]:
        return self._place(value, -1, _index)

    def read_undecodable(self, start: int, stop: int) -> Request[list[bytes]]:
        return commands.slice_of(self._queue.keys.undecodable, *self._indexes(start, stop))

    # -- removing ----------------------------------------------------------------------------------------------------

    def remove(self, value: T, count: int = 1) -> Request[bool]:
        args = check_index(count, self._queue.name), self._queue.encode_sought(value)
        return self._queue.seeking(_taken_away(self._queue, "some", args, bool), [value])

    def remove_all(self, values: Iterable[T]) -> Request[bool]:
        values = self._queue.collected(values)
        request = removed(self._queue, self._queue.encode_all_sought(values)).then(bool)
        return self._queue.seeking(request, values, partly=True)

    def retain_all(self, values: Iterable[T]) -> Request[bool]:
        values = self._queue.collected(values)
        kept = self._queue.encode_all_sought(values)
        request = self._queue.told_if_long(_taken_away(self._queue, "others", kept, bool), "retain_all()")
        return self._queue.seeking(request, values, before=True)

    def trim(self, start: int, stop: int) -> Request[None]:
        return _taken_away(self._queue, "trim", self._indexes(start, stop), nothing)

    def clear(self) -> Request[None]:
        return self._queue.told_if_long(_taken_away(self._queue, "clear", (), nothing), "clear()")

    # -- inside ------------------------------------------------------------------------------------------------------

    def _deletion(self, command: str) -> Request[bool]:
        # Ids of values that are deleted are forgotten.
        which = {"DEL": "delete", "UNLINK": "unlink"}[command]
        bounded = ("bounded",) if self._queue.kind.bounded else ()
        return self._queue.call("remove_ready", (which, self._queue.options.remember_ms, *bounded), bool)

    def _pushed(self, command: str, encoded: list[bytes], result: Callable[[int], U]) -> Request[U]:
        """Adds values. The reply is the new length, or 0 where nothing was added."""
        queue, key = self._queue, self._queue.keys.ready

        def pushed(length: int) -> U:
            queue.tell_offered(len(encoded) if length else 0)
            return result(length)

        return Request(
            words=(command, key, *encoded),
            types={key: "list"},
            parse=pushed,
            durable=queue.options.durable,
            on_sending=queue.starts,
        )

    def _some(self, values: Iterable[T]) -> list[bytes]:
        encoded = self._queue.encode_all(values)
        if not encoded:
            raise ArgumentError(f"queue {self._queue.name!r}: there is no value to add")
        return encoded

    def _place(self, value: T, rank: int, parse: Callable[[Any], U]) -> Request[U]:
        """The place of the first equal value, or with rank -1 of the last."""
        key = self._queue.keys.ready
        words = ("LPOS", key, self._queue.encode_sought(value), "RANK", rank)
        return self._queue.seeking(Request(words=words, types={key: "list"}, parse=parse), [value])

    def _there(self, data: bytes | None) -> T:
        return self._queue.in_place([self._queue.there(data)], self._queue.keys.ready)[0]


class DequeRequests(QueueRequests[T]):
    """A list of ready values that is used at both ends."""

    def add_first(self, *values: T) -> Request[int]:
        return self._pushed(PUSH["first"], self._some(values), int)

    def add_last(self, *values: T) -> Request[int]:
        return self._pushed(PUSH["last"], self._some(values), int)

    def add_first_if_exists(self, *values: T) -> Request[int]:
        return self._pushed("LPUSHX", self._some(values), int)

    def add_last_if_exists(self, *values: T) -> Request[int]:
        return self._pushed("RPUSHX", self._some(values), int)

    def offer_first(self, value: T) -> Request[bool]:
        return self._pushed("LPUSH", [self._queue.encode(value)], bool)

    def offer_last(self, value: T) -> Request[bool]:
        return self._pushed("RPUSH", [self._queue.encode(value)], bool)

    @overload
    def poll_first(self) -> Request[T | None]: ...

    @overload
    def poll_first(self, limit: int) -> Request[list[T]]: ...

    def poll_first(self, limit: int | None = None) -> Request[T | None] | Request[list[T]]:
        return popped_one(self._queue, "first") if limit is None else popped(self._queue, "first", limit)

    @overload
    def poll_last(self) -> Request[T | None]: ...

    @overload
    def poll_last(self, limit: int) -> Request[list[T]]: ...

    def poll_last(self, limit: int | None = None) -> Request[T | None] | Request[list[T]]:
        return popped_one(self._queue, "last") if limit is None else popped(self._queue, "last", limit)

    def peek_first(self) -> Request[T | None]:
        return self.get(0)

    def peek_last(self) -> Request[T | None]:
        return self.get(-1)

    def get_first(self) -> Request[T]:
        return self.element()

    def get_last(self) -> Request[T]:
        return bytes_at(self._queue, -1, self._there)

    def remove_first_occurrence(self, value: T) -> Request[bool]:
        return self.remove(value, 1)

    def remove_last_occurrence(self, value: T) -> Request[bool]:
        return self.remove(value, -1)


class BoundedRequests(QueueRequests[T]):
    """A queue that holds no more values than its capacity."""

    def try_set_capacity(self, capacity: int) -> Request[bool]:
        count = check_count(capacity, self._queue.name, "a capacity")
        return self._queue.call("set_capacity", (count,), bool)

    def remaining_capacity(self) -> Request[int]:
        return commands.get_number(self._queue.keys.capacity)

    def add(self, value: T) -> Request[bool]:
        return self.offer(value).then(self._not_full)

    def add_all(self, values: Iterable[T]) -> Request[bool]:
        return self._offered(self._some(values))

    def offer(self, value: T) -> Request[bool]:
        return self._offered([self._queue.encode(value)])

    def remove(self, value: T, count: int = 0) -> Request[bool]:
        if count != 0:
            raise ArgumentError(
                f"queue {self._queue.name!r}: a bounded queue removes all equal values, not {shown(count)}"
            )
        return self.remove_all([value])

    def _offered(self, encoded: list[bytes]) -> Request[bool]:
        """The script gives 1 if the values are in, 0 if there was no room, -1 if the capacity was never set."""
        queue = self._queue

        def offered(outcome: int) -> bool:
            if outcome < 0:
                raise RedisReplyError(
                    f"queue {queue.name!r}: its capacity has not been set (key {queue.keys.capacity!r}); "
                    "call try_set_capacity() once"
                )
            queue.tell_offered(len(encoded) if outcome else 0)
            return bool(outcome)

        return queue.call(
            "offer_bounded",
            tuple(encoded),
            offered,
            durable=queue.options.durable,
            on_sending=queue.starts,
        )

    def _not_full(self, added: bool) -> bool:
        if not added:
            raise QueueFullError(f"queue {self._queue.name!r}: it is full")
        return True


def _index(found: int | None) -> int:
    return -1 if found is None else found


def _as_is(reply: Any) -> Any:
    return reply
