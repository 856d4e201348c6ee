"""``redisson-dq undecodable``: lists, shows, adds, redrives and purges."""

from __future__ import annotations

from redisson_dq.cli.mending._adding import add_command
from redisson_dq.cli.mending._aside import aside_group

__all__ = ["command"]

command = aside_group("undecodable", "Values that the codec could not read, which were set aside.")
command.add_command(add_command)
