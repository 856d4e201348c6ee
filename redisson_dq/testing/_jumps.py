"""Time that passes by itself: it jumps to the next moment whenever everything is idle and some caller waits."""

from __future__ import annotations

import threading
from asyncio import CancelledError
from collections.abc import Callable
from concurrent.futures import CancelledError as CancelledInThreadError
from datetime import timedelta

from redisson_dq.errors import ArgumentError, RedissonDQError
from redisson_dq.testing._entered import OnlyWith
from redisson_dq.testing._loops import is_ours, waiting_users
from redisson_dq.testing._rest import Abandoned, Rest
from redisson_dq.testing._waits import Alarms, NoRestError

__all__ = ["Auto"]


class Auto(OnlyWith):
    """Lets time jump while it is entered. Made by ``clock.auto()``; works in a coroutine with ``with`` too."""

    def __init__(self, jump: Callable[[int], bool], alarms: Alarms, rest: Rest, limit: timedelta) -> None:
        """``jump`` advances the time, at most to the given moment in us. It returns False if nothing is due by then."""
        self._jump = jump
        self._alarms = alarms
        self._rest = rest
        self._limit = limit
        self._ends = False
        self._error: RedissonDQError | None = None
        self._thread = threading.Thread(target=self._run, name="test-clock-auto", daemon=True)

    def _refusal(self, used: str) -> ArgumentError:
        return ArgumentError(f"clock.auto(): `{used}` does not fit; use `with clock.auto():`, in coroutines too")

    def __enter__(self) -> Auto:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._ends = True
        # In a coroutine the loop is blocked here, and would never become idle.
        with self._rest.abandoned(self._thread):
            self._thread.join()
        self._alarms.failure = None
        if self._error is not None and (kind is None or issubclass(kind, (CancelledError, CancelledInThreadError))):
            raise self._error

    def _run(self) -> None:
        until_us = self._alarms.now_us + self._limit // timedelta(microseconds=1)
        try:
            while not self._ends:
                if not self._is_waited_for():
                    with self._alarms.changed:
                        if not self._ends:
                            self._alarms.changed.wait(0.002)
                elif not self._jump(until_us):
                    self._fail(NoRestError(f"no wait has ended within {self._limit}: nothing more is coming"))
        except Abandoned:
            pass
        except RedissonDQError as error:
            self._fail(error)

    def _fail(self, error: RedissonDQError) -> None:
        self._error, self._ends = error, True
        self._alarms.fail(error)
        for loop in list(self._alarms.loops):
            for task in waiting_users(loop):
                loop.call_soon_threadsafe(task.cancel)

    def _is_waited_for(self) -> bool:
        ours = {thread.ident for thread in threading.enumerate() if is_ours(thread.name)}
        return any(ident not in ours for ident in self._alarms.waiting) or any(
            waiting_users(loop) for loop in list(self._alarms.loops)
        )
