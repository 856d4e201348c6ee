"""Every error this library raises, under one root.

``RedissonDQError`` is the root. The errors below it are split by their cause: the caller's arguments, the connection,
the data in Redis, or the life cycle of our objects. An error that corresponds to a built-in exception (a bad argument,
a timeout) also inherits from it, so existing handlers work.
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
    "NewerFormError",
    "LeaseLostError",
    "NoThreadError",
    "QueueEmptyError",
    "QueueFullError",
    "RedisConnectionError",
    "RedisReplyError",
    "RedissonDQError",
    "ServerFullError",
    "ServerNotFoundError",
    "ServerSettingError",
    "UnknownOptionError",
    "WrongTypeError",
]


def _restored(kind: type[RedissonDQError], args: tuple[Any, ...], state: dict[str, Any]) -> RedissonDQError:
    """Restores a pickled error. Its class may take other arguments than the text."""
    made = kind.__new__(kind)
    made.args = args
    made.__dict__.update(state)
    return made


class RedissonDQError(Exception):
    """The root of all errors of this library. Each survives ``pickle`` and ``copy``, with its attributes."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


class ArgumentError(RedissonDQError, ValueError):
    """An argument cannot be used: a negative delay, an empty name, a bad URL. Nothing was sent to Redis."""


class UnknownOptionError(ArgumentError, TypeError):
    """A call has no option with this name. The message names the call and its most similar option.

    ``option`` is the name that was given, ``nearest`` the nearest one, or None when none resembles it.
    """

    def __init__(self, message: str, *, option: str, nearest: str | None) -> None:
        super().__init__(message)
        self.option = option
        self.nearest = nearest


class ClosedError(RedissonDQError, RuntimeError):
    """The client or the queue handle was closed. Open a new one."""


class NoThreadError(RedissonDQError, RuntimeError):
    """The system gives no thread for a background task, or the interpreter shuts down. Nothing was started."""


class RedisConnectionError(RedissonDQError, ConnectionError):
    """Redis cannot be reached, or the connection broke before the reply came.

    ``maybe_done`` is true if the command was sent. Redis may have carried it out.
    """

    def __init__(self, message: str, *, maybe_done: bool = False) -> None:
        super().__init__(message)
        self.maybe_done = maybe_done


class RedisReplyError(RedissonDQError):
    """Redis answered with an error that has no class of its own here (NOAUTH, NOPERM, READONLY, ...).

    ``maybe_done`` is true if a script may have written something before one of its commands was refused. Only a server
    before Redis 7 does that. It is also true if a call with many values or partitions was carried out in part. With any
    other error, nothing was done.
    """

    def __init__(self, message: str, *, maybe_done: bool = False) -> None:
        super().__init__(message)
        self.maybe_done = maybe_done


class ServerFullError(RedisReplyError):
    """Redis has reached its ``maxmemory`` and refuses calls that need more memory. Nothing was done.

    Calls that free memory go on: items fall due and are delivered, taken, cancelled and removed.
    """


class WrongTypeError(RedisReplyError):
    """A key of the queue has the wrong Redis type.

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
    """An offer was refused because an item with the same id (or the same payload) exists already. Nothing was added.

    ``id`` is the existing item's id, ``due`` its due time. ``state`` is its state: ``waiting``, ``parked``,
    ``retrying``, ``ready``, ``leased``, ``dead``, ``delivered`` or ``expired``.
    """

    def __init__(self, message: str, *, id: str, due: datetime, state: str) -> None:
        super().__init__(message)
        self.id = id
        self.due = due
        self.state = state


class DurabilityError(RedissonDQError):
    """The change was made, but fewer replicas or disks than ``durable=`` requires have confirmed it in time. It is not
    undone.

    ``maybe_done`` is always true. ``replicas`` is how many replicas have confirmed the change. ``fsynced`` says whether
    the server has written it to its disk. It is None if that was not asked for. Both are None if the server cannot
    report them.
    """

    def __init__(self, message: str, *, replicas: int | None, fsynced: bool | None) -> None:
        super().__init__(message)
        self.maybe_done = True
        self.replicas = replicas
        self.fsynced = fsynced


class LeaseLostError(RedissonDQError):
    """A lease that the transaction depends on had ended. No part of the transaction was done."""


class NewerFormError(RedissonDQError):
    """The call needs something that a newer version of this library wrote in a form that this version does not know.

    Nothing was done, and the data in Redis is unchanged. ``key`` and ``form`` name it. Upgrade this client.
    """

    def __init__(self, message: str, *, key: str, form: int) -> None:
        super().__init__(message)
        self.key = key
        self.form = form


class EnvelopeError(RedissonDQError):
    """An entry of the delayed queue is in neither of Redisson's two envelope formats.

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
    """The codec cannot encode this value. ``path`` says where inside it: ``$``, ``$[2]``, ``$['sku']``."""

    def __init__(self, message: str, *, codec: str, path: str = "$") -> None:
        super().__init__(message, codec=codec)
        self.path = path


class DecodeError(CodecError, ValueError):
    """The codec cannot decode these bytes. ``data`` keeps the bytes. ``offset`` is where reading stopped. If the bytes
    came from a queue, ``kept_in`` names the Redis key that they are in, so nothing is lost. It is None if they came
    from elsewhere, or if Redis did not take them back. In the latter case ``data`` and ``undecodable`` hold the only
    copy, and ``__cause__`` has the reason.
    """

    def __init__(self, message: str, *, codec: str, data: bytes, offset: int = 0) -> None:
        super().__init__(message, codec=codec)
        self.data = data
        self.offset = offset
        self.kept_in: str | None = None
        #: For calls that read many values (``poll(limit)``, ``read_all``): the decoded values, and the bytes that could
        #: not be decoded.
        self.decoded: list[Any] = []
        self.undecodable: list[bytes] = [data]

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.kept_in is None else f"{text}; the bytes are kept in {self.kept_in!r}"


class ServerSettingError(RedissonDQError):
    """The server's configuration does not support an option that was asked for. The message says which setting to
    change.
    """


class ServerNotFoundError(RedissonDQError):
    """No Redis server program was found to start. The message lists the ways to get one."""
