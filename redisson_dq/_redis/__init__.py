"""The parts of redis-py that the library needs beyond commands: settings, URLs, pools, sending and errors.

The library reads the settings of the user's client, and never sends through it.
"""

from redisson_dq._redis.errors import is_denied, is_out_of_memory, is_passing, passes, translate
from redisson_dq._redis.pools import (
    async_cluster_ready,
    async_node_pool,
    async_pool_from,
    cluster_ready,
    node_pool,
    pool_from,
)
from redisson_dq._redis.sending import (
    async_hang_up,
    async_is_open,
    async_may_send_aside,
    async_read,
    async_send,
    async_send_aside,
    hang_up,
    is_open,
    mark_clean,
    may_send_aside,
    pack,
    read,
    send,
    send_aside,
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
    "async_hang_up",
    "async_is_open",
    "async_may_send_aside",
    "async_node_pool",
    "async_pool_from",
    "async_read",
    "async_send",
    "async_send_aside",
    "cannot_connect",
    "client_at",
    "close_client",
    "cluster_ready",
    "connection_factory",
    "dedicated_connection",
    "hang_up",
    "hint_of_tls",
    "is_denied",
    "is_open",
    "is_out_of_memory",
    "is_passing",
    "mark_clean",
    "may_send_aside",
    "node_pool",
    "pack",
    "passes",
    "pool_from",
    "read",
    "send",
    "send_aside",
    "options_in",
    "startup_nodes",
    "translate",
    "unexpected_option",
    "where",
    "where_nodes",
    "without_password",
]
