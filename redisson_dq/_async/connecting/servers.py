"""Which Redis node a key lives on: one server (a Sentinel's master too), or the nodes of a cluster."""

from __future__ import annotations

import random
from typing import Any, Union

from redis.asyncio import ConnectionPool, Redis, RedisCluster

from redisson_dq._common.texts import shown
from redisson_dq._redis import (
    WHICH_CLIENT,
    async_cluster_ready,
    async_node_pool,
    async_pool_from,
    check_client,
    startup_nodes,
    where,
    where_nodes,
)
from redisson_dq._redis.introducing import name_of_client
from redisson_dq._redis.where import address_of
from redisson_dq.errors import ArgumentError

__all__ = ["AsyncAnyRedis", "ClusterServers", "Servers", "SingleServer", "servers_of"]

#: The objects that a client can be made from.
AsyncAnyRedis = Union[Redis, RedisCluster]


# More connections than this bring no more throughput: one Redis executes one command at a time.
_MOST_CONNECTIONS = 100


class SingleServer:
    """One address, or a Sentinel's current master."""

    def __init__(self, pool: ConnectionPool) -> None:
        #: The name by which the server and the scripts distinguish this client from others.
        self.client = name_of_client()
        #: The pool to the one server.
        self.only: ConnectionPool = async_pool_from(pool, self.client)
        #: The pools that there are by now.
        self.pools = [self.only]
        #: How many connections may be busy at once: as many as the user's client allows, within reason.
        self.max_connections = max(1, min(pool.max_connections, _MOST_CONNECTIONS))
        #: The number of the database.
        self.database = int(self.only.connection_kwargs.get("db") or 0)
        #: Host and port, or the path of a socket. A Sentinel is asked for the master's address again for each
        #: connection.
        self.address = address_of(self.only.connection_kwargs)
        #: That address as a URL. A Sentinel's names the Sentinels and the service.
        self.where = where(self.only)

    async def pool_of(self, key: str) -> ConnectionPool:
        return self.only

    async def masters(self) -> list[ConnectionPool]:
        return self.pools

    async def pool_at(self, host: str, port: int) -> ConnectionPool:
        raise AssertionError("a single server redirects nobody")

    async def refresh(self) -> None:
        """There is no map of slots to refresh."""

    async def aclose(self) -> None:
        await self.only.disconnect(inuse_connections=False)


class ClusterServers:
    """The nodes of a Redis Cluster, as the user's client knows them."""

    #: A key's node is asked for each time.
    only: ConnectionPool | None = None

    def __init__(self, cluster: RedisCluster) -> None:
        #: As that of a single server.
        self.client = name_of_client()
        self._cluster = cluster
        self.max_connections = _MOST_CONNECTIONS
        #: A cluster has only database 0.
        self.database = 0
        self._pools: dict[tuple[str, int], ConnectionPool] = {}

    @property
    def address(self) -> tuple[str, int | None] | None:
        """Host and port of one node: the first that the client knows."""
        node = next(iter(startup_nodes(self._cluster)), None)
        return None if node is None else (str(node.host), int(node.port))

    @property
    def where(self) -> str:
        """The nodes that the user's client was given, as a URL."""
        return where_nodes(startup_nodes(self._cluster))

    async def pool_of(self, key: str) -> ConnectionPool:
        """The pool to the master that owns the key's slot. For the empty key it is the pool to any master. So the
        subscriptions of many clients spread, and a broken one comes back while its node is down.
        """
        await async_cluster_ready(self._cluster)
        node = self._cluster.get_node_from_key(key) if key else random.choice(self._cluster.get_primaries())
        return self._pool_of_node(node)

    async def masters(self) -> list[ConnectionPool]:
        """The pools to all masters."""
        await async_cluster_ready(self._cluster)
        return [self._pool_of_node(node) for node in self._cluster.get_primaries()]

    @property
    def pools(self) -> list[ConnectionPool]:
        """All pools that there are by now."""
        return list(self._pools.values())

    async def pool_at(self, host: str, port: int) -> ConnectionPool:
        """The pool to the node a redirection names."""
        node = self._cluster.get_node(host=host, port=port)
        if node is None:
            await self.refresh()
            node = self._cluster.get_node(host=host, port=port) or self._cluster.get_default_node()
        return self._pool_of_node(node)

    def _pool_of_node(self, node: Any) -> ConnectionPool:
        address = (node.host, node.port)
        pool = self._pools.get(address)
        if pool is None:
            pool = self._pools[address] = async_node_pool(self._cluster, node, self.client)
        return pool

    async def refresh(self) -> None:
        """Asks the cluster again who owns which slot."""
        await self._cluster.nodes_manager.initialize()

    async def aclose(self) -> None:
        for pool in self._pools.values():
            await pool.disconnect(inuse_connections=False)


Servers = Union[SingleServer, ClusterServers]


def servers_of(client: AsyncAnyRedis) -> Servers:
    """The servers of a redis-py client. Raises ArgumentError for anything else, naming the right one."""
    check_client(client)
    if isinstance(client, RedisCluster):
        return ClusterServers(client)
    if isinstance(client, Redis):
        return SingleServer(client.connection_pool)
    raise ArgumentError(
        f"a client needs a Redis or RedisCluster of redis-py, not {shown(client)}; {WHICH_CLIENT}, "
        "and a URL with connect(url)"
    )
