"""Which Python files changed, for ``--reload``. For development only: it checks every file repeatedly."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

__all__ = ["Changes"]

# How often it looks.
_EVERY = 0.5
_NOT_OURS = {"__pycache__", "node_modules", "site-packages"}


class Changes:
    """Compares the .py files under a directory with its initial state."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._seen = dict(self._files())
        self._next = 0.0

    def wait(self, now: float) -> float:
        """How long until the next look; 0 for now."""
        return max(0.0, self._next - now)

    def changed(self, now: float) -> list[str]:
        """Files that were written, created or removed since, if a look is due. None while the system lets no folder be
        read.
        """
        if self.wait(now):
            return []
        self._next = now + _EVERY
        try:
            found = dict(self._files())
        except OSError:
            return []
        return sorted(path for path in self._seen.keys() | found.keys() if self._seen.get(path) != found.get(path))

    def _files(self) -> Iterator[tuple[str, tuple[int, int]]]:
        for folder, folders, files in os.walk(self._root, onerror=_passes):
            # A hidden folder is a tool's, and one with this file is a virtual environment.
            folders[:] = [
                each
                for each in folders
                if not each.startswith(".")
                and each not in _NOT_OURS
                and not os.path.exists(os.path.join(folder, each, "pyvenv.cfg"))
            ]
            for name in files:
                if name.endswith(".py"):
                    path = os.path.join(folder, name)
                    try:
                        found = os.stat(path)
                    except OSError as error:
                        _passes(error)
                        continue
                    yield path, (found.st_mtime_ns, found.st_size)


def _passes(error: OSError) -> None:
    """Raises it when it says nothing of the file: the files of a folder that cannot be opened now are still there."""
    if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        raise error
