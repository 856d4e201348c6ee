"""The demo from start to end: a place, a producer and a consumer, a view, a summary."""

from __future__ import annotations

import contextlib
import queue
import sys
from collections.abc import Iterator
from time import perf_counter

from redisson_dq.cli.demo._board import Board
from redisson_dq.cli.demo._clock import ServerClock, measure
from redisson_dq.cli.demo._place import Place
from redisson_dq.cli.demo._plan import make_plan
from redisson_dq.cli.demo._text import headline, summary_lines
from redisson_dq.cli.demo._view import View, make_view
from redisson_dq.cli.demo._work import AsyncWork, Event, Failed, Offered, SyncWork, Work

__all__ = ["run_demo"]

_REFRESH = 0.2  # seconds between two pictures
_GRACE = 5.0  # seconds after the last due time until an item counts as lost
_LINGER = 0.3  # seconds after the last arrival in which a second one would show


def run_demo(*, url: str | None, items: int, bulk: int, seconds: float, use_async: bool, plain: bool) -> int:
    """Run it; 0 when every item came exactly once and none early, else 1."""
    plan = make_plan(items=items, bulk=bulk, seconds=seconds)
    board = Board(plan)
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    with Place(url) as place, _quick_thread_switches(), contextlib.ExitStack() as stack:
        clock = measure(place.time)
        work: Work = (AsyncWork if use_async else SyncWork)(place.url, place.name, plan, events.put)
        stack.callback(work.stop)
        view = stack.enter_context(make_view(board, plain=plain))
        work.start()
        due_error = _Run(board, events, clock, place, view).until_done(longest=max(plan.delays.values()))
        work.stop()
        error_ms = clock.error_ms + clock.drift_ms(measure(place.time)) + due_error
        summary = board.summary(error_ms=error_ms)
        view.close(headline(summary), summary_lines(summary, place, deleted=url is not None), good=summary.good)
    return 0 if summary.good else 1


class _Run:
    """Turns events into the board's state and shows it."""

    def __init__(
        self, board: Board, events: queue.SimpleQueue[Event], clock: ServerClock, place: Place, view: View
    ) -> None:
        self._board, self._events, self._clock, self._place, self._view = board, events, clock, place, view
        self._due_error_ms = 0.0

    def until_done(self, *, longest: float) -> float:
        """Until every item arrived or is lost; the error in ms of due times that had to be estimated."""
        deadline = perf_counter() + longest + _GRACE
        while perf_counter() < deadline and not self._board.complete:
            for event in self._news(_REFRESH):
                if isinstance(event, Offered):
                    deadline = event.done + longest + _GRACE
                self._handle(event)
            self._view.refresh(self._clock.at(perf_counter()))
        for event in self._news(_LINGER):
            self._handle(event)
        self._view.refresh(self._clock.at(perf_counter()))
        return self._due_error_ms

    def _news(self, seconds: float) -> Iterator[Event]:
        """Events as they come, for so long."""
        end = perf_counter() + seconds
        with contextlib.suppress(queue.Empty):
            while True:
                yield self._events.get(timeout=max(0.0, end - perf_counter()))

    def _handle(self, event: Event) -> None:
        if isinstance(event, Failed):
            raise event.error
        if isinstance(event, Offered):
            self._learn_due_times(event)
        elif item := self._board.arrived(event.value, self._clock.at(event.at)):
            self._view.took(item)

    def _learn_due_times(self, offered: Offered) -> None:
        """Redis knows them exactly, while the items wait; else they lie within the offer's round trip."""
        if all(self._board.knows_due(value) for value in offered.values):
            return
        for value, due_ms in self._place.due_times().items():
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
