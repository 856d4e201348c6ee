"""Checks of the keys of queues: types, entries, values, and those that were set aside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from redisson_dq._shell import command_line
from redisson_dq.browsing import ValueReader
from redisson_dq.codecs.base import Codec
from redisson_dq.doctor.findings import CannotRun, Finding, Severity, counted, redis_cli
from redisson_dq.doctor.flow import value_of
from redisson_dq.doctor.recognising import UNKNOWN, families_of, reader_of
from redisson_dq.doctor.sight import Looked, Sight
from redisson_dq.errors import DecodeError

__all__ = [
    "codec",
    "dead_letters",
    "expired",
    "key_types",
    "mixed_envelopes",
    "quarantine",
    "torn_entries",
    "undecodable",
    "unknown_classes",
]

# Values that were too late are told of for so long.
_RECENTLY = timedelta(days=1)
_UNDECLARED = re.compile(r"Java class (\S+) (?:is not declared|cannot be read)")


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
    """A name in the same slot of a cluster, which is none of a queue's keys."""
    return f"moved:{key}" if "{" in key else f"moved:{{{key}}}"


# -- set aside -------------------------------------------------------------------------------------------------------


def _give_back_or_drop(queue: Looked, group: str) -> tuple[str, str]:
    """The commands that give values back to the queue, and then drop the others. The last one asks before."""
    return queue.command(f"{group} redrive", "--all", "--yes"), queue.command(f"{group} purge", "--all")


def _so_that_it_reads(value: bytes | None) -> str:
    """A deed in words that lets consumers read a value which their codec has refused."""
    data = value or b""
    for name in sorted(families_of(data)):
        missing = _undeclared(data, reader_of(name))
        if missing is not None:
            declare = command_line("generate-classes", ["app.jar", missing], ["-o", "acme.py"], of_server=False)
            return f"# declare {missing} for the consumers, with the jar of the Java service: {declare}"
    decoded = ValueReader().read(data)
    if not decoded.error:
        return f"# give the consumers the codec of these bytes: {decoded.codec}"
    return "# let producers and consumers use one codec: the bytes do not tell which one wrote them"


def dead_letters(sight: Sight) -> Iterator[Finding]:
    """No value was given up."""
    for queue in sight.queues:
        if queue.figures.dead:
            key = next(each.key for each in queue.figures.keys if each.role == "dead")
            yield queue.finding(
                check="dead-letters",
                severity=Severity.WARNING,
                text=f"{counted(queue.figures.dead, 'value was', 'values were')} given up",
                evidence={"dead": queue.figures.dead},
                shown_by=redis_cli("LLEN", key),
                commands=(queue.command("dead list"), *_give_back_or_drop(queue, "dead")),
            )


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
                evidence={"unknown_entries": unknown, "first": member[:64].hex(), **_sampled(queue)},
                shown_by=redis_cli("ZSCORE", queue.keys.timeout, member),
                commands=(
                    queue.command("move"),
                    queue.command("quarantine list"),
                    *_give_back_or_drop(queue, "quarantine"),
                ),
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
                commands=(queue.command("quarantine list"), *_give_back_or_drop(queue, "quarantine")),
            )


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
                    _so_that_it_reads(sight.ask_key("LINDEX", queue.keys.undecodable, 0)),
                    *_give_back_or_drop(queue, "undecodable"),
                ),
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


# -- entries ---------------------------------------------------------------------------------------------------------


def _sampled(queue: Looked) -> dict[str, str]:
    """How many entries were looked at, where that was not all of them."""
    sampled = queue.sampled
    if sampled.is_whole:
        return {}
    return {"sampled": f"{sum(sampled.kinds.values())} of {sampled.zset_size}"}


def torn_entries(sight: Sight) -> Iterator[Finding]:
    """Each entry stands in both keys of the waiting side."""
    for queue in sight.queues:
        if any(key.role in ("timeout", "envelopes") for key in queue.figures.wrong_types):
            continue
        sampled = queue.sampled
        list_alone, zset_alone = sampled.list_alone, sampled.zset_alone
        if not sampled.is_whole and not {"lean", "newer", "unknown"} & sampled.kinds.keys():
            # Neither key was read to its end, and their sizes tell.
            difference = sampled.zset_size - sampled.leases - sampled.list_size
            zset_alone = max(zset_alone, difference + list_alone)
            list_alone = max(list_alone, -difference)
        if list_alone > 0:
            member = sampled.alone_in_list or b""
            shown = (
                redis_cli("ZSCORE", queue.keys.timeout, member) if member else redis_cli("LLEN", queue.keys.envelopes)
            )
            yield queue.finding(
                check="torn-entries",
                severity=Severity.PROBLEM,
                text=counted(list_alone, "entry stands", "entries stand")
                + f" in the list of envelopes alone, and {'is' if list_alone == 1 else 'are'} never due",
                evidence={"in_list_alone": list_alone, "in_zset_alone": max(0, zset_alone), **_sampled(queue)},
                shown_by=shown,
                # The first one delivers the entry now, the second one drops it.
                commands=(
                    redis_cli("ZADD", queue.keys.timeout, queue.now_ms, member),
                    redis_cli("LREM", queue.keys.envelopes, 1, member),
                )
                if member
                else (),
                pick_one=True,
            )
        elif zset_alone > 0:
            member = sampled.alone_in_zset or b""
            shown = (
                redis_cli("LPOS", queue.keys.envelopes, member) if member else redis_cli("ZCARD", queue.keys.timeout)
            )
            yield queue.finding(
                check="torn-entries",
                severity=Severity.WARNING,
                text=counted(zset_alone, "entry stands", "entries stand")
                + f" in the zset alone: {'it is' if zset_alone == 1 else 'they are'} delivered, but readAll() misses "
                + ("it" if zset_alone == 1 else "them"),
                evidence={"in_list_alone": 0, "in_zset_alone": zset_alone, **_sampled(queue)},
                shown_by=shown,
                commands=(redis_cli("RPUSH", queue.keys.envelopes, member),) if member else (),
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
                **_sampled(queue),
            },
            shown_by=redis_cli("ZRANGE", queue.keys.timeout, 0, 9),
            commands=(
                queue.command("migrate", "--to-envelope", "current", "--yes"),
                queue.command("migrate", "--to-envelope", "legacy", "--yes"),
                queue.command("move", "--follow"),
            ),
            pick_one=True,
        )


