"""The calls on a queue's keys as a whole, which all handles have."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeVar

from redisson_dq._async.queues.open_handle import OpenHandle
from redisson_dq.scheduling.times import Delay

__all__ = ["PAGE", "Handle"]

T = TypeVar("T")

#: How many elements an iteration reads at a time.
PAGE = 100


class Handle(OpenHandle[T]):
    """One queue as one client has it open, with the calls on its keys: its figures, its name, its time to live."""

    # -- its keys ----------------------------------------------------------------------------------------------------

    async def delete(self) -> bool:
        """Deletes every key of the queue's side; True if there was any.

        For a delayed queue this includes the records of its items, a pause, the largest size and recurring offers.
        Values that were set aside (quarantine, undecodable, expired) stay, and so does the other side of the queue.
        Raises RedisConnectionError.

        :Redisson: ``RObject.delete()``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.delete())

    async def unlink(self) -> bool:
        """Like :meth:`delete`, and Redis frees the memory in the background.

        :Redisson: ``RObject.unlink()``
        :Cost: O(1), then O(n) in the background; one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.unlink())

    async def exists(self) -> bool:
        """Whether there is anything in the queue's side.

        :Redisson: ``RObject.isExists()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.exists())

    async def touch(self) -> bool:
        """Makes Redis count the queue's side as just used, for its eviction; True if there is one.

        :Redisson: ``RObject.touch()``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.touch())

    async def size_in_memory(self) -> int:
        """How many bytes of the server's memory it takes, as Redis estimates from a few elements.

        :Redisson: ``RObject.sizeInMemory()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.size_in_memory())

    async def rename(self, new_name: str) -> None:
        """Gives the queue's side another name, and replaces a queue of that name. This handle goes with it.

        On a cluster both names need one hash tag. Raises RedisReplyError when there is nothing to rename,
        CrossSlotError, ArgumentError, RedisConnectionError.

        :Redisson: ``RObject.rename(String)``
        :Cost: O(1), and the size of the replaced keys; one round trip
        :Guarantee: atomic, all keys or none
        """
        await self._run(self.requests.rename(new_name))
        await self._take_name(new_name)

    async def rename_if_free(self, new_name: str) -> bool:
        """Like :meth:`rename`, unless there is something under the new name; False then.

        :Redisson: ``RObject.renamenx(String)``
        :Cost: O(1); one round trip
        :Guarantee: atomic, all keys or none
        """
        renamed = await self._run(self.requests.rename(new_name, if_free=True))
        if renamed:
            await self._take_name(new_name)
        return renamed

    async def copy(self, destination: str) -> bool:
        """Copies the queue's side to another name; False when there is something there, or nothing to copy.

        On a cluster both names need one hash tag. Raises CrossSlotError, ArgumentError, RedisConnectionError.

        :Redisson: ``RObject.copy(String)``
        :Cost: O(n); one round trip
        :Guarantee: atomic, all keys or none
        """
        return await self._run(self.requests.copy(destination))

    async def copy_and_replace(self, destination: str) -> bool:
        """Like :meth:`copy`, and replaces a queue of that name.

        :Redisson: ``RObject.copyAndReplace(String)``
        :Cost: O(n); one round trip
        :Guarantee: atomic, all keys or none
        """
        return await self._run(self.requests.copy(destination, replace=True))

    async def dump(self) -> bytes | None:
        """The queue's side as bytes for :meth:`restore`, or None when there is nothing.

        For a queue with one key they are the bytes of Redis's DUMP, so Java's ``restore`` takes them. For a queue with
        several keys they have a frame of ours.

        :Redisson: ``RObject.dump()``
        :Cost: O(n); one round trip
        :Guarantee: reads only, all keys at one moment
        """
        return await self._run(self.requests.dump())

    async def restore(self, state: bytes, ttl: Delay | None = None) -> bool:
        """Makes the queue's side from the bytes of :meth:`dump`; False when there is something already.

        ``ttl`` is its time to live in seconds or as a timedelta. Raises ArgumentError and RedisReplyError for bytes
        that are not a dump; nothing has changed then.

        :Redisson: ``RObject.restore(byte[])``, ``RObject.restore(byte[], long, TimeUnit)``
        :Cost: O(n); one round trip
        :Guarantee: atomic, all keys or none
        """
        return await self._run(self.requests.restore(state, ttl))

    async def restore_and_replace(self, state: bytes, ttl: Delay | None = None) -> None:
        """Like :meth:`restore`, and replaces the queue's side.

        :Redisson: ``RObject.restoreAndReplace(byte[])``, ``RObject.restoreAndReplace(byte[], long, TimeUnit)``
        :Cost: O(n); one round trip
        :Guarantee: atomic, all keys or none
        """
        await self._run(self.requests.restore(state, ttl, replace=True))

    # -- its time to live --------------------------------------------------------------------------------------------

    async def expire(self, ttl: Delay) -> bool:
        """Lets the queue's side vanish after ``ttl`` (seconds or a timedelta); False when there is nothing.

        For a delayed queue these are the waiting items; a pause, the largest size and recurring offers stay.

        :Redisson: ``RExpirable.expire(Duration)``, ``RExpirable.expire(long, TimeUnit)``
        :Cost: O(1); one round trip
        :Guarantee: atomic, all keys at the same time
        """
        return await self._run(self.requests.expire(ttl))

    async def expire_at(self, moment: datetime) -> bool:
        """Lets the queue's side vanish at ``moment`` (an aware datetime); at once when that has passed.

        :Redisson: ``RExpirable.expire(Instant)``, ``RExpirable.expireAt(long)``, ``RExpirable.expireAt(Date)``
        :Cost: O(1); one round trip
        :Guarantee: atomic, all keys at the same time
        """
        return await self._run(self.requests.expire_at(moment))

    async def expire_if_set(self, ttl: Delay | datetime) -> bool:
        """Like :meth:`expire` or :meth:`expire_at`, for keys that have a time to live.

        :Redisson: ``RExpirable.expireIfSet(Duration)``, ``RExpirable.expireIfSet(Instant)``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.expire(ttl, "set"))

    async def expire_if_not_set(self, ttl: Delay | datetime) -> bool:
        """Like :meth:`expire` or :meth:`expire_at`, for keys that have no time to live.

        :Redisson: ``RExpirable.expireIfNotSet(Duration)``, ``RExpirable.expireIfNotSet(Instant)``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.expire(ttl, "not_set"))

    async def expire_if_greater(self, ttl: Delay | datetime) -> bool:
        """Like :meth:`expire` or :meth:`expire_at`, for keys that would vanish sooner; those without an end do not.

        :Redisson: ``RExpirable.expireIfGreater(Duration)``, ``RExpirable.expireIfGreater(Instant)``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.expire(ttl, "greater"))

    async def expire_if_less(self, ttl: Delay | datetime) -> bool:
        """Like :meth:`expire` or :meth:`expire_at`, for keys that would vanish later or never.

        :Redisson: ``RExpirable.expireIfLess(Duration)``, ``RExpirable.expireIfLess(Instant)``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.expire(ttl, "less"))

    async def clear_expire(self) -> bool:
        """Removes the time to live; False if there was none.

        :Redisson: ``RExpirable.clearExpire()``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.clear_expire())

    async def remain_time_to_live(self) -> timedelta | None:
        """How long the queue's side still lives; None when it has no end, or when there is nothing.

        :Redisson: ``RExpirable.remainTimeToLive()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.remain_time_to_live())

    async def expire_time(self) -> datetime | None:
        """When the queue's side vanishes, in UTC; None when it has no end, or when there is nothing.

        :Redisson: ``RExpirable.getExpireTime()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.expire_time())
