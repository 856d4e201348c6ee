"""Ends long work between two steps, and a long sleep at once, when the user, or a supervisor, asks for it."""

from __future__ import annotations

import contextlib
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

__all__ = ["Stop", "interruptible_sleep", "run_in_loop", "stopping"]

T = TypeVar("T")


class Stop:
    """Whether the user wants the work to end, and the exit code in that case."""

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
        # The signal may have come while a line was being printed, and no other line can be printed then.
        with contextlib.suppress(RuntimeError, OSError):
            print("\nending after this batch; a second signal ends at once", file=sys.stderr)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_in_loop(main: Coroutine[Any, Any, T]) -> T:
    """``asyncio.run`` for a command. Ctrl-C and SIGTERM cancel the coroutine, and end the command when that has ended.

    The usual handlers raise. In a loop this could happen in any task, and asyncio prints errors of its tasks.
    """
    import asyncio

    # Signals are the main thread's.
    is_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if is_main else ()
    # A signal that a shell makes background processes ignore stays ignored.
    before = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    came: list[signal.Signals] = []

    async def cancelled_by_signals() -> T:
        task = asyncio.current_task()

        def cancel(number: signal.Signals) -> None:
            came.append(number)
            assert task is not None
            task.cancel()

        for number in before:
            asyncio.get_running_loop().add_signal_handler(number, cancel, number)
        return await main

    try:
        return asyncio.run(cancelled_by_signals())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            before[came[0]](came[0], None)


@contextlib.contextmanager
def interruptible_sleep() -> Iterator[Callable[[float | None], None]]:
    """A function that sleeps for this many seconds, or until a signal with None, and that no signal can miss.

    Python runs the handler of a signal between two of its own steps. If a signal comes after the last step, a lock or
    ``time.sleep`` sleeps to its end, and only then the handler runs.
    """
    reads, writes = socket.socketpair()
    writes.setblocking(False)
    # Signals are the main thread's.
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.set_wakeup_fd(writes.fileno(), warn_on_full_buffer=False) if is_main else -1

    def sleep(seconds: float | None) -> None:
        if select.select([reads], [], [], seconds)[0]:
            reads.recv(64)

    try:
        yield sleep
    finally:
        if is_main:
            signal.set_wakeup_fd(before)
        reads.close()
        writes.close()
