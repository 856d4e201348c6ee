"""The demo from start to end: a sandbox, a producer and a consumer, a display, a summary."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from time import perf_counter

from redisson_dq._clock import SYSTEM
from redisson_dq._concurrency import Inbox
from redisson_dq.cli.demo._board import Board, make_plan
from redisson_dq.cli.demo._clock import ServerTime, measure
from redisson_dq.cli.demo._display import PlainDisplay, make_display
from redisson_dq.cli.demo._sandbox import Sandbox
from redisson_dq.cli.demo._text import headline, summary_lines
from redisson_dq.cli.demo._traffic import Aborted, Offered, Report, TaskTraffic, ThreadTraffic

__all__ = ["run_demo"]

_REFRESH = 0.2  # seconds between two pictures
_GRACE = 5.0  # seconds after the last due time until an item counts as lost
_LINGER = 0.3  # seconds after the last arrival in which a second one would show


def run_demo(*, url: str | None, items: int, bulk: int, seconds: float, use_async: bool, plain: bool) -> int:
    """Run it; 0 when every item came exactly once and none early, else 1."""
    plan = make_plan(items=items, bulk=bulk, seconds=seconds)
    board = Board(plan)
    reports: Inbox[Report] = Inbox(SYSTEM)
    with Sandbox(url) as sandbox, _quick_thread_switches(), contextlib.ExitStack() as stack:
        clock = measure(sandbox.time)
        traffic = (TaskTraffic if use_async else ThreadTraffic)(sandbox.url, sandbox.name, plan, reports.put)
        stack.callback(traffic.stop)
        display = stack.enter_context(make_display(board, plain=plain))
        traffic.start()
        due_error = _Run(board, reports, clock, sandbox, display).until_done(longest=max(plan.delays.values()))
        traffic.stop()
        error_ms = clock.error_ms + clock.drift_ms(measure(sandbox.time)) + due_error
        summary = board.summary(error_ms=error_ms)
        display.close(headline(summary), summary_lines(summary, sandbox, deleted=url is not None), good=summary.good)
    return 0 if summary.good else 1


class _Run:
    """Turns reports into the board's state and shows it."""

    def __init__(
        self, board: Board, reports: Inbox[Report], clock: ServerTime, sandbox: Sandbox, display: PlainDisplay
    ) -> None:
        self._board, self._reports, self._clock, self._sandbox, self._display = board, reports, clock, sandbox, display
        self._due_error_ms = 0.0

    def until_done(self, *, longest: float) -> float:
        """Until every item arrived or is lost; the error in ms of due times that had to be estimated."""
        deadline = perf_counter() + longest + _GRACE
        while perf_counter() < deadline and not self._board.complete:
            for report in self._news(_REFRESH):
                if isinstance(report, Offered):
                    deadline = report.done + longest + _GRACE
                self._handle(report)
            self._display.refresh(self._clock.at(perf_counter()))
        for report in self._news(_LINGER):
            self._handle(report)
        self._display.refresh(self._clock.at(perf_counter()))
        return self._due_error_ms

    def _news(self, seconds: float) -> Iterator[Report]:
        """Events as they come, for so long."""
        end = perf_counter() + seconds
        while (report := self._reports.next(max(0.0, end - perf_counter()))) is not None:
            yield report

    def _handle(self, report: Report) -> None:
        if isinstance(report, Aborted):
            raise report.error
        if isinstance(report, Offered):
            self._learn_due_times(report)
        elif item := self._board.arrived(report.value, self._clock.at(report.at)):
            self._display.took(item)

    def _learn_due_times(self, offered: Offered) -> None:
        """Redis knows them exactly, while the items wait; else they lie within the offer's round trip."""
        if all(self._board.knows_due(value) for value in offered.values):
            return
        for value, due_ms in self._sandbox.due_times().items():
            self._board.due(value, due_ms)
        for value in offered.values:
            if not self._board.knows_due(value):
                middle = self._clock.at((offered.sent + offered.done) / 2)
                self._board.due(value, middle + self._board.items[value].delay * 1000)
                self._due_error_ms = max(self._due_error_ms, (offered.done - offered.sent) * 500)


@contextlib.contextmanager
def _quick_thread_switches() -> Iterator[None]:
    """Drawing must not make the consumer late: a thread that was woken gets the interpreter within 0.1 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
