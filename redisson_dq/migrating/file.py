"""The file of an export: its lines, and the check that all of them are there.

A file is JSON lines. Bytes are base64.

====================  ==============================================================================================
first line            ``redisson_dq_export`` (the version of this format, 1), ``queue``, ``raw`` (the name of the ready
                      list), ``server_time_ms``, ``redis`` and ``redisson_dq`` (versions)
a content             ``in`` (the part of the queue: ``timeout``, ``ready`` and so on), then ``element`` of a list,
                      ``member`` and ``score`` of a sorted set, ``field`` and ``value`` of a hash, or ``string``
beside it             ``state`` of an item, and of an entry ``id`` (hex), ``due_ms`` and ``value_at``: the place in the
                      bytes at which the value begins. A reader may leave them out of account
a time to live        ``in`` and ``expires_ms``, an epoch time
last line             ``end``: ``counts`` by part, ``lines``, ``sha256`` of all bytes before, ``exact``, and
                      ``server_time_ms``
====================  ==============================================================================================

A reader refuses another version, and ignores unknown fields.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from redisson_dq.admin.entries import unwrap
from redisson_dq.errors import ArgumentError, EnvelopeError
from redisson_dq.migrating.sites import PARTS, Content

__all__ = [
    "VERSION",
    "Checked",
    "FileError",
    "check_expiry",
    "checked",
    "content_of",
    "header_of",
    "line_of",
    "lines_of",
]

VERSION = 1
_NAMES = {"list": ("element",), "zset": ("member", "score"), "hash": ("field", "value"), "string": ("string",)}
_STATES = {
    "ready": "ready",
    "arrivals": "in-flight",
    "dead": "dead",
    "quarantine": "quarantined",
    "undecodable": "undecodable",
    "expired": "expired",
    "newer": "waiting",
}


_NUMBER = re.compile(r"[+-]?(?:inf|\d{1,40}(?:\.\d{1,40})?(?:e[+-]?\d{1,4})?)")


class FileError(ArgumentError):
    """A file is no whole export: {0}."""

    #: The command line's exit code for data that cannot be read.
    exit_code = 65


def line_of(part: str, content: Content) -> str:
    """The line of one content."""
    kind = PARTS[part]
    fields: dict[str, Any] = {"in": part}
    for name, data in zip(_NAMES[kind], content, strict=True):
        fields[name] = data.decode() if name == "score" else base64.b64encode(data).decode()
    if part in _STATES:
        fields["state"] = _STATES[part]
    elif part == "timeout":
        fields |= _entry(content)
    return json.dumps(fields, separators=(",", ":"))


def _entry(content: Content) -> dict[str, Any]:
    member, score = content
    try:
        entry_id, value = unwrap(member)
    except EnvelopeError:
        return {"state": "unreadable"}
    due = float(score)
    told: dict[str, Any] = {"state": "in-flight" if len(entry_id) == 10 else "waiting", "id": entry_id.hex()}
    if abs(due) < 2**53:
        told["due_ms"] = -int(-due // 1)
    return told | {"value_at": len(member) - len(value)}


def content_of(fields: dict[str, Any]) -> tuple[str, Content]:
    """The part and the content of a line. Raises FileError."""
    part = fields.get("in", "")
    names = _NAMES.get(PARTS.get(part, "")) if isinstance(part, str) else None
    try:
        if names is None:
            raise ValueError(f"the part {part!r} is unknown")
        return part, tuple(
            _score(fields[name]) if name == "score" else base64.b64decode(fields[name], validate=True) for name in names
        )
    except (KeyError, ValueError, AttributeError, TypeError) as error:
        raise FileError(f"a line of it cannot be read: {error!r}") from error


def _score(text: Any) -> bytes:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:100]!r} is not a score")
    return bytes(text, "ascii")


def check_expiry(fields: dict[str, Any]) -> None:
    """Raises FileError for an invalid time to live."""
    ms, part = fields["expires_ms"], fields.get("in")
    if type(ms) is not int or not 0 < ms < 1 << 53 or not isinstance(part, str) or part not in PARTS:
        raise FileError(f"a line of it cannot be read: its time to live of {part!r} is {ms!r}")


def lines_of(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Each complete line, and its fields. Raises FileError for a line that is not a JSON object."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                fields = json.loads(line)
                if not isinstance(fields, dict):
                    raise ValueError("no JSON object")
            except (ValueError, RecursionError) as error:
                raise FileError(f"{path}: line {number} cannot be read: {error}") from error
            yield line, fields


@attrs.frozen(kw_only=True)
class Checked:
    """A file whose digest was checked."""

    header: dict[str, Any]
    end: dict[str, Any]
    digest: str


def checked(path: Path) -> Checked:
    """Reads a whole file, and checks its digest and its counts. Raises FileError."""
    digest, counts, header, found = hashlib.sha256(), Counter[str](), None, None
    for lines, (line, fields) in enumerate(lines_of(path)):
        if found is not None:
            # Perhaps two exports, one after the other. The lines of the second would be ignored.
            raise FileError(f"{path}: there are lines after its last one; import each export from a file of its own")
        if header is None:
            header = header_of(path, fields)
        elif "end" in fields:
            found = _compared(path, header, fields["end"], digest.hexdigest(), counts, lines)
        elif "expires_ms" in fields:
            check_expiry(fields)
        elif "redisson_dq_export" in fields:
            raise FileError(f"{path}: it has a first line twice")
        else:
            counts[content_of(fields)[0]] += 1
        digest.update(line)
    if found is not None:
        return found
    raise FileError(f"{path}: its last line is missing; the export was not finished: run it again, it goes on")


def header_of(path: Path, fields: dict[str, Any]) -> dict[str, Any]:
    """The first line. Raises FileError."""
    version = fields.get("redisson_dq_export")
    named = all(isinstance(fields.get(name), str) and fields[name] for name in ("queue", "raw"))
    if type(version) is not int or version < 1 or not named:
        raise FileError(f"{path}: this is not an export of a queue")
    if version > VERSION:
        raise FileError(f"{path}: its form is {version}, of a newer redisson-dq; this one reads form {VERSION}")
    return fields


def _compared(path: Path, header: dict[str, Any], end: Any, digest: str, counts: Counter[str], lines: int) -> Checked:
    told = end if isinstance(end, dict) else {}
    if type(told.get("exact")) is not bool or type(told.get("lines")) is not int:
        raise FileError(f"{path}: its last line has other fields")
    if told.get("sha256") != digest or told.get("lines") != lines or told.get("counts") != dict(counts):
        raise FileError(f"{path}: its contents are not those that were exported: the digest in its last line differs")
    return Checked(header=header, end=told, digest=digest)
