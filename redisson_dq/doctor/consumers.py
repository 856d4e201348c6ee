"""Checks of ready values: whether consumers take them, and keep up.

Each symptom is reported by one check. Values that nobody takes are reported by ``nobody-consumes`` if no consumer is
connected, by ``worker`` if one of our workers is connected but makes no progress, and otherwise by ``ready-backlog``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from redisson_dq._common.texts import counted
from redisson_dq.browsing.holders import ClientRow
from redisson_dq.doctor.facts import Looked
from redisson_dq.doctor.findings import Finding, Severity, redis_cli
from redisson_dq.doctor.flow import is_elsewhere
from redisson_dq.doctor.sight import Gone, Sight

__all__ = ["nobody_consumes", "ready_backlog", "worker"]

# This many ready values are a backlog.
_BACKLOG = 1000
# Fewer are a backlog if consumers need longer than _LONG_S for them, and more than _PER_LEASE are ready per lease.
_LONG_S, _PER_LEASE = 60.0, 10
# Without leases, this many are a backlog if hardly any was taken between the two reads.
_UNTAKEN = 100
# Consumers may hang if they take nothing for this many seconds while values are ready, and report nothing.
_SILENT_S = 300.0
# The figures in a worker's note that are used as evidence.
_OF_NOTES = ("handler", "host", "pid", "client", "running", "since_s", "patience_s", "stack")
_TAKES = {
    *("blpop", "brpop", "blmove", "brpoplpush", "blmpop", "lpop", "rpop", "lmove", "rpoplpush", "lmpop"),
}


def _untaken(sight: Sight) -> Iterator[Looked]:
    """Queues with ready values of which none was taken between the two reads."""
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
    """The check that reports values that nobody takes. It depends on the receivers, not on values in flight."""
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
    """Whether a connected client may have one of the values in flight."""
    if not queue.figures.in_flight:
        return False
    return any(sight.holder_of(each.ids[0]) is not Gone for each in queue.sampled.holders) or (
        not queue.sampled.holders and sight.has_clients_of_ours
    )


def _is_silent(queue: Looked) -> bool:
    """Whether holders have taken nothing for a long time, and none reports that this is usual for it."""
    last_ms = queue.sampled.received_last_ms
    return last_ms is not None and not queue.sampled.notes and queue.now_ms - last_ms > _SILENT_S * 1000


def nobody_consumes(sight: Sight) -> Iterator[Finding]:
    """Ready values have a consumer that takes them."""
    for queue in _untaken(sight):
        if _owner_of_untaken(sight, queue) == "nobody-consumes" and not is_elsewhere(sight, queue):
            held = queue.figures.in_flight
            dead = f"; {counted(held, 'value is', 'values are')} held by clients that are gone" if held else ""
            yield queue.finding(
                check="nobody-consumes",
                severity=Severity.PROBLEM,
                text=counted(queue.figures.ready, "value is", "values are")
                + f" ready, and no connected consumer takes them{dead}",
                evidence={"ready": queue.figures.ready, "in_flight": held, "consumers": 0},
                shown_by=redis_cli("LLEN", queue.keys.ready),
                commands=(queue.command("peek"), "# start the service that consumes the queue"),
            )


def worker(sight: Sight) -> Iterator[Finding]:
    """Connected workers take the values that are ready."""
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
    """Consumers keep up, so few values are ready."""
    owned = {queue.raw for queue in _untaken(sight) if _owner_of_untaken(sight, queue) != "ready-backlog"}
    for queue in sight.queues:
        is_owned = queue.raw in owned or is_elsewhere(sight, queue) or sight.has_letters_alone(queue)
        if is_owned or not queue.figures.ready:
            continue
        takes_s = _seconds_for(sight, queue)
        if queue.figures.ready >= _BACKLOG or takes_s > _LONG_S:
            is_known = _LONG_S < takes_s < math.inf
            yield queue.finding(
                check="ready-backlog",
                severity=Severity.WARNING,
                text=f"{counted(queue.figures.ready, 'value is', 'values are')} ready, and consumers do not keep up"
                + (f": at their pace the last one is taken in {takes_s:.0f} s" if is_known else ""),
                evidence={
                    "ready": queue.figures.ready,
                    "in_flight": queue.figures.in_flight,
                    "takes_s": round(takes_s) if takes_s < math.inf else None,
                },
                shown_by=redis_cli("LLEN", queue.keys.ready),
                commands=(queue.command("stats"), "# start more consumers, or give the handler a higher concurrency="),
            )


def _seconds_for(sight: Sight, queue: Looked) -> float:
    """How many seconds the consumers need for the ready values, if these are a backlog; otherwise 0."""
    again = sight.looked_again.get(queue.raw, queue)
    ready, in_flight = queue.figures.ready, queue.figures.in_flight
    count = sum(each.count for look in (queue, again) for each in look.sampled.holders)
    if count:
        # An observed lease is half over on average, so each value is held for twice its observed age.
        held_s = 2 * (queue.sampled.held_ms + again.sampled.held_ms) / count / 1000
        return ready * held_s / in_flight if in_flight and ready >= _PER_LEASE * in_flight else 0.0
    taken = ready - again.figures.ready
    if ready < _UNTAKEN:
        return 0.0
    return ready * (again.sampled.now_us - queue.sampled.now_us) / 1e6 / taken if taken > 0 else math.inf
