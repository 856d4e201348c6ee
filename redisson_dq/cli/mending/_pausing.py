"""``pause`` and ``resume``, which differ in a word."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Literal

import click

from redisson_dq._operations.shell import command_line
from redisson_dq.cli.frame import (
    FINE,
    Consent,
    Output,
    Server,
    json_option,
    partitions_option,
    queues_argument,
    server_options,
    write_options,
)
from redisson_dq.cli.mending._choosing import mended
from redisson_dq.cli.mending._doing import UndoChoice, undo_options

if TYPE_CHECKING:
    from redisson_dq.cli.documents.mending import PauseDocument, PausedQueue
    from redisson_dq.mending import MendedQueue

__all__ = ["pausing_command"]

_PAST = {"pause": "paused", "resume": "resumed"}


def pausing_command(verb: Literal["pause", "resume"], *, short_help: str, help: str) -> click.Command:
    """The command ``pause`` or ``resume``. Each queue gets its own undo file."""

    @click.command(verb, short_help=short_help, help=help)
    @queues_argument()
    @partitions_option
    @write_options()
    @undo_options
    @server_options
    @json_option
    def command(
        queues: tuple[str, ...],
        partitions: int | None,
        consent: Consent,
        undo: UndoChoice,
        server: Server,
        output: Output,
    ) -> int:
        if undo.path is not None and len(queues) > 1:
            raise click.UsageError("--undo-file is for one queue; without it each queue gets a file of its own")
        rows: list[PausedQueue] = []
        if consent.given(f"{verb} {', '.join(queues)}"):
            with server.client() as client:
                rows = [_acted(verb, mended(client, name, partitions), undo) for name in queues]
        if output.as_json:
            told: PauseDocument = {"action": verb, "dry_run": consent.dry_run, "queues": rows}
            output.document(**told)
            return FINE
        for row in rows:
            output.text(f"{row['queue']}: {_PAST[verb]}{'' if row['changed'] else ' before'}")
        if rows and verb == "pause":
            output.text("Redisson's own processes know nothing of a pause, and deliver.")
        elif rows:
            output.command("To see whether they are moved and taken", command_line("doctor", queues))
        return FINE

    return command


def _acted(verb: Literal["pause", "resume"], queue: MendedQueue, undo: UndoChoice) -> PausedQueue:
    from redisson_dq.mending import pause, resume

    writer = undo.opened(queue, verb)
    with writer or contextlib.nullcontext():
        changed = (pause if verb == "pause" else resume)(queue, writer)
    path = None if writer is None else str(writer.path)
    return {"queue": queue.name, "parts": len(queue.parts), "changed": changed, "undo_file": path}
