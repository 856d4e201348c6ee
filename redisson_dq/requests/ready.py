"""The calls of the ready side: a queue, a deque, and a queue with a capacity. None of them waits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, overload

from ..errors import ArgumentError, QueueFullError, RedisReplyError
from ..scripts import calls
from ..wire import commands
from ..wire.commands import End
from ..wire.keys import QueueKeys
from ..wire.request import Request
from .base import ObjectRequests, check_count, check_index, nothing

__all__ = ["BoundedRequests", "DequeRequests", "QueueRequests", "check_end"]

T = TypeVar("T")

# More than any list holds.
_ALL = 2**31 - 1


class QueueRequests(ObjectRequests[T]):
    """A list of ready values, first in, first out."""

    def main_keys(self, keys: QueueKeys) -> tuple[str, ...]:
        return (keys.ready,)

    # -- adding ------------------------------------------------------------------------------------------------------

    def add(self, value: T) -> Request[bool]:
        return commands.add(self.keys.ready, "last", [self.encode(value)]).then(bool)

    def add_all(self, values: Iterable[T]) -> Request[bool]:
        return commands.add(self.keys.ready, "last", self._some(values)).then(bool)

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
        return self.poll_one("first") if limit is None else self.poll_many("first", limit)

    def poll_one(self, end: End) -> Request[T | None]:
        return commands.pop(self.keys.ready, end).then(self.popped_one, keep_in=self.keys.undecodable)

    def poll_many(self, end: End, limit: int) -> Request[list[T]]:
        request = commands.pop_many(self.keys.ready, end, check_count(limit, self.name))
        return request.then(self.popped, keep_in=self.keys.undecodable)

    def drain_to(self, limit: int | None = None) -> Request[list[T]]:
        return self.poll_many("first", _ALL if limit is None else limit)

    def poll_last_and_offer_first_to(self, queue_name: str) -> Request[T | None]:
        return self.move(queue_name, from_end="last", to_end="first")

    def move(self, queue_name: str, *, from_end: End = "first", to_end: End = "last") -> Request[T | None]:
        destination = self.keys_of(queue_name).ready
        ends = check_end(from_end, self.name), check_end(to_end, self.name)
        return self.move_bytes(destination, *ends).then(lambda data: self._moved(data, destination))

    def move_bytes(self, destination: str, from_end: End, to_end: End) -> Request[bytes | None]:
        return commands.move(self.keys.ready, destination, from_end, to_end)

    # -- looking -----------------------------------------------------------------------------------------------------

    def size(self) -> Request[int]:
        return commands.length_of(self.keys.ready)

    def is_empty(self) -> Request[bool]:
        return self.size().then(lambda size: size == 0)

    def peek(self) -> Request[T | None]:
        return self.get(0)

    def element(self) -> Request[T]:
        return self.peek_bytes(0).then(self._there)

    def get(self, index: int) -> Request[T | None]:
        return self.peek_bytes(index).then(lambda data: None if data is None else self._stays(data))

    def read_all(self) -> Request[list[T]]:
        return self.range(0, -1)

    def range(self, start: int, stop: int) -> Request[list[T]]:
        request = commands.slice_of(self.keys.ready, check_index(start, self.name), check_index(stop, self.name))
        return request.then(lambda found: self.in_place(found, self.keys.ready))

    def contains(self, value: T) -> Request[bool]:
        return commands.index_of(self.keys.ready, self.encode(value)).then(lambda place: place is not None)

    def contains_all(self, values: Iterable[T]) -> Request[bool]:
        return calls.contains_ready(self.keys, self.encode_all(values))

    def index_of(self, value: T) -> Request[int]:
        return commands.index_of(self.keys.ready, self.encode(value)).then(_place)

    def last_index_of(self, value: T) -> Request[int]:
        return commands.index_of(self.keys.ready, self.encode(value), -1).then(_place)

    def read_undecodable(self, start: int, stop: int) -> Request[list[bytes]]:
        return commands.slice_of(self.keys.undecodable, check_index(start, self.name), check_index(stop, self.name))

    # -- removing ----------------------------------------------------------------------------------------------------

    def remove(self, value: T, count: int = 1) -> Request[bool]:
        return commands.remove(self.keys.ready, self.encode(value), check_index(count, self.name)).then(bool)

    def remove_all(self, values: Iterable[T]) -> Request[bool]:
        return self.remove_bytes(self.encode_all(values)).then(bool)

    def remove_bytes(self, values: list[bytes]) -> Request[int]:
        """Removes all that equal one of them; gives how many there were."""
        return calls.remove_ready(self.keys, "all", values)

    def retain_all(self, values: Iterable[T]) -> Request[bool]:
        return calls.remove_ready(self.keys, "others", self.encode_all(values)).then(bool)

    def trim(self, start: int, stop: int) -> Request[None]:
        return commands.trim(self.keys.ready, check_index(start, self.name), check_index(stop, self.name))

    def clear(self) -> Request[None]:
        return commands.delete((self.keys.ready,)).then(nothing)

    # -- inside ------------------------------------------------------------------------------------------------------

    def peek_bytes(self, index: int) -> Request[bytes | None]:
        return commands.peek(self.keys.ready, check_index(index, self.name))

    def _some(self, values: Iterable[T]) -> list[bytes]:
        encoded = self.encode_all(values)
        if not encoded:
            raise ArgumentError(f"queue {self.name!r}: there is no value to add")
        return encoded

    def _moved(self, data: bytes | None, destination: str) -> T | None:
        return None if data is None else self.in_place([data], destination)[0]

    def _stays(self, data: bytes) -> T:
        return self.in_place([data], self.keys.ready)[0]

    def _there(self, data: bytes | None) -> T:
        return self._stays(self.there(data))


class DequeRequests(QueueRequests[T]):
    """A list of ready values that is used at both ends."""

    def add_first(self, *values: T) -> Request[int]:
        return commands.add(self.keys.ready, "first", self._some(values))

    def add_last(self, *values: T) -> Request[int]:
        return commands.add(self.keys.ready, "last", self._some(values))

    def add_first_if_exists(self, *values: T) -> Request[int]:
        return commands.add_if_exists(self.keys.ready, "first", self._some(values))

    def add_last_if_exists(self, *values: T) -> Request[int]:
        return commands.add_if_exists(self.keys.ready, "last", self._some(values))

    def offer_first(self, value: T) -> Request[bool]:
        return self.add_first(value).then(bool)

    def offer_last(self, value: T) -> Request[bool]:
        return self.add_last(value).then(bool)

    @overload
    def poll_first(self) -> Request[T | None]: ...

    @overload
    def poll_first(self, limit: int) -> Request[list[T]]: ...

    def poll_first(self, limit: int | None = None) -> Request[T | None] | Request[list[T]]:
        return self.poll_one("first") if limit is None else self.poll_many("first", limit)

    @overload
    def poll_last(self) -> Request[T | None]: ...

    @overload
    def poll_last(self, limit: int) -> Request[list[T]]: ...

    def poll_last(self, limit: int | None = None) -> Request[T | None] | Request[list[T]]:
        return self.poll_one("last") if limit is None else self.poll_many("last", limit)

    def peek_first(self) -> Request[T | None]:
        return self.get(0)

    def peek_last(self) -> Request[T | None]:
        return self.get(-1)

    def get_first(self) -> Request[T]:
        return self.element()

    def get_last(self) -> Request[T]:
        return self.peek_bytes(-1).then(self._there)

    def remove_first_occurrence(self, value: T) -> Request[bool]:
        return self.remove(value, 1)

    def remove_last_occurrence(self, value: T) -> Request[bool]:
        return self.remove(value, -1)


class BoundedRequests(QueueRequests[T]):
    """A queue that holds no more values than its capacity. What is taken makes room, and wakes who waits for it."""

    def main_keys(self, keys: QueueKeys) -> tuple[str, ...]:
        return (keys.ready, keys.capacity)

    def try_set_capacity(self, capacity: int) -> Request[bool]:
        return calls.set_capacity(self.keys, check_count(capacity, self.name, "a capacity"))

    def remaining_capacity(self) -> Request[int]:
        return commands.get_number(self.keys.capacity)

    def release(self, count: int) -> Request[int]:
        return calls.release(self.keys, count)

    def add(self, value: T) -> Request[bool]:
        return self.offer(value).then(self._room)

    def add_all(self, values: Iterable[T]) -> Request[bool]:
        return calls.offer_bounded(self.keys, self._some(values)).then(self._offered)

    def offer(self, value: T) -> Request[bool]:
        return calls.offer_bounded(self.keys, [self.encode(value)]).then(self._offered)

    def poll_one(self, end: End) -> Request[T | None]:
        return self.poll_many(end, 1).then(lambda values: values[0] if values else None)

    def poll_many(self, end: End, limit: int) -> Request[list[T]]:
        request: Request[list[bytes]] = calls.take_bounded(self.keys, "poll", (check_count(limit, self.name),), list)
        return request.then(self.popped, keep_in=self.keys.undecodable)

    def move_bytes(self, destination: str, from_end: End, to_end: End) -> Request[bytes | None]:
        return calls.move_bounded(self.keys, destination, from_end, to_end)

    def remove(self, value: T, count: int = 0) -> Request[bool]:
        if count != 0:
            raise ArgumentError(f"queue {self.name!r}: a bounded queue removes all equal values, not {count!r}")
        return self.remove_all([value])

    def remove_bytes(self, values: list[bytes]) -> Request[int]:
        return calls.take_bounded(self.keys, "remove", values, int)

    def retain_all(self, values: Iterable[T]) -> Request[bool]:
        return calls.take_bounded(self.keys, "retain", self.encode_all(values), bool)

    def trim(self, start: int, stop: int) -> Request[None]:
        indexes = check_index(start, self.name), check_index(stop, self.name)
        return calls.take_bounded(self.keys, "trim", indexes, int).then(nothing)

    def clear(self) -> Request[None]:
        return calls.take_bounded(self.keys, "clear", (), int).then(nothing)

    def _offered(self, outcome: int) -> bool:
        if outcome < 0:
            raise RedisReplyError(
                f"queue {self.name!r}: its capacity has not been set (key {self.keys.capacity!r}); "
                "call try_set_capacity() once"
            )
        return bool(outcome)

    def _room(self, added: bool) -> bool:
        if not added:
            raise QueueFullError(f"queue {self.name!r}: it is full")
        return True


def check_end(end: object, name: str) -> End:
    """Raises ArgumentError for anything but "first" and "last"."""
    if end == "first":
        return "first"
    if end == "last":
        return "last"
    raise ArgumentError(f"queue {name!r}: an end is 'first' or 'last', not {end!r}")


def _place(found: int | None) -> int:
    return -1 if found is None else found
