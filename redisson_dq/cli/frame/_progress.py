"""The progress of long work, on standard error."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Protocol

from redisson_dq._operations.shell import safe
from redisson_dq.cli.frame._output import say

__all__ = ["Progress", "progress"]

# Without a terminal, the interval of lines in seconds.
_BETWEEN_LINES = 5.0


class Progress(Protocol):
    """Shows the progress of the work."""

    def add(self, count: int = 1) -> None:
        """Adds to the number that is done."""

    def expect(self, total: int | None) -> None:
        """Sets the total number, as far as it is known."""


@contextlib.contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Progress]:
    """Shows a bar at a terminal with rich, else a line now and then. ``what`` names the work, such as ``"moving"``."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and find_spec("rich") is not None:
        with _bar(what, total) as bar:
            yield bar
    else:
        yield _Lines(what, total)


@contextlib.contextmanager
def _bar(what: str, total: int | None) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(safe(what), total=total)

        class Bar:
            def add(self, count: int = 1) -> None:
                bars.advance(task, count)

            def expect(self, total: int | None) -> None:
                bars.update(task, total=total)

        yield Bar()


class _Lines:
    def __init__(self, what: str, total: int | None) -> None:
        self._what, self._total, self._done, self._last = what, total, 0, time.monotonic()

    def add(self, count: int = 1) -> None:
        self._done += count
        now = time.monotonic()
        if now - self._last >= _BETWEEN_LINES:
            self._last = now
            of = "" if self._total is None else f" of {self._total:,}"
            say(f"{self._what}: {self._done:,}{of}", error=True)

    def expect(self, total: int | None) -> None:
        self._total = total
