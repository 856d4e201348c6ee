"""Histories: the calls on a queue, their callers, times and answers, as JSON lines.

The first line tells the format. Each line after it is one object with a ``type``:

``invoke``, then ``ok``, ``fail`` or ``info``
    An operation begins, and ends: it was done, it was certainly not done, nobody knows. Of an operation without an end
    nobody knows either. Both lines have the same ``op`` (a number), ``process``, ``f`` (its name) and ``queue``.

``clock``
    The server's clock: it said ``server`` (``TIME``, epoch us) at some moment from ``time`` to ``until``.

``excuse``
    A fault took data with it: items that were offered or delivered from ``since`` to ``until`` may be lost (``f``:
    ``"lost"``) or come again (``"twice"``), as ``why`` tells. With ``"undone"`` it may be that no operation of that
    time was made.

``time``, ``until`` and ``since`` are ns of this machine's monotonic clock, which all its processes share. ``server`` of
an operation is what the recorder took for the server's clock then, epoch us, or null. Items are named by their values.

==============  ============================================================  =========================================
``f``           ``value`` of ``invoke``                                       ``value`` of ``ok``
==============  ============================================================  =========================================
``offer``       ``[[item, delay in ms], ...]``, ``named``: with ``id=``,      ``[[outcome, due or null], ...]``
                ``due``: for this time, and no delay counts
``take``        how many at most                                              ``[item, ...]``
``receive``     how many at most, ``renew``: in the background                ``[[item, lease, since, deadline], ...]``
``ack``         ``[[item, lease], ...]``, also of ``reject``                  ``[outcome, ...]``
``nack``        the same                                                      ``[outcome, ...]``, ``delay`` in ms
``extend``      the same, ``delay``: how long from then on, in ms             ``[[outcome, deadline or null], ...]``
``cancel``      ``[item]``                                                    ``[outcome]``
``reschedule``  ``[item]``                                                    ``[outcome, due or null]``
``redrive``     null                                                          how many
``look``        null: everything that the queue has, after the last call      ``{item: [place, ...]}``
==============  ============================================================  =========================================

The lines of a call may say which bounds it was under: ``capacity`` of an ``offer``; ``limit`` (slots of a key) and
``rate`` (``[tokens, per ms, most at once]``) of a ``receive``, whose ``ok`` has ``keys``, one of each item.

Due times, deadlines and ``since`` are epoch ms of the server's clock. Outcomes are those of ``OfferOutcome``,
``SettleOutcome`` and ``Outcome``. A place is ``waiting``, ``ready``, ``leased`` or ``dead``. An ``info`` of a ``take``
has the items that it is known to have had, or ``most`` where only their number is known.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import redis

__all__ = ["FORMAT", "Call", "History", "keep", "read"]

FORMAT = "redisson-dq history 1"
_KEPT = Path(__file__).resolve().parents[2] / "build" / "histories"
# Seconds between two looks at the server's clock.
_LOOK = 0.05


def read(path: Path | str) -> Iterator[dict[str, Any]]:
    """The lines of a history after the first one."""
    with open(path, "rb") as lines:
        first = json.loads(next(lines))
        if first.get("format") != FORMAT:
            raise ValueError(f"{path} is no history: its first line has no format {FORMAT!r}")
        for line in lines:
            # The last line of a killed recorder may be incomplete.
            with suppress(ValueError):
                yield json.loads(line)


def keep(path: Path) -> Path:
    """Copies a history with findings to ``build/histories``, and returns the copy."""
    kept = _KEPT / path.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, kept)
    return kept


class Call:
    """One operation of a history that has begun."""

    __slots__ = ("_f", "_history", "_op", "_process", "_queue")

    def __init__(self, history: History, op: int, process: str, f: str, queue: str) -> None:
        self._history, self._op, self._process, self._f, self._queue = history, op, process, f, queue

    def ok(self, value: Any = None, **more: Any) -> None:
        self.ended("ok", value, **more)

    def fail(self, error: BaseException | str) -> None:
        self.ended("fail", None, error=_told(error))

    def info(self, error: BaseException | str, value: Any = None, **more: Any) -> None:
        self.ended("info", value, error=_told(error), **more)

    def ended(self, type: str, value: Any, *, at: int | None = None, **more: Any) -> None:
        self._history.line(type, self._op, self._process, self._f, self._queue, value, at=at, **more)


class History:
    """Writes a history. May be used from any thread."""

    def __init__(self, path: Path | str, **header: Any) -> None:
        self.path = Path(path)
        self._file = self.path.open("w", encoding="utf-8")
        self._mutex = threading.Lock()
        self._ops = 0
        # The server's clock less this machine's, in us, as far as anybody has looked.
        self._ahead: int | None = None
        self._ends = threading.Event()
        self._watcher: threading.Thread | None = None
        self._write({"format": FORMAT, "clock": "CLOCK_MONOTONIC, ns", **header})

    def __enter__(self) -> History:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def invoke(
        self, process: str, f: str, queue: str, value: Any = None, *, at: int | None = None, **more: Any
    ) -> Call:
        """An operation is about to begin. ``at`` is its time if another process reports it."""
        with self._mutex:
            self._ops += 1
            op = self._ops
        self.line("invoke", op, process, f, queue, value, at=at, **more)
        return Call(self, op, process, f, queue)

    def line(
        self, type: str, op: int, process: str, f: str, queue: str, value: Any, *, at: int | None = None, **more: Any
    ) -> None:
        now = time.monotonic_ns() if at is None else at
        server = None if self._ahead is None else now // 1000 + self._ahead
        said = {"type": type, "op": op, "process": process, "f": f, "queue": queue, "value": value}
        self._write({**said, **more, "time": now, "server": server})

    def clock(self, began: int, ended: int, server_us: int) -> None:
        self._ahead = server_us - (began + ended) // 2000
        self._write({"type": "clock", "time": began, "until": ended, "server": server_us})

    def excuse(self, f: str, since: int, until: int, why: str) -> None:
        self._write({"type": "excuse", "f": f, "since": since, "until": until, "why": why})

    def watch(self, time_of: Callable[[], tuple[int, int]]) -> None:
        """Looks at the server's clock until the history is closed. ``time_of`` asks for ``TIME``."""
        self.look_at_clock(time_of)
        self._watcher = threading.Thread(target=self._watch, args=(time_of,), name="history-clock", daemon=True)
        self._watcher.start()

    def look_at_clock(self, time_of: Callable[[], tuple[int, int]]) -> None:
        began = time.monotonic_ns()
        seconds, micros = time_of()
        self.clock(began, time.monotonic_ns(), seconds * 1_000_000 + micros)

    def close(self) -> None:
        self._ends.set()
        if self._watcher is not None:
            self._watcher.join(10)
        with self._mutex:
            self._file.close()

    def _watch(self, time_of: Callable[[], tuple[int, int]]) -> None:
        while not self._ends.wait(_LOOK):
            with suppress(redis.RedisError, OSError):
                self.look_at_clock(time_of)

    def _write(self, said: dict[str, Any]) -> None:
        line = json.dumps(said, separators=(",", ":")) + "\n"
        with self._mutex:
            if not self._file.closed:
                self._file.write(line)


def _told(error: BaseException | str) -> str:
    return error if isinstance(error, str) else f"{type(error).__name__}: {error}"[:200]
