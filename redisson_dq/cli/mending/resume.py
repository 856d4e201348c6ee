"""``redisson-dq resume``: ends a pause."""

from __future__ import annotations

from redisson_dq.cli.mending._pausing import pausing_command

__all__ = ["command"]

command = pausing_command(
    "resume",
    short_help="End the pause of queues.",
    help="End a pause: items that fell due meanwhile are delivered at once.",
)
