"""The standard output of a command: tables and trees for people, versioned JSON for programs."""

from __future__ import annotations

import contextlib
import enum
import json
import math
import os
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from importlib.util import find_spec
from typing import Any, Protocol

import attrs

from redisson_dq._shell import safe

__all__ = ["SCHEMA", "Column", "Output", "say", "show_json"]

#: The version of every JSON document. A field may be added to it; any other change makes the next version.
SCHEMA = 1

_GAP = "  "
_LEAST = 8


@attrs.frozen
class Column:
    """A column of a table. ``right`` aligns numbers; ``cut`` shortens long cells, which are folded otherwise.

    Where the terminal is too narrow, cells are cut down to ``least`` characters. Then columns are left out by
    ``spare``, the highest first. One with 0 always stays.
    """

    name: str
    right: bool = attrs.field(default=False, kw_only=True)
    cut: bool = attrs.field(default=False, kw_only=True)
    spare: int = attrs.field(default=0, kw_only=True)
    least: int = attrs.field(default=_LEAST, kw_only=True)


class _ShowTable(Protocol):
    """Shows a table with a note below it."""

    def __call__(self, columns: Sequence[str | Column], rows: Iterable[Sequence[object]], note: str) -> None: ...


class Output:
    """Standard output, as a terminal, a file or a program wants it.

    A terminal with rich gets colours. Anything else gets plain text, at the terminal's width or at 80 columns.
    """

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        is_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        #: Whether rich draws.
        self.is_rich = is_terminal and not as_json and find_spec("rich") is not None
        self._has_width = is_terminal or "COLUMNS" in os.environ

    @property
    def width(self) -> int:
        """The columns of the terminal as it is now."""
        return shutil.get_terminal_size((80, 24)).columns if self._has_width else 80

    def document(self, **fields: Any) -> None:
        """Prints one JSON document: ``{"schema": 1, ...}``. Times become ISO 8601, spans seconds, bytes hex digits."""
        show_json({"schema": SCHEMA, **fields}, indent=2)

    def line(self, **fields: Any) -> None:
        """Prints a JSON document on one line, for output that goes on, and flushes it."""
        show_json({"schema": SCHEMA, **fields})
        sys.stdout.flush()

    def text(self, text: str = "", *, style: str = "") -> None:
        """Prints lines of text. ``style`` is one of rich's, such as ``"bold red"``."""
        if self.is_rich and style:
            from rich.text import Text

            self._console().print(Text(_safe_lines(text), style=style), soft_wrap=True)
        else:
            say(text)

    def table(self, columns: Sequence[str | Column], rows: Iterable[Sequence[object]]) -> None:
        """Prints a table. None is shown as an empty cell, and an int with commas."""
        lines = _aligned(*_safe_table(columns, rows, self.width), self.width)
        if self.is_rich:
            self._console().print(_with_bold_head(lines), soft_wrap=True)
        else:
            say("\n".join(lines))

    @contextlib.contextmanager
    def live(self) -> Iterator[_ShowTable]:
        """A function that shows a table and a note. At a terminal with rich each takes the place of the one before."""
        if not self.is_rich:
            yield self._flushed_table
            return
        from rich.console import Group
        from rich.live import Live
        from rich.text import Text

        with Live(console=self._console(), auto_refresh=False) as live:

            def show(columns: Sequence[str | Column], rows: Iterable[Sequence[object]], note: str) -> None:
                lines = _aligned(*_safe_table(columns, rows, self.width), self.width)
                live.update(Group(_with_bold_head(lines), Text(safe(note), style="dim")), refresh=True)

            yield show

    def _flushed_table(self, columns: Sequence[str | Column], rows: Iterable[Sequence[object]], note: str) -> None:
        self.table(columns, rows)
        self.text(note)
        sys.stdout.flush()

    def fields(self, pairs: Iterable[tuple[str, object]]) -> None:
        """Prints names and values, one pair a line."""
        shown = [(name, _cell(value)) for name, value in pairs]
        widest = max((_width(name) for name, _ in shown), default=0)
        for name, value in shown:
            say(f"{safe(name)}{' ' * (widest - _width(name))}{_GAP}{value}".rstrip())

    def tree(self, title: str, value: object) -> None:
        """Prints nested mappings and lists as a tree."""
        say(safe(title))
        for line in _branches(value, 1):
            say(line)

    def _console(self) -> Any:
        from rich.console import Console

        return Console(highlight=False, markup=False, emoji=False)


