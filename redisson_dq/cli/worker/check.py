"""``--check``: whether the worker would run, and what it would receive. Nothing is received."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from redisson_dq.cli.worker.loading import load
from redisson_dq.working.handlers import Handler

__all__ = ["check"]


def check(target: str, url: str | None) -> int:
    """Prints each queue with its handlers; 0, or 1 when a queue cannot be used."""
    worker = load(target, url)
    found: Any = worker.check()
    reports = asyncio.run(found) if inspect.iscoroutine(found) else found
    failed = False
    for report in reports:
        if report.error is None:
            print(f"{report.name}: {report.ready} ready, {report.waiting} waiting, {report.leased} in hand")
        else:
            failed = True
            print(f"{report.name}: cannot be used: {report.error}")
        for handler in worker.handlers:
            if handler.queue == report.name:
                print(f"  {_described(handler)}")
    return 1 if failed else 0


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
