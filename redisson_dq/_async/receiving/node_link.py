"""The pair of connections of a lookout to its node, and the exchange of a round over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from redis.asyncio import ConnectionPool
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import NoScriptError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.tracking import Tracking, watch
from redisson_dq._redis import is_out_of_memory, is_passing, pack, passes
from redisson_dq.errors import RedissonDQError
from redisson_dq.observing import Sent
from redisson_dq.waits.rotation import SharedSources
from redisson_dq.waits.steps import StepRefused
from redisson_dq.waits.watched import WatchedSource
from redisson_dq.wire.commands import write_nothing
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["Asked", "NodeLink", "collect"]

# How often it asks a node of a cluster for the slots. Redis does not report an empty list whose slot has moved.
_SLOTS_SECONDS = 5.0
_SLOTS = pack(("CLUSTER", "SLOTS"))
# Refused by a connection that watches nothing any more. No key is read after it, so it changes nothing.
_WATCHES = pack(("CLIENT", "CACHING", "YES"))
_FORGOTTEN = "the connection of a lookout watches nothing any more, as after RESET"

#: The sources of each line that are asked in a round.
Asked = Mapping[SharedSources, Sequence[WatchedSource]]


class NodeLink(Tracking):
    """Sends the commands of a round in one piece, and reads the replies. Only the lookout's background task does so.

    Raises redis-py's errors and TrackingRefusedError.
    """

    def __init__(
        self,
        connections: Connections,
        pool: ConnectionPool,
        changed: Callable[[bytes | None], object],
        broke: Callable[[Tracking], object],
    ) -> None:
        super().__init__(connections, pool, changed, broke)
        self._connections = connections
        #: Whether this client has cut the connections.
        self.is_hung_up = False
        # Scripts that the server does not know.
        self._unknown: set[str] = set()
        # The slots of the cluster, and when they were asked for.
        self._slots: object = None
        self._slots_at = 0.0
        self._probed_at = connections.clock.monotonic()
        # Whether Redis has forgotten that it watches keys for this connection.
        self._is_reset = False
        # A list that it takes from.
        self._written: str | None = None

    async def connect(self) -> None:
        await super().connect()
        if self._connections.is_cluster:
            # Before anything is watched: a slot that moves from here on shows.
            await self.send([_SLOTS])
            await self._read_slots()

    async def hang_up(self) -> None:
        self.is_hung_up = True
        await super().hang_up()

    async def exchange(self, asked: Asked, came: Callable[[int], object]) -> bool:
        """Sends the commands of all sources, and hands out the values. ``came`` is called with their numbers.

        Returns whether keys may live on other nodes now.
        """
        observers = self._connections.observers
        if not observers.hear(Sent):
            return await self._ask(asked, [], came)
        requests = [pump.commands.request for pumps in asked.values() for pump in pumps]
        observed = [(request.name, request.keys) for request in requests if request is not None]
        with observers.exchange(observed, self._connections.clock) as errors:
            return await self._ask(asked, errors, came)

    async def have_slots_moved(self) -> bool:
        """Checks everything that Redis does not report. Returns whether keys may live on other nodes now."""
        if self.is_cut():
            raise Disconnected("Redis has closed the connection of a lookout")
        now = self._connections.clock.monotonic()
        if now - self._probed_at >= self._connections.longest_block:
            self._probed_at = now
            if not await self.probe():
                raise Disconnected("the connection that reports changes no longer answers")
            await self.send([_WATCHES])
            if _has_forgotten(await self.read()):
                raise Disconnected(_FORGOTTEN)
            if not self._connections.is_cluster and self._written is not None:
                # A refusal by a replica ends all connections to it.
                await self.send([pack(write_nothing(self._written).words)])
                await self.read()
        if not (self._connections.is_cluster and now - self._slots_at > _SLOTS_SECONDS):
            return False
        await self.send([_SLOTS])
        return await self._read_slots()

    async def _read_slots(self) -> bool:
        self._slots_at = self._connections.clock.monotonic()
        slots, self._slots = self._slots, await self.read()
        return slots is not None and slots != self._slots and not isinstance(self._slots, ResponseError)

    async def _ask(self, asked: Asked, errors: list[BaseException | None], came: Callable[[int], object]) -> bool:
        """``errors`` has an entry for each request."""
        self._written = next(iter(asked.values()))[0].source.key
        commands = [command for pumps in asked.values() for pump in pumps for command in self._packed(pump)]
        # A slot that has come since the last look, and goes before the next one, would look as if it had never come.
        newcomers = [pump for pumps in asked.values() for pump in pumps if pump.is_new]
        for pump in newcomers:
            pump.is_new = False
        looks = bool(newcomers) and self._connections.is_cluster
        await self.send([_SLOTS, *commands] if looks else commands)
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
        if self._is_reset:
            raise Disconnected(_FORGOTTEN)
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
            for words in watch(pump.source.key):
                yield pack(words)

    async def _collect(self, pump: WatchedSource) -> Any:
        """Reads the replies to the commands of one source. Gives the one to its request."""
        request, length = pump.commands.request, None
        reply = None if request is None else await self.read()
        if pump.commands.watches:
            refusal, length = await self.read(), await self.read()
            if isinstance(refusal, ResponseError):
                # After RESET the values of this round are handed out first.
                self._is_reset = _has_forgotten(refusal)
                length = None if self._is_reset else refusal
        if isinstance(reply, NoScriptError) and request is not None and request.script is not None:
            self._unknown.add(request.script.sha)
        await collect(self._connections, pump, reply, length)
        return reply


def _has_forgotten(reply: object) -> bool:
    return isinstance(reply, ResponseError) and "in tracking mode" in str(reply)


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
