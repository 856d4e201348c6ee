"""The program ``redisson-dq``, which is ``python -m redisson_dq`` too.

Ctrl-C ends the program with 130 at any point. So this module first imports only what Python itself has loaded, and
imports the commands once it handles the signal.
"""

import os
import signal
import sys

__all__ = ["main"]

# The exit code that shells report for a process that SIGINT ended.
_INTERRUPTED = 130


def _leave(*_: object) -> None:
    """Ends the process at once. No work has begun yet, or all of it has ended."""
    os._exit(_INTERRUPTED)


def main() -> int:
    """Runs the command that the process's arguments name, and returns the exit code."""
    before = signal.getsignal(signal.SIGINT)
    # A process that a shell runs in the background ignores Ctrl-C.
    hears = before is signal.default_int_handler
    try:
        if hears:
            signal.signal(signal.SIGINT, _leave)
        from redisson_dq.cli._main import main as run

        if hears:
            signal.signal(signal.SIGINT, before)
        return run()
    except KeyboardInterrupt:  # a second one, while the first one ended the command
        return _INTERRUPTED
    finally:
        if hears:
            signal.signal(signal.SIGINT, _leave)


if __name__ == "__main__":
    sys.exit(main())
