# Generated from redisson_dq/_async/queues.py by .ci/unasync.py. Do not edit: edit that file and run it.

"""The queue handles: the delayed side, and the ready side that consumers take from."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .._pairs import finish
from .._times import Delay, due_word, timeout_seconds
from ..codecs.base import Codec
from ..errors import ArgumentError, ClosedError, DecodeError, EncodeError, RedissonDQError
from ..scripts import calls
from ..wire import commands
from ..wire.envelope import Quarantined, unwrap
from ..wire.keys import QueueKeys
from ..wire.request import Word
from .mover import warn_of_quarantine

if TYPE_CHECKING:
    from .client import Client

__all__ = ["BlockingDeque", "BlockingQueue", "DelayedQueue"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")
Self = TypeVar("Self", bound="_Handle[Any]")

# One script call of offer_all() takes at most so many values and, beyond its first value, so many bytes.
_BATCH_VALUES = 1000
_BATCH_BYTES = 1_000_000

# So short a wait may be over before a blocking pop has its connection: it looks first, then waits.
_SHORT_WAIT = 0.5


class _Handle(Generic[T]):
    """What the two sides of a queue have in common."""

    def __init__(self, client: Client, keys: QueueKeys, name: str, codec: Codec, transfer: bool) -> None:
        self._client = client
        self._connections = client._connections
        self._open = True
        #: The Redis keys of this queue.
        self.keys = keys
        #: The name as it was given, before the name mapper.
        self.name = name
        #: What turns values into bytes.
        self.codec = codec
        #: Whether this handle makes its client move the queue's due items.
        self.transfer = transfer

    def __repr__(self) -> str:
        state = "" if self._open else ", destroyed"
        return f"{type(self).__name__}({self.name!r}, {self.codec!r}{state})"

    def destroy(self) -> None:
        """Closes this handle; the data stays. May be called twice. A round trip when a blocked pop has to end.

        With the last open handle that has ``transfer=True`` this client stops moving the queue's due items (other
        processes go on); with the last handle of any kind, a ``take()`` that still waits raises ClosedError.

        Answers to ``RDestroyable.destroy()``.
        """
        if self._open:
            self._open = False
            self._client._destroyed(self)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.destroy()

    def _check(self) -> None:
        if not self._open:
            raise ClosedError(f"queue {self.name!r}: this handle was destroyed; open another one from the client")

    def _encode(self, value: T) -> bytes:
        try:
            return self.codec.encode(value)
        except EncodeError:
            raise
        except Exception as error:
            raise EncodeError(f"{self.codec.name}: {error!r}", codec=self.codec.name) from error

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

    def _decode_popped(self, popped: list[bytes]) -> list[T]:
        """Decodes values that were taken out of Redis; what cannot be read is put into the undecodable list.

        With ``undecodable="skip"`` it is left out then; else, and when it could not be put there, it raises.
        """
        values, error = self._decode(popped)
        if error is None:
            return values
        keep = commands.keep_undecodable(self.keys, error.undecodable)
        try:
            # A cancelled caller has nobody to give the bytes to, so they are put away in any case.
            finish(self._connections.run(keep))
        except RedissonDQError as failure:
            raise error from failure
        error.kept_in = self.keys.undecodable
        if self._client._options.undecodable == "skip":
            logger.warning("queue %r: skipped %d values: %s", self.name, len(error.undecodable), error)
            return values
        raise error

    def _decode_in_place(self, found: list[bytes], kept_in: str) -> list[T]:
        """Decodes values that stay in Redis."""
        values, error = self._decode(found)
        if error is None:
            return values
        error.kept_in = kept_in
        raise error


class BlockingQueue(_Handle[T]):
    """The queue that due items arrive in. Made by ``client.blocking_queue(name)``.

    Taking is at most once: an item that was taken is gone from Redis, as with Redisson. ``take()`` and
    ``poll(timeout=)`` never lose one by being cancelled, interrupted or closed; a crash of the process, or a
    connection that breaks while the reply is on its way, does.
    """

    def take(self) -> T:
        """Waits for the next value and takes it. All waiting callers of a client share one connection per queue.

        Goes on waiting when the connection breaks. Raises ClosedError when the client or the last handle of the
        queue is closed meanwhile, DecodeError (with the bytes, which are kept in Redis), WrongTypeError,
        RedisReplyError. One command, O(1).

        Answers to ``RBlockingQueue.take()``.
        """
        return self._take("first")

    @overload
    def poll(self) -> T | None: ...

    @overload
    def poll(self, *, timeout: Delay) -> T | None: ...

    @overload
    def poll(self, limit: int) -> list[T]: ...

    def poll(self, limit: int | None = None, *, timeout: Delay | None = None) -> T | list[T] | None:
        """Takes the head: at once, within ``timeout`` (seconds or timedelta), or up to ``limit`` values at once.

        Gives None, or an empty list, when there is nothing. Raises like :meth:`take`, and RedisConnectionError when
        Redis cannot be reached. A DecodeError of ``poll(limit)`` carries the values that could be read in
        ``decoded``. One command, O(1) or O(limit); a timeout that passes costs one more, one
        below 0.5 s two.

        Answers to ``RQueue.poll()``, ``poll(limit)``, ``RBlockingQueue.poll(timeout, unit)``.
        """
        return self._poll("first", limit, timeout)

    def read_all(self) -> list[T]:
        """Every ready value, none taken. O(n), one command.

        Raises DecodeError, WrongTypeError, RedisConnectionError. Answers to ``RQueue.readAll()``.
        """
        self._check()
        found = self._connections.run(commands.slice_of(self.keys.ready))
        return self._decode_in_place(found, self.keys.ready)

    def size(self) -> int:
        """How many values are ready. O(1), one command. Answers to ``RQueue.size()``."""
        self._check()
        return self._connections.run(commands.length_of(self.keys.ready))

    def is_empty(self) -> bool:
        """Whether no value is ready. O(1), one command. Answers to ``RQueue.isEmpty()``."""
        return self.size() == 0

    def read_undecodable(self, start: int = 0, stop: int = 99) -> list[bytes]:
        """Bytes that were taken and could not be decoded, oldest first, from index ``start`` to ``stop``.

        They stay in the list ``keys.undecodable`` until you remove them. O(n), one command. Redisson has none.
        """
        self._check()
        return self._connections.run(commands.slice_of(self.keys.undecodable, start, stop))

    def __len__(self) -> int:
        """Same as :meth:`size`."""
        return self.size()

    def __bool__(self) -> bool:
        """A handle is true, also when its queue is empty."""
        return True

    def _take(self, end: commands.End) -> T:
        values: list[T] = []
        while not values:
            self._check()
            data = self._client._receiver(self.keys.ready, end).receive(None)
            assert data is not None
            values = self._decode_popped([data])
        return values[0]

    def _poll(self, end: commands.End, limit: int | None, timeout: Delay | None) -> T | list[T] | None:
        self._check()
        key = self.keys.ready
        if limit is not None:
            if timeout is not None:
                raise ArgumentError(f"queue {self.name!r}: poll takes limit or timeout=, not both")
            _check_limit(limit, self.name)
            while True:
                popped = self._connections.run(commands.pop_many(key, end, limit))
                values = self._decode_popped(popped)
                if values or not popped:
                    return values
        seconds = 0.0 if timeout is None else timeout_seconds(timeout, self.name)
        deadline = time.monotonic() + seconds
        while True:
            data = None
            if seconds < _SHORT_WAIT:
                data = self._connections.run(commands.pop(key, end))
            if data is None and seconds:
                data = self._client._receiver(key, end).receive(seconds)
            if data is None:
                return None
            values = self._decode_popped([data])
            if values:
                return values[0]
            seconds = max(0.0, deadline - time.monotonic())


class BlockingDeque(BlockingQueue[T]):
    """A queue that is taken from at both ends. Made by ``client.blocking_deque(name)``.

    ``take()`` and ``poll()`` are those of the first end.
    """

    def take_first(self) -> T:
        """Same as :meth:`take`. Answers to ``RBlockingDeque.takeFirst()``."""
        return self._take("first")

    def take_last(self) -> T:
        """Waits for a value and takes the last one. Like :meth:`take`. Answers to ``RBlockingDeque.takeLast()``."""
        return self._take("last")

    @overload
    def poll_first(self) -> T | None: ...

    @overload
    def poll_first(self, *, timeout: Delay) -> T | None: ...

    @overload
    def poll_first(self, limit: int) -> list[T]: ...

    def poll_first(self, limit: int | None = None, *, timeout: Delay | None = None) -> T | list[T] | None:
        """Same as :meth:`poll`. Answers to ``RBlockingDeque.pollFirst(...)``."""
        return self._poll("first", limit, timeout)

    @overload
    def poll_last(self) -> T | None: ...

    @overload
    def poll_last(self, *, timeout: Delay) -> T | None: ...

    @overload
    def poll_last(self, limit: int) -> list[T]: ...

    def poll_last(self, limit: int | None = None, *, timeout: Delay | None = None) -> T | list[T] | None:
        """Like :meth:`poll`, at the last end. Answers to ``RBlockingDeque.pollLast(...)``."""
        return self._poll("last", limit, timeout)


class DelayedQueue(_Handle[T]):
    """The values that wait for their time. Made by ``client.delayed_queue(queue_or_name)``.

    They live in Redis alone, so they survive every process, and any process that has the queue open moves them: ours
    and Redisson's. Due times are on the Redis server's clock; this machine's clock plays no part.
    """

    def offer(self, value: T, delay: Delay | None = None, at: datetime | None = None) -> None:
        """Adds a value that becomes ready after ``delay`` (seconds or timedelta), or at ``at`` (an aware datetime).

        Never ready sooner than that, and due times are whole milliseconds. An ``at`` in the past means at once.
        Atomic; one round trip, O(log n).

        Raises ArgumentError, EncodeError, WrongTypeError, RedisReplyError; nothing was added then. Raises
        RedisConnectionError when no reply came: its ``maybe_done`` tells whether the value may have been added. It is
        never sent again on its own, as that could add it twice.

        Answers to ``RDelayedQueue.offer(e, delay, unit)``.
        """
        self._check()
        words = (due_word(self.name, delay, at), self._encode(value))
        self._connections.run(calls.offer(self.keys, self._client._options.envelope, words))

    def offer_all(self, values_and_delays: Iterable[tuple[T, Delay]]) -> int:
        """Adds many values, each with its own delay; gives their number.

        Everything is checked and encoded before anything is sent. One round trip for 1,000 values or 1 MB, each
        batch atomic. O(k log n). Raises like :meth:`offer`; when Redis refuses a batch or cannot be reached, the
        batches before it are in, and the message says how many values that is.

        Redisson has no such call; it answers to a loop of ``RDelayedQueue.offerAsync``.
        """
        self._check()
        batches = list(_batches(self._words_of(pair) for pair in values_and_delays))
        offered = 0
        for batch in batches:
            try:
                offered += self._connections.run(calls.offer(self.keys, self._client._options.envelope, batch))
            except RedissonDQError as error:
                total = sum(len(words) // 2 for words in batches)
                error.args = (f"{error}; {offered} of {total} values were offered before",)
                raise
        return offered

    def _words_of(self, pair: tuple[T, Delay]) -> tuple[str, bytes]:
        try:
            value, delay = pair
        except (TypeError, ValueError):
            raise ArgumentError(
                f"queue {self.name!r}: offer_all takes pairs of value and delay, not {pair!r}"
            ) from None
        return due_word(self.name, delay, None), self._encode(value)

    @overload
    def poll(self) -> T | None: ...

    @overload
    def poll(self, limit: int) -> list[T]: ...

    def poll(self, limit: int | None = None) -> T | list[T] | None:
        """Takes the value that was offered first, or up to ``limit`` of them, before they are due.

        Gives None, or an empty list, when nothing waits. Atomic; one round trip, O(limit log n). Raises
        DecodeError (the bytes are kept in Redis), WrongTypeError, RedisConnectionError.

        Answers to ``RDelayedQueue.poll()`` and ``poll(limit)``; the order is that of the offers, as there.
        """
        self._check()
        wanted = 1 if limit is None else limit
        _check_limit(wanted, self.name)
        while True:
            popped = self._pop_waiting(wanted)
            values = self._decode_popped(popped)
            if values or not popped:
                break
        if limit is not None:
            return values
        return values[0] if values else None

    def _pop_waiting(self, wanted: int) -> list[bytes]:
        popped: list[bytes] = []
        while len(popped) < wanted:
            more, set_aside = self._connections.run(calls.poll(self.keys, wanted - len(popped)))
            popped += more
            # Members in no envelope format take a place in the limit; go on behind them.
            if not set_aside:
                break
            warn_of_quarantine(self.keys, set_aside)
        return popped

    def peek(self) -> T | None:
        """The value that was offered first, or None; it stays. O(1), one command.

        Raises DecodeError, EnvelopeError, WrongTypeError, RedisConnectionError. Answers to ``RDelayedQueue.peek()``.
        """
        self._check()
        member = self._connections.run(commands.peek(self.keys.envelopes))
        if member is None:
            return None
        return self._decode_in_place([unwrap(member)[1]], self.keys.envelopes)[0]

    def read_all(self) -> list[T]:
        """Every waiting value in the order of the offers; they stay. O(n), one command.

        Raises DecodeError, EnvelopeError, WrongTypeError, RedisConnectionError.
        Answers to ``RDelayedQueue.readAll()``.
        """
        self._check()
        members = self._connections.run(commands.slice_of(self.keys.envelopes))
        return self._decode_in_place([unwrap(member)[1] for member in members], self.keys.envelopes)

    def size(self) -> int:
        """How many values wait. O(1), one command. Answers to ``RDelayedQueue.size()``."""
        self._check()
        return self._connections.run(commands.length_of(self.keys.envelopes))

    def is_empty(self) -> bool:
        """Whether nothing waits. O(1), one command. Answers to ``RDelayedQueue.isEmpty()``."""
        return self.size() == 0

    def read_quarantine(self, start: int = 0, stop: int = 99) -> list[Quarantined]:
        """Members that were in neither envelope format, oldest first, from index ``start`` to ``stop``.

        They stay in the list ``keys.quarantine`` until you remove them. O(n), one command. Redisson has none.
        """
        self._check()
        elements = self._connections.run(commands.slice_of(self.keys.quarantine, start, stop))
        return [Quarantined.parse(element) for element in elements]

    def __len__(self) -> int:
        """Same as :meth:`size`."""
        return self.size()

    def __bool__(self) -> bool:
        """A handle is true, also when its queue is empty."""
        return True


def _batches(dues_and_values: Iterable[tuple[str, bytes]]) -> Iterable[list[Word]]:
    batch: list[Word] = []
    size = 0
    for due, value in dues_and_values:
        if len(batch) == 2 * _BATCH_VALUES or (batch and size + len(value) > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(due)
        batch.append(value)
        size += len(value)
    if batch:
        yield batch


def _check_limit(limit: object, name: str) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ArgumentError(f"queue {name!r}: a limit is a positive int, not {limit!r}")
