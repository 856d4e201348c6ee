"""The calls on the keys of a queue as a whole, which every kind of queue has."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from redisson_dq._common.texts import shown
from redisson_dq.calls.checks import check_index
from redisson_dq.calls.inspecting import figures, inspection
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import ArgumentError, RedisReplyError
from redisson_dq.inspection import QueueInspection
from redisson_dq.scheduling.times import Delay, from_ms, span_ms, to_ms
from redisson_dq.stats import QueueStats
from redisson_dq.wire.calls.base import call_on
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["WholeRequests"]

T = TypeVar("T")

# The head of the dumps of several keys: a mark of ours, then the length of each dump.
_DUMP_MARK = b"redisson_dq 1\n"


class WholeRequests(Generic[T]):
    """The calls on all keys of a queue. Each method gives a request; nothing is sent."""

    def __init__(self, queue: OpenQueue[T]) -> None:
        self._queue = queue

    # -- its keys ----------------------------------------------------------------------------------------------------

    def delete(self) -> Request[bool]:
        return self._queue.told_if_long(self._deletion("DEL"), "delete()")

    def unlink(self) -> Request[bool]:
        return self._deletion("UNLINK")

    def _deletion(self, command: str) -> Request[bool]:
        keys = _types(self._queue.keys, self._queue.kind.every)
        return Request(words=(command, *keys), types=dict.fromkeys(keys, ""), parse=bool)

    def exists(self) -> Request[bool]:
        keys = self._main()
        return Request(words=("EXISTS", *keys), types=dict.fromkeys(keys, ""), parse=bool)

    def touch(self) -> Request[bool]:
        keys = self._main()
        return Request(words=("TOUCH", *keys), types=dict.fromkeys(keys, ""), parse=bool)

    def size_in_memory(self) -> Request[int]:
        return call_on("memory", self._main(), (), int)

    def stats(self) -> Request[QueueStats]:
        return figures(self._queue.name, self._queue.lease_keys)

    def inspect(self) -> Request[QueueInspection]:
        return inspection(self._queue.name, self._queue.lease_keys)

    def rename(self, new_name: str, *, if_free: bool = False) -> Request[bool]:
        types, channel = self._pairs(new_name)
        return call_on("rename", types, ("if_free" if if_free else "always", channel), self._renamed)

    def copy(self, destination: str, *, replace: bool = False) -> Request[bool]:
        types, channel = self._pairs(destination)
        request = call_on("copy", types, ("replace" if replace else "if_free", channel), bool)
        return self._queue.told_if_long(request, "copy()")

    def dump(self) -> Request[bytes | None]:
        queue = self._queue
        return queue.told_if_long(call_on("dump", _types(queue.keys, queue.kind.dumped), (), _framed), "dump()")

    def restore(self, state: bytes, ttl: Delay | None = None, *, replace: bool = False) -> Request[bool]:
        queue = self._queue
        types = _types(queue.keys, queue.kind.dumped)
        dumps = _unframed(state, len(types), queue.name)
        ttl_ms = 0 if ttl is None else span_ms(ttl, queue.name, "a time to live")
        types |= {f"redisson_dq_restoring_{i}:{_tagged(key)}": kind for i, (key, kind) in enumerate(types.items())}
        args = ("replace" if replace else "if_free", ttl_ms, self._channel(queue.keys), *dumps)
        return queue.told_if_long(call_on("restore", types, args, bool), "restore()")

    # -- its time to live --------------------------------------------------------------------------------------------

    def expire(self, ttl: Delay | datetime, when: str = "always") -> Request[bool]:
        if isinstance(ttl, datetime):
            return self.expire_at(ttl, when)
        return call_on("expire", self._main(), ("in", span_ms(ttl, self._queue.name, "a time to live"), when), bool)

    def expire_at(self, moment: datetime, when: str = "always") -> Request[bool]:
        return call_on(
            "expire", self._main(), ("at", to_ms(moment, self._queue.name, "the end of its life"), when), bool
        )

    def clear_expire(self) -> Request[bool]:
        return call_on("persist", self._main(), (), bool)

    def remain_time_to_live(self) -> Request[timedelta | None]:
        return call_on("time_to_live", self._main(), (), _remaining)

    def expire_time(self) -> Request[datetime | None]:
        return call_on("time_to_live", self._main(), (), _end)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _indexes(self, start: int, stop: int) -> tuple[int, int]:
        return check_index(start, self._queue.name), check_index(stop, self._queue.name)

    def _main(self) -> dict[str, str]:
        return _types(self._queue.keys, self._queue.kind.main)

    def _channel(self, keys: QueueKeys) -> str:
        """The channel on which clients learn of a new head; empty where there is none."""
        name = self._queue.kind.channel
        return "" if name is None else getattr(keys, name)

    def _pairs(self, other_name: str) -> tuple[dict[str, str], str]:
        """The keys of the queue, then those that it would have under the other name; the channel of these."""
        queue = self._queue
        other = queue.keys_of(other_name)
        if other == queue.keys:
            raise ArgumentError(f"queue {queue.name!r}: the new name is its own")
        types = _types(queue.keys, queue.kind.every)
        return types | _types(other, queue.kind.every), self._channel(other)

    def _renamed(self, outcome: int) -> bool:
        if outcome < 0:
            raise RedisReplyError(f"queue {self._queue.name!r}: there is nothing to rename: no such key")
        return bool(outcome)


def _types(keys: QueueKeys, names: Iterable[str]) -> dict[str, str]:
    """The keys of these names, with their types."""
    return {key: keys.type_of(key) for key in (getattr(keys, name) for name in names)}


def _remaining(reply: list[int]) -> timedelta | None:
    """The script gives the time to live in ms (-1: for ever, -2: no key), and its end in epoch ms."""
    return None if reply[0] < 0 else timedelta(milliseconds=reply[0])


def _end(reply: list[int]) -> datetime | None:
    return None if reply[0] < 0 else from_ms(reply[1])


def _tagged(key: str) -> str:
    # Names in the same slot as the key itself: a key without a hash tag becomes the hash tag.
    return key if "{" in key else f"{{{key}}}"


# -- the dumps of several keys, as one text of bytes -----------------------------------------------------------------


def _framed(dumps: list[bytes]) -> bytes | None:
    """One dump for all keys. A single key's dump is left as it is. None where no key has a dump."""
    if not any(dumps):
        return None
    if len(dumps) == 1:
        return dumps[0]
    lengths = struct.pack(f"<{len(dumps)}Q", *map(len, dumps))
    return b"".join((_DUMP_MARK, lengths, *dumps))


def _unframed(state: bytes, count: int, name: str) -> list[bytes]:
    """One dump for each of this many keys. Raises ArgumentError for bytes that :func:`_framed` did not give."""
    if not isinstance(state, (bytes, bytearray, memoryview)):
        raise ArgumentError(f"queue {name!r}: restore takes the bytes that dump() returned, not {shown(state)}")
    state = bytes(state)
    if count == 1:
        return [state]
    head = struct.Struct(f"<{count}Q")
    start = len(_DUMP_MARK) + head.size
    if state.startswith(_DUMP_MARK) and len(state) >= start:
        lengths = head.unpack_from(state, len(_DUMP_MARK))
        if start + sum(lengths) == len(state):
            dumps = []
            for length in lengths:
                dumps.append(state[start : start + length])
                start += length
            return dumps
    raise ArgumentError(f"queue {name!r}: restore takes the bytes that dump() of such a queue returned")
