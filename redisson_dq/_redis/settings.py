"""The settings of our own connections: the user's, with a few changes.

The user's pool may decode replies, retry commands, or end blocking reads after ``socket_timeout``. If an offer's reply
is lost, a retry would add the item twice.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from typing import Any

import redis

from redisson_dq._redis.introducing import Introduction

__all__ = [
    "WHICH_CLIENT",
    "connection_factory",
    "dedicated_connection",
    "own_settings",
    "unexpected_option",
    "without_password",
]

#: Says which client goes with which package, where the two kinds are mixed up.
WHICH_CLIENT = "redis.Redis goes with redisson_dq.Client, redis.asyncio.Redis with redisson_dq.aio.Client"

# A machine that does not answer for this many seconds counts as gone. The user may set another number.
_TIMEOUT = 10.0

# A connection that is silent for half a minute is checked. It is given up 15 s later.
_KEEPALIVE = {
    getattr(socket, name): value
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
    if hasattr(socket, name)
}

# Keeps redis-py from reporting its own name, by a setting that depends on its version.
_NO_DRIVER: dict[str, Any] = (
    {"driver_info": None} if hasattr(redis, "driver_info") else {"lib_name": None, "lib_version": None}
)

# Settings that redis-py makes for one pool or one protocol. A copy of them in another pool would be wrong.
_POOL_BOUND = (
    "client_name",  # a part of the name that introducing.py gives
    "connection_pool",
    "event_dispatcher",
    "himport_registry",
    "legacy_responses",
    "maint_notifications_config",
    "maint_notifications_pool_handler",
    "maintenance_notification_hash",
    "maintenance_state",
    "oss_cluster_maint_notifications_handler",
)

# While a server is maintained, a pool has other values for a time, and keeps the user's under these names.
_ORIGINALS = {
    "orig_host_address": "host",
    "orig_socket_timeout": "socket_timeout",
    "orig_socket_connect_timeout": "socket_connect_timeout",
}


def own_settings(settings: Any, retry: Any, introduction: Introduction) -> dict[str, Any]:
    """A copy of a pool's settings for a pool of our own, whose connections introduce themselves."""
    ours = {name: value for name, value in settings.items() if name not in (*_POOL_BOUND, *_ORIGINALS)}
    for kept, name in _ORIGINALS.items():
        if settings.get(kept) is not None and name in ours:
            ours[name] = settings[kept]
    for timeout in ("socket_connect_timeout", "socket_timeout"):
        if ours.get(timeout) is None:
            ours[timeout] = _TIMEOUT
    if "path" not in ours:
        ours["socket_keepalive"] = True
        if not isinstance(ours.get("socket_keepalive_options"), dict):
            ours["socket_keepalive_options"] = _KEEPALIVE
    if introduction.names_library:
        ours.update(_NO_DRIVER)
    # RESP2 everywhere: one shape of replies, and pub/sub messages come as plain replies.
    ours.update(
        encoding="utf-8",
        encoding_errors="strict",
        decode_responses=False,
        protocol=2,
        retry=retry,
        retry_on_timeout=False,
        retry_on_error=[],
    )
    return ours


def connection_factory(pool: Any) -> Any:
    """A connection outside the pool."""
    return pool.connection_class(**{**pool.connection_kwargs, "health_check_interval": 0})


def dedicated_connection(pool: Any, role: str, queue: str) -> Any:
    """Such a connection of a pool of our own. It reports its role to the server, and its queue if it has one.

    ``socket_timeout`` limits its first exchanges, too. A reader whose reply may come later gives its own time limit.
    """
    connection = connection_factory(pool)
    connection.introduction, connection.address = pool.introduction, pool.address
    connection.role, connection.queue = role, queue
    return connection


def unexpected_option(error: Exception, options: Iterable[str]) -> str | None:
    """The one of the options that redis-py does not know, when the error says so."""
    found = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    return found[1] if found and found[1] in options else None


def without_password(url: object) -> object:
    """A URL without its password, for error messages."""
    if not isinstance(url, str):
        return url
    # A text that is no URL may hold a password as well. So everything before the last @ is left out.
    return re.sub(r"(?s)^((?:rediss?(?:\+\w+)?|unix)://)?.*@", r"\1***@", url).partition("?")[0]
