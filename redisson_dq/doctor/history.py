"""The check of the histories of queues: their settings, how far back they go, events of other programs, memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from redisson_dq._common.texts import counted
from redisson_dq.admin.entries import LONGEST_MS, MOST_EVENTS, OF_AN_ITEM, kept_in
from redisson_dq.doctor.facts import Looked
from redisson_dq.doctor.findings import Finding, Severity, ValueText, redis_cli
from redisson_dq.doctor.sight import Sight

__all__ = ["history"]

# A history of a number of items that ends earlier than this is too short for questions.
_SHORT_S = 600
# More than the largest events of this library take.
_LARGE_BYTES = 64_000_000
_DAY_MS = 86_400_000


def history(sight: Sight) -> Iterator[Finding]:
    """Histories of queues are read in full, go back far enough, and are the same in all partitions."""
    settings: dict[str, dict[bytes, Looked]] = {}
    for queue in sight.queues:
        if queue.name != queue.whole:
            settings.setdefault(queue.whole, {}).setdefault(queue.sampled.history, queue)
        if queue.sampled.history:
            yield from _of_one(queue)
    for found in settings.values():
        if len(found) > 1:
            kept = max(found)
            begin, end = _keep(found[kept], kept_in(kept)), found[kept].command("history", "--keep", "none")
            yield _warning(
                found[min(found)],
                "its partitions keep different histories, or some of them none",
                {"settings": [each.decode(errors="replace") for each in sorted(found)]},
                redis_cli("HGET", found[kept].keys.settings, "history"),
                begin,
                end,
                alternatives=2,
            )


def _of_one(queue: Looked) -> Iterator[Finding]:
    kept, events, key = kept_in(queue.sampled.history), queue.sampled.events, queue.keys.events
    again = queue.command("history", "--keep", "none"), _keep(queue, kept)
    if kept is None:
        text = "the setting of its history is in no known form, so nothing is noted"
        evidence = {"setting": ValueText(queue.sampled.history.decode(errors="replace"))}
        yield _warning(queue, text, evidence, redis_cli("HGET", queue.keys.settings, "history"), _keep(queue, None))
    if kept is None or events is None:
        return
    ahead_ms = events.newest_ms - queue.now_ms
    if ahead_ms > _DAY_MS:
        text = f"its history has events {ahead_ms // _DAY_MS} days ahead of the clock; the next event drops them"
        yield _warning(
            queue, text, {"ahead_s": ahead_ms // 1000}, redis_cli("XREVRANGE", key, "+", "-", "COUNT", 1), *again
        )
    elif events.foreign:
        yield _warning(
            queue,
            f"its history has another program's events: {events.foreign} of the last {events.read}",
            {"foreign": events.foreign, "read": events.read},
            redis_cli("XREVRANGE", key, "+", "-", "COUNT", 10),
            "# let nothing else write to this key",
            *again,
        )
    memory = next((each.memory for each in queue.figures.keys if each.role == "events"), None) or 0
    if memory > _LARGE_BYTES:
        text = f"its history takes {memory // 1_000_000} MB of memory for {counted(events.count, 'event', 'events')}"
        yield _warning(queue, text, {"memory": memory, "events": events.count}, redis_cli("XLEN", key), *again)
    yield from _too_short(queue, *kept)


def _too_short(queue: Looked, most: int, age: timedelta) -> Iterator[Finding]:
    """A queue whose events are dropped by their number long before they are old."""
    events = queue.sampled.events
    if events is None or events.count < most:
        return
    covered_s = (queue.now_ms - events.oldest_ms) // 1000
    is_by_time = age < timedelta(milliseconds=LONGEST_MS)
    wanted_s = int(age.total_seconds() * 0.9) if is_by_time else _SHORT_S
    if not 0 <= covered_s < wanted_s:
        return
    promised = f" of the {age} that it is to keep" if is_by_time else ""
    more = () if most >= MOST_EVENTS else (_keep(queue, (min(MOST_EVENTS, 10 * most), age)),)
    yield _warning(
        queue,
        f"its history covers only the last {covered_s} s{promised}: it keeps {most} events",
        {"covered_s": covered_s, "events": events.count, "kept_events": most},
        redis_cli("XRANGE", queue.keys.events, "-", "+", "COUNT", 1),
        *(more or (f"# each partition of a queue keeps {MOST_EVENTS} events of its own",)),
    )


def _keep(queue: Looked, kept: tuple[int, timedelta] | None) -> str:
    """The command that begins the history that is kept, or one of 1,000 items."""
    if kept is None:
        return queue.command("history", "--keep", "1000")
    most, age = kept
    by_time = age < timedelta(milliseconds=LONGEST_MS)
    return queue.command(
        "history", "--keep", f"{age.total_seconds():g}s" if by_time else f"{max(1, most // OF_AN_ITEM)}"
    )


def _warning(
    queue: Looked,
    text: str,
    evidence: Mapping[str, object],
    shown_by: str,
    *commands: str,
    alternatives: int = 0,
) -> Finding:
    return queue.finding(
        check="history",
        severity=Severity.WARNING,
        text=text,
        evidence=evidence,
        shown_by=shown_by,
        commands=commands,
        alternatives=alternatives,
    )
