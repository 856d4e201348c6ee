"""``redisson-dq quarantine``: lists, shows, redrives and purges."""

from __future__ import annotations

from redisson_dq.cli.mending._aside import aside_group

__all__ = ["command"]

command = aside_group("quarantine", "Entries in no known format, which were set aside.")
