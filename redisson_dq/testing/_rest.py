"""Detects when everything is idle: nothing more happens before time passes.

At that point all of this is true at once, and nothing has happened since the check began:

* Each thread of the library waits by the test's clock, or reads from a connection that blocks.
* No command is pending except blocking ones, and Redis reports that these are blocked.
* Each subscription has read all messages: it has answered a PING that was sent after them.
* A connection whose replies a fault holds back counts as idle until the fault ends.
* No event loop has anything to call, and no handler awaits anything except the library.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import partial

from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.testing._lines import TimedLines
from redisson_dq.testing._loops import handlers_elsewhere, idle, is_ours
from redisson_dq.testing._waits import Alarms, NoRestError

__all__ = ["Abandoned", "Rest"]

# A thread ends without a notification, so the threads are checked at this interval, in seconds.
_LOOK = 0.002


class Abandoned(Exception):
    """The wait has been abandoned."""


class Rest:
    """Waits until everything is idle."""

    def __init__(
        self, alarms: Alarms, lines: TimedLines, patience: float, blocked: Callable[[list[int]], set[int]]
    ) -> None:
        """``blocked`` returns which connections, by id, have a command that blocks in Redis."""
        self._alarms = alarms
        self._lines = lines
        self._patience = patience
        self._blocked = blocked
        self._barriers = 0
        # The threads in which a wait raises Abandoned.
        self._abandoned: set[int] = set()
        # For each thread with an event loop, an event that is set when the loop is idle.
        self._looks: dict[int, threading.Event] = {}
        # The threads of clients that were made before this clock.
        self._strangers = weakref.WeakSet(threading.enumerate())

    def wait(self) -> None:
        """Raises NoRestError if that takes longer than the patience."""
        deadline = SYSTEM.monotonic() + self._patience
        while True:
            self._until(self._rests, deadline)
            moves = self._alarms.moves
            self._let_loops_go_on(deadline)
            self._ask_subscriptions(deadline)
            if not self._waits_are_blocked():
                self._check(deadline)
                continue
            self._let_loops_go_on(deadline)
            if self._alarms.moves == moves and self._rests():
                for line in self._lines.all():
                    line.limit_wait()
                return

    def busy(self) -> list[str]:
        """The ongoing activities, in words."""
        return [each if isinstance(each, str) else each() for each in self._going_on()]

    def _rests(self) -> bool:
        # A check ends at the first activity, and does not describe it.
        return next(self._going_on(), None) is None

    def _going_on(self) -> Iterator[str | Callable[[], str]]:
        waiting, lines = dict(self._alarms.waiting), self._lines.all()
        for line in lines:
            if line.is_busy:
                yield f"a command of connection {line.id} is under way"
        for ident, wait in waiting.items():
            if wait.is_over():
                yield f"thread {ident} is about to go on"
        resting = {line.reader for line in lines if line.is_blocking or line.is_subscribed or line.is_held}
        resting.update(waiting)
        # Threads that have yet to begin are in no other list. Others begin meanwhile: the list is copied in one step.
        for reference in threading._dangling.data.copy():  # type: ignore[attr-defined]
            thread = reference()
            if (
                thread is not None
                and thread.ident not in resting
                and is_ours(thread.name)
                and thread not in self._strangers
                and thread is not threading.current_thread()
                and thread.is_alive()
            ):
                yield partial(_place_of, thread)

    def _until(self, is_so: Callable[[], bool], deadline: float) -> None:
        with self._alarms.changed:
            while not is_so():
                self._check(deadline)
                self._alarms.changed.wait(_LOOK)

    @contextlib.contextmanager
    def abandoned(self, thread: threading.Thread) -> Iterator[None]:
        """During the block the waits of that thread raise Abandoned. Other threads keep waiting."""
        ident = thread.ident or 0
        self._abandoned.add(ident)
        if (look := self._looks.get(ident)) is not None:
            look.set()
        self._alarms.happened()
        try:
            yield
        finally:
            self._abandoned.discard(ident)

    def _check(self, deadline: float) -> None:
        if threading.get_ident() in self._abandoned:
            raise Abandoned
        if SYSTEM.monotonic() > deadline:
            elsewhere = [each for loop in list(self._alarms.loops) for each in handlers_elsewhere(loop)]
            found = [*self.busy(), *elsewhere] or ["Redis has not answered"]
            raise NoRestError(f"no rest within {self._patience:g} s: {'; '.join(found)}")

    def _let_loops_go_on(self, deadline: float) -> None:
        for loop in list(self._alarms.loops):
            look = self._looks[threading.get_ident()] = threading.Event()
            try:
                idle(loop, look)
                self._check(deadline)
                if not look.wait(max(0.0, deadline - SYSTEM.monotonic())):
                    self._check(-1.0)
                self._check(deadline)
            finally:
                del self._looks[threading.get_ident()]
                # If it kept checking, it would keep the loop busy for the next wait.
                look.set()

    def _ask_subscriptions(self, deadline: float) -> None:
        asked = [line for line in self._lines.all() if line.is_subscribed and not line.is_held]
        if not asked:
            return
        self._barriers += 1
        for line in asked:
            line.barrier(self._barriers)
        self._until(
            lambda: all(line.answered >= line.asked or not line.is_open or line.is_held for line in asked), deadline
        )

    def _waits_are_blocked(self) -> bool:
        ids = [line.id for line in self._lines.all() if line.is_blocking]
        return not ids or self._blocked(ids) >= set(ids)


def _place_of(thread: threading.Thread) -> str:
    frame = sys._current_frames().get(thread.ident or 0)
    place = "" if frame is None else f"{frame.f_code.co_name} ({frame.f_code.co_filename}:{frame.f_lineno})"
    return f"thread {thread.name!r} runs {place}"
