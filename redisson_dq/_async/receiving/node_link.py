"""Two connections of a lookout to its node, over which Redis reports changes of keys, and the exchange of a round.

One carries commands (``CLIENT TRACKING`` with ``REDIRECT``). A key that is read after ``CLIENT CACHING YES`` is watched
from then on. Redis reports its next change by any client, and then forgets it. The other connection hears that, as
messages on a channel. So it works with RESP2, and a reader never waits for a writer.

Redis also reports a key when it has no room to remember it (``tracking-table-max-keys``), and of all keys when the
database was emptied.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from redis.asyncio import ConnectionPool
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import NoScriptError, RedisError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._concurrency import AsyncBackgroundTask
from redisson_dq._redis import is_out_of_memory, is_passing, pack, passes
from redisson_dq.errors import RedissonDQError
from redisson_dq.observing import Sent
from redisson_dq.waits.rotation import SharedSources
from redisson_dq.waits.steps import StepRefused
from redisson_dq.waits.watched import WatchedSource
from redisson_dq.wire.commands import write_nothing
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["Asked", "NodeLink", "TrackingRefusedError", "collect"]

logger = logging.getLogger("redisson_dq")

_CHANNEL = "__redis__:invalidate"
# How often it asks a node of a cluster for the slots. Redis does not report an empty list whose slot has moved.
_SLOTS_SECONDS = 5.0
_SLOTS = pack(("CLUSTER", "SLOTS"))
# The next key that is read is watched. A connection that watches nothing any more refuses it.
_WATCHES = pack(("CLIENT", "CACHING", "YES"))

#: The sources of each line that are asked in a round.
Asked = Mapping[SharedSources, Sequence[WatchedSource]]


class TrackingRefusedError(Exception):
    """Redis, or something between, does not let this user watch keys."""


class NodeLink:
    """The two connections. Only the lookout's background task calls its methods; another one receives the changes.

    They raise redis-py's errors and TrackingRefusedError.
    """

    def __init__(
        self,
        connections: Connections,
        pool: ConnectionPool,
        changed: Callable[[bytes | None], object],
        broke: Callable[[NodeLink], object],
    ) -> None:
        """``changed`` is called with a key, or with None for all of them. ``broke`` is called at the end of hearing."""
        self._connections = connections
        self._commands = connections.dedicated_at(pool, "lookout", "")
        self._hearing = connections.dedicated_at(pool, "lookout", "")
        self._changed = changed
        self._broke = broke
        self._task: AsyncBackgroundTask | None = None
        #: Whether this client has cut the connections.
        self.is_hung_up = False
        # Scripts that the server does not know.
        self._unknown: set[str] = set()
        # The slots of the cluster, and when they were asked for.
        self._slots: object = None
        self._slots_at = 0.0
        # When it was checked that Redis still reports, and whether the PING of that has had no answer yet.
        self._probed_at = connections.clock.monotonic()
        self._is_unanswered = False
        # Whether Redis has forgotten that it watches keys for this connection.
        self._is_reset = False
        # A list that it takes from.
        self._written: str | None = None

    async def connect(self) -> None:
        """Connects both."""
        await self._hearing.connect()
        await self._hearing.learn_id()
        if not self._hearing.client_id:
            raise TrackingRefusedError("the server does not report the id of a connection (CLIENT ID)")
        try:
            await self._hearing.send("SUBSCRIBE", _CHANNEL)
            await self._hearing.read()
            await self._commands.connect()
            on = "CLIENT", "TRACKING", "ON", "REDIRECT", self._hearing.client_id, "OPTIN"
            # The last command shows that the second one is allowed, whose effect lasts for one command.
            for words in (on, ("CLIENT", "CACHING", "YES"), ("PING",)):
                await self._commands.send(*words)
                await self._commands.read()
        except ResponseError as error:
            if is_passing(error):
                raise
            # Where the connection that hears was cut, Redis refuses to report changes to it, though the user may watch
            # keys. Then this raises redis-py's error.
            with contextlib.suppress(ResponseError):
                await self._hearing.send("PING")
                await self._hearing.read()
            raise TrackingRefusedError(str(error)) from error
        try:
            self._task = AsyncBackgroundTask(self._hear, "redisson_dq-lookout-hears", shielded=True)
        except RuntimeError as error:
            # It passes, as a connection that cannot be made.
            raise OSError(f"the system cannot start a thread: {error}") from error
        if self._connections.is_cluster:
            # Before anything is watched: a slot that moves from here on shows.
            await self._send([_SLOTS])
            await self._read_slots()

    async def hang_up(self) -> None:
        """Cuts both connections."""
        self.is_hung_up = True
        await self._commands.hang_up()
        await self._hearing.hang_up()

    async def aclose(self) -> None:
        """Closes both connections. Never raises."""
        if self._task is None:
            await self._hearing.aclose()
        else:
            # Its reader closes it.
            await self._hearing.hang_up()
        await self._commands.aclose()

    async def _hear(self) -> None:
        try:
            while True:
                message = await self._hearing.hear()
                if not isinstance(message, list):
                    # The answer to a PING of a connection without subscriptions: a proxy may have sent RESET.
                    raise Disconnected("the connection that reports changes is not subscribed any more")
                kind, *rest = message
                self._is_unanswered = False
                if kind == b"message":
                    for key in rest[-1] or (None,):
                        self._changed(key)
        except (RedisError, OSError, ValueError) as error:
            logger.debug("a lookout no longer receives anything: %s", error)
        finally:
            await self._hearing.aclose()
            self._broke(self)

    # -- commands ----------------------------------------------------------------------------------------------------

    async def _send(self, commands: Sequence[bytes]) -> None:
        await self._commands.send_packed(b"".join(commands))

    async def _read(self) -> Any:
        """The next reply, or an error reply of Redis."""
        try:
            return await self._commands.read()
        except ResponseError as error:
            self._is_reset = self._is_reset or "in tracking mode" in str(error)
            return error

    def _check_watches(self) -> None:
        if self._is_reset:
            raise Disconnected("the connection of a lookout watches nothing any more, as after RESET")

    async def have_slots_moved(self) -> bool:
        """Checks everything that Redis does not report. Returns whether keys may live on other nodes now."""
        # Nobody reads there between two exchanges, and Redis forgets all keys when it closes the connection.
        if self._commands.is_over or not self._commands.is_open():
            raise Disconnected("Redis has closed the connection of a lookout")
        now = self._connections.clock.monotonic()
        if now - self._probed_at >= self._connections.longest_block:
            self._probed_at = now
            await self._probe()
        if not (self._connections.is_cluster and now - self._slots_at > _SLOTS_SECONDS):
            return False
        await self._send([_SLOTS])
        return await self._read_slots()

    async def _probe(self) -> None:
        """Shows whether both connections work, and whether the server is still the right one."""
        if self._is_unanswered:
            raise Disconnected("the connection that reports changes no longer answers")
        self._is_unanswered = True
        await self._hearing.send("PING")
        commands = [_WATCHES]
        if not self._connections.is_cluster and self._written is not None:
            # A refusal by a replica ends all connections to it.
            commands.append(pack(write_nothing(self._written).words))
        await self._send(commands)
        for _ in commands:
            await self._read()
        self._check_watches()

    async def _read_slots(self) -> bool:
        self._slots_at = self._connections.clock.monotonic()
        slots, self._slots = self._slots, await self._read()
        return slots is not None and slots != self._slots and not isinstance(self._slots, ResponseError)

    # -- a round -----------------------------------------------------------------------------------------------------

    async def exchange(self, asked: Asked, came: Callable[[int], object]) -> bool:
        """Sends the commands of all sources, and hands out the values. ``came`` is called with their numbers.

        Returns whether keys may live on other nodes now.
        """
        observers = self._connections.observers
        if not observers.heard[Sent]:
            return await self._ask(asked, [], came)
        requests = [pump.commands.request for pumps in asked.values() for pump in pumps]
        observed = [(request.name, request.keys) for request in requests if request is not None]
        with observers.exchange(observed, self._connections.clock) as errors:
            return await self._ask(asked, errors, came)

    async def _ask(self, asked: Asked, errors: list[BaseException | None], came: Callable[[int], object]) -> bool:
        """``errors`` has an entry for each request."""
        asking = [pump for pumps in asked.values() for pump in pumps]
        self._written = asking[0].source.key
        commands = [command for pump in asking for command in self._packed(pump)]
        # A slot that has come since the last look, and goes before the next one, would look as if it had never come.
        newcomers = [pump for pump in asking if pump.is_new]
        for pump in newcomers:
            pump.is_new = False
        looks = bool(newcomers) and self._connections.is_cluster
        await self._send([_SLOTS, *commands] if looks else commands)
        have_moved = looks and await self._read_slots()
        number = 0
        for sources, pumps in asked.items():
            for pump in pumps:
                is_request = pump.commands.request is not None
                reply = await self._collect(pump)
                if isinstance(reply, ResponseError) and errors:
                    errors[number] = reply
                number += is_request
            came(sources.settle(pumps))
            for pump in pumps:
                pump.lookouts.tell_answered(pump)
        self._check_watches()
        return have_moved

    def _packed(self, pump: WatchedSource) -> Iterator[bytes]:
        request = pump.commands.request
        script = None if request is None else request.script
        if request is None:
            pass
        elif script is None:
            yield pack(request.words)
        elif script.sha in self._unknown:
            self._unknown.discard(script.sha)
            yield pack(("EVAL", script.source, *request.words))
        else:
            yield pack(("EVALSHA", script.sha, *request.words))
        if pump.commands.watches:
            yield _WATCHES
            yield pack(("LLEN", pump.source.key))

    async def _collect(self, pump: WatchedSource) -> Any:
        """Reads the replies to the commands of one source. Gives the one to its request."""
        request, length = pump.commands.request, None
        reply = None if request is None else await self._read()
        if pump.commands.watches:
            refusal, length = await self._read(), await self._read()
            if isinstance(refusal, ResponseError):
                # After RESET the values of this round are handed out first.
                length = None if self._is_reset else refusal
        if isinstance(reply, NoScriptError) and request is not None and request.script is not None:
            self._unknown.add(request.script.sha)
        await collect(self._connections, pump, reply, length)
        return reply


async def collect(connections: Connections, pump: WatchedSource, reply: Any, length: Any) -> None:
    """Reads the replies to the commands of one source. Not under the mutex, as it may ask Redis again.

    ``length`` is the reply that comes with the watch. A reply may be an error of Redis's.
    """
    commands, request = pump.commands, pump.commands.request
    commands.length = length
    if isinstance(reply, NoScriptError):
        # It did not run. The lookout sends the script's text in the next round.
        commands.is_again = True
    elif request is not None:
        commands.is_read = True
        try:
            commands.taken = await _taken(connections, request, reply)
        except (ResponseError, RedissonDQError) as error:
            does_pass = is_passing(error) if isinstance(error, ResponseError) else passes(error)
            commands.refusal = StepRefused(error, passes=does_pass)
    if isinstance(length, ResponseError) and not (commands.taken or commands.refusal):
        commands.refusal = StepRefused(length, passes=is_passing(length))
    if commands.refusal is not None:
        commands.refusal.request = request
    backs: Any = pump.backs
    after = pump.source.after(commands.taken, backs.answered)
    if after is not None:
        await backs.follow(after)


async def _taken(connections: Connections, request: Request[list[Taken]], reply: Any) -> list[Taken]:
    if isinstance(reply, ResponseError):
        if request.when_full is not None and is_out_of_memory(reply):
            return await connections.run(request.when_full)
        raise reply
    return connections.parsed(request, reply)
