"""The demo from start to end: a sandbox, a producer and a consumer, a display, a summary."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from redisson_dq.cli.demo._board import plan
from redisson_dq.cli.demo._clock import measure
from redisson_dq.cli.demo._display import headline, lateness_lines, make_display
from redisson_dq.cli.demo._sandbox import sandbox
from redisson_dq.cli.demo._traffic import Traffic
from redisson_dq.cli.frame import run_in_loop

__all__ = ["run_demo"]


def run_demo(*, url: str | None, items: int, bulk: int, seconds: float, use_async: bool, plain: bool) -> int:
    """Run it; 0 when every item came exactly once and none early, else 1."""
    board = plan(items=items, bulk=bulk, seconds=seconds)
    with sandbox(url) as place, _quick_thread_switches():
        clock = measure(place.time_us)
        with make_display(board, clock, plain=plain) as display:
            traffic = Traffic(place.url, place.name, board, clock, display.took)
            if use_async:
                run_in_loop(traffic.in_tasks())
            else:
                traffic.in_threads()
            error_ms = clock.error_ms + clock.drift_ms(measure(place.time_us))
            good = board.is_good(error_ms=error_ms)
            lines = [*lateness_lines(board, error_ms=error_ms), *place.lines()]
            display.close(headline(board, error_ms=error_ms), lines, good=good)
    return 0 if good else 1


@contextlib.contextmanager
def _quick_thread_switches() -> Iterator[None]:
    """Drawing must not make the consumer late: a thread that was woken gets the interpreter within 0.1 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
