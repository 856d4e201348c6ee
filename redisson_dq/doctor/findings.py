"""The results of a diagnosis: frozen values, and their JSON form."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypedDict

import attrs

from redisson_dq._operations.shell import shell_word

__all__ = [
    "RECENTLY_S",
    "CannotRun",
    "CheckFields",
    "Finding",
    "FindingFields",
    "Misnamed",
    "ValueText",
    "Report",
    "ReportFields",
    "Result",
    "Severity",
    "Status",
    "addressed",
    "redis_cli",
    "server_problem",
    "server_warning",
]

#: How many seconds back the logs of a server are read.
RECENTLY_S = 3600


class ValueText(str):
    """A text in evidence or commands that may contain bytes of a value. The dashboard hides it if fields are masked.

    :func:`redis_cli` returns one if a word is bytes: names of keys are text.
    """


class Severity(str, enum.Enum):
    """How bad a finding is. Items are late, lost or in danger now (problem), or may be soon (warning)."""

    PROBLEM = "problem"
    WARNING = "warning"


class Status(str, enum.Enum):
    """The outcome of a check. ``UNKNOWN`` is that of a check that could not run."""

    OK = "ok"
    PROBLEM = "problem"
    WARNING = "warning"
    UNKNOWN = "unknown"


class CannotRun(Exception):
    """A check lacks the facts that it needs. The text is the reason."""


class Misnamed(CannotRun):
    """The URL names a server of another kind. The text ends with a colon and the way to name it."""


class FindingFields(TypedDict):
    """One thing that is wrong."""

    check: str
    severity: Severity
    text: str
    """The finding in one sentence."""
    queue: str | None
    """Its queue. Null where it is about a server or a client."""
    partition: str | None
    """The partition that it was found in."""
    evidence: dict[str, Any]
    """Figures by their names. Each check has its own."""
    shown_by: str
    """The command that shows the evidence."""
    commands: list[str]
    """The commands that help. One that begins with # is a deed in words."""
    commands_are: Literal["steps", "alternatives"]
    alternatives: int
    """How many commands at the end are alternatives, of which one is chosen."""
    page: str
    """The section of the documentation."""


class CheckFields(TypedDict):
    """One check that was asked for."""

    id: str
    status: Status
    reason: str | None
    """Why it could not run."""


class ReportFields(TypedDict):
    """The report. The exit code is 0 without problems, 1 with one, and 64, 69 or 77 where no check could run."""

    checks: list[CheckFields]
    findings: list[FindingFields]
    """The findings, problems first."""
    notes: list[str]
    """The part of the data that was looked at, where that was not all of it."""


@attrs.frozen(kw_only=True)
class Finding:
    """One thing that is wrong.

    ``evidence`` has figures by name. ``shown_by`` is the exact command that shows them. ``commands`` are the remedy, in
    their order. The last ``alternatives`` of them are alternatives: choose one. A line that begins with ``#`` is a
    note, not a command. ``page`` is the section of the documentation. ``queue`` is None for a server or a client.
    ``text`` is the finding in one sentence. ``partition`` is the name of the partition in which it was found.
    ``others`` has other queues that its texts name; None if they may name any.
    """

    check: str
    severity: Severity
    text: str
    queue: str | None
    evidence: Mapping[str, Any]
    shown_by: str
    commands: tuple[str, ...]
    partition: str | None = None
    alternatives: int = 0
    others: tuple[str, ...] | None = None

    @property
    def page(self) -> str:
        """The page about this check, with the anchor of its section."""
        return f"docs/doctor.md#{self.check}"

    @property
    def remedies(self) -> tuple[tuple[str, str], ...]:
        """Each command after its word: "do", then "then" for a further step and "or" for an alternative."""
        first = len(self.commands) - self.alternatives
        words = ("do" if not i else "or" if i > first else "then" for i in range(len(self.commands)))
        return tuple(zip(words, self.commands, strict=True))

    def to_dict(self) -> FindingFields:
        """The finding as in the JSON of a report."""
        return {
            "check": self.check,
            "severity": self.severity,
            "text": self.text,
            "queue": self.queue,
            "partition": self.partition,
            "evidence": dict(self.evidence),
            "shown_by": self.shown_by,
            "commands": list(self.commands),
            "commands_are": "alternatives" if 0 < self.alternatives == len(self.commands) else "steps",
            "alternatives": self.alternatives,
            "page": self.page,
        }


#: Findings about a server, not about one queue. Their texts name no queue.
server_problem = partial(Finding, severity=Severity.PROBLEM, queue=None, others=())
server_warning = partial(Finding, severity=Severity.WARNING, queue=None, others=())


@attrs.frozen(kw_only=True)
class Result:
    """One requested check. ``reason`` says why it could not run, and is None if it did."""

    check: str
    status: Status
    reason: str | None = None

    def to_dict(self) -> CheckFields:
        """The check as in the JSON of a report."""
        return {"id": self.check, "status": self.status, "reason": self.reason}


@attrs.frozen(kw_only=True)
class Report:
    """The results of all checks that ran, in the order of the table, and their findings, problems first.

    ``notes`` say which part of the data was examined, if not all of it. ``failure`` says why no check could run:
    ``"unreachable"``, ``"rights"``, or ``"misnamed"`` if the URL points to a server of another kind.
    """

    results: tuple[Result, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def has_problem(self) -> bool:
        """Whether a finding is a problem."""
        return any(each.severity is Severity.PROBLEM for each in self.findings)

    def exit_code(self, *, strict: bool = False) -> int:
        """0 if there are no findings or only warnings, 1 for a problem, 64, 69 or 77 for a ``failure``.

        With ``strict`` a warning counts as a problem.
        """
        if self.failure is not None:
            return {"misnamed": 64, "unreachable": 69, "rights": 77}[self.failure]
        return 1 if self.has_problem or (strict and self.findings) else 0

    def to_dict(self) -> ReportFields:
        """The report as JSON."""
        return {
            "checks": [each.to_dict() for each in self.results],
            "findings": [each.to_dict() for each in self.findings],
            "notes": list(self.notes),
        }


def redis_cli(*words: str | bytes | int) -> str:
    """The redis-cli command with these words, quoted for a shell. Bytes are passed through standard input.

    >>> from redisson_dq.doctor.findings import redis_cli
    >>> redis_cli("LLEN", "redisson_delay_queue:{orders}")
    "redis-cli LLEN 'redisson_delay_queue:{orders}'"
    """
    if any(isinstance(word, bytes) for word in words):
        # An argument cannot contain a NUL. redis-cli itself understands the escapes.
        line = " ".join(_escaped(word) for word in words)
        return ValueText(f"printf '%s\\n' {shell_word(line)} | redis-cli")
    return "redis-cli " + " ".join(shell_word(str(word)) for word in words)


def addressed(line: str, options: Sequence[str]) -> str:
    """A line made by :func:`redis_cli`, with the options that name a server."""
    program = " ".join(("redis-cli", *map(shell_word, options)))
    if line.startswith("redis-cli "):
        return f"{program}{line.removeprefix('redis-cli')}"
    found = f"{line.removesuffix('redis-cli')}{program}" if line.endswith("| redis-cli") else line
    return ValueText(found) if isinstance(line, ValueText) else found


def _escaped(word: str | bytes | int) -> str:
    data = word if isinstance(word, bytes) else str(word).encode()
    if data.isalnum():
        return data.decode()
    return (
        '"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02x}" for byte in data) + '"'
    )
