"""Checks of servers: whether they are fit for queues, and what they keep and refuse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from redisson_dq._shell import command_line
from redisson_dq._sync.connecting.asking import answers
from redisson_dq.doctor.findings import CannotRun, Finding, Severity, redis_cli
from redisson_dq.doctor.sight import Looked, Node, Sight
from redisson_dq.observing.server_advice import version_of
from redisson_dq.wire import calls
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.names import names_of
from redisson_dq.wire.rights import needed_to_move

__all__ = [
    "clock",
    "connection",
    "eviction",
    "keyspace_events",
    "memory",
    "persistence",
    "replication",
    "rights",
    "server_version",
    "slow_scripts",
]

_OLDEST = (6, 2)
# From this version on a server tells which rights a user has.
_TELLS_RIGHTS = (7, 0)
# A server that is fuller than this is close to its end.
_NEARLY_FULL = 0.9
# A replica that has been silent for so many seconds.
_LAG_S = 10
# A difference of two clocks that is not usual, in seconds.
_CLOCK_S = 1.0
# A script that took so long delays all others. In us, and how long ago at most, in seconds.
_SLOW_US, _RECENTLY_S = 100_000, 3600
# Refusals of these are no service's, as doctors and exporters ask for more than every user may know.
_LOOKS = {"info", "config|get", "slowlog|get", "client|list", "acl|log", "pubsub|channels", "pubsub|numsub", "scan"}
_OF_QUEUES = {
    *("eval", "evalsha", "script|load", "subscribe", "psubscribe", "publish", "blpop", "brpop", "blmove", "brpoplpush"),
    *("lpop", "rpop", "lpush", "rpush", "lrem", "lrange", "zadd", "zrem", "zrange", "zrangebyscore", "lmove"),
}

# So many queues are asked about in one round trip.
_ASKED_AT_ONCE = 200
# So many queues are named in a command.
_MOST_NAMED = 5
# The writes of a transfer on each key, and those that a user lacks who only looks.
_ON_TIMEOUT, _ON_ENVELOPES = ("ZRANGEBYSCORE", "ZREM"), ("LREM",)
_WRITES = {"RPUSH", "ZADD", "ZREM", "LREM"}

_problem = partial(Finding, severity=Severity.PROBLEM, queue=None)
_warning = partial(Finding, severity=Severity.WARNING, queue=None)


def connection(sight: Sight) -> Iterator[Finding]:
    """Redis answers."""
    for node in sight.nodes:
        sight.ask("PING", node=node)
    yield from ()


def server_version(sight: Sight) -> Iterator[Finding]:
    """The server is Redis 6.2 or later, or Valkey."""
    for node, info in sight.infos:
        version = info.get("redis_version", "")
        if not version:
            raise CannotRun(f"{node.name} tells no version")
        if version_of(info) < _OLDEST:
            yield _problem(
                check="server-version",
                text=f"{node.name} is Redis {version}, and calls need 6.2 or later",
                evidence={"redis_version": version, "server": node.name},
                shown_by=redis_cli("INFO", "server"),
                commands=("# install Redis 6.2 or later, or Valkey",),
            )


def rights(sight: Sight) -> Iterator[Finding]:
    """The user has all rights that a mover needs, and nobody was refused lately."""
    for _, info in sight.infos:
        if version_of(info) < _TELLS_RIGHTS:
            raise CannotRun("Redis before 7.0 does not tell which rights a user has")
    user = sight.ask("ACL", "WHOAMI").decode()
    looked = sight.queues
    for queue, missing in _missing(sight, looked):
        # A user without any right to write only looks.
        if missing and not set(missing) >= _WRITES:
            yield Finding(
                check="rights",
                severity=Severity.PROBLEM,
                text=f"the user {user} may not run {', '.join(missing)}",
                queue=queue.whole,
                evidence={"user": user, "missing": missing},
                shown_by=redis_cli("ACL", "GETUSER", user),
                commands=(command_line("acl", [queue.whole], ["--role", "mover", "--user", user], of_server=False),),
            )
            break
    yield from _refused(sight, {key: each.whole for each in looked for key in _all_keys(each.keys)})


def _missing(sight: Sight, queues: Sequence[Looked]) -> Iterator[tuple[Looked, list[str]]]:
    """The commands that the user lacks to move a queue, or with a key those that it may not run on that key.

    The questions about so many queues share a round trip.
    """
    for begin in range(0, len(queues), _ASKED_AT_ONCE):
        part = queues[begin : begin + _ASKED_AT_ONCE]
        asked = [each for queue in part for each in _needed(queue.keys)]
        told = iter(answers(sight.connections, [calls.missing_rights([key], commands) for key, commands in asked]))
        for queue in part:
            missing: list[str] = []
            for (key, _), refused in zip(_needed(queue.keys), told, strict=False):
                is_ready = key == queue.keys.ready
                missing += [each if is_ready else f"{each} {key}" for each in refused if each not in missing]
            yield queue, missing


def _needed(keys: QueueKeys) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The commands that a mover sends on the keys of a queue."""
    return (keys.ready, needed_to_move(keys.channel)), (keys.timeout, _ON_TIMEOUT), (keys.envelopes, _ON_ENVELOPES)


