"""The redis-py client that a URL describes: of one server, of a Sentinel's master, or of a cluster. Nothing is sent.

- one server: ``redis://[user:password@]host[:port][/db][?option=...]``, with TLS ``rediss://``, by a socket ``unix://``
- the master of a service: ``redis+sentinel://[...]host[:port],host.../service[/db]``
- a cluster: ``redis+cluster://[...]host[:port],host...``

``rediss+sentinel`` and ``rediss+cluster`` speak TLS to every node, the Sentinels included.
"""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import attrs
import redis
import redis.asyncio
import redis.asyncio.cluster
import redis.asyncio.sentinel
import redis.cluster
import redis.sentinel
from redis.connection import parse_url

from redisson_dq._redis.settings import connection_factory
from redisson_dq._redis.tls import check_tls

__all__ = ["async_client_at", "async_close_client", "client_at", "close_client", "options_in", "startup_nodes"]

_PORTS = {"sentinel": 26379, "cluster": 6379}

_ENCODED = "in a user or a password @ is written %40, / %2F, # %23, ? %3F, [ %5B and ] %5D"


class _LateCluster(redis.RedisCluster):
    """A cluster client that is made at its first use, as the asyncio one is. redis-py's own asks the nodes at once."""

    def __init__(self, **settings: Any) -> None:
        self._late = settings, threading.RLock()

    def __getattr__(self, name: str) -> Any:
        # Python asks here for attributes that the constructor has not set yet.
        settings, lock = vars(self)["_late"]
        with lock:
            if not name.startswith("__") and "nodes_manager" not in vars(self):
                super().__init__(**settings)
        return object.__getattribute__(self, name)

    def close(self) -> None:
        if "nodes_manager" in vars(self):
            super().close()


def startup_nodes(cluster: Any) -> list[Any]:
    """The nodes that a cluster client was given. A client that is not made yet stays so."""
    own = vars(cluster)
    if "_late" in own and "nodes_manager" not in own:
        return list(own["_late"][0]["startup_nodes"])
    return list(cluster.nodes_manager.startup_nodes.values())


@attrs.frozen
class _Flavour:
    redis: Any
    sentinel: Any
    cluster: Any
    node: Any


_SYNC = _Flavour(redis.Redis, redis.sentinel.Sentinel, _LateCluster, redis.cluster.ClusterNode)
_ASYNC = _Flavour(
    redis.asyncio.Redis,
    redis.asyncio.sentinel.Sentinel,
    redis.asyncio.RedisCluster,
    redis.asyncio.cluster.ClusterNode,
)


def client_at(url: str, options: dict[str, Any]) -> redis.Redis | redis.RedisCluster:
    """``options`` are redis-py's. Raises ValueError, TypeError or AttributeError for a part that cannot be used."""
    return _client_at(url, options, _SYNC)  # type: ignore[no-any-return]


def async_client_at(url: str, options: dict[str, Any]) -> redis.asyncio.Redis | redis.asyncio.RedisCluster:
    """``options`` are redis-py's. Raises ValueError, TypeError or AttributeError for a part that cannot be used."""
    return _client_at(url, options, _ASYNC)  # type: ignore[no-any-return]


def close_client(client: redis.Redis | redis.RedisCluster) -> None:
    """Closes the connections by which a client of ours has asked for masters. Commands went over others."""
    if isinstance(client, redis.RedisCluster):
        client.close()
    elif isinstance(client.connection_pool, redis.sentinel.SentinelConnectionPool):
        for each in client.connection_pool.sentinel_manager.sentinels:
            each.close()


async def async_close_client(client: redis.asyncio.Redis | redis.asyncio.RedisCluster) -> None:
    """Closes the connections by which a client of ours has asked for masters. Commands went over others."""
    if isinstance(client, redis.asyncio.RedisCluster):
        await client.aclose()
    elif isinstance(client.connection_pool, redis.asyncio.sentinel.SentinelConnectionPool):
        for each in client.connection_pool.sentinel_manager.sentinels:
            await each.aclose()


def _client_at(url: str, options: dict[str, Any], of: _Flavour) -> Any:
    scheme, _, rest = url.partition("://")
    protocol, _, kind = scheme.partition("+")
    _check(url)
    if protocol == "rediss":
        # The URL wins over options, as with redis-py's own URLs.
        _check_tls({**options, **options_in(url)})
    if kind not in _PORTS or protocol not in ("redis", "rediss"):
        client = of.redis.from_url(url, **options)
        _check_timeouts(client.connection_pool.connection_kwargs)
        # redis-py looks at an option when it makes its first connection, and not before.
        connection_factory(client.connection_pool)
        return client
    nodes, path, settings = _parts(rest, _PORTS[kind])
    settings = {**options, **settings, **({"ssl": True} if protocol == "rediss" else {})}
    _check_timeouts(settings)
    if kind == "sentinel":
        return _of_sentinel(nodes, path, settings, of)
    return _of_cluster(nodes, path, settings, of)


