"""Lines for people, within the width of a terminal: folded sentences, names with values, trees, command lines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from redisson_dq._operations.shell import safe

__all__ = [
    "GAP",
    "CommandLine",
    "cell",
    "cut",
    "field_lines",
    "folded",
    "line_with_command",
    "text_lines",
    "tree_lines",
    "width_of",
]

#: Between two columns, or a name and its value.
GAP = "  "
# A value gets its own lines if less than this is left beside its name, or if one of its words does not fit there.
_BESIDE = 16
# After the last of these a long name may continue on the next line.
_MARKED = re.compile(r".*[-:/._,=]")
# A word of a shell: plain characters, and parts in quotes.
_SHELL_WORD = re.compile(r"""(?:\$?'(?:\\.|[^'\\])*'|'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"])+""")


class CommandLine(str):
    """A command line as a value, which users paste into a shell."""


# -- sentences -------------------------------------------------------------------------------------------------------


def folded(text: str, width: int | None, hang: int = 0) -> list[str]:
    """One line of text in lines of at most ``width`` columns, or as it is with None.

    It is folded at blanks. A word that is longer than a line is broken, after a mark such as a colon if it has one.
    Lines after the first begin with ``hang`` blanks, if there is room.
    """
    if width is None or width_of(text) <= width:
        return [text]
    blanks = " " * min(hang, width // 2)
    lines, line = [], ""
    for part in re.findall(" *[^ ]+", text):
        if line.strip() and width_of(line) + width_of(part) > width:
            word = part.lstrip(" ")
            if len(blanks) + width_of(word) <= width:
                lines.append(line)
                line = blanks + word
                continue
        *whole, line = _broken(line + part, width, blanks)
        lines += whole
    return [*lines, line]


def text_lines(text: str, width: int | None) -> list[str]:
    """Lines of text, each folded. The rest of a line begins below its value, if a name and a gap are before that."""
    lines = []
    for line in text.split("\n"):
        named = re.match(r" *[^ ]+(?: [^ ]+)*  +|", line)
        assert named is not None
        indent = len(line) - len(line.lstrip(" "))
        lines += folded(safe(line), width, named.end() or indent)
    return lines


def _broken(text: str, width: int, blanks: str) -> Iterator[str]:
    """The text in lines that are full, and the rest."""
    line, used = "", 0
    for each in text:
        wide = width_of(each)
        if used + wide > width:
            marked = _MARKED.match(line)
            end = marked.end() if marked is not None and 2 * marked.end() > len(line) else len(line)
            yield line[:end]
            line = blanks + line[end:].lstrip(" ")
            used = width_of(line)
        line, used = line + each, used + wide
    yield line


def _command_lines(line: str, width: int) -> list[str]:
    """A command line in lines of at most ``width`` columns, which a shell reads as one. A word stays whole.

    A note, which begins with ``#``, is folded as a comment.
    """
    if width_of(line) <= width:
        return [line]
    if line.startswith("#"):
        return [f"{'# ' if i else ''}{each}" for i, each in enumerate(folded(line, width - 2))]
    words = _SHELL_WORD.findall(line)
    if " ".join(words) != line:
        return [line]
    lines = [words[0]]
    for word in words[1:]:
        # The mark of a line that goes on needs two columns.
        if width_of(lines[-1]) + 1 + width_of(word) + 2 <= width:
            lines[-1] += f" {word}"
        else:
            lines[-1] += " \\"
            lines.append(word)
    return lines


def line_with_command(text: str, line: str, width: int | None) -> list[str]:
    """A sentence that ends with a command line. If they do not fit on one line, each gets its own lines."""
    text = safe(text)
    whole = f"{text}: {line}"
    if width is None or width_of(whole) <= width:
        return [whole]
    return [*folded(f"{text}:", width), *(f"{GAP}{each}" for each in _command_lines(line, width - len(GAP)))]


# -- names with values -----------------------------------------------------------------------------------------------


def field_lines(pairs: Iterable[tuple[str, object]], width: int | None) -> Iterator[str]:
    """Names and values, one pair a line where the width allows."""
    shown = [(safe(name), value) for name, value in pairs]
    widest = max((width_of(name) for name, _ in shown), default=0) + len(GAP)
    for name, value in shown:
        text = cell(value)
        whole = f"{name}{' ' * (widest - width_of(name))}{text}".rstrip()
        is_command = isinstance(value, CommandLine)
        if width is None or width_of(whole) <= width:
            yield whole
        elif width - widest >= max(_BESIDE, *map(width_of, text.split(" "))) and not is_command:
            yield from folded(whole, width, widest)
        else:
            yield name
            hang = len(name) - len(name.lstrip(" ")) + len(GAP)
            lines = _command_lines(text, width - hang) if is_command else folded(text, width - hang)
            yield from (" " * hang + line for line in lines)


def tree_lines(value: object, depth: int, width: int | None) -> Iterator[str]:
    """Nested mappings and lists, two blanks a level."""
    for line in _branches(value, depth):
        yield from folded(line, width, len(line) - len(line.lstrip(" ")) + 2)


def _branches(value: object, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(value, Mapping):
        pairs: Iterable[tuple[str, object]] = ((str(name), part) for name, part in value.items())
    elif isinstance(value, (list, tuple)):
        pairs = ((f"[{i}]", part) for i, part in enumerate(value))
    else:
        yield f"{indent}{cell(value)}"
        return
    for name, part in pairs:
        if isinstance(part, (Mapping, list, tuple)) and part:
            yield f"{indent}{safe(name)}"
            yield from _branches(part, depth + 1)
        else:
            yield f"{indent}{safe(name)}: {'(empty)' if isinstance(part, (Mapping, list, tuple)) else cell(part)}"


# -- cells -----------------------------------------------------------------------------------------------------------


def cell(value: object) -> str:
    """A value as the text of a cell, on one line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds")
    return safe(str(value))


def width_of(text: str) -> int:
    """Columns of a terminal. Marks that combine take none, and wide characters two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text
    )


def cut(text: str, width: int) -> str:
    """The text, with three dots for its end where it is longer."""
    return text if width_of(text) <= width else f"{_head(text, width - 3)}..."


def _head(text: str, width: int) -> str:
    used = 0
    for i, each in enumerate(text):
        used += width_of(each)
        if used > width:
            return text[:i]
    return text
