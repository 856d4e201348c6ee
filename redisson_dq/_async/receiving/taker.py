"""The interface between a receiver and whatever takes values for its callers."""

from __future__ import annotations

from typing import Protocol

from redisson_dq.errors import RedisConnectionError
from redisson_dq.waits.line import Waiter
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["Taker"]


class Taker(Protocol):
    """Takes from one source for the callers of one line. Its triggers come under the mutex of that line.

    The properties may be read without it. They may have changed a moment later.
    It hands values to the line. Those that nobody waits for go back to where they came from.
    """

    @property
    def source(self) -> Source:
        """The source that it takes from."""
        ...

    @property
    def trouble(self) -> RedisConnectionError | None:
        """Why nothing can be taken just now."""
        ...

    @property
    def is_busy(self) -> bool:
        """Whether it takes for callers, or puts back. A look by others would find values behind those."""
        ...

    @property
    def is_attended(self) -> bool:
        """Whether somebody sees callers that enter the inbox of the line."""
        ...

    @property
    def is_blocked(self) -> bool:
        """Whether the blocking command is on its way or stands in Redis."""
        ...

    @property
    def is_quiet(self) -> bool:
        """Whether it holds no value, and none is on its way to it."""
        ...

    @property
    def is_at_rest(self) -> bool:
        """Whether it has no background task and no value."""
        ...

    # -- triggers, under the mutex -----------------------------------------------------------------------------------

    def wake(self) -> None:
        """Somebody may wait, or has noted a request that has to be sent again."""

    def met(self, trouble: RedisConnectionError) -> None:
        """Others could not reach its source."""

    def end(self) -> None:
        """Nobody waits any more."""

    def answer_expired(self) -> None:
        """Answers the callers whose time is over, as far as no command has to end before."""

    def put_away(self, values: list[Taken]) -> None:
        """Puts values back where they came from, in the order in which they were taken."""

    def recover(self, request: Request[list[Taken]]) -> None:
        """Sends a repeatable request again. Its sender does not wait for the reply any more."""

    def stand_down(self) -> None:
        """Callers do not pump any more."""

    def close(self) -> None:
        """Ends the background task as soon as its values are back."""

    # -- triggers, not under the mutex -------------------------------------------------------------------------------

    async def stand_in(self, waiter: Waiter) -> None:
        """Lets a caller pump until it has its answer. Does nothing where somebody else pumps."""

    async def end_in_time(self) -> None:
        """Ends the blocking command when nobody waits any more whose time is not over."""

    async def hang_up(self) -> None:
        """Cuts the connection. Values in the reply on it are lost."""
