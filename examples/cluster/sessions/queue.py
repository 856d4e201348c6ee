"""The queue, opened in the same way by all processes."""

from __future__ import annotations

__all__ = ["PARTITIONS", "QUEUE"]

QUEUE = "sessions"

#: Five or six on each of three masters. The mover needs the same number: deploy/.
PARTITIONS = 16
