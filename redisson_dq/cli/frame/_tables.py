"""Tables of plain text, within the width of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from redisson_dq._operations.shell import safe
from redisson_dq.cli.frame._layout import GAP, cell, cut, folded, width_of

__all__ = ["Column", "TableLine", "table_lines"]

_LEAST = 8
# A longer word, such as a name, may be broken.
_WORD = 24


@attrs.frozen
class Column:
    """A column of a table. ``right`` aligns numbers; ``cut`` shortens long cells, which are folded otherwise.

    If the terminal is too narrow, cells are cut down to ``least`` characters. Then columns are left out by ``spare``,
    the highest first. A column with 0 always stays.
    """

    name: str
    right: bool = attrs.field(default=False, kw_only=True)
    cut: bool = attrs.field(default=False, kw_only=True)
    spare: int = attrs.field(default=0, kw_only=True)
    least: int = attrs.field(default=_LEAST, kw_only=True)


@attrs.frozen
class TableLine:
    """One line of a table. ``is_head`` marks names: those of the columns, or that of a row whose cells are below."""

    text: str
    is_head: bool = False


def table_lines(
    columns: Sequence[str | Column], rows: Iterable[Sequence[object]], width: int, *, stacks: bool
) -> list[TableLine]:
    """A table. With ``stacks`` each row becomes several lines if the columns do not fit."""
    named = [column if isinstance(column, Column) else Column(column) for column in columns]
    named = [attrs.evolve(column, name=safe(column.name)) for column in named]
    cells = [[cell(value) for value in row] for row in rows]
    kept = _kept(named, cells, width)
    some, parts = [named[i] for i in kept], [[row[i] for i in kept] for row in cells]
    floors = _floors(some, parts, longest=_WORD if stacks else _LEAST)
    if stacks and _with_gaps(floors) > width:
        return [line for row in cells for line in _stacked(named, row, width)]
    return _aligned(some, parts, _widths(some, parts, floors, width))


def _kept(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns that are kept. Spare columns are left out before cells are folded."""
    whole = _whole_widths(columns, rows)
    needed = [min(wide, column.least) if column.cut else wide for column, wide in zip(columns, whole, strict=True)]
    kept = list(range(len(columns)))
    while _with_gaps([needed[i] for i in kept]) > width and any(columns[i].spare for i in kept):
        kept.remove(max(kept, key=lambda i: columns[i].spare))
    return kept


def _whole_widths(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max([width_of(column.name), *(width_of(row[i]) for row in rows)]) for i, column in enumerate(columns)]


def _floors(columns: Sequence[Column], rows: Sequence[Sequence[str]], longest: int) -> list[int]:
    """How narrow each column may become. Words of up to ``longest`` characters are not broken."""
    floors = []
    for i, (column, whole) in enumerate(zip(columns, _whole_widths(columns, rows), strict=True)):
        words = (word for text in (column.name, *(row[i] for row in rows)) for word in text.split(" "))
        needed = column.least if column.cut else max(_LEAST, min(longest, max(map(width_of, words))))
        floors.append(min(whole, needed))
    return floors


def _with_gaps(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], floors: Sequence[int], most: int) -> list[int]:
    """The width of each column. Columns that may be cut shrink first, then the widest one."""
    widths = _whole_widths(columns, rows)
    while _with_gaps(widths) > most:
        able = [i for i in range(len(columns)) if widths[i] > floors[i]]
        if not able:
            break
        able = [i for i in able if columns[i].cut] or able
        widths[max(able, key=widths.__getitem__)] -= 1
    return widths


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> list[TableLine]:
    lines = []
    for number, row in enumerate(([column.name for column in columns], *rows)):
        parts = [
            [cut(text, wide)] if column.cut else folded(text, wide)
            for column, text, wide in zip(columns, row, widths, strict=True)
        ]
        for k in range(max(map(len, parts))):
            padded = [
                _padded(part[k] if k < len(part) else "", wide, column.right)
                for column, part, wide in zip(columns, parts, widths, strict=True)
            ]
            lines.append(TableLine(GAP.join(padded).rstrip(), is_head=number == 0))
    return lines


def _stacked(columns: Sequence[Column], row: Sequence[str], width: int) -> Iterator[TableLine]:
    """The first cell of a row, and below it the others with the names of their columns."""
    yield from (TableLine(line, is_head=True) for line in folded(row[0], width))
    line = ""
    for column, text in zip(columns[1:], row[1:], strict=True):
        if not text:
            continue
        pair = f"{GAP}{column.name} {text}"
        if column.cut:
            pair = cut(pair, width)
        if line and width_of(line + pair) <= width:
            line += pair
            continue
        if line:
            yield TableLine(line)
        *whole, line = folded(pair, width, hang=2 * len(GAP))
        yield from map(TableLine, whole)
    if line:
        yield TableLine(line)


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - width_of(text))
    return space + text if right else text + space
