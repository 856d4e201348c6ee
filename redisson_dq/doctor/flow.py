"""Checks of items until they are ready: whether they are moved when due, and return after a lease.

Each symptom is reported by one check. An overdue item is reported by the check of its cause, if that is known:
``key-types``, ``paused``, ``nobody-moves`` or ``name-mapper``, ``quarantine``, ``mixed-envelopes``, ``leases-stuck``.
Otherwise ``overdue`` reports it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta

from redisson_dq._common.texts import counted
from redisson_dq._operations.shell import command_line
from redisson_dq.admin.entries import Entry, SampledHolder, unwrap, whole_ms
from redisson_dq.browsing.rows import parked_row
from redisson_dq.doctor.facts import Looked
from redisson_dq.doctor.findings import CannotRun, Finding, Severity, ValueText, redis_cli
from redisson_dq.doctor.sight import Gone, Sight
from redisson_dq.errors import EnvelopeError
from redisson_dq.scheduling.times import from_ms

__all__ = [
    "alike",
    "cause_of_standstill",
    "far_due",
    "is_elsewhere",
    "leases_stuck",
    "nobody_moves",
    "overdue",
    "parked",
    "paused",
    "recurring",
    "value_of",
]

# How late an item may be, in seconds. Redisson tries again 5 s after an error.
_GRACE_S = 5.0
# A value that is held for longer is reported; the second limit applies if no client of ours is connected. In seconds.
_HELD_S, _HELD_BY_NOBODY_S = 3600.0, 60.0
# A longer delay is hardly intended (sample.lua). The range of dates, in epoch ms.
_FAR_DAYS, _DAY_MS, _LAST_MS = 1826, 86_400_000, 253_402_300_799_000
# A value that waits longer for a limit of its key is reported, in seconds.
_PARKED_S = 3600.0
# How many leases are named in a command.
_MOST_RELEASED = 20


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


def far_due(sight: Sight) -> Iterator[Finding]:
    """No item is due in more than five years, as if its delay were a time in epoch milliseconds."""
    for queue in sight.queues:
        count, last_ms = queue.sampled.far
        if not count:
            continue
        # A time outside the calendar's range is not a date.
        far = f"due > {_FAR_DAYS}d or not due"
        last = from_ms(int(last_ms)) if last_ms <= _LAST_MS else None
        # The delay was a time in epoch ms or s: the due time is the sum of that time and the time of the offer.
        is_time = abs(last_ms - 2 * queue.now_ms) < _FAR_DAYS * _DAY_MS
        seconds = queue.now_ms // 1000
        sooner = (queue.command("reschedule", "--filter", far, "--by", f"-{seconds}", "--yes"),) if is_time else ()
        yield queue.finding(
            check="far-due",
            severity=Severity.WARNING,
            text=counted(count, "item is", "items are")
            + f" due in more than five years, the last one {f'on {last:%Y-%m-%d}' if last else 'never'}"
            + (": a time was given in place of a delay" if is_time else ""),
            evidence={"far": count, "last_due": None if last is None else last.isoformat()},
            shown_by=redis_cli("ZREVRANGE", queue.keys.timeout, 0, 9, "WITHSCORES"),
            commands=(
                queue.command("list", "--filter", far),
                "# let the producer give a delay, and not a time",
                *sooner,
                queue.command("run-now", "--filter", far, "--yes"),
                queue.command("cancel", "--filter", far),
            ),
            alternatives=2 + len(sooner),
        )


def _listen_elsewhere(sight: Sight) -> str:
    """The databases of all listening clients, if none is that of the items. All databases share the channels."""
    try:
        databases = {row.fields.get("db", "") for row in sight.clients if row.listens}
    except CannotRun:
        return ""
    return "" if str(sight.database) in databases else ", ".join(sorted(databases))


def cause_of_standstill(queue: Looked) -> str | None:
    """The check that reports a queue whose due items are not moved. None if no cause is known."""
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
    """Each queue with waiting items has a subscribed client that moves them."""
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
                + f"{late}, and no client that would move {them} has the queue open",
                evidence={"waiting": figures.waiting, "overdue": figures.overdue, "subscribers": 0},
                shown_by=redis_cli("PUBSUB", "NUMSUB", queue.keys.channel),
                commands=(queue.command("move", "--follow"), queue.command("move")),
                alternatives=2,
            )
    if unknown:
        raise CannotRun("Redis does not report who is subscribed: the user needs +pubsub, and replicas may have some")


def is_elsewhere(sight: Sight, queue: Looked) -> Looked | None:
    """The empty queue of the same name with another prefix that has listeners, while this queue has none."""
    other = alike(sight, queue)
    is_idle = other and not (other.figures.waiting or other.figures.ready or other.figures.in_flight)
    return other if is_idle else None


def alike(sight: Sight, queue: Looked) -> Looked | None:
    """The queue of the same name with another prefix that has listeners, while this queue has items and no listener."""
    if queue.subscribers != 0 or not (queue.figures.waiting or queue.figures.ready) or sight.has_letters_alone(queue):
        return None
    for other in sight.all_looked:
        if other.raw != queue.raw and other.subscribers and _differ_by_prefix(other.raw, queue.raw):
            return other
    return None


def _differ_by_prefix(one: str, two: str) -> bool:
    long, short = (one, two) if len(one) > len(two) else (two, one)
    return long.endswith(short) and not long[-len(short) - 1].isalnum()


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


def _gone(sight: Sight, queue: Looked) -> list[SampledHolder]:
    """The holders of leases that are no longer connected."""
    return [each for each in queue.sampled.holders if sight.holder_of(each.ids[0]) is Gone]


def parked(sight: Sight) -> Iterator[Finding]:
    """No value waits for more than an hour for a limit of its key."""
    for queue in sight.queues:
        if not queue.size_of("lines"):
            continue
        page = sight.admin.queue(queue.name).parked(None, 1, 0)
        if not page.rows:
            continue
        row = parked_row(queue.name, from_ms(queue.now_ms), page.rows[0])
        waits_s = 0.0 if row.at is None else (row.now - row.at).total_seconds()
        if waits_s <= _PARKED_S:
            continue
        yield queue.finding(
            check="parked",
            severity=Severity.WARNING,
            text=f"{counted(page.count, 'value is', 'values are')} parked by limits of their keys, the first one for "
            f"{waits_s / 3600:.1f} h by {row.waits_for}",
            evidence={"parked": page.count, "waits_s": round(waits_s), "waits_for": ValueText(row.waits_for)},
            shown_by=redis_cli("ZRANGEBYLEX", queue.keys.lines, "[p", "(q", "LIMIT", 0, 1),
            commands=(
                queue.command("list", "--state", "parked"),
                "# raise the limit of this key, add workers, or let the other side send less",
            ),
        )


def leases_stuck(sight: Sight) -> Iterator[Finding]:
    """Values in flight are acked, renewed, or come back at their deadline."""
    for queue in sight.queues:
        figures, sampled = queue.figures, queue.sampled
        if figures.arrivals and (lost := _left_arrivals(sight, queue)):
            yield queue.finding(
                check="leases-stuck",
                severity=Severity.PROBLEM,
                text=counted(lost, "value", "values")
                + f" came to a receiver that is gone, and no client makes {'it' if lost == 1 else 'them'} ready again",
                evidence={"arrivals": lost},
                shown_by=redis_cli("LRANGE", queue.keys.arrivals, 0, 9),
                commands=(queue.command("move"),),
            )
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


def _left_arrivals(sight: Sight, queue: Looked) -> int:
    """How many values were handed to receivers and not leased, if no client takes care of them."""
    again = sight.looked_again.get(queue.raw)
    names = (queue.raw, queue.name)
    for row in sight.clients:
        # The name of a connection for several queues contains only the first.
        is_here = row.queue in names or "+" in (row.queue or "")
        if row.role == "lookout" or (is_here and row.role in ("receiver", "subscription")):
            return 0
    return 0 if again is None else min(queue.figures.arrivals, again.figures.arrivals)


def _of_gone(queue: Looked, gone: Sequence[SampledHolder], *, is_all: bool) -> Finding:
    """Values held by clients that are not connected, so nobody can ack them."""
    count, since_ms = sum(each.count for each in gone), min(each.since_ms for each in gone)
    ids = [id.hex() for each in gone for id in each.ids]
    return queue.finding(
        check="leases-stuck",
        severity=Severity.WARNING,
        text=counted(count, "value is", "values are") + " held, and no connected client could ack them",
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
        # The hash has three fields for each offer.
        stopped = queue.size_of("recurring") // 3 - figures.recurring
        next_at = figures.next_recurring
        late = 0.0 if next_at is None else (figures.server_time - next_at).total_seconds()
        is_over = late > 60 and not figures.overdue and not figures.is_paused
        if stopped > 0 or is_over:
            yield queue.finding(
                check="recurring",
                severity=Severity.PROBLEM,
                text="nobody creates the next occurrence of "
                + counted(max(stopped, 1), "recurring offer", "recurring offers"),
                evidence={"stopped": max(stopped, 1), "recurring": figures.recurring, "late_by_s": round(late, 3)},
                shown_by=redis_cli("HKEYS", queue.keys.recurring),
                commands=(
                    queue.command("list", "--state", "recurring"),
                    *(["# let its service call offer_recurring() again, with the same id"] if stopped > 0 else []),
                    queue.command("move", "--follow"),
                ),
            )
        if figures.missed:
            yield from _missed(sight, queue, sight.ask_key("HGET", queue.keys.settings, "missed"))


def _missed(sight: Sight, queue: Looked, noted: bytes | None) -> Iterator[Finding]:
    """Occurrences that were missed within the last day, and at least a minute apart: a slow step misses closer ones."""
    _, last, name = (*(noted or b"").decode(errors="surrogateescape").split(" ", 2), "", "")[:3]
    if not re.fullmatch("[0-9]{1,15}", last):
        return
    at = from_ms(int(last))
    close = re.search(rb'"every_ms":(\d+)', sight.ask_key("HGET", queue.keys.recurring, "d" + name) or b"")
    if close and int(close[1]) < 60_000:
        return
    if queue.figures.server_time - at < timedelta(days=1):
        yield queue.finding(
            check="recurring",
            severity=Severity.WARNING,
            text=counted(queue.figures.missed, "occurrence was", "occurrences were")
            + f" missed, as no process moved the queue; the last one at {at:%H:%M:%S}",
            evidence={
                "missed": queue.figures.missed,
                "last_due": at.isoformat(),
                "last_of": name,
            },
            shown_by=redis_cli("HGET", queue.keys.settings, "missed"),
            commands=(
                queue.command("list", "--state", "recurring"),
                queue.command("move", "--follow"),
            ),
        )


def value_of(member: bytes) -> bytes | None:
    """The value inside an entry. None if the format is unknown."""
    try:
        return unwrap(member)[1]
    except EnvelopeError:
        return None
