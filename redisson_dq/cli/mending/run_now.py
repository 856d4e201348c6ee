"""``redisson-dq run-now``: makes waiting items due at once."""

from __future__ import annotations

import click

from redisson_dq.cli.frame import (
    Consent,
    Output,
    Server,
    json_option,
    partitions_option,
    queue_argument,
    server_options,
    write_options,
)
from redisson_dq.cli.mending._choosing import Choice, choice_options
from redisson_dq.cli.mending._doing import Deed, UndoChoice, undo_options
from redisson_dq.cli.mending._waiting import act_on_waiting

__all__ = ["command"]


@click.command(short_help="Make waiting items due at once.")
@queue_argument
@choice_options
@partitions_option
@write_options(rate=True)
@undo_options
@server_options
@json_option
def command(
    queue: str,
    choice: Choice,
    partitions: int | None,
    consent: Consent,
    undo: UndoChoice,
    server: Server,
    output: Output,
) -> int:
    """Make waiting items of QUEUE due at once. The mover of the queue moves them."""
    deed = Deed(verb="run-now", past="made due")
    return act_on_waiting(
        server, queue, partitions, choice, deed, "to", None, consent=consent, undo=undo, output=output
    )