def say(text: str = "", *, error: bool = False) -> None:
    """Prints lines of text, on standard error with ``error``. Whatever a command prints goes through here, or is JSON.

    Control characters are shown as escapes, and so are characters that the terminal's encoding does not have.
    """
    stream = sys.stderr if error else sys.stdout
    encoding = stream.encoding or "utf-8"
    print(_safe_lines(text).encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)


def show_json(value: Any, *, indent: int | None = None) -> None:
    """Prints a value as JSON, in ASCII without control characters."""
    print(json.dumps(_plain(value), indent=indent).replace("\x7f", "\\u007f"))


def _safe_lines(text: str) -> str:
    return "\n".join(map(safe, text.split("\n")))


def _with_bold_head(lines: Sequence[str]) -> Any:
    """The lines of a table for rich, which by itself would fold names before it cuts values."""
    from rich.text import Text

    text = Text("\n".join(lines), no_wrap=True, overflow="crop")
    text.stylize("bold", 0, len(lines[0]))
    return text


# -- cells -----------------------------------------------------------------------------------------------------------


def _safe_table(
    columns: Sequence[str | Column], rows: Iterable[Sequence[object]], width: int
) -> tuple[list[Column], list[list[str]]]:
    named = [column if isinstance(column, Column) else Column(column) for column in columns]
    named = [attrs.evolve(column, name=safe(column.name)) for column in named]
    cells = [[_cell(value) for value in row] for row in rows]
    whole = _whole_widths(named, cells)
    needed = [min(wide, column.least) if column.cut else wide for column, wide in zip(named, whole, strict=True)]
    kept = list(range(len(named)))
    while _with_gaps([needed[i] for i in kept]) > width and any(named[i].spare for i in kept):
        kept.remove(max(kept, key=lambda i: named[i].spare))
    return [named[i] for i in kept], [[row[i] for i in kept] for row in cells]


def _whole_widths(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max([_width(column.name), *(_width(row[i]) for row in rows)]) for i, column in enumerate(columns)]


def _with_gaps(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], most: int) -> list[int]:
    """The width of each column. A column that may be cut gives way first, else the widest one."""
    widths = _whole_widths(columns, rows)
    while _with_gaps(widths) > most:
        able = [i for i, column in enumerate(columns) if column.cut and widths[i] > column.least] or [
            i for i in range(len(columns)) if widths[i] > _LEAST
        ]
        if not able:
            break
        widths[max(able, key=widths.__getitem__)] -= 1
    return widths


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds")
    return safe(str(value))


def _width(text: str) -> int:
    """Columns of a terminal. Marks that combine take none, and wide characters two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text
    )


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    widths = _widths(columns, rows, width)
    lines = []
    for row in ([column.name for column in columns], *rows):
        folded = [
            _cut(cell, wide) if column.cut else _folded(cell, wide)
            for column, cell, wide in zip(columns, row, widths, strict=True)
        ]
        for k in range(max(map(len, folded))):
            parts = [
                _padded(cell[k] if k < len(cell) else "", wide, column.right)
                for column, cell, wide in zip(columns, folded, widths, strict=True)
            ]
            lines.append(_GAP.join(parts).rstrip())
    return lines


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space


def _folded(text: str, width: int) -> list[str]:
    lines, line, used = [], "", 0
    for each in text:
        wide = _width(each)
        if used + wide > width:
            lines.append(line)
            line, used = "", 0
        line, used = line + each, used + wide
    return [*lines, line]


def _cut(text: str, width: int) -> list[str]:
    return [text] if _width(text) <= width else [f"{_folded(text, width - 3)[0]}..."]


def _branches(value: object, depth: int) -> Iterable[str]:
    indent = "  " * depth
    if isinstance(value, Mapping):
        pairs: Iterable[tuple[str, object]] = ((str(name), part) for name, part in value.items())
    elif isinstance(value, (list, tuple)):
        pairs = ((f"[{i}]", part) for i, part in enumerate(value))
    else:
        yield f"{indent}{_cell(value)}"
        return
    for name, part in pairs:
        if isinstance(part, (Mapping, list, tuple)) and part:
            yield f"{indent}{safe(name)}"
            yield from _branches(part, depth + 1)
        else:
            yield f"{indent}{safe(name)}: {'(empty)' if isinstance(part, (Mapping, list, tuple)) else _cell(part)}"


# -- JSON ------------------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """The value in JSON's own types. A number that JSON does not have becomes its text."""
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(part) for part in value]
    return str(value)
