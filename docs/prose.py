"""Lists the sentences that have to be read twice: ``python docs/prose.py [WORDS] [PATH ...]``, or ``--subjects``.

It reads the pages, and the docstrings and comments of ``redisson_dq``, its Lua included. A code span counts as one
word, and so does a list of them. ``tests/unit/test_prose.py`` allows no sentence above ``LIMIT`` words.

In docstrings, comments and the subjects of commits it also finds three habits:

- a passive without a subject: "Is told what came";
- *what*, *who*, *whose* or *whoever* where a noun belongs: "Gives what it has taken". A genuine question may use
  them, behind a verb that asks or answers: "says what it does";
- "The same ..." that points at a neighbour.

``--subjects`` reads the subjects of the commits since ``SUBJECTS_SINCE``, and no others.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
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
_END = re.compile(r"([.!?])[\")*]*\s+(?=[\"(*]*[A-Z0-9])")

SUBJECTS_SINCE = "0d1b155c4c152e2d390a609dcc43c1c457488b99"
"""The subjects of later commits are held to the rule."""

_PASSIVE = re.compile(r"(?:is|are|was|were|gets|(?:has|have) been|called|told|asked|given)\b", re.IGNORECASE)
"""A block that begins so has no subject."""
_SAME = re.compile(
    r"(?:the )?same(?:[,.:;]|$| (?:as|for|in|with|of|where|when|without|from|to|but|and)\b)|as above\b", re.I
)
_FIRST_SAME = re.compile(r"the same\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(what|who|whose|whoever)\b", re.IGNORECASE)
_VERBS = (
    "says? said saying tells? told telling asks? asked asking knows? knew known knowing decides? decided deciding sees?"
    " seen seeing shows? shown learns? learned learnt (?:find|found)_out explains? explained understand matters?"
    " chooses? chosen guess(?:es)? depends?_on regardless_of describes? question choice"
)
_QUESTION = re.compile(
    rf"\b(?:{'|'.join(_VERBS.split()).replace('_', ' ')}),?"
    r"(?: (?!(?:when|while|if|that|as|of|for|to|by|with|from|in)\b)[\w']+){0,3}(?:,? and| or)? $"
    r"|\b(?:whether|how|why)\b.*(?:,| and| or) $",
    re.IGNORECASE,
)
"""Words before a genuine question: a verb that asks or answers with at most three words, or another question."""
_WHICH = re.compile(
    r"what (?:order|kind|form|way|time|size|place|type|sort|number|state|extent|end|pace)s?\b", re.IGNORECASE
)
_TAKES = r"(?:lets?|wakes?|takes?|gives?|keeps?|finds?|elects?|leads?|serves?|hears?|sends?|drops?|removes?|frees?)"
"""Verbs that have an object, and neither ask nor answer."""
_NO_PERSON = re.compile(
    r"(?:^|[(:;] ?|\b(?:and|or|but|as|at|by|for|from|of|on|than|to|with|behind|before|after|is|are|was|were|that|not"
    rf"|nor|if|when|{_TAKES}),? )$",
    re.IGNORECASE,
)
"""Words before a *who* that no person stands before."""
_NO_OWNER = re.compile(rf"(?:^|[(:;] ?|\b(?:than|as|is|are|{_TAKES}) )$", re.IGNORECASE)
"""Words before a *whose* that no noun stands before."""


class Sentence(NamedTuple):
    path: str
    line: int
    words: int
    text: str


def sentences(block: str) -> Iterator[str]:
    """The sentences of one paragraph, cell or item. A code span becomes the one word Code."""
    yield from (text for text, _ in _sentences(block))


def _sentences(block: str) -> list[tuple[str, bool]]:
    """Each sentence, and whether it is a question."""
    text = _LINK.sub(lambda link: link[1][:1].upper() + link[1][1:], _CODE.sub("Code", block))
    texts = _END.split(_NAMES.sub("Code", text))
    ends = [*texts[1::2], texts[-1].rstrip('")*')[-1:]]
    return [(text, end == "?") for text, end in zip(texts[::2], ends, strict=True)]


def long_sentences(path: Path, limit: int = LIMIT) -> list[Sentence]:
    return [
        Sentence(_name(path), line, words, " ".join(text.split()))
        for line, block in _BLOCKS[path.suffix](path.read_text(encoding="utf-8"))
        for text in sentences(block)
        if (words := sum(1 for word in text.split() if any(letter.isalnum() for letter in word))) > limit
    ]


class Habit(NamedTuple):
    path: str
    line: int
    habit: str
    text: str


def habits(path: Path) -> list[Habit]:
    """The sentences of a module or a script that have one of the three habits."""
    return [
        Habit(_name(path), line, habit, " ".join(text.split()))
        for line, block in _BLOCKS[path.suffix](path.read_text(encoding="utf-8"))
        for text, habit in habits_of(block)
    ]


def habits_of(block: str) -> Iterator[tuple[str, str]]:
    """The sentences of one block that have a habit, each with the words that show it."""
    for place, (sentence, is_question) in enumerate(_sentences(block)):
        text = " ".join(sentence.split()).lstrip(": ")
        starts = [_SAME.match(text), *([] if place else [_PASSIVE.match(text), _FIRST_SAME.match(text)])]
        pronouns = [] if is_question else filter(_is_no_question, _PRONOUN.finditer(text))
        if found := next(filter(None, [*starts, *pronouns]), None):
            yield text, found[0]


def _is_no_question(pronoun: re.Match[str]) -> bool:
    """Whether a noun belongs in the place of the pronoun."""
    word, before = pronoun[0].lower(), pronoun.string[: pronoun.start()]
    if word == "whoever":
        return True
    if word == "whose":
        return _NO_OWNER.search(before) is not None
    if _QUESTION.search(before) or (word == "what" and _WHICH.match(pronoun.string, pronoun.start())):
        return False
    return word == "what" or _NO_PERSON.search(before) is not None


def subjects() -> list[str]:
    """The subjects of the commits since ``SUBJECTS_SINCE``; of a clone that does not reach back so far, the last."""
    for commits in ([f"{SUBJECTS_SINCE}..HEAD"], ["-1"]):
        log = ["git", "-C", str(ROOT), "log", "--format=%s", *commits]
        answer = subprocess.run(log, capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return answer.stdout.splitlines()
    return []


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


def files() -> list[Path]:
    """What is held to the rule. Generated pages and the generated package say what their sources say."""
    pages = [path for path in sorted((ROOT / "docs").glob("*.md")) if path.name != "redisson-methods.md"]
    own = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    return [*own, *pages, *_sources(ROOT / "redisson_dq")]


def _sources(folder: Path) -> list[Path]:
    found = [path for path in sorted(folder.rglob("*")) if path.suffix in _SOURCES]
    return [path for path in found if "_sync" not in path.parts]


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


_SOURCES = (".py", ".lua")
_BLOCKS = {".md": _page, ".py": _python, ".lua": _lua}


def main() -> None:
    arguments = sys.argv[1:]
    if arguments == ["--subjects"]:
        sys.exit("\n".join(f"{habit!r}: {text}" for subject in subjects() for text, habit in habits_of(subject)) or 0)
    limit = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else LIMIT
    named = [Path(argument).resolve() for argument in arguments] or files()
    paths = [file for path in named for file in (_sources(path) if path.is_dir() else [path])]
    for path in paths:
        for found in long_sentences(path, limit):
            print(f"{found.path}:{found.line}: {found.words} words: {found.text}")
        for habit in habits(path) if path.suffix in _SOURCES else []:
            print(f"{habit.path}:{habit.line}: {habit.habit!r}: {habit.text}")


if __name__ == "__main__":
    main()
