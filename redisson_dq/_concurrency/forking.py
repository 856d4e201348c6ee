"""Ends a process that a handler has forked: it has the connections and the event loop of its parent."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback

__all__ = ["leave_if_forked"]


def leave_if_forked(process: int, error: BaseException | None = None) -> None:
    """Ends the process at once, unless it is the one with this id, in which a handler was called.

    ``error`` has ended the handler. Its process ends with the status of a SystemExit, with 1 for any other error, else
    with 0. Nothing of the parent's is closed or sent: neither ``finally`` blocks nor atexit functions run.
    """
    if os.getpid() == process:
        return
    status = 0
    with contextlib.suppress(Exception):
        if isinstance(error, SystemExit):
            status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
            if isinstance(error.code, str):
                print(error.code, file=sys.stderr)
        elif error is not None:
            status = 1
            traceback.print_exception(type(error), error, error.__traceback__)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    os._exit(status & 0xFF)
