"""Checks of values that are kept in lists of their own: dead letters, and those that no codec or format fits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone

from redisson_dq._common.texts import counted
from redisson_dq._operations.shell import command_line
from redisson_dq.browsing.rows import SeenItem
from redisson_dq.doctor.entries import sampled_of
from redisson_dq.doctor.facts import Looked
from redisson_dq.doctor.findings import Finding, Severity, ValueText, redis_cli
from redisson_dq.doctor.sight import Sight
from redisson_dq.doctor.values import ways_to_read

__all__ = ["dead_letters", "expired", "failing", "quarantine", "undecodable"]

# How long values that were too late are reported.
_RECENTLY = timedelta(days=1)
# A printed command contains at most this many bytes of an entry.
_LARGEST = 1000
_RECENT = timedelta(hours=1)
_LONGEST_REASON = 200
# Reasons for which a value would be given up again if it were returned unchanged.
_UNREADABLE = re.compile(r"undecodable|DecodeError|cannot be (?:read|decoded)")
_FAILS_AGAIN = re.compile(rf"{_UNREADABLE.pattern}|no handler takes")


def _give_back_or_drop(name: str, group: str, *options: str) -> tuple[str, str]:
    """The command that returns values to the queue, and the one that drops them, which asks first."""
    return (
        command_line(f"{group} redrive", [name], ["--all", *options, "--yes"]),
        command_line(f"{group} purge", [name], ["--all", *options]),
    )


def dead_letters(sight: Sight) -> Iterator[Finding]:
    """No value was given up."""
    for queue in sight.queues:
        if queue.figures.dead:
            yield _of_letters(queue, sight.letters(queue))
        sources = sight.sources_of_letters(queue)
        letters = sight.letters(queue, of_others=True) if sources else []
        for source in sources:
            yield _of_letters(queue, [each for each in letters if _is_of(sight, each, source)], source)


# How many failures all values have together; each value has failed at least twice.
_FAILURES = 5


def failing(sight: Sight) -> Iterator[Finding]:
    """Handlers finish a value at the first or second attempt, and do not crash."""
    for queue in sight.queues:
        values, failures, most, reason = queue.sampled.failing
        if failures < _FAILURES:
            continue
        last = reason.strip().splitlines()[-1:]
        # The value of a dead process is ready again, and shown by peek.
        look, fix = queue.command("list", "--filter", "attempts > 1"), "# fix the handler"
        if not last:
            last = ["the processes that had them died or hung"]
            look, fix = queue.command("peek"), "# look why the processes end"
        yield queue.finding(
            check="failing",
            severity=Severity.WARNING,
            text=f"handlings of {counted(values, 'value', 'values')} fail again and again, up to {most} times so far: "
            + _short(last[0]),
            evidence={"values": values, "failures": failures, "most": most, "reason": ValueText(last[0][:1000])},
            shown_by=redis_cli("ZRANGE", queue.keys.history_ends, -10, -1, "WITHSCORES"),
            commands=(
                look,
                f"{fix}: the values are delivered again until they are given up",
                "# until then nothing more is tried: " + queue.command("pause", "--yes"),
            ),
        )


def _is_of(sight: Sight, letter: SeenItem, source: str) -> bool:
    return bool(letter.source) and sight.whole_name_of(letter.source) == source


def _of_letters(queue: Looked, letters: Sequence[SeenItem], source: str | None = None) -> Finding:
    """Dead letters by their reasons: those of a queue, or those that it stores for ``source``.

    ``letters`` has the latest ones.
    """
    reasons = Counter(_reason_of(each) for each in letters)
    recent = sum(each.at is not None and each.now - each.at < _RECENT for each in letters)
    count = queue.figures.dead if source is None else queue.figures.ready
    at_least = "at least " if recent == len(letters) < count else ""
    causes = "; ".join(f"{number} x {reason}" for reason, number in reasons.most_common(3))
    unreadable = next((each for each in letters if _FAILS_AGAIN.search(each.reason)), None)
    name, options = (queue.whole, ()) if source is None else (source, ("--dead-letter", queue.whole))
    look = command_line("dead list", [name], options)
    give_back, drop = _give_back_or_drop(name, "dead", *options)
    commands: tuple[str, ...] = (look, give_back, drop)
    if unreadable is not None:
        # A redrive of unchanged values would end in the same way.
        deeds = ways_to_read(queue, unreadable.data) if _UNREADABLE.search(unreadable.reason) else ()
        commands = (look, *deeds, f"# when that is done: {give_back}", drop)
    if source is None:
        text = counted(count, "value was", "values were") + " given up"
        key = next(each.key for each in queue.figures.keys if each.role == "dead")
    else:
        text, key = f"values of {source} were given up, and are kept here", queue.keys.ready
    return queue.finding(
        check="dead-letters",
        severity=Severity.WARNING,
        text=f"{text}, {at_least}{recent} of them within the last hour: {causes or 'no reason is known'}",
        evidence={
            "dead": count,
            "last_hour": recent,
            "reasons": dict(reasons.most_common(10)),
            **({} if source is None else {"of": source}),
        },
        shown_by=redis_cli("LLEN", key),
        commands=commands,
        alternatives=2,
        others=() if source is None else (source,),
    )


def _reason_of(letter: SeenItem) -> str:
    """The reason of a dead letter, normalised so that similar reasons are equal."""
    last = letter.reason.strip().splitlines()[-1:] or ["no reason"]
    return _short(re.sub(r"0x[0-9a-f]+|[0-9a-f]{16,}|\d+", "N", last[0]))


def _short(reason: str) -> str:
    """A long reason, cut at the end of a word."""
    if len(reason) <= _LONGEST_REASON:
        return reason
    return f"{reason[:_LONGEST_REASON].rsplit(' ', 1)[0]} ..."


def quarantine(sight: Sight) -> Iterator[Finding]:
    """Each entry is in a known format."""
    for queue in sight.queues:
        unknown = queue.sampled.kinds.get("unknown", 0)
        if unknown:
            member = queue.sampled.examples["unknown"]
            yield queue.finding(
                check="quarantine",
                severity=Severity.PROBLEM,
                text=f"{counted(unknown, 'entry is', 'entries are')} in no known format, and Redisson stops at them",
                evidence={"unknown_entries": unknown, "first": ValueText(member[:64].hex()), **sampled_of(queue)},
                shown_by=_entry(queue.keys.timeout, member),
                commands=(
                    queue.command("move"),
                    queue.command("quarantine list"),
                    *_give_back_or_drop(queue.whole, "quarantine"),
                ),
                alternatives=2,
            )
        elif queue.figures.quarantined:
            yield queue.finding(
                check="quarantine",
                severity=Severity.WARNING,
                text=counted(
                    queue.figures.quarantined, "entry in no known format was", "entries in no known format were"
                )
                + " set aside",
                evidence={"quarantined": queue.figures.quarantined},
                shown_by=redis_cli("LRANGE", queue.keys.quarantine, 0, 9),
                commands=(queue.command("quarantine list"), *_give_back_or_drop(queue.whole, "quarantine")),
                alternatives=2,
            )


def _entry(key: str, member: bytes) -> str:
    """The redis-cli command that shows an entry. A large entry is too long for a command, and may have been cut."""
    return redis_cli("ZSCORE", key, member) if len(member) <= _LARGEST else redis_cli("ZRANGE", key, 0, 9)


def undecodable(sight: Sight) -> Iterator[Finding]:
    """Each value that was taken could be read."""
    for queue in sight.queues:
        if queue.figures.undecodable:
            yield queue.finding(
                check="undecodable",
                severity=Severity.WARNING,
                text=f"{counted(queue.figures.undecodable, 'value was', 'values were')} taken that no codec could read",
                evidence={"undecodable": queue.figures.undecodable},
                shown_by=redis_cli("LRANGE", queue.keys.undecodable, 0, 9),
                commands=(
                    queue.command("undecodable list"),
                    *ways_to_read(queue, sight.ask_key("LINDEX", queue.keys.undecodable, 0)),
                    *_give_back_or_drop(queue.whole, "undecodable"),
                ),
                alternatives=2,
            )


def expired(sight: Sight) -> Iterator[Finding]:
    """No value was too late within the last day."""
    for queue in sight.queues:
        if not queue.figures.expired or not queue.size_of("expired"):
            continue
        last = sight.ask_key("LINDEX", queue.keys.expired, -1)
        due = _due_of(last)
        if due is not None and queue.figures.server_time - due < _RECENTLY:
            yield queue.finding(
                check="expired",
                severity=Severity.WARNING,
                text=counted(queue.figures.expired, "value was", "values were")
                + f" too late, the last one due at {due:%H:%M:%S}",
                evidence={"expired": queue.figures.expired, "last_due": due.isoformat()},
                shown_by=redis_cli("LRANGE", queue.keys.expired, -10, -1),
                commands=(queue.command("list", "--state", "expired"),),
            )


def _due_of(element: bytes | None) -> datetime | None:
    digits = (element or b"").partition(b" ")[0]
    return datetime.fromtimestamp(int(digits) / 1000, timezone.utc) if digits.isdigit() and len(digits) < 14 else None
