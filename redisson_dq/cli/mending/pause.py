"""``redisson-dq pause``: stops delivery."""

from __future__ import annotations

from redisson_dq.cli.mending._pausing import pausing_command

__all__ = ["command"]

command = pausing_command(
    "pause",
    short_help="Stop the delivery of queues.",
    help="Stop delivery: no process with this library moves due items of QUEUE until it is resumed.",
)
