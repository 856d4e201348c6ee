"""A worker process as its parent sees it: requests go in, answers come out, and it ends with its parent."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

__all__ = ["Worker"]

_ROOT = Path(__file__).resolve().parents[2]
# How long one that has nothing to do may take to end.
_END = 5.0


class Worker:
    """One process of ``tests.workers.measured``, which says what may be asked of it."""

    def __init__(self, checkout: str | None = None) -> None:
        """With a ``checkout`` it has the library of that folder."""
        self._folder = tempfile.TemporaryDirectory()
        root = _ROOT if checkout is None else Path(self._folder.name)
        if checkout is not None:
            (root / "redisson_dq").symlink_to(Path(checkout).resolve() / "redisson_dq")
            (root / "tests").symlink_to(_ROOT / "tests")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.workers.measured"],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def send(self, op: str, **arguments: Any) -> None:
        """Starts an operation. Does not wait."""
        self._write(json.dumps({"op": op, **arguments}))

    def tell(self) -> None:
        """Ends an operation that continues until it is asked to end."""
        self._write("")

    def answer(self, limit: float = 60.0) -> Any:
        """Waits for an answer, for so many seconds."""
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], limit)
        line = self._process.stdout.readline() if readable else ""
        if not line:
            raise RuntimeError("a worker process did not answer, see its messages above")
        return json.loads(line)

    def kill(self) -> None:
        """Ends it as a crash would."""
        self._process.kill()
        self.close()

    def close(self) -> None:
        """Ends it: at once when it has nothing to do, else after 5 s."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # A killed process may have left a request unread.
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
