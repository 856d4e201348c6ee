"""``pause`` and ``resume``, which differ in a word."""

from __future__ import annotations

import contextlib
from typing import Literal

import click

from redisson_dq.cli.frame import FINE, Consent, Output, Server
from redisson_dq.cli.mending._choosing import mended
from redisson_dq.cli.mending._doing import UndoChoice

__all__ = ["act_on_queues"]

_PAST = {"pause": "paused", "resume": "resumed"}


def act_on_queues(
    verb: Literal["pause", "resume"],
    queues: tuple[str, ...],
    partitions: int | None,
    *,
    consent: Consent,
    undo: UndoChoice,
    server: Server,
    output: Output,
) -> int:
    """Pauses or resumes queues, one after the other, each with an undo file of its own."""
    from redisson_dq.mending import pause, resume

    if undo.path is not None and len(queues) > 1:
        raise click.UsageError("--undo-file is for one queue; without it each queue gets a file of its own")
    rows: list[dict[str, object]] = []
    is_asked = consent.given(f"{verb} {', '.join(queues)}")
    with server.client() as client:
        for name in queues if is_asked else ():
            queue = mended(client, name, partitions)
            writer = undo.opened(queue, verb)
            with writer or contextlib.nullcontext():
                changed = (pause if verb == "pause" else resume)(queue, writer)
            path = None if writer is None else str(writer.path)
            rows.append({"queue": name, "parts": len(queue.parts), "changed": changed, "undo_file": path})
    if output.as_json:
        output.document(action=verb, dry_run=consent.dry_run, queues=rows)
    for row in () if output.as_json else rows:
        told = _PAST[verb] if row["changed"] else f"{_PAST[verb]} before"
        output.text(f"{row['queue']}: {told}")
    if rows and verb == "pause" and not output.as_json:
        output.text("Redisson's own processes know nothing of a pause, and deliver.")
    return FINE
