"""The supervisor: starts one server, and stops it when the pipe on its standard input closes.

Run as a script in a process of its own. It uses only the standard library, without site-packages, so it starts within
about 20 ms::

    python -I -S _supervisor.py WORK_DIR PROGRAM [ARGUMENT ...]

It writes lines to standard output: ``pid N`` once, ``exit STATUS`` when the server has ended (negative: by
that signal). It reads one byte from standard input:

====== =============================================================================
``t``   SIGTERM to the server, SIGKILL when it has not ended after 5 seconds
``k``   SIGKILL to the server
end     the process that holds the pipe is gone: as ``t``, then ``WORK_DIR`` is removed
====== =============================================================================

When the server ends by itself, the supervisor reports it and stays. The process that holds the pipe decides what to do
next.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

_GRACE = 5.0  # seconds between SIGTERM and SIGKILL

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def _kill_me_when_the_supervisor_dies() -> None:
    """On Linux, the server ends when its supervisor is SIGKILLed. Elsewhere this does nothing.

    The signal is tied to the thread that forked. The supervisor has only that one thread.
    """
    if sys.platform == "linux":
        with contextlib.suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _start(argv: list[str], log: int) -> int:
    supervisor = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        _kill_me_when_the_supervisor_dies()
        if os.getppid() == supervisor:  # the supervisor may have died before the line above
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.execv(argv[0], argv)
    except BaseException as error:  # after any error, the forked copy must not go on
        os.write(log, f"cannot run {argv[0]}: {error}\n".encode())
    finally:
        os._exit(127)


class _ServerProcess:
    def __init__(self, argv: list[str], log: int) -> None:
        self._wake, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        os.set_blocking(self._wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self.ended = False
        self.pid = _start(argv, log)

    def _reap(self) -> None:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid and not self.ended:
            self.ended = True
            _say(f"exit {os.waitstatus_to_exitcode(status)}")

    def wait(self, *, watch: list[int], seconds: float | None) -> bool:
        """Wait until the server ended or a watched descriptor is readable; true for the latter."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while not self.ended or watch:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select([self._wake, *watch], [], [], left)
            if self._wake in ready:
                os.read(self._wake, 4096)
            if not self.ended:
                self._reap()
            if any(descriptor in ready for descriptor in watch):
                return True
            if left == 0.0:
                break
        return False

    def end(self, number: int) -> None:
        if not self.ended:
            os.kill(self.pid, number)  # our child, not reaped yet: no other process can have its pid
            self.wait(watch=[], seconds=_GRACE)
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
            self.wait(watch=[], seconds=None)


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # nobody reads any more
        os.write(1, line.encode() + b"\n")


def _main(argv: list[str]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # only the pipe decides
    work_dir, command = argv[0], argv[1:]
    server = _ServerProcess(command, log=2)
    _say(f"pid {server.pid}")
    server.wait(watch=[0], seconds=None)
    order = os.read(0, 1)
    server.end(signal.SIGKILL if order == b"k" else signal.SIGTERM)
    if not order:
        import shutil

        shutil.rmtree(work_dir, ignore_errors=True)


if __name__ == "__main__":
    _main(sys.argv[1:])
