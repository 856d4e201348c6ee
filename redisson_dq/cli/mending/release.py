"""``redisson-dq release``: gives values back that receivers hold."""

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
from redisson_dq.cli.mending._doing import undo_options
from redisson_dq.cli.mending._held import act_on_held

__all__ = ["command"]


@click.command(short_help="Give back values that receivers hold.")
@queue_argument
@choice_options
@partitions_option
@write_options(rate=True)
@undo_options
@server_options
@json_option
def command(queue: str, choice: Choice, partitions: int | None, server: Server, **options: Any) -> int:
    """Give back values of QUEUE that a receiver holds whose process is gone or hangs.

    ID is the id of an offer, or the hex id of a lease, as `redisson-dq list QUEUE --state in-flight` shows it.
    """
    from redisson_dq.mending import release

    return act_on_held(server, queue, partitions, choice, "release", "released", release, **options)
