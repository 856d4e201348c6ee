"""``redisson-dq resume``: ends a pause."""

from __future__ import annotations

import click

from redisson_dq.cli.frame import (
    Consent,
    Output,
    Server,
    json_option,
    partitions_option,
    queues_argument,
    server_options,
    write_options,
)
from redisson_dq.cli.mending._doing import UndoChoice, undo_options
from redisson_dq.cli.mending._pausing import act_on_queues

__all__ = ["command"]


@click.command(short_help="End the pause of queues.")
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
    """End a pause: items that fell due meanwhile are delivered at once."""
    return act_on_queues("resume", queues, partitions, consent=consent, undo=undo, server=server, output=output)
