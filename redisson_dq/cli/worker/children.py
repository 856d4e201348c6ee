"""The supervisor's end of one process: how it is started, its reports, and how it ends."""

from __future__ import annotations

import contextlib
import enum
import json
import math
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import attrs

__all__ = ["HURRY", "Child", "ChildOptions"]

#: Asks a stopping process not to wait for its handlers any longer.
HURRY = b"!"

# How long a process may take to end beyond the grace of its handlers.
_LAST_STEPS = 15.0
# A process that reports nothing for this long counts as receiving nothing. A busy process reports every second.
_SILENT = 10.0
# A process that has never reported may take this many times as long. One that started without memory may hang for good.
_FIRST_WORD = 10
# The most time that counts between two checks of a silent process: the supervisor may have been suspended too.
_LONGEST_STEP = 2.0


@attrs.frozen(kw_only=True)
class ChildOptions:
    """The arguments with which every process is started."""

    target: str
    url: str | None
    redisson_config: str | None
    grace: float
    max_jobs: int | None
    max_memory: int | None
    log_level: str
    #: Whether its metrics are reported too.
    metrics: bool = False


@attrs.frozen(kw_only=True)
class _ChildReport:
    """The latest message of a process."""

    running: bool
    consuming: bool
    #: Why it receives nothing, or which handlers make no progress.
    problems: tuple[str, ...]
    #: Whether it receives, and a handler makes no progress.
    stalled: bool
    queues: tuple[str, ...]
    #: Why it wants to be replaced.
    leaves: str | None
    #: Its page of metrics, once it is made.
    metrics: list[Any] | None

    @classmethod
    def read(cls, line: bytes) -> _ChildReport:
        told = json.loads(line)
        return cls(**{**told, "problems": tuple(told["problems"]), "queues": tuple(told["queues"])})


_NOTHING_YET = _ChildReport(
    running=False, consuming=False, problems=(), stalled=False, queues=(), leaves=None, metrics=None
)


class _ChildPhase(enum.Enum):
    """How far the end of a process is."""

    AT_WORK = "nobody has asked it to end"
    STOPPING = "it was asked to stop, and is killed at its deadline"
    KILLED_AT_WORK = "it was killed as it hung: its death is a failure"
    KILLED = "it was asked to stop, and killed"


