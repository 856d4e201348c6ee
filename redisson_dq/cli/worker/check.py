"""``--check``: whether the worker would run, and what it would receive. Nothing is received."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from redisson_dq._common.texts import counted
from redisson_dq.cli.frame import DATA, FINE, PROBLEM, Output, fields_of, run_in_loop, say
from redisson_dq.cli.worker.loading import load
from redisson_dq.errors import ArgumentError
from redisson_dq.working.handlers import Handler

if TYPE_CHECKING:
    from redisson_dq.cli.documents.others import WorkerDocument
    from redisson_dq.inspection import QueueInspection

__all__ = ["check"]


def check(target: str, url: str | None, redisson_config: str | None, output: Output) -> int:
    """Prints each queue with its handlers and its problems; the exit code. A warning changes no exit code.

    Raises LoadError, and RedissonDQError if the queues cannot be read.
    """
    worker, problem = load(target, url, redisson_config), None
    try:
        worker.check_dependencies()
    except ArgumentError as error:
        problem = str(error)
        say(f"redisson-dq: error: {problem}", error=True)
    found: Any = worker.check()
    reports: list[QueueInspection] = run_in_loop(found) if inspect.iscoroutine(found) else found
    looks = [(each, [handler for handler in worker.handlers if handler.queue == each.name]) for each in reports]
    if output.as_json:
        told: WorkerDocument = {"error": problem, "queues": [_as_fields(*each) for each in looks]}
        output.document(**told)
    else:
        for report, handlers in looks:
            _print(report, handlers)
    if problem is not None:
        return PROBLEM
    return DATA if any(report.error is not None for report in reports) else FINE


def _as_fields(report: QueueInspection, handlers: list[Handler]) -> dict[str, Any]:
    told = [_described(each) for each in handlers]
    return fields_of(report, "error", handlers=told, warnings=_warnings(report))


def _print(report: QueueInspection, handlers: list[Handler]) -> None:
    if report.error is None:
        say(f"{report.name}: {report.ready} ready, {report.waiting} waiting, {report.in_flight} in flight")
    else:
        say(f"{report.name}: cannot be used: {report.error}")
    for handler in handlers:
        say(f"  {_described(handler)}")
    for warning in _warnings(report):
        say(f"  warning: {warning}")


def _warnings(report: QueueInspection) -> list[str]:
    found = []
    if report.is_paused:
        found.append("delivery is paused: due items wait until resume()")
    if report.dead:
        letters = counted(report.dead, "dead letter", "dead letters")
        found.append(f"{letters}: dead_letters() shows them, redrive() brings them back")
    if report.undecodable:
        values = counted(report.undecodable, "value", "values")
        found.append(f"{values} that no codec could read: read_undecodable() shows them")
    if report.quarantined:
        entries = counted(report.quarantined, "entry", "entries")
        found.append(f"{entries} in no known format: read_quarantine() shows them")
    return found


def _described(handler: Handler) -> str:
    kind = handler.kind.text
    if handler.batch is not None:
        kind = f"up to {handler.batch} of {kind}"
    parts = [f"{handler.name}({kind})", f"{handler.concurrency} at a time"]
    if handler.where:
        parts.append("where " + " and ".join(f"{name} is {value!r}" for name, value in handler.where.items()))
    if handler.timeout is not None:
        parts.append(f"timeout {handler.timeout:g} s")
    return ", ".join(parts)
