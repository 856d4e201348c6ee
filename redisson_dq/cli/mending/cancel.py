"""``redisson-dq cancel``: takes waiting items out for good."""

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


@click.command(short_help="Take waiting items out for good.")
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
    """Take waiting items of QUEUE out for good.

    ID is the id of an offer, the one that an offer made, or the hex id of an entry, as `redisson-dq list` shows them.
    """
    deed = Deed(verb="cancel", past="cancelled")
    return act_on_waiting(
        server, queue, partitions, choice, deed, "cancel", 0, consent=consent, undo=undo, output=output
    )
