"""The queue that all processes open alike."""

from __future__ import annotations

__all__ = ["PARTITIONS", "QUEUE"]

QUEUE = "sessions"

#: Five or six on each of three masters. The mover is told the same number: deploy/.
PARTITIONS = 16
