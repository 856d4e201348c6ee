"""``redisson-dq ack``: ends leases whose values are done."""

from __future__ import annotations

from typing import Any

import click

from redisson_dq.cli.frame import (
    Server,
    json_option,
    partitions_option,
    queue_argument,
    server_options,
    write_options,
)
from redisson_dq.cli.mending._choosing import Choice, choice_options
from redisson_dq.cli.mending._doing import UndoChoice
from redisson_dq.cli.mending._held import act_on_held

__all__ = ["command"]


@click.command(short_help="End leases whose values are done.")
@queue_argument
@choice_options
@partitions_option
@write_options(rate=True)
@server_options
@json_option
def command(queue: str, choice: Choice, partitions: int | None, server: Server, **options: Any) -> int:
    """End leases of QUEUE for good, as their receiver would: nobody gets these values again.

    This cannot be undone. Use it if the work is done, but its process cannot confirm it.

    ID is the id of an offer, or the hex id of a lease, as `redisson-dq list QUEUE --state in-flight` shows it.
    """
    from redisson_dq.mending import ack

    none = UndoChoice(path=None, wanted=False)
    return act_on_held(server, queue, partitions, choice, "ack", "acked", ack, undo=none, **options)
