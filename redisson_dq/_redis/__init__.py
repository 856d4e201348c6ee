"""The parts of redis-py that the library needs beyond commands: settings, URLs, pools, sending and errors.

The library reads the settings of the user's client, and never sends through it.
"""

from redisson_dq._redis.clients import check_client
from redisson_dq._redis.errors import (
    is_denied,
    is_out_of_memory,
    is_passing,
    lacks_rights,
    passes,
    refusal_of,
    says_not_here,
    translate,
    was_closed,
)
from redisson_dq._redis.own_connection import pack
from redisson_dq._redis.pools import (
    async_cluster_ready,
    async_node_pool,
    async_pool_from,
    cluster_ready,
    node_pool,
    pool_from,
)
from redisson_dq._redis.settings import (
    WHICH_CLIENT,
    connection_factory,
    dedicated_connection,
    unexpected_option,
    without_password,
)
from redisson_dq._redis.urls import (
    async_client_at,
    async_close_client,
    client_at,
    close_client,
    options_in,
    startup_nodes,
)
from redisson_dq._redis.where import cannot_connect, hint_of_tls, where, where_nodes

__all__ = [
    "WHICH_CLIENT",
    "async_client_at",
    "async_close_client",
    "async_cluster_ready",
    "async_node_pool",
    "async_pool_from",
    "cannot_connect",
    "check_client",
    "client_at",
    "close_client",
    "cluster_ready",
    "connection_factory",
    "dedicated_connection",
    "hint_of_tls",
    "is_denied",
    "is_out_of_memory",
    "is_passing",
    "lacks_rights",
    "node_pool",
    "pack",
    "passes",
    "refusal_of",
    "pool_from",
    "says_not_here",
    "options_in",
    "startup_nodes",
    "translate",
    "was_closed",
    "unexpected_option",
    "where",
    "where_nodes",
    "without_password",
]
