"""Lists the sentences that are too long to be read once: ``python docs/prose.py [WORDS] [PATH ...]``.

It reads the pages, and the docstrings and comments of ``redisson_dq``, its Lua included. A code span counts as one
word, and so does a list of them. ``tests/unit/test_prose.py`` allows no sentence above ``LIMIT`` words.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 30
"""Sentences of more words than this are listed."""

_CODE = re.compile(r"(?::\w+:)?(?:``.+?``|`[^`]+`)", re.DOTALL)
_NAMES = re.compile(r"Code(?:(?:,|;| and|, and| or)\s+Code)+")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_BEGINNING = re.compile(r"(?:[-*+]|\d+\.|:[A-Z][^:]*:|[A-Z][A-Za-z ]*:|#+|>>>|\.\.\.)(?:\s|$)|\|")
"""What begins a block of its own: a list's item, a field, a label, a heading, a row of a table."""
_END = re.compile(r"[.!?][\")*]*\s+(?=[\"(*]*[A-Z0-9])")


class Sentence(NamedTuple):
    path: str
    line: int
    words: int
    text: str


def sentences(block: str) -> Iterator[str]:
    """The sentences of one paragraph, cell or item. A code span becomes the one word Code."""
    text = _LINK.sub(lambda link: link[1][:1].upper() + link[1][1:], _CODE.sub("Code", block))
    text = _NAMES.sub("Code", text)
    yield from _END.split(text)


def long_sentences(path: Path, limit: int = LIMIT) -> list[Sentence]:
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()
    return [
        Sentence(name, line, words, " ".join(text.split()))
        for line, block in _BLOCKS[path.suffix](path.read_text(encoding="utf-8"))
        for text in sentences(block)
        if (words := sum(1 for word in text.split() if any(letter.isalnum() for letter in word))) > limit
    ]


def files() -> list[Path]:
    """What is held to the rule. Generated pages and the generated package say what their sources say."""
    pages = [path for path in sorted((ROOT / "docs").glob("*.md")) if path.name != "redisson-methods.md"]
    own = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    code = [path for path in sorted((ROOT / "redisson_dq").rglob("*")) if path.suffix in (".py", ".lua")]
    return [*own, *pages, *(path for path in code if "_sync" not in path.parts)]


def _paragraphs(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Joins lines to blocks. A blank line, a list item, a field, a cell of a table and a heading each begin a block."""
    block: list[str] = []
    start = 0
    for number, raw in [*lines, (0, "")]:
        text = raw.strip()
        begins = not text or _BEGINNING.match(text)
        if begins and block:
            yield start, " ".join(block)
            block = []
        if not text or text.startswith((">>>", "...", "<!--", "#")):
            continue
        if text.startswith("|"):
            yield from ((number, cell.strip()) for cell in re.split(r"(?<!\\)\|", text) if cell.strip(" -:"))
            continue
        if not block:
            start = number
        block.append(text.lstrip("-*+ "))


def _page(text: str) -> Iterator[tuple[int, str]]:
    text = re.sub(r"<!-- made by .*?<!-- end of ", _blank, text, flags=re.DOTALL)
    fenced = False
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            lines.append((number, ""))
        elif not fenced:
            lines.append((number, "" if line.startswith("    ") and not line.strip().startswith("-") else line))
    yield from _paragraphs(lines)


def _python(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from _docstring(node.value.lineno, node.value.value)
    comments: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not re.match(r"# ?(?:type:|noqa|pyright:|sync:|!)", token.string):
            is_alone = not token.line[: token.start[1]].strip()
            if comments and (token.start[0] != comments[-1][0] + 1 or not is_alone):
                comments.append((0, ""))
            comments.append((token.start[0], token.string.lstrip("#")))
    yield from _paragraphs(comments)


def _docstring(start: int, text: str) -> Iterator[tuple[int, str]]:
    """Leaves out tables, the blocks behind ``::`` and doctests with their answers."""
    rules = r"^ *=+(?: +=+)+$"
    text = re.sub(rf"{rules}.*?{rules}(?=\n\s*\n|\s*\Z)", _blank, text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^ *>>>.*?(?=\n\s*\n|\s*\Z)", _blank, text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"(?<=::\n)(?:\s*\n)?( +)\S.*(?:\n(?:\1.*|\s*$))*", _blank, text)
    yield from _paragraphs(list(enumerate(text.splitlines(), start)))


def _blank(found: re.Match[str]) -> str:
    return "\n" * found.group().count("\n")


def _lua(text: str) -> Iterator[tuple[int, str]]:
    """Leaves out the tables of a header (KEYS, ARGV, RETURN ...), and rows whose columns two blanks part."""
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        comment = line.partition("--")[2].strip()
        if re.match(r"(?:Answers to|KEYS|ARGV|RETURN|COST|INCLUDE):|.*\S {2,}\S", comment):
            comment = ""
        lines.append((number, comment))
    yield from _paragraphs(lines)


_BLOCKS = {".md": _page, ".py": _python, ".lua": _lua}


def main() -> None:
    arguments = sys.argv[1:]
    limit = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else LIMIT
    named = [Path(argument).resolve() for argument in arguments] or files()
    paths = [file for path in named for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    for path in paths:
        for found in long_sentences(path, limit):
            print(f"{found.path}:{found.line}: {found.words} words: {found.text}")


if __name__ == "__main__":
    main()
