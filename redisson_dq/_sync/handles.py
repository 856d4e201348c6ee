# Generated from redisson_dq/_async/handles.py by .ci/unasync.py. Do not edit: edit that file and run it.

"""What the handles of every queue have in common: their life, and the calls on the queue's keys as a whole."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._pairs import finish
from .._times import Delay
from ..codecs.base import Codec
from ..errors import ClosedError, DecodeError
from ..requests.base import ObjectRequests
from ..wire.keys import QueueKeys
from ..wire.request import Request

if TYPE_CHECKING:
    from .client import Client

__all__ = ["PAGE", "Handle"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")
U = TypeVar("U")
Self = TypeVar("Self", bound="Handle[Any]")

#: So many elements are read at a time by an iteration.
PAGE = 100


class Handle(Generic[T]):
    """One queue as one client has it open. Its values are turned into bytes by ``codec``.

    ``requests`` has the same calls as requests that are not sent, for a :class:`Pipeline`.
    """

    requests: ObjectRequests[T]

    def __init__(self, client: Client, requests: ObjectRequests[T], transfer: bool) -> None:
        self._client = client
        self._connections = client._connections
        self._open = True
        self.requests = requests
        #: Whether this handle makes its client move the queue's due items.
        self.transfer = transfer

    @property
    def name(self) -> str:
        """The name as it was given, before the name mapper.

        :Redisson: ``RObject.getName()``
        :Cost: none
        :Guarantee: none is needed
        """
        return self.requests.name

    @property
    def codec(self) -> Codec:
        """What turns values into bytes.

        :Redisson: ``RObject.getCodec()``
        :Cost: none
        :Guarantee: none is needed
        """
        return self.requests.codec

    @property
    def keys(self) -> QueueKeys:
        """The Redis keys of this queue.

        :Redisson: none
        :Cost: none
        :Guarantee: none is needed
        """
        return self.requests.keys

    def __repr__(self) -> str:
        state = "" if self._open else ", destroyed"
        return f"{type(self).__name__}({self.name!r}, {self.codec!r}{state})"

    # -- the handle --------------------------------------------------------------------------------------------------

    def destroy(self) -> None:
        """Closes this handle; the data stays. May be called twice.

        With the last open handle that has ``transfer=True`` this client stops moving the queue's due items (other
        processes go on); with the last handle of any kind, a ``take()`` that still waits raises ClosedError.

        :Redisson: ``RDestroyable.destroy()``
        :Cost: none; one round trip when a blocked pop has to end
        :Guarantee: no data changes
        """
        if self._open:
            self._open = False
            # To its end, or a cancelled caller would leave waits that nobody can end any more.
            finish(self._client._let_go(self.keys, self.transfer))
            self._left(self.keys)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.destroy()

    # -- the object --------------------------------------------------------------------------------------------------

    def delete(self) -> bool:
        """Deletes every key of the queue's side; True if there was any. Of a delayed queue that includes what is
        remembered of its items, a pause, the largest size and recurring offers.

        Values that were set aside (quarantine, undecodable, expired) stay, and so does the other side of the queue.
        Raises RedisConnectionError.

        :Redisson: ``RObject.delete()``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.delete())

    def unlink(self) -> bool:
        """Like :meth:`delete`, and Redis frees the memory in the background.

        :Redisson: ``RObject.unlink()``
        :Cost: O(1), then O(n) in the background; one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.unlink())

    def exists(self) -> bool:
        """Whether there is anything in the queue's side.

        :Redisson: ``RObject.isExists()``
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.exists())

    def touch(self) -> bool:
        """Makes Redis count the queue's side as just used, for its eviction; True if there is one.

        :Redisson: ``RObject.touch()``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.touch())

    def size_in_memory(self) -> int:
        """How many bytes of the server's memory it takes, as Redis estimates from a few elements.

        :Redisson: ``RObject.sizeInMemory()``
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.size_in_memory())

    def rename(self, new_name: str) -> None:
        """Gives the queue's side another name, and replaces what is there. This handle goes with it.

        On a cluster both names need one hash tag. Raises RedisReplyError when there is nothing to rename,
        CrossSlotError, ArgumentError, RedisConnectionError.

        :Redisson: ``RObject.rename(String)``
        :Cost: O(1), and the size of what is replaced; one round trip
        :Guarantee: atomic, all keys or none
        """
        self._run(self.requests.rename(new_name))
        self._client._renamed(self, new_name)

    def rename_if_free(self, new_name: str) -> bool:
        """Like :meth:`rename`, unless there is something under the new name; False then.

        :Redisson: ``RObject.renamenx(String)``
        :Cost: O(1); one round trip
        :Guarantee: atomic, all keys or none
        """
        renamed = self._run(self.requests.rename(new_name, if_free=True))
        if renamed:
            self._client._renamed(self, new_name)
        return renamed

    def copy(self, destination: str) -> bool:
        """Copies the queue's side to another name; False when there is something there, or nothing to copy.

        On a cluster both names need one hash tag. Raises CrossSlotError, ArgumentError, RedisConnectionError.

        :Redisson: ``RObject.copy(String)``
        :Cost: O(n); one round trip
        :Guarantee: atomic, all keys or none
        """
        return self._run(self.requests.copy(destination))

    def copy_and_replace(self, destination: str) -> bool:
        """Like :meth:`copy`, and replaces what is there.

        :Redisson: ``RObject.copyAndReplace(String)``
        :Cost: O(n); one round trip
        :Guarantee: atomic, all keys or none
        """
        return self._run(self.requests.copy(destination, replace=True))

    def dump(self) -> bytes | None:
        """The queue's side as bytes for :meth:`restore`, or None when there is nothing.

        Of a queue with one key they are what Redis' DUMP gives, so Java's ``restore`` takes them; of one with
        several keys they are framed by us.

        :Redisson: ``RObject.dump()``
        :Cost: O(n); one round trip
        :Guarantee: reads only, all keys at one moment
        """
        return self._run(self.requests.dump())

    def restore(self, state: bytes, ttl: Delay | None = None) -> bool:
        """Makes the queue's side from what :meth:`dump` gave; False when there is something already.

        ``ttl`` is its time to live in seconds or as a timedelta. Raises ArgumentError and RedisReplyError for bytes
        that are none of a dump; nothing has changed then.

        :Redisson: ``RObject.restore(byte[])``, ``RObject.restore(byte[], long, TimeUnit)``
        :Cost: O(n); one round trip
        :Guarantee: atomic, all keys or none
        """
        return self._run(self.requests.restore(state, ttl))

    def restore_and_replace(self, state: bytes, ttl: Delay | None = None) -> None:
        """Like :meth:`restore`, and replaces what is there.

        :Redisson: ``RObject.restoreAndReplace(byte[])``, ``RObject.restoreAndReplace(byte[], long, TimeUnit)``
        :Cost: O(n); one round trip
        :Guarantee: atomic, all keys or none
        """
        self._run(self.requests.restore(state, ttl, replace=True))

    # -- its time to live --------------------------------------------------------------------------------------------

    def expire(self, ttl: Delay) -> bool:
        """Lets the queue's side vanish after ``ttl`` (seconds or a timedelta); False when there is nothing.

        Of a delayed queue that is what waits; a pause, the largest size and recurring offers stay.

        :Redisson: ``RExpirable.expire(Duration)``, ``RExpirable.expire(long, TimeUnit)``
        :Cost: O(1); one round trip
        :Guarantee: atomic, all keys at the same time
        """
        return self._run(self.requests.expire(ttl))

    def expire_at(self, moment: datetime) -> bool:
        """Lets the queue's side vanish at ``moment`` (an aware datetime); at once when that has passed.

        :Redisson: ``RExpirable.expire(Instant)``, ``RExpirable.expireAt(long)``, ``RExpirable.expireAt(Date)``
        :Cost: O(1); one round trip
        :Guarantee: atomic, all keys at the same time
        """
        return self._run(self.requests.expire_at(moment))

    def expire_if_set(self, ttl: Delay | datetime) -> bool:
        """Like :meth:`expire` or :meth:`expire_at`, for keys that have a time to live.

        :Redisson: ``RExpirable.expireIfSet(Duration)``, ``RExpirable.expireIfSet(Instant)``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.expire(ttl, "set"))

    def expire_if_not_set(self, ttl: Delay | datetime) -> bool:
        """Like :meth:`expire` or :meth:`expire_at`, for keys that have no time to live.

        :Redisson: ``RExpirable.expireIfNotSet(Duration)``, ``RExpirable.expireIfNotSet(Instant)``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.expire(ttl, "not_set"))

    def expire_if_greater(self, ttl: Delay | datetime) -> bool:
        """Like :meth:`expire` or :meth:`expire_at`, for keys that would vanish sooner; those without an end do not.

        :Redisson: ``RExpirable.expireIfGreater(Duration)``, ``RExpirable.expireIfGreater(Instant)``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.expire(ttl, "greater"))

    def expire_if_less(self, ttl: Delay | datetime) -> bool:
        """Like :meth:`expire` or :meth:`expire_at`, for keys that would vanish later or never.

        :Redisson: ``RExpirable.expireIfLess(Duration)``, ``RExpirable.expireIfLess(Instant)``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.expire(ttl, "less"))

    def clear_expire(self) -> bool:
        """Takes the time to live off again; False when there was none.

        :Redisson: ``RExpirable.clearExpire()``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return self._run(self.requests.clear_expire())

    def remain_time_to_live(self) -> timedelta | None:
        """How long the queue's side still lives; None when it has no end, or when there is nothing.

        :Redisson: ``RExpirable.remainTimeToLive()``
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.remain_time_to_live())

    def expire_time(self) -> datetime | None:
        """When the queue's side vanishes, in UTC; None when it has no end, or when there is nothing.

        :Redisson: ``RExpirable.getExpireTime()``
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return self._run(self.requests.expire_time())

    # -- inside ------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if not self._open:
            raise ClosedError(f"queue {self.name!r}: this handle was destroyed; open another one from the client")

    def _left(self, old: QueueKeys) -> None:
        """Is told that the handle uses these keys no more."""

    def _run(self, request: Request[U]) -> U:
        self._check()
        return self._connections.run(request)

    def _take(self, request: Request[U]) -> U:
        """Runs a request whose values are taken out of Redis.

        What the codec cannot read is put into the list of undecodable values. With ``undecodable="skip"`` the call
        goes on with the values after it; else, and when they could not be put there, it raises.
        """
        while True:
            try:
                return self._run(request)
            except DecodeError as error:
                if request.keep_in is None:
                    raise
                self._keep(error, request.keep_in)
                if error.decoded:
                    # Only a request for several values decodes some of them, and it gives a list.
                    return error.decoded  # type: ignore[return-value]

    def _keep(self, error: DecodeError, key: str) -> None:
        """Raises the error, or logs it where the client is told to skip what cannot be read."""
        self._connections.keep_aside(error, key)
        if self._client._options.undecodable != "skip":
            raise error
        logger.warning("queue %r: skipped %d values: %s", self.name, len(error.undecodable), error)
