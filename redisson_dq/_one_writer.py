"""Lets one process at a time write a file that tells of the state of some work."""

from __future__ import annotations

import sys
from typing import IO

__all__ = ["is_ours"]

if sys.platform == "win32":

    def is_ours(file: IO[bytes]) -> bool:
        """Windows has no such lock: each process may write."""
        return True

else:
    import fcntl

    def is_ours(file: IO[bytes]) -> bool:
        """Locks a file until it is closed, or its process is gone. False where another one has it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            # A file system without locks.
            return True
        return True
