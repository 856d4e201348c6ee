"""The standard output of a command: tables and trees for people, versioned JSON for programs."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any, Protocol

from redisson_dq._operations.shell import safe
from redisson_dq.cli.frame._json import SCHEMA, show_json
from redisson_dq.cli.frame._layout import field_lines, folded, line_with_command, text_lines, tree_lines
from redisson_dq.cli.frame._tables import Column, TableLine, table_lines

__all__ = ["Output", "say"]

# More columns than any line has.
_ANY_WIDTH = 1 << 30


class _ShowTable(Protocol):
    """Shows a table with a note below it."""

    def __call__(self, columns: Sequence[str | Column], rows: Iterable[Sequence[object]], note: str) -> None: ...


class Output:
    """Standard output for a terminal, a file or a program.

    A terminal with rich gets colours. Anything else gets plain text. At a terminal, tables and sentences keep to its
    width. Elsewhere they keep to ``COLUMNS``, and without it lines stay whole.
    """

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self._is_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        #: Whether rich draws.
        self.is_rich = self._is_terminal and not as_json and find_spec("rich") is not None
        self._has_width = self._is_terminal or "COLUMNS" in os.environ

    @property
    def width(self) -> int:
        """The current number of columns of the terminal."""
        return shutil.get_terminal_size((80, 24)).columns if self._has_width else 80

    @property
    def _folds_at(self) -> int | None:
        """The width at which sentences are folded."""
        return self.width if self._is_terminal else None

    def document(self, **fields: Any) -> None:
        """Prints one JSON document, ``{"schema": 1, ...}``, of the type that ``redisson_dq.cli.documents`` has.

        Times become ISO 8601, spans seconds, bytes hex digits, and values of attrs classes objects.
        """
        show_json({"schema": SCHEMA, **fields}, indent=2)

    def line(self, **fields: Any) -> None:
        """Prints a JSON document on one line, for output that goes on, and flushes it."""
        show_json({"schema": SCHEMA, **fields})
        sys.stdout.flush()

    def text(self, text: str = "", *, style: str = "") -> None:
        """Prints a line of text. ``style`` is one of rich's, such as ``"bold red"``."""
        lines = "\n".join(folded(safe(text), self._folds_at))
        if self.is_rich and style:
            from rich.text import Text

            self._console().print(Text(lines, style=style), soft_wrap=True)
        else:
            say(lines, lines=True)

    def lines(self, text: str) -> None:
        """Prints lines of text, some of which have a name, a gap and a value."""
        say("\n".join(text_lines(text, self._folds_at)), lines=True)

    def command(self, text: str, line: str) -> None:
        """Prints a sentence that ends with a command line, which users paste into a shell."""
        say("\n".join(line_with_command(text, line, self._folds_at)), lines=True)

    def table(self, columns: Sequence[str | Column], rows: Iterable[Sequence[object]]) -> None:
        """Prints a table. None is shown as an empty cell, and an int with commas.

        Where the columns do not fit into a terminal, each row is shown as some lines.
        """
        lines = table_lines(columns, rows, self.width if self._has_width else _ANY_WIDTH, stacks=self._has_width)
        if self.is_rich:
            self._console().print(_with_bold_heads(lines), soft_wrap=True)
        else:
            say("\n".join(line.text for line in lines), lines=True)

    @contextlib.contextmanager
    def live(self) -> Iterator[_ShowTable]:
        """A function that shows a table and a note. At a terminal with rich, each replaces the previous one."""
        if not self.is_rich:
            yield self._flushed_table
            return
        from rich.console import Group
        from rich.live import Live
        from rich.text import Text

        with Live(console=self._console(), auto_refresh=False) as live:

            def show(columns: Sequence[str | Column], rows: Iterable[Sequence[object]], note: str) -> None:
                lines = table_lines(columns, rows, self.width, stacks=True)
                live.update(Group(_with_bold_heads(lines), Text(safe(note), style="dim")), refresh=True)

            yield show

    def _flushed_table(self, columns: Sequence[str | Column], rows: Iterable[Sequence[object]], note: str) -> None:
        self.table(columns, rows)
        self.text(note)
        sys.stdout.flush()

    def fields(self, pairs: Iterable[tuple[str, object]]) -> None:
        """Prints names and values, one pair a line where it fits."""
        for line in field_lines(pairs, self._folds_at):
            say(line)

    def tree(self, title: str, value: object) -> None:
        """Prints nested mappings and lists as a tree."""
        for line in (*folded(safe(title), self._folds_at), *tree_lines(value, 1, self._folds_at)):
            say(line)

    def _console(self) -> Any:
        from rich.console import Console

        return Console(highlight=False, markup=False, emoji=False)


def say(text: str = "", *, error: bool = False, lines: bool = False) -> None:
    """Prints a line of text, on standard error with ``error``. Whatever a command prints goes through here, or is JSON.

    Control characters are shown as escapes, and so are characters that the terminal's encoding does not have. A line
    end is one of them, as names may have it, but not with ``lines``.
    """
    stream = sys.stderr if error else sys.stdout
    encoding = stream.encoding or "utf-8"
    shown = "\n".join(map(safe, text.split("\n"))) if lines else safe(text)
    # Without buffering, as in most containers, print() writes the line end separately. In a log shared by several
    # processes, another process's line could come between.
    stream.write(shown.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()


def _with_bold_heads(lines: Sequence[TableLine]) -> Any:
    """The lines of a table for rich, which by itself would fold names before it cuts values."""
    from rich.text import Text

    text = Text(no_wrap=True, overflow="crop")
    for i, line in enumerate(lines):
        text.append("\n" * bool(i) + line.text, style="bold" if line.is_head else None)
    return text
