"""The address of a server as a URL, without user and password."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import redis.asyncio
import redis.exceptions
from redis.asyncio.sentinel import SentinelConnectionPool as AsyncSentinelConnectionPool
from redis.sentinel import SentinelConnectionPool

from redisson_dq._redis.errors import was_closed, without_settings
from redisson_dq._redis.tls import check_tls

__all__ = ["address_of", "cannot_connect", "hint_of_tls", "may_be_one", "name_of_server", "where", "where_nodes"]

# The most nodes of a cluster that are named; the others are counted.
_SHOWN = 3


def where(pool: Any) -> str:
    """The server of a pool of redis-py, or the Sentinels that name it."""
    settings = pool.connection_kwargs
    database = int(settings.get("db") or 0)
    if isinstance(pool, (SentinelConnectionPool, AsyncSentinelConnectionPool)):
        sentinels = [each.connection_pool.connection_kwargs for each in pool.sentinel_manager.sentinels]
        hosts = ",".join(_host(each.get("host"), each.get("port")) for each in sentinels)
        return f"{_protocol(pool.connection_class)}+sentinel://{hosts}/{pool.service_name}?db={database}"
    if settings.get("path"):
        return f"unix://{settings['path']}?db={database}"
    host = _host(settings.get("host") or "localhost", settings.get("port") or 6379)
    return f"{_protocol(pool.connection_class)}://{host}/{database}"


def address_of(settings: Mapping[str, Any]) -> tuple[str, int | None] | None:
    """Host and port, or the path of a socket, in the settings of a connection. None where they name neither."""
    if settings.get("path"):
        return str(settings["path"]), None
    return (str(settings["host"]), int(settings.get("port") or 6379)) if settings.get("host") else None


def name_of_server(pool: Any) -> str:
    """The server of a pool as happenings name it: host and port, a service, or the path of a socket."""
    settings = pool.connection_kwargs
    host = settings.get("host")
    if host is None:
        return str(getattr(pool, "service_name", None) or settings.get("path") or "localhost")
    return f"{host}:{settings.get('port', 6379)}"


def cannot_connect(pool: Any, error: Exception) -> str:
    """The beginning of the text for an error while a connection was made, with the remedy where there is one."""
    if "interpreter shutdown" in str(error):
        hint = "the interpreter is shutting down and starts no threads: connect earlier, not in an atexit function"
    else:
        hint = hint_of_tls(pool, error)
    return f"cannot connect to Redis ({hint})" if hint else "cannot connect to Redis"


def hint_of_tls(pool: Any, error: Exception) -> str:
    """The remedy where an error while a connection was made may be about TLS; else an empty text."""
    is_tls, text = _protocol(pool.connection_class) == "rediss", without_settings(error)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return "the option ssl_ca_certs of the URL names the file of its authority"
    if is_tls and (wrong := _wrong_tls(pool.connection_kwargs)):
        return wrong
    if is_tls and (isinstance(error, redis.exceptions.TimeoutError) or "SSL" in text):
        return "is it without TLS? then its URL begins with redis://"
    if not is_tls and was_closed(error):
        return "does it want TLS? then its URL begins with rediss://"
    return ""


def _wrong_tls(settings: Mapping[str, Any]) -> str:
    """The option of TLS that cannot be used now, of a client of the user's or of a file that has changed."""
    try:
        check_tls(settings)
    except ValueError as error:
        return str(error)
    return ""


def where_nodes(nodes: Iterable[Any]) -> str:
    """The nodes of a cluster that its client knows."""
    hosts = [_host(node.host, node.port) for node in nodes]
    more = f" and {len(hosts) - _SHOWN} more" if len(hosts) > _SHOWN else ""
    return f"redis+cluster://{','.join(hosts[:_SHOWN])}{more}"


def may_be_one(where: str, other: str) -> bool:
    """Whether two of these texts may be of one server. A cluster may be known by other nodes, so one is enough."""
    if where == other:
        return True
    cluster = "redis+cluster://"
    if not (where.startswith(cluster) and other.startswith(cluster)):
        return False
    if " more" in where or " more" in other:
        return True
    return not set(where.removeprefix(cluster).split(",")).isdisjoint(other.removeprefix(cluster).split(","))


def _protocol(connection_class: type) -> str:
    is_tls = issubclass(connection_class, (redis.SSLConnection, redis.asyncio.SSLConnection))
    return "rediss" if is_tls else "redis"


def _host(host: object, port: object) -> str:
    return f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"
