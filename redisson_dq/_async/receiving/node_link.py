"""The connections of a lookout to its node, and the exchange of a round over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from redis.asyncio import ConnectionPool
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import NoScriptError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.tracking import Tracking, watch
from redisson_dq._async.receiving.shared_pump import SharedPump, SharedSources
from redisson_dq._redis import pack
from redisson_dq.observing import Sent
from redisson_dq.wire import commands

__all__ = ["Asked", "NodeLink"]

# How often it asks a node of a cluster for the slots. Redis does not report an empty list whose slot has moved.
_SLOTS_SECONDS = 5.0
_SLOTS = pack(("CLUSTER", "SLOTS"))

#: The sources of each line that are asked in a round.
Asked = Mapping[SharedSources, Sequence[SharedPump]]


class NodeLink:
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
        """``changed`` and ``broke`` are as with :class:`Tracking`."""
        self._connections = connections
        self._pool = pool
        self._changed = changed
        self._broke = broke
        self._tracking: Tracking | None = None
        #: Whether this client has cut the connections.
        self.is_hung_up = False
        # Scripts that the server does not know.
        self._unknown: set[str] = set()
        # The slots of the cluster, and when they were asked for.
        self._slots: object = None
        self._slots_at = 0.0
        self._probed_at = 0.0
        # A list that it takes from.
        self._written: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is connected, or was and has not noticed the end."""
        return self._tracking is not None

    def is_by(self, tracking: Tracking) -> bool:
        """Whether it is connected by this pair of connections."""
        return tracking is self._tracking

    async def exchange(self, asked: Asked, came: Callable[[int], object]) -> bool:
        """Sends the commands of all sources, and hands out the values. ``came`` is called with their numbers.

        Returns whether keys may live on other nodes now.
        """
        tracking = self._tracking or await self._connect()
        observers = self._connections.observers
        if not observers.hear(Sent):
            return await self._ask(tracking, asked, [], came)
        requests = [pump.commands.request for pumps in asked.values() for pump in pumps]
        observed = [(request.name, request.keys) for request in requests if request is not None]
        with observers.exchange(observed, self._connections.clock) as errors:
            return await self._ask(tracking, asked, errors, came)

    async def have_slots_moved(self) -> bool:
        """Checks everything that Redis does not report. Returns whether keys may live on other nodes now."""
        if (tracking := self._tracking) is None:
            return False
        if await tracking.is_cut():
            raise Disconnected("Redis has closed the connection of a lookout")
        now = self._connections.clock.monotonic()
        if now - self._probed_at >= self._connections.longest_block:
            self._probed_at = now
            if not await tracking.probe():
                raise Disconnected("the connection that reports changes no longer answers")
            await self._check_server(tracking)
        is_due = self._connections.is_cluster and now - self._slots_at > _SLOTS_SECONDS
        return is_due and await self._look_at_slots(tracking)

    async def hang_up(self) -> None:
        """Cuts the connections. Values in the replies on them are lost."""
        if (tracking := self._tracking) is not None:
            self.is_hung_up = True
            await tracking.hang_up()

    async def aclose(self) -> None:
        """Closes the connections. Redis watches nothing from here on. Never raises."""
        tracking, self._tracking = self._tracking, None
        if tracking is not None:
            await tracking.aclose()

    async def _connect(self) -> Tracking:
        tracking = Tracking(self._connections, self._pool, self._changed, self._broke)
        try:
            await tracking.connect()
        except BaseException:
            await tracking.aclose()
            raise
        self.is_hung_up = False
        self._tracking, self._slots, self._probed_at = tracking, None, self._connections.clock.monotonic()
        if self._connections.is_cluster:
            # Before anything is watched: a slot that moves from here on shows.
            await self._look_at_slots(tracking)
        return tracking

    async def _check_server(self, tracking: Tracking) -> None:
        """Asks whether the server takes writes. A refusal by a replica ends all connections to it."""
        if not self._connections.is_cluster and self._written is not None:
            await tracking.send([pack(commands.write_nothing(self._written).words)])
            await tracking.read()

    async def _look_at_slots(self, tracking: Tracking) -> bool:
        await tracking.send([_SLOTS])
        return await self._read_slots(tracking)

    async def _read_slots(self, tracking: Tracking) -> bool:
        self._slots_at = self._connections.clock.monotonic()
        slots, self._slots = self._slots, await tracking.read()
        return slots is not None and slots != self._slots and not isinstance(self._slots, ResponseError)

    async def _ask(
        self, tracking: Tracking, asked: Asked, errors: list[BaseException | None], came: Callable[[int], object]
    ) -> bool:
        """``errors`` has an entry for each request."""
        self._written = next(iter(asked.values()))[0].source.key
        commands = [command for pumps in asked.values() for pump in pumps for command in self._commands(pump)]
        # A slot that has come since the last look, and goes before the next one, would look as if it had never come.
        newcomers = [pump for pumps in asked.values() for pump in pumps if pump.came()]
        looks = bool(newcomers) and self._connections.is_cluster
        await tracking.send([_SLOTS, *commands] if looks else commands)
        have_moved = looks and await self._read_slots(tracking)
        number = 0
        for sources, pumps in asked.items():
            for pump in pumps:
                is_request = pump.commands.request is not None
                reply = await self._collect(tracking, pump)
                if isinstance(reply, ResponseError) and errors:
                    errors[number] = reply
                number += is_request
            came(sources.settle(pumps))
        return have_moved

    def _commands(self, pump: SharedPump) -> Iterator[bytes]:
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

    async def _collect(self, tracking: Tracking, pump: SharedPump) -> Any:
        """Reads the replies to the commands of one source. Gives the one to its request."""
        request, length = pump.commands.request, None
        reply = None if request is None else await tracking.read()
        if pump.commands.watches:
            refusal, length = await tracking.read(), await tracking.read()
            length = refusal if isinstance(refusal, ResponseError) else length
        if isinstance(reply, NoScriptError) and request is not None and request.script is not None:
            self._unknown.add(request.script.sha)
        await pump.collect(reply, length)
        return reply
