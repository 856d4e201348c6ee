"""The terminal's display while the demo runs: a live table, or plain lines. Every word and number that is shown."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from redisson_dq.cli.demo._board import Board, Item, latenesses, percentile
from redisson_dq.cli.demo._clock import ServerTime

if TYPE_CHECKING:
    from rich.console import RenderableType
    from typing_extensions import Self

__all__ = [
    "LiveDisplay",
    "PlainDisplay",
    "bulk_cells",
    "clock_time",
    "headline",
    "item_cells",
    "lateness_lines",
    "make_display",
    "milliseconds",
]

_NEEDS_RICH = "redisson-dq: for a live table: pip install 'rich>=13' (it is missing); plain lines follow"


def make_display(board: Board, clock: ServerTime, *, plain: bool) -> PlainDisplay:
    """A live table on a terminal with rich, else plain lines."""
    if plain or not sys.stdout.isatty():
        return PlainDisplay(board)
    try:
        return LiveDisplay(board, clock)
    except ImportError:
        print(_NEEDS_RICH, file=sys.stderr)
        return PlainDisplay(board)


class PlainDisplay:
    """Shows the board as it changes: a line for each single item, and for the bulk at every quarter."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._singles = {item.value for item in board.singles}
        self._taken_of_bulk = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def took(self, item: Item) -> None:
        """An item has arrived."""
        if item.value in self._singles:
            self._print(item_cells(item))
        elif len(item.arrivals_ms) == 1:
            bulk = len(self._board.bulk)
            before, self._taken_of_bulk = self._taken_of_bulk, self._taken_of_bulk + 1
            if before * 4 // bulk != self._taken_of_bulk * 4 // bulk:
                self._print(bulk_cells(self._board.bulk))

    def _print(self, cells: tuple[str, ...]) -> None:
        print("{}  delay {}  due {}  arrived {}  late {}".format(*cells), flush=True)

    def close(self, headline: str, lines: list[str], *, good: bool) -> None:
        """Shows the outcome."""
        print("", headline, *lines, sep="\n", flush=True)


class LiveDisplay(PlainDisplay):
    """Shows it as a table that a thread of rich draws in place. Raises ImportError without rich."""

    def __init__(self, board: Board, clock: ServerTime) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__(board)
        self._clock = clock
        self._console = Console(highlight=False)
        self._live = Live(get_renderable=self._picture, console=self._console, refresh_per_second=5)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def took(self, item: Item) -> None:
        """Nothing: the next picture shows it."""

    def close(self, headline: str, lines: list[str], *, good: bool) -> None:
        """Leave the table as it is and print the outcome below it."""
        self._live.stop()
        self._console.print(headline, style="bold green" if good else "bold red", markup=False)
        self._console.print(*lines, sep="\n", markup=False, soft_wrap=True)

    def _picture(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        table = Table(header_style="bold")
        table.add_column("item", no_wrap=True)
        for heading, style in (("delay", ""), ("due", ""), ("arrived", "green"), ("late", "bold")):
            table.add_column(heading, style=style, justify="right", no_wrap=True)
        now_ms = self._clock.now_ms()
        for item in self._visible():
            table.add_row(*item_cells(item, now_ms))
        if self._board.bulk:
            table.add_section()
            table.add_row(*bulk_cells(self._board.bulk))
        total = len(self._board.items)
        return Group(table, ProgressBar(total=total, completed=total - self._board.missing, width=56))

    def _visible(self) -> list[Item]:
        """The rows that fit the terminal: the last that arrived and the next ones."""
        rows, room = sorted(self._board.singles, key=lambda item: item.delay), max(3, self._console.height - 10)
        first = max(0, min(_taken(rows) - room // 2, len(rows) - room))
        return rows[first : first + room]


# -- words and numbers -----------------------------------------------------------------------------------------------


def clock_time(epoch_ms: float | None) -> str:
    """``14:03:59.042`` in the local time zone, rounded down; empty when unknown."""
    if epoch_ms is None:
        return ""
    whole = math.floor(epoch_ms)
    return f"{datetime.fromtimestamp(whole // 1000):%H:%M:%S}.{whole % 1000:03}"


def milliseconds(value: float | None) -> str:
    """``0.84 ms``, ``12.3 ms``, ``250 ms``: three digits or so; ``-`` when unknown."""
    if value is None or math.isnan(value):
        return "-"
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f} ms"


def item_cells(item: Item, now_ms: float = 0.0) -> tuple[str, ...]:
    """Name, delay, due time, arrival and lateness. An item that has not come shows how long that takes."""
    if item.arrivals_ms:
        arrival, late = clock_time(item.arrivals_ms[0]), milliseconds(item.lateness_ms)
    else:
        arrival, late = "" if item.due_ms is None else f"in {max(0.0, item.due_ms - now_ms) / 1000:.1f} s", ""
    return item.value, f"{item.delay:.2f} s", clock_time(item.due_ms), arrival, late


def bulk_cells(bulk: list[Item]) -> tuple[str, ...]:
    """The cells of all items of the bulk."""
    delays = [item.delay for item in bulk]
    within = f"{min(delays):.1f}-{max(delays):.1f} s"
    return f"bulk of {len(bulk)}", within, "offer_all", f"{_taken(bulk)} of {len(bulk)}", _percentiles(bulk, 50, 100)


def headline(board: Board, *, error_ms: float) -> str:
    """The outcome in one line."""
    taken = len(board.items) - board.missing
    counts = {"early": board.early(error_ms=error_ms), "lost": board.missing, "twice": board.twice}
    found = ", ".join(f"{count or 'none'} {word}" for word, count in counts.items())
    foreign = f", {board.foreign} that nobody offered" if board.foreign else ""
    return f"{taken} of {len(board.items)} items taken: {found}{foreign}"


def lateness_lines(board: Board, *, error_ms: float) -> list[str]:
    """The figures behind the headline."""
    figures = _percentiles(board.items.values(), 50, 90, 99, 100)
    return [
        f"lateness  {figures} (each +-{milliseconds(error_ms)})",
        "          from the due time to the return of poll(), on the server's clock",
    ]


def _taken(items: list[Item]) -> int:
    return sum(bool(item.arrivals_ms) for item in items)


def _percentiles(items: Iterable[Item], *percents: int) -> str:
    late = latenesses(items)
    return ", ".join(
        f"{'max' if percent == 100 else f'p{percent}'} {milliseconds(percentile(late, percent))}"
        for percent in percents
    )
