"""The terminal's display while the demo runs: a live table, or plain lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from redisson_dq.cli.demo._board import Board, Item, latenesses, percentile
from redisson_dq.cli.demo._text import bulk_line, clock_time, item_line, milliseconds

if TYPE_CHECKING:
    from rich.console import RenderableType
    from typing_extensions import Self

__all__ = ["LiveDisplay", "PlainDisplay", "make_display"]

_NEEDS_RICH = "redisson-dq: for a live table: pip install 'rich>=13' (it is missing); plain lines follow"


def make_display(board: Board, *, plain: bool) -> PlainDisplay:
    """A live table on a terminal with rich, else plain lines."""
    if plain or not sys.stdout.isatty():
        return PlainDisplay(board)
    try:
        return LiveDisplay(board)
    except ImportError:
        print(_NEEDS_RICH, file=sys.stderr)
        return PlainDisplay(board)


class PlainDisplay:
    """Shows the board as it changes: a line for each single item, and for the bulk at every quarter."""

    def __init__(self, board: Board) -> None:
        self._board, self._singles, self._bulk = board, board.singles, board.bulk
        self._taken_of_bulk = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def took(self, item: Item) -> None:
        """An item has arrived."""
        if not item.in_bulk:
            print(item_line(item), flush=True)
        elif len(item.arrivals_ms) == 1:
            before, self._taken_of_bulk = self._taken_of_bulk, self._taken_of_bulk + 1
            if before * 4 // len(self._bulk) != self._taken_of_bulk * 4 // len(self._bulk):
                print(bulk_line(self._bulk), flush=True)

    def refresh(self, now_ms: float) -> None:
        """Time has passed; called some five times a second."""

    def close(self, headline: str, lines: list[str], *, good: bool) -> None:
        """Shows the outcome."""
        print("", headline, *lines, sep="\n", flush=True)


class LiveDisplay(PlainDisplay):
    """Shows it as a table that changes in place. Raises ImportError without rich."""

    def __init__(self, board: Board) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__(board)
        self._console = Console(highlight=False)
        self._live = Live(console=self._console, auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def took(self, item: Item) -> None:
        """Nothing: the next refresh shows it."""

    def refresh(self, now_ms: float) -> None:
        """Draw the table."""
        self._live.update(self._table(now_ms), refresh=True)

    def close(self, headline: str, lines: list[str], *, good: bool) -> None:
        """Leave the table as it is and print the outcome below it."""
        self._live.stop()
        self._console.print(headline, style="bold green" if good else "bold red", markup=False)
        for line in lines:
            self._console.print(line, markup=False, soft_wrap=True)

    def _table(self, now_ms: float) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        table = Table(header_style="bold")
        table.add_column("item", no_wrap=True)
        for heading in ("delay", "due", "arrived", "late"):
            table.add_column(heading, justify="right", no_wrap=True)
        for item in self._visible():
            table.add_row(*_cells(item, now_ms))
        if self._bulk:
            table.add_section()
            table.add_row(*_bulk_cells(self._bulk))
        total = len(self._board.items)
        return Group(table, ProgressBar(total=total, completed=total - self._board.missing, width=56))

    def _visible(self) -> list[Item]:
        """The rows that fit the terminal: the last that arrived and the next ones."""
        room = max(3, self._console.height - 10)
        arrived = sum(bool(item.arrivals_ms) for item in self._singles)
        first = max(0, min(arrived - room // 2, len(self._singles) - room))
        return self._singles[first : first + room]


def _cells(item: Item, now_ms: float) -> tuple[str, ...]:
    delay, due = f"{item.delay:.2f} s", clock_time(item.due_ms)
    if item.arrivals_ms:
        return (
            item.value,
            delay,
            due,
            f"[green]{clock_time(item.arrivals_ms[0])}[/]",
            f"[bold]{milliseconds(item.lateness_ms)}[/]",
        )
    if item.due_ms is None:
        return (item.value, delay, due, "", "")
    return (item.value, delay, due, f"[dim]in {max(0.0, item.due_ms - now_ms) / 1000:.1f} s[/]", "")


def _bulk_cells(bulk: list[Item]) -> tuple[str, ...]:
    delays = [item.delay for item in bulk]
    late = latenesses(bulk)
    arrived = sum(bool(item.arrivals_ms) for item in bulk)
    return (
        f"bulk of {len(bulk)}",
        f"{min(delays):.1f}-{max(delays):.1f} s",
        "offer_all",
        f"[green]{arrived}[/] of {len(bulk)}",
        f"p50 [bold]{milliseconds(percentile(late, 50))}[/]" if late else "",
    )
