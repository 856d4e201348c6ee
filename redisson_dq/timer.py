"""The timer. APScheduler holds it; besides :mod:`redisson_dq.recurrence` no module knows that library.

Its scheduler runs in a thread for synchronous and asyncio clients alike: a condition variable wakes up within
0.1 ms of the time asked for, where an event loop's selector rounds up to whole milliseconds. A job only signals; what
has to be done is done elsewhere. That keeps the scheduler's own rules (one running instance a job, a grace
time after which late jobs are dropped) from ever losing a wake-up.

The scheduler asks ``datetime.now(zone)`` what time it is. Its zone here is one whose time cannot step, so setting
the machine's clock neither delays nor hastens an alarm.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from typing import Any

from apscheduler.executors.base import BaseExecutor
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.date import DateTrigger

__all__ = ["Timer"]

# APScheduler reports every added and executed job at INFO.
_logger = logging.getLogger("redisson_dq.timer")
_logger.setLevel(logging.WARNING)


class _SteadyZone(tzinfo):
    """A zone whose ``datetime.now()`` is the monotonic clock, counted from an arbitrary day."""

    _ORIGIN = datetime(2000, 1, 1)

    def fromutc(self, moment: datetime) -> datetime:
        return (self._ORIGIN + timedelta(seconds=time.monotonic())).replace(tzinfo=self)

    def utcoffset(self, moment: datetime | None) -> timedelta:
        return timedelta()

    def dst(self, moment: datetime | None) -> timedelta:
        return timedelta()

    def tzname(self, moment: datetime | None) -> str:
        return "steady"


_STEADY = _SteadyZone()


class _InPlace(BaseExecutor):  # type: ignore[misc]
    """Runs a job in the scheduler's own thread, without the two INFO lines a run that other executors log."""

    def _do_submit_job(self, job: Any, run_times: list[datetime]) -> None:
        job.func()
        self._run_job_success(job.id, [])


class Timer:
    """Any number of named one-shot alarms. Thread-safe. The thread starts with the first alarm."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scheduler: BackgroundScheduler | None = None
        self._closed = False

    def arm(self, name: str, delay_us: int, signal: Callable[[], None]) -> None:
        """Calls ``signal`` once, ``delay_us`` from now, in the timer's thread; replaces the alarm of that name.

        ``signal`` must not block. About 0.2 ms; nothing happens after :meth:`close`.
        """
        scheduler = self._start()
        if scheduler is not None:
            run_date = datetime.now(_STEADY) + timedelta(microseconds=delay_us)
            scheduler.add_job(signal, DateTrigger(run_date, _STEADY), id=name, replace_existing=True)

    def disarm(self, name: str) -> None:
        """Takes the alarm of that name away, if there is one."""
        scheduler = self._scheduler
        if scheduler is not None:
            with contextlib.suppress(JobLookupError):
                scheduler.remove_job(name)

    def close(self) -> None:
        """Ends the thread. Alarms that have not fired never will."""
        with self._lock:
            scheduler, self._scheduler, self._closed = self._scheduler, None, True
        if scheduler is not None:
            scheduler.shutdown(wait=True)

    def _start(self) -> BackgroundScheduler | None:
        with self._lock:
            if self._scheduler is None and not self._closed:
                self._scheduler = BackgroundScheduler(
                    executors={"default": _InPlace()},
                    job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 2**31},
                    timezone=_STEADY,
                    logger=_logger,
                    daemon=True,
                )
                self._scheduler.start()
            return self._scheduler