def options_in(url: str) -> dict[str, str]:
    """The options after the question mark of a URL, as they are written there."""
    return dict(parse_qsl(url.partition("?")[2], keep_blank_values=True))


def _check(url: str) -> None:
    """Raises ValueError for a URL that redis-py would read as another place, or whose error would show a part of it."""
    place, _, query = url.partition("?")
    scheme, _, rest = place.partition("://")
    hosts, _, path = rest.partition("/")
    login = hosts.rpartition("@")[0]
    if "#" in place or "[" in login or "]" in login or "@" in query.partition("=")[0]:
        raise ValueError(_ENCODED)
    if scheme != "unix" and "@" in path:
        raise ValueError(_ENCODED)
    for name, value in options_in(url).items():
        # redis-py drops an option without a value, and so a mistake in its name.
        if not (name and value):
            raise ValueError(f"its option {name!r} has no value; options are written ?name=value&name=value")
    if scheme in ("redis", "rediss"):
        if re.fullmatch(r"(?:\d{1,9}/?)?", path) is None:
            raise ValueError("after the host comes the number of the database, or nothing")
    elif scheme == "unix" and (hosts.rpartition("@")[2] or not path):
        raise ValueError("it has to name the socket's file, as in unix:///run/redis.sock")
    try:
        # Of several hosts each by itself: a Python that is new enough refuses brackets behind other text.
        if scheme in ("redis", "rediss"):
            _ = urlsplit(url).port
        else:
            for host in hosts.rpartition("@")[2].split(","):
                urlsplit(f"redis://{host}")
        is_read = True
    except ValueError:
        is_read = False
    # Neither this error nor its context has the words of urllib, which would show the password.
    if not is_read:
        raise ValueError(f"its host or its port cannot be read; {_ENCODED}")


def _check_tls(settings: dict[str, Any]) -> None:
    version = settings.get("ssl_min_version")
    if isinstance(version, str) and version.isdecimal():
        settings["ssl_min_version"] = int(version)
    check_tls(settings)


def _check_timeouts(settings: Mapping[str, Any]) -> None:
    """Raises ValueError for a timeout that a socket would refuse at its first connection."""
    for name in ("socket_timeout", "socket_connect_timeout"):
        seconds = settings.get(name)
        if seconds is not None and not (isinstance(seconds, (int, float)) and 0 < seconds < threading.TIMEOUT_MAX):
            raise ValueError(f"{name}= must be a number of seconds above 0, or None")


def _parts(rest: str, port: int) -> tuple[list[tuple[str, int]], list[str], dict[str, Any]]:
    """The nodes, the parts of the path, and the settings of user, password and query."""
    before, mark, query = rest.partition("?")
    place, _, path = before.partition("/")
    user, at, hosts = place.rpartition("@")
    nodes = [_node(host, port) for host in hosts.split(",") if host]
    if not nodes:
        raise ValueError("it names no host")
    settings = parse_url(f"redis://{user}{at}host{mark}{query}")
    del settings["host"]
    return nodes, [unquote(part) for part in path.split("/") if part], settings


def _node(text: str, default: int) -> tuple[str, int]:
    # An IPv6 address has colons of its own, and is in brackets.
    host, colon, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon:
        host, port = text, str(default)
    is_split = ":" in host and not (host.startswith("[") and host.endswith("]"))
    if not host or is_split or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError("each of its nodes is host or host:port, with a comma between two")
    return host.strip("[]"), int(port)


def _of_sentinel(nodes: list[tuple[str, int]], path: list[str], settings: dict[str, Any], of: _Flavour) -> Any:
    if not path or len(path) > 2:
        raise ValueError("it has to name the service of the Sentinels, as in redis+sentinel://host:26379/service")
    service, *database = path
    if database and "db" not in settings:
        if not database[0].isdecimal():
            raise ValueError("after the service comes the number of the database, or nothing")
        settings["db"] = int(database[0])
    # A Sentinel has a user and a password of its own, or none.
    own = {
        name: settings.pop(f"sentinel_{name}") for name in ("username", "password") if f"sentinel_{name}" in settings
    }
    shared = {name: value for name, value in settings.items() if name.startswith(("socket_", "ssl"))}
    client = of.sentinel(nodes, sentinel_kwargs={**shared, **own}, **settings).master_for(service)
    connection_factory(client.connection_pool)
    return client


def _of_cluster(nodes: list[tuple[str, int]], path: list[str], settings: dict[str, Any], of: _Flavour) -> Any:
    if int(settings.get("db") or 0) or path not in ([], ["0"]):
        raise ValueError("a cluster has only database 0")
    settings.pop("db", None)
    # A cluster's client drops an option that it does not know, or looks at it late. A connection looks at once.
    of_all = inspect.signature(redis.RedisCluster).parameters.keys()
    (host, port), of_one = nodes[0], {name: value for name, value in settings.items() if name not in of_all}
    connection_factory(of.redis(host=host, port=port, **of_one).connection_pool)
    return of.cluster(startup_nodes=[of.node(*node) for node in nodes], **settings)
