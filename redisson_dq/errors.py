"""Every error this library raises, under one root.

``RedissonDQError`` is the root. The errors below it are split by their cause: the caller's arguments, the connection,
the data in Redis, or the life cycle of our objects. An error that stands for a built-in kind (a bad argument, a
timeout) also inherits the built-in, so existing handlers work.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

__all__ = [
    "ArgumentError",
    "ClosedError",
    "CodecError",
    "CrossSlotError",
    "DecodeError",
    "DuplicateItemError",
    "DurabilityError",
    "EncodeError",
    "EnvelopeError",
    "LeaseLostError",
    "QueueEmptyError",
    "QueueFullError",
    "RedisConnectionError",
    "RedisReplyError",
    "RedissonDQError",
    "ServerFullError",
    "ServerNotFoundError",
    "ServerSettingError",
    "WrongTypeError",
]


class RedissonDQError(Exception):
    """The root of all errors of this library."""


class ArgumentError(RedissonDQError, ValueError):
    """An argument cannot be used: a negative delay, an empty name, a bad URL. Nothing was sent to Redis."""


class ClosedError(RedissonDQError, RuntimeError):
    """The client or the queue handle was closed. Open a new one."""


class RedisConnectionError(RedissonDQError, ConnectionError):
    """Redis cannot be reached, or the connection broke before the reply came.

    ``maybe_done`` is true when the command had been sent: Redis may have carried it out.
    """

    def __init__(self, message: str, *, maybe_done: bool = False) -> None:
        super().__init__(message)
        self.maybe_done = maybe_done


class RedisReplyError(RedissonDQError):
    """Redis answered with an error that has no class of its own here (NOAUTH, NOPERM, READONLY, ...).

    ``maybe_done`` is true when a script was refused a command after it may have written something, which only a server
    before Redis 7 does. Of any other error nothing was done.
    """

    def __init__(self, message: str, *, maybe_done: bool = False) -> None:
        super().__init__(message)
        self.maybe_done = maybe_done


class ServerFullError(RedisReplyError):
    """Redis has reached its ``maxmemory`` and refuses what needs more memory. Nothing was done.

    What frees memory goes on: items fall due and are delivered, taken, cancelled and removed.
    """


class WrongTypeError(RedisReplyError):
    """A key of the queue holds another type than the wire asks for.

    ``key`` names it, ``expected`` and ``found`` are Redis type names (``list``, ``zset``, ``string`` ...).
    """

    def __init__(self, message: str, *, key: str, expected: str, found: str) -> None:
        super().__init__(message)
        self.key = key
        self.expected = expected
        self.found = found


class CrossSlotError(RedisReplyError):
    """The keys of one call are on different nodes of a cluster, so no command can touch them all.

    Queues that take part in one call need the same hash tag in their names: ``{shop}orders`` and ``{shop}done``.
    """


class QueueEmptyError(RedissonDQError, LookupError):
    """A call that needs a value found the queue empty. Redisson throws NoSuchElementException."""


class QueueFullError(RedissonDQError):
    """The queue holds as many values as it may. Nothing was added."""


class DuplicateItemError(RedissonDQError):
    """An offer was refused, as an item with the same id (or the same payload) already stands. Nothing was added.

    ``id`` is that item's id, ``due`` its due time, ``state`` what became of it: ``waiting``, ``delivered`` or
    ``expired``.
    """

    def __init__(self, message: str, *, id: str, due: datetime, state: str) -> None:
        super().__init__(message)
        self.id = id
        self.due = due
        self.state = state


class DurabilityError(RedissonDQError):
    """The change was made, and fewer have confirmed it in time than ``durable=`` asked for. It is not undone.

    ``maybe_done`` is always true. ``replicas`` is how many replicas have confirmed it, ``fsynced`` whether the server
    has written it to its disk (None where that was not asked for). Both are None when the server cannot tell.
    """

    def __init__(self, message: str, *, replicas: int | None, fsynced: bool | None) -> None:
        super().__init__(message)
        self.maybe_done = True
        self.replicas = replicas
        self.fsynced = fsynced


class LeaseLostError(RedissonDQError):
    """A lease that a transaction depends on had ended, so nothing of the transaction was done."""


class EnvelopeError(RedissonDQError):
    """Bytes of the delayed queue are in neither of Redisson's two envelope formats.

    ``member`` keeps the bytes.
    """

    def __init__(self, message: str, *, member: bytes) -> None:
        super().__init__(message)
        self.member = member


class CodecError(RedissonDQError):
    """A value and its bytes do not fit the codec. ``codec`` is the codec's name."""

    def __init__(self, message: str, *, codec: str) -> None:
        super().__init__(message)
        self.codec = codec


class EncodeError(CodecError, TypeError):
    """The codec has no bytes for this value. ``path`` says where inside it: ``$``, ``$[2]``, ``$['sku']``."""

    def __init__(self, message: str, *, codec: str, path: str = "$") -> None:
        super().__init__(message, codec=codec)
        self.path = path


class DecodeError(CodecError, ValueError):
    """These bytes are no value of the codec.

    ``data`` keeps the bytes and ``offset`` is where reading stopped. When the bytes came from a queue, ``kept_in``
    names the Redis key they are in, so nothing is lost. It is None when they came from elsewhere, or when Redis did not
    take them back. Then ``data`` and ``undecodable`` hold the only copy, and ``__cause__`` the reason.
    """

    def __init__(self, message: str, *, codec: str, data: bytes, offset: int = 0) -> None:
        super().__init__(message, codec=codec)
        self.data = data
        self.offset = offset
        self.kept_in: str | None = None
        #: Of the same reply (``poll(limit)``, ``read_all``): the values that could be read, the bytes that could not.
        self.decoded: list[Any] = []
        self.undecodable: list[bytes] = [data]

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.kept_in is None else f"{text}; the bytes are kept in {self.kept_in!r}"


class ServerSettingError(RedissonDQError):
    """The server is not set up for an option that was asked for. The message says which setting to change."""


class ServerNotFoundError(RedissonDQError):
    """No Redis server program was found to start. The message lists the ways to get one."""
