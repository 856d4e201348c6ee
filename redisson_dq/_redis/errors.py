"""The meaning of redis-py's errors: our error for each, and whether its condition passes by itself."""

from __future__ import annotations

import re
from collections.abc import Hashable

import redis.asyncio.sentinel
import redis.exceptions
import redis.sentinel

from redisson_dq.errors import CrossSlotError, RedisConnectionError, RedisReplyError, RedissonDQError, ServerFullError

__all__ = [
    "A_PROXY",
    "A_SENTINEL",
    "ONE_NODE",
    "is_denied",
    "is_login_refused",
    "is_misnamed",
    "is_of_a_proxy",
    "is_out_of_memory",
    "is_passing",
    "is_redirection",
    "lacks_rights",
    "passes",
    "refusal_of",
    "says_not_here",
    "serves_nobody",
    "was_closed",
    "translate",
    "with_remedy",
    "without_settings",
]

# The errors of a Sentinel's pools when there is no node to connect to.
_NOT_FOUND = (
    redis.sentinel.MasterNotFoundError,
    redis.sentinel.SlaveNotFoundError,
    redis.asyncio.sentinel.MasterNotFoundError,
    redis.asyncio.sentinel.SlaveNotFoundError,
)

_REFUSED_LOGIN = (redis.exceptions.AuthenticationError, redis.exceptions.AuthorizationError)

#: Error replies, by first word or class, whose condition passes. Such conditions are a failover, a migrating slot, a
#: start, a long script, a lack of memory or replicas. A blocking call goes on waiting meanwhile.
_PASSING_WORDS = ("BUSY ", "LOADING", "MISCONF", "NOREPLICAS", "UNBLOCKED")

_PASSING_ERRORS = (
    redis.exceptions.AskError,  # MOVED too
    redis.exceptions.ClusterDownError,  # MASTERDOWN too
    redis.exceptions.OutOfMemoryError,
    redis.exceptions.ReadOnlyError,
    redis.exceptions.TryAgainError,
)

# Redis 6.2 puts a text of its own in front of these, where it refused a command of a script.
_PASSING_IN_A_SCRIPT = re.compile(r"(?s)Error running script .*-(MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY) ")


# The replies of a server that is the wrong one to send to now. It is a replica, lacks its cluster or its replicas, or
# was started instead of another one.
_NOT_HERE = (
    redis.exceptions.AskError,  # MOVED too
    redis.exceptions.BusyLoadingError,
    redis.exceptions.ClusterDownError,  # MASTERDOWN too
    redis.exceptions.ReadOnlyError,
)
_NOT_HERE_WORDS = ("NOREPLICAS", "UNBLOCKED")
_NOT_HERE_IN_A_SCRIPT = re.compile(r"(?s)Error running script .*-(MASTERDOWN|NOREPLICAS|READONLY) ")

# The replies of proxies that cannot reach their server: Envoy, twemproxy (the text of an errno), predixy, Codis.
_OF_A_PROXY = re.compile(
    r"(?:ERR )?(?:no upstream host|upstream failure|upstream protocol error|Connection (?:refused|reset|timed out)|"
    r"No route to host|Host is (?:down|unreachable)|Network is (?:down|unreachable)|Operation timed out|Broken pipe|"
    r"no server |server connection |handle response, backend|backend conn|slot is not ready)",
    re.IGNORECASE,
)


#: Kinds of servers that are no single Redis, and the way to name each.
A_SENTINEL = "a Sentinel: name its master as redis+sentinel://host:port/service"
A_PROXY = (
    "a proxy that closes the connection at a command that it does not know, as twemproxy does at INFO, BLPOP and "
    "SUBSCRIBE. Offers work there, and nobody can wait for values: name the Redis behind it"
)
ONE_NODE = "one node of a cluster: name it as redis+cluster://host:port"
_AN_IMITATION = "an imitation of Redis, as those for tests are: start a real one, as redisson_dq.embedded does"

# Further texts where the URL names a server of another kind, and their remedies. A Sentinel knows no command of keys.
_MISNAMED = (
    (r"DB index is out of range", "the server has fewer databases: redis-cli INFO keyspace shows those that have keys"),
    (r"SELECT is not allowed in cluster mode", f"the server is {ONE_NODE}"),
    (r"unknown command ['`]SENTINEL", "the server is not a Sentinel: name it as redis://host:port"),
    (r"unknown command ['`](EVALSHA|EXISTS|HLEN|SCAN|SELECT)\b", f"the server may be {A_SENTINEL}"),
    (
        r"bad lua script for redis cluster",
        "Alibaba Cloud checks scripts in a proxy: set the parameter script_check_enable of the instance to 0",
    ),
    (
        r"(?:global variable|index global) '(?:struct|cjson|cmsgpack|bit)'",
        "the server's Lua lacks a library that Redisson's scripts need too: it is " + _AN_IMITATION,
    ),
    (r'got "[H<]" as reply type byte', "an HTTP server answers there, not Redis: check the port"),
    (r"Cluster mode is not enabled on this node", "the server is in no cluster: name it as redis://host:port"),
)

