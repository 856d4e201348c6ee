"""The client: one set of connections, one transfer task per queue, any number of queue handles."""

from __future__ import annotations

from typing import Literal, TypeVar

from redisson_dq._async.connecting.servers import AsyncAnyRedis, servers_of
from redisson_dq._async.runtime import Runtime
from redisson_dq._async.watching import Watching
from redisson_dq._concurrency.blocks import AsyncWrongWith
from redisson_dq._redis.options import OnUndecodable, Options, Wakeups, Written
from redisson_dq.codecs.base import Codec
from redisson_dq.durability import Durability
from redisson_dq.observing import Observer
from redisson_dq.observing.observers import LogValues
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import NameMapper

__all__ = ["Client"]

Self = TypeVar("Self", bound="Client")


class Client(Watching, AsyncWrongWith):
    """Opens queues that Java services share through Redisson.

    ``redis`` is a client of redis-py: ``Redis`` (a Sentinel's master too) or ``RedisCluster``. Its settings are copied.
    With Sentinel or Cluster, its node discovery is reused. Commands use separate connections, and your client is
    never closed. Nothing is sent before the first call.

    - ``codec``: turns values into bytes, for every queue without one of its own; Kryo5Codec unless given
    - ``envelope``: ``"legacy"`` if a Redisson up to 3.21.0 must deliver the items offered here
    - ``name_mapper``: a prefix or a function, as Redisson's NameMapper
    - ``names``: ``"plain"`` refuses names that share keys with another queue: for names that users choose
    - ``undecodable``: for a taken value that the codec cannot read: ``"raise"`` DecodeError, or ``"skip"`` it with a
      warning. Its bytes are kept in Redis either way
    - ``remember``: for how many seconds after its due time an item's outcome and id are remembered; 0: not at all
    - ``wakeups``: ``"keyspace"`` if other programs add entries without announcing them
    - ``durable``: ``Durability(replicas=1, fsync=False, timeout=1.0)``: what must confirm an offer, an add or the end
      of a lease
    - ``observer``: a function that is called with each happening, as with :meth:`observe`
    - ``log_values``: True, or a function that masks a value, for lines of the log at DEBUG that show values

    More: docs/options.md.

    Answers to ``Redisson.create(config)``.
    """

    def __init__(
        self,
        redis: AsyncAnyRedis,
        *,
        codec: Codec | None = None,
        envelope: Written = Envelope.CURRENT,
        name_mapper: NameMapper | None = None,
        names: Literal["any", "plain"] = "any",
        undecodable: OnUndecodable = "raise",
        remember: float = 600.0,
        wakeups: Wakeups = "channel",
        durable: Durability | None = None,
        observer: Observer | None = None,
        log_values: LogValues = False,
    ) -> None:
        options = Options(
            codec=codec,
            envelope=envelope,
            name_mapper=name_mapper,
            names=names,
            undecodable=undecodable,
            remember=remember,
            wakeups=wakeups,
            durable=durable,
            observer=observer,
            log_values=log_values,
        )
        super().__init__(Runtime(servers_of(redis), options))

    # -- life cycle --------------------------------------------------------------------------------------------------

    async def open(self: Self) -> Self:
        """Checks that Redis can be reached. One round trip, the first time. Closes the client if Redis cannot be
        reached.

        Raises RedisConnectionError, RedisReplyError; with ``wakeups="keyspace"`` or ``durable=`` ServerSettingError.
        """
        await self.runtime.open()
        return self

    async def close(self, *, grace: float = 5.0) -> None:
        """Ends every wait, timer, background task and connection of this client; the data stays. May be called twice.

        A ``take()`` that still waits raises ClosedError. Subscriptions take no more values, and their consumers have
        ``grace`` seconds to return. A consumer that has not returned by then is logged with the values it holds. No
        other item is lost. In a forked process this call does nothing.

        Answers to ``RedissonClient.shutdown()``.
        """
        await self._checkup.aclose()
        await self.runtime.aclose(grace=grace)

    async def __aenter__(self: Self) -> Self:
        return await self.open()

    async def __aexit__(self, *error: object) -> None:
        await self.close()
