"""The key that ends a continuous command."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Callable, Iterator

__all__ = ["quit_key"]


@contextlib.contextmanager
def quit_key() -> Iterator[Callable[[float], bool]]:
    """A function that waits for some seconds, and says whether q was pressed. Without a terminal it only waits.

    Keys come without Return and are not shown meanwhile. Afterwards the terminal is as before.
    """
    if not _has_keyboard():
        yield _is_never_pressed
        return
    import termios
    import tty

    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    try:
        tty.setcbreak(keyboard)
        yield lambda seconds: _is_pressed(keyboard, seconds)
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


def _has_keyboard() -> bool:
    # A background process that changes the terminal would be stopped. Windows has neither module.
    if sys.platform == "win32":
        return False
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    return False


def _is_never_pressed(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def _is_pressed(keyboard: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if select.select([keyboard], [], [], left)[0]:
            keys = os.read(keyboard, 64)
            # No bytes: the terminal is gone.
            if not keys or b"q" in keys.lower():
                return True
    return False
