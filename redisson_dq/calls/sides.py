"""The calls on all keys of a queue's side, which every kind of queue has."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from redisson_dq.calls.dumps import framed, unframed
from redisson_dq.calls.inspecting import figures, inspection
from redisson_dq.calls.long_calls import told_if_long
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import ArgumentError, RedisReplyError
from redisson_dq.inspection import QueueInspection
from redisson_dq.scheduling.times import Delay, from_ms, span_ms, to_ms
from redisson_dq.stats import QueueStats
from redisson_dq.wire import calls, commands
from redisson_dq.wire.calls import LeaseKeys
from redisson_dq.wire.request import Request

__all__ = ["SideRequests"]

T = TypeVar("T")
U = TypeVar("U")


class SideRequests(Generic[T]):
    """The calls on all keys of a queue's side. Each method gives a request; nothing is sent."""

    def __init__(self, side: OpenQueue[T]) -> None:
        self._queue = side

    # -- its keys ----------------------------------------------------------------------------------------------------

    def delete(self) -> Request[bool]:
        return self._told_if_long(self._queue.deletion(lazily=False), "delete()").then(bool)

    def unlink(self) -> Request[bool]:
        return self._queue.deletion(lazily=True).then(bool)

    def exists(self) -> Request[bool]:
        return commands.count_keys(self._queue.main_keys(self._queue.keys)).then(bool)

    def touch(self) -> Request[bool]:
        return commands.count_keys(self._queue.main_keys(self._queue.keys), touch=True).then(bool)

    def size_in_memory(self) -> Request[int]:
        return calls.memory(self._main_types())

    def stats(self) -> Request[QueueStats]:
        return figures(self._queue.name, self._looked_at())

    def inspect(self) -> Request[QueueInspection]:
        return inspection(self._queue.name, self._looked_at())

    def rename(self, new_name: str, *, if_free: bool = False) -> Request[bool]:
        channel = self._queue.woken(self._queue.keys_of(new_name))
        request = calls.rename(self._pairs(new_name), "if_free" if if_free else "always", channel)
        return request.then(self._rename_result)

    def copy(self, destination: str, *, replace: bool = False) -> Request[bool]:
        channel = self._queue.woken(self._queue.keys_of(destination))
        request = calls.copy(self._pairs(destination), "replace" if replace else "if_free", channel)
        return self._told_if_long(request, "copy()")

    def dump(self) -> Request[bytes | None]:
        return self._told_if_long(calls.dump(self._types(self._all_keys())), "dump()").then(framed)

    def restore(self, state: bytes, ttl: Delay | None = None, *, replace: bool = False) -> Request[bool]:
        keys = self._all_keys()
        dumps = unframed(state, len(keys), self._queue.name)
        ttl_ms = 0 if ttl is None else span_ms(ttl, self._queue.name, "a time to live")
        types = self._types(keys)
        types.update((f"redisson_dq_restoring_{number}:{_tagged(key)}", types[key]) for number, key in enumerate(keys))
        request = calls.restore(
            types, "replace" if replace else "if_free", ttl_ms, self._queue.woken(self._queue.keys), dumps
        )
        return self._told_if_long(request, "restore()")

    # -- its time to live --------------------------------------------------------------------------------------------

    def expire(self, ttl: Delay | datetime, when: str = "always") -> Request[bool]:
        if isinstance(ttl, datetime):
            return self.expire_at(ttl, when)
        return calls.expire(self._main_types(), "in", span_ms(ttl, self._queue.name, "a time to live"), when)

    def expire_at(self, moment: datetime, when: str = "always") -> Request[bool]:
        return calls.expire(self._main_types(), "at", to_ms(moment, self._queue.name, "the end of its life"), when)

    def clear_expire(self) -> Request[bool]:
        return calls.persist(self._main_types())

    def remain_time_to_live(self) -> Request[timedelta | None]:
        return calls.time_to_live(self._main_types()).then(
            lambda found: None if found[0] < 0 else timedelta(milliseconds=found[0])
        )

    def expire_time(self) -> Request[datetime | None]:
        return calls.time_to_live(self._main_types()).then(lambda found: None if found[0] < 0 else from_ms(found[1]))

    # -- inside ------------------------------------------------------------------------------------------------------

    def _looked_at(self) -> LeaseKeys:
        return LeaseKeys(queue=self._queue.keys, dead=self._queue.dead_keys)

    def _told_if_long(self, request: Request[U], what: str) -> Request[U]:
        return told_if_long(request, self._queue, what)

    def _all_keys(self) -> tuple[str, ...]:
        return self._queue.main_keys(self._queue.keys) + self._queue.side_keys(self._queue.keys)

    def _types(self, keys: Iterable[str]) -> dict[str, str]:
        return {key: self._queue.keys.type_of(key) for key in keys}

    def _main_types(self) -> dict[str, str]:
        return self._types(self._queue.main_keys(self._queue.keys))

    def _pairs(self, other_name: str) -> dict[str, str]:
        """This side's keys, then the keys that it would have under the other name."""
        other = self._queue.keys_of(other_name)
        if other == self._queue.keys:
            raise ArgumentError(f"queue {self._queue.name!r}: the other name is its own")
        types = self._types(self._all_keys() + self._queue.passing_keys(self._queue.keys))
        moved = self._queue.main_keys(other) + self._queue.side_keys(other) + self._queue.passing_keys(other)
        types.update((key, other.type_of(key)) for key in moved)
        return types

    def _rename_result(self, outcome: int) -> bool:
        if outcome < 0:
            raise RedisReplyError(f"queue {self._queue.name!r}: there is nothing to rename: no such key")
        return bool(outcome)


def _tagged(key: str) -> str:
    # Names in the same slot as the key itself: a key without a hash tag becomes the hash tag.
    return key if "{" in key else f"{{{key}}}"
