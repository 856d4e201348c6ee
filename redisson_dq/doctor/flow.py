"""Checks of the way of items: whether they are moved when they are due, and taken when they are ready.

Each symptom belongs to one check. An overdue item belongs to the check of its cause, where that is known:
``key-types``, ``paused``, ``nobody-moves`` or ``name-mapper``, ``quarantine``, ``mixed-envelopes``, ``leases-stuck``.
Else it belongs to ``overdue``. Values that nobody takes belong to ``nobody-consumes`` without any consumer that is
connected, to ``worker`` where one of ours is connected and does not get on, and to ``ready-backlog`` else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from redisson_dq._common.texts import counted
from redisson_dq._operations.shell import command_line
from redisson_dq.browsing.holders import ClientRow
from redisson_dq.doctor.facts import Looked
from redisson_dq.doctor.findings import CannotRun, Finding, Severity, redis_cli
from redisson_dq.doctor.sight import Gone, Sight
from redisson_dq.errors import EnvelopeError
from redisson_dq.wire.calls import Entry, SampledHolder
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.envelope import unwrap

__all__ = [
    "cause_of_standstill",
    "is_elsewhere",
    "leases_stuck",
    "nobody_consumes",
    "nobody_moves",
    "overdue",
    "paused",
    "ready_backlog",
    "recurring",
    "value_of",
    "worker",
]

# An item may be so late, in seconds. Redisson tries again 5 s after an error.
_GRACE_S = 5.0
# A value that is held as long is told of; the second one where no client of ours is connected. In seconds.
_HELD_S, _HELD_BY_NOBODY_S = 3600.0, 60.0
# So many ready values are a backlog.
_BACKLOG = 1000
# Consumers that have taken nothing for so many seconds while values are ready, and tell nothing of it, may hang.
_SILENT_S = 300.0
# So many leases are named in a command.
_MOST_RELEASED = 20
# The evidence in the note of a worker.
_OF_NOTES = ("handler", "host", "pid", "client", "running", "since_s", "patience_s", "stack")
_TAKES = {
    *("blpop", "brpop", "blmove", "brpoplpush", "blmpop", "lpop", "rpop", "lmove", "rpoplpush", "lmpop"),
}


def overdue(sight: Sight) -> Iterator[Finding]:
    """Due items are moved at once by the clients that listen."""
    for queue in sight.queues:
        if queue.late_s() <= _GRACE_S or cause_of_standstill(queue) is not None:
            continue
        figures, elsewhere = queue.figures, _listen_elsewhere(sight)
        where = f": clients listen in database {elsewhere}, and the items are in {sight.database}" if elsewhere else ""
        yield queue.finding(
            check="overdue",
            severity=Severity.PROBLEM,
            text=counted(figures.overdue, "item is due and is", "items are due and are")
            + f" not moved, the first one for {queue.late_s():.0f} s{where}",
            evidence={
                "overdue": figures.overdue,
                "late_by_s": round(queue.late_s(), 3),
                "subscribers": queue.subscribers,
                "mover": None if figures.mover is None else figures.mover.client,
            },
            shown_by=redis_cli("ZCOUNT", queue.keys.timeout, "-inf", queue.now_ms),
            commands=(
                queue.command("move"),
                "# set one database in all services" if where else "# restart the service that has the queue open",
            ),
        )


def _listen_elsewhere(sight: Sight) -> str:
    """The databases of all clients that listen, where none is that of the items. A channel is one for all databases."""
    try:
        databases = {row.fields.get("db", "") for row in sight.clients if row.listens}
    except CannotRun:
        return ""
    return "" if str(sight.database) in databases else ", ".join(sorted(databases))


def cause_of_standstill(queue: Looked) -> str | None:
    """The check that owns a queue whose due items are not moved. None where nothing explains it."""
    figures = queue.figures
    if any(key.role in ("ready", "timeout", "envelopes") for key in figures.wrong_types):
        return "key-types"
    if figures.is_paused:
        return "paused"
    if queue.subscribers == 0:
        return "nobody-moves"
    kinds = set(queue.sampled.kinds)
    if "unknown" in kinds:
        return "quarantine"
    if {"legacy", "current"} <= kinds:
        return "mixed-envelopes"
    if all(entry.kind == "lease" for entry in _due_entries(queue)):
        return "leases-stuck"
    return None


def _due_entries(queue: Looked) -> list[Entry]:
    now_ms = queue.now_ms
    return [entry for entry in queue.sampled.entries if (whole_ms(entry.due) or 0) <= now_ms - _GRACE_S * 1000]


def nobody_moves(sight: Sight) -> Iterator[Finding]:
    """Where items wait, a client is subscribed that moves them."""
    unknown = False
    for queue in sight.queues:
        figures = queue.figures
        if not (figures.waiting or figures.overdue) or is_elsewhere(sight, queue):
            continue
        if queue.subscribers is None:
            unknown = True
        elif queue.subscribers == 0:
            late = f", and {counted(figures.overdue, 'of them is', 'of them are')} due" if figures.overdue else ""
            them = "it" if figures.waiting == 1 else "them"
            yield queue.finding(
                check="nobody-moves",
                severity=Severity.PROBLEM,
                text=counted(figures.waiting, "item waits", "items wait")
                + f"{late}, and no client has the queue open that would move {them}",
                evidence={"waiting": figures.waiting, "overdue": figures.overdue, "subscribers": 0},
                shown_by=redis_cli("PUBSUB", "NUMSUB", queue.keys.channel),
                commands=(queue.command("move", "--follow"), queue.command("move")),
                alternatives=2,
            )
    if unknown:
        raise CannotRun("Redis does not tell who is subscribed: the user needs +pubsub, and replicas may have some")


def is_elsewhere(sight: Sight, queue: Looked) -> Looked | None:
    """The queue of a like name, with another prefix, that is heard and empty while nobody hears this one."""
    if queue.subscribers != 0 or not (queue.figures.waiting or queue.figures.ready):
        return None
    for other in sight.all_looked:
        is_idle = not (other.figures.waiting or other.figures.ready or other.figures.in_flight)
        if other.raw != queue.raw and other.subscribers and is_idle and _differ_by_prefix(other.raw, queue.raw):
            return other
    return None


def _differ_by_prefix(one: str, two: str) -> bool:
    long, short = (one, two) if len(one) > len(two) else (two, one)
    return long.endswith(short) and not long[-len(short) - 1].isalnum()


# -- ready values ----------------------------------------------------------------------------------------------------


def _untaken(sight: Sight) -> Iterator[Looked]:
    """Queues with ready values of which none was taken between the two looks."""
    for queue in sight.queues:
        again = sight.looked_again.get(queue.raw)
        if not queue.figures.ready or again is None or again.figures.ready < queue.figures.ready:
            continue
        if sight.has_letters_alone(queue):
            # A list of dead letters has no consumer.
            continue
        first = queue.sampled.ready[:1]
        if first == again.sampled.ready[:1] and queue.figures.in_flight >= again.figures.in_flight:
            yield again


def _owner_of_untaken(sight: Sight, queue: Looked) -> str:
    """The check that reports values that nobody takes. It goes by the receivers, not by values in flight."""
    if _stalled(queue):
        return "worker"
    if _has_living_holders(sight, queue):
        return "worker" if _is_silent(queue) else "ready-backlog"
    ours = [row for row in sight.clients if row.role == "lookout" or _receives(row, queue)]
    if any(row.role == "receiver" for row in ours):
        return "worker"
    # A client that waits in a blocking command waits for another queue: here it would have been served.
    others = [row for row in sight.clients if not row.is_ours and not row.is_blocked and row.command in _TAKES]
    return "ready-backlog" if ours or others else "nobody-consumes"


def _receives(row: ClientRow, queue: Looked) -> bool:
    return row.role == "receiver" and row.queue in (queue.raw, queue.name)


def _stalled(queue: Looked) -> list[Mapping[str, Any]]:
    """The notes of workers whose handlers settle nothing for longer than their usual time."""
    return [note for note in queue.sampled.notes if note["since_s"] > note["patience_s"]]


def _has_living_holders(sight: Sight, queue: Looked) -> bool:
    """Whether a client that is connected may have one of the values in flight."""
    if not queue.figures.in_flight:
        return False
    return any(sight.holder_of(each.ids[0]) is not Gone for each in queue.sampled.holders) or (
        not queue.sampled.holders and sight.has_clients_of_ours
    )


def _is_silent(queue: Looked) -> bool:
    """Whether holders have taken nothing for long, and none of them tells that it takes its usual time."""
    last_ms = queue.sampled.received_last_ms
    return last_ms is not None and not queue.sampled.notes and queue.now_ms - last_ms > _SILENT_S * 1000


def _gone(sight: Sight, queue: Looked) -> list[SampledHolder]:
    """The holders of leases that are not connected any more."""
    return [each for each in queue.sampled.holders if sight.holder_of(each.ids[0]) is Gone]


def nobody_consumes(sight: Sight) -> Iterator[Finding]:
    """Where values are ready, a consumer takes them."""
    for queue in _untaken(sight):
        if _owner_of_untaken(sight, queue) == "nobody-consumes" and not is_elsewhere(sight, queue):
            held = queue.figures.in_flight
            dead = f"; {counted(held, 'value is', 'values are')} held by clients that are gone" if held else ""
            yield queue.finding(
                check="nobody-consumes",
                severity=Severity.PROBLEM,
                text=counted(queue.figures.ready, "value is", "values are")
                + f" ready, and no consumer is connected that takes them{dead}",
                evidence={"ready": queue.figures.ready, "in_flight": held, "consumers": 0},
                shown_by=redis_cli("LLEN", queue.keys.ready),
                commands=(queue.command("peek"), "# start the service that consumes the queue"),
            )


def worker(sight: Sight) -> Iterator[Finding]:
    """A worker of ours that is connected takes the values that are ready."""
    for queue in _untaken(sight):
        if _owner_of_untaken(sight, queue) != "worker":
            continue
        ready = counted(queue.figures.ready, "value is", "values are") + " ready, and "
        evidence = {"ready": queue.figures.ready, "in_flight": queue.figures.in_flight}
        held = queue.command("list", "--state", "in-flight")
        if notes := _stalled(queue):
            yield from (_of_stalled(queue, note, ready, evidence, held) for note in notes)
        elif _has_living_holders(sight, queue) and _is_silent(queue):
            since = round((queue.now_ms - (queue.sampled.received_last_ms or 0)) / 1000)
            names = sorted({str(sight.holder_of(each.ids[0]) or each.client) for each in queue.sampled.holders})
            yield queue.finding(
                check="worker",
                severity=Severity.WARNING,
                text=f"{ready}{counted(queue.figures.in_flight, 'value is', 'values are')} held, and for {since} s "
                "the consumers have settled none and taken none",
                evidence={**evidence, "since_s": since, "holders": names},
                shown_by=redis_cli("ZRANGE", queue.keys.leases, 0, 9, "WITHSCORES"),
                commands=(held, "# look at the stack of the process that holds them, and restart it"),
            )
        else:
            names = sorted({row.client or "" for row in sight.clients if row.queue in (queue.raw, queue.name)})
            yield queue.finding(
                check="worker",
                severity=Severity.PROBLEM,
                text=f"{ready}the consumers that are connected take none",
                evidence={**evidence, "clients": names},
                shown_by=redis_cli("CLIENT", "LIST"),
                commands=("# where the worker runs: redisson-dq worker MODULE:WORKER --check", "# restart the worker"),
            )


def _of_stalled(queue: Looked, note: Mapping[str, Any], ready: str, evidence: Mapping[str, Any], held: str) -> Finding:
    where = f"{note.get('pid')} of {note.get('host')}"
    stack = str(note.get("stack", "")).strip()
    return queue.finding(
        check="worker",
        severity=Severity.PROBLEM,
        text=f"{ready}{note.get('handler')} in process {where} has settled none for {note['since_s']:.0f} s: it hangs"
        + (f", at {stack.splitlines()[-1].strip()}" if stack else ""),
        evidence={**evidence, **{name: note.get(name) for name in _OF_NOTES}},
        shown_by=redis_cli("HGETALL", queue.keys.alarm),
        commands=(held, f"# restart process {where}, and give the call that it waits for a timeout"),
    )


def ready_backlog(sight: Sight) -> Iterator[Finding]:
    """Ready values are few, as consumers keep up."""
    owned = {queue.raw for queue in _untaken(sight) if _owner_of_untaken(sight, queue) != "ready-backlog"}
    for queue in sight.queues:
        is_owned = queue.raw in owned or is_elsewhere(sight, queue) or sight.has_letters_alone(queue)
        if queue.figures.ready >= _BACKLOG and not is_owned:
            yield queue.finding(
                check="ready-backlog",
                severity=Severity.WARNING,
                text=f"{counted(queue.figures.ready, 'value is', 'values are')} ready, and consumers do not keep up",
                evidence={"ready": queue.figures.ready, "in_flight": queue.figures.in_flight},
                shown_by=redis_cli("LLEN", queue.keys.ready),
                commands=(queue.command("stats"), "# start more consumers"),
            )


# -- pauses, leases, recurring offers --------------------------------------------------------------------------------


def paused(sight: Sight) -> Iterator[Finding]:
    """No queue is paused."""
    for queue in sight.queues:
        if queue.figures.is_paused:
            yield queue.finding(
                check="paused",
                severity=Severity.WARNING,
                text=f"delivery is paused, and {counted(queue.figures.waiting, 'item waits', 'items wait')}",
                evidence={"paused": True, "waiting": queue.figures.waiting, "overdue": queue.figures.overdue},
                shown_by=redis_cli("HGET", queue.keys.settings, "paused"),
                commands=(queue.command("resume", "--yes"),),
            )


def leases_stuck(sight: Sight) -> Iterator[Finding]:
    """Values in flight are acked, renewed, or come back at their deadline."""
    for queue in sight.queues:
        figures, sampled = queue.figures, queue.sampled
        if queue.late_s() > _GRACE_S and cause_of_standstill(queue) == "leases-stuck":
            yield queue.finding(
                check="leases-stuck",
                severity=Severity.PROBLEM,
                text=counted(figures.overdue, "lease", "leases")
                + f" ended, the first one {queue.late_s():.0f} s ago, and none came back",
                evidence={"ended": figures.overdue, "late_by_s": round(queue.late_s(), 3)},
                shown_by=redis_cli("ZCOUNT", queue.keys.leases, "-inf", queue.now_ms),
                commands=(queue.command("move"),),
            )
        elif gone := [each for each in _gone(sight, queue) if queue.now_ms - each.since_ms > _HELD_BY_NOBODY_S * 1000]:
            yield _of_gone(queue, gone, is_all=len(gone) == len(sampled.holders) and sampled.leases <= 100)
        if sampled.held_since_ms is not None and sampled.held_id is not None:
            held = timedelta(milliseconds=queue.now_ms - sampled.held_since_ms).total_seconds()
            if held > _HELD_S and sight.holder_of(sampled.held_id) is not Gone:
                sampled_of = {} if sampled.leases <= 100 else {"sampled": f"100 of {sampled.leases}"}
                yield queue.finding(
                    check="leases-stuck",
                    severity=Severity.WARNING,
                    text=f"a value has been held for {held:.0f} s and was not acked",
                    evidence={"held_s": round(held), "in_flight": figures.in_flight, **sampled_of},
                    shown_by=redis_cli("HGET", queue.keys.deliveries, sampled.held_id),
                    commands=(
                        queue.command("list", "--state", "in-flight"),
                        command_line("release", [queue.whole, sampled.held_id.hex()], ["--yes"]),
                    ),
                )


def _of_gone(queue: Looked, gone: Sequence[SampledHolder], *, is_all: bool) -> Finding:
    """Values that are held by clients which are not connected, so nobody can ack them."""
    count, since_ms = sum(each.count for each in gone), min(each.since_ms for each in gone)
    ids = [id.hex() for each in gone for id in each.ids]
    return queue.finding(
        check="leases-stuck",
        severity=Severity.WARNING,
        text=counted(count, "value is", "values are") + " held, and no client is connected that could ack them",
        evidence={
            "held_s": round((queue.now_ms - since_ms) / 1000),
            "held": count,
            "in_flight": queue.figures.in_flight,
            "clients": [each.client for each in gone],
        },
        shown_by=redis_cli("CLIENT", "LIST"),
        commands=(
            queue.command("list", "--state", "in-flight"),
            queue.command("release", "--all", "--yes")
            if is_all
            else command_line("release", [queue.whole, *ids[:_MOST_RELEASED]], ["--yes"]),
        ),
    )


def recurring(sight: Sight) -> Iterator[Finding]:
    """Each recurring offer has a next occurrence."""
    for queue in sight.queues:
        figures = queue.figures
        # Of each offer the hash has three fields.
        stopped = queue.size_of("recurring") // 3 - figures.recurring
        next_at = figures.next_recurring
        late = 0.0 if next_at is None else (figures.server_time - next_at).total_seconds()
        is_over = late > 60 and not figures.overdue and not figures.is_paused
        if stopped > 0 or is_over:
            yield queue.finding(
                check="recurring",
                severity=Severity.PROBLEM,
                text="nobody makes the next occurrence of "
                + counted(max(stopped, 1), "recurring offer", "recurring offers"),
                evidence={"stopped": max(stopped, 1), "recurring": figures.recurring, "late_by_s": round(late, 3)},
                shown_by=redis_cli("HKEYS", queue.keys.recurring),
                commands=(
                    queue.command("list", "--state", "recurring"),
                    queue.command("move", "--follow"),
                ),
            )


def value_of(member: bytes) -> bytes | None:
    """The value inside an entry. None for one in no known format."""
    try:
        return unwrap(member)[1]
    except EnvelopeError:
        return None
