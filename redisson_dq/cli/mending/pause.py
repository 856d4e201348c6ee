"""``redisson-dq pause``: stops delivery."""

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


@click.command(short_help="Stop the delivery of queues.")
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
    """Stop delivery: no process with this library moves due items of QUEUE until it is resumed."""
    return act_on_queues("pause", queues, partitions, consent=consent, undo=undo, server=server, output=output)
