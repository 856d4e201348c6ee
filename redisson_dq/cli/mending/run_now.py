"""``redisson-dq run-now``: makes waiting items due at once."""

from __future__ import annotations

from redisson_dq.cli.mending._doing import Deed
from redisson_dq.cli.mending._waiting import waiting_command

__all__ = ["command"]

command = waiting_command(
    Deed(verb="run-now", past="made due"),
    "to",
    None,
    short_help="Make waiting items due at once.",
    help="Make waiting items of QUEUE due at once. The mover of the queue moves them.",
)
