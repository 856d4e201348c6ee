"""The server's figures for a measurement: commands, the longest script call, memory, CPU time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import redis

from redisson_dq.wire.keys import QueueKeys

__all__ = [
    "FROM_CLIENTS",
    "TRANSFERS",
    "Watch",
    "command_stats",
    "eventually",
    "grown",
    "is_empty",
    "server_cpu",
    "subscribers",
    "used_memory",
]

# Commands that only clients send. Redis also counts the commands inside scripts (ZADD, LREM ...).
TRANSFERS = ("evalsha", "eval", "fcall")
FROM_CLIENTS = (
    *TRANSFERS,
    *("blpop", "brpop", "blmove", "brpoplpush", "lpop", "rpop"),
    *("subscribe", "psubscribe", "unsubscribe", "punsubscribe", "ping", "hello", "script|load", "script|exists"),
    *("client|id", "client|unblock", "client|setname", "client|setinfo"),
)

_PATIENCE = 30.0
#: Calls above so many microseconds get into the server's slow log; 0 would be a load of its own.
_SLOW_US = 100


class Watch:
    """Looks at the server between its making and ``end()``. Whoever writes before that is not watched."""

    def __init__(self, admin: redis.Redis) -> None:
        self._admin = admin
        admin.config_set("slowlog-log-slower-than", _SLOW_US)
        admin.config_set("slowlog-max-len", 100_000)
        admin.slowlog_reset()
        self._calls, self._busy = command_stats(admin, "calls"), command_stats(admin, "usec")
        self._cpu = server_cpu(admin)
        #: Calls that Redis counted, by command, and how long it worked on them.
        self.calls: dict[str, int] = {}
        self.busy_us: dict[str, int] = {}
        self.cpu_s = 0.0
        #: The longest script call; 0 when none took a tenth of a millisecond.
        self.longest_us = 0

    def end(self) -> None:
        """Fills in what happened. The slow log, which takes memory, is off then."""
        self.calls = grown(self._calls, command_stats(self._admin, "calls"))
        self.busy_us = grown(self._busy, command_stats(self._admin, "usec"))
        self.cpu_s = server_cpu(self._admin) - self._cpu
        slow: Any = self._admin.slowlog_get(100_000)
        names = tuple(name.upper().encode() for name in TRANSFERS)
        self.longest_us = max(
            (entry["duration"] for entry in slow if entry["command"].upper().startswith(names)), default=0
        )
        self._admin.config_set("slowlog-log-slower-than", -1)
        self._admin.slowlog_reset()


def command_stats(admin: redis.Redis, field: str) -> dict[str, int]:
    """One field of INFO commandstats, by command."""
    stats: Any = admin.info("commandstats")
    return {name.removeprefix("cmdstat_"): entry[field] for name, entry in stats.items()}


def grown(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What was added to counters."""
    found = {name: count - before.get(name, 0) for name, count in sorted(after.items())}
    return {name: count for name, count in found.items() if count}


def server_cpu(admin: redis.Redis) -> float:
    """Seconds that the server has computed so far."""
    cpu: Any = admin.info("cpu")
    return float(cpu["used_cpu_user"] + cpu["used_cpu_sys"])


def used_memory(admin: redis.Redis) -> int:
    """Bytes that the server has allocated."""
    memory: Any = admin.info("memory")
    return int(memory["used_memory"])


def subscribers(admin: redis.Redis, keys: QueueKeys) -> int:
    """Connections that listen to the queue's channel."""
    answer: Any = admin.pubsub_numsub(keys.channel)
    return int(answer[0][1])


def is_empty(admin: redis.Redis, keys: QueueKeys) -> bool:
    """Whether nothing waits and nothing is ready."""
    return not admin.exists(keys.ready, keys.timeout)


def eventually(condition: Callable[[], bool], complaint: str, extra_ms: int = 0) -> None:
    """Waits for it, or raises RuntimeError with the complaint after half a minute and so many ms."""
    deadline = time.monotonic() + _PATIENCE + extra_ms / 1000
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(complaint)
        time.sleep(0.02)
