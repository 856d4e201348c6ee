"""The table of all checks, and the call that runs them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs
import redis

from redisson_dq import Client
from redisson_dq._common.texts import described, nearest, shown
from redisson_dq.admin.refusals import is_misnamed, lacks_rights
from redisson_dq.codecs.base import Codec
from redisson_dq.doctor import (
    commands,
    consumers,
    entries,
    fleet,
    flow,
    history,
    replication,
    rights,
    server,
    set_aside,
    timing,
    trying,
    values,
)
from redisson_dq.doctor.addresses import has_password, redis_cli_options
from redisson_dq.doctor.findings import (
    CannotRun,
    Finding,
    Misnamed,
    Report,
    Result,
    Severity,
    Status,
    ValueText,
    addressed,
)
from redisson_dq.doctor.sight import Sight
from redisson_dq.errors import ArgumentError, CodecError, EnvelopeError, RedissonDQError

__all__ = ["CHECKS", "Check", "diagnose"]

logger = logging.getLogger("redisson_dq")


@attrs.frozen
class Check:
    """One check: its stable id and its function. The function's first docstring line describes a healthy fleet."""

    id: str
    run: Callable[[Sight], Iterator[Finding]]
    #: Whether the check writes, and so only runs on demand.
    writes: bool = False

    @property
    def summary(self) -> str:
        """The state of a healthy fleet in one line."""
        return (self.run.__doc__ or "").partition("\n")[0]


#: Every check, in the order in which they run. ``connection`` is the first.
CHECKS = (
    Check("connection", server.connection),
    Check("server-version", server.server_version),
    Check("commands", commands.commands),
    Check("rights", rights.rights),
    Check("eviction", server.eviction),
    Check("persistence", server.persistence),
    Check("memory", server.memory),
    Check("replication", replication.replication),
    Check("key-types", entries.key_types),
    Check("overdue", flow.overdue),
    Check("far-due", flow.far_due),
    Check("nobody-moves", flow.nobody_moves),
    Check("nobody-consumes", consumers.nobody_consumes),
    Check("paused", flow.paused),
    Check("parked", flow.parked),
    Check("leases-stuck", flow.leases_stuck),
    Check("failing", set_aside.failing),
    Check("dead-letters", set_aside.dead_letters),
    Check("quarantine", set_aside.quarantine),
    Check("undecodable", set_aside.undecodable),
    Check("expired", set_aside.expired),
    Check("torn-entries", entries.torn_entries),
    Check("mixed-envelopes", entries.mixed_envelopes),
    Check("codec", values.codec),
    Check("unknown-classes", values.unknown_classes),
    Check("name-mapper", fleet.name_mapper),
    Check("clock", timing.clock),
    Check("keyspace-events", timing.keyspace_events),
    Check("recurring", flow.recurring),
    Check("history", history.history),
    Check("slow-scripts", timing.slow_scripts),
    Check("client-versions", fleet.client_versions),
    Check("orphans", fleet.orphans),
    Check("ready-backlog", consumers.ready_backlog),
    Check("worker", consumers.worker),
    Check("main-job", trying.main_job, writes=True),
)


def diagnose(
    client: Client,
    queues: Iterable[str] = (),
    *,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    codec: Codec | None = None,
    trial: bool = False,
) -> Report:
    """Runs the checks, and reports all problems of these queues and of the client's servers.

    ``queues`` are names, or one name; without any, all queues in Redis are checked. ``only`` and ``skip`` choose checks
    by their ids. ``codec`` is the expected codec of the values; without it, the codec is recognised from their bytes.
    With ``trial`` the main job is done once, in a separate queue that is deleted at the end (``main-job``). All
    checks run even when one fails. Example::

        report = diagnose(client, ["orders"])
        for finding in report.findings:
            print(finding.check, finding.text, finding.shown_by)

    Nothing is changed without ``trial``. Read permission is enough; a check that lacks a permission is unknown. Each
    queue costs two scripts of a few ms at most, whatever is in it. If there are ready values, they are read again 0.25
    s later. Raises ArgumentError for an unknown id of a check, and ClosedError.
    """
    queues = [queues] if isinstance(queues, str) else list(queues)
    if wrong := [each for each in queues if not isinstance(each, str)]:
        raise ArgumentError(f'queues are names, such as ["orders"], not {shown(wrong[0])}')
    chosen = [check for check in _chosen(only, skip) if trial or not check.writes]
    sight = Sight(client, queues, codec)
    failure = _failure(sight)
    if failure is not None:
        return _without_redis(chosen, sight, *failure)
    results, findings = [], []
    for check in chosen:
        result, found = _run(check, sight)
        results.append(result)
        findings += [_addressed(each, sight) for each in _together(found)]
    findings.sort(key=lambda each: each.severity is Severity.WARNING)
    return Report(results=tuple(results), findings=tuple(findings), notes=tuple(sight.notes))


