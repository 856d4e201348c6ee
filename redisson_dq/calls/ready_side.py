"""The ready side of a queue: how values leave its list, and the terms of its leases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from redisson_dq.calls.checks import check_count, check_index
from redisson_dq.calls.leased_side import LeasedSide
from redisson_dq.calls.long_calls import told_if_long
from redisson_dq.wire import calls, commands
from redisson_dq.wire.commands import End
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request, Word

__all__ = ["BoundedSide", "ReadySide"]

T = TypeVar("T")
U = TypeVar("U")

# Redis answers with so many values in some 1 ms.
_MANY = 10_000


class ReadySide(LeasedSide[T]):
    """A list of ready values, which calls take from, wait on, and lease from."""

    def main_keys(self, keys: QueueKeys) -> tuple[str, ...]:
        return (keys.ready,)

    def passing_keys(self, keys: QueueKeys) -> tuple[str, ...]:
        return (keys.arrivals,)

    # -- its list ----------------------------------------------------------------------------------------------------

    def pop_one(self, end: End) -> Request[T | None]:
        return self.working(commands.pop(self.keys.ready, end)).then(self.popped_one, aside=self.keys.undecodable)

    def pop_many(self, end: End, limit: int) -> Request[list[T]]:
        request = self.working(commands.pop_many(self.keys.ready, end, check_count(limit, self.name)))
        return self._told_if_many(request, limit).then(self.popped, aside=self.keys.undecodable)

    def pop_from(self, key: str, end: End, limit: int) -> Request[list[T]]:
        """Takes from this queue's list or from another, whose values are read in the same way."""
        if key == self.keys.ready:
            return self.pop_many(end, limit)
        request = commands.pop_many(key, end, limit)
        return request.then(lambda found: self.popped(found, key), aside=self.keys.undecodable)

    def _told_if_many(self, request: Request[U], limit: int) -> Request[U]:
        return told_if_long(request, self, "drain_to() or poll()") if limit > _MANY else request

    def move(self, destination: str, from_end: End, to_end: End) -> Request[bytes | None]:
        """Moves one value to the list with the key ``destination``, and gives its bytes."""
        return self.working(commands.move(self.keys.ready, destination, from_end, to_end))

    def take_away(self, which: str, args: Sequence[Word] = ()) -> Request[int]:
        """Takes values away undelivered (:func:`calls.remove_ready`). Their ids are forgotten."""
        return calls.remove_ready(self.keys, which, self.options.remember_ms, args)

    def deletion(self, lazily: bool) -> Request[int]:
        bounded = ("bounded",) if self.keys.capacity in self.main_keys(self.keys) else ()
        return self.take_away("unlink" if lazily else "delete", bounded)

    def remove_bytes(self, values: list[bytes]) -> Request[int]:
        """Removes all that equal one of them; gives how many there were."""
        return told_if_long(self.take_away("all", values), self, "remove_all() or remove_if()")

    def bytes_at(self, index: int) -> Request[bytes | None]:
        return commands.peek(self.keys.ready, check_index(index, self.name))


class BoundedSide(ReadySide[T]):
    """A list with a capacity. A value that is taken makes room, and wakes those who wait for room."""

    bounded = True

    def main_keys(self, keys: QueueKeys) -> tuple[str, ...]:
        return (keys.ready, keys.capacity)

    def pop_one(self, end: End) -> Request[T | None]:
        return self.pop_many(end, 1).then(lambda values: values[0] if values else None)

    def pop_many(self, end: End, limit: int) -> Request[list[T]]:
        request: Request[list[bytes]] = calls.take_bounded(self.keys, "poll", 0, (check_count(limit, self.name),), list)
        return self._told_if_many(self.working(request), limit).then(self.popped, aside=self.keys.undecodable)

    def move(self, destination: str, from_end: End, to_end: End) -> Request[bytes | None]:
        return self.working(calls.move_bounded(self.keys, destination, from_end, to_end))

    def remove_bytes(self, values: list[bytes]) -> Request[int]:
        request = calls.take_bounded(self.keys, "remove", self.options.remember_ms, values, int)
        return told_if_long(request, self, "remove_all() or remove_if()")
