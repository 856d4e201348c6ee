"""The check of permissions: those that a mover needs, and those that were refused recently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from redisson_dq._common.texts import counted
from redisson_dq._operations.shell import command_line
from redisson_dq.admin.entries import QueueKeys
from redisson_dq.admin.names import needed_to_move
from redisson_dq.doctor.facts import Looked
from redisson_dq.doctor.findings import RECENTLY_S, CannotRun, Finding, Severity, redis_cli
from redisson_dq.doctor.sight import MOST_NAMED, TELLS_RIGHTS, Sight
from redisson_dq.observing.server_advice import version_of

__all__ = ["rights"]

# Refusals of these are not a service's: doctors and exporters ask for more than every user may know.
_LOOKS = {"info", "config|get", "slowlog|get", "client|list", "acl|log", "pubsub|channels", "pubsub|numsub", "scan"}
_OF_QUEUES = {
    *("eval", "evalsha", "script|load", "subscribe", "psubscribe", "publish", "blpop", "brpop", "blmove", "brpoplpush"),
    *("lpop", "rpop", "lpush", "rpush", "lrem", "lrange", "zadd", "zrem", "zrange", "zrangebyscore", "lmove"),
}
# How many queues are asked about in one round trip.
_ASKED_AT_ONCE = 200
# The writes of a transfer to each key, and those that a read-only user lacks.
_ON_TIMEOUT, _ON_ENVELOPES = ("ZRANGEBYSCORE", "ZREM"), ("LREM",)
_WRITES = {"RPUSH", "ZADD", "ZREM", "LREM"}


def rights(sight: Sight) -> Iterator[Finding]:
    """The user has all rights that a mover needs, and nobody was refused lately."""
    for _, info in sight.infos:
        if version_of(info) < TELLS_RIGHTS:
            raise CannotRun("Redis before 7.0 does not report which rights a user has")
    user = sight.ask("ACL", "WHOAMI").decode()
    looked = sight.queues
    only_looks = not looked and sight.missing_rights(_WRITES, sight.nodes[0]) >= _WRITES
    for queue, missing in _missing(sight, looked):
        only_looks = only_looks or set(missing) >= _WRITES
        # A user without any write permission only reads.
        if missing and not set(missing) >= _WRITES:
            yield Finding(
                check="rights",
                severity=Severity.PROBLEM,
                text=f"the user {user} may not run {', '.join(missing)}",
                queue=queue.whole,
                evidence={"user": user, "missing": missing},
                shown_by=redis_cli("ACL", "GETUSER", user),
                commands=(command_line("acl", [queue.whole], ["--role", "mover", "--user", user], of_server=False),),
                others=(),
            )
            break
    # An observer may try more than it is allowed to do. That harms no service.
    spared = user if only_looks else None
    yield from _refused(sight, {key: each.whole for each in looked for key in _all_keys(each.keys)}, spared)


def _missing(sight: Sight, queues: Sequence[Looked]) -> Iterator[tuple[Looked, list[str]]]:
    """The commands that the user may not send to move a queue, or with a key those that it may not run on that key.

    The questions about this many queues share a round trip.
    """
    for begin in range(0, len(queues), _ASKED_AT_ONCE):
        part = queues[begin : begin + _ASKED_AT_ONCE]
        asked = [each for queue in part for each in _needed(queue.keys)]
        told = iter(sight.admin.missing_rights(asked))
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


def _refused(sight: Sight, owners: dict[str, str], spared: str | None) -> Iterator[Finding]:
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
            is_old = float(of["age-seconds"]) > RECENTLY_S
            if who == spared or not is_ours or what.lower() in _LOOKS or is_old or (who, what) in told:
                continue
            told.add((who, what))
            # A command without its key names no queue.
            about = [owners[what]] if what in owners else sorted(set(owners.values()))[:MOST_NAMED]
            yield Finding(
                check="rights",
                severity=Severity.PROBLEM,
                text=f"the user {who} was refused the {reason} {what}, {counted(int(of['count']), 'time', 'times')}",
                queue=owners.get(what),
                evidence={"user": who, "reason": reason, "object": what, "count": int(of["count"])},
                shown_by=redis_cli("ACL", "LOG"),
                commands=(
                    command_line("acl", about, ["--role", "worker", "--user", who], of_server=False),
                    redis_cli("ACL", "LOG", "RESET"),
                ),
                others=tuple(about),
            )
