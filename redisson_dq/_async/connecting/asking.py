"""Many read-only requests, sent together, and the figure that the nodes of a cluster do not know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast

import attrs
from redis.asyncio import ConnectionPool

from redisson_dq._async.connecting.connections import Connections
from redisson_dq.errors import RedissonDQError
from redisson_dq.items import Redriven
from redisson_dq.stats import QueueStats
from redisson_dq.wire.request import Request

__all__ = ["answers", "outcomes", "timed", "without_subscribers"]

T = TypeVar("T")


async def outcomes(connections: Connections, requests: Sequence[Request[Any]]) -> list[Any]:
    """Results, or the errors in their place. One round trip for each node."""
    if len(requests) != 1:
        return await connections.run_many(list(requests))
    # What keeps a single request from being sent is its outcome.
    try:
        result = await connections.run(requests[0])
    except RedissonDQError as error:
        return [error]
    return [result]


async def answers(connections: Connections, requests: Sequence[Request[T]]) -> list[T]:
    """Results. Raises the first error when all have been answered. One round trip for each node."""
    results = []
    for outcome in await outcomes(connections, requests):
        if isinstance(outcome, RedissonDQError):
            raise outcome
        results.append(outcome)
    return results


async def timed(connections: Connections, request: Request[T], node: ConnectionPool | None = None) -> tuple[T, int]:
    """The result of a request, and how many us the answer took. The making of a connection does not count."""
    sent_us = 0

    async def sends() -> None:
        nonlocal sent_us
        sent_us = connections.clock.now_us()

    result = await connections.run(request, before_sending=sends, node=node)
    return result, connections.clock.now_us() - sent_us


def without_subscribers(found: T, connections: Connections) -> T:
    """A node of a cluster knows only its own subscribers, so there the number in a result is unknown."""
    if connections.is_cluster and isinstance(found, QueueStats):
        return cast(T, attrs.evolve(found, subscribers=None))
    if connections.is_cluster and isinstance(found, Redriven):
        return cast(T, attrs.evolve(found, clients=None))
    return found
