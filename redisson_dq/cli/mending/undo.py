"""``redisson-dq undo``: undoes an action, using its undo file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from redisson_dq.cli.frame import (
    FINE,
    PROBLEM,
    Consent,
    Output,
    Server,
    json_option,
    other_server_option,
    say,
    server_options,
    stopping,
    tell_outage,
    write_options,
)
from redisson_dq.cli.frame import progress as shown

if TYPE_CHECKING:
    from redisson_dq.cli.documents.mending import UndoDocument

__all__ = ["command"]

_REASONS = {
    "there": "are in the queue as they were before",
    "again": "skipped: their ids were offered again since",
    "gone": "skipped: they were delivered or changed since",
    "ended": "skipped: their leases would have ended since",
    "lined": "skipped: the queue has keys or limits, and their turns went to other values",
    "unsure": "skipped: the action was killed more than a day ago, and whether it was done is unknown",
}


@click.command(short_help="Undo the changes of another command, with its undo file.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@other_server_option("Undo FILE although it was made on another server or address.")
@write_options()
@server_options
@json_option
def command(file: Path, allow_other_server: bool, consent: Consent, server: Server, output: Output) -> int:
    """Undo the changes of another command, using the undo FILE that it wrote.

    Each entry is put back if it is not there now. FILE notes each step, so the command can be called again.
    """
    from redisson_dq.mending import MendedQueue, UndoFile, check_file, undo

    found = UndoFile.read(file)
    with server.client() as client:
        header = found.header
        queue = MendedQueue(
            client,
            header["queue"],
            partitions=header["partitions"],
            dead_letter=header.get("dead_letter"),
            away=tell_outage,
        )
        warnings = check_file(queue, found, allow_other_server=allow_other_server)
        for warning in warnings:
            say(f"warning: {warning}", error=True)
        planned = undo(queue, found, dry_run=True)
        undone, stop = planned, None
        is_done = consent.given(f"undo {header['action']} of {planned.done:,} in {queue.name}", planned.done)
        if is_done:
            with stopping() as stop, shown("undo", sum(batch.count for batch in found.batches)) as bar:
                dealt = [0]

                def told(now: int) -> None:
                    bar.add(now - dealt[0])
                    dealt[0] = now

                undone = undo(queue, found, told=told, stop=stop)
    if output.as_json:
        told_all: UndoDocument = {
            "queue": queue.name,
            "action": header["action"],
            "dry_run": consent.dry_run,
            "wanted": undone.wanted,
            "done": undone.done if is_done else 0,
            "before": undone.before,
            "left": dict(undone.left),
            "warnings": warnings,
            "stopped": undone.stopped,
        }
        output.document(**told_all)
    else:
        if is_done:
            output.text(f"put back {undone.done:,} of {undone.wanted:,} in {queue.name}")
        if undone.before:
            were = "was" if undone.before == 1 else "were"
            output.text(f"  {undone.before:,} {were} put back by an earlier undo of this file")
        for reason, count in sorted(undone.left.items()):
            output.text(f"  {count:,} {_REASONS.get(reason, reason)}")
        if undone.stopped:
            output.text("stopped: run it again to continue")
    if stop is not None and undone.stopped:
        return stop.code
    return PROBLEM if undone.left else FINE
