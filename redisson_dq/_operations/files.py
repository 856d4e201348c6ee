"""State files of long-running work, which may contain values. Only one process at a time writes to such a file."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
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
# A pipe without a reader is refused, and not waited for.
_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# open() gives these for a symbolic link, and for a pipe or a socket without a reader.
_REFUSED = (errno.ELOOP, errno.EMLINK, errno.ENXIO)


def opened_alone(path: Path, mode: Literal["ab", "a+b", "r+b"]) -> BinaryIO:
    """Opens a file for writing. A new one is readable by its owner only, from its first byte on.

    Somebody else may have put something at the path, to read what is written there or to destroy another file. So a
    symbolic link is not followed, and a pipe, a device, a file of another user or one with a second name is refused. An
    existing file becomes its owner's alone. Raises ArgumentError, and OSError.
    """
    flags, is_new = _FLAGS[mode] | _CAREFUL, False
    try:
        try:
            if not flags & os.O_CREAT:
                raise FileExistsError
            handle, is_new = os.open(path, flags | os.O_EXCL, 0o600), True
        except FileExistsError:
            handle = os.open(path, flags & ~os.O_CREAT)
    except OSError as error:
        if error.errno in _REFUSED and (why := _danger_of(path.lstat())):
            raise ArgumentError(_refusal(path, why)) from None
        raise
    try:
        if not is_new:
            why = _danger_of(os.fstat(handle))
            if why:
                raise ArgumentError(_refusal(path, why))
            if sys.platform != "win32":
                # Some file systems have no modes.
                with contextlib.suppress(OSError):
                    os.fchmod(handle, 0o600)
        # A file object of mode "a+" reads from the end on, as open() does.
        return os.fdopen(handle, mode)
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(handle)
        raise


def _danger_of(found: os.stat_result) -> str:
    """Why nothing may be written to what is at a path, or ""."""
    if stat.S_ISLNK(found.st_mode):
        return "a symbolic link, which is not followed"
    if not stat.S_ISREG(found.st_mode):
        return "no regular file"
    if sys.platform == "win32":
        return ""
    if found.st_nlink > 1:
        return "a file with a second name (a hard link)"
    return "" if found.st_uid == os.geteuid() else "a file of another user"


def _refusal(path: Path, why: str) -> str:
    return f"{str(path)!r} is {why}: name a new file"


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