#: The remedy for an error reply, by its class and its first word.
_REMEDIES: tuple[tuple[type[Exception] | None, str, str], ...] = (
    (redis.exceptions.ReadOnlyError, "READONLY", "this server is a replica: name its master"),
    (redis.exceptions.BusyLoadingError, "LOADING", "Redis is loading its data: try again when it has started"),
    (
        redis.exceptions.MasterDownError,
        "MASTERDOWN",
        "this replica has lost its master: name another server",
    ),
    (redis.exceptions.ClusterDownError, "CLUSTERDOWN", "redis-cli CLUSTER INFO shows which slots have no node"),
    (redis.exceptions.AskError, "MOVED", f"the server is {ONE_NODE}"),
    (None, "BUSY", "a script has been running for long: wait for it, or end it with redis-cli SCRIPT KILL"),
    (
        None,
        "LONGSIZE",
        "Redisson's entries have another form there, which this library does not read or write, and nothing was done: "
        "use a 64-bit build of Redis or Valkey",
    ),
    (None, "NOREPLICAS", "the server wants more replicas, by its setting min-replicas-to-write"),
)


def with_remedy(error: BaseException) -> str:
    """The text of an error reply, and its remedy. redis-py takes the first word off some texts."""
    # Some imitations of Redis add a traceback of many lines.
    text = re.split(r"\s*stack traceback:", str(error))[0]
    for kind, word, remedy in _REMEDIES:
        # Redis 6.2 puts a text of its own before the reply to a script's command.
        if text.startswith(f"{word} ") or f"-{word} " in text:
            return f"{text}; {remedy}"
        if kind is not None and isinstance(error, kind):
            return f"{word} {text}; {remedy}"
    for pattern, remedy in _MISNAMED:
        if re.search(pattern, text):
            # Redis lists the arguments of an unknown command, with a comma or a space after the last one.
            said = text.rstrip(" ,")
            return f"{said}; {remedy}"
    if isinstance(error, redis.exceptions.InvalidResponse):
        broken = "the reply breaks the protocol of Redis, so a proxy changes replies, or the server is"
        return f"{text}: {broken} {_AN_IMITATION}"
    return text


def is_passing(error: redis.exceptions.ResponseError) -> bool:
    """Whether the condition that caused an error reply ends by itself."""
    text = str(error)
    if isinstance(error, _PASSING_ERRORS) or text.startswith(_PASSING_WORDS):
        return True
    return _PASSING_IN_A_SCRIPT.search(text) is not None


def says_not_here(error: BaseException) -> bool:
    """Whether a reply says that its server is the wrong one, at least for now."""
    if isinstance(error, _NOT_HERE):
        return True
    if isinstance(error, redis.exceptions.ConnectionError):
        # redis-py's connection to the master of a Sentinel says in words of its own that it has become a replica.
        return isinstance(error.__context__, redis.exceptions.ReadOnlyError)
    text = str(error)
    return isinstance(error, redis.exceptions.ResponseError) and (
        text.startswith(_NOT_HERE_WORDS) or _NOT_HERE_IN_A_SCRIPT.search(text) is not None
    )


def is_redirection(error: BaseException) -> bool:
    """Whether a node of a cluster names another one."""
    return isinstance(error, redis.exceptions.AskError)


def was_closed(error: BaseException) -> bool:
    """Whether the server, or a proxy before it, has closed the connection."""
    return re.search(r"(?i)closed by server|reset by peer|connection lost", without_settings(error)) is not None


def is_of_a_proxy(error: BaseException) -> bool:
    """Whether a reply is of a proxy that cannot reach its server."""
    return type(error) is redis.exceptions.ResponseError and _OF_A_PROXY.match(str(error)) is not None


def passes(error: RedissonDQError) -> bool:
    """Whether the condition that caused one of our errors ends by itself."""
    cause = error.__cause__
    return isinstance(error, RedisConnectionError) or (
        isinstance(cause, redis.exceptions.ResponseError) and is_passing(cause)
    )


