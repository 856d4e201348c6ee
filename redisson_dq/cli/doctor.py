"""``redisson-dq doctor``: runs the checks of ``redisson_dq.doctor``, and shows their findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from redisson_dq._common.texts import counted
from redisson_dq.cli.frame import CommandLine, Output, Server, classes_option, json_option, load_classes, server_options

if TYPE_CHECKING:
    from redisson_dq.cli.documents.others import ChecksDocument
    from redisson_dq.codecs.base import Codec
    from redisson_dq.doctor import Report

__all__ = ["command"]

_STYLES = {"ok": "green", "problem": "bold red", "warning": "yellow", "unknown": "magenta"}


@click.command(
    help="""Find out why nothing arrives: check servers, queues, values and clients.

    Without QUEUE all queues are checked, except those that have only ready values and are open in no client: name
    them. Without --try nothing is changed, and no right to write is needed.

    \b
    exit codes:
      0   all is well, or there are warnings only
      1   a problem was found; with --strict a warning too
      64  the URL names a server of another kind, such as a Sentinel
      69  Redis cannot be reached
      77  Redis refused the login, or the first command
    """
)
@click.argument("queues", metavar="[QUEUE]...", nargs=-1)
@server_options
@click.option("--list-checks", is_flag=True, help="Print the ids of all checks and what they check, and exit.")
@click.option("--only", metavar="ID", multiple=True, help="Run only this check. May be given several times.")
@click.option("--skip", metavar="ID", multiple=True, help="Do not run this check. May be given several times.")
@click.option("--strict", is_flag=True, help="Exit with 1 also for warnings.")
@click.option(
    "--try",
    "trial",
    is_flag=True,
    help="Also offer and take one item, in a queue of its own that is deleted at the end. The user needs rights to "
    "write.",
)
@click.option("--codec", metavar="NAME", help="The expected codec of the values, such as kryo5 or json.")
@classes_option
@json_option
def command(
    queues: tuple[str, ...],
    server: Server,
    list_checks: bool,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    strict: bool,
    trial: bool,
    codec: str | None,
    classes: tuple[str, ...],
    output: Output,
) -> int:
    """Runs the requested checks, and returns the report's exit code."""
    from redisson_dq.doctor import CHECKS, diagnose

    if list_checks:
        if output.as_json:
            known: ChecksDocument = {"checks": [{"id": check.id, "summary": check.summary} for check in CHECKS]}
            output.document(**known)
        else:
            output.table(["check", "all is well if"], [(check.id, check.summary) for check in CHECKS])
        return 0
    load_classes(classes)
    expected = None if codec is None else _codec(codec)
    ids = [[each for text in given for each in text.split(",") if each] for given in (only, skip)]
    with server.client() as client:
        report = diagnose(client, queues, only=ids[0], skip=ids[1], codec=expected, trial=trial)
    if output.as_json:
        output.document(**report.to_dict())
    else:
        _show(report, output)
    return report.exit_code(strict=strict)


def _codec(name: str) -> Codec:
    from redisson_dq.browsing.values import make_codec

    # A codec that refuses undeclared classes, as in a consumer.
    return make_codec(name, generic=False)


def _show(report: Report, output: Output) -> None:
    rows = [(each.check, each.status.value, each.reason) for each in report.results]
    for status in ("ok", "unknown"):
        if status == "ok":
            fine = [check for check, found, _ in rows if found == status]
            if fine:
                output.text(f"ok: {', '.join(fine)}", style=_STYLES[status])
        elif report.failure is None:
            for check, found, reason in rows:
                if found == status:
                    output.text(f"unknown: {check}: {reason}", style=_STYLES[status])
        elif left := [(check, reason) for check, found, reason in rows if found == status]:
            output.text(f"unknown: all {len(left)} other checks: {left[0][1]}", style=_STYLES[status])
    for note in report.notes:
        output.text(f"note: {note}")
    for finding in report.findings:
        output.text()
        where = "" if finding.queue is None else f" {finding.queue}:"
        output.text(
            f"{finding.severity.value}: {finding.check}:{where} {finding.text}", style=_STYLES[finding.severity]
        )
        output.fields(
            [
                ("  evidence", ", ".join(f"{name}={value}" for name, value in finding.evidence.items())),
                ("  shown by", CommandLine(finding.shown_by)),
                *((f"  {word}", CommandLine(each)) for word, each in finding.remedies),
                ("  page", finding.page),
            ]
        )
    problems = sum(each.severity == "problem" for each in report.findings)
    unknown = sum(found == "unknown" for _, found, _ in rows)
    output.text()
    checks, told = counted(len(rows), "check", "checks"), counted(problems, "problem", "problems")
    warnings = counted(len(report.findings) - problems, "warning", "warnings")
    output.text(f"{checks}: {told}, {warnings}, {unknown} unknown")
