"""Ends long work between two steps when the user, or a supervisor, asks for it."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator

__all__ = ["Stop", "stopping"]


class Stop:
    """Whether the user wants the work to end, and the exit code then."""

    def __init__(self) -> None:
        self.code = 0

    def __call__(self) -> bool:
        return self.code != 0


@contextlib.contextmanager
def stopping() -> Iterator[Stop]:
    """Lets Ctrl-C and SIGTERM end the work between two batches. A second one ends it at once."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
        yield stop
        return

    def note(number: int, _: object) -> None:
        if stop.code:
            raise KeyboardInterrupt
        stop.code = 128 + number
        # The signal may have come while a line was printed, which cannot be printed on then.
        with contextlib.suppress(RuntimeError, OSError):
            print("\nending after this batch; once more ends at once", file=sys.stderr)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
