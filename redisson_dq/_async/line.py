"""Local callers that wait for values in one line, and what is taken for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import Union

from .._pairs import AsyncMutex, AsyncSlot
from ..errors import ClosedError, RedisConnectionError, RedissonDQError
from ..wire.blocking import Taken

__all__ = ["Line", "Outcome"]

Outcome = Union[list[Taken], RedissonDQError]

# So many values are enough for one command, unless one caller wants more.
_ENOUGH = 1000


class Line(ABC):
    """Who waits longest is served first. A caller that times out, is cancelled or interrupted takes its name off.

    Workers take values, and nobody else: what they bring goes to the callers, and what nobody waits for (any more)
    back to where it came from. ``mutex`` guards the line and all its workers' fields.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.mutex = AsyncMutex()
        self.closed = False
        # Ordered, as a caller may leave from anywhere in the line; to find the first of a plain dict that lost its
        # first thousands is O(n).
        self._waiting: OrderedDict[AsyncSlot[Outcome], int] = OrderedDict()
        self._coming = 0

    async def receive(
        self, timeout: float | None, limit: int = 1, slot: AsyncSlot[Outcome] | None = None
    ) -> list[Taken]:
        """From one value to ``limit`` of them, or none after ``timeout`` seconds. A ``slot`` is for :meth:`withdraw`.

        Raises ClosedError when the client or the last handle is closed meanwhile, WrongTypeError and
        RedisReplyError as Redis does, RedisConnectionError when the time is over and Redis was not reachable.
        """
        slot = slot or AsyncSlot()
        try:
            self._enter(slot, limit)
            await slot.wait(timeout)
            if self._leave(slot):
                await self._nobody_waits()
            if not slot.filled and self.trouble is not None:
                raise self.trouble
            outcome: Outcome = slot.value if slot.filled else []
        except BaseException:
            # Cancelled or interrupted: values that have just come must not go down with the caller.
            if self._leave(slot, give_back=True):
                await self._nobody_waits()
            raise
        if isinstance(outcome, RedissonDQError):
            raise outcome
        return outcome

    def withdraw(self, slot: AsyncSlot[Outcome]) -> None:
        """Ends the wait of one caller, begun or not, with ClosedError, unless it has something already."""
        with self.mutex:
            self._waiting.pop(slot, None)
            if not slot.filled:
                slot.fill(ClosedError(f"queue {self.name!r}: the wait was given up"))

    def shut(self) -> None:
        """Ends every wait, and those to come, with ClosedError."""
        with self.mutex:
            self.closed = True
            while self._waiting:
                self._waiting.popitem(last=False)[0].fill(ClosedError(f"queue {self.name!r}: closed while waiting"))

    # -- for the workers ---------------------------------------------------------------------------------------------

    @property
    def waits(self) -> bool:
        """Whether anybody waits."""
        return bool(self._waiting)

    def claim(self, in_hand: int = 0) -> int:
        """How many values are still to be taken; until :meth:`unclaim` no other worker takes them too.

        Called under the mutex, as the next two.
        """
        wanted = 0
        for limit in self._waiting.values():
            wanted += limit
            if wanted >= _ENOUGH:
                break
        count = max(0, wanted - self._coming - in_hand)
        self._coming += count
        return count

    def unclaim(self, count: int) -> None:
        self._coming -= count

    @property
    def wants_many(self) -> bool:
        """Whether the next caller would have more than one value."""
        return next(iter(self._waiting.values()), 0) > 1

    def give(self, values: list[Taken]) -> None:
        """Hands out what was taken."""
        with self.mutex:
            while values and self._waiting:
                slot, limit = self._waiting.popitem(last=False)
                slot.fill(values[:limit])
                values = values[limit:]
            if values:
                self._put_away(values)
            self._served()

    def fail(self, error: RedissonDQError) -> None:
        with self.mutex:
            while self._waiting:
                self._waiting.popitem(last=False)[0].fill(error)
            self._served()

    # -- for the two kinds of line -----------------------------------------------------------------------------------

    @property
    @abstractmethod
    def trouble(self) -> RedisConnectionError | None:
        """Why nothing can be taken just now."""

    @abstractmethod
    def _left_over(self, limit: int) -> list[Taken]:
        """Up to so many of the values that nobody waited for and that are not back in Redis yet."""

    @abstractmethod
    def _put_away(self, values: list[Taken]) -> None:
        """Keeps values that nobody waits for until they are back in Redis."""

    @abstractmethod
    def _work(self) -> None:
        """Sees to it that values are taken as long as anybody waits."""

    @abstractmethod
    def _served(self) -> None:
        """Is told when callers have left with a value or an error."""

    @abstractmethod
    async def _nobody_waits(self) -> None:
        """Is told when the last caller has left without a value."""

    # -- inside ------------------------------------------------------------------------------------------------------

    def _enter(self, slot: AsyncSlot[Outcome], limit: int) -> None:
        with self.mutex:
            if slot.filled:
                return
            found = [] if self.closed else self._left_over(limit)
            if found:
                slot.fill(found)
                return
            # First in line, then the look: a signal handler that shuts the line in between is not missed.
            self._waiting[slot] = limit
            if self.closed:
                self._waiting.pop(slot, None)
                raise ClosedError(f"queue {self.name!r}: the handle is closed")
            self._work()

    def _leave(self, slot: AsyncSlot[Outcome], *, give_back: bool = False) -> bool:
        """Takes a caller off. True when nobody is left and nobody has shut it."""
        with self.mutex:
            if slot in self._waiting:
                del self._waiting[slot]
            elif give_back and slot.filled and isinstance(slot.value, list):
                self.give(slot.value)
            return not self._waiting and not self.closed