def _all_keys(keys: QueueKeys) -> tuple[str, ...]:
    return keys.ready, keys.timeout, keys.envelopes, keys.channel


def _refused(sight: Sight, owners: dict[str, str]) -> Iterator[Finding]:
    """Refusals of the last hour that are about queues, one for each user and object."""
    told: set[tuple[str, str]] = set()
    for node in sight.nodes:
        try:
            rows = sight.ask("ACL", "LOG", 64, node=node)
        except CannotRun as error:
            sight.note(f"refusals of other users are not seen: {error}")
            return
        for row in rows:
            of = {key.decode(): value for key, value in zip(row[::2], row[1::2], strict=True)}
            reason, what, who = (of[name].decode(errors="replace") for name in ("reason", "object", "username"))
            is_ours = what in owners or (reason == "command" and what.lower() in _OF_QUEUES)
            if not is_ours or what.lower() in _LOOKS or float(of["age-seconds"]) > _RECENTLY_S or (who, what) in told:
                continue
            told.add((who, what))
            # A command alone tells no queue.
            about = [owners[what]] if what in owners else sorted(set(owners.values()))[:_MOST_NAMED]
            yield Finding(
                check="rights",
                severity=Severity.PROBLEM,
                text=f"the user {who} was refused the {reason} {what}, {int(of['count'])} times",
                queue=owners.get(what),
                evidence={"user": who, "reason": reason, "object": what, "count": int(of["count"])},
                shown_by=redis_cli("ACL", "LOG"),
                commands=(command_line("acl", about, ["--role", "worker", "--user", who], of_server=False),),
            )