class Child:
    """One process with a worker. It runs from its creation on."""

    def __init__(self, options: ChildOptions) -> None:
        """Raises OSError if the system has no descriptor, process or memory for it."""
        self._options = options
        #: The prefix of its leases' ids.
        self.owner = secrets.token_bytes(4)
        self.began = time.monotonic()
        self._phase = _ChildPhase.AT_WORK
        self._deadline = math.inf
        # The supervisor's reason to replace it.
        self._replaced_for: str | None = None
        #: Its latest report.
        self.report = _NOTHING_YET
        # For how long it has reported nothing.
        self._silent = 0.0
        self._stopped_by: str | None = None
        self._text = b""
        self.socket, theirs = socket.socketpair()
        told = {**attrs.asdict(options), "owner": self.owner.hex(), "socket": theirs.fileno()}
        with contextlib.ExitStack() as undo:
            undo.callback(self.socket.close)
            with theirs:
                # A separate session: only the supervisor gets Ctrl-C, and passes it on.
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "redisson_dq.cli.worker.child"],
                    stdin=subprocess.PIPE,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                    env={name: value for name, value in os.environ.items() if name not in _SUPERVISORS},
                )
            undo.pop_all()
        # Not as an argument: all users of the machine can read those, and the URL may have a password.
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self.process.stdin as pipe:
            pipe.write(json.dumps(told).encode())
        self.socket.setblocking(False)

    def __repr__(self) -> str:
        return f"process {self.process.pid}"

    # -- its messages ------------------------------------------------------------------------------------------------

    def read(self) -> bool:
        """Takes in its messages; False when no more come."""
        while True:
            try:
                data = self.socket.recv(65536)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
            self._silent = 0.0
            *lines, self._text = (self._text + data).split(b"\n")
            if lines:
                # A report says all, so the latest one counts.
                self.report = _ChildReport.read(lines[-1])

    def stands_still(self, passed: float, silence: float) -> bool:
        """Records the passed time. Returns whether the process has been silent for too long.

        Before its first report it imports the user's program, which may take longer.
        """
        self._silent += min(passed, _LONGEST_STEP)
        return self._silent > silence * (1 if self._has_reported else _FIRST_WORD)

    @property
    def _has_reported(self) -> bool:
        return self.report is not _NOTHING_YET

    @property
    def is_silent(self) -> bool:
        """Whether its last report is so old that its figures are outdated."""
        return self._has_reported and self._silent >= _SILENT

    @property
    def problems(self) -> tuple[str, ...]:
        """Why it receives no values, by its last message. Empty: it receives."""
        if self._stopped_by is not None:
            return (f"{self} is stopped by {self._stopped_by}, until SIGCONT",)
        if self.is_silent:
            return (f"{self} has reported nothing for {self._silent:.0f} s",)
        if not self.report.running:
            return (f"{self} starts",)
        if not self.report.consuming:
            return self.report.problems or (f"{self} receives nothing: Redis cannot be reached, or it stops",)
        return ()

    def look_whether_stopped(self) -> None:
        """Asks the system whether the process is stopped, as by SIGSTOP. If the system cannot say, only its silence
        counts.
        """
        if _STOPS is None:
            return
        with contextlib.suppress(ChildProcessError):
            while found := os.waitid(os.P_PID, self.process.pid, _STOPS):
                is_over = found.si_code == os.CLD_CONTINUED
                self._stopped_by = None if is_over else signal.Signals(found.si_status).name

    # -- its end -----------------------------------------------------------------------------------------------------

    @property
    def is_stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self._phase in (_ChildPhase.STOPPING, _ChildPhase.KILLED)

    @property
    def leaves(self) -> str | None:
        """Why it is to be replaced, if it is: by its own wish, or the supervisor's."""
        return self.report.leaves or self._replaced_for

    def replace(self, reason: str) -> None:
        """Lets it be replaced for this reason."""
        self._replaced_for = reason

    def stop(self) -> None:
        """Asks it to stop. The second time, its handlers get no grace period."""
        if self._phase is _ChildPhase.AT_WORK:
            self._phase = _ChildPhase.STOPPING
            self._deadline = time.monotonic() + self._options.grace + _LAST_STEPS
            self._send(signal.SIGTERM)
        elif self._phase is _ChildPhase.STOPPING:
            self._deadline = time.monotonic() + _LAST_STEPS
            # Two signals in quick succession may be merged into one.
            with contextlib.suppress(OSError):
                self.socket.send(HURRY)
        else:
            self._phase = _ChildPhase.KILLED

    def kill(self) -> None:
        """Ends it at once."""
        self._phase = _ChildPhase.KILLED if self.is_stopping else _ChildPhase.KILLED_AT_WORK
        self._send(signal.SIGKILL)

    def is_overdue(self, now: float) -> bool:
        """Whether it has not stopped by its deadline."""
        return self._phase is _ChildPhase.STOPPING and now >= self._deadline

    @property
    def is_killed(self) -> bool:
        """Whether it was killed, and may not have ended yet."""
        return self._phase in (_ChildPhase.KILLED_AT_WORK, _ChildPhase.KILLED)

    @property
    def exit_code(self) -> int | None:
        """Its exit code, below zero the signal that it died of; None while it runs."""
        return self.process.poll()

    def _send(self, number: signal.Signals) -> None:
        # Popen looks first whether it is there: its id may be another's by now.
        self.process.send_signal(number)


# Variables that service managers set only for the supervisor.
_SUPERVISORS = ("NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC")

# Only waits for stops and continuations, so that Popen gets the end of the process.
_STOPS = os.WSTOPPED | os.WCONTINUED | os.WNOHANG if hasattr(os, "waitid") else None
