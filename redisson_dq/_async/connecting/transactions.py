"""Transactions: requests between MULTI and EXEC, on one node."""

from __future__ import annotations

import logging
from typing import Any

from redis.exceptions import AskError, ClusterDownError, ResponseError, TryAgainError

from redisson_dq._async.connecting.batches import Batch, exchange_many
from redisson_dq._async.connecting.pools import Pools
from redisson_dq.durability import Confirmed
from redisson_dq.wire.fencing import fenced, unfenced
from redisson_dq.wire.request import Request, durability_of, packed

__all__ = ["Transactions"]

logger = logging.getLogger("redisson_dq")

# A slot under migration answers at the second try. More tries are for a slot that moves again meanwhile.
_REDIRECTIONS = 8
_PAUSE_WHILE_MIGRATING = 0.05


class Transactions:
    """Runs requests as transactions."""

    def __init__(self, pools: Pools) -> None:
        self._pools = pools
        # Whether Redis has let this client begin a transaction.
        self._may_transact = False

    async def replies(self, requests: list[Request[Any]]) -> tuple[list[Any], Confirmed | Exception | None]:
        """The replies, or errors in their place, and the confirmations of the changes.

        A transaction that was redirected did nothing, and follows its slot.
        """
        attempt = 0
        while True:
            replies, confirmed = await self._once(requests)
            moved = any(isinstance(reply, (AskError, TryAgainError, ClusterDownError)) for reply in replies)
            if not moved or attempt == _REDIRECTIONS:
                return replies, confirmed
            await self._pools.clock.async_sleep(_PAUSE_WHILE_MIGRATING * attempt)
            await self._pools.refresh()
            attempt += 1

    async def _once(self, requests: list[Request[Any]]) -> tuple[list[Any], Confirmed | Exception | None]:
        pool = await self._pools.pool_of(requests[0].key)
        if not self._may_transact:
            # Where the user has no right to MULTI, Redis would still carry out the commands after it.
            begun, _ = await self._replies_of(Batch(pool, [("MULTI",), ("EXEC",)]))
            if isinstance(begun, ResponseError):
                return [begun] * len(requests), None
            self._may_transact = True
        batch = Batch(pool, [("MULTI",), *packed(fenced(requests), in_order=True), ("EXEC",)], durability_of(requests))
        begun, *_, done = await self._replies_of(batch)
        if isinstance(begun, ResponseError):
            self._may_transact = False
            logger.warning("a transaction was carried out, but not atomically: %s", begun)
            return unfenced(requests, batch.replies[1:-1]), batch.confirmed
        if isinstance(done, ResponseError):
            # Redis refused one command at once, or all of them at the end (CROSSSLOT). It carried out none.
            reasons = [*(reply for reply in batch.replies[1:-1] if isinstance(reply, ResponseError)), done]
            refused = [reply if isinstance(reply, ResponseError) else reasons[0] for reply in batch.replies[1:-1]]
            return unfenced(requests, refused), None
        pool.address.heard_among(pool.address.number, done)  # type: ignore[attr-defined]
        return unfenced(requests, done), batch.confirmed

    async def _replies_of(self, batch: Batch) -> list[Any]:
        await exchange_many(self._pools, [batch], "a transaction")
        if batch.error is not None:
            raise batch.error
        return batch.replies
