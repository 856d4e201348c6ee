"""The life of a handle: it is opened, takes a name, runs requests, and is closed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from typing import Any, Generic, Literal, TypeVar

from redisson_dq._async.queues.any_queue import AnyQueue
from redisson_dq._async.queues.wait_loop import TakenValues
from redisson_dq._async.runtime import Attachment, Runtime
from redisson_dq._common.texts import shown
from redisson_dq._concurrency import async_finish
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.values import warn_of_other_types
from redisson_dq.calls.whole import WholeRequests
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import ArgumentError, ClosedError, DecodeError, EncodeError
from redisson_dq.observing.operations import OperationKind
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["OpenHandle"]

T = TypeVar("T")
U = TypeVar("U")


class OpenHandle(AnyQueue[Any], Generic[T]):
    """One queue as one client has it open. Its values are turned into bytes by ``codec``.

    ``requests`` has the same calls as requests that are not sent, for a :class:`Pipeline`.
    """

    requests: WholeRequests[T]

    def __init__(self, runtime: Runtime, side: OpenQueue[T], requests: WholeRequests[T], transfer: bool) -> None:
        """``side`` has the keys and the codec that the handle shares with its ``requests``."""
        self._runtime = runtime
        if not isinstance(transfer, bool):
            raise ArgumentError(f"queue {side.name!r}: transfer= must be True or False, not {shown(transfer)}")
        self._side = side
        self._values = TakenValues(runtime.connections, side)
        self._open = True
        self.requests = requests
        #: Whether this handle makes its client move the queue's due items, from its first call on that offers, takes or
        #: listens.
        self.transfer = transfer
        self._attachment = self._attached()

    @property
    def name(self) -> str:
        """The name as it was given, before the name mapper.

        :Redisson: ``RObject.getName()``
        :Cost: none
        """
        return self._side.name

    @property
    def codec(self) -> Codec:
        """The codec, which turns values into bytes.

        :Redisson: ``RObject.getCodec()``
        :Cost: none
        """
        return self._side.codec

    @property
    def keys(self) -> QueueKeys:
        """The Redis keys of this queue.

        :Cost: none
        """
        return self._side.keys

    def __repr__(self) -> str:
        state = "" if self._open else ", destroyed"
        return f"{type(self).__name__}({self.name!r}, {self.codec!r}{state})"

    # -- the handle --------------------------------------------------------------------------------------------------

    async def start_moving(self) -> None:
        """Moves the queue's due items from now on. For a process that does nothing else with the queue.

        Every call that offers, takes or listens does this too. Raises ArgumentError with ``transfer=False``.

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

    # -- inside ------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if not self._open:
            raise ClosedError(f"queue {self.name!r}: this handle was destroyed; open another one from the client")
        if not self._runtime.home.is_here:
            self._runtime.check_home(f"queue {self.name!r}")

    def _begin_taking(self) -> None:
        if not (self._open and self._runtime.home.is_here):
            self._check()
        # Most calls find it done.
        if self._attachment.may_start:
            self._attachment.start_moving()

    async def _take_name(self, new_name: str) -> None:
        """Takes the new name, as if the handle had been opened with it, and lets go of the old one."""
        if not self._open:
            return
        old = self._attachment
        self._side.rename(new_name)
        self._attachment = self._attached()
        if old.moves:
            self._attachment.start_moving()
        self._left(old.keys)
        # It goes on to its end. Otherwise a cancelled caller would leave waits under the old name.
        await async_finish(self._runtime.detach(old))

    def _attached(self) -> Attachment:
        attachment = self._runtime.attach(self.keys, self.name, self.transfer)
        begins = self._starts_moving if self.transfer else self._begins_offering
        self._side.start_moving = begins(attachment)
        return attachment

    def _starts_moving(self, attachment: Attachment) -> Callable[[], None]:
        side = self._side

        def start() -> None:
            attachment.start_moving()
            # Further calls pay nothing for it.
            side.start_moving = None

        return start

    def _begins_offering(self, attachment: Attachment) -> Callable[[], None] | None:
        """A hook for subclasses: called before each call that offers, where the client does not move the items."""
        return None

    def _left(self, old: QueueKeys) -> None:
        """A hook for subclasses: the handle no longer uses these keys."""

    async def _run(self, request: Request[U]) -> U:
        if not (self._open and self._runtime.home.is_here):
            self._check()
        return await self._runtime.connections.run(request)

    async def _none_of(self, values: Iterable[Any], *, before: bool = False) -> Literal[False]:
        """False for values that were not found. Raises EncodeError if one is there as an equal value of another type
        in Java, or with other bytes that it has no room to note. One more round trip for numbers, letters, times and
        collections. For constants, bools and other values without room all values are read. No round trip for others.
        ``before`` a call that takes the others away it also raises for a value that is there as both.
        """
        values = list(values)
        errors = await self._other_types(values, before)
        if errors:
            raise errors[0]
        without_room = self._side.without_room(values)
        if without_room:
            async for found in self._bytes():
                self._side.check_bytes(found, without_room)
        return False

    async def _removed_some(self, values: list[Any]) -> Literal[True]:
        """True for values that were removed. Warns of each that stays as an equal value of another type in Java."""
        if len(values) > 1:
            warn_of_other_types(await self._other_types(values, before=False))
        return True

    async def _other_types(self, values: list[Any], before: bool) -> list[EncodeError]:
        others = self._side.of_other_types(values)
        if not others:
            return []
        data = dict.fromkeys(each for other in others for each in (other.own, other.data))
        missing = set(await self._missing(data))
        return self._side.other_types(others, data.keys() - missing, before)

    def _bytes(self) -> AsyncIterator[Collection[bytes]]:
        """The bytes of all values in the queue, part by part."""
        raise NotImplementedError

    async def _missing(self, data: Collection[bytes]) -> list[bytes]:
        """Those of the bytes that are not in the queue."""
        raise NotImplementedError

    @property
    def _parts(self) -> Sequence[Any]:
        return (self,)

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
        with self._runtime.operations.receiving(call, queue or self.name, count=0 if many else None) as receipt:
            found = await self._run_readable(request)
            receipt.took(len(found) if many else int(found is not None))  # type: ignore[arg-type]
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
