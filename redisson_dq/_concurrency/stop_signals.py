"""How a signal ends a worker, with threads and with asyncio. Both are written by hand, side by side.

A pair here has the same methods with the same meaning, as in :mod:`redisson_dq._concurrency`.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["async_signals", "signals"]

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def signals(told: Callable[[], None]) -> Iterator[None]:
    """Calls ``told`` for each SIGTERM and SIGINT. Only the main thread can; elsewhere it does nothing.

    The interpreter runs a signal's handler in the main thread when that runs next. A main thread that waits for a lock
    is not woken when the system gave the signal to another thread. So a thread reads the interpreter's bytes at once,
    and makes the call.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reads, writes = socket.socketpair()
    writes.setblocking(False)
    listener = threading.Thread(target=_listen, args=(reads, told), name="redisson_dq-signals", daemon=True)
    # Before the handlers, which do nothing: a signal in between would be lost.
    descriptor = signal.set_wakeup_fd(writes.fileno(), warn_on_full_buffer=False)
    before = {number: signal.signal(number, lambda *_: None) for number in _STOP_SIGNALS}
    listener.start()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(descriptor)
        writes.close()
        listener.join()
        reads.close()


def _listen(reads: socket.socket, told: Callable[[], None]) -> None:
    while numbers := reads.recv(64):
        for number in numbers:
            if number in _STOP_SIGNALS:
                told()


@contextmanager
def async_signals(told: Callable[[], None]) -> Iterator[None]:
    """Calls ``told`` in the loop for each SIGTERM and SIGINT. Only the loop of the main thread can."""
    loop = asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _STOP_SIGNALS}
    for number in _STOP_SIGNALS:
        loop.add_signal_handler(number, told)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
