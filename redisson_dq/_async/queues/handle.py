"""The common part of all handles: their life, and the calls on the queue's keys as a whole."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from redisson_dq._async.connecting.asking import without_subscribers
from redisson_dq._async.queues.taken_values import TakenValues
from redisson_dq._async.runtime import Runtime
from redisson_dq._concurrency import async_finish
from redisson_dq._texts import shown
from redisson_dq._times import Delay
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import ArgumentError, ClosedError, DecodeError, RedissonDQError
from redisson_dq.inspection import QueueInspection
from redisson_dq.observing.operations import OperationKind
from redisson_dq.requests.inner.open_queue import OpenQueue
from redisson_dq.requests.sides import SideRequests
from redisson_dq.stats import QueueStats
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["PAGE", "Handle"]

T = TypeVar("T")
U = TypeVar("U")
Self = TypeVar("Self", bound="Handle[Any]")

#: How many elements an iteration reads at a time.
PAGE = 100


class Handle(Generic[T]):
    """One queue as one client has it open. Its values are turned into bytes by ``codec``.

    ``requests`` has the same calls as requests that are not sent, for a :class:`Pipeline`.
    """

    requests: SideRequests[T]

    def __init__(self, runtime: Runtime, side: OpenQueue[T], requests: SideRequests[T], transfer: bool) -> None:
        """``side`` has the keys and the codec that the handle shares with its ``requests``."""
        self._runtime = runtime
        if not isinstance(transfer, bool):
            raise ArgumentError(f"queue {side.name!r}: transfer= is True or False, not {shown(transfer)}")
        self._side = side
        self._values = TakenValues(runtime.connections, side)
        self._open = True
        self.requests = requests
        #: Whether this handle makes its client move the queue's due items, from its first call on that offers, takes or
        #: listens.
        self.transfer = transfer
        self._attach()

    @property
    def name(self) -> str:
        """The name as it was given, before the name mapper.

        :Redisson: ``RObject.getName()``
        :Cost: none
        :Guarantee: none is needed
        """
        return self._side.name

    @property
    def codec(self) -> Codec:
        """The codec, which turns values into bytes.

        :Redisson: ``RObject.getCodec()``
        :Cost: none
        :Guarantee: none is needed
        """
        return self._side.codec

    @property
    def keys(self) -> QueueKeys:
        """The Redis keys of this queue.

        :Cost: none
        :Guarantee: none is needed
        """
        return self._side.keys

    def __repr__(self) -> str:
        state = "" if self._open else ", destroyed"
        return f"{type(self).__name__}({self.name!r}, {self.codec!r}{state})"

    # -- the handle --------------------------------------------------------------------------------------------------

    async def start_moving(self) -> None:
        """Moves the queue's due items from now on. For a process that does nothing else with the queue.

        Every call that offers, takes or listens does this by itself. Raises ArgumentError with ``transfer=False``.

        >>> await delayed.start_moving()

        :Cost: none; in the background one subscription and one transfer
        :Guarantee: may safely be repeated
        """
        if not self.transfer:
            raise ArgumentError(f"queue {self.name!r}: this handle was opened with transfer=False, so it moves nothing")
        self._begin_taking()

    async def destroy(self) -> None:
        """Closes this handle; the data stays. May be called twice.

        With the last open handle that moves the queue's due items this client stops moving them. Other processes go on.
        With the last handle of any kind, a ``take()`` that still waits raises ClosedError.

        :Redisson: ``RDestroyable.destroy()``
        :Cost: none; one round trip when a blocked pop has to end
        :Guarantee: no data changes
        """
        if self._open:
            self._open = False
            # It goes on to its end. Otherwise a cancelled caller would leave waits that nobody can end any more.
            await async_finish(self._runtime.detach(self._attachment))
            self._left(self.keys)

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.destroy()

    # -- its keys ----------------------------------------------------------------------------------------------------

    async def delete(self) -> bool:
        """Deletes every key of the queue's side; True if there was any. Of a delayed queue that includes the
        records of its items, a pause, the largest size and recurring offers.

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

    async def stats(self) -> QueueStats:
        """The figures of the queue, both its sides: how much is where, how late it is, who moves it.

        They are those of :meth:`inspect` that are fast, however much is in the queue. Ask for them each second.
        ``client.stats(*names)`` asks for many queues at once.

        >>> await queue.add("order-42")
        True
        >>> figures = await queue.stats()
        >>> figures.ready, figures.overdue
        (1, 0)

        :Cost: O(log n), and the size of two entries at most. One round trip
        :Guarantee: reads only, all keys at one moment
        """
        return without_subscribers(await self._run(self.requests.stats()), self._runtime.connections)

    async def inspect(self) -> QueueInspection:
        """All about the queue, both its sides: how much is where, what comes next, who moves it, which key is wrong.

        A key of another type is told of and fails nothing. ``client.inspect(name)`` needs no handle.

        >>> found = await queue.inspect()
        >>> found.waiting, found.is_paused
        (0, False)

        :Cost: O(log n), and the size of the first entry, of two of the list and of the first ready value. One round
            trip
        :Guarantee: reads only, all keys at one moment
        """
        return without_subscribers(await self._run(self.requests.inspect()), self._runtime.connections)

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
        that are none of a dump; nothing has changed then.

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

        Of a delayed queue these are the waiting items; a pause, the largest size and recurring offers stay.

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
        """Takes the time to live off again; False when there was none.

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

    # -- inside ------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if not self._open:
            raise ClosedError(f"queue {self.name!r}: this handle was destroyed; open another one from the client")
        self._runtime.check_home(f"queue {self.name!r}")

    def _begin_taking(self) -> None:
        """Values are taken from here on, so the client moves the queue's due items."""
        self._check()
        self._attachment.start_moving()

    async def _take_name(self, new_name: str) -> None:
        """Takes the new name, as if the handle had been opened with it, and lets go of the old one."""
        if not self._open:
            return
        old = self._attachment
        self._side.rename(new_name)
        self._attach()
        if old.moves:
            self._attachment.start_moving()
        self._left(old.keys)
        # It goes on to its end. Otherwise a cancelled caller would leave waits under the old name.
        await async_finish(self._runtime.detach(old))

    def _attach(self) -> None:
        self._attachment = self._runtime.attach(self.keys, self.name, self.transfer)
        self._side.start_moving = self._attachment.start_moving if self.transfer else self._begins_offering()

    def _begins_offering(self) -> Callable[[], None] | None:
        """A hook for subclasses: called before each call that offers, where the client does not move the items."""
        return None

    def _left(self, old: QueueKeys) -> None:
        """A hook for subclasses: the handle no longer uses these keys."""

    async def _run(self, request: Request[U]) -> U:
        self._check()
        return await self._runtime.connections.run(request)

    async def _page(self, part_of: Callable[[int], Request[tuple[list[U], int | None]]], start: int) -> list[U]:
        """A page from this index on, in as many parts as it takes. ``part_of`` gives the index of the next part too."""
        found: list[U] = []
        at: int | None = start
        while at is not None:
            part, at = await self._run(part_of(at))
            found += part
        return found

    async def _run_adding(self, request: Request[U], call: str, count: int | None = None) -> U:
        """Runs a request that adds values which are ready at once. ``count`` is for a call that adds many."""
        with self._runtime.operations.around(OperationKind.SEND, call, self.name, count=count):
            return await self._run(request)

    async def _run_taking(
        self, request: Request[U], call: str = "poll", *, queue: str | None = None, many: bool = False
    ) -> U:
        """Runs a request whose values are taken out of Redis: one or none, or ``many`` as a list.

        Bytes that the codec cannot read are put into the list of undecodable values. With ``undecodable="skip"`` the
        call goes on with the values after it; otherwise, and when they could not be put there, it raises.
        """
        receiving = self._runtime.operations.receiving(call, queue or self.name, count=0 if many else None)
        try:
            found = await self._run_readable(request)
        except RedissonDQError as error:
            if receiving is not None:
                receiving.end_failing(error)
            raise
        if receiving is not None:
            receiving.end_taking(len(found) if many else int(found is not None))  # type: ignore[arg-type]
        return found

    async def _run_readable(self, request: Request[U]) -> U:
        while True:
            try:
                return await self._run(request)
            except DecodeError as error:
                if request.aside is None:
                    raise
                await self._values.set_aside(error, request.aside)
                if error.decoded:
                    # Only a request for several values decodes some of them, and it gives a list.
                    return error.decoded  # type: ignore[return-value]
