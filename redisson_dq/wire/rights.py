"""The rights that a user needs for a role: commands, keys and channels of given queues, as ACL SETUSER takes them.

A role's commands are those of the scripts that its calls run, read from these scripts, and some plain commands. So a
script that begins to send a command changes the roles with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import attrs

from redisson_dq._common.texts import nearest
from redisson_dq.errors import ArgumentError
from redisson_dq.scripts.script import READING, load
from redisson_dq.wire.keys import NameMapper, QueueKeys, map_name

__all__ = ["ROLES", "acl_words", "commands_of", "needed_to_move"]

_SENT = re.compile(r"(?:redis\.p?call|in_parts|change_nothing)\('([A-Z]+)'(?:, '([A-Z]+)')?")
_LOOKS = {"exists", "hexists", "memory|usage", "pubsub|numsub", *(name.lower() for name in READING)}
# A server before these versions does not know these commands, and refuses an ACL that names them.
_NEWER = {"client|setinfo": (7, 2), "waitaof": (7, 2), "eval_ro": (7, 0), "evalsha_ro": (7, 0)}


@attrs.frozen(kw_only=True)
class _Duties:
    """``scripts`` and ``plain`` commands are the role's own. It also has the rights of the roles that it
    ``includes``.
    """

    scripts: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    #: Whether the role uses channels.
    listens: bool = False
    #: Whether the role writes nothing. Its scripts share includes with scripts that write.
    only_looks: bool = False


_CONNECTING = ("client|setname", "client|setinfo", "client|id", "ping", "select", "cluster|slots", "asking")
_LISTENING = ("subscribe", "unsubscribe")

_ROLES = {
    # Every client can look whether the queue is well, and finds out why a call failed.
    "client": _Duties(
        only_looks=True,
        scripts=("missing_rights", "unknown_commands", "stats", "next_due", "overdue", "read_history"),
        plain=(
            *_CONNECTING,
            *("eval", "evalsha", "eval_ro", "evalsha_ro", "script|load"),
            *("time", "type", "llen", "exists", "zrange", "zcard", "hget"),
        ),
    ),
    "observer": _Duties(
        scripts=(
            *("inspect", "sample", "items", "read_waiting", "waiting_part", "in_flight", "in_flight_size", "recurring"),
            *("dead_letters", "find_item", "page", "contains", "contains_ready", "size", "time_to_live", "memory"),
            *("browse_dead", "browse_held", "browse_list", "browse_parked", "browse_waiting", "due_spans"),
        ),
        plain=(
            *("info", "scan", "pubsub|channels", "pubsub|numsub", "client|list", "lrange"),
            *("lindex", "llen", "lpos", "get", "hget", "slowlog|get", "acl|whoami", "acl|log", "cluster|info"),
        ),
        includes=("client",),
        only_looks=True,
    ),
    "mover": _Duties(
        scripts=("transfer", "tidy", "hand_over", "advance", "recur", "return_arrivals"),
        plain=(*_LISTENING, "publish", "info", "scan", "pubsub|channels", "pubsub|numsub"),
        includes=("client",),
        listens=True,
    ),
    "producer": _Duties(
        scripts=(
            *("offer", "offer_all", "offer_item", "offer_in_context", "offer_bounded", "push", "set_history"),
            *("cancel", "cancel_recurring", "find_item", "reschedule", "recurring", "set_capacity"),
        ),
        plain=("rpush", "lpush", "rpushx", "lpushx", "hget", "get", "wait", "waitaof", "multi", "exec"),
        includes=("mover",),
        listens=True,
    ),
    "consumer": _Duties(
        scripts=(
            *("receive", "ack", "give_back", "extend", "reject", "release", "hold", "run_command", "lease_due"),
            *("set_history", "find_item"),
            *("take_due", "take_bounded", "poll", "peek", "put_back", "move", "move_bounded"),
            *("in_flight", "in_flight_size", "contains_ready", "size"),
        ),
        plain=(
            *("blpop", "brpop", "blmove", "lpop", "rpop", "lmove", "lindex", "lrange", "lpos", "rpush", "get", "del"),
            *("multi", "exec", "client|unblock", "client|tracking", "client|caching", "wait", "waitaof"),
        ),
        includes=("mover",),
        listens=True,
    ),
    "worker": _Duties(
        scripts=("admit", "ack_and_receive", "inspect"),
        includes=("consumer",),
        listens=True,
    ),
    "operator": _Duties(
        scripts=(
            *("cancel", "cancel_recurring", "reschedule", "resume", "redrive", "purge_dead", "remove", "remove_ready"),
            *("clear", "offer", "offer_all", "offer_item", "offer_in_context", "push", "put_back", "take_due", "move"),
            *("dump", "restore", "copy", "rename", "expire", "persist", "poll", "lease_due", "give_back"),
            *("mend", "mend_ack", "mend_aside", "mend_find", "mend_letters", "mend_walk", "exchange"),
            *("unmend", "unmend_aside", "unrelease", "set_history"),
        ),
        plain=(
            *("rpush", "lpush", "lrem", "ltrim", "lset", "lpop", "rpop", "blpop", "del", "unlink", "hset", "hdel"),
            *("zrem", "zadd", "multi", "exec"),
        ),
        includes=("observer", "mover"),
        listens=True,
    ),
}

#: The roles of users.
ROLES = ("producer", "consumer", "worker", "mover", "observer", "operator")


@cache
def commands_of(role: str) -> tuple[str, ...]:
    """The commands of a role in alphabetical order, with ``|`` before a subcommand. Raises ArgumentError."""
    found = _ROLES.get(role)
    if found is None:
        meant = nearest(role, ROLES)
        raise ArgumentError(
            f"a role is one of {', '.join(ROLES)}, not {role!r}" + (f"; did you mean {meant}?" if meant else "")
        )
    own = {command for script in found.scripts for command in _sent_by(script)}
    if found.only_looks:
        own &= _LOOKS
    return tuple(sorted(own.union(found.plain, *(commands_of(each) for each in found.includes))))


def _sent_by(script: str) -> set[str]:
    """All commands that a script may send, including optional ones."""
    loaded = load(script)
    pairs = _SENT.findall(loaded.source)
    return {"|".join(filter(None, words)).lower() for words in pairs} | {
        each.lower().replace(" ", "|") for each in loaded.commands
    }


def needed_to_move(channel: str) -> tuple[str, ...]:
    """The commands without which nobody moves a queue, those on the channel with its name after them."""
    of_channel = [f"{command} {channel}" for command in ("PUBLISH", "SUBSCRIBE")] if " " not in channel else []
    return (*load("transfer").commands, *of_channel)


def acl_words(
    role: str, queues: Sequence[str], *, version: tuple[int, ...] = (7, 2), name_mapper: NameMapper | None = None
) -> list[str]:
    """The rules of ACL SETUSER that give a user the rights of a role on queues, and nothing else.

    A star in a queue's name matches any text, as ``orders:*`` for all partitions of ``orders``. ``version`` is the
    server's: an older one refuses commands that it does not know. Example::

        admin.execute_command("ACL", "SETUSER", "shop", "on", ">secret", *acl_words("worker", ["orders"]))

    Raises ArgumentError.
    """
    known = [name for name in commands_of(role) if _NEWER.get(name, ()) <= version]
    words = ["resetkeys", "resetchannels", "-@all", *(f"+{name}" for name in known)]
    keys: list[str] = []
    channels = ["redisson_dq:none"]
    for name in queues:
        patterns = _patterns(map_name(name, name_mapper))
        keys += patterns
        channels.append(patterns[1])
    if role in ("worker", "operator"):
        # Rates and slots that queues share.
        keys += ["redisson_dq_slots:*", "redisson_dq_rate:*"]
    if role == "operator":
        keys.append("redisson_dq_restoring_*")
    # Redis refuses further patterns in addition to the one for all keys.
    words += ["~*"] if "*" in keys else [f"~{each}" for each in keys]
    if _ROLES[role].listens:
        if role in ("consumer", "worker"):
            channels.append("__redis__:invalidate")
        words += [f"&{each}" for each in dict.fromkeys(channels)]
    return words


def _patterns(raw: str) -> tuple[str, str]:
    """The pattern of the ready list, and that of all other keys and channels of a queue."""
    escaped = re.sub(r"([\\?\[\]])", r"\\\1", raw)
    return escaped, f"redisson_*:{QueueKeys.of(escaped).settings.partition(':')[2]}"
