"""The parent's side of the supervisor: starts it, reads its messages, and requests the end of the server."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import IO

from redisson_dq.errors import RedisConnectionError

__all__ = ["Supervised"]

_SCRIPT = Path(__file__).with_name("_supervisor.py")
_PATIENCE = 10.0  # seconds; more than the supervisor waits between SIGTERM and SIGKILL


class Supervised:
    """A server process under its own supervisor. It ends at the latest when this object is garbage."""

    def __init__(self, command: list[str], *, work_dir: Path) -> None:
        self._log = work_dir / "server.log"
        with self._log.open("wb") as log_file:
            self._popen = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_SCRIPT), str(work_dir), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log_file,
                bufsize=0,
                start_new_session=True,  # Ctrl-C in this terminal must not reach it
            )
        self._orders, self._reports = _pipes(self._popen)
        os.set_blocking(self._reports.fileno(), False)
        self._unread = b""
        self._pid: int | None = None
        self.status: int | None = None
        """How the server ended: its exit status, or minus the signal's number. None while it runs."""
        self._owner = os.getpid()
        self._finalizer = weakref.finalize(self, _end, self._popen, b"t", self._owner)
        _living.add(self)
        deadline = time.monotonic() + _PATIENCE
        while self._pid is None:
            runs = self.wait(1.0)
            # One read may return both messages: that the server was started, and that it has ended.
            if self._pid is None and (not runs or time.monotonic() > deadline):
                self.end("kill")
                raise RedisConnectionError(f"the server's supervisor did not start:\n{self.log_tail(12)}")

    @property
    def pid(self) -> int:
        """The server's process id."""
        assert self._pid is not None
        return self._pid

    @property
    def running(self) -> bool:
        """Whether the server runs. Never blocks."""
        return self.wait(0)

    def wait(self, seconds: float) -> bool:
        """Wait at most ``timeout`` seconds for a message about the server. Returns whether it runs."""
        with selectors.DefaultSelector() as selector:
            if self.status is None and not self._reports.closed:
                selector.register(self._reports, selectors.EVENT_READ)
                if selector.select(seconds):
                    self._read()
        return self.status is None

    def end(self, how: str) -> None:
        """``term`` or ``kill`` the server and wait until it is gone."""
        if self._finalizer.detach():
            _end(self._popen, how[:1].encode(), self._owner)

    def log_tail(self, lines: int) -> str:
        """The last lines of the server's output."""
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        return "\n".join(text.splitlines()[-lines:]) or "(its log is empty)"

    def _read(self) -> None:
        more = os.read(self._reports.fileno(), 4096)
        *lines, self._unread = (self._unread + more).split(b"\n")
        for line in lines:
            word, _, number = line.partition(b" ")
            if word == b"pid":
                self._pid = int(number)
            else:
                self.status = int(number)
        if not more and self.status is None:
            self.status = -9  # the supervisor was killed, and so was the server

    def _disown(self) -> None:
        """In a forked copy: close the pipe, so that only the real owner holds it."""
        for pipe in (self._orders, self._reports):
            with contextlib.suppress(OSError):
                pipe.close()
        self._popen.returncode = 0  # not our child: nothing to wait for, nothing to warn about


def _pipes(popen: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert popen.stdin is not None
    assert popen.stdout is not None
    return popen.stdin, popen.stdout


def _end(popen: subprocess.Popen[bytes], order: bytes, owner: int) -> None:
    if os.getpid() != owner:
        return
    orders, reports = _pipes(popen)
    with contextlib.suppress(OSError):  # the supervisor may be gone already
        orders.write(order)
    orders.close()
    try:
        popen.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        popen.kill()
        popen.wait()
    reports.close()


_living: weakref.WeakSet[Supervised] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for process in list(_living):
        process._disown()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
