"""Tables of figures and how they are printed, and goals with what was found."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence

import attrs

from tests.benchmarks.measures import Spread

__all__ = ["Goal", "Table", "at_least", "at_most", "goals_table", "show"]


@attrs.frozen(kw_only=True)
class Goal:
    """One goal and what was found. ``met`` is None when the run did not measure it."""

    text: str
    found: str
    met: bool | None

    @property
    def verdict(self) -> str:
        return "not measured" if self.met is None else "met" if self.met else "missed"


def at_most(text: str, figure: Spread | None, limit: float, *, digits: int = 2, unit: str = "") -> Goal:
    """Met when the median is not above ``limit``."""
    return _compared(text, figure, lambda median: median <= limit, digits, unit)


def at_least(text: str, figure: Spread | None, limit: float, *, digits: int = 2, unit: str = "") -> Goal:
    """Met when the median is not below ``limit``."""
    return _compared(text, figure, lambda median: median >= limit, digits, unit)


def _compared(text: str, figure: Spread | None, met: Callable[[float], bool], digits: int, unit: str) -> Goal:
    if figure is None:
        return Goal(text=text, found="", met=None)
    return Goal(text=text, found=f"{figure.text(digits)} {unit}".rstrip(), met=met(figure.median))


@attrs.frozen(kw_only=True)
class Table:
    """Rows of text under a title."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    #: The one of charts.py that shows the same.
    chart: str = ""
    #: The rows that figures.md shows, where these are not all.
    brief: Sequence[tuple[str, ...]] | None = None

    def markdown(self, *, brief: bool = False) -> str:
        """With the note and the chart below it. ``brief``: as the page is to have it."""
        shown = self.brief if brief and self.brief else self.rows
        rows = [self.header, tuple("---" for _ in self.header), *shown]
        text = f"**{self.title}**\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"
        if self.note:
            text += f"\n{self.note}\n"
        return f"{text}\n![{self.title}](benchmarks/{self.chart}.svg)\n" if self.chart else text


def goals_table(goals: Sequence[Goal]) -> Table:
    """Each goal with its verdict."""
    rows = [(goal.text, goal.found, goal.verdict) for goal in goals]
    return Table(title="Goals", header=("goal", "found", "verdict"), rows=rows)


def show(table: Table) -> None:
    """Prints it on standard output: with rich where that is installed."""
    if importlib.util.find_spec("rich"):
        _print_rich(table)
    else:
        print(f"\n{_plain(table)}")
    if table.note:
        print(table.note)


def _plain(table: Table) -> str:
    widths = [max(map(len, column)) for column in zip(table.header, *table.rows, strict=True)]
    lines = [_padded(row, widths) for row in [table.header, tuple("-" * width for width in widths), *table.rows]]
    return "\n".join([table.title, *lines])


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _print_rich(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    # A pipe or a file has no width of its own; figures must not be wrapped there.
    console = Console() if sys.stdout.isatty() else Console(width=200)
    shown = RichTable(title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
    for name in table.header:
        shown.add_column(name)
    for row in table.rows:
        shown.add_row(*row)
    console.print(shown)
