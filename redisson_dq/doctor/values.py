"""Checks of the values themselves: their codecs, and the classes that they name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from inspect import signature

from redisson_dq._operations.shell import command_line
from redisson_dq.browsing import ValueReader
from redisson_dq.codecs.base import Codec
from redisson_dq.doctor.facts import Looked
from redisson_dq.doctor.findings import CannotRun, Finding, Severity, ValueText, redis_cli
from redisson_dq.doctor.flow import value_of
from redisson_dq.doctor.recognising import UNKNOWN, families_of, reader_of
from redisson_dq.doctor.sight import Sight
from redisson_dq.errors import DecodeError, EncodeError

__all__ = ["codec", "unknown_classes", "ways_to_read"]

_UNDECLARED = re.compile(r"Java class (\S+) (?:is not declared|cannot be read)")


def _values(queue: Looked) -> list[bytes]:
    waiting = [value_of(entry.member) for entry in queue.sampled.entries if entry.kind != "newer"]
    return [*queue.sampled.ready, *(value for value in waiting if value is not None)]


def codec(sight: Sight) -> Iterator[Finding]:
    """The values of a queue are in one codec, the expected one if given, in the form that it writes."""
    unknown = []
    for queue in sight.queues:
        values = _values(queue)
        if sight.codec is not None:
            yield from _unfit(queue, values, sight.codec)
            yield from _written_otherwise(queue, [(value, sight.codec) for value in values])
            continue
        found = [families_of(value) for value in values]
        certain = [
            (value, reader_of(next(iter(each)))) for value, each in zip(values, found, strict=True) if len(each) == 1
        ]
        yield from _written_otherwise(queue, [(value, reader) for value, reader in certain if reader is not None])
        # A short value may not be recognised.
        known = [each for each in found if UNKNOWN not in each]
        for name in sorted(_RARE.keys() & frozenset.intersection(*known)) if known else []:
            sample = next(value for value, each in zip(values, found, strict=True) if name in each)
            text, evidence = f"the values are in {name}", dict[str, object](codec=name)
            yield _of_codec(queue, text, evidence, sample, Severity.WARNING, f"# {_RARE[name]}")
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


#: Codecs that our clients do not use by default, and the remedy.
_RARE = {
    "MarshallingCodec": "Redisson's default before 3.19: give Python's clients MarshallingCodec() (docs/codecs.md)",
    "FstCodec": "it has no counterpart in Python: give both sides another codec (docs/choosing-a-codec.md)",
    "ForyCodec": "it has no counterpart in Python: give both sides another codec (docs/choosing-a-codec.md)",
}


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
            "error": ValueText(str(unfit[0][1])[:200]),
        }
        text = f"{len(unfit)} of {len(values)} sampled values are not in {expected.name}"
        yield _of_codec(queue, text, evidence, unfit[0][0])


def _written_otherwise(queue: Looked, values: list[tuple[bytes, Codec]]) -> Iterator[Finding]:
    """Values that are read, but that Python would write in another form. Java may not be able to read that form."""
    found = [(value, reader) for value, reader in values if _is_written_otherwise(value, reader)]
    if found:
        sample, reader = found[0]
        text = f"{len(found)} of {len(values)} sampled values are read by {reader.name} and written in another form"
        evidence = {"codec": reader.name, "other_form": len(found), "of": len(values)}
        advice = (
            "# give the codec the options of Java's version and mapper (docs/codecs.md): contains() and remove() "
            "do not find these values, and Java may not read Python's"
        )
        yield _of_codec(queue, text, evidence, sample, Severity.WARNING, advice)


def _is_written_otherwise(data: bytes, reader: Codec) -> bool:
    """Whether the codec reads a value but writes other bytes for it, whatever its options are."""
    try:
        value = reader.decode(data)
    except DecodeError:
        return False
    return all(written is not None and written != data for written in _forms(value, reader))


def _forms(value: object, reader: Codec) -> Iterator[bytes | None]:
    """The bytes of the value by the codec, then with each option for Java's way of writing; None if it has no such
    option.
    """
    kind = type(reader)
    known = signature(kind).parameters
    given = ["unknown"] if "unknown" in known else []
    for options in ({}, *_OPTIONS):
        if not options.keys() <= known.keys():
            continue
        try:
            writer = kind(**options, **dict.fromkeys(given, "generic")) if options else reader
        except TypeError:  # it requires more arguments, which are unknown here
            return
        try:
            yield writer.encode(value)
        except EncodeError:
            yield None


#: The forms of one codec that other versions or mappers of Java write.
_OPTIONS: tuple[dict[str, str], ...] = tuple(
    {"redisson": version, **times}
    for version in ("3.20.0", "4.3", "4.7.0")
    for times in ({}, {"java_time": "numbers"}, {"java_time": "text"})
)


def _of_codec(
    queue: Looked,
    text: str,
    evidence: dict[str, object],
    sample: bytes,
    severity: Severity = Severity.PROBLEM,
    advice: str = "# let all services that offer to the queue use one codec",
) -> Finding:
    shown_by, listed = _place_of(queue, sample)
    return queue.finding(
        check="codec",
        severity=severity,
        text=text,
        evidence={**evidence, "bytes": ValueText(sample[:32].hex()), "sampled": len(_values(queue))},
        shown_by=shown_by,
        commands=(listed, advice),
    )


def _place_of(queue: Looked, sample: bytes) -> tuple[str, str]:
    """The redis-cli command that shows a value that was read, and our command that lists its neighbours."""
    ready = queue.sampled.ready
    if sample not in ready:
        return redis_cli("ZRANGE", queue.keys.timeout, 0, 9), queue.command("list")
    # Values at both ends of the list were read.
    first, last = (0, 9) if sample in ready[:10] else (-10, -1)
    return redis_cli("LRANGE", queue.keys.ready, first, last), queue.command("list", "--state", "ready")


def _counts(named: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in named.most_common())


def unknown_classes(sight: Sight) -> Iterator[Finding]:
    """Each class that values name is declared in Python."""
    for queue in sight.queues:
        missing: Counter[str] = Counter()
        sample = b""
        for value in _values(queue):
            for name in families_of(value) if sight.codec is None else ("",):
                undeclared = _undeclared(value, sight.codec or reader_of(name))
                if undeclared is not None:
                    missing[undeclared] += 1
                    sample = sample or value
        if missing:
            names = sorted(missing)
            declare = command_line("generate-classes", ["app.jar", *names], ["-o", "acme.py"], of_server=False)
            shown_by, listed = _place_of(queue, sample)
            yield queue.finding(
                check="unknown-classes",
                severity=Severity.WARNING,
                text=f"values name classes that Python does not know: {', '.join(names)}",
                evidence={"classes": names, "values": sum(missing.values()), "sampled": len(_values(queue))},
                shown_by=shown_by,
                commands=(listed, f"# with the jar of the Java service: {declare}"),
            )


def _undeclared(value: bytes, reader: Codec | None) -> str | None:
    """The Java class that the codec lacks for a value. None if it can read it, or fails for another reason."""
    try:
        if reader is not None:
            reader.decode(value)
    except DecodeError as error:
        if met := _UNDECLARED.search(str(error)):
            return met[1]
    return None


def ways_to_read(queue: Looked, value: bytes | None) -> tuple[str, ...]:
    """Notes on how to make a value readable that the consumers' codec has refused: the codec first, then the class."""
    data = value or b""
    families = families_of(data)
    usual = Counter(name for each in _values(queue) for name in families_of(each)).most_common(1)
    is_usual = bool(usual) and usual[0][0] in families
    missing = next(filter(None, (_undeclared(data, reader_of(name)) for name in sorted(families))), None)
    deeds: list[str] = []
    if UNKNOWN in families and ValueReader().read(data).error:
        deeds.append("# let producers and consumers use one codec: the bytes do not tell which one wrote them")
    elif missing is None or not is_usual:
        other = f", and the others in the queue of {usual[0][0]}" if usual and not is_usual else ""
        of_bytes = " or ".join(sorted(families - {UNKNOWN})) or ValueReader().read(data).codec
        deeds.append(f"# give consumers and producers one codec: these bytes are of {of_bytes}{other}")
    if missing is not None:
        declare = command_line("generate-classes", ["app.jar", missing], ["-o", "acme.py"], of_server=False)
        deeds.append(f"# declare {missing} for the consumers, with the jar of the Java service: {declare}")
    return tuple(deeds)
