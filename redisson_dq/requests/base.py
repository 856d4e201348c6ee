"""What the calls of every queue have in common: its codec, and the calls on its keys as a whole."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from .._options import Options
from .._times import Delay, from_ms, span_ms, to_ms
from ..codecs.base import Codec
from ..errors import ArgumentError, DecodeError, EncodeError, QueueEmptyError, RedisReplyError
from ..scripts import calls
from ..wire import commands
from ..wire.keys import QueueKeys, map_name
from ..wire.request import Request

__all__ = ["ObjectRequests", "check_count", "check_function", "check_index", "nothing"]

T = TypeVar("T")
U = TypeVar("U")

# What stands before the dumps of an object with several keys: a mark of ours, then the length of each dump.
_DUMP_MARK = b"redisson_dq 1\n"


class ObjectRequests(Generic[T]):
    """One queue's calls on its keys as a whole. Each method gives a request; nothing is sent."""

    def __init__(self, keys: QueueKeys, name: str, codec: Codec, options: Options) -> None:
        self.keys = keys
        self.name = name
        self.codec = codec
        self.options = options

    def main_keys(self, keys: QueueKeys) -> tuple[str, ...]:
        """The keys that Redisson's object of this kind has."""
        raise NotImplementedError

    def side_keys(self, keys: QueueKeys) -> tuple[str, ...]:
        """The keys of ours that go where the object goes."""
        return ()

    def woken(self, keys: QueueKeys) -> str:
        """The channel on which clients learn that there is something new, or nothing."""
        return ""

    # -- the object --------------------------------------------------------------------------------------------------

    def delete(self) -> Request[bool]:
        return commands.delete(self._all_keys()).then(bool)

    def unlink(self) -> Request[bool]:
        return commands.delete(self._all_keys(), lazily=True).then(bool)

    def exists(self) -> Request[bool]:
        return commands.count_keys(self.main_keys(self.keys)).then(bool)

    def touch(self) -> Request[bool]:
        return commands.count_keys(self.main_keys(self.keys), touch=True).then(bool)

    def size_in_memory(self) -> Request[int]:
        return calls.memory(self._main_types())

    def rename(self, new_name: str, *, if_free: bool = False) -> Request[bool]:
        channel = self.woken(self.keys_of(new_name))
        request = calls.rename(self._pairs(new_name), "if_free" if if_free else "always", channel)
        return request.then(self._renamed)

    def copy(self, destination: str, *, replace: bool = False) -> Request[bool]:
        channel = self.woken(self.keys_of(destination))
        return calls.copy(self._pairs(destination), "replace" if replace else "if_free", channel)

    def dump(self) -> Request[bytes | None]:
        return calls.dump(self._types(self._all_keys())).then(_framed)

    def restore(self, state: bytes, ttl: Delay | None = None, *, replace: bool = False) -> Request[bool]:
        keys = self._all_keys()
        dumps = self._unframed(state, len(keys))
        ttl_ms = 0 if ttl is None else span_ms(ttl, self.name, "a time to live")
        types = self._types(keys)
        types.update((f"redisson_dq_restoring_{number}:{_tagged(key)}", types[key]) for number, key in enumerate(keys))
        return calls.restore(types, "replace" if replace else "if_free", ttl_ms, self.woken(self.keys), dumps)

    # -- its time to live --------------------------------------------------------------------------------------------

    def expire(self, ttl: Delay | datetime, when: str = "always") -> Request[bool]:
        if isinstance(ttl, datetime):
            return self.expire_at(ttl, when)
        return calls.expire(self._main_types(), "in", span_ms(ttl, self.name, "a time to live"), when)

    def expire_at(self, moment: datetime, when: str = "always") -> Request[bool]:
        return calls.expire(self._main_types(), "at", to_ms(moment, self.name, "the end of its life"), when)

    def clear_expire(self) -> Request[bool]:
        return calls.persist(self._main_types())

    def remain_time_to_live(self) -> Request[timedelta | None]:
        return calls.time_to_live(self._main_types()).then(
            lambda found: None if found[0] < 0 else timedelta(milliseconds=found[0])
        )

    def expire_time(self) -> Request[datetime | None]:
        return calls.time_to_live(self._main_types()).then(lambda found: None if found[0] < 0 else from_ms(found[1]))

    # -- values ------------------------------------------------------------------------------------------------------

    def encode(self, value: T) -> bytes:
        """Raises EncodeError."""
        try:
            return self.codec.encode(value)
        except EncodeError as error:
            error.args = (f"queue {self.name!r}: {error}",)
            raise
        except Exception as error:
            message = f"queue {self.name!r}: {self.codec.name}: {error!r}"
            raise EncodeError(message, codec=self.codec.name) from error

    def encode_all(self, values: Iterable[T]) -> list[bytes]:
        """Raises EncodeError, and ArgumentError for what is no collection of values."""
        return [self.encode(value) for value in self.collected(values)]

    def collected(self, values: Iterable[U]) -> list[U]:
        """Raises ArgumentError for what is no collection: a text would be one of its letters."""
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise ArgumentError(f"queue {self.name!r}: a collection of values is wanted, not {values!r}")
        return list(values)

    def popped(self, found: list[bytes]) -> list[T]:
        """Decodes values that exist nowhere else any more. Raises one DecodeError with all that could not be read."""
        values, error = self._decode(found)
        if error is not None:
            raise error
        return values

    def popped_one(self, data: bytes | None) -> T | None:
        return None if data is None else self.popped([data])[0]

    def in_place(self, found: list[bytes], kept_in: str) -> list[T]:
        """Decodes values that stay in Redis, under the key ``kept_in``. Raises DecodeError like :meth:`popped`."""
        values, error = self._decode(found)
        if error is not None:
            error.kept_in = kept_in
            raise error
        return values

    def chosen(self, found: list[bytes], kept_in: str, condition: Callable[[T], bool]) -> list[bytes]:
        """The distinct bytes of the values that the condition is true for. Raises like :meth:`in_place`."""
        values = self.in_place(found, kept_in)
        return list(dict.fromkeys(data for data, value in zip(found, values, strict=True) if condition(value)))

    def _decode(self, found: list[bytes]) -> tuple[list[T], DecodeError | None]:
        """The values that could be read, and the error that stands for all the others."""
        values: list[T] = []
        first: DecodeError | None = None
        undecodable: list[bytes] = []
        for data in found:
            try:
                values.append(self.codec.decode(data))
            except Exception as error:
                undecodable.append(data)
                if first is None:
                    first = self._decode_error(error, data)
        if first is not None:
            first.data = undecodable[0]
            first.decoded, first.undecodable = list(values), undecodable
        return values, first

    def _decode_error(self, error: Exception, data: bytes) -> DecodeError:
        if isinstance(error, DecodeError):
            return error
        made = DecodeError(f"{self.codec.name}: {error!r}", codec=self.codec.name, data=data)
        made.__cause__ = error
        return made

    def there(self, found: U | None) -> U:
        """Raises QueueEmptyError when there is nothing."""
        if found is None:
            raise QueueEmptyError(f"queue {self.name!r}: it is empty")
        return found

    # -- keys --------------------------------------------------------------------------------------------------------

    def keys_of(self, name: str) -> QueueKeys:
        """The keys of another queue, by its name before the name mapper."""
        try:
            return QueueKeys.of(map_name(name, self.options.name_mapper))
        except ArgumentError as error:
            raise ArgumentError(f"queue {self.name!r}: {error}") from None

    def _all_keys(self) -> tuple[str, ...]:
        return self.main_keys(self.keys) + self.side_keys(self.keys)

    def _types(self, keys: Iterable[str]) -> dict[str, str]:
        return {key: self.keys.type_of(key) for key in keys}

    def _main_types(self) -> dict[str, str]:
        return self._types(self.main_keys(self.keys))

    def _pairs(self, other_name: str) -> dict[str, str]:
        """This object's keys, then those it would have under the other name."""
        other = self.keys_of(other_name)
        if other == self.keys:
            raise ArgumentError(f"queue {self.name!r}: the other name is its own")
        types = self._types(self._all_keys())
        types.update((key, other.type_of(key)) for key in self.main_keys(other) + self.side_keys(other))
        return types

    def _renamed(self, outcome: int) -> bool:
        if outcome < 0:
            raise RedisReplyError(f"queue {self.name!r}: there is nothing to rename: no such key")
        return bool(outcome)

    def _unframed(self, state: bytes, count: int) -> list[bytes]:
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise ArgumentError(f"queue {self.name!r}: restore takes the bytes that dump() gave, not {state!r}")
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
        raise ArgumentError(f"queue {self.name!r}: restore takes the bytes that dump() of such a queue gave")


def _framed(dumps: list[bytes]) -> bytes | None:
    if not any(dumps):
        return None
    if len(dumps) == 1:
        return dumps[0]
    lengths = struct.pack(f"<{len(dumps)}Q", *map(len, dumps))
    return b"".join((_DUMP_MARK, lengths, *dumps))


def _tagged(key: str) -> str:
    # In the same slot as the key itself: a key without a hash tag becomes one.
    return key if "{" in key else f"{{{key}}}"


def check_count(value: object, name: str, what: str = "a limit") -> int:
    """Raises ArgumentError for anything but a positive int."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ArgumentError(f"queue {name!r}: {what} is a positive int, not {value!r}")
    return value


def check_function(value: U, name: str) -> U:
    """Raises ArgumentError for what cannot be called."""
    if not callable(value):
        raise ArgumentError(f"queue {name!r}: a function of one value is wanted, not {value!r}")
    return value


def check_index(value: object, name: str) -> int:
    """Raises ArgumentError for anything but an int."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentError(f"queue {name!r}: an index is an int, not {value!r}")
    return value


def nothing(result: object) -> None:
    """Leaves out a result that tells nothing."""
