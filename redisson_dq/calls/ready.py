"""The calls of the ready side: a queue, a deque, and a queue with a capacity. None of them waits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, overload

from redisson_dq._common.texts import shown
from redisson_dq.calls.checks import check_count, check_end, check_index, nothing
from redisson_dq.calls.leases import LeaseRequests
from redisson_dq.calls.long_calls import told_if_long
from redisson_dq.errors import ArgumentError, QueueFullError, RedisReplyError
from redisson_dq.wire import calls, commands
from redisson_dq.wire.commands import End
from redisson_dq.wire.request import Request

__all__ = ["BoundedRequests", "DequeRequests", "QueueRequests"]

T = TypeVar("T")

# More than any list holds.
_ALL = 2**31 - 1


class QueueRequests(LeaseRequests[T]):
    """A list of ready values, first in, first out."""

    # -- adding ------------------------------------------------------------------------------------------------------

    def add(self, value: T) -> Request[bool]:
        request = commands.add(self._side.keys.ready, "last", [self._side.encode(value)])
        return self._side.adding(request).then(lambda length: bool(self._told(length, 1)))

    def add_all(self, values: Iterable[T]) -> Request[bool]:
        encoded = self._some(values)
        request = commands.add(self._side.keys.ready, "last", encoded)
        return self._side.adding(request).then(lambda length: bool(self._told(length, len(encoded))))

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
        return self._side.pop_one("first") if limit is None else self._side.pop_many("first", limit)

    def drain_to(self, limit: int | None = None) -> Request[list[T]]:
        return self._side.pop_many("first", _ALL if limit is None else limit)

    def poll_last_and_offer_first_to(self, queue_name: str) -> Request[T | None]:
        return self.move(queue_name, from_end="last", to_end="first")

    def move(self, queue_name: str, *, from_end: End = "first", to_end: End = "last") -> Request[T | None]:
        destination = self._side.keys_of(queue_name).ready
        ends = check_end(from_end, self._side.name), check_end(to_end, self._side.name)
        return self._side.move(destination, *ends).then(lambda data: self._moved(data, destination))

    # -- looking -----------------------------------------------------------------------------------------------------

    def size(self) -> Request[int]:
        return commands.length_of(self._side.keys.ready)

    def is_empty(self) -> Request[bool]:
        return self.size().then(lambda size: size == 0)

    def peek(self) -> Request[T | None]:
        return self.get(0)

    def element(self) -> Request[T]:
        return self._side.bytes_at(0).then(self._there)

    def get(self, index: int) -> Request[T | None]:
        return self._side.bytes_at(index).then(lambda data: None if data is None else self._stays(data))

    def read_all(self) -> Request[list[T]]:
        return self.range(0, -1)

    def range(self, start: int, stop: int) -> Request[list[T]]:
        request = commands.slice_of(
            self._side.keys.ready, check_index(start, self._side.name), check_index(stop, self._side.name)
        )
        told = told_if_long(request, self._side, "read_all() or range()")
        return told.then(lambda found: self._side.in_place(found, self._side.keys.ready))

    def contains(self, value: T) -> Request[bool]:
        data = self._side.encode_sought(value)
        return commands.index_of(self._side.keys.ready, data).then(lambda place: place is not None)

    def contains_all(self, values: Iterable[T]) -> Request[bool]:
        request = calls.contains_ready(self._side.keys, self._side.encode_all_sought(values))
        return told_if_long(request, self._side, "contains_all()")

    def index_of(self, value: T) -> Request[int]:
        return commands.index_of(self._side.keys.ready, self._side.encode_sought(value)).then(_place)

    def last_index_of(self, value: T) -> Request[int]:
        return commands.index_of(self._side.keys.ready, self._side.encode_sought(value), -1).then(_place)

    def read_undecodable(self, start: int, stop: int) -> Request[list[bytes]]:
        return commands.slice_of(
            self._side.keys.undecodable, check_index(start, self._side.name), check_index(stop, self._side.name)
        )

    # -- removing ----------------------------------------------------------------------------------------------------

    def remove(self, value: T, count: int = 1) -> Request[bool]:
        args = (check_index(count, self._side.name), self._side.encode_sought(value))
        return self._side.take_away("some", args).then(bool)

    def remove_all(self, values: Iterable[T]) -> Request[bool]:
        return self._side.remove_bytes(self._side.encode_all_sought(values)).then(bool)

    def retain_all(self, values: Iterable[T]) -> Request[bool]:
        request = self._side.take_away("others", self._side.encode_all_sought(values))
        return told_if_long(request, self._side, "retain_all()").then(bool)

    def trim(self, start: int, stop: int) -> Request[None]:
        indexes = check_index(start, self._side.name), check_index(stop, self._side.name)
        return self._side.take_away("trim", indexes).then(nothing)

    def clear(self) -> Request[None]:
        return told_if_long(self._side.take_away("clear"), self._side, "clear()").then(nothing)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _told(self, length: int, count: int) -> int:
        """Tells those that count of so many added values. A length of 0 tells that nothing was added."""
        self._side.tell_offered(count if length else 0)
        return length

    def _some(self, values: Iterable[T]) -> list[bytes]:
        encoded = self._side.encode_all(values)
        if not encoded:
            raise ArgumentError(f"queue {self._side.name!r}: there is no value to add")
        return encoded

    def _moved(self, data: bytes | None, destination: str) -> T | None:
        return None if data is None else self._side.in_place([data], destination)[0]

    def _stays(self, data: bytes) -> T:
        return self._side.in_place([data], self._side.keys.ready)[0]

    def _there(self, data: bytes | None) -> T:
        return self._stays(self._side.there(data))


class DequeRequests(QueueRequests[T]):
    """A list of ready values that is used at both ends."""

    def add_first(self, *values: T) -> Request[int]:
        request = commands.add(self._side.keys.ready, "first", self._some(values))
        return self._side.adding(request).then(lambda length: self._told(length, len(values)))

    def add_last(self, *values: T) -> Request[int]:
        request = commands.add(self._side.keys.ready, "last", self._some(values))
        return self._side.adding(request).then(lambda length: self._told(length, len(values)))

    def add_first_if_exists(self, *values: T) -> Request[int]:
        request = commands.add_if_exists(self._side.keys.ready, "first", self._some(values))
        return self._side.adding(request).then(lambda length: self._told(length, len(values)))

    def add_last_if_exists(self, *values: T) -> Request[int]:
        request = commands.add_if_exists(self._side.keys.ready, "last", self._some(values))
        return self._side.adding(request).then(lambda length: self._told(length, len(values)))

    def offer_first(self, value: T) -> Request[bool]:
        return self.add_first(value).then(bool)

    def offer_last(self, value: T) -> Request[bool]:
        return self.add_last(value).then(bool)

    @overload
    def poll_first(self) -> Request[T | None]: ...

    @overload
    def poll_first(self, limit: int) -> Request[list[T]]: ...

    def poll_first(self, limit: int | None = None) -> Request[T | None] | Request[list[T]]:
        return self._side.pop_one("first") if limit is None else self._side.pop_many("first", limit)

    @overload
    def poll_last(self) -> Request[T | None]: ...

    @overload
    def poll_last(self, limit: int) -> Request[list[T]]: ...

    def poll_last(self, limit: int | None = None) -> Request[T | None] | Request[list[T]]:
        return self._side.pop_one("last") if limit is None else self._side.pop_many("last", limit)

    def peek_first(self) -> Request[T | None]:
        return self.get(0)

    def peek_last(self) -> Request[T | None]:
        return self.get(-1)

    def get_first(self) -> Request[T]:
        return self.element()

    def get_last(self) -> Request[T]:
        return self._side.bytes_at(-1).then(self._there)

    def remove_first_occurrence(self, value: T) -> Request[bool]:
        return self.remove(value, 1)

    def remove_last_occurrence(self, value: T) -> Request[bool]:
        return self.remove(value, -1)


class BoundedRequests(QueueRequests[T]):
    """A queue that holds no more values than its capacity.

    A value that is taken makes room, and wakes those who wait for room.
    """

    def try_set_capacity(self, capacity: int) -> Request[bool]:
        return calls.set_capacity(self._side.keys, check_count(capacity, self._side.name, "a capacity"))

    def remaining_capacity(self) -> Request[int]:
        return commands.get_number(self._side.keys.capacity)

    def add(self, value: T) -> Request[bool]:
        return self.offer(value).then(self._not_full)

    def add_all(self, values: Iterable[T]) -> Request[bool]:
        return self._offering(self._some(values))

    def offer(self, value: T) -> Request[bool]:
        return self._offering([self._side.encode(value)])

    def remove(self, value: T, count: int = 0) -> Request[bool]:
        if count != 0:
            raise ArgumentError(
                f"queue {self._side.name!r}: a bounded queue removes all equal values, not {shown(count)}"
            )
        return self.remove_all([value])

    def retain_all(self, values: Iterable[T]) -> Request[bool]:
        request = calls.take_bounded(
            self._side.keys, "retain", self._side.options.remember_ms, self._side.encode_all_sought(values), bool
        )
        return told_if_long(request, self._side, "retain_all()")

    def trim(self, start: int, stop: int) -> Request[None]:
        indexes = check_index(start, self._side.name), check_index(stop, self._side.name)
        return calls.take_bounded(self._side.keys, "trim", self._side.options.remember_ms, indexes, int).then(nothing)

    def clear(self) -> Request[None]:
        return calls.take_bounded(self._side.keys, "clear", self._side.options.remember_ms, (), int).then(nothing)

    def _offering(self, encoded: list[bytes]) -> Request[bool]:
        request = calls.offer_bounded(self._side.keys, encoded)
        return self._side.adding(request).then(lambda outcome: self._offered(outcome, len(encoded)))

    def _offered(self, outcome: int, count: int) -> bool:
        if outcome < 0:
            raise RedisReplyError(
                f"queue {self._side.name!r}: its capacity has not been set (key {self._side.keys.capacity!r}); "
                "call try_set_capacity() once"
            )
        return bool(self._told(outcome, count))

    def _not_full(self, added: bool) -> bool:
        if not added:
            raise QueueFullError(f"queue {self._side.name!r}: it is full")
        return True


def _place(found: int | None) -> int:
    return -1 if found is None else found
