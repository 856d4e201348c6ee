"""The doctor's table of checks, its pages, its report, and the commands that it shows."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

import redisson_dq
from redisson_dq.admin import Node
from redisson_dq.codecs import Kryo5Codec
from redisson_dq.doctor import CHECKS, Finding, Report, Result, Severity, Status, server
from redisson_dq.doctor.findings import redis_cli
from redisson_dq.doctor.recognising import UNKNOWN, families_of

ROOT = Path(redisson_dq.__file__).parents[1]

IDS = (
    *("connection", "server-version", "commands", "rights", "eviction", "persistence", "memory", "replication"),
    *("key-types", "overdue", "far-due", "nobody-moves", "nobody-consumes", "paused", "parked", "leases-stuck"),
    *(
        "failing",
        "dead-letters",
        "quarantine",
        "undecodable",
        "expired",
        "torn-entries",
        "mixed-envelopes",
        "codec",
        "unknown-classes",
    ),
    *("name-mapper", "clock", "keyspace-events", "recurring", "history", "slow-scripts", "client-versions", "orphans"),
    *("ready-backlog", "worker", "main-job"),
)


def finding(severity: Severity = Severity.PROBLEM) -> Finding:
    return Finding(
        check="overdue",
        severity=severity,
        text="2 items are due",
        queue="orders",
        evidence={"overdue": 2},
        shown_by="redis-cli PING",
        commands=("redisson-dq move orders",),
    )


def test_the_ids_are_stable() -> None:
    assert tuple(check.id for check in CHECKS) == IDS


def test_each_check_says_in_one_line_what_holds() -> None:
    for check in CHECKS:
        assert re.fullmatch(r"[A-Z].{10,118}\.", check.summary), check.id


def test_each_id_has_its_section() -> None:
    text = (ROOT / "docs" / "doctor.md").read_text("utf-8")
    assert tuple(re.findall(r"^## (\S+)$", text, re.MULTILINE)) == IDS
    assert finding().page == "docs/doctor.md#overdue"


def test_each_alert_names_a_check() -> None:
    alerts: Any = yaml.safe_load((ROOT / "redisson_dq" / "prometheus" / "alerts.yml").read_text("utf-8"))
    named = {rule["labels"]["doctor"] for group in alerts["groups"] for rule in group["rules"]}
    assert len(named) == 8
    assert named <= set(IDS)


@pytest.mark.parametrize(
    ("findings", "failure", "codes"),
    [
        ((), None, (0, 0)),
        ((finding(Severity.WARNING),), None, (0, 1)),
        ((finding(), finding(Severity.WARNING)), None, (1, 1)),
        ((finding(),), "unreachable", (69, 69)),
        ((finding(),), "rights", (77, 77)),
    ],
)
def test_exit_codes(findings: tuple[Finding, ...], failure: str | None, codes: tuple[int, int]) -> None:
    report = Report(results=(), findings=findings, failure=failure)
    assert (report.exit_code(), report.exit_code(strict=True)) == codes


def test_the_report_as_json() -> None:
    results = (Result(check="overdue", status=Status.PROBLEM), Result(check="codec", status=Status.UNKNOWN, reason="x"))
    assert Report(results=results, findings=(finding(),)).to_dict() == {
        "checks": [
            {"id": "overdue", "status": "problem", "reason": None},
            {"id": "codec", "status": "unknown", "reason": "x"},
        ],
        "findings": [
            {
                "check": "overdue",
                "severity": "problem",
                "text": finding().text,
                "queue": "orders",
                "partition": None,
                "evidence": {"overdue": 2},
                "shown_by": "redis-cli PING",
                "commands": ["redisson-dq move orders"],
                "commands_are": "steps",
                "alternatives": 0,
                "page": "docs/doctor.md#overdue",
            }
        ],
        "notes": [],
    }


@pytest.mark.parametrize(
    ("alternatives", "words", "are"),
    [
        (0, ("do", "then", "then"), "steps"),
        (2, ("do", "then", "or"), "steps"),
        (3, ("do", "or", "or"), "alternatives"),
    ],
)
def test_remedies_read_as_steps_and_alternatives(alternatives: int, words: tuple[str, ...], are: str) -> None:
    made = attrs.evolve(finding(), commands=("a", "b", "c"), alternatives=alternatives)
    assert made.remedies == tuple(zip(words, "abc", strict=True))
    assert made.to_dict()["commands_are"] == are


def test_a_command_with_bytes_reaches_redis_cli_whole() -> None:
    command = redis_cli("LPOS", "a 'key'", b"\x00\xff\"\\'x")
    line = command.removesuffix(" | redis-cli")
    assert line != command
    written = subprocess.run(["sh", "-c", line], capture_output=True, check=True).stdout
    assert written == b'LPOS "a \'key\'" "\\x00\\xff\\x22\\x5c\'x"\n'


class OldServer:
    """The sight of a server that says that it is old."""

    infos = ((Node(name="redis://old:6379/0", pool=None), {"redis_version": "5.0.14"}),)


def test_a_server_that_is_too_old() -> None:
    (found,) = server.server_version(OldServer())  # type: ignore[arg-type]
    assert (found.check, found.severity, found.evidence["redis_version"]) == (
        "server-version",
        Severity.PROBLEM,
        "5.0.14",
    )


@pytest.mark.parametrize(
    ("value", "families"),
    [
        (b"order 42", {"StringCodec"}),
        (b'{"id": 4}', {"StringCodec", "JsonJacksonCodec", "TypedJsonJacksonCodec"}),
        (Kryo5Codec().encode("order"), {"Kryo5Codec"}),
        (b"\xac\xed\x00\x05t\x00\x01a", {"SerializationCodec"}),
        (b"\x1f\xfe\xfe", {UNKNOWN}),
        (b"", {"StringCodec"}),
    ],
)
def test_codecs_are_recognised_by_bytes(value: bytes, families: set[str]) -> None:
    assert families_of(value) == families
