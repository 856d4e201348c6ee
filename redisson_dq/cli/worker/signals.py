"""The signals of the supervisor."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = ["woken_by_signals"]


@contextlib.contextmanager
def woken_by_signals(signalled: Callable[[int], None]) -> Iterator[socket.socket]:
    """Calls ``signalled`` for SIGTERM, SIGINT and SIGHUP, and gives a socket that can be read after them and after
    SIGCHLD.
    """
    numbers = [signal.SIGTERM, signal.SIGINT, signal.SIGCHLD]
    # From a terminal, SIGHUP means that the terminal is gone. ``nohup`` makes it ignored.
    if not os.isatty(0) and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    bell, rings = socket.socketpair()
    for end in (bell, rings):
        end.setblocking(False)

    def handle(number: int, frame: FrameType | None) -> None:
        if number != signal.SIGCHLD:
            signalled(number)

    before = {number: signal.signal(number, handle) for number in numbers}
    before_fd = signal.set_wakeup_fd(rings.fileno(), warn_on_full_buffer=False)
    try:
        yield bell
    finally:
        signal.set_wakeup_fd(before_fd)
        for number, handler in before.items():
            signal.signal(number, handler)
        bell.close()
        rings.close()
