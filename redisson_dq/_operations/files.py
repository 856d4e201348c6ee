"""State files of long-running work, which may contain values. Only one process at a time writes to such a file."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import IO, BinaryIO, Literal

from redisson_dq.errors import ArgumentError

__all__ = ["is_ours", "opened_alone"]

_FLAGS = {
    "ab": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "a+b": os.O_RDWR | os.O_CREAT | os.O_APPEND,
    "r+b": os.O_RDWR,
}


def opened_alone(path: Path, mode: Literal["ab", "a+b", "r+b"]) -> BinaryIO:
    """Opens a file for writing. A new one is readable by its owner only, from its first byte on.

    A symbolic link is not followed: somebody else may have put it there. Raises ArgumentError for one, and OSError.
    """
    try:
        handle = os.open(path, _FLAGS[mode] | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0), 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK) and path.is_symlink():
            raise ArgumentError(f"{str(path)!r} is a symbolic link, which is not followed: name a file") from None
        raise
    # A file object of mode "a+" reads from the end on, as open() does.
    return os.fdopen(handle, mode)


if sys.platform == "win32":

    def is_ours(file: IO[bytes]) -> bool:
        """Windows has no such lock: each process may write."""
        return True

else:
    import fcntl

    def is_ours(file: IO[bytes]) -> bool:
        """Locks a file until it is closed, or its process is gone. False if another process has locked it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            # The file system has no locks.
            return True
        return True