def eviction(sight: Sight) -> Iterator[Finding]:
    """Redis drops no items, neither when its memory is full nor after a time to live."""
    for node, info in sight.infos:
        policy = info.get("maxmemory_policy")
        if policy is None:
            raise CannotRun(f"{node.name} tells no maxmemory_policy")
        if policy == "noeviction":
            continue
        limit, evicted = int(info.get("maxmemory", "0")), int(info.get("evicted_keys", "0"))
        now = f"may drop keys at {limit} bytes" if limit else "would drop keys once maxmemory is set"
        yield (_problem if limit else _warning)(
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
            raise CannotRun(f"{node.name} tells nothing of its persistence")
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
            yield _problem(
                check="persistence",
                text=f"{node.name} could not write its files, and may refuse writes: {', '.join(broken)}",
                evidence=evidence,
                shown_by=redis_cli("INFO", "persistence"),
                commands=("df -h", redis_cli("BGSAVE")),
            )
        elif info["aof_enabled"] == "0":
            yield _warning(
                check="persistence",
                text=f"{node.name} has no append-only file, so a crash loses the items since its last snapshot",
                evidence=evidence,
                shown_by=redis_cli("INFO", "persistence"),
                commands=(redis_cli("CONFIG", "SET", "appendonly", "yes"),),
            )


def memory(sight: Sight) -> Iterator[Finding]:
    """Redis has memory for more items."""
    for node, info in sight.infos:
        used, limit = int(info.get("used_memory", "0")), int(info.get("maxmemory", "0"))
        if not used:
            raise CannotRun(f"{node.name} tells nothing of its memory")
        most = limit or int(info.get("total_system_memory", "0"))
        if most and used >= _NEARLY_FULL * most:
            is_full = bool(limit) and used >= limit
            yield (_problem if is_full else _warning)(
                check="memory",
                text=f"{node.name} uses {used} of {most} bytes" + (", and refuses offers" if is_full else ""),
                evidence={"used_memory": used, "maxmemory": limit, "of": most, "server": node.name},
                shown_by=redis_cli("INFO", "memory"),
                commands=(
                    redis_cli("CONFIG", "SET", "maxmemory", 2 * used),
                    command_line("queues"),
                ),
            )


def replication(sight: Sight) -> Iterator[Finding]:
    """The server is a master that may be written to, and its replicas and its cluster are well."""
    for node, info in sight.infos:
        if "role" not in info:
            raise CannotRun(f"{node.name} tells nothing of its replication")
        of_node = partial(_problem, check="replication", shown_by=redis_cli("INFO", "replication"))
        if info["role"] != "master":
            master = f"{info.get('master_host')}:{info.get('master_port')}"
            yield of_node(
                text=f"{node.name} is a replica of {master}, and takes no writes",
                evidence={
                    "role": info["role"],
                    "master": master,
                    "link": info.get("master_link_status"),
                    "server": node.name,
                },
                commands=(command_line("doctor", (), ["--url", f"redis://{master}"], of_server=False),),
            )
            continue
        # Redis tells how many replicas are well only where it needs some.
        good = info.get("min_slaves_good_slaves")
        needed = 0 if good is None else _replicas_needed(sight, node)
        if good is not None and int(good) < needed:
            yield of_node(
                text=f"{node.name} refuses writes: {good} of {needed} replicas are well",
                evidence={"min_slaves_good_slaves": int(good), "needed": needed, "server": node.name},
                commands=(redis_cli("CONFIG", "SET", "min-replicas-to-write", int(good)),),
            )
        for name, text in info.items():
            if not (name.startswith("slave") and name[5:].isdigit()):
                continue
            replica: dict[str, str] = {}
            for pair in text.split(","):
                field, _, replica[field] = pair.partition("=")
            if replica.get("state") != "online" or int(replica.get("lag", "0")) > _LAG_S:
                yield _warning(
                    check="replication",
                    text=f"the replica {replica.get('ip')}:{replica.get('port')} of {node.name} lags behind",
                    evidence={**replica, "server": node.name},
                    shown_by=redis_cli("INFO", "replication"),
                    commands=(redis_cli("INFO", "replication"),),
                )
    if sight.connections.is_cluster:
        yield from _cluster(sight)


def _replicas_needed(sight: Sight, node: Node) -> int:
    try:
        return int(sight.ask("CONFIG", "GET", "min-replicas-to-write", node=node)[1])
    except CannotRun:
        return 1


def _cluster(sight: Sight) -> Iterator[Finding]:
    for node in sight.nodes:
        lines = sight.ask("CLUSTER", "INFO", node=node).decode().split()
        info = dict(line.partition(":")[::2] for line in lines)
        if info.get("cluster_state") != "ok" or info.get("cluster_slots_fail", "0") != "0":
            yield _problem(
                check="replication",
                text=f"{node.name} says that its cluster is not whole",
                evidence={
                    **{name: info.get(name) for name in ("cluster_state", "cluster_slots_ok", "cluster_slots_fail")},
                    "server": node.name,
                },
                shown_by=redis_cli("CLUSTER", "INFO"),
                commands=(redis_cli("CLUSTER", "NODES"),),
            )
            return


def clock(sight: Sight) -> Iterator[Finding]:
    """The clocks of the servers, of this machine and of Java's movers agree."""
    for node in sight.nodes:
        ahead, took = sight.clock_ahead_s(node)
        if abs(ahead) > _CLOCK_S + took:
            yield _warning(
                check="clock",
                text=f"the clock of {node.name} is {abs(ahead):.1f} s {'ahead of' if ahead > 0 else 'behind'} this one",
                evidence={"ahead_s": round(ahead, 3), "server": node.name},
                shown_by="redis-cli TIME",
                commands=("timedatectl set-ntp true",),
            )
    try:
        slow = sight.slow_log
    except CannotRun as error:
        sight.note(f"the clocks of Java's movers are not seen: {error}")
        return
    # Redisson's transfer has its own time among its arguments. Those in the slow log tell it beside the server's.
    for node, (_, at_s, _, words, *more) in slow:
        if not _is_transfer(words):
            continue
        ahead = int(words[-2]) / 1000 - int(at_s)
        # The log has whole seconds.
        if not -_CLOCK_S <= ahead - 0.5 <= _CLOCK_S + 0.5 and sight.server_now_s - at_s < _RECENTLY_S:
            who = more[0].decode(errors="replace") if more else "unknown"
            yield _warning(
                check="clock",
                text=f"the clock of the Redisson at {who} is {ahead:.0f} s off that of {node.name}",
                evidence={"ahead_s": round(ahead, 1), "client": who, "server": node.name},
                shown_by=redis_cli("SLOWLOG", "GET"),
                commands=("timedatectl set-ntp true",),
            )
            return


def _is_transfer(words: list[bytes]) -> bool:
    """Whether this is a transfer of Redisson: three keys, its time in epoch ms, a limit."""
    return (
        len(words) == 8
        and words[0].upper() in (b"EVAL", b"EVALSHA")
        and any(word.startswith(b"redisson_delay_queue_timeout:") for word in words)
        and words[-1].isdigit()
        and words[-2].isdigit()
        and len(words[-2]) == 13
    )


def keyspace_events(sight: Sight) -> Iterator[Finding]:
    """Redis publishes the keyspace events that clients with wakeups="keyspace" wait for."""
    heard = {name.decode() for node in sight.nodes for name in sight.ask("PUBSUB", "CHANNELS", "__key*@*", node=node)}
    of_queues = sorted(name for name in heard if "redisson_delay_queue_timeout:" in name)
    if not of_queues:
        return
    for node in sight.nodes:
        reply = sight.ask("CONFIG", "GET", "notify-keyspace-events", node=node)
        flags = reply[1].decode() if len(reply) > 1 else ""
        if "K" not in flags or not ("z" in flags or "A" in flags):
            yield _problem(
                check="keyspace-events",
                text=f"clients wait for keyspace events, and {node.name} publishes none: its flags are {flags!r}",
                evidence={"notify_keyspace_events": flags, "channels": of_queues[:5], "server": node.name},
                shown_by=redis_cli("CONFIG", "GET", "notify-keyspace-events"),
                commands=(redis_cli("CONFIG", "SET", "notify-keyspace-events", "Kz"),),
            )


def slow_scripts(sight: Sight) -> Iterator[Finding]:
    """No script on a queue has kept Redis busy for long within the last hour."""
    worst: dict[str, tuple[int, str]] = {}
    queues: dict[str, set[str]] = {}
    count: dict[str, int] = {}
    for node, (_, at_s, took_us, words, *_) in sight.slow_log:
        is_script = words[0].upper() in (b"EVAL", b"EVALSHA", b"EVAL_RO", b"EVALSHA_RO", b"FCALL")
        of_queue = any(word.startswith((b"redisson_delay_queue", b"redisson_dq_")) for word in words)
        if is_script and of_queue and took_us >= _SLOW_US and sight.server_now_s - at_s < _RECENTLY_S:
            worst[node.name] = max(worst.get(node.name, (0, "")), (took_us, words[1].decode(errors="replace")[:60]))
            count[node.name] = count.get(node.name, 0) + 1
            queues.setdefault(node.name, set()).update(map(sight.name_of, names_of(words)))
    for server, (took_us, script) in worst.items():
        yield _warning(
            check="slow-scripts",
            text=f"scripts on queues have kept {server} busy for up to {took_us / 1000:.0f} ms",
            evidence={"longest_ms": round(took_us / 1000), "script": script, "count": count[server], "server": server},
            shown_by=redis_cli("SLOWLOG", "GET", 128),
            commands=(
                command_line("move", sorted(queues[server])[:_MOST_NAMED] or ["*"], ["--follow"]),
                redis_cli("SLOWLOG", "RESET"),
            ),
        )