def refusal_of(error: BaseException) -> Hashable:
    """What Redis refuses, as far as its reply says: the same for all queues.

    None where it refuses nothing: the connection has failed, or the error is a defect.
    """
    refusal = error if isinstance(error, redis.exceptions.ResponseError) else error.__cause__
    is_ours = isinstance(error, RedissonDQError) and not isinstance(error, RedisConnectionError)
    if not (is_ours or isinstance(refusal, redis.exceptions.ResponseError)):
        return None
    # Texts begin with a word that names the kind. The rest may name a key.
    return type(refusal or error), str(refusal).partition(" ")[0]


def is_out_of_memory(error: redis.exceptions.ResponseError) -> bool:
    """Whether Redis refused a write because it has reached its maxmemory."""
    # Redis 6.2 puts a text of its own before the reply to a script's command.
    return isinstance(error, redis.exceptions.OutOfMemoryError) or "-OOM command not allowed" in str(error)


def is_denied(error: redis.exceptions.ResponseError) -> bool:
    """Whether Redis refused a command because the user lacks a right. The words differ between 6.2, 7.0 and later."""
    in_a_script = ("The user executing the script can't", "ACL failure in script")
    return isinstance(error, redis.exceptions.NoPermissionError) or any(text in str(error) for text in in_a_script)


def is_login_refused(error: RedissonDQError) -> bool:
    """Whether one of our errors says that Redis refused the user name or the password."""
    return isinstance(error.__cause__, _REFUSED_LOGIN)


def lacks_rights(error: RedissonDQError) -> bool:
    """Whether one of our errors says that Redis refused the login, or that the user lacks a right."""
    cause = error.__cause__
    return is_login_refused(error) or (isinstance(cause, redis.exceptions.ResponseError) and is_denied(cause))


def serves_nobody(error: RedissonDQError) -> bool:
    """Whether one of our errors says that Redis answers, and serves nobody for now."""
    cause = error.__cause__
    is_down = isinstance(cause, (redis.exceptions.ClusterDownError, redis.exceptions.BusyLoadingError))
    return is_down or (isinstance(cause, redis.exceptions.ResponseError) and str(cause).startswith("BUSY "))


def is_misnamed(error: BaseException) -> bool:
    """Whether one of our errors says that the URL names a server of another kind, or a database that is none."""
    cause = error.__cause__
    return isinstance(cause, redis.exceptions.AskError) or any(re.search(text, str(cause)) for text, _ in _MISNAMED)


def without_settings(error: BaseException) -> str:
    """The text of an error, without the settings of connections that redis-py puts into that of a Sentinel."""
    return re.sub(r"(?s)<redis\..*?\)>\)>\)>", "", str(error))


def _shorten(error: Exception) -> None:
    """Says in few words which Sentinels could not be asked, and whether one has refused the login."""
    failed = re.findall(r"\bhost=([^,]*),port=(\d+)", str(error))
    what = str(error).partition(" : ")[0]
    if failed:
        asked = ", ".join(dict.fromkeys(f"{host}:{port}" for host, port in failed))
        what += f"; sentinels that could not be asked: {asked}"
    if "AuthenticationError" in without_settings(error):
        what += "; a Sentinel refused the login: pass its password in the URL as sentinel_password="
    error.args = (what,)


def translate(error: Exception, where: str, *, sent: bool = False) -> RedissonDQError:
    """Our error for one of redis-py's. ``where`` says what was being done, ``sent`` whether it had been sent."""
    if isinstance(error, RedissonDQError):
        return error
    if isinstance(error, _NOT_FOUND):
        _shorten(error)
    if isinstance(error, redis.exceptions.BusyLoadingError):
        # To redis-py this is a broken connection. In fact Redis has answered, and has refused the command.
        sent = False
    if isinstance(error, _REFUSED_LOGIN):
        return RedisReplyError(f"{where}: Redis refused the login: {error}; check the user name and password")
    lost = (
        redis.exceptions.ConnectionError,
        redis.exceptions.TimeoutError,
        redis.exceptions.RedisClusterException,
        OSError,
    )
    if isinstance(error, lost):
        doubt = "; the command was sent and may have been carried out" if sent else ""
        return RedisConnectionError(f"{where}: {with_remedy(error) or type(error).__name__}{doubt}", maybe_done=sent)
    if isinstance(error, redis.exceptions.ClusterCrossSlotError) or "CROSSSLOT" in str(error):
        return CrossSlotError(
            f"{where}: the keys are on different nodes of the cluster; "
            "give the names of all queues in one call the same hash tag, as in {shop}orders and {shop}done"
        )
    if isinstance(error, redis.exceptions.ResponseError) and is_out_of_memory(error):
        return ServerFullError(
            f"{where}: Redis has reached its maxmemory and accepts no more data; nothing was done; raise maxmemory, or "
            f"try again when items have been taken ({error})"
        )
    return RedisReplyError(f"{where}: {with_remedy(error)}")
