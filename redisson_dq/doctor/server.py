"""Checks of servers: whether Redis answers, has a version that calls need, and keeps all items."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

import redis

from redisson_dq._operations.shell import command_line
from redisson_dq.admin import Node
from redisson_dq.admin.refusals import A_PROXY, A_SENTINEL, ONE_NODE, was_closed
from redisson_dq.doctor.findings import (
    CannotRun,
    Finding,
    Misnamed,
    Severity,
    redis_cli,
    server_problem,
    server_warning,
)
from redisson_dq.doctor.sight import Sight
from redisson_dq.errors import RedisConnectionError
from redisson_dq.observing.server_advice import fields_of, version_of

__all__ = ["connection", "eviction", "memory", "persistence", "server_version"]

_OLDEST = (6, 2)
# A server that is fuller than this is nearly out of memory.
_NEARLY_FULL = 0.9
# A replica that does not answer within this many seconds is skipped.
_PATIENCE_S = 2.0
# The settings of a pool that also apply to connections to a replica.
_OF_LOGIN = {"username", "password", "credential_provider"} | {
    f"ssl_{each}" for each in ("keyfile", "certfile", "ca_certs", "cert_reqs", "ca_path", "check_hostname")
}


def connection(sight: Sight) -> Iterator[Finding]:
    """Redis answers, and the URL fits the kind of the server."""
    for node in sight.nodes:
        sight.ask("PING", node=node)
    if not sight.admin.is_cluster:
        kind = None
        try:
            with contextlib.suppress(CannotRun):
                kind = _another_kind(sight)
        except RedisConnectionError as error:
            kind = _proxy(sight, error)
        if kind is not None:
            raise Misnamed(f"{sight.nodes[0].name} is {kind}")
    yield from ()


def _another_kind(sight: Sight) -> str | None:
    ((_, info),) = sight.infos
    # Valkey has another name for it.
    if "sentinel" in (info.get("redis_mode"), info.get("server_mode")):
        return A_SENTINEL
    if info.get("cluster_enabled") != "1":
        return None
    # A node knows only the queues and the subscribers of its own slots.
    is_alone = fields_of(sight.ask("CLUSTER", "INFO")).get("cluster_size") in ("0", "1")
    return None if is_alone else ONE_NODE


def _proxy(sight: Sight, first: RedisConnectionError) -> str:
    """The kind of a server that answers PING and closes the connection at INFO, twice. Raises any other error."""
    if first.__cause__ is None or not was_closed(first.__cause__):
        raise first
    sight.ask("PING")
    try:
        sight.ask("INFO")
    except RedisConnectionError as error:
        if error.__cause__ is not None and was_closed(error.__cause__):
            sight.ask("PING")
            return A_PROXY
    raise first


def server_version(sight: Sight) -> Iterator[Finding]:
    """The server is Redis 6.2 or later, or Valkey, in a 64-bit build."""
    for node, info in sight.infos:
        version = info.get("redis_version", "")
        if not version:
            raise CannotRun(f"{node.name} reports no version")
        if version_of(info) < _OLDEST:
            yield server_problem(
                check="server-version",
                text=f"{node.name} is Redis {version}, and calls need 6.2 or later",
                evidence={"redis_version": version, "server": node.name},
                shown_by=redis_cli("INFO", "server"),
                commands=("# install Redis 6.2 or later, or Valkey",),
            )
        if info.get("arch_bits") == "32":
            yield server_problem(
                check="server-version",
                text=f"{node.name} is a 32-bit build of Redis, where Redisson's entries have another form",
                evidence={"arch_bits": 32, "server": node.name},
                shown_by=redis_cli("INFO", "server"),
                commands=("# install a 64-bit build of Redis or Valkey",),
            )


def eviction(sight: Sight) -> Iterator[Finding]:
    """Redis drops no items, neither when its memory is full nor after a time to live."""
    for node, info in sight.infos:
        policy = info.get("maxmemory_policy")
        if policy is None:
            raise CannotRun(f"{node.name} reports no maxmemory_policy")
        if policy == "noeviction":
            continue
        limit, evicted = int(info.get("maxmemory", "0")), int(info.get("evicted_keys", "0"))
        now = f"may drop keys at {limit} bytes" if limit else "would drop keys once maxmemory is set"
        yield (server_problem if limit else server_warning)(
            check="eviction",
            text=f"{node.name} {now}: maxmemory-policy is {policy}, and it has dropped {evicted} so far",
            evidence={"maxmemory_policy": policy, "maxmemory": limit, "evicted_keys": evicted, "server": node.name},
            shown_by=redis_cli("INFO", "memory"),
            commands=(redis_cli("CONFIG", "SET", "maxmemory-policy", "noeviction"),),
        )
    for queue in sight.queues:
        ends = queue.figures.expires
        if ends is not None:
            key = next(each.key for each in queue.figures.keys if each.expires == ends)
            yield queue.finding(
                check="eviction",
                severity=Severity.WARNING,
                text=f"the key {key!r} vanishes at {ends:%Y-%m-%d %H:%M:%S} with all items in it",
                evidence={"key": key, "expires": ends.isoformat()},
                shown_by=redis_cli("PTTL", key),
                commands=(redis_cli("PERSIST", key),),
            )


def persistence(sight: Sight) -> Iterator[Finding]:
    """A crash of Redis loses nothing, and Redis can write its files."""
    for node, info in sight.infos:
        if "aof_enabled" not in info:
            raise CannotRun(f"{node.name} reports nothing about its persistence")
        broken = [
            name
            for name in ("rdb_last_bgsave_status", "aof_last_bgrewrite_status", "aof_last_write_status")
            if info.get(name, "ok") != "ok"
        ]
        evidence = {
            "aof_enabled": int(info["aof_enabled"]),
            "server": node.name,
            **{name: info[name] for name in broken},
        }
        if broken:
            yield server_problem(
                check="persistence",
                text=f"{node.name} could not write its files, and may refuse writes: {', '.join(broken)}",
                evidence=evidence,
                shown_by=redis_cli("INFO", "persistence"),
                commands=("df -h", redis_cli("BGSAVE")),
            )
        elif info["aof_enabled"] == "0":
            lost = _lost(lambda node=node: _saves(sight, node))  # type: ignore[misc]
            yield server_warning(
                check="persistence",
                text=f"{node.name} has no append-only file, so a crash loses {lost}",
                evidence=evidence,
                shown_by=redis_cli("INFO", "persistence"),
                commands=(redis_cli("CONFIG", "SET", "appendonly", "yes"),),
            )
        yield from _of_replicas(sight, node, info)


def _saves(sight: Sight, node: Node) -> object:
    """The snapshot setting. Raises CannotRun. It sends no command that the user may not send."""
    if sight.missing_rights(["CONFIG GET"], node):
        raise CannotRun("the user may not ask for settings")
    return sight.ask("CONFIG", "GET", "save", node=node)[1]


def _lost(saves: Callable[[], object]) -> str:
    """Which items a crash loses without an append-only file. Not every user may read the snapshot setting."""
    try:
        are_made = bool(saves())
    except (CannotRun, redis.RedisError):
        return "the items since its last snapshot, or all where it makes none"
    return "the items since its last snapshot" if are_made else "all items, as it makes no snapshots either"


def _of_replicas(sight: Sight, node: Node, info: Mapping[str, str]) -> Iterator[Finding]:
    """A replica that takes over persists items by its own settings. They are read from the replicas that can be
    reached.
    """
    for name, text in info.items():
        if not (name.startswith("slave") and name[5:].isdigit()):
            continue
        replica = {field: value for field, _, value in (pair.partition("=") for pair in text.split(","))}
        where = f"{replica.get('ip')}:{replica.get('port')}"
        try:
            with _at(node, replica) as other:
                has_file = int(other.info("persistence").get("aof_enabled", 1))
                lost = "" if has_file else _lost(lambda other=other: other.config_get("save").get("save"))  # type: ignore[misc]
        except (redis.RedisError, OSError, ValueError) as error:
            sight.note(f"the replica {where} was not asked how it keeps items: {error}")
            continue
        if lost:
            yield server_warning(
                check="persistence",
                text=f"the replica {where} of {node.name} has no append-only file: "
                f"once it is the master, a crash loses {lost}",
                evidence={"aof_enabled": 0, "replica": where, "server": node.name},
                shown_by=f"redis-cli -h {replica.get('ip')} -p {replica.get('port')} INFO persistence",
                commands=(f"redis-cli -h {replica.get('ip')} -p {replica.get('port')} CONFIG SET appendonly yes",),
            )


def _at(node: Node, replica: Mapping[str, str]) -> redis.Redis:
    """A connection to a replica, with the settings that the client uses for its master."""
    settings = {name: each for name, each in node.pool.connection_kwargs.items() if name in _OF_LOGIN}
    kind = redis.SSLConnection if issubclass(node.pool.connection_class, redis.SSLConnection) else redis.Connection
    pool = redis.ConnectionPool(
        connection_class=kind,
        host=str(replica.get("ip")),
        port=int(replica.get("port", "0")),
        socket_timeout=_PATIENCE_S,
        socket_connect_timeout=_PATIENCE_S,
        **settings,
    )
    return redis.Redis.from_pool(pool)


def memory(sight: Sight) -> Iterator[Finding]:
    """Redis has memory for more items."""
    for node, info in sight.infos:
        used, limit = int(info.get("used_memory", "0")), int(info.get("maxmemory", "0"))
        if not used:
            raise CannotRun(f"{node.name} reports nothing about its memory")
        most = limit or int(info.get("total_system_memory", "0"))
        if most and used >= _NEARLY_FULL * most:
            is_full = bool(limit) and used >= limit
            yield (server_problem if is_full else server_warning)(
                check="memory",
                text=f"{node.name} uses {used} of {most} bytes" + (", and refuses offers" if is_full else ""),
                evidence={"used_memory": used, "maxmemory": limit, "of": most, "server": node.name},
                shown_by=redis_cli("INFO", "memory"),
                commands=(
                    redis_cli("CONFIG", "SET", "maxmemory", 2 * used),
                    command_line("queues"),
                ),
            )
