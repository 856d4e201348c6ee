"""Checks of the keys of queues and of the entries in them: types, torn entries, envelopes."""

from __future__ import annotations

from collections.abc import Iterator

from redisson_dq._common.texts import counted
from redisson_dq.doctor.facts import Looked
from redisson_dq.doctor.findings import Finding, Severity, redis_cli
from redisson_dq.doctor.sight import Sight

__all__ = ["key_types", "mixed_envelopes", "sampled_of", "torn_entries"]

# Makes entries due that are only in the list of envelopes, up to a number of the first ones, and counts them.
_MAKE_DUE = (
    'local n = 0 for _, e in ipairs(redis.call("LRANGE", KEYS[2], 0, ARGV[2])) do '
    'if not redis.call("ZSCORE", KEYS[1], e) then n = n + redis.call("ZADD", KEYS[1], ARGV[1], e) end end '
    'redis.call("PUBLISH", ARGV[3], 0) return n'
)
# Puts entries that are only in the zset into the list of envelopes, up to a number of the first ones, and counts them.
# The list is short, so it has been read completely. Leases and lean entries belong only in the zset.
_PUT_INTO_LIST = (
    'local n, seen = 0, {} for _, e in ipairs(redis.call("LRANGE", KEYS[2], 0, -1)) do seen[e] = 1 end '
    'for _, e in ipairs(redis.call("ZRANGE", KEYS[1], 0, ARGV[1])) do local b = string.byte(e) '
    'if not seen[e] and b ~= 9 and b ~= 10 and not redis.call("ZSCORE", KEYS[3], string.sub(e, 1, 8)) '
    'and not redis.call("ZSCORE", KEYS[3], string.sub(e, 2, 9)) then redis.call("RPUSH", KEYS[2], e) n = n + 1 end end '
    "return n"
)
_MOST_AT_ONCE = 9_999


def key_types(sight: Sight) -> Iterator[Finding]:
    """Each key of a queue has the type that queues keep there."""
    for queue in sight.queues:
        for key in queue.figures.wrong_types[:1]:
            yield queue.finding(
                check="key-types",
                severity=Severity.PROBLEM,
                text=str(key),
                evidence={"key": key.key, "type": key.type, "expected": key.expected},
                shown_by=redis_cli("TYPE", key.key),
                commands=(redis_cli("RENAMENX", key.key, _elsewhere(key.key)),),
            )


def _elsewhere(key: str) -> str:
    """A name in the same cluster slot that is not one of the queue's keys."""
    return f"moved:{key}" if "{" in key else f"moved:{{{key}}}"


def sampled_of(queue: Looked) -> dict[str, str]:
    """How many entries were examined, if not all of them."""
    sampled = queue.sampled
    if sampled.is_whole:
        return {}
    return {"sampled": f"{sum(sampled.kinds.values())} of {sampled.zset_size}"}


def torn_entries(sight: Sight) -> Iterator[Finding]:
    """Each entry is in both keys of the waiting side."""
    for queue in sight.queues:
        if any(key.role in ("timeout", "envelopes") for key in queue.figures.wrong_types):
            continue
        sampled = queue.sampled
        list_alone, zset_alone = sampled.torn
        if list_alone > 0:
            member = sampled.alone_in_list or b""
            shown = (
                redis_cli("ZSCORE", queue.keys.timeout, member) if member else redis_cli("LLEN", queue.keys.envelopes)
            )
            # The first one delivers the entries now, the second one drops the entry.
            keys = queue.keys
            make_due = redis_cli(
                *("EVAL", _MAKE_DUE, 2, keys.timeout, keys.envelopes, queue.now_ms, _MOST_AT_ONCE, keys.channel)
            )
            drop = redis_cli("LREM", queue.keys.envelopes, 1, member)
            yield queue.finding(
                check="torn-entries",
                severity=Severity.PROBLEM,
                text=counted(list_alone, "entry is", "entries are")
                + f" only in the list of envelopes, and {'is' if list_alone == 1 else 'are'} never due",
                evidence={"in_list_alone": list_alone, "in_zset_alone": max(0, zset_alone), **sampled_of(queue)},
                shown_by=shown,
                commands=(make_due, drop) if member and list_alone == 1 else (make_due,),
                alternatives=2 if member and list_alone == 1 else 0,
            )
        elif zset_alone > 0:
            waiting = queue.keys.timeout, queue.keys.envelopes, queue.keys.leases
            member = sampled.alone_in_zset or b""
            shown = (
                redis_cli("LPOS", queue.keys.envelopes, member) if member else redis_cli("ZCARD", queue.keys.timeout)
            )
            yield queue.finding(
                check="torn-entries",
                severity=Severity.WARNING,
                text=counted(zset_alone, "entry is", "entries are")
                + f" only in the timeout zset: {'it is' if zset_alone == 1 else 'they are'} delivered, but "
                "readAll() misses " + ("it" if zset_alone == 1 else "them"),
                evidence={"in_list_alone": 0, "in_zset_alone": zset_alone, **sampled_of(queue)},
                shown_by=shown,
                commands=(redis_cli("EVAL", _PUT_INTO_LIST, 3, *waiting, _MOST_AT_ONCE),) if member else (),
            )


def mixed_envelopes(sight: Sight) -> Iterator[Finding]:
    """All entries of a queue are in one envelope format, that of the Redisson that listens."""
    for queue in sight.queues:
        kinds = queue.sampled.kinds
        if not ("legacy" in kinds and "current" in kinds):
            continue
        listening = sum(row.listens and not row.is_ours for row in sight.clients)
        yield queue.finding(
            check="mixed-envelopes",
            severity=Severity.PROBLEM if listening else Severity.WARNING,
            text=f"{kinds['legacy']} legacy and {kinds['current']} current entries wait: a Redisson reads one kind, "
            f"up to 3.21.0 legacy, and stops at the other with 'data string too short' ({listening} listen)",
            evidence={
                "legacy": kinds["legacy"],
                "current": kinds["current"],
                "redissons_that_listen": listening,
                **sampled_of(queue),
            },
            shown_by=redis_cli("ZRANGE", queue.keys.timeout, 0, 9),
            commands=(
                queue.command("migrate", "--to-envelope", "current", "--yes"),
                queue.command("migrate", "--to-envelope", "legacy", "--yes"),
                queue.command("move", "--follow"),
            ),
            alternatives=3,
        )
