"""The timer: one thread that makes calls at given times, for asyncio clients too.

An event loop's selector rounds up to whole milliseconds. A thread that waits for a lock wakes up within some 0.1 ms of
the time asked for. It only signals, and the work is done elsewhere. Its clock is the monotonic one, so setting the
machine's clock neither delays nor hastens an alarm.
"""

from __future__ import annotations

import contextlib
import heapq
import logging
import threading
from collections.abc import Callable

from redisson_dq.scheduling.clock import Clock

__all__ = ["Timer"]

logger = logging.getLogger("redisson_dq")

# How many alarms that were replaced or taken away may be in the heap, beyond as many as there are live ones.
_LEFT_OVER = 64

_Signal = Callable[[], None]


class Timer:
    """Any number of named one-shot alarms. Thread-safe. The thread starts with the first alarm."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # (time in us, number, name), the next one first. An alarm counts when its number is the last one of its name.
        self._heap: list[tuple[int, int, str]] = []
        self._alarms: dict[str, tuple[int, _Signal]] = {}
        self._last_number = 0
        # Open when there is something new. A lock, as before Python 3.13 a SimpleQueue may wait for ever, whatever the
        # time that it was given.
        self._bell = clock.lock()
        self._bell.acquire()
        self._thread: threading.Thread | None = None
        self._has_warned = False
        self._closed = False

    def arm(self, name: str, delay_us: int, signal: _Signal) -> None:
        """Calls ``signal`` once, ``delay_us`` from now, in the timer's thread; replaces the alarm of that name.

        ``signal`` must not block. Nothing happens after :meth:`close`.
        """
        at_us = self._clock.now_us() + delay_us
        with self._lock:
            if self._closed:
                return
            self._last_number += 1
            self._alarms[name] = (self._last_number, signal)
            heapq.heappush(self._heap, (at_us, self._last_number, name))
            if len(self._heap) > 2 * len(self._alarms) + _LEFT_OVER:
                self._heap = [alarm for alarm in self._heap if self._counts(alarm)]
                heapq.heapify(self._heap)
            is_first = self._heap[0][1] == self._last_number
            self._begin()
        if is_first:
            self._ring()

    def _begin(self) -> None:
        """Starts the thread, where it does not run yet."""
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="redisson_dq-timer", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                if not self._has_warned:
                    self._has_warned = True
                    logger.warning("the system cannot start a timer thread; retrying until it can: %s", error)
            else:
                self._thread, self._has_warned = thread, False

    def is_short(self) -> bool:
        """Whether alarms wait for a thread that the system does not give, also now."""
        # Nearly always false, without the lock.
        if self._thread is not None or not self._alarms:
            return False
        with self._lock:
            if not self._closed:
                self._begin()
            return self._thread is None and not self._closed

    def disarm(self, name: str) -> None:
        """Takes the alarm of that name away, if there is one."""
        with self._lock:
            self._alarms.pop(name, None)

    def close(self) -> None:
        """Ends the thread. Alarms that have not fired never will."""
        with self._lock:
            self._closed = True
            self._alarms.clear()
            thread = self._thread
        self._ring()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _ring(self) -> None:
        # It may be open already.
        with contextlib.suppress(RuntimeError):
            self._bell.release()

    def _counts(self, alarm: tuple[int, int, str]) -> bool:
        _, number, name = alarm
        return name in self._alarms and self._alarms[name][0] == number

    def _run(self) -> None:
        while not self._closed:
            signal, wait = self._next()
            if signal is None:
                self._bell.acquire(timeout=-1 if wait is None else min(wait, threading.TIMEOUT_MAX))
                continue
            try:
                signal()
            except Exception:
                # A defect in one signal must not end all other alarms.
                logger.exception("unexpected error in an alarm")

    def _next(self) -> tuple[_Signal | None, float | None]:
        """The signal of an alarm whose time has come, or None and the seconds until there may be one."""
        with self._lock:
            while self._heap and not self._counts(self._heap[0]):
                heapq.heappop(self._heap)
            if not self._heap:
                return None, None
            at_us, _, name = self._heap[0]
            left_us = at_us - self._clock.now_us()
            if left_us > 0:
                return None, left_us / 1_000_000
            heapq.heappop(self._heap)
            return self._alarms.pop(name)[1], None