# -- values ----------------------------------------------------------------------------------------------------------


def _values(queue: Looked) -> list[bytes]:
    waiting = [value_of(entry.member) for entry in queue.sampled.entries if entry.kind != "newer"]
    return [*queue.sampled.ready, *(value for value in waiting if value is not None)]


def codec(sight: Sight) -> Iterator[Finding]:
    """The values of a queue are in one codec, the expected one where it is named."""
    unknown = []
    for queue in sight.queues:
        values = _values(queue)
        if sight.codec is not None:
            yield from _unfit(queue, values, sight.codec)
            continue
        found = [families_of(value) for value in values]
        if not found or frozenset.intersection(*found) - {UNKNOWN}:
            continue
        named = Counter("/".join(sorted(each)) for each in found)
        if set(named) == {UNKNOWN}:
            unknown.append(queue.name)
        elif len(named) > 1:
            rare = min(named, key=lambda name: named[name])
            sample = next(value for value, each in zip(values, found, strict=True) if "/".join(sorted(each)) == rare)
            yield _of_codec(queue, f"the values are in several codecs: {_counts(named)}", dict(named), sample)
    if unknown:
        raise CannotRun(f"the codec of {', '.join(unknown)} is not known by its bytes: name it with --codec")


def _unfit(queue: Looked, values: list[bytes], expected: Codec) -> Iterator[Finding]:
    unfit = []
    for value in values:
        try:
            expected.decode(value)
        except DecodeError as error:
            if not _UNDECLARED.search(str(error)):
                unfit.append((value, error))
    if unfit:
        evidence = {
            "codec": expected.name,
            "unreadable": len(unfit),
            "of": len(values),
            "error": str(unfit[0][1])[:200],
        }
        text = f"{len(unfit)} of {len(values)} sampled values are not in {expected.name}"
        yield _of_codec(queue, text, evidence, unfit[0][0])


def _of_codec(queue: Looked, text: str, evidence: dict[str, object], sample: bytes) -> Finding:
    ready = queue.sampled.ready
    # Values of both ends were read.
    first, last = (0, 9) if sample in ready[:10] else (-10, -1)
    return queue.finding(
        check="codec",
        severity=Severity.PROBLEM,
        text=text,
        evidence={**evidence, "bytes": sample[:32].hex(), "sampled": len(_values(queue))},
        shown_by=redis_cli("LRANGE", queue.keys.ready, first, last)
        if sample in ready
        else redis_cli("ZRANGE", queue.keys.timeout, 0, 9),
        commands=(
            queue.command("list", "--state", "ready") if sample in ready else queue.command("list"),
            "# let all services that offer to the queue use one codec",
        ),
    )


def _counts(named: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in named.most_common())


def unknown_classes(sight: Sight) -> Iterator[Finding]:
    """Each class that values name is declared in Python."""
    for queue in sight.queues:
        missing: Counter[str] = Counter()
        for value in _values(queue):
            for name in families_of(value) if sight.codec is None else ("",):
                undeclared = _undeclared(value, sight.codec or reader_of(name))
                if undeclared is not None:
                    missing[undeclared] += 1
        if missing:
            names = sorted(missing)
            declare = command_line("generate-classes", ["app.jar", *names], ["-o", "acme.py"], of_server=False)
            key = queue.keys.ready if queue.figures.ready else queue.keys.timeout
            yield queue.finding(
                check="unknown-classes",
                severity=Severity.WARNING,
                text=f"values name classes that Python does not know: {', '.join(names)}",
                evidence={"classes": names, "values": sum(missing.values()), "sampled": len(_values(queue))},
                shown_by=redis_cli("LRANGE" if queue.figures.ready else "ZRANGE", key, 0, 9),
                commands=(
                    queue.command("list"),
                    f"# with the jar of the Java service: {declare}",
                ),
            )


def _undeclared(value: bytes, reader: Codec | None) -> str | None:
    """The Java class that a codec cannot read a value without. None where it reads it, or fails otherwise."""
    try:
        if reader is not None:
            reader.decode(value)
    except DecodeError as error:
        if met := _UNDECLARED.search(str(error)):
            return met[1]
    return None
