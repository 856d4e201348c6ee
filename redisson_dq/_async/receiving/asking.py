"""The commands of one round of a lookout for one source, and the replies to them."""

from __future__ import annotations

from typing import Any

import attrs
from redis.exceptions import NoScriptError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._redis import is_out_of_memory, is_passing, passes
from redisson_dq.errors import RedissonDQError
from redisson_dq.waits.watch_engine import WatchEngine
from redisson_dq.waits.watch_table import State, Trigger
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["LATE", "Asking", "Commands", "Refusal"]

#: After so many seconds without a reply, others may take for the same callers.
LATE = 0.5


@attrs.frozen
class Refusal:
    """A request that Redis has refused, None for the watch alone, and the error."""

    request: Request[list[Taken]] | None
    error: ResponseError | RedissonDQError

    @property
    def passes(self) -> bool:
        """Whether the condition behind it ends by itself."""
        return is_passing(self.error) if isinstance(self.error, ResponseError) else passes(self.error)


@attrs.define
class Commands:
    """The commands of one round, and the replies so far."""

    request: Request[list[Taken]] | None = None
    #: Whether the request was sent before, and its reply was lost.
    is_repeated: bool = False
    #: How many values are claimed for those who wait.
    share: int = 0
    #: When they were sent.
    at: float = 0.0
    #: Whether Redis is asked to watch the key.
    watches: bool = False
    taken: list[Taken] = attrs.field(factory=list)
    #: The reply that comes with the watch: how many values are left.
    length: Any = None
    refusal: Refusal | None = None
    #: Whether the server did not know the script of the request.
    is_again: bool = False


class Asking:
    """Chooses the commands for one source, and reads the replies. The mutex of the line guards it."""

    def __init__(self, connections: Connections, source: Source, engine: WatchEngine, backs: PutBacks) -> None:
        self._connections = connections
        self._source = source
        self._engine = engine
        self._line = engine.line
        self._backs = backs
        #: Those that are under way.
        self.commands = Commands()

    def choose(self, share: int) -> None:
        """Chooses the commands to take so many values."""
        engine = self._engine
        request = owed = engine.debts.first
        if request is None and share:
            request = self._source.at_once(share)
        if request is not None:
            engine.sends(request)
        # Where more is left than is taken now, the next round comes anyway.
        watches = request is None or (not engine.is_watched and (engine.left or 0) <= share)
        now = self._connections.clock.monotonic()
        is_repeated = owed is not None
        self.commands = Commands(request=request, is_repeated=is_repeated, share=share, watches=watches, at=now)

    async def collect(self, reply: Any, length: Any) -> None:
        """Reads the replies to the commands. Not under the mutex, as it may ask Redis again.

        ``length`` is the reply that comes with the watch. A reply may be an error of Redis's.
        """
        commands, request = self.commands, self.commands.request
        commands.length = length
        if isinstance(reply, NoScriptError):
            # It did not run. The lookout sends the script's text in the next round.
            commands.is_again = True
        elif request is not None:
            with self._line.mutex:
                self._engine.was_answered()
            try:
                commands.taken = await self._taken(request, reply)
            except (ResponseError, RedissonDQError) as error:
                commands.refusal = Refusal(request, error)
        if isinstance(length, ResponseError) and not (commands.taken or commands.refusal):
            commands.refusal = Refusal(request, length)
        after = self._source.after(commands.taken, self._backs.answered)
        if after is not None:
            await self._backs.follow(after)

    async def _taken(self, request: Request[list[Taken]], reply: Any) -> list[Taken]:
        if isinstance(reply, ResponseError):
            if request.when_full is not None and is_out_of_memory(reply):
                return await self._connections.run(request.when_full)
            raise reply
        return self._connections.parsed(request, reply)

    @property
    def is_fresh(self) -> bool:
        """Whether the replies have come, and no caller's time was over since the commands were sent."""
        return self.commands.refusal is None and self._engine.state is State.ASKED

    def settle(self, *, has_returns: bool) -> tuple[Trigger, Commands]:
        """Classifies the replies. ``has_returns``: values have to go back."""
        commands, self.commands = self.commands, Commands()
        self._line.unclaim(commands.share)
        if commands.taken:
            self._line.took(commands.taken)
        if commands.refusal is not None:
            if commands.is_repeated and commands.refusal.passes and commands.request is not None:
                # It may have taken values before, and this refusal does not tell.
                self._engine.send_again(commands.request)
            return Trigger.FAILED, commands
        watches = commands.watches and isinstance(commands.length, int)
        left = commands.length if watches else self._left_behind(commands)
        if commands.is_again and commands.request is not None:
            self._engine.send_again(commands.request)
        return self._engine.replied(left, watches=watches, has_returns=has_returns), commands

    def _left_behind(self, commands: Commands) -> int | None:
        """How many values are left, where no reply told so. None where that is not known."""
        if self._engine.is_watched and not commands.taken and not commands.is_again:
            return 0
        return max(0, (self._engine.left or 0) - len(commands.taken)) or None

    def lose(self) -> list[Taken]:
        """The replies that have not come will not come. Gives the values of one that has."""
        commands, self.commands = self.commands, Commands()
        self._line.unclaim(commands.share)
        return commands.taken

    def forgo_late_claim(self) -> None:
        """Drops a claim that has waited too long for its reply."""
        if self._engine.is_under_way and self._connections.clock.monotonic() - self.commands.at >= LATE:
            self._line.unclaim(self.commands.share)
            self.commands.share = 0