def _chosen(only: Sequence[str], skip: Sequence[str]) -> list[Check]:
    ids = [check.id for check in CHECKS]
    for given in (*only, *skip):
        if given not in ids:
            meant = nearest(given, ids)
            raise ArgumentError(f"there is no check {given!r}" + (f"; did you mean {meant}?" if meant else ""))
    return [check for check in CHECKS if (not only or check.id in only) and check.id not in skip]


def _failure(sight: Sight) -> tuple[str, str] | None:
    """Why no check can run, as a word and a text. The first command shows this."""
    try:
        list(server.connection(sight))
    except (CannotRun, RedissonDQError) as error:
        cause = error if isinstance(error, RedissonDQError) else error.__cause__
        if isinstance(error, Misnamed) or (cause is not None and is_misnamed(cause)):
            return "misnamed", str(error)
        refused = isinstance(cause, RedissonDQError) and lacks_rights(cause)
        return ("rights" if refused else "unreachable"), str(error)
    return None


#: For each failure: the reason given for all other checks, the command that shows it, and the commands that help.
_FAILURES = {
    "unreachable": ("Redis cannot be reached", "redis-cli PING", ("redis-cli PING", "systemctl status redis")),
    "rights": ("Redis refused the first command", "redis-cli PING", ("redis-cli ACL WHOAMI",)),
    "misnamed": ("the URL names a server of another kind", "redis-cli INFO server", ("# {remedy}",)),
}


def _without_redis(chosen: list[Check], sight: Sight, failure: str, text: str) -> Report:
    reason, shown_by, commands = _FAILURES[failure]
    finding = Finding(
        check="connection",
        severity=Severity.PROBLEM,
        text=text,
        queue=None,
        # On a cluster, the node that did not answer.
        evidence={"error": text} if sight.asked is None else {"error": text, "server": sight.asked.name},
        shown_by=shown_by,
        commands=tuple(each.format(remedy=text.rpartition(": ")[2]) for each in commands),
        others=(),
    )
    results = [
        Result(check=each.id, status=Status.PROBLEM)
        if each.id == "connection"
        else Result(check=each.id, status=Status.UNKNOWN, reason=reason)
        for each in chosen
    ]
    with contextlib.suppress(RedissonDQError, redis.RedisError):
        # Sentinels may have to be asked for the server.
        finding = _addressed(finding, sight)
    return Report(results=tuple(results), findings=(finding,), notes=tuple(sight.notes), failure=failure)


def _run(check: Check, sight: Sight) -> tuple[Result, list[Finding]]:
    """Runs a check. If it raises, the other checks still run."""
    found: list[Finding] = []
    reason = None
    sight.has_asked_for_queues = False
    try:
        found.extend(check.run(sight))
        if sight.refused and sight.has_asked_for_queues:
            name, refusal = next(iter(sight.refused.items()))
            more = f", and {len(sight.refused) - 1} more queues" if len(sight.refused) > 1 else ""
            raise CannotRun(f"{name}{more} cannot be looked at: {refusal}")
    except (CannotRun, RedissonDQError) as error:
        reason = ValueText(error) if isinstance(error, (CodecError, EnvelopeError)) else str(error)
    except Exception as error:
        logger.exception("unexpected error in the check %s", check.id)
        reason = ValueText(described(error))
    if any(each.severity is Severity.PROBLEM for each in found):
        status = Status.PROBLEM
    elif found:
        status = Status.WARNING
    else:
        status = Status.OK if reason is None else Status.UNKNOWN
    return Result(check=check.id, status=status, reason=reason), found


def _addressed(finding: Finding, sight: Sight) -> Finding:
    """The finding, with redis-cli commands that reach its server."""
    nodes = {node.name: node for node in sight.nodes}
    node = nodes.get(str(finding.evidence.get("server")), sight.nodes[0])
    options = redis_cli_options(node.pool, is_cluster=sight.admin.is_cluster)
    if has_password(node.pool):
        sight.note("redis-cli takes the password from the environment variable REDISCLI_AUTH")
    return attrs.evolve(
        finding,
        shown_by=addressed(finding.shown_by, options),
        commands=tuple(addressed(each, options) for each in finding.commands),
    )


def _together(found: list[Finding]) -> list[Finding]:
    """One finding for all partitions of a queue: that of the first partition, with the number of partitions."""
    alike: dict[object, list[Finding]] = {}
    for number, each in enumerate(found):
        key = number if each.partition is None else (each.queue, each.severity, tuple(each.evidence))
        alike.setdefault(key, []).append(each)
    return [_of_partitions(each[0], len(each)) for each in alike.values()]


def _of_partitions(first: Finding, count: int) -> Finding:
    if first.partition is None:
        return first
    more = f", and {count - 1} more partitions are like it" if count > 1 else ""
    text = f"{first.text} (in {first.partition}{more})"
    return attrs.evolve(first, text=text, evidence={**first.evidence, "partitions": count})
