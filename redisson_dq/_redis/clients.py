"""Objects that look like the redis-py clients that our clients are made from, and are something else."""

from __future__ import annotations

import logging
from typing import Any

from redisson_dq.errors import ArgumentError

__all__ = ["check_client"]

logger = logging.getLogger("redisson_dq")

# The names that the classes of fakes have, also where a program has made one itself.
_FAKES = ("FakeRedis", "FakeStrictRedis", "FakeAsyncRedis")


def check_client(client: Any) -> None:
    """Raises ArgumentError for one that has no server, or several. Warns of a setting that our connections cannot have.

    Other objects pass: the caller names the class that it wants.
    """
    if any(_is_fake(kind) for kind in _kinds(client)):
        raise ArgumentError(
            f"a {type(client).__name__} has no server, and its Lua is not that of Redis: "
            "for tests start a real one by redisson_dq.embedded.EmbeddedServer, and call connect(server.url)"
        )
    if any(kind.__name__ == "MultiDBClient" and kind.__module__.startswith("redis.") for kind in type(client).__mro__):
        raise ArgumentError(
            "a MultiDBClient changes between databases, and a queue lives in one of them: make a client for each "
            "that has queues, as in Client(database.client) for database, weight in its get_databases(), "
            "or connect(url)"
        )
    if getattr(_maintenance_of(client), "enabled", False) is True:
        logger.warning(
            "maint_notifications_config with enabled=True is for connections with RESP3, and those of this client have "
            "RESP2: it hears of no maintenance, and connects again when a connection ends; enabled=False says so too"
        )


def _kinds(client: Any) -> list[type]:
    """The classes of a client and of its connections."""
    connection: Any = getattr(_part(client, "connection_pool"), "connection_class", object)
    return [*type(client).__mro__, *connection.__mro__]


def _is_fake(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "fakeredis" or kind.__name__ in _FAKES


def _maintenance_of(client: Any) -> Any:
    """The setting of a client of redis-py, where it was given one."""
    settings = getattr(_part(client, "connection_pool"), "connection_kwargs", {})
    of_cluster = _part(client, "maint_notifications_config")
    return of_cluster or _late(client).get("maint_notifications_config") or settings.get("maint_notifications_config")


def _part(client: Any, name: str) -> Any:
    return None if _late(client) else getattr(client, name, None)


def _late(client: Any) -> dict[str, Any]:
    """The settings of one of our cluster clients that has not been made yet. It is made when one of its attributes is
    read.
    """
    late = getattr(client, "__dict__", {}).get("_late")
    return late[0] if late else {}
